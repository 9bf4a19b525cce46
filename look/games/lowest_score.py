"""Charts of the lowest-score game: the best number of dice to keep."""

from collections.abc import Mapping, Sequence

import numpy as np

from ...baselines import Solution, Task, solve
from ...core import InputError, present
from ...core.dice import combinations, redundancy
from ...core.words import spelled
from ...games import LowestScore
from ..charts import EXAMPLES, Example, Map, Plot, game_chart, game_of

EXAMPLES["outcomes-lowest-score"] = Example("outcomes", "only3s", LowestScore.name)

TIES = "several numbers are equally good"


@game_chart("lowest-score-keep", LowestScore, reported=True)
def keep(task: Task) -> Plot:
    """Draw the number of dice that the last player keeps, by roll and points to spare."""
    game = _rules(task)
    if game.players < 2:
        raise InputError(f"players must be at least 2 here, got {game.players}")
    if game.objective == "score":
        raise InputError("objective must be win or share here, got score, which beats nobody")
    solution = solve(Task(game, game.players - 1, "random"))
    known = {"players after": 0, "players tied for it": 1}
    return Plot(
        title="How many dice the last player keeps",
        caption="The more points to spare, the more dice are worth keeping; whoever has few keeps "
        "one die and rolls on. The number of dice, the lowest ones, that the last player keeps, by "
        "the points that they may still cost to tie for the lowest score; rolls are sorted by "
        f"worth. Hatched: {TIES}, and the fewest is shown. Faded: all numbers are equally good, "
        "as the round is won or lost.",
        panels=[
            _kept(solution, dice, "best total so far", spare, "points to spare", known)
            for dice in range(2, game.dice + 1)
            for spare in [range(dice * max(game.worth) + 1)]
        ],
    )


@game_chart("lowest-score-first", LowestScore, reported=True)
def first(task: Task) -> Plot:
    """Draw the number of dice that the first player keeps, by roll and points kept before."""
    game = _rules(task)
    solution = solve(Task(game, 0, "optimal" if game.players > 1 else ()))
    known = {"players after": game.players - 1, "best total so far": game.max_score + 1}
    panels = [
        _kept(solution, dice, "total kept", _totals(game, dice), "points kept", known)
        for dice in range(2, game.dice + 1)
    ]
    all_dice = panels[-1]
    assert all_dice.rows is not None
    ways = [redundancy(tuple(map(int, row.split()))) for row in all_dice.rows]
    one = sum(way for way, kept in zip(ways, all_dice.values[:, 0], strict=True) if kept == 1)
    return Plot(
        title="How many dice the first player keeps",
        caption=f"In {100 * one / game.faces**game.dice:.0f} % of the first rolls it is best to "
        "keep one die only. The number of dice, the lowest ones, that the first player of a round "
        "keeps if all play optimally, by the points kept before; rolls are sorted by worth. There "
        f"is no score to beat yet. Hatched: {TIES}, and the fewest is shown. Faded: all numbers "
        "are equally good.",
        panels=panels,
    )


def _rules(task: Task) -> LowestScore:
    """Return the game of a task; it must have at least two dice, so that there is a choice."""
    game = game_of(task, LowestScore)
    if game.dice < 2:
        raise InputError(f"dice must be at least 2 here, got {game.dice}")
    return game


def _totals(game: LowestScore, dice: int) -> list[int]:
    """List the possible totals of the dice already kept while ``dice`` are rolled."""
    kept = combinations(game.dice - dice, game.faces)
    return sorted({sum(game.worth[face - 1] for face in faces) for faces in kept})


def _kept(
    solution: Solution,  # for the player's seat
    dice: int,  # just rolled
    counted: str,  # name of the component of observations on the x axis
    numbers: Sequence[int],  # its value in each column
    label: str,  # of the columns
    known: Mapping[str, int],  # values of other components, if the game has them; the rest is 0
) -> Map:
    game, seat = game_of(solution.task, LowestScore), solution.task.seat
    rolls = sorted(
        map(game.by_worth, combinations(dice, game.faces)),
        key=lambda roll: [game.worth[face - 1] for face in roll],
    )
    seen = np.zeros((len(rolls), len(numbers), len(game.observation_names)), dtype=np.int64)
    seen[..., 1 : 1 + dice] = np.array(rolls)[:, None]
    for name, number in [*known.items(), (counted, numbers)]:
        if name in game.observation_names:
            seen[..., game.observation_names.index(name)] = np.array(number)
    states = game.encode(seen)
    chosen, best = solution.policy.actions[states], solution.optimal[states]

    def words(row: int, column: int) -> str:
        here, state = seen[row, column], states[row, column : column + 1]
        does = present(game).describe_move(here, int(chosen[row, column]))
        return f"{present(game).describe(here)}: {does} ({solution.found.at(seat, state)[0]:.4f})"

    return Map(
        title=f"{spelled(dice).capitalize()} dice rolled",
        x_label=label,
        y_label="roll",
        values=(chosen + 1).astype(np.float64),
        value_label="dice to keep",
        rows=[" ".join(map(str, roll)) for roll in rolls],
        columns=None if list(numbers) == list(range(len(numbers))) else list(map(str, numbers)),
        faded=best.sum(axis=-1) == dice,
        faded_label="all numbers are equally good",
        hatched=best.sum(axis=-1) > 1,
        hatched_label=TIES,
        words=words,
        limits=(1, game.dice),
        whole=True,
    )
