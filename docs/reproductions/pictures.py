"""Figures and tables of the sources as pictures, redrawn from exact numbers."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from exactdice.baselines import Task, solve
from exactdice.core import BoolArray, FloatArray, IntArray
from exactdice.core.dice import sum_laws
from exactdice.core.presentation import present
from exactdice.games import Greed, LowestScore
from exactdice.games.lowest_score.policies import beat_chance, survival_chance
from exactdice.look.charts import Bars, Lines, Map, Plot, Series
from exactdice.look.drawing import draw
from exactdice.look.games.greed import cells, ties_words

from .claim import printed_table
from .four_two_one.tables import UTILITIES, ratio
from .greed.last_turns import last_turns

#: The game in the paper's figures.
GAME = Greed(max_score=10, sides=3)


def draw_all(folder: Path) -> None:
    """Draw every picture into a folder, as a PNG file with its name; print the captions."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in PICTURES.items():
        plot = make()
        draw(plot, folder / f"{name}.png")
        print(f"{name}: {plot.caption}")


def figure_2() -> Plot:
    """Draw the laws of the sum of 2, 3 and 4 dice."""
    laws = sum_laws(4, 6)
    series = [
        Series(name=f"{n} dice", x=np.arange(n, 6 * n + 1.0), y=laws[n, n : 6 * n + 1])
        for n in (2, 3, 4)
    ]
    panel = Lines(
        title="Distributions of n = 2, 3, 4 dice with six sides",
        x_label="sum of the dice",
        y_label="probability",
        series=series,
        points=True,
    )
    return Plot.of(
        panel,
        "The laws of the sum of two, three and four dice, as the paper's figure 2 has them: "
        "the more dice, the wider and the lower.",
    )


def figure_3() -> Plot:
    """Draw the labels of figure 3 as the paper finds them, beside the fewest optimal dice."""
    game = GAME
    table = last_turns(game.max_score, game.sides)
    other, own = np.indices((game.num_scores, game.num_scores))
    rows = np.array(
        [
            table.row(game.max_score - p, o - p)
            for p, o in zip(own.ravel().tolist(), other.ravel().tolist(), strict=True)
        ]
    )
    theirs, best = table.figure_3()[rows], table.ratings[rows].argmax(axis=1)
    wrong = ~table.is_optimal(table.figure_3())[rows].reshape(own.shape)
    panels = []
    for title, dice in (("as the paper's search finds them", theirs), ("exactly", best)):
        rated = table.ratings[rows, dice] / float(table.one)
        panels.append(
            _small_map(
                game,
                f"Last turns, {title}",
                dice.reshape(own.shape),
                rated.astype(np.float64).reshape(own.shape),
                hatched=wrong if dice is theirs else None,
            )
        )
    return Plot(
        title=f"Last turns with M = {game.max_score}, s = {game.sides}",
        caption=f"{int(wrong.sum())} of {wrong.size} labels of the paper's figure 3 are not "
        "optimal (hatched), because its search stops one die short. How many dice to roll in a "
        "last turn, and the rating of that number: above as the paper's search finds them (its "
        "picture is not copied), below the fewest optimal dice.",
        panels=panels,
        columns=1,
    )


def figure_4() -> Plot:
    """Draw the optimal number of dice in normal turns and what it rates."""
    game, solution = GAME, solve(Task(GAME))
    dice = cells(game, solution.policy.actions, 0)
    values = cells(game, solution.values[0], 0)
    several = cells(game, solution.optimal.sum(axis=1) > 1, 0)
    panel = _small_map(game, "Normal turns", dice, values, hatched=several)
    note = "; hatched where several numbers are best, of which the fewest are shown"
    return Plot(
        title=f"Normal turns with M = {game.max_score}, s = {game.sides}",
        caption=f"{_stops(game, dice)} How many dice to roll in a normal turn, and the rating of "
        "that number, in the axes of the paper's figure 4, whose picture is not copied"
        f"{note if several.any() else ''}.",
        panels=[panel],
    )


def _stops(game: Greed, dice: IntArray) -> str:
    """Say how many dice the first move rolls, and from which own score on players stop.

    Args:
        game: the rules.
        dice: the best number, shape (other's score, own score).
    """
    always = int(np.flatnonzero((dice > 0).any(axis=0)).max()) + 1
    sometimes = int(np.flatnonzero((dice == 0).any(axis=0)).min())
    rolls = present(game).describe_action(int(dice[0, 0]))
    return (
        f"At 0 to 0 optimal play {rolls}; it never stops below {sometimes} points and always stops "
        f"at {always}."
    )


def _small_map(
    game: Greed, title: str, dice: IntArray, values: FloatArray, hatched: BoolArray | None
) -> Map:
    return Map(
        title=title,
        x_label="own score",
        y_label="other's score",
        values=values,
        value_label=f"rating: wins{ties_words(game)}",
        texts=dice.astype(np.str_),
        hatched=hatched,
        hatched_label="several are best" if title == "Normal turns" else "not optimal",
        words=lambda row, column: (
            f"{column} : {row}, {present(game).describe_action(int(dice[row, column]))}: "
            f"rating {values[row, column]:.4f}"
        ),
        colours="diverging",
        limits=(0.0, 1.0),
    )


def survival() -> Plot:
    """Draw the notebook's last table, with the rows that the notebook cuts off."""
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
        hatched=cut,
        hatched_label="cut off in the notebook",
        words=lambda row, column: (
            f"{scores[row]} points, {after[column]} players to come: nobody beats them with "
            f"probability {chances[row, column]:.6f}"
        ),
        limits=(0.0, 1.0),
    )
    return Plot.of(
        panel,
        "All numbers that the notebook prints are right; it cuts off the hatched cells. Its last "
        "table, exactly: the probability that no player to come gets less than a score, if each "
        "tries only that.",
    )


def beating() -> Plot:
    """Draw the probability to beat a score with five dice, exactly and as printed."""
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
    return Plot.of(
        panel,
        f"{_even(panel.values, goals)} The probability that five fresh dice get less than a score "
        "if every move aims at it, beside the notebook's numbers, which agree to all their digits.",
    )


def _even(chances: FloatArray, goals: Sequence[int]) -> str:
    """Name the score that five dice beat about as often as not."""
    nearest = int(np.abs(chances - 1 / 2).argmin())
    return f"Five dice beat {goals[nearest]} points in {100 * chances[nearest]:.0f} % of rounds."


def tables() -> Plot:
    """Draw tables 1 to 4, exactly and as printed."""
    rows = [row for row in printed_table("four_two_one", "tables") if row["player"]]
    panels = [
        Bars(
            title=f"{name}: {utility}",
            x_label="value, as a share of the first player's optimum",
            labels=[f"{row['policy']}, {row['player']}" for row in rows],
            values=np.array(
                [float(ratio(utility, row["policy"], row["player"] == "first")) for row in rows]
            ),
            name="exact",
            others=np.array([_printed(row[name]) for row in rows]),
            others_name="as printed, truncated",
        )
        for name, utility in UTILITIES.items()
    ]
    return Plot(
        title="421: what the paper's policies are worth",
        caption=f"{_agreement(panels)} Tables 1 to 4 of the paper, exact values beside the "
        "printed ones: policies of horizon h and serendipity s (goal:h,s) and the optimum, for "
        "first and next players. Two printed cells of table 4 are lost.",
        panels=panels,
    )


def _agreement(panels: Sequence[Bars]) -> str:
    """Say how far the printed numbers are from the exact ones, and how good goal:1,1 is."""
    assert all(panel.others is not None for panel in panels)
    gaps = np.concatenate([panel.values - np.asarray(panel.others) for panel in panels])
    known = gaps[np.isfinite(gaps)]
    worst = min(
        float(panel.values[list(panel.labels).index("goal:1,1, first")]) for panel in panels
    )
    return (
        f"All {len(known)} legible numbers of the paper are right to its five digits (largest "
        f"difference {known.max():.0e}), and the rule goal:1,1 gets at least {100 * worst:.1f} % "
        "of the optimum."
    )


def _printed(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


PICTURES: dict[str, Callable[[], Plot]] = {
    "greed-figure-2": figure_2,
    "greed-figure-3": figure_3,
    "greed-figure-4": figure_4,
    "lowest-score-survival": survival,
    "lowest-score-beating": beating,
    "421-tables": tables,
}
