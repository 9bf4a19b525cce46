"""Charts of Shut the Box: the value of a score to beat, and the best first tiles to close."""

from itertools import pairwise

import numpy as np

from ...baselines import Solution, Task, solve
from ...core import FloatArray, InputError, IntArray, present
from ...core.words import listed
from ...games import ShutTheBox
from ..charts import EXAMPLES, Example, Lines, Map, Plot, Series, game_chart, game_of

EXAMPLES["mistakes-shut-the-box"] = Example("mistakes", "random", ShutTheBox.name)


def _two_players(task: Task) -> ShutTheBox:
    game = game_of(task, ShutTheBox)
    if game.num_players < 2:
        raise InputError(f"objective must be win for this chart, got {game.objective}")
    return game


def _first_rolls(game: ShutTheBox) -> tuple[IntArray, FloatArray]:
    """Return the possible rolls at a full box, and their probabilities."""
    states, law = game.initial_law()
    return game.observe(states, 0)[:, game.tiles], law.astype(np.float64)


def _targets(game: ShutTheBox) -> IntArray:
    """Return the possible scores to beat, without 0 if shutting the box wins at once."""
    return np.arange(int(game.shut_wins), game.max_score + 1)


def _at_full_box(game: ShutTheBox, rolls: IntArray, targets: IntArray) -> IntArray:
    """Return the states before the first move of a turn, shape (target, roll)."""
    seen = np.ones((len(targets), len(rolls), game.tiles + 2), dtype=np.int64)
    seen[..., game.tiles], seen[..., game.tiles + 1] = rolls, targets[:, None]
    return game.encode(seen)


@game_chart("shut-the-box-chance", ShutTheBox, reported=True)
def chance(task: Task) -> Plot:
    """Draw the second player's win probability, by the score to beat."""
    game = _two_players(task)
    targets = _targets(game)
    rolls, law = _first_rolls(game)
    states = _at_full_box(game, rolls, targets)
    solution = solve(Task(game, 1))
    values = (solution.found.at(1, states.ravel()).reshape(states.shape) * law).sum(axis=1)
    panel = Lines(
        title="What a score is worth",
        x_label="score to beat: the open sum that the first player leaves",
        y_label="second player's win probability, ties counted half",
        series=[Series(name="", x=targets.astype(np.float64), y=values)],
        level=0.5,
        points=True,
    )
    even = int(targets[values >= 1 / 2][0])
    return Plot.of(
        panel,
        f"From {even} points to beat on the second player is the favourite. Its win probability "
        "before its first roll, ties counted half, by the score to beat, under optimal play.",
    )


@game_chart("shut-the-box-sets", ShutTheBox, reported=True)
def best_sets(task: Task) -> Plot:
    """Draw the best tiles to close first, by roll and score to beat."""
    game = _two_players(task)
    rolls, _ = _first_rolls(game)
    none = np.array([game.max_score + 1])
    targets = _targets(game)
    first, second = solve(Task(game, 0)), solve(Task(game, 1))
    states = _at_full_box(game, rolls, targets)
    found = [(first, _at_full_box(game, rolls, none)[0], "none")]
    for low, after in _alike(second, states):
        last = "" if after == low + 1 else f" to {targets[after - 1]}"
        found.append((second, states[low], f"{targets[low]}{last}"))
    chosen = np.array([solution.policy.actions[row] for solution, row, _ in found])
    sets = np.array([[" ".join(map(str, game.sets[action])) for action in row] for row in chosen])
    several = [solution.optimal[row].sum(axis=-1) > 1 for solution, row, _ in found]

    def words(row: int, column: int) -> str:
        solution, at, _ = found[row]
        seen = game.observe(at[column : column + 1], solution.task.seat)[0]
        value = solution.found.at(solution.task.seat, at[column : column + 1])[0]
        closes = present(game).describe_action(chosen[row, column])
        return f"{present(game).describe(seen)}: {closes} ({value:.4f})"

    panel = Map(
        title="Which tiles to close first",
        x_label="roll",
        y_label="score to beat",
        values=np.vectorize(lambda action: len(game.sets[action]))(chosen).astype(np.float64),
        value_label="tiles closed",
        columns=[str(roll) for roll in rolls],
        rows=[name for _, _, name in found],
        texts=sets,
        hatched=np.array(several),
        hatched_label="several sets are equally good",
        words=words,
        whole=True,
    )
    optimal = [solution.optimal[row] for solution, row, _ in found]
    single = [  # the rolls with which this tile is best to close, whatever the score to beat
        str(roll)
        for column, roll in enumerate(rolls.tolist())
        if (roll,) in game.sets and all(each[column, game.sets.index((roll,))] for each in optimal)
    ]
    told = "The best set of tiles to close with the first roll, by the score to beat (none for the "
    told += "first player). Scores with the same best sets share a row."
    if single:
        told = f"With the rolls {listed(single)} it is always best to close one tile. {told}"
    return Plot.of(panel, told)


def _alike(solution: Solution, states: IntArray) -> list[tuple[int, int]]:
    """Group neighbouring targets with the same best sets: the first of a group, and that after it.

    States are those before the first move of a turn, shape (target, roll).
    """
    best, optimal = solution.policy.actions[states], solution.optimal[states]
    differ = (best[1:] != best[:-1]).any(axis=1) | (optimal[1:] != optimal[:-1]).any(axis=(1, 2))
    return list(pairwise([0, *(np.flatnonzero(differ) + 1).tolist(), len(states)]))
