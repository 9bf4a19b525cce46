"""Charts of Yahtzee: open boxes, the upper bonus, and where an agent's points come from."""

from typing import Any, NamedTuple

import numpy as np

from ...baselines import Score, Task, solve
from ...baselines.cache import cached
from ...baselines.scoring.summary import quoted
from ...baselines.solving.solver import tour_of
from ...core import FloatArray, InputError, IntArray
from ...games import Yahtzee
from ...games.yahtzee.card import ENOUGH, has_box
from ...games.yahtzee.dice import FACES
from ...games.yahtzee.presentation import title_of
from ...games.yahtzee.tour import bonus_of_best_play, losses_of_boxes, met_by_best_play
from ..charts import Bars, Map, Plot, agent_chart, game_chart, game_of

PAR = 3  # dice of each face that make 63 points together
FAR = 9  # points from par that are shown
RARE = 1e-4  # cells that fewer games meet are faded
BONUS = "Upper bonus"  # a kind of points


@cached
def _begun(game: Yahtzee) -> FloatArray:
    """Compute how likely optimal play begins a turn in each context, shape (context,)."""
    return met_by_best_play(game, solve(Task(game)).found.numbers)


class _Cells(NamedTuple):
    """Means over the contexts of each cell of a map, and how many games meet the cell."""

    means: FloatArray  # NaN where no game comes
    met: FloatArray

    @classmethod
    def of(
        cls, numbers: FloatArray, met: FloatArray, rows: IntArray, columns: IntArray
    ) -> "_Cells":
        """Take means of numbers (context,), weighted by how likely each context is met.

        Contexts in a negative row or column are left out.
        """
        own = (met > 0) & (rows >= 0) & (columns >= 0)
        shape = rows[own].max() + 1, columns[own].max() + 1
        games, sums = np.zeros(shape), np.zeros(shape)
        np.add.at(games, (rows[own], columns[own]), met[own])
        np.add.at(sums, (rows[own], columns[own]), met[own] * numbers[own])
        return cls(np.divide(sums, games, out=np.full(shape, np.nan), where=games > 0), games)


@game_chart("yahtzee-boxes", Yahtzee)
def boxes(task: Task) -> Plot:
    """Draw what each open box is worth at the beginning of each round, and how often it is open."""
    game = game_of(task, Yahtzee)
    met, columns = _begun(game)[:-1], np.arange(len(game.contexts))
    lost = losses_of_boxes(game, solve(task).found.numbers, columns)[:, game.chosen[::-1]]
    weights = np.where(np.isnan(lost), 0.0, met[:, None])
    firsts = game.contexts.levels[:-1]
    games = np.add.reduceat(weights, firsts, axis=0).T  # (box, round)
    sums = np.add.reduceat(weights * np.nan_to_num(lost), firsts, axis=0).T
    worth = np.divide(sums, games, out=np.full(games.shape, np.nan), where=games > 0)
    names = [title_of(box) for box in game.chosen[::-1]]
    panels = [
        _by_round("What an open box is worth", worth, "points", names),
        _by_round("How often it is still open", 100 * games, "% of games", names),
    ]
    falls = np.nanmax(worth, axis=1) - worth[:, -1]
    most, falling = int(np.nanargmax(worth[:, 0])), int(np.nanargmax(falls))
    return Plot(
        title="What open boxes are worth, by round",
        caption="The points that optimal play loses if an open box is filled for nothing, and one "
        "turn with it, on average over its games in which the box is open when the round begins. "
        f"{names[most]} is the worst to lose at first ({worth[most, 0]:.1f} points); "
        f"{names[falling]} loses most of its worth if it has to wait "
        f"({worth[falling, 0]:.1f} points in round 1, {worth[falling, -1]:.1f} in the last).",
        panels=panels,
        columns=1,
    )


def _by_round(title: str, values: FloatArray, unit: str, names: list[str]) -> Map:
    return Map(
        title=title,
        x_label="round",
        y_label="box",
        values=values,
        value_label=unit,
        columns=[str(number + 1) for number in range(values.shape[1])],
        rows=names,
        missing_label="never open",
        texts=np.vectorize(lambda value: "" if np.isnan(value) else f"{value:.0f}")(values),
    )


@game_chart("yahtzee-bonus", Yahtzee)
def bonus(task: Task) -> Plot:
    """Draw the chance of the upper bonus, by upper points and round, and by the distance to par."""
    game = game_of(task, Yahtzee)
    if game.chosen[:FACES] != tuple(range(FACES)):
        raise InputError(f"boxes must have all of ones to sixes for this chart, got {game.boxes!r}")
    known, met = game.contexts, _begun(game)
    chances = bonus_of_best_play(game, solve(task).found.numbers, met)
    rounds = np.repeat(np.arange(len(game.chosen)), np.diff(known.levels))
    by_round = _Cells.of(chances, met[:-1], len(game.chosen) - 1 - rounds, known.upper)
    is_open = has_box(known.still_open[:, None], np.arange(FACES))
    ahead = known.upper - (PAR * np.arange(1, FACES + 1) * ~is_open).sum(axis=1)
    columns = np.where((abs(ahead) <= FAR) & (known.upper < ENOUGH), ahead + FAR, -1)
    left = is_open.sum(axis=1)
    to_par = _Cells.of(chances, met[:-1], np.where(left < FACES, left - 1, -1), columns)
    lowest, low, even, high = (100 * to_par.means[2, FAR + away] for away in (-9, -6, 0, 6))
    return Plot(
        title="The upper bonus under optimal play",
        caption="The chance that optimal play earns the upper bonus, seen when a round begins; at "
        f"the start it is {100 * chances[0]:.2f} %. Par is {PAR} dice of each face whose box is "
        f"filled. With three upper boxes open the bonus comes in {even:.0f} % of games at par, in "
        f"{high:.0f} % six points above it, in {low:.0f} % six and in {lowest:.0f} % nine points "
        f"below: that far behind it is given up. Faded: met in fewer than 1 of {1 / RARE:,.0f} "
        "games.",
        panels=[_bonus_by_round(by_round), _bonus_to_par(to_par)],
        columns=1,
    )


def _bonus_by_round(cells: _Cells) -> Map:
    rounds = [str(number) for number in range(len(cells.means), 0, -1)]
    return _bonus_map(
        cells,
        title="By upper points",
        x_label="upper points when the round begins",
        y_label="round",
        rows=rounds,
        words=lambda row, column: (
            f"{column} upper points in round {rounds[row]}: {cells.means[row, column]:.4f}, in "
            f"{100 * cells.met[row, column]:.2f} % of games"
        ),
    )


def _bonus_to_par(cells: _Cells) -> Map:
    ahead = [f"{away:+d}" if away else "par" for away in range(-FAR, cells.means.shape[1] - FAR)]
    texts = [["" if np.isnan(mean) else f"{100 * mean:.0f}" for mean in row] for row in cells.means]
    return _bonus_map(
        cells,
        title="By the distance to par, in percent",
        x_label="upper points above or below par",
        y_label="open upper boxes",
        columns=ahead,
        rows=[str(number + 1) for number in range(len(cells.means))],
        texts=np.array(texts),
    )


def _bonus_map(cells: _Cells, **options: Any) -> Map:
    return Map(
        values=cells.means,
        value_label="chance of the bonus",
        missing_label="never met",
        faded=cells.met < RARE,
        faded_label="rare",
        colours="diverging",
        limits=(0.0, 1.0),
        **options,
    )


@agent_chart("yahtzee-points", Yahtzee)
def points(scored: Score) -> Plot:
    """Draw the points that an agent makes of each kind, less those of optimal play."""
    game, name = game_of(scored.task, Yahtzee), quoted(scored.policy)
    own, best = (
        tour_of(each, scored.problem) for each in (scored.agent, solve(scored.task).policy)
    )
    made = own.counts["points"]
    more = {kind: points - best.counts["points"][kind] for kind, points in made.items()}
    lost, total = own.regrets["turn"], -sum(more.values())
    words = f"All differences add up to the regret of {name}, {total:.6f} points a game."
    if best.counts["chance"][BONUS]:
        shares = [f"{each.counts['chance'][BONUS]:.2%}" for each in (own, best)]
        faces = sum(more[title_of(box)] for box in game.chosen if box < FACES)
        words = (
            f"{name} earns the upper bonus in {shares[0]} of games, optimal play in {shares[1]}. "
            f"This difference is worth {more[BONUS]:+.4f} points a game; in the boxes of faces "
            f"{name} makes {faces:+.4f}. {words}"
        )
    return Plot(
        title=f"Where the points of {name} come from",
        caption=words,
        panels=[
            Bars(
                title="Points less those of optimal play",
                x_label="points a game",
                labels=list(more),
                values=np.array(list(more.values())),
                words=[f"{kind}: {made[kind]:.4f}, {extra:+.4f}" for kind, extra in more.items()],
            ),
            Bars(
                title="Regret by turn",
                x_label="points a game",
                labels=[f"turn {turn}" for turn in lost],
                values=np.array(list(lost.values())),
            ),
        ],
        columns=1,
    )
