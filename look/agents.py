"""Charts for agents of any game: the cost of mistakes by state, and the law of payoffs."""

from collections.abc import Sequence

import numpy as np

from ..baselines import Score, score, solve
from ..baselines.scoring.summary import pays_wins, quoted, result, summary
from ..core import FloatArray, InputError, IntArray, Layout
from ..core.positions import states_of
from ..core.presentation import present
from .charts import Bars, CellWords, Map, Plot, agent_chart

BARS = 15  # number of states shown for a game without a map


@agent_chart("mistakes")
def mistakes(scored: Score) -> Plot:
    """Plot the cost of an agent's mistakes in each state."""
    task = scored.task
    game, states = task.game, states_of(task.game, task.seat)
    layout = present(game).layout(game.observe(states, task.seat))
    maps = [] if layout is None else _maps(scored, states, layout)
    outside = _outside(scored, maps) if maps else ""
    name = quoted(scored.policy)
    return Plot(
        title=f"Where {name} errs: {present(game).title}",
        caption=f"{name}{' '.join(summary(scored)).removeprefix('It')} The cost of the mistakes "
        f"of {name} in each cell, in payoff per game, on a logarithmic scale. Their sum is its "
        f"regret, {scored.regret:.6f}; the optimum is {scored.optimum:.6f}.{_worst(scored)}"
        f"{outside}",
        panels=maps or [_bars(scored)],
    )


def _worst(scored: Score) -> str:
    """Describe the costliest decision, if any decision costs something."""
    state = int(scored.costs.argmax())
    lost = float(scored.costs[state])
    return f" The costliest decision, {lost:.6f}: {decision(scored, state)}." if lost > 0 else ""


def _outside(scored: Score, maps: Sequence[Map]) -> str:
    """Say how much of the regret lies outside the windows of maps, if it can be seen."""
    shown = sum(float(np.nansum(each.values[each.window])) for each in maps)
    whole = float(scored.costs.sum())  # of mistakes alone: the regret may be rounding
    beyond = 1 - shown / whole if whole else 0.0
    return f" Outside the part shown: {100 * beyond:.0f} % of it." if beyond > 0.005 else ""


def _maps(scored: Score, states: IntArray, layout: Layout) -> list[Map]:
    panel, row, column = layout.panel, layout.row, layout.column
    panel = np.zeros_like(row) if panel is None else panel
    shape = len(layout.panels), int(row.max()) + 1, int(column.max()) + 1
    cells = np.ravel_multi_index((panel, row, column), shape)
    size = int(np.prod(shape))
    costs = np.bincount(cells, scored.costs[states], minlength=size)
    met = np.bincount(cells, scored.occupancy[states], minlength=size)
    drawn = np.where(met > 0, costs, np.nan).reshape(shape)
    costliest = np.full(size, -1)
    order = np.argsort(scored.costs[states], kind="stable")
    costliest[cells[order]] = states[order]  # the costliest state of a cell is written last
    everywhere = Map(title="", x_label="", y_label="", values=drawn, value_label="", log=True)
    return [
        Map(
            title=name,
            x_label=layout.x_label,
            y_label=layout.y_label,
            values=drawn[number],
            value_label="payoff given away per game",
            missing_label="never met by the agent",
            columns=layout.columns,
            rows=layout.rows,
            words=_words(scored, layout, drawn[number], costliest.reshape(shape)[number]),
            limits=everywhere.span,
            log=True,
        )
        for number, name in enumerate(layout.panels)
    ]


def _words(scored: Score, layout: Layout, costs: FloatArray, costliest: IntArray) -> CellWords:
    """Return a function that describes a cell: its place, its cost and its costliest decision."""
    rows, columns = layout.rows, layout.columns

    def words(row: int, column: int) -> str:
        cost = costs[row, column]
        place = (
            f"{layout.x_label} {column if columns is None else columns[column]}, "
            f"{layout.y_label} {row if rows is None else rows[row]}"
        )
        if not cost:
            return f"{place}, nothing given away"
        costly = decision(scored, int(costliest[row, column]))
        return f"{place}, given away {cost:.2e}<br>the costliest: {costly}"

    return words


def decision(scored: Score, state: int) -> str:
    """Describe an agent's costliest action in a state and the best one, or its likeliest action."""
    game, seat = scored.task.game, scored.task.seat
    seen = game.observe(np.array([state]), seat)[0]
    law = scored.agent.probabilities(np.array([state]))[0]
    wrong, best = (
        int(scored.costliest_actions[state]),
        int(solve(scored.task).policy.likeliest(np.array([state]))[0]),
    )
    done = int(law.argmax()) if wrong < 0 else wrong
    often = "" if law[done] == 1 else f" with probability {law[done]:.2g}"
    words = present(game)
    said = f"{words.describe(seen)}: {words.describe_move(seen, done)}{often}"
    return said if wrong < 0 else f"{said}, best {words.describe_move(seen, best)}"


def _bars(scored: Score) -> Bars:
    """Plot the costliest states of a game without a map."""
    costs = scored.costs
    states = np.argsort(-costs, kind="stable")[:BARS]
    states = states[costs[states] > 0]
    game, seat = scored.task.game, scored.task.seat
    return Bars(
        title="The costliest states",
        x_label="payoff given away per game",
        labels=[present(game).describe(seen) for seen in game.observe(states, seat)],
        values=costs[states],
        words=[decision(scored, int(state)) for state in states],
    )


@agent_chart("outcomes")
def outcomes(scored: Score) -> Plot:
    """Plot the probability of each payoff, beside the probability under optimal play.

    Raises:
        InputError: if there is no law of payoffs (see ``Score.outcomes``).
    """
    ours, best = scored.outcomes, score("optimal", scored.task).outcomes
    if ours is None or best is None:
        raise InputError(
            f"game must pay at its end alone to be plotted by payoff, got {scored.task.game!r}"
        )
    game = scored.task.game
    what = "result" if pays_wins(game) else "payoff"
    payoffs = sorted({*ours, *best}, reverse=True)
    panel = Bars(
        title=f"What {quoted(scored.policy)} gets: {present(scored.task.game).title}",
        x_label="probability",
        labels=[
            result(payoff, game) if pays_wins(game) else f"payoff {payoff:g}" for payoff in payoffs
        ],
        values=np.array([ours.get(payoff, 0.0) for payoff in payoffs]),
        name=scored.policy,
        others=np.array([best.get(payoff, 0.0) for payoff in payoffs]),
        others_name="optimal play",
    )
    return Plot.of(
        panel,
        f"{quoted(scored.policy)} {_gets(scored, panel)}. The probability of each {what}, beside "
        f"that under optimal play. The mean is {scored.value:.6f}, that of optimal play "
        f"{scored.optimum:.6f}.",
    )


def _gets(scored: Score, panel: Bars) -> str:
    """Say how often an agent and optimal play win, or what they are paid."""
    if not pays_wins(scored.task.game) or panel.others is None:
        return f"gets {scored.value:.2f} a game, optimal play {scored.optimum:.2f}"
    own, best = (100 * float(chances[0]) for chances in (panel.values, panel.others))
    return f"wins {own:.1f} % of games, optimal play {best:.1f} %"
