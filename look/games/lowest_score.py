"""Charts of the lowest-score game: the notebook's tables, and how many dice to keep."""

from collections.abc import Mapping, Sequence

import numpy as np

from ...baselines import Solution, Task, solve
from ...core import InputError
from ...core.dice import combinations
from ...core.words import spelled
from ...games import LowestScore
from ...sources.claim import printed_table
from ...sources.lowest_score.policies import beat_chance, survival_chance
from ..charts import Bars, Map, Picture
from ..registry import example, game_chart

example("outcomes-lowest-score", "outcomes", "only3s", LowestScore)

TIES = "several numbers are equally good"


@game_chart("lowest-score-keep", LowestScore, reported=True)
def keep(task: Task) -> Picture:
    """Draw how many dice the last player keeps, by its roll and the points to spare."""
    game = _rules(task)
    if game.players < 2:
        raise InputError(f"players must be at least 2 here, got {game.players}")
    if game.objective == "score":
        raise InputError("objective must be win or share here, got score, which beats nobody")
    solution = solve(Task(game, game.players - 1, "random"))
    known = {"players after": 0, "players tied for it": 1}
    return Picture(
        title="How many dice the last player keeps",
        says="How many dice the last player of a round keeps, those of least worth, by how many "
        "points they may still cost to tie for the lowest score; rolls are in order of worth. "
        f"Hatched is where {TIES}, of which the fewest is shown; under a veil all are, as the "
        "round is won or lost.",
        panels=[
            _kept(solution, dice, "best total so far", spare, "points to spare", known)
            for dice in range(2, game.dice + 1)
            for spare in [range(dice * max(game.worth) + 1)]
        ],
    )


@game_chart("lowest-score-first", LowestScore, reported=True)
def first(task: Task) -> Picture:
    """Draw how many dice the first player keeps, by its roll and the points kept before."""
    game = _rules(task)
    solution = solve(Task(game, 0, "optimal" if game.players > 1 else ()))
    known = {"players after": game.players - 1, "best total so far": game.max_score + 1}
    return Picture(
        title="How many dice the first player keeps",
        says="How many dice the first player of a round keeps, who has no score to beat, if all "
        "play optimally: those of least worth, by the points that it has kept before; rolls are in "
        f"order of worth. Hatched is where {TIES}, of which the fewest is shown; under a veil all "
        "are.",
        panels=[
            _kept(solution, dice, "total kept", _totals(game, dice), "points kept", known)
            for dice in range(2, game.dice + 1)
        ],
    )


@game_chart("lowest-score-survival", LowestScore, fixed=True)
def table(_task: Task) -> Picture:
    """Draw the notebook's last table, with the rows that are cut off there."""
    game, printed = LowestScore(), printed_table("lowest_score", "survival")
    scores = [int(row["score"]) for row in printed][::-1]
    after = [int(name) for name in printed[0] if name != "score"]
    chances = np.array([[float(survival_chance(game, s, k)) for k in after] for s in scores])
    cut = np.array([["cut" in row[str(k)] for k in after] for row in printed[::-1]])
    panel = Map(
        title="Will a score last?",
        x_label="players to come",
        y_label="score",
        values=chances,
        value_label="chance that nobody beats the score",
        rows=[str(score) for score in scores],
        columns=[str(number) for number in after],
        texts=np.array([[f"{chance:.2%}" for chance in row] for row in chances]),
        marked=cut,
        marked_label="cut off in the notebook",
        words=lambda row, column: (
            f"{scores[row]} points, {after[column]} players to come: nobody beats them with "
            f"probability {chances[row, column]:.6f}"
        ),
        limits=(0.0, 1.0),
    )
    return Picture.of(
        panel,
        "The notebook's last table, exactly: how likely nobody of the players to come gets "
        "less than a score, if each tries only that. All that the notebook prints is right; "
        "hatched cells are cut off there.",
    )


@game_chart("lowest-score-beating", LowestScore, fixed=True)
def beating(_task: Task) -> Picture:
    """Draw the notebook's chances to beat a goal with five dice, beside the exact ones."""
    game, printed = LowestScore(), printed_table("lowest_score", "beating")
    goals = [int(row["goal"]) for row in printed]
    panel = Bars(
        title="The chance to beat a score with five dice",
        x_label="probability of a lower score",
        labels=[f"beat {goal}" for goal in goals],
        values=np.array([float(beat_chance(game, goal, game.dice)) for goal in goals]),
        name="exact",
        others=np.array([float(row["five dice"].removesuffix("%")) / 100 for row in printed]),
        others_name="as the notebook prints it",
    )
    return Picture.of(
        panel,
        "How likely five fresh dice get less than a score in the best play for it, beside "
        "what the notebook prints: they agree to all its digits.",
    )


def _rules(task: Task) -> LowestScore:
    """Give the rules of a task, in which there is something to choose."""
    assert isinstance(task.game, LowestScore)
    if task.game.dice < 2:
        raise InputError(f"dice must be at least 2 here, got {task.game.dice}")
    return task.game


def _totals(game: LowestScore, dice: int) -> list[int]:
    """List what the dice that are kept may cost while some are rolled; not every number is met."""
    kept = combinations(game.dice - dice, game.faces)
    return sorted({sum(game.worth[face - 1] for face in faces) for faces in kept})


def _kept(
    solution: Solution,
    dice: int,
    counted: str,
    numbers: Sequence[int],
    label: str,
    known: Mapping[str, int],
) -> Map:
    """Draw how many of some dice to keep.

    Args:
        solution: of the player.
        dice: how many were rolled.
        counted: the component of an observation that a column is.
        numbers: what it is in each column.
        label: what to call it.
        known: other components that are not 0, where the game has them.
    """
    game, seat = solution.task.game, solution.task.seat
    assert isinstance(game, LowestScore)
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
        does = game.describe_move(here, int(chosen[row, column]))
        return f"{game.describe(here)}: {does} ({solution.found.at(seat, state)[0]:.4f})"

    return Map(
        title=f"{spelled(dice).capitalize()} dice rolled",
        x_label=label,
        y_label="roll",
        values=(chosen + 1).astype(np.float64),
        value_label="dice to keep",
        rows=[" ".join(map(str, roll)) for roll in rolls],
        columns=None if list(numbers) == list(range(len(numbers))) else list(map(str, numbers)),
        apart=best.sum(axis=-1) == dice,
        apart_label="all numbers are equally good",
        marked=best.sum(axis=-1) > 1,
        marked_label=TIES,
        words=words,
        limits=(1, game.dice),
        whole=True,
    )
