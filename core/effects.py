"""What moves do, checked batch by batch as they are listed (see ``contract``)."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .checks import require_later
from .contract import CLOSE, checked_mask, kind_of, range_of, require_exact, show_numbers
from .errors import GameError

if TYPE_CHECKING:
    from .game import BoolArray, Game, IntArray, Move


def legal_moves(game: "Game", states: "IntArray") -> "tuple[IntArray, IntArray]":
    """List the legal moves from some states: place in ``states``, action.

    Raises:
        GameError: if the mask is of another form, or a state has none.
    """
    pairs, actions = np.nonzero(checked_mask(game, states))
    return pairs, actions


def require_rows(
    game: "Game", seat: int, states: "IntArray", actions: "IntArray", rows: Any
) -> None:
    """Check that moves follow rows of the laws.

    Raises:
        GameError: naming the first move that does not.
    """
    if (
        not isinstance(rows, np.ndarray)
        or rows.shape != states.shape
        or rows.dtype.kind not in "iu"
    ):
        raise GameError(f"law must give integers of shape {states.shape}, got {kind_of(rows)}")
    wrong = (rows < 0) | (rows >= len(game.laws))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise GameError(
            f"law must give rows below {len(game.laws)}, got {rows[first]} for action "
            f"{actions[first]} of player {seat} in state {states[first]}"
        )


def require_moves(
    game: "Game", seats: "IntArray", states: "IntArray", actions: "IntArray", move: "Move"
) -> None:
    """Check that moves lead on (see ``require_later``), and what they pay.

    Args:
        game: the rules.
        seats: who moves, shape (move,).
        states: where, shape (move,).
        actions: how, shape (move,).
        move: what came of it, with payoffs as floats or fractions.

    Raises:
        GameError: naming the first move that breaks a rule.
    """
    require_shapes(game, len(states), move)
    require_later(game.checked_order, seats, states, actions, move)
    wrong = _wrong_payoffs(game, move)
    if wrong is not None:
        entries, said = wrong
        row = int(np.argmax(entries.any(axis=1)))
        raise GameError(
            f"payoffs {said}, got {show_numbers(move.payoffs[row][entries[row]].astype(float))} by "
            f"action {actions[row]} of player {seats[row]} in state {states[row]}"
        )


def _wrong_payoffs(game: "Game", move: "Move") -> "tuple[BoolArray, str] | None":
    """Find payoffs that cannot be, (move, player), and say what they must be."""
    payoffs, over = move.payoffs, move.over
    exact = payoffs.dtype == object
    if exact:
        require_exact("payoffs", payoffs)
    ends: Any = game.exact_range if exact else range_of(game)
    low, high = ends
    close = 0 if exact else CLOSE * max(abs(low), abs(high))
    if payoffs[~over].any():  # NaN, too
        return ~over & (payoffs != 0), "must be zero until it is over for the player"
    paid = payoffs[over]  # the others need no comparing, which takes time with fractions
    if not ((paid >= low - close) & (paid <= high + close)).all():
        inside = (payoffs >= low - close) & (payoffs <= high + close)
        return over & ~inside, f"must be in payoff_range, {float(low)} to {float(high)}"
    if game.zero_sum and len(paid):
        rows = np.flatnonzero(over.any(axis=1))
        sums = payoffs[rows, 0] + payoffs[rows, 1]
        right = over[rows].all(axis=1) & (np.abs(sums - (low + high)) <= 2 * close)
        if not right.all():
            wrong = np.zeros(over.shape, dtype=bool)
            wrong[rows[~right]] = True
            return wrong, f"of a zero-sum game must add up to {float(low + high)} at once"
    return None


def require_shapes(game: "Game", count: int, move: "Move") -> None:
    """Check that a batch of moves has an entry for each move, and for each player where it must.

    Raises:
        GameError: naming the entry that has not.
    """
    kinds = {"seats": "iu", "states": "iu", "payoffs": "fiuO", "over": "b"}
    for name, array in move._asdict().items():
        shape = (count,) if name in ("seats", "states") else (count, game.num_players)
        if np.shape(array) != shape:
            raise GameError(f"advance must give {name} of shape {shape}, got {np.shape(array)}")
        if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds[name]:
            wanted = {"payoffs": "numbers", "over": "bool"}.get(name, "integers")
            raise GameError(f"advance must give {name} as {wanted}, got {kind_of(array)}")


def require_numbers(
    game: "Game", seats: "IntArray", states: "IntArray", actions: "IntArray", move: "Move"
) -> None:
    """Check that the payoffs of moves, in floats, are finite.

    Raises:
        GameError: naming the first move with another one.
    """
    require_shapes(game, len(states), move)
    wrong = np.argwhere(~np.isfinite(move.payoffs.astype(float)))
    if len(wrong):
        row, player = wrong[0].tolist()
        raise GameError(
            f"payoffs must be finite numbers, got {move.payoffs[row, player]} by action "
            f"{actions[row]} of player {seats[row]} in state {states[row]}"
        )


def checked_advance(
    game: "Game",
    seats: "IntArray",
    states: "IntArray",
    actions: "IntArray",
    outcomes: "IntArray",
) -> "Move":
    """Do as ``advance`` does, and check the moves of a game whose moves would be listed.

    Games that list their moves themselves were checked when they were made.

    Raises:
        GameError: naming the first move that breaks a rule.
    """
    move = game.advance(seats, states, actions, outcomes)
    if game.is_listed:
        require_moves(game, seats, states, actions, move)
    return move
