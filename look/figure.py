"""Charts for Python: any chart as a figure of matplotlib."""

from typing import Any

from matplotlib.figure import Figure

from ..agents.runs.options import task_from_options
from ..baselines import Score, as_task, score
from ..core import InputError, one_of
from .charts import Plot
from .drawing import to_figure
from .names import EXAMPLES, GAME_CHARTS, NAMES, RUN_CHARTS, picture
from .registry import AGENT_CHARTS


def plot(chart: str, *what: Any, env: Any = None) -> Figure:
    """Draw a chart; see ``exactdice.plot``.

    Args:
        chart: name of the chart.
        what: what the chart is of.
        env: an environment of this project, its id, or a ``Task``.

    Raises:
        InputError: if there is no such chart, or the other arguments do not suit it.
    """
    one_of("chart", chart, NAMES)
    if chart in AGENT_CHARTS:
        return to_figure(_of_agent(chart, what, env))
    if chart in GAME_CHARTS:
        return to_figure(_of_game(chart, what, env))
    if env is not None:
        raise InputError(f"env must be left out, as {chart} has its own game")
    if chart in EXAMPLES and what:
        raise InputError(f"{chart} must stand alone, got {len(what)} more")
    folders = [str(folder) for folder in what] if chart in RUN_CHARTS else []
    return to_figure(picture([chart, *folders]))


def _of_agent(name: str, what: tuple[Any, ...], env: Any) -> Plot:
    if len(what) != 1:
        raise InputError(f"{name} must be followed by a score or one policy, got {len(what)}")
    (agent,) = what
    if isinstance(agent, Score):
        if env is not None:
            raise InputError("env must be left out, as a score has its own")
        scored = agent
    elif env is None:
        raise InputError(f"env must be given for {name} of a policy, got None")
    else:
        scored = score(agent, env)
    chart = AGENT_CHARTS[name]
    if not chart.suits(scored.task.game):
        assert chart.game is not None
        raise InputError(
            f"{name} must be of an agent of {chart.game.name}, got one of {scored.task.game.name}"
        )
    return chart.draw(scored)


def _of_game(name: str, what: tuple[Any, ...], env: Any) -> Plot:
    if what:
        raise InputError(f"{name} must stand alone, got {len(what)} more; env says the game")
    chart = GAME_CHARTS[name]
    if env is None:
        return chart.draw(task_from_options(chart.game, {}))
    task = as_task(env)
    if task.game.name != chart.game:
        raise InputError(f"env must be of {chart.game} for {name}, got one of {task.game.name}")
    return chart.draw(task)
