"""Expectation in any game, both ways: every move is listed, one outcome at a time.

What can be seen of the rules is checked as moves are listed (see ``contract``).
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .arithmetic import FLOATS, Arithmetic, Array, Values
from .effects import legal_moves, require_moves, require_rows

if TYPE_CHECKING:
    from .game import Decide, Game, IntArray, Move, Stage


def outcomes(
    game: "Game", seat: int, states: "IntArray", actions: "IntArray", arithmetic: Arithmetic
) -> "Iterator[tuple[IntArray, Array, Move]]":
    """List what may come of some moves, one outcome at a time: which moves, chance, effect."""
    rows = game.law(states, actions)
    require_rows(game, seat, states, actions, rows)
    laws, advance = arithmetic.laws(game), arithmetic.rules(game)
    for outcome in range(laws.shape[1]):
        where = np.flatnonzero(laws[rows, outcome] > 0)
        seats = np.full(len(where), seat)
        move = advance(seats, states[where], actions[where], np.full(len(where), outcome))
        yield where, laws[rows[where], outcome], move


def moves(
    game: "Game", seat: int, states: "IntArray", arithmetic: Arithmetic
) -> "Iterator[tuple[IntArray, IntArray, Array, Move]]":
    """List every legal move from some states: place in ``states``, action, chance, effect."""
    _ = game.checked_order  # if nothing is swept
    pair, action = legal_moves(game, states)
    for where, chance, move in outcomes(game, seat, states[pair], action, arithmetic):
        row, done = pair[where], action[where]
        require_moves(game, np.full(len(row), seat), states[row], done, move)
        yield row, done, chance, move


def settled(
    game: "Game", seat: int, states: "IntArray", player: int, arithmetic: Arithmetic
) -> "tuple[IntArray, IntArray, Array, Array]":
    """List how legal moves can end the game for a player (see ``Game.settled``)."""
    ways = []
    for row, action, chance, move in moves(game, seat, states, arithmetic):
        over = move.over[:, player]
        ways.append((row[over], action[over], move.payoffs[over, player], chance[over]))
    rows, actions, payoffs, chances = (np.concatenate(column) for column in zip(*ways, strict=True))
    return rows, actions, payoffs, chances


def backward(
    game: "Game", decide: "Decide", seats: Sequence[int], arithmetic: Arithmetic
) -> Values:
    """Visit the stages last to first (see ``Game.backward_together``)."""
    _require_order(game)
    values = arithmetic.values(len(seats), game.num_players, game.num_states)
    for stage in reversed(game.unscaled_stages(arithmetic)):
        expected = arithmetic.zeros(len(seats), len(stage.states), game.num_actions)
        for pair, action, chance, move in moves(game, stage.seat, stage.states, arithmetic):
            for row, seat in enumerate(seats):
                over = move.over[:, seat]
                later = values.numbers[row, move.seats, np.where(over, 0, move.states)]
                results = np.where(over, move.payoffs[:, seat], later)
                np.add.at(expected[row], (pair, action), chance * results)
        values.put((..., *stage.positions), decide(stage, expected), stage.scale)
    return values.frozen()


def forward(
    game: "Game", decide: "Decide", start: Array, seat: int, arithmetic: Arithmetic
) -> Array:
    """Visit the stages first to last: the adjoint of ``backward`` (see ``Game.forward``)."""
    _require_order(game)
    mass = start.copy()
    for stage in game.unscaled_stages(arithmetic):
        weights = decide(stage, mass[stage.positions])
        for pair, action, chance, move in moves(game, stage.seat, stage.states, arithmetic):
            goes_on = ~move.over[:, seat]
            target = (move.seats[goes_on], move.states[goes_on])
            np.add.at(mass, target, (chance * weights[pair, action])[goes_on])
    return mass


def move_roundings(game: "Game") -> int:
    """Bound the roundings of the expected value of one action.

    They are those of a payoff, of its probability, of their product, and of each addition.
    """
    most = int(np.count_nonzero(game.laws, axis=1).max())
    return 1 + game.law_roundings + most


def longest_play(game: "Game") -> float:
    """Bound the expected number of moves to the end if all players conspire to prolong the game.

    They play one that pays for each move far more than the game itself pays, so that what this adds
    or takes is less than a hundredth of a move.
    """
    low, high = map(float, game.payoff_range)
    fee, longest = 100 * max(high - low, abs(low), abs(high)), [0.0]

    def prolong(stage: "Stage", expected: Array) -> Array:  # shape (seat, state, action)
        most: Array = fee + np.where(game.mask(stage.states), expected, -np.inf).max(axis=2)
        longest[0] = max(longest[0], float(most.max()))
        return most

    game.backward_together(prolong, range(game.num_players), FLOATS)
    return 1.01 * (longest[0] - low) / fee if fee else float(len(game.stages()))


def forward_roundings(game: "Game", decision: int, seat: int) -> int:
    """Bound the roundings of mass that comes to a position (see ``Game.forward_roundings``).

    A move takes those of a decision, of a probability and of the product with it; at a position
    all ways to it are added up.
    """
    each = decision + 2 + game.law_roundings
    most, ways = np.zeros((2, game.num_players, game.num_states), dtype=np.int64)  # to a position
    for mover, states in game.stages():
        most[mover, states] += ways[mover, states] + each
        for row, _, _, move in moves(game, mover, states, FLOATS):
            goes_on = ~move.over[:, seat]
            target = move.seats[goes_on], move.states[goes_on]
            np.add.at(ways, target, 1)
            np.maximum.at(most, target, most[mover, states[row[goes_on]]])
    return int(most.max())


def _require_order(game: "Game") -> None:
    """Check that stages can be visited one after the other, before they are."""
    _ = game.checked_order
    if game.has_cycles:
        raise TypeError(f"{game.name} has cycles, so that one pass is not enough: see blocks")
