"""Charts for agents of any game: the cost of mistakes by state, and the law of payoffs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..baselines import Score, score, solve
from ..baselines.advice import seen_at
from ..baselines.scoring.blunders import is_timeless
from ..baselines.scoring.summary import pays_wins, quoted, result, summary
from ..core import InputError, IntArray, Layout, present
from ..core.positions import states_of
from ..core.words import listed
from .charts import Bars, Map, Plot, agent_chart

BARS = 15  # number of states shown for a game without a map
WORST = 5  # cells of maps of losses that are named
MOSTLY = 0.999  # part of the cost of a cell up to which one state has not all of it
TOLD = 5e-4  # part of the regret that is told if it is not drawn
LEAST = 1e-3  # part of the regret below which a cell of a map of losses is not drawn


@agent_chart("mistakes")
def mistakes(scored: Score) -> Plot:
    """Plot the cost of an agent's mistakes in each state."""
    task = scored.task
    game, states = task.game, states_of(task.game, task.seat)
    layout = present(game).layout(game.observe(states, task.seat))
    lost, notes = loss_maps(scored, [] if layout is None else _maps(scored, states, layout))
    name = quoted(scored.policy)
    return Plot(
        title=f"Where {name} errs: {present(game).title}",
        caption=f"{name}{' '.join(summary(scored)).removeprefix('It')} The cost of the mistakes "
        f"of {name} in {'each cell' if lost else 'the costliest states'}, in payoff per game. "
        f"{'Their sum is its regret,' if lost else 'Its regret is'} {scored.regret:.6f}; the "
        f"optimum is {scored.optimum:.6f}.",
        panels=lost or [_costliest_states(scored)],
        notes=notes,
    )


def loss_maps(scored: Score, found: Sequence[tuple[Map, IntArray]]) -> tuple[list[Map], list[str]]:
    """Finish maps of an agent's losses: one scale from pale to dark, and marks on the worst cells.

    The lines name the worst cells and the part of the regret that is not drawn. Costs below
    ``LEAST`` of the regret have no colour. The scale ends at the costliest cell in the windows, so
    that no cell outside of them sets it.
    """
    whole = float(scored.costs.sum())  # of mistakes alone: the regret may be rounding
    least = LEAST * whole or LEAST
    below = "nothing, or less than a thousandth of the regret"
    maps = [
        replace(each, colours="losses", log=True, below_label=below, limits=(least, np.inf))
        for each, _ in found
    ]
    shown = [each.values[each.window] for each in maps]
    highest = max((float(each.max()) for each in shown), default=0.0)
    ends = least, max(highest, least)
    if not maps or not whole:
        return [replace(each, limits=ends) for each in maps], []
    worst = [
        (cost, number, (row, column))
        for number, each in enumerate(maps)
        for (row, column), cost in np.ndenumerate(each.values)
        if cost >= least
    ]
    marks: list[dict[tuple[int, int], str]] = [{} for _ in maps]
    lines = ["The costliest cells, with their shares of the regret:"]
    for place, (cost, number, cell) in enumerate(sorted(worst, reverse=True)[:WORST], start=1):
        marks[number][cell] = str(place)
        state = int(found[number][1][cell])
        where = "" if maps[number].shows(*cell) else ", beyond the edge of the map"
        where += "" if scored.costs[state] > MOSTLY * cost else ", most of all"
        lines.append(f"{place}. {100 * (cost / whole):.1f} %{where}: {decision(scored, state)}")
    faint = sum(float(each[each < least].sum()) for each in shown) / whole
    beyond = 1 - sum(float(each.sum()) for each in shown) / whole
    parts = {"lie outside of the maps": beyond, "lie in cells below a thousandth of it": faint}
    told = [f"{100 * part:.1f} % {words}" for words, part in parts.items() if part > TOLD]
    lines += [f"Of the regret {listed(told)}."] if told else []
    pairs = zip(maps, marks, strict=True)
    return [replace(each, limits=ends, marks=own) for each, own in pairs], lines


def _maps(scored: Score, states: IntArray, layout: Layout) -> list[tuple[Map, IntArray]]:
    """Map the costs of all states where the game says that they lie."""
    panel = np.zeros_like(layout.row) if layout.panel is None else layout.panel
    cells = np.stack([layout.row, layout.column])
    axes = {name: getattr(layout, name) for name in ("x_label", "y_label", "columns", "rows")}
    shape = (cells.max(axis=1) + 1).tolist()
    return [
        loss_map(
            scored, states[panel == number], cells[:, panel == number], shape, title=title, **axes
        )
        for number, title in enumerate(layout.panels)
    ]


def loss_map(
    scored: Score,
    states: IntArray,  # (state,)
    cells: IntArray,  # their rows and columns, (2, state)
    shape: Sequence[int],  # of the map
    **what: Any,  # its other attributes
) -> tuple[Map, IntArray]:
    """Map the cost of an agent's decisions; also give the costliest state of each cell, or -1."""
    costs, costliest = np.zeros(shape), np.full(shape, -1)
    np.add.at(costs, tuple(cells), scored.costs[states])
    order = np.argsort(scored.costs[states], kind="stable")
    costliest[tuple(cells[:, order])] = states[order]  # the costliest state is written last

    def words(row: int, column: int) -> str:
        cost, place = costs[row, column], drawn.place(row, column)
        if not cost:
            return f"{place}, nothing given away"
        costly = decision(scored, int(costliest[row, column]))
        return f"{place}, given away {cost:.2e}\nthe costliest: {costly}"

    drawn = Map(values=costs, value_label="payoff lost per game", words=words, **what)
    return drawn, costliest


def decision(scored: Score, state: int) -> str:
    """Describe an agent's costliest action in a state and the best one, or its likeliest action."""
    game, seat = scored.task.game, scored.task.seat
    seen, wrong = seen_at(game, seat, state), int(scored.costliest_actions[state])
    law = scored.agent.probabilities(np.array([state]))[0]
    best = int(solve(scored.task).policy.likeliest(np.array([state]))[0])
    done = int(law.argmax()) if wrong < 0 else wrong
    often = "" if law[done] == 1 else f" with probability {law[done]:.2g}"
    words = present(game)
    said = f"{words.describe(seen)}: {words.describe_move(seen, done)}{often}"
    return said if wrong < 0 else f"{said}, best {words.describe_move(seen, best)}"


def _costliest_states(scored: Score) -> Bars:
    """Plot the costliest states of a game without a map; of a law, over all moves so far."""
    game, costs = scored.task.game, scored.costs
    if timeless := is_timeless(game):
        layers = costs.reshape(-1, game.rows)
        costs, latest = layers.sum(axis=0), layers.argmax(axis=0) * game.rows
    states = np.argsort(-costs, kind="stable")[:BARS]
    states = states[costs[states] > 0]
    seen = game.observe(states, scored.task.seat)[:, : 1 if timeless else None]
    moments = states + latest[states] if timeless else states
    return Bars(
        title="The costliest states",
        x_label="payoff given away per game",
        labels=[present(game).describe(each) for each in seen],
        values=costs[states],
        words=[decision(scored, int(state)) for state in moments],
    )


@agent_chart("outcomes")
def outcomes(scored: Score) -> Plot:
    """Plot the probability of each payoff, beside the probability under optimal play."""
    ours, best = scored.outcomes, score("optimal", scored.task).outcomes
    if ours is None or best is None:
        raise InputError(
            f"game must pay at its end alone to be plotted by payoff, got {scored.task.game!r}"
        )
    game, name = scored.task.game, quoted(scored.policy)
    payoffs, wins = sorted({*ours, *best}, reverse=True), pays_wins(game)
    gets = f"gets {scored.value:.2f} a game, optimal play {scored.optimum:.2f}"
    if wins:
        own, other = 100 * scored.value, 100 * scored.optimum
        gets = f"wins {own:.1f} % of games, optimal play {other:.1f} %"
        if not {*payoffs} <= {0.0, 1.0}:
            gets = f"earns {own:.1f} % of a win, optimal play {other:.1f} %, ties counted in part"
    panel = Bars(
        title=f"What {name} gets: {present(game).title}",
        x_label="probability",
        labels=[result(payoff, game) if wins else f"payoff {payoff:g}" for payoff in payoffs],
        values=np.array([ours.get(payoff, 0.0) for payoff in payoffs]),
        name=scored.policy,
        others=np.array([best.get(payoff, 0.0) for payoff in payoffs]),
        others_name="optimal play",
    )
    return Plot.of(
        panel,
        f"{name} {gets}. The probability of each {'result' if wins else 'payoff'}, beside that "
        f"under optimal play. The mean is {scored.value:.6f}, that of optimal play "
        f"{scored.optimum:.6f}.",
    )
