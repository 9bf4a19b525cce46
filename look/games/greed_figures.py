"""Charts of the paper on Greed: its figures, and the value of going first."""

from collections.abc import Sequence

import numpy as np

from ...baselines import Task, solve
from ...core import BoolArray, FloatArray, InputError, IntArray
from ...core.dice import sum_laws
from ...core.presentation import present
from ...core.words import listed
from ...games import Greed
from ...sources.greed.last_turns import last_turns
from ..charts import Lines, Map, Plot, Series
from ..registry import game_chart
from .greed import cells, greed_of, ties_words

SIDES = (2, 3, 6, 12, 20)
SMALL = {"max_score": 10, "sides": 3}  # the game in the paper's figures
ROUNDING = 1e-9  # values nearer to 1/2 count as 1/2
ROOMY = 20  # the largest score limit at which cells have room for numbers


@game_chart("greed-beginning", Greed)
def beginning(task: Task) -> Plot:
    """Draw the value of the beginning against the limit, for several numbers of sides."""
    rules = greed_of(task)
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
    return Plot.of(
        panel,
        f"{_first_or_second(series, limit)} The first player's win probability"
        f"{ties_words(rules)}, for every limit M up to {limit} and several numbers of sides s: "
        "above 1/2 it is better to go first.",
    )


def _first_or_second(series: Sequence[Series], limit: int) -> str:
    """Say from which limit on the first player has the advantage, by the number of sides."""
    below = {line.name: line.x[line.y < 1 / 2 - ROUNDING] for line in series}
    from_then_on = {name: int(limits.max(initial=0)) + 1 for name, limits in below.items()}
    first = [f"{start} on for {name}" for name, start in from_then_on.items() if start <= limit]
    never = [name for name, start in from_then_on.items() if start > limit]
    told = []
    if first:
        told.append(f"The first player has the advantage for every limit from {listed(first)}.")
    if never:
        told.append(f"For {listed(never)} the second player still has it at M = {limit}.")
    return " ".join(told)


@game_chart("greed-figure-2", Greed, fixed=True)
def figure_2(_task: Task) -> Plot:
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


@game_chart("greed-figure-3", Greed, SMALL)
def figure_3(task: Task) -> Plot:
    """Draw the labels of figure 3 as the paper finds them, beside the fewest optimal dice."""
    game = greed_of(task)
    _require_last_turns_of_the_paper(game)
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
        "last turn, and the rating of that number: left as the paper's search finds them (its "
        "picture is not copied), right the fewest optimal dice.",
        panels=panels,
    )


def _require_last_turns_of_the_paper(game: Greed) -> None:
    if game.tie != "half" or game.max_score > ROOMY or game.max_dice is not None:
        raise InputError(
            "greed-figure-3 needs tie half, no max_dice and max_score of at most "
            f"{ROOMY}, got {game!r}"
        )


@game_chart("greed-figure-4", Greed, SMALL)
def figure_4(task: Task) -> Plot:
    """Draw the optimal number of dice in normal turns and what it rates."""
    game = greed_of(task)
    if game.max_score > ROOMY:
        raise InputError(f"max_score must be at most {ROOMY} here, got {game.max_score}")
    solution = solve(task)
    dice = cells(game, solution.policy.actions, 0)
    values = cells(game, solution.values[task.seat], 0)
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
