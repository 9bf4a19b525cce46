"""The picture of a ladder: exact scores over the exact properties of its rungs."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from ..agents.algorithms import ALGORITHMS
from ..agents.board.ladders import LADDERS, Ladder, find_ladder
from ..agents.board.results import Run, read_runs
from ..agents.runs.config import RunError
from ..baselines import describe, make_task
from ..core import InputError
from ..envs import find_game
from .charts import Lines, Plot, Series
from .runs import FLOOR

#: A rung counts as learned from this mean score on.
LEARNED = 0.99
#: Normalised scores of runs by agent and number of the rung.
Scores = Mapping[str, Mapping[int, list[float]]]


def read_ladder(folder: Path) -> tuple[Ladder, Scores]:
    """Read the finished runs of a ladder.

    Args:
        folder: folder of a benchmark of a ladder.

    Raises:
        RunError: if there is no finished run, a run is damaged, or the runs are not of one ladder.
    """
    runs = read_runs(folder)
    if not runs:
        raise RunError(f"folder must hold finished runs, got {folder}")
    ladder = _ladder(runs)
    if ladder is None:
        raise RunError(f"folder must hold runs of one game that differ in a keyword, got {folder}")
    scores: dict[str, dict[int, list[float]]] = {}
    for run in runs:
        rung = [rung.keywords for rung in ladder.rungs].index(run.env)
        scores.setdefault(run.agent, {}).setdefault(rung, []).append(run.normalized)
    return ladder, scores


def _ladder(runs: Sequence[Run]) -> Ladder | None:
    """Find the ladder of runs, or make it from the keyword in which they differ; None if none."""
    games = {find_game(run.place).name for run in runs}
    for ladder in LADDERS.values():
        rungs = [rung.keywords for rung in ladder.rungs]
        if games == {ladder.game} and all(run.env in rungs for run in runs):
            return ladder
    places, knobs = {run.place for run in runs}, {tuple(run.env) for run in runs}
    if len(places) > 1 or [len(knob) for knob in knobs] != [1]:
        return None
    (place,), ((knob,),) = places, knobs
    values = dict.fromkeys(str(run.env[knob]) for run in runs)
    with suppress(InputError):  # one value, or values that differ by no number
        return find_ladder([place, knob, *values])
    return None


def highest(scores: Mapping[int, list[float]]) -> int | None:
    """Find the highest rung with a mean score of ``LEARNED`` at least; None if there is none."""
    return max((rung for rung, own in scores.items() if np.mean(own) >= LEARNED), default=None)


def ladder(folder: Path) -> Plot:
    """Draw the gap to the optimum of every agent over the knob and three properties of the rungs.

    Raises:
        RunError: as ``read_ladder`` does.
    """
    found, scores = read_ladder(folder)
    trained = sorted({rung for own in scores.values() for rung in own})
    rungs = [found.rungs[number] for number in trained]
    name = find_game(found.game).name
    described = [describe(make_task(name, **rung.keywords)) for rung in rungs]
    states = np.log10([task.reachable_states for task in described])
    axes: dict[str, list[float]] = {
        found.knob: [float(rung.label) for rung in rungs],
        "reachable states, logarithm of base 10": states.tolist(),
        "agent's moves in a game of optimal play": [task.moves for task in described],
        "outcome noise of optimal play (standard deviation)": [task.noise for task in described],
    }
    panels = [  # on a property that all rungs share, nothing would be seen
        Lines(
            title=f"by {label.partition(',')[0].partition(' (')[0]}",
            x_label=label,
            y_label="1 - normalised score (random play: 1)",
            series=[
                _line(agent, dict(zip(trained, places, strict=True)), own)
                for agent, own in sorted(scores.items())
            ],
            log_y=True,
            level=1 - LEARNED,
            points=True,
        )
        for label, places in axes.items()
        if label == found.knob or len(set(places)) > 1
    ]
    tops = {agent: highest(own) for agent, own in scores.items()}
    reached = ", ".join(
        f"{agent} {'none' if top is None else found.rungs[top].label}"
        for agent, top in tops.items()
    )
    return Plot(
        title=f"{found.title}: exact distance to the optimum",
        caption="Exact gap to the optimum on each rung, over the knob and over exact properties of "
        "the game: the mean of all seeds as a line, the range from the best to the worst seed as a "
        f"band. Highest {found.knob} with a mean score of {LEARNED:g}: {reached}.",
        panels=panels,
    )


def _line(agent: str, places: Mapping[int, float], scores: Mapping[int, list[float]]) -> Series:
    """Draw the rungs of an agent in the order of their places on the x axis."""
    titles = [known.title for known in ALGORITHMS.values()]  # of the outcome as the reward
    rungs = sorted(scores, key=places.__getitem__)
    gaps = [np.maximum(1 - np.array(scores[rung]), FLOOR) for rung in rungs]
    return Series(
        name=agent,
        x=np.array([places[rung] for rung in rungs]),
        y=np.array([gap.mean() for gap in gaps]),
        low=np.array([gap.min() for gap in gaps]),
        high=np.array([gap.max() for gap in gaps]),
        colour=titles.index(agent) if agent in titles else None,
    )
