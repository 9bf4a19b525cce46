"""Charts of games, policies and agents, as picture files and on web pages."""

from typing import Any

from ..core import InputError
from ..core.errors import needing


def plot(chart: str, *what: Any, env: Any = None, **options: Any) -> Any:
    """Draw a chart as a ``matplotlib.figure.Figure``.

    Args:
        chart: name of a chart, as ``exactdice plot`` lists them.
        what: of a chart of an agent, the ``Score`` or the policy; of runs, their folders; of
            "curves", a mapping from names to runs (see ``exactdice.board.curves``).
        env: an environment of this project, its id, or a ``Task``: the game of a policy, or of a
            chart of a game, whose default is the one in the gallery.
        options: of "curves", measure, over and statistic.

    Raises:
        InputError: if there is no such chart, the other arguments do not suit it, or a library is
            missing.
    """
    with needing("plot", "'exactdice[look]'", InputError):
        from .drawing import to_figure
        from .plotting import make_plot
    return to_figure(make_plot(chart, *what, env=env, **options))
