"""The charts by the names that the command line gives them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from ..agents.runs.asked import Asked
from ..agents.runs.config import RunError, task_from_options
from ..baselines import Task
from ..core import InputError
from . import agents, four_two_one, greed, greed_figures, lowest_score, shut_the_box
from .charts import Picture

Keywords: TypeAlias = Mapping[str, int | str]
SMALL: Keywords = {"max_score": 10, "sides": 3}  # the game of the paper's figures


@dataclass(frozen=True)
class GameChart:
    """A chart of a game.

    Attributes:
        game: its name.
        draw: what makes the picture.
        env: keywords of the game unless others are given.
        fixed: whether it is of the source's own game, so that no keywords can be given.
        reported: whether the page of an agent has it, too.
    """

    game: str
    draw: Callable[[Task], Picture]
    env: Keywords = field(default_factory=dict)
    fixed: bool = False
    reported: bool = False


GAME_CHARTS = {
    "greed-policy": GameChart("Greed", greed.policy, reported=True),
    "greed-value": GameChart("Greed", greed.value, reported=True),
    "greed-beginning": GameChart("Greed", greed_figures.beginning),
    "greed-figure-2": GameChart("Greed", greed_figures.figure_2, fixed=True),
    "greed-figure-3": GameChart("Greed", greed_figures.figure_3, SMALL),
    "greed-figure-4": GameChart("Greed", greed_figures.figure_4, SMALL),
    "lowest-score-keep": GameChart("LowestScore", lowest_score.keep, reported=True),
    "lowest-score-first": GameChart("LowestScore", lowest_score.first, reported=True),
    "lowest-score-survival": GameChart("LowestScore", lowest_score.table, fixed=True),
    "lowest-score-beating": GameChart("LowestScore", lowest_score.beating, fixed=True),
    "shut-the-box-chance": GameChart("ShutTheBox", shut_the_box.chance, reported=True),
    "shut-the-box-sets": GameChart("ShutTheBox", shut_the_box.best_sets, reported=True),
    "421-tables": GameChart("FourTwoOne", four_two_one.tables, fixed=True),
    "421-laws": GameChart("FourTwoOne", four_two_one.laws, reported=True),
    "421-match": GameChart("FourTwoOneMatch", four_two_one.match, reported=True),
}
#: Charts of an agent: a policy of a game, or a run.
AGENT_CHARTS = {"mistakes": agents.mistakes, "outcomes": agents.outcomes, "rolls": greed.rolls}
#: Charts of run folders, which take the libraries of training.
RUN_CHARTS = ("learning", "critic", "leaderboard")
NAMES = (*GAME_CHARTS, *AGENT_CHARTS, *RUN_CHARTS)


def picture(words: Sequence[str], game: str | None = None, env: Keywords | None = None) -> Picture:
    """Make what is asked for: a chart by its name and what it is of, or the curves of run folders.

    Args:
        words: the name of a chart, and the agent, runs or folder that it is of; or run folders.
        game: the game of an agent that is no run.
        env: keywords of the game.

    Raises:
        InputError: if there is no such chart, or it cannot be drawn of that.
    """
    env = env or {}
    name, *others = words
    if name in GAME_CHARTS:
        return _of_game(name, others, game, env)
    if name in AGENT_CHARTS:
        asked = Asked(_one(name, "a run folder or a policy", others), game, env)
        return AGENT_CHARTS[name](asked.score(Path(asked.policy).name))
    unknown = [word for word in words if not Path(word).is_dir()]
    if name not in RUN_CHARTS and unknown and not Path(name).is_dir():
        known = ", ".join(NAMES)
        raise InputError(f"what must be run folders, gallery or one of {known}, got {unknown[0]!r}")
    Asked.refuse("a picture of runs", game=game, env=env)
    return _of_runs(name, others) if name in RUN_CHARTS else _of_runs("learning", words)


def _of_game(name: str, others: Sequence[str], game: str | None, env: Keywords) -> Picture:
    chart = GAME_CHARTS[name]
    if others:
        raise InputError(f"{name} must stand alone, got {others[0]!r}")
    if game not in (None, chart.game):
        raise InputError(f"game must be {chart.game} for {name}, or left out, got {game}")
    if chart.fixed:
        Asked.refuse(f"{name}, which is of the source's own game", env=env)
    return chart.draw(task_from_options(chart.game, {**chart.env, **env}))


def _of_runs(name: str, words: Sequence[str]) -> Picture:
    from . import runs

    if name == "learning":
        if not words:
            raise InputError("learning must be followed by run folders, got none")
        return runs.learning([Path(word) for word in words])
    draw = {"critic": runs.critic, "leaderboard": runs.leaderboard}[name]
    folder = Path(_one(name, "a folder", words))
    if not folder.is_dir():
        raise RunError(f"{name} must be followed by a folder, got {folder}")
    return draw(folder)


def _one(name: str, what: str, words: Sequence[str]) -> str:
    if len(words) != 1:
        raise InputError(f"{name} must be followed by {what}, got {' '.join(words) or 'nothing'}")
    return words[0]
