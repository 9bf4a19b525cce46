"""Plots by the words of the command line."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from ..agents.runs.config import RunError, task_from_options
from ..agents.runs.options import PolicyOptions
from ..core import GAMES, InputError
from . import agents, games, registry  # noqa: F401  the first two register their charts
from .charts import Plot
from .registry import AGENT_CHARTS, Example, GameChart, Keywords

_Chart = TypeVar("_Chart", GameChart, Example)


def _in_order(charts: Mapping[str, _Chart]) -> dict[str, _Chart]:
    """Sort charts by game; the charts of one game keep the order in which they were registered."""
    return dict(sorted(charts.items(), key=lambda entry: list(GAMES).index(entry[1].game)))


GAME_CHARTS = _in_order(registry.GAME_CHARTS)
EXAMPLES = _in_order(registry.EXAMPLES)
#: Charts of run folders; they need the libraries of training.
RUN_CHARTS = ("learning", "critic", "diagnosis", "gae", "leaderboard", "track")
NAMES = (*GAME_CHARTS, *EXAMPLES, *AGENT_CHARTS, *RUN_CHARTS)


def picture(words: Sequence[str], game: str | None = None, env: Keywords | None = None) -> Plot:
    """Make a plot: a chart by its name, or the learning curves of run folders.

    Args:
        words: the name of a chart and its agent, runs or folder; the name of a picture of the
            gallery; or run folders.
        game: the game of an agent; a run folder knows its own.
        env: keywords of the game.

    Raises:
        InputError: if there is no such chart, or the other words do not suit it.
    """
    env = env or {}
    name, *others = words
    if name in GAME_CHARTS:
        return _of_game(name, others, game, env)
    if name in EXAMPLES:
        return _of_example(name, others, game, env)
    if name in AGENT_CHARTS:
        return _of_agent(name, others, game, env)
    unknown = [word for word in words if not Path(word).is_dir()]
    if name not in RUN_CHARTS and unknown and not Path(name).is_dir():
        known = ", ".join(NAMES)
        raise InputError(f"what must be run folders, gallery or one of {known}, got {unknown[0]!r}")
    PolicyOptions.refuse("a picture of runs", game=game, env=env)
    return _of_runs(name, others) if name in RUN_CHARTS else _of_runs("learning", words)


def _of_game(name: str, others: Sequence[str], game: str | None, env: Keywords) -> Plot:
    chart = GAME_CHARTS[name]
    _require_alone(name, others, game, chart.game)
    if chart.fixed:
        PolicyOptions.refuse(f"{name}, which is of the source's own game", env=env)
    return chart.draw(task_from_options(chart.game, {**chart.env, **env}))


def _of_example(name: str, others: Sequence[str], game: str | None, env: Keywords) -> Plot:
    chart, policy, own = EXAMPLES[name]
    _require_alone(name, others, game, own)
    return _of_agent(chart, [policy], own, env)


def _require_alone(name: str, others: Sequence[str], game: str | None, own: str) -> None:
    """Refuse further words, and another game than the chart's own."""
    if others:
        raise InputError(f"{name} must stand alone, got {others[0]!r}")
    if game not in (None, own):
        raise InputError(f"game must be {own} for {name}, or left out, got {game}")


def _of_agent(name: str, others: Sequence[str], game: str | None, env: Keywords) -> Plot:
    chart = AGENT_CHARTS[name]
    agent = PolicyOptions(_one(name, "a run folder or a policy", others), game, env)
    scored = agent.score(Path(agent.policy).name)
    if not chart.suits(scored.task.game):
        assert chart.game is not None
        raise InputError(
            f"{name} must be followed by an agent of {chart.game.name}, "
            f"got one of {scored.task.game.name}"
        )
    return chart.draw(scored)


def _of_runs(name: str, words: Sequence[str]) -> Plot:
    from . import diagnosis, runs, tracks

    if name == "learning":
        if not words:
            raise InputError("learning must be followed by run folders, got none")
        return runs.learning([Path(word) for word in words])
    draw: Callable[[Path], Plot] = {
        "critic": runs.critic,
        "diagnosis": diagnosis.diagnosis,
        "gae": diagnosis.gae_by_lambda,
        "leaderboard": runs.leaderboard,
        "track": tracks.track,
    }[name]
    folder = Path(_one(name, "a folder", words))
    if not folder.is_dir():
        raise RunError(f"{name} must be followed by a folder, got {folder}")
    return draw(folder)


def _one(name: str, what: str, words: Sequence[str]) -> str:
    if len(words) != 1:
        raise InputError(f"{name} must be followed by {what}, got {' '.join(words) or 'nothing'}")
    return words[0]
