"""Plots by the words of the command line."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from ..agents.runs.agent import AgentOptions
from ..agents.runs.config import RunError
from ..agents.runs.options import task_from_options
from ..baselines.policies.door import label
from ..core import GAMES, InputError
from ..core.words import meant
from . import agents, games, registry  # noqa: F401  the first two register their charts
from .charts import Plot
from .registry import AGENT_CHARTS, Example, GameChart, Keywords

_Chart = TypeVar("_Chart", GameChart, Example)


def _in_order(charts: Mapping[str, _Chart]) -> dict[str, _Chart]:
    """Sort charts by game; the charts of one game keep the order in which they were registered."""
    return dict(sorted(charts.items(), key=lambda entry: list(GAMES).index(entry[1].game)))


GAME_CHARTS = _in_order(registry.GAME_CHARTS)
EXAMPLES = _in_order(registry.EXAMPLES)
#: Charts of run folders: what follows the name, and what they show. Those of a single run need the
#: libraries of training, but for its learning curve.
RUN_CHARTS = {
    "learning": ("RUN ...", "the exact gap to the optimum of runs over their steps"),
    "critic": ("RUN", "the critic's estimates of state values, against the exact values"),
    "diagnosis": ("RUN", "exact figures of the critic, advantages and exploration over the steps"),
    "gae": ("RUN", "the exact bias and noise of advantage estimates against lambda"),
    "leaderboard": ("FOLDER", "the mean score of every agent in every game"),
    "track": ("FOLDER", "the curves of all runs on a track"),
    "ladder": ("FOLDER", "the gap to the optimum of every agent on the rungs of a ladder"),
}
NAMES = (*GAME_CHARTS, *EXAMPLES, *AGENT_CHARTS, *RUN_CHARTS)


def list_charts() -> str:
    """List the charts by kind, one on a line: name, what follows it, and what the chart shows."""
    of_agents = {
        name: ("AGENT" if chart.game is None else f"AGENT of {chart.game.name}", _shows(chart.draw))
        for name, chart in AGENT_CHARTS.items()
    }
    kinds = {
        "Charts of a game": {name: ("", _shows(chart.draw)) for name, chart in GAME_CHARTS.items()},
        "Charts of an agent, which is a run folder or a policy": of_agents,
        "Charts of runs and benchmarks": RUN_CHARTS,
        "Pictures of the gallery": {
            name: ("", f"{chart} {policy} {game}")
            for name, (chart, policy, game) in EXAMPLES.items()
        },
    }
    lines = []
    for kind, charts in kinds.items():
        begins = [f"  {name} {after}".rstrip() for name, (after, _) in charts.items()]
        width = max(map(len, begins))
        shown = (what for _, what in charts.values())
        told = (f"{begin:<{width}}  {what}" for begin, what in zip(begins, shown, strict=True))
        lines += ["", f"{kind}:", *told]
    return "\n".join(lines[1:])


def _shows(draw: Callable[..., Plot]) -> str:
    """Say what a chart shows: the first line of its docstring, without the verb and the dot."""
    said = (draw.__doc__ or "").strip().partition("\n")[0]
    return said.partition(" ")[2].rstrip(".")


def picture(words: Sequence[str], env: Keywords | None = None) -> Plot:
    """Make a plot: a chart by its name, or the learning curves of run folders.

    Args:
        words: the name of a chart and its agent with its game, its runs or its folder; the name of
            a picture of the gallery; or run folders.
        env: keywords of the game.

    Raises:
        InputError: if there is no such chart, or the other words do not suit it.
    """
    env = env or {}
    name, *others = words
    if name in GAME_CHARTS:
        return _of_game(name, others, env)
    if name in EXAMPLES:
        return _of_example(name, others, env)
    if name in AGENT_CHARTS:
        return _of_agent(name, others, env)
    unknown = [word for word in words if not Path(word).is_dir()]
    if name not in RUN_CHARTS and unknown and not Path(name).is_dir():
        known = ", ".join(NAMES)
        raise InputError(
            f"what must be run folders, gallery or one of {known}, got {unknown[0]!r}"
            + meant(unknown[0], NAMES)
        )
    AgentOptions.refuse("a picture of runs", env=env)
    return _of_runs(name, others) if name in RUN_CHARTS else _of_runs("learning", words)


def _of_game(name: str, others: Sequence[str], env: Keywords) -> Plot:
    chart = GAME_CHARTS[name]
    _require_alone(name, others)
    return chart.draw(task_from_options(chart.game, {**env}))


def _of_example(name: str, others: Sequence[str], env: Keywords) -> Plot:
    chart, policy, game = EXAMPLES[name]
    _require_alone(name, others)
    return _of_agent(chart, [policy, game], env)


def _require_alone(name: str, others: Sequence[str]) -> None:
    if others:
        raise InputError(f"{name} must stand alone, got {others[0]!r}")


def _of_agent(name: str, others: Sequence[str], env: Keywords) -> Plot:
    chart = AGENT_CHARTS[name]
    others, game = (others[:1], others[1]) if len(others) == 2 else (others, None)
    agent = AgentOptions(_one(name, "a run folder or a policy", others), game, dict(env))
    scored = agent.score(label(Path(agent.policy)))
    if not chart.suits(scored.task.game):
        assert chart.game is not None
        raise InputError(
            f"{name} must be followed by an agent of {chart.game.name}, "
            f"got one of {scored.task.game.name}"
        )
    return chart.draw(scored)


def _of_runs(name: str, words: Sequence[str]) -> Plot:
    if name == "learning":
        from .runs import learning

        if not words:
            raise InputError("learning must be followed by run folders, got none")
        return learning([Path(word) for word in words])
    module, _, function = {
        "critic": "runs:critic",
        "diagnosis": "diagnosis:diagnosis",
        "gae": "diagnosis:gae_by_lambda",
        "leaderboard": "runs:leaderboard",
        "track": "tracks:track",
        "ladder": "ladders:ladder",
    }[name].partition(":")
    folder = Path(_one(name, "a folder", words))
    if not folder.is_dir():
        raise RunError(f"{name} must be followed by a folder, got {folder}")
    # Imported here, as some of the modules need the libraries of training.
    draw: Callable[[Path], Plot] = getattr(import_module(f".{module}", __package__), function)
    return draw(folder)


def _one(name: str, what: str, words: Sequence[str]) -> str:
    if len(words) != 1:
        raise InputError(f"{name} must be followed by {what}, got {' '.join(words) or 'nothing'}")
    return words[0]
