"""Charts of any agent: where it errs, and what it wins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..baselines import Score, score, solve
from ..core import FloatArray, Game, IntArray
from .charts import Bars, CellWords, Map, Picture

BARS = 15  # states that are shown where a game has no map

#: From observations (state, component) to cells: the panel, the row and the column of each.
Places = tuple[IntArray, IntArray, IntArray]


@dataclass(frozen=True)
class View:
    """How the states of a game are laid out on maps.

    Attributes:
        x_label: what the columns are.
        y_label: what the rows are.
        place: puts observations into cells.
        panels: names of the maps.
        columns: names of the columns; None for numbers.
        rows: the same of the rows.
    """

    x_label: str
    y_label: str
    place: Callable[[IntArray], Places]
    panels: Sequence[str] = ("",)
    columns: Sequence[str] | None = None
    rows: Sequence[str] | None = None


def view_of(game: Game) -> View | None:
    """Say how a game's states are laid out, None if it is not known."""
    return VIEWS[game.name](game) if game.name in VIEWS else None


def _greed(_game: Game) -> View:
    return View(
        "own score",
        "other's score",
        lambda seen: (seen[:, 2], seen[:, 1], seen[:, 0]),
        panels=("Normal turns", "Last turns"),
    )


def _lowest_score(game: Game) -> View:
    dice = [i for i, name in enumerate(game.observation_names) if name.startswith("die ")]
    return View(
        "total kept so far",
        "dice just rolled",
        lambda seen: (0 * seen[:, 0], (seen[:, dice] > 0).sum(axis=1) - 1, seen[:, 0]),
        rows=[str(number + 1) for number in range(len(dice))],
    )


def _shut_the_box(game: Game) -> View:
    tiles = np.arange(1, len(game.observation_sizes) - 1)

    def place(seen: IntArray) -> Places:
        return 0 * seen[:, 0], seen[:, -2], (seen[:, : len(tiles)] * tiles).sum(axis=1)

    return View("sum of the open tiles", "roll", place)


def _four_two_one(game: Game) -> View:
    dice = (game.observation_names.index("casts made") + 1) // 2
    seen = np.unique(game.observe(game.states_of(0), 0)[:, : dice - 1], axis=0)
    seen = seen[np.argsort((seen > 0).sum(axis=1), kind="stable")]  # few faces first
    names = ["".join(str(face) for face in faces if face) or "none" for faces in seen.tolist()]
    column = np.full(game.observation_sizes[: dice - 1], -1)
    column[tuple(seen.T)] = np.arange(len(seen))

    def place(observations: IntArray) -> Places:
        held = column[tuple(observations[:, : dice - 1].T)]
        return 0 * held, observations[:, 2 * dice - 1] - 1, held

    casts = game.observation_sizes[2 * dice - 1] - 1
    rows = [str(number + 1) for number in range(casts)]
    return View("faces put aside", "casts made", place, columns=names, rows=rows)


def _match(_game: Game) -> View:
    return View(
        "own tokens",
        "tokens of the other player",
        lambda seen: (0 * seen[:, 0], seen[:, 2], seen[:, 1]),
    )


#: By the name of the game; a game that is not here gets bars.
VIEWS: dict[str, Callable[[Game], View]] = {
    "Greed": _greed,
    "LowestScore": _lowest_score,
    "LowestScoreMatch": _lowest_score,
    "ShutTheBox": _shut_the_box,
    "FourTwoOne": _four_two_one,
    "FourTwoOneMatch": _match,
}


def mistakes(scored: Score) -> Picture:
    """Draw where an agent errs: what it gives away, by state."""
    game, view = scored.task.game, view_of(scored.task.game)
    panels = [_bars(scored)] if view is None else _maps(scored, view)
    return Picture(
        title=f"Where {scored.policy} errs: {game.title}",
        says=f"What {scored.policy} gives away in each place, in payoff per game, on a logarithmic "
        f"scale. All of it together is its regret of {scored.regret:.6f}; the optimum is "
        f"{scored.optimum:.6f}.{_worst(scored)}",
        panels=panels,
    )


def _worst(scored: Score) -> str:
    """Say where most is lost, if anything is."""
    state = int(scored.costs.argmax())
    lost = float(scored.costs[state])
    return f" Most, {lost:.6f}, is lost at {decision(scored, state)}." if lost > 0 else ""


def _maps(scored: Score, view: View) -> list[Map]:
    task = scored.task
    states = task.game.states_of(task.seat)
    panel, row, column = view.place(task.game.observe(states, task.seat))
    shape = len(view.panels), int(row.max()) + 1, int(column.max()) + 1
    cells = np.ravel_multi_index((panel, row, column), shape)
    size = int(np.prod(shape))
    costs = np.bincount(cells, scored.costs[states], minlength=size)
    met = np.bincount(cells, scored.occupancy[states], minlength=size)
    drawn = np.where(met > 0, costs, np.nan).reshape(shape)
    costliest = np.full(size, -1)
    order = np.argsort(scored.costs[states], kind="stable")
    costliest[cells[order]] = states[order]  # the last one stays
    everywhere = Map(title="", x_label="", y_label="", values=drawn, value_label="", log=True)
    return [
        Map(
            title=name,
            x_label=view.x_label,
            y_label=view.y_label,
            values=drawn[number],
            value_label="payoff given away per game",
            missing_label="never met by the agent",
            columns=view.columns,
            rows=view.rows,
            words=_words(scored, view, drawn[number], costliest.reshape(shape)[number]),
            limits=everywhere.span,
            log=True,
        )
        for number, name in enumerate(view.panels)
    ]


def _words(scored: Score, view: View, costs: FloatArray, costliest: IntArray) -> CellWords:
    """Say what a cell costs, and which decision there costs most."""
    rows, columns = view.rows, view.columns

    def words(row: int, column: int) -> str:
        here = [
            f"{view.x_label} {column if columns is None else columns[column]}",
            f"{view.y_label} {row if rows is None else rows[row]}",
            f"given away {costs[row, column]:.2e}" if costs[row, column] else "nothing given away",
        ]
        if costs[row, column]:
            here.append(f"the costliest: {decision(scored, int(costliest[row, column]))}")
        return ", ".join(here[:3]) + "".join(f"<br>{line}" for line in here[3:])

    return words


def decision(scored: Score, state: int) -> str:
    """Say what an agent does in a state, or which of what it does costs most, and what is best."""
    game, seat = scored.task.game, scored.task.seat
    seen = game.observe(np.array([state]), seat)[0]
    law = scored.agent.probabilities(np.array([state]))[0]
    wrong, best = (
        int(scored.costliest_actions[state]),
        int(solve(scored.task).policy.actions[state]),
    )
    done = int(law.argmax()) if wrong < 0 else wrong
    often = "" if law[done] == 1 else f" with probability {law[done]:.2g}"
    said = f"{game.describe(seen)}: {game.describe_move(seen, done)}{often}"
    return said if wrong < 0 else f"{said}, best {game.describe_move(seen, best)}"


def _bars(scored: Score) -> Bars:
    """Draw the states that cost most, of a game that has no map."""
    costs = scored.costs
    states = np.argsort(-costs, kind="stable")[:BARS]
    states = states[costs[states] > 0]
    game, seat = scored.task.game, scored.task.seat
    return Bars(
        title="The costliest states",
        x_label="payoff given away per game",
        labels=[game.describe(seen) for seen in game.observe(states, seat)],
        values=costs[states],
        words=[decision(scored, int(state)) for state in states],
    )


def outcomes(scored: Score) -> Picture:
    """Draw how likely an agent gets each payoff, beside the optimum."""
    best = score("optimal", scored.task)
    payoffs = sorted({*scored.outcomes, *best.outcomes}, reverse=True)
    panel = Bars(
        title=f"What {scored.policy} gets: {scored.task.game.title}",
        x_label="probability",
        labels=[f"payoff {payoff:g}" for payoff in payoffs],
        values=np.array([scored.outcomes.get(payoff, 0.0) for payoff in payoffs]),
        name=scored.policy,
        others=np.array([best.outcomes.get(payoff, 0.0) for payoff in payoffs]),
        others_name="optimal play",
    )
    return Picture.of(
        panel,
        f"How likely {scored.policy} ends with each payoff, beside optimal play: on average "
        f"{scored.value:.6f} against {scored.optimum:.6f}.",
    )
