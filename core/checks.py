"""Checks of arguments, and of what the author of a game wrote: laws, stages, turns and legs.

A game that goes in circles, or whose chances do not sum to one, would be solved without complaint,
to numbers that mean nothing.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .errors import GameError, InputError
from .sizes import show

if TYPE_CHECKING:
    from .arithmetic import Array
    from .game import BoolArray, Game, IntArray, Move
    from .turn import Turn
    from .turn_game import Leg

#: Decimal exponent that the size of payoffs keeps to, so that floats never over- or underflow.
LARGEST_EXPONENT = 200
#: Relative difference of laws and exact laws beyond which they are different laws.
CLOSEST = Fraction(1, 10**9)
#: What every game has beside its methods.
ATTRIBUTES = (
    *("num_players", "num_states", "num_actions", "observation_sizes", "observation_names"),
    *("payoff_range", "zero_sum", "laws"),
)


def at_least(name: str, value: int, minimum: int) -> int:
    """Return ``value`` if it is an integer of at least ``minimum``.

    Raises:
        ValueError: naming the argument, the requirement and what came.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{name} must be an integer, got {value!r}")
    if value < minimum:
        raise InputError(f"{name} must be at least {minimum}, got {show(value)}")
    return int(value)


def one_of(name: str, value: Any, known: Sequence[str]) -> Any:
    """Return ``value`` if it is one of the known names.

    Raises:
        ValueError: naming the argument, the known names and what came.
    """
    if value not in known:
        names = ", ".join(repr(entry) for entry in known)
        raise InputError(f"{name} must be one of {names}, got {value!r}")
    return value


def require_attributes(game: "Game") -> None:
    """Check that a game has what every game has, without computing it.

    Raises:
        GameError: naming what it lacks.
    """
    has = (vars(game), dir(type(game)))
    lacking = [name for name in ATTRIBUTES if not any(name in names for names in has)]
    if lacking:
        raise GameError(f"{type(game).__name__} must have the attributes {', '.join(lacking)}")


def require_laws(name: str, laws: "Array") -> None:
    """Check that each row (law, outcome) sums to one: floats up to rounding.

    Raises:
        GameError: naming the first row that does not.
    """
    rounding = 0 if laws.dtype == object else laws.shape[1] * float(np.finfo(np.float64).eps)
    with np.errstate(invalid="ignore"):  # of infinities
        sums = laws.sum(axis=1)
        wrong = (laws < 0).any(axis=1) | ~(np.abs(sums - 1) <= rounding)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise GameError(f"{name} must sum to 1, got {float(sums[row])!r} in row {row}")


def roundings_between(laws: "Array", exact: "Array") -> int:
    """Count the roundings that take exact laws to those in floats, at most.

    Raises:
        GameError: if the floats are not those laws in floats.
    """
    most = Fraction(0)
    for (row, outcome), chance in np.ndenumerate(exact):
        found = Fraction(float(laws[row, outcome]))
        if chance == 0 == found:
            continue
        most = max(most, abs(found / chance - 1) if chance else Fraction(1))
        if most > CLOSEST:
            raise GameError(
                f"laws must be exact_laws in floats, got {float(found)!r} for {chance} in row "
                f"{row}, outcome {outcome}"
            )
    return ceil(most * 2**53)


def require_size(largest: Fraction) -> None:
    """Check that the size of the largest payoff is far from where floats end.

    Raises:
        InputError: if it is not.
    """
    low, high = Fraction(10) ** -LARGEST_EXPONENT, Fraction(10) ** LARGEST_EXPONENT
    if largest and not low <= largest <= high:
        bits = largest.numerator.bit_length() - largest.denominator.bit_length()
        raise InputError(
            f"the largest payoff must be 0 or from 1e-{LARGEST_EXPONENT} to 1e{LARGEST_EXPONENT} "
            f"in size, got about 2**{bits}"
        )


class Order(NamedTuple):
    """Where the positions of a game stand, arrays of shape (player, state)."""

    stages: "IntArray"  # number of the stage, -1 if the position is in none
    blocks: "IntArray"  # number of the block
    cut: "BoolArray"  # whether it is in the cut of its block


def order_of(game: "Game", stages: "Sequence[tuple[int, IntArray]]") -> Order:
    """Give the order of all positions.

    Args:
        game: the rules.
        stages: those of the game.

    Raises:
        GameError: if a position is in two stages, or the game begins in none.
    """
    listed = np.concatenate([seat * game.num_states + states for seat, states in stages])
    positions, times = np.unique(listed, return_counts=True)
    if (times > 1).any():
        seat, state = divmod(int(positions[np.argmax(times > 1)]), game.num_states)
        raise GameError(
            f"stages must list a position once, got state {state} of player {seat} again"
        )
    shape = game.num_players, game.num_states
    numbers, blocks, cut = np.full(shape, -1), np.zeros(shape, int), np.zeros(shape, bool)
    for number, (seat, states) in enumerate(stages):
        numbers[seat, states] = number
        if game.has_cycles:
            blocks[seat, states], cut[seat, states] = game.block(seat, states)
    starts, _ = game.initial_law()
    if (numbers[0, starts] < 0).any():
        raise GameError("initial_law must give states of player 0 that stages lists")
    for table in (numbers, blocks, cut):
        table.setflags(write=False)  # as many share them
    return Order(numbers, blocks, cut)


def require_later(
    order: Order, seats: "IntArray", states: "IntArray", actions: "IntArray", move: "Move"
) -> None:
    """Check that moves lead on: to later blocks, in a block to later stages or its cut, or the end.

    Args:
        order: of the positions.
        seats: who moves, shape (move,).
        states: where, shape (move,).
        actions: how, shape (move,).
        move: what came of it.

    Raises:
        GameError: naming the first move that does not.
    """
    known = (move.seats >= 0) & (move.seats < order.stages.shape[0])
    known &= (move.states >= 0) & (move.states < order.stages.shape[1])
    after = np.where(known, move.seats, 0), np.where(known, move.states, 0)
    known &= order.stages[after] >= 0
    blocks = order.blocks[after] - order.blocks[seats, states]
    inside = order.cut[after] | (order.stages[after] > order.stages[seats, states])
    right = known & ((blocks > 0) | ((blocks == 0) & inside))
    wrong = ~right & ~move.over.all(axis=1)
    if wrong.any():
        row = int(np.argmax(wrong))
        allowed = "a later stage"
        if order.cut.any():
            allowed = "a later block, in its own to a later stage or to the cut,"
        raise GameError(
            f"a move must lead to {allowed} or end the game, got action {actions[row]} of "
            f"player {seats[row]} in state {states[row]}, which leads to player {move.seats[row]} "
            f"in state {move.states[row]}"
        )


def require_turn(turn: "Turn") -> None:
    """Check that the tables of a turn are those of one that ends.

    Raises:
        GameError: naming what is wrong.
    """
    if (turn.rolls < 0).any() or not turn.possible.any(axis=1).all():
        raise GameError("rolls must be counts, of which each law has some above 0")
    if (np.diff(turn.layers) < 0).any():
        raise GameError("layers must grow with the afterstates")
    if turn.possible.sum() != turn.num_states:
        raise GameError(
            f"states must be the possible outcomes of all afterstates, {turn.possible.sum()}, got "
            f"{turn.num_states}"
        )
    if not turn.legal.any(axis=1).all():
        raise GameError("legal must give each state an action")
    number = np.where(turn.ends, turn.num_results, turn.num_afterstates)
    beyond = (turn.leads_to < 0) | (turn.leads_to >= np.where(turn.legal, number, 1))
    if beyond.any():
        state, action = np.argwhere(beyond)[0].tolist()
        raise GameError(
            f"leads_to must be an afterstate below {turn.num_afterstates} or a result below "
            f"{turn.num_results}, and 0 if illegal, got {turn.leads_to[state, action]} for action "
            f"{action} in state {state}"
        )
    before = np.repeat(np.arange(turn.num_afterstates), turn.possible.sum(axis=1))  # (state,)
    layer_ends = np.searchsorted(turn.layers, turn.layers[before], side="right")[:, None]
    circles = turn.legal & ~turn.ends & (turn.leads_to < layer_ends)
    if circles.any():
        state, action = np.argwhere(circles)[0].tolist()
        raise GameError(
            f"an action must lead to a later layer or end the turn, got action {action} in state "
            f"{state}, which leads from afterstate {before[state]} to "
            f"{turn.leads_to[state, action]}"
        )


def require_legs(legs: "Sequence[Leg]") -> None:
    """Check that results lead to later legs, which roll alike, or settle all payoffs.

    Raises:
        GameError: naming the first result that does not.
    """
    first_later = 0  # context, counted over all legs
    contexts = sum(len(leg.contexts) for leg in legs)
    for number, leg in enumerate(legs):
        if not np.array_equal(leg.turn.rolls, legs[0].turn.rolls):
            raise GameError(f"all legs must have the rolls of the first, got others in {number}")
        first_later += len(leg.contexts)
        later = (leg.following >= first_later) & (leg.following < contexts)
        wrong = np.argwhere(~(later | leg.ends))
        if len(wrong):
            result, context = wrong[0].tolist()
            raise GameError(
                f"a result must lead to a later leg or settle all payoffs, got result {result} of "
                f"leg {number}, which leads from context {context} to "
                f"{leg.following[result, context]}"
            )
