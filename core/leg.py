"""Legs: the turns of which a game is made, and what their results lead to."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from .arithmetic import Arithmetic
from .checks import (
    as_exact,
    is_whole,
    kind_of,
    require_array,
    require_below,
    require_tables,
    show_numbers,
)
from .errors import GameError
from .turn import Turn
from .types import Array, BoolArray, IntArray, frozen

#: Kind and axes of each table of a leg (see ``require_tables``).
FORMS = {
    "contexts": ("integers", "context", "component"),
    "following": ("integers", "result", "context"),
    "payoffs": ("fractions", "result", "context", "player"),
    "settled": ("bool", "result", "context", "player"),
    "starts": ("integers", "group"),
    "blocks": ("integers", "context"),
}


@dataclass(frozen=True, eq=False)
class Leg:
    """One player's turn in a game, in every context it may come to.

    Attributes:
        seat: the player.
        turn: what it plays.
        contexts: what the player sees of each context, shape (context, component).
        following: context that each result leads to, shape (result, context), counted over all
            legs; meaningless where all payoffs are settled.
        payoffs: fractions or whole numbers that results pay, shape (result, context, player).
        settled: whether a result settles a player's payoff, of the same shape.
        starts: contexts come in groups of equal size, the states of a group in a row: state s of
            the turn in context c of group g, which has ``width`` contexts, is the state
            ``starts[g] + s * width + c`` of the game. Legs of different players may have the same
            states. None for one group, after the states of the legs before.
        blocks: block of each context, shape (context,), in a game with cycles; else None.
    """

    seat: int
    turn: Turn
    contexts: IntArray
    following: IntArray
    payoffs: Array
    settled: BoolArray
    starts: IntArray | None = None
    blocks: IntArray | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.turn, Turn):
            raise GameError(f"turn must be a Turn, got {kind_of(self.turn)}")
        require_tables(self, FORMS, result=self.turn.num_results)
        if self.payoffs.dtype == object:  # whole numbers stay in their few bytes
            object.__setattr__(self, "payoffs", as_exact("payoffs", self.payoffs))
        if self.starts is not None:
            firsts, (count, _) = np.sort(self.starts), self.contexts.shape
            apart = np.diff(firsts) >= self.turn.num_states * self.width if len(firsts) else [False]
            if count % max(len(firsts), 1) or firsts.min(initial=0) < 0 or not np.all(apart):
                raise GameError(
                    f"starts must be states of groups of equal size that do not overlap, got "
                    f"{show_numbers(self.starts)} for {count} contexts"
                )
        for table in (self.contexts, self.following, self.payoffs, self.settled):
            frozen(table)

    @cached_property
    def ends(self) -> BoolArray:
        """Whether a result ends the game for everybody, shape (result, context)."""
        return frozen(np.asarray(self.settled.all(axis=-1)))

    def paid(self, arithmetic: Arithmetic) -> Array:
        """Give ``payoffs`` in an arithmetic; whole numbers stay in their few bytes each."""
        whole = self.payoffs.dtype != object
        return self._floats if arithmetic.rounds and not whole else self.payoffs

    @cached_property
    def _floats(self) -> Array:
        return frozen(self.payoffs.astype(np.float64))

    @cached_property
    def pays_early(self) -> bool:
        """Whether a result pays a player whose game goes on."""
        return bool(self.payoffs[~self.settled].any())

    @property
    def width(self) -> int:
        """Number of contexts of a group."""
        return len(self.contexts) // (1 if self.starts is None else len(self.starts))


def require_seats(legs: Sequence[Leg], num_players: int) -> None:
    """Raise a ``GameError`` unless legs are of players, and pay every player."""
    for number, leg in enumerate(legs):
        if not isinstance(leg, Leg):
            raise GameError(f"legs must be Legs, got {kind_of(leg)}")
        if not is_whole(leg.seat) or leg.seat not in range(num_players):
            raise GameError(f"seat must be below {num_players}, got {leg.seat!r} in leg {number}")
        said = f"payoffs of leg {number} must be"
        require_array(said, leg.payoffs, "fractions", "result", "context", num_players)


def require_seen(legs: Sequence[Leg], sizes: IntArray, columns: Sequence[IntArray]) -> None:
    """Raise a ``GameError`` unless turns and contexts are seen in values of their components."""
    for number, leg in enumerate(legs):
        tables = {"observations": leg.turn.observations, "contexts": leg.contexts}
        for (name, seen), own in zip(tables.items(), columns, strict=True):
            said = f"{name} of leg {number} must be"
            require_array(said, seen, "integers", "state", len(own))
            require_below(said, seen, sizes[own])


def require_legs(legs: Sequence[Leg], has_cycles: bool) -> None:
    """Raise a ``GameError`` unless results lead to later legs, which roll alike, or settle payoffs.

    In a game with cycles a result may lead to any context of its block, or of a later one, and pays
    only what it settles.
    """
    contexts = sum(len(leg.contexts) for leg in legs)
    blocks = np.zeros(contexts, dtype=np.int64)
    if not has_cycles and any(leg.blocks is not None for leg in legs):
        raise GameError("has_cycles must be True where legs have blocks")
    if has_cycles:
        blocks = np.concatenate([leg.blocks for leg in legs if leg.blocks is not None])
        if len(blocks) < contexts:
            raise GameError("each leg of a game with cycles must have blocks")
        if any(leg.pays_early for leg in legs):
            raise GameError("a result of a game with cycles must pay nothing where not settled")
    first = 0  # context of the leg, counted over all legs
    for number, leg in enumerate(legs):
        if not np.array_equal(leg.turn.rolls, legs[0].turn.rolls):
            raise GameError(f"all legs must have the rolls of the first, got others in {number}")
        after = first + len(leg.contexts)
        known = (leg.following >= 0) & (leg.following < contexts)
        leads_on = blocks[np.where(known, leg.following, 0)] - blocks[first:after]
        later = leg.following >= after
        right = known & ((leads_on > 0) | ((leads_on == 0) & (later | has_cycles)))
        for result, context in np.argwhere(~(right | leg.ends))[:1].tolist():
            where = "a later leg, or in its block to any," if has_cycles else "a later leg"
            raise GameError(
                f"a result must lead to {where} or settle all payoffs, got result {result} of "
                f"leg {number}, which leads from context {context} to "
                f"{leg.following[result, context]}"
            )
        first = after


def extremes(legs: Sequence[Leg]) -> tuple[Fraction, Fraction]:
    """Give the smallest and the largest payoff from any context on, whatever the results."""
    if not any(leg.pays_early for leg in legs):
        paid = {payoff for leg in legs for payoff in leg.payoffs[leg.settled].tolist()}
        return Fraction(min(paid)), Fraction(max(paid))
    last = sum(len(leg.contexts) for leg in legs)
    low, high = np.zeros((2, last, legs[0].payoffs.shape[-1]), dtype=object)
    for leg in reversed(legs):
        own, last = slice(last - len(leg.contexts), last), last - len(leg.contexts)
        following = np.where(leg.ends, 0, leg.following)
        for table, best in ((low, np.min), (high, np.max)):
            worth = leg.payoffs + np.where(leg.settled, 0, table[following])
            table[own] = best(worth, axis=0)
    return Fraction(low.min()), Fraction(high.max())


def adds_up(legs: Sequence[Leg], total: Fraction) -> bool:
    """Say whether two players' payoffs are settled together, in that total, and are 0 before."""
    for leg in legs:
        both = leg.settled.all(axis=-1)
        if (leg.settled.any(axis=-1) != both).any():
            return False
        if (leg.payoffs[both].sum(axis=-1) != total).any():
            return False
        if leg.pays_early and (leg.payoffs[~both].sum(axis=-1) != 0).any():
            return False
    return True
