"""Charts of the lowest-score game: the notebook's tables, and how many dice to keep."""

import numpy as np

from ..baselines import Solution, Task, solve
from ..games import InputError, LowestScore
from ..games.dice import combinations
from ..sources.claim import printed_table
from ..sources.lowest_score.policies import beat_chance, survival_chance
from .charts import Bars, Map, Picture

GAME = LowestScore()
DICE = 2  # of whose rolls the chart is


def table(_task: Task) -> Picture:
    """Draw the notebook's last table, with the rows that are cut off there."""
    printed = printed_table("lowest_score", "survival")
    scores = [int(row["score"]) for row in printed][::-1]
    after = [int(name) for name in printed[0] if name != "score"]
    chances = np.array([[float(survival_chance(GAME, s, k)) for k in after] for s in scores])
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
    return Picture(
        title=panel.title,
        says="The notebook's last table, exactly: how likely nobody of the players to come gets "
        "less than a score, if each tries only that. All that the notebook prints is right; "
        "hatched cells are cut off there.",
        panels=[panel],
    )


def beating(_task: Task) -> Picture:
    """Draw the notebook's chances to beat a goal with five dice, beside the exact ones."""
    printed = printed_table("lowest_score", "beating")
    goals = [int(row["goal"]) for row in printed]
    panel = Bars(
        title="The chance to beat a score with five dice",
        x_label="probability of a lower score",
        labels=[f"beat {goal}" for goal in goals],
        values=np.array([float(beat_chance(GAME, goal, GAME.dice)) for goal in goals]),
        name="exact",
        others=np.array([float(row["five dice"].removesuffix("%")) / 100 for row in printed]),
        others_name="as the notebook prints it",
    )
    return Picture(
        title=panel.title,
        says="How likely five fresh dice get less than a score in the best play for it, beside "
        "what the notebook prints: they agree to all its digits.",
        panels=[panel],
    )


def keep(task: Task) -> Picture:
    """Draw how many dice the last player keeps, by its roll and the points to spare."""
    game = task.game
    assert isinstance(game, LowestScore)
    if game.dice < DICE:
        raise InputError(f"dice must be at least {DICE} here, got {game.dice}")
    last = game.players - 1
    panel = _kept(solve(Task(game, last, "random" if last else ())), game)
    return Picture(
        title=panel.title,
        says="Of its last two dice, whether the last player of a round keeps one (of less worth) "
        "or both, by how many points they may still cost to tie for the lowest score; hatched "
        "where both are equally good, of which one is shown.",
        panels=[panel],
    )


def _kept(solution: Solution, game: LowestScore) -> Map:
    """Draw it."""
    dice = DICE
    worths = {
        roll: [game.worth[face - 1] for face in game.by_worth(roll)]
        for roll in combinations(dice, game.faces)
    }
    rolls = sorted(worths, key=worths.__getitem__)
    spare = np.arange(dice * max(game.worth) + 1)
    names = game.observation_names
    seen = np.zeros((len(rolls), len(spare), len(names)), dtype=np.int64)
    for row, roll in enumerate(rolls):
        seen[row, :, 1 : 1 + dice] = game.by_worth(roll)
    seen[..., names.index("best total so far")] = spare
    if game.objective == "share":
        seen[..., names.index("players tied for it")] = 1
    states = game.encode(seen)
    chosen = solution.policy.actions[states]

    def words(row: int, column: int) -> str:
        here = seen[row, column]
        does = game.describe_move(here, int(chosen[row, column]))
        value = solution.found.at(solution.task.seat, states[row, column : column + 1])[0]
        return f"{game.describe(here)}: {does} ({value:.4f})"

    return Map(
        title="How many of the last two dice to keep",
        x_label="points that the dice may cost",
        y_label="roll, in order of worth",
        values=(chosen + 1).astype(np.float64),
        value_label="dice to keep",
        rows=[" ".join(map(str, game.by_worth(roll))) for roll in rolls],
        marked=solution.optimal[states].sum(axis=-1) > 1,
        marked_label="several numbers are equally good",
        words=words,
        limits=(1, dice),
        whole=True,
    )
