"""Charts of Greed: what to roll and what it is worth, and what an agent rolls."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ...baselines import Score, Task, occupancy, solve
from ...baselines.solving.occupancy import pieces
from ...core import BoolArray, FloatArray
from ...core.words import listed
from ...games import Greed
from ..charts import CellWords, Map, Picture
from ..registry import agent_chart, example, game_chart

example("mistakes-greed", "mistakes", "if_else", Greed)

KINDS = ("Normal turns", "Last turns")  # by the last component of an observation


def greed_of(task: Task) -> Greed:
    """Give the rules of a task, which are those of Greed."""
    assert isinstance(task.game, Greed)
    return task.game


def cells(game: Greed, numbers: npt.NDArray[Any], last: int) -> npt.NDArray[Any]:
    """Lay out numbers (state,) of one kind of turn as (other's score, own score)."""
    laid_out: npt.NDArray[Any] = numbers.reshape(2, game.num_scores, game.num_scores)[last].T
    return laid_out


@game_chart("greed-policy", Greed, reported=True)
def policy(task: Task) -> Picture:
    """Draw the best number of dice in every state."""
    game, solution = greed_of(task), solve(task)
    dice, worth = solution.policy.actions, solution.values[task.seat]
    return Picture(
        title=f"How many dice to roll, M = {game.max_score}, s = {game.sides}",
        says=f"The best number of dice by both scores{_against(task)}, the fewest where several "
        "are best (hatched); 0 is to stop. Grey are states that nobody can meet, under a veil "
        f"those never met {_in_play(task)}.",
        panels=_maps(
            task,
            dice.astype(np.float64),
            value_label="dice to roll",
            whole=True,
            marked=solution.optimal.sum(axis=1) > 1,
            marked_label="several numbers are best",
            says=lambda state: f"{game.describe_action(int(dice[state]))} ({worth[state]:.4f})",
        ),
    )


@game_chart("greed-value", Greed, reported=True)
def value(task: Task) -> Picture:
    """Draw the value of every state."""
    game = greed_of(task)
    return Picture(
        title=f"What a position is worth, M = {game.max_score}, s = {game.sides}",
        says=f"The chance to win of who is to move{ties_words(game)}, {_in_play(task)} from there "
        f"on. Grey are states that nobody can meet, under a veil those never met {_in_play(task)}.",
        panels=_maps(
            task,
            solve(task).values[task.seat],
            value_label="chance to win",
            colours="diverging",
            limits=(0.0, 1.0),
        ),
    )


@agent_chart("rolls", Greed)
def rolls(scored: Score) -> Picture:
    """Draw how many dice an agent rolls in every state, and by how many it is wrong."""
    task, game = scored.task, greed_of(scored.task)
    numbers, optimal = np.arange(game.num_actions), solve(task).optimal
    rolled, best = np.zeros(game.num_states), np.zeros(game.num_states)
    for seat, states in pieces(task):
        if seat == task.seat:
            rolled[states] = (scored.agent.probabilities(states) * numbers).sum(axis=1)
            far = np.abs(rolled[states, None] - numbers)
            best[states] = np.where(optimal[states], far, np.inf).argmin(axis=1)
    met = scored.occupancy > 0
    beyond = max(1.0, float(np.abs(rolled - best)[met].max()))
    options: dict[str, Any] = {
        "met": met,
        "apart_label": "never met by the agent",
        "whole": scored.deterministic,
    }
    return Picture(
        title=f"How many dice {scored.policy} rolls, M = {game.max_score}, s = {game.sides}",
        says=f"The number of dice that {scored.policy} rolls by both scores"
        f"{'' if scored.deterministic else ', on average'}, 0 to stop; below, how many more that "
        f"is (blue) or fewer (red) than the nearest best number{_against(task)}. Grey are states "
        "that nobody can meet, under a veil those that the agent never does.",
        panels=[
            *_maps(
                task,
                rolled,
                value_label="dice rolled",
                says=lambda state: f"rolls {rolled[state]:.4g}, best {best[state]:g}",
                **options,
            ),
            *_maps(
                task,
                rolled - best,
                value_label="dice too many",
                colours="diverging",
                limits=(-beyond, beyond),
                **options,
            ),
        ],
    )


def _against(task: Task) -> str:
    """Name the other player, unless it plays the equilibrium."""
    return "" if task.faces_equilibrium else f" against {listed(task.labels.values())}"


def _in_play(task: Task) -> str:
    return f"in the best play{_against(task)}" if _against(task) else "if both play optimally"


def ties_words(game: Greed) -> str:
    """Say what a tie counts, if it counts alike to both."""
    return ", ties counted half" if game.tie == "half" else ""


def _maps(
    task: Task,
    numbers: FloatArray,
    met: BoolArray | None = None,
    marked: BoolArray | None = None,
    says: Callable[[int], str] | None = None,
    **options: Any,
) -> list[Map]:
    """Draw numbers (state,), a map for each kind of turn.

    Args:
        task: the game, and whom the agent faces.
        numbers: shape (state,).
        met: which states are not under the veil, shape (state,); by default those of optimal play.
        marked: which states are hatched, shape (state,).
        says: says of a state what its number is.
        options: others of ``Map``.
    """
    game = greed_of(task)
    numbers = np.where(_met(task, "random"), numbers, np.nan)  # which may do anything
    met = _met(task, "optimal") if met is None else met
    options = {
        "apart_label": f"never met {_in_play(task)}",
        "limits": (0.0, float(np.nanmax(numbers))),
        **options,
    }

    def words(last: int) -> CellWords | None:
        if says is None:
            return None
        return lambda other, own: (
            f"{own} to {other}: {says(int(game.encode(np.array([own, other, last]))))}"
        )

    return [
        Map(
            title=kind,
            x_label="own score",
            y_label="other's score",
            values=cells(game, numbers, last),
            missing_label="cannot be met",
            apart=~cells(game, met, last),
            marked=None if marked is None else cells(game, marked, last),
            words=words(last),
            **options,
        )
        for last, kind in enumerate(KINDS)
    ]


def _met(task: Task, policy: str) -> BoolArray:
    """Say which states (state,) are met with some probability if the agent plays by a policy.

    An opponent in equilibrium is taken to play by the policy too, in either seat.
    """
    if not task.faces_equilibrium:
        met: BoolArray = occupancy(policy, task) > 0
        return met
    first, second = (occupancy(policy, Task(task.game, seat, policy)) for seat in (0, 1))
    either: BoolArray = first + second > 0
    return either
