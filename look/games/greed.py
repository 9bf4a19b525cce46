"""Charts of Greed: the best number of dice and state values."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...baselines import Task, occupancy, solve
from ...core import Array, BoolArray, FloatArray, present
from ...core.words import listed
from ...games import Greed
from ..charts import EXAMPLES, CellWords, Example, Lines, Map, Plot, Series, game_chart, game_of

EXAMPLES["mistakes-greed"] = Example("mistakes", "if_else", Greed.name)
EXAMPLES["policy-greed"] = Example("policy", "if_else", Greed.name)

EARLY = 0.8  # part of the limit up to which the game is called open
SIDES = (2, 3, 6, 12, 20)  # of the dice, for the value of going first
ROUNDING = 1e-9  # values nearer to 1/2 count as 1/2
KINDS = ("Normal turns", "Last turns")  # by the last component of an observation


def cells(game: Greed, numbers: Array, last: int) -> Array:
    """Reshape numbers, shape (state,), of one kind of turn to (other's score, own score)."""
    return numbers.reshape(2, game.num_scores, game.num_scores)[last].T


@game_chart("greed-policy", Greed, reported=True)
def best_dice(task: Task) -> Plot:
    """Draw the best number of dice in every state."""
    game, solution = game_of(task, Greed), solve(task)
    dice, worth = solution.policy.actions, solution.values[task.seat]
    panels = _maps_of_turns(
        task,
        dice.astype(np.float64),
        value_label="dice to roll",
        whole=True,
        hatched=solution.optimal.sum(axis=1) > 1,
        hatched_label="several numbers are best",
        says=lambda state: (
            f"{present(game).describe_action(int(dice[state]))} ({worth[state]:.4f})"
        ),
    )
    begin = "" if panels[0].shows(0, 0) else ", which the maps leave out,"
    return Plot(
        title=f"How many dice to roll, M = {game.max_score}, s = {game.sides}",
        caption=f"At 0 to 0{begin} optimal play {present(game).describe_action(int(dice[0]))}, and "
        "the fewer the nearer it is to the limit. The best number of dice by both scores"
        f"{_against(task)}, the fewest where several "
        "are best (hatched); 0 means stop. Grey: unreachable states; faded: never reached "
        f"{_in_play(task)}.",
        panels=panels,
    )


@game_chart("greed-value", Greed, reported=True)
def value(task: Task) -> Plot:
    """Draw the value of every state."""
    game = game_of(task, Greed)
    worth, few, told = solve(task).values[task.seat], int(EARLY * game.max_score), ""
    begun = (slice(few + 1), slice(few + 1))  # both players have few points
    early = cells(game, worth, 0)[begun][cells(game, _met(task, "optimal"), 0)[begun]]
    if early.size:
        told = (
            f"The last steps decide: as long as both players have at most {few} points, the "
            f"player to move wins with probability {early.min():.2f} to {early.max():.2f}. "
        )
    return Plot(
        title=f"Win probability, M = {game.max_score}, s = {game.sides}",
        caption=f"{told}Win probability of the player to move"
        f"{ties_words(game)}, {_in_play(task)} from there on. Grey: "
        f"unreachable states; faded: never reached {_in_play(task)}.",
        panels=_maps_of_turns(
            task, worth, value_label="win probability", colours="diverging", limits=(0.0, 1.0)
        ),
    )


@game_chart("greed-beginning", Greed)
def beginning(task: Task) -> Plot:
    """Draw the value of the beginning against the limit, for several numbers of sides."""
    rules = game_of(task, Greed)
    limit = rules.max_score
    series = []
    for sides in SIDES:
        game = Greed(**{**rules.keywords, "sides": sides})
        scores = np.arange(limit - 1, -1, -1)  # M - m : M - m is the beginning with limit m
        states = game.encode(np.stack([scores, scores, np.zeros_like(scores)], axis=-1))
        values = solve(Task(game)).found.at(0, states)
        series.append(Series(name=f"s = {sides}", x=np.arange(1.0, limit + 1), y=values))
    panel = Lines(
        title="Is it an advantage to go first?",
        x_label="limit M",
        y_label="first player's win probability",
        series=series,
        level=0.5,
    )
    below = {line.name: line.x[line.y < 1 / 2 - ROUNDING] for line in series}
    from_then_on = {name: int(limits.max(initial=0)) + 1 for name, limits in below.items()}
    first = [f"{start} on for {name}" for name, start in from_then_on.items() if start <= limit]
    never = [name for name, start in from_then_on.items() if start > limit]
    told = []
    if first:
        told.append(f"The first player has the advantage for every limit from {listed(first)}.")
    if never:
        told.append(f"For {listed(never)} the second player still has it at M = {limit}.")
    return Plot.of(
        panel,
        f"{' '.join(told)} The first player's win probability{ties_words(rules)}, for every limit "
        f"M up to {limit} and several numbers of sides s: above 1/2 it is better to go first.",
    )


def _against(task: Task) -> str:
    """Name the other player's policy, unless it plays the equilibrium."""
    return "" if task.faces_equilibrium else f" against {listed(task.labels.values())}"


def _in_play(task: Task) -> str:
    return f"under optimal play{_against(task)}"


def ties_words(game: Greed) -> str:
    """Return a phrase that says that ties count half, if they do."""
    return ", ties counted half" if game.tie == "half" else ""


def _maps_of_turns(
    task: Task,
    numbers: FloatArray,  # (state,)
    hatched: BoolArray | None = None,  # (state,)
    says: Callable[[int], str] | None = None,  # the text of a state
    **options: Any,  # other attributes of the maps
) -> list[Map]:
    """Plot a number for each state, in one map for each kind of turn."""
    game = game_of(task, Greed)
    # Random play reaches every reachable state.
    numbers = np.where(_met(task, "random"), numbers, np.nan)
    met = _met(task, "optimal")
    options = {
        "faded_label": f"never reached {_in_play(task)}",
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
            missing_label="unreachable",
            faded=~cells(game, met, last),
            hatched=None if hatched is None else cells(game, hatched, last),
            words=words(last),
            **options,
        )
        for last, kind in enumerate(KINDS)
    ]


def _met(task: Task, policy: str) -> BoolArray:
    """Return which states a policy reaches with positive probability, shape (state,).

    If the opponent plays the equilibrium, both players are taken to follow the policy.
    """
    if not task.faces_equilibrium:
        return occupancy(policy, task) > 0
    first, second = (occupancy(policy, Task(task.game, seat, policy)) for seat in (0, 1))
    return first + second > 0
