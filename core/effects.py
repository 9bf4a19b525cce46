"""Checks of moves: their laws, the positions that follow, and payoffs.

Moves are checked batch by batch as they are listed; see ``contract`` for all other checks.
"""

from typing import Any

import numpy as np

from .checks import range_of, require_array, require_exact, require_shapes, show_numbers
from .contract import CLOSE, order_of
from .errors import GameError
from .game import Game
from .types import BoolArray, IntArray, Move, Order


def require_rows(game: Game, seat: int, states: IntArray, actions: IntArray, rows: Any) -> None:
    """Check the rows of ``laws`` that ``law`` gives for some moves.

    Raises:
        GameError: naming the first move whose row is out of range.
    """
    require_array("law must give", rows, "integers", len(states))
    wrong = (rows < 0) | (rows >= len(game.laws))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise GameError(
            f"law must give rows below {len(game.laws)}, got {rows[first]} for action "
            f"{actions[first]} of player {seat} in state {states[first]}"
        )


def require_later(
    order: Order, seats: IntArray, states: IntArray, actions: IntArray, move: Move
) -> None:
    """Check that no move leads back.

    Each move must end the game, lead to a later block, or stay in its block and lead to a later
    stage or to a position of the cut.

    Args:
        order: the stage and the block of each position.
        seats: player of each move, shape (move,).
        states: state before each move, shape (move,).
        actions: shape (move,).
        move: the result of ``advance``.

    Raises:
        GameError: naming the first wrong move.
    """
    players, count = order.stages.shape
    stages, blocks, in_cut = (table.ravel() for table in order)
    known = (move.seats >= 0) & (move.seats < players)
    known &= (move.states >= 0) & (move.states < count)
    after = np.where(known, move.seats * count + move.states, 0)
    before = seats * count + states
    stage, later = stages.take(after), blocks.take(after) - blocks.take(before)
    known &= stage >= 0
    right = (later > 0) | ((later == 0) & (stage > stages.take(before)))
    wrong = np.flatnonzero(~(known & right))  # unless it leads to the cut, or the game is over
    wrong = wrong[~(known[wrong] & (later[wrong] == 0) & in_cut[after[wrong]])]
    wrong = wrong[~move.over[wrong].all(axis=1)]
    if len(wrong):
        row = int(wrong[0])
        allowed = "a later stage"
        if order.cut.any():
            allowed = "a later block, in its own to a later stage or to the cut,"
        raise GameError(
            f"a move must lead to {allowed} or end the game, got action {actions[row]} of "
            f"player {seats[row]} in state {states[row]}, which leads to player {move.seats[row]} "
            f"in state {move.states[row]}"
        )


def require_moves(
    game: Game, seats: IntArray, states: IntArray, actions: IntArray, move: Move
) -> None:
    """Check the positions after some moves (see ``require_later``), and the payoffs.

    Args:
        game: the rules.
        seats: player of each move, shape (move,).
        states: state before each move, shape (move,).
        actions: shape (move,).
        move: the result of ``advance``, with payoffs as floats or fractions.

    Raises:
        GameError: naming the first move that breaks a rule.
    """
    require_shapes(game, len(states), move)
    require_later(order_of(game), seats, states, actions, move)
    wrong = _wrong_payoffs(game, seats, states, move)
    if wrong is not None:
        entries, said = wrong
        row = int(np.argmax(entries.any(axis=1)))
        raise GameError(
            f"payoffs {said}, got {show_numbers(move.payoffs[row][entries[row]].astype(float))} by "
            f"action {actions[row]} of player {seats[row]} in state {states[row]}"
        )


def _wrong_payoffs(
    game: Game, seats: IntArray, states: IntArray, move: Move
) -> tuple[BoolArray, str] | None:
    """Find the wrong payoffs, (move, player), and the requirement they break; None if right."""
    payoffs, over = move.payoffs, move.over
    exact = payoffs.dtype == object
    if exact:
        require_exact("payoffs", payoffs)
    ends: Any = game.exact_range if exact else range_of(game)
    low, high = ends
    close = 0 if exact else CLOSE * max(abs(low), abs(high))
    early = bool(payoffs[~over].any())  # NaN, too
    if early:  # the rest of the game is worth from low to high, before the move and after it
        span = high - low + 2 * close
        wrong = ~over & ~((payoffs >= -span) & (payoffs <= span))
        if wrong.any():
            said = f"must be at most {float(high - low)} in size, the span of payoff_range,"
            return wrong, f"{said} while the game goes on"
        if (wrong := _in_cycles(game, seats, states, move)).any():
            return (
                wrong,
                "must be zero where a move stays in a block with a cut, for a finite total",
            )
    paid = payoffs[over]  # comparing fractions is slow
    if not ((paid >= low - close) & (paid <= high + close)).all():
        inside = (payoffs >= low - close) & (payoffs <= high + close)
        return over & ~inside, f"must be in payoff_range, {float(low)} to {float(high)}"
    if game.zero_sum and (early or len(paid)):
        rows = np.flatnonzero(over[:, 0] | over[:, 1]) if not early else np.arange(len(over))
        ends = over[rows, 0]
        sums = payoffs[rows, 0] + payoffs[rows, 1] - (low + high) * ends
        right = (ends == over[rows, 1]) & (np.abs(sums) <= 2 * close)
        if not right.all():
            wrong = np.zeros(over.shape, dtype=bool)
            wrong[rows[~right]] = True
            said = f"of a zero-sum game must add up to {float(low + high)} at once"
            return wrong, said + (", and to 0 before" if early else "")
    return None


def _in_cycles(game: Game, seats: IntArray, states: IntArray, move: Move) -> BoolArray:
    """Find payoffs that a game can get again and again, as a cycle passes: (move, player)."""
    wrong = np.zeros(move.over.shape, dtype=bool)
    if game.has_cycles:
        order, early = order_of(game), ~move.over & (move.payoffs != 0)
        rows = np.flatnonzero(early.any(axis=1))
        before = order.blocks[seats[rows], states[rows]]
        stays = order.blocks[move.seats[rows], move.states[rows]] == before
        circles = rows[stays & np.isin(before, order.blocks[order.cut])]
        wrong[circles] = early[circles]
    return wrong
