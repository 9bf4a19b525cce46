"""Games of turns: each player plays its turn against chance alone, and then results are compared.

A *leg* is one player's turn in the game (see ``Turn``). Its contexts are what the player may know
from the turns before, such as a score to beat. A result leads to a context of a later leg, or
settles the payoffs of some players, or both. A state of the game is a leg, a state of its turn and
a context.

The value U(r, c) of a result is a settled payoff, or the value before the first roll of the leg
that it leads to, so that all legs, last to first, take one pass over their layers. Between legs
these are fractions, if they are not floats; a leg scales them by the denominators that they have.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

import numpy as np

from .arithmetic import EXACT, FLOATS, Arithmetic
from .checks import require_size
from .errors import GameError, SizeError
from .game import Game
from .sizes import show
from .turn import Turn
from .types import Array, BoolArray, IntArray, Move, frozen


@dataclass(frozen=True, eq=False)
class Leg:
    """One player's turn in a game, in every context it may come to.

    Attributes:
        seat: the player.
        turn: what it plays.
        contexts: what the player sees of each context, shape (context, component).
        following: context that each result leads to, shape (result, context), counted over all
            legs; meaningless where all payoffs are settled.
        payoffs: fractions, shape (result, context, player), 0 where not settled.
        settled: whether a result settles a player's payoff, of the same shape.
    """

    seat: int
    turn: Turn
    contexts: IntArray
    following: IntArray
    payoffs: Array
    settled: BoolArray

    def __post_init__(self) -> None:
        for table in (self.contexts, self.following, self.payoffs, self.settled):
            frozen(table)

    @cached_property
    def ends(self) -> BoolArray:
        """Whether a result ends the game for everybody, shape (result, context)."""
        return frozen(np.asarray(self.settled.all(axis=-1)))

    @cached_property
    def paid(self) -> dict[Arithmetic, Array]:
        """``payoffs`` in each arithmetic."""
        return {FLOATS: frozen(self.payoffs.astype(np.float64)), EXACT: self.payoffs}


class TurnGame(Game):
    """A game of turns, given by its legs; subclasses build them and put them into words.

    Args:
        legs: in an order such that results lead to later legs. The first has one context; all
            begin with the same roll.
        num_players: number of seats.
        observed: name and number of values of each component of an observation, those of the
            turn before those of the context.

    Attributes:
        first_states: first state of each leg and, last, the number of states, shape (leg + 1,).
        num_contexts: number of contexts of each leg, shape (leg,).
        first_contexts: first context of each leg, counted over all legs, and last their number.
        seats: player of each leg.
    """

    law_roundings = 1  # chances are rounded once (``Arithmetic.chances``)

    def __init__(
        self, legs: Sequence[Leg], num_players: int, observed: Sequence[tuple[str, int]]
    ) -> None:
        require_legs(legs)
        turn = legs[0].turn
        self.legs = tuple(legs)
        self.num_players = num_players
        self.num_actions = turn.legal.shape[1]
        self.observation_names, self.observation_sizes = zip(*observed, strict=True)
        numbers = prod(int(size) for size in self.observation_sizes)
        if numbers >= 2**63:  # ``encode`` tells observations by their numbers
            raise SizeError(
                f"sizes must be lower: observations could have {show(numbers)} values, and 2^63 "
                "or more have no numbers"
            )
        self.num_contexts = frozen(np.array([len(leg.contexts) for leg in legs]))
        self.first_contexts = np.append(0, np.cumsum(self.num_contexts))  # (leg + 1,)
        sizes = [leg.turn.num_states * len(leg.contexts) for leg in legs]
        self.first_states = frozen(np.append(0, np.cumsum(sizes)))
        self.num_states = int(self.first_states[-1])
        self._rolled = np.stack([leg.turn.rolled[0] for leg in legs])  # (leg, outcome)
        self.seats = np.array([leg.seat for leg in legs])
        self.laws = frozen(self._laws(FLOATS))
        paid = {payoff for leg in legs for payoff in leg.payoffs[leg.settled].tolist()}
        self._range = low, high = Fraction(min(paid)), Fraction(max(paid))
        require_size(max(abs(low), abs(high)))
        self.payoff_range = (float(low), float(high))
        self.zero_sum = num_players == 2 and self._adds_up(low + high)

    def _laws(self, arithmetic: Arithmetic) -> Array:
        """Give the laws of the rolls, and last that of no roll at all."""
        rolls = self.legs[0].turn.probabilities[arithmetic]
        nothing = arithmetic.zeros(1, rolls.shape[1])
        nothing[0, 0] = arithmetic.number(1)
        return np.concatenate([rolls, nothing])

    @property
    def exact_range(self) -> tuple[Fraction, Fraction]:
        """Smallest and largest payoff."""
        return self._range

    def _adds_up(self, total: Fraction) -> bool:
        """Say whether two players' payoffs are settled together and add up to a total."""
        for leg in self.legs:
            both = leg.settled.all(axis=-1)
            if (leg.settled.any(axis=-1) != both).any():
                return False
            if (leg.payoffs[both].sum(axis=-1) != total).any():
                return False
        return True

    # ------------------------------------------------------------------ rules

    def locate(self, states: IntArray) -> Iterator[tuple[int, IntArray, IntArray, IntArray]]:
        """Sort states by leg: its number, which they are, their states of the turn, contexts."""
        legs = np.searchsorted(self.first_states, states, side="right") - 1
        for leg in np.flatnonzero(np.bincount(legs)).tolist():
            where = np.flatnonzero(legs == leg)
            inside = states[where] - self.first_states[leg]
            yield leg, where, *np.divmod(inside, self.num_contexts[leg])

    def observe(self, states: IntArray, seat: int) -> IntArray:
        """Give what is seen of turn and context; a state belongs to one seat only."""
        observations = np.empty((len(states), len(self.observation_sizes)), dtype=np.int64)
        for leg, where, in_turn, contexts in self.locate(states):
            turn, known = self.legs[leg].turn, self.legs[leg].contexts
            seen = [turn.observations[in_turn], known[contexts]]
            observations[where] = np.concatenate(seen, axis=1)
        return observations

    def encode(self, observations: IntArray) -> IntArray:
        """Give the state of each observation, -1 if there is none."""
        wanted = np.asarray(observations, dtype=np.int64)
        split = self.legs[0].turn.observations.shape[1]
        of_turn = _keys(wanted[..., :split], self.observation_sizes[:split])
        of_context = _keys(wanted[..., split:], self.observation_sizes[split:])
        states = np.full(wanted.shape[:-1], -1)
        for number, (turn, contexts) in enumerate(self._indices):
            in_turn, context = turn.find(of_turn), contexts.find(of_context)
            inside = in_turn * self.num_contexts[number] + context
            found = (in_turn >= 0) & (context >= 0)
            states = np.where(found, self.first_states[number] + inside, states)
        return states

    @cached_property
    def _indices(self) -> "list[tuple[_Index, _Index]]":
        """States of the turn and contexts of each leg by what is seen of them."""
        split = self.legs[0].turn.observations.shape[1]
        sizes = self.observation_sizes[:split], self.observation_sizes[split:]
        return [
            (_Index(_keys(leg.turn.observations, sizes[0])), _Index(_keys(leg.contexts, sizes[1])))
            for leg in self.legs
        ]

    def mask(self, states: IntArray) -> BoolArray:
        """Allow what the turns allow."""
        legal = np.empty((len(states), self.num_actions), dtype=bool)
        for leg, where, in_turn, _ in self.locate(states):
            legal[where] = np.take(self.legs[leg].turn.legal, in_turn, axis=0)
        return legal

    def initial_law(self) -> tuple[IntArray, Array]:
        """Roll for the first player."""
        turn = self.legs[0].turn
        outcomes = np.flatnonzero(turn.possible[0])
        return turn.rolled[0, outcomes], turn.probabilities[EXACT][turn.law[0], outcomes]

    def exact_laws(self) -> Array:
        """Give the laws of the rolls as fractions."""
        return self._laws(EXACT)

    def law(self, states: IntArray, actions: IntArray) -> IntArray:
        """Draw the mover's next roll, or the next player's first, or nothing."""
        rows = np.full(len(states), len(self.laws) - 1)
        for leg, where, in_turn, contexts in self.locate(states):
            turn, move = self.legs[leg].turn, (in_turn, actions[where])
            led_to, ends = turn.leads_to[move], turn.ends[move]
            rows[where[~ends]] = turn.law[led_to[~ends]]
            over = self.legs[leg].ends[led_to[ends], contexts[ends]]
            rows[where[ends][~over]] = turn.law[0]
        return rows

    def advance(
        self, seats: IntArray, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        """Go on with the turn, or end it and begin the next player's."""
        return self._advance(seats, states, actions, outcomes, FLOATS)

    def exact_advance(
        self, seats: IntArray, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        """Do the same, with payoffs as fractions."""
        return self._advance(seats, states, actions, outcomes, EXACT)

    def _advance(
        self,
        seats: IntArray,
        states: IntArray,
        actions: IntArray,
        outcomes: IntArray,
        arithmetic: Arithmetic,
    ) -> Move:
        seats, after_states = seats.copy(), np.zeros_like(states)
        payoffs = arithmetic.zeros(len(states), self.num_players)
        over = np.zeros((len(states), self.num_players), dtype=bool)
        for number, where, in_turn, contexts in self.locate(states):
            leg, move = self.legs[number], (in_turn, actions[where])
            led_to, ends = leg.turn.leads_to[move], leg.turn.ends[move]
            rolling, ended = where[~ends], where[ends]
            rolled = leg.turn.rolled[led_to[~ends], outcomes[rolling]]
            inside = rolled * self.num_contexts[number] + contexts[~ends]
            after_states[rolling] = self.first_states[number] + inside
            result = led_to[ends], contexts[ends]
            payoffs[ended], over[ended] = leg.paid[arithmetic][result], leg.settled[result]
            goes_on = ~leg.ends[result]
            entering, entered = ended[goes_on], leg.following[result][goes_on]
            legs, after_states[entering] = self.enter(entered, outcomes[entering])
            seats[entering] = self.seats[legs]
        return Move(seats, after_states, payoffs, over)

    def enter(self, contexts: IntArray, outcomes: IntArray) -> tuple[IntArray, IntArray]:
        """Give leg and state at the beginning of turns in contexts counted over all legs."""
        legs = np.searchsorted(self.first_contexts, contexts, side="right") - 1
        rolled = self._rolled[legs, outcomes]
        inside = rolled * self.num_contexts[legs] + contexts - self.first_contexts[legs]
        return legs, self.first_states[legs] + inside

    def stages(self) -> Sequence[tuple[int, IntArray]]:
        """List the layers of each leg."""
        return [
            (leg.seat, self.states_in(number, states))
            for number, leg in enumerate(self.legs)
            for _, states in leg.turn.slices
        ]

    def states_in(self, leg: int, in_turn: slice) -> IntArray:
        """Give some states of a leg's turn in all its contexts."""
        contexts = int(self.num_contexts[leg])
        first = int(self.first_states[leg])
        return np.arange(first + in_turn.start * contexts, first + in_turn.stop * contexts)


def _keys(seen: IntArray, sizes: Sequence[int]) -> IntArray:
    """Number observations, or parts of them, shape (..., component); -1 if one is out of range."""
    keys = np.zeros(seen.shape[:-1], dtype=np.int64)
    for column, size in zip(np.moveaxis(seen, -1, 0), sizes, strict=True):
        keys = keys * size + column
    return np.where(((seen >= 0) & (seen < np.array(sizes))).all(axis=-1), keys, -1)


class _Index:
    """Finds the places of numbers, shape (entry,), which are all different."""

    def __init__(self, keys: IntArray) -> None:
        self._order = np.argsort(keys)
        self._sorted = keys[self._order]

    def find(self, wanted: IntArray) -> IntArray:
        """Give the place of each number, -1 if it is not there."""
        place = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        return np.where(self._sorted[place] == wanted, self._order[place], -1)


def require_legs(legs: Sequence[Leg]) -> None:
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
