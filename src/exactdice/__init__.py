"""Reinforcement-learning environments whose optimum is known exactly.

Importing this package registers the environments ``exactdice/<game>-v0`` with Gymnasium;
``register`` adds your own games.
"""

from importlib import import_module
from types import ModuleType
from typing import Any

from . import agents as _agents
from . import sources as _sources
from .baselines import (
    Blunder,
    CertificateError,
    Comparison,
    Evaluation,
    PayoffMatrix,
    Policy,
    Score,
    SimpleGame,
    Solution,
    Task,
    as_policy,
    as_task,
    best_response,
    compare,
    evaluate,
    exact_evaluation,
    expected_payoffs,
    exploitability,
    from_network,
    in_fixed_point,
    occupancy,
    outcome_distribution,
    payoff_matrix,
    score,
    solve,
    verify,
)
from .core import InputError
from .core.errors import needing
from .envs import REFERENCE, from_P, register, register_package

__version__ = "0.2.0"

_sources.register()
register_package()
_agents.register()


#: Modules for users; each is imported at first use. ``dir`` leaves out those of ``LIBRARIES``
#: whose library is not installed, because whoever inspects a module reads every name of ``dir``.
MODULES = ("agents", "diagnose", "games", "jax", "pettingzoo", "testing")
LIBRARIES = ("jax", "pettingzoo")


def __getattr__(name: str) -> ModuleType:
    """Import a module for users."""
    if name in MODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the names for users that can be imported."""
    from importlib.util import find_spec

    missing = {name for name in LIBRARIES if find_spec(name) is None}
    return sorted({*__all__, *MODULES} - missing)


def plot(chart: str, *what: Any, env: Any = None) -> Any:
    """Draw a chart as a ``matplotlib.figure.Figure``.

    Args:
        chart: name of a chart, as ``exactdice plot`` lists them.
        what: of a chart of an agent, the ``Score`` or the policy; of runs, their folders.
        env: an environment of this project, its id, or a ``Task``: the game of a policy, or of a
            chart of a game, whose default is the one in the gallery.

    Raises:
        InputError: if there is no such chart, the other arguments do not suit it, or a library is
            missing.
    """
    with needing("plot", "'exactdice[look]'", InputError):
        from .look.drawing import to_figure
        from .look.plotting import make_plot
    return to_figure(make_plot(chart, *what, env=env))


__all__ = [
    "REFERENCE",
    "Blunder",
    "CertificateError",
    "Comparison",
    "Evaluation",
    "InputError",
    "PayoffMatrix",
    "Policy",
    "Score",
    "SimpleGame",
    "Solution",
    "Task",
    "as_policy",
    "as_task",
    "best_response",
    "compare",
    "evaluate",
    "exact_evaluation",
    "expected_payoffs",
    "exploitability",
    "from_P",
    "from_network",
    "in_fixed_point",
    "occupancy",
    "outcome_distribution",
    "payoff_matrix",
    "plot",
    "register",
    "score",
    "solve",
    "verify",
]
