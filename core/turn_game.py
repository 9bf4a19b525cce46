"""Games of turns: each player plays its turn against chance alone, and then results are compared.

A *leg* is one player's turn in the game (see ``Turn``). Its contexts are what the player may know
from the turns before, such as a score to beat. A result leads to a context of a later leg, or
settles the payoffs of some players, or both. A state of the game is a leg, a state of its turn and
a context. Where players see alike, each has a leg with the same states. In a game with cycles a
result may lead back: contexts then fall into blocks (see ``blocks``).

The value U(r, c) of a result is a settled payoff, or the value before the first roll of the leg
that it leads to, so that all legs, last to first, take one pass over their layers. Between legs
these are fractions, if they are not floats; a leg scales them by the denominators that they have.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import prod

import numpy as np

from .arithmetic import EXACT, FLOATS, Arithmetic
from .checks import at_least, entries, pair, require_count, require_size
from .contract import require_components
from .errors import SizeError
from .game import Game
from .leg import Leg, adds_up, extremes, require_legs, require_seats, require_seen
from .positions import places_in
from .sizes import show
from .types import Array, BoolArray, IntArray, Move, frozen


def keys_of(seen: IntArray, sizes: Sequence[int] | IntArray) -> IntArray:
    """Return a number for each observation, shape (..., component); -1 if it is out of range."""
    keys = np.ravel_multi_index(tuple(np.moveaxis(seen, -1, 0)), tuple(sizes), mode="clip")
    return np.where(((seen >= 0) & (seen < np.array(sizes))).all(axis=-1), keys, -1)


class Index:
    """Finds the index of a number in an array, shape (entry,), of different numbers."""

    def __init__(self, keys: IntArray) -> None:
        self._order = np.argsort(keys)
        self._sorted = keys[self._order]

    def find(self, wanted: IntArray) -> IntArray:
        """Return the index of each number, -1 if the array does not have it."""
        places = places_in(self._sorted, wanted)
        return np.where(places < 0, -1, self._order[places])


class TurnGame(Game):
    """A game of turns, given by its legs; subclasses build them and put them into words.

    Args:
        legs: so ordered that results lead to later legs, except in games with cycles. The game
            begins in the first context of the first leg; all begin with the same roll.
        num_players: number of seats.
        observed: name and number of values of each component of an observation.
        first_seen: the first of the components that tell the state of the turn; all others tell
            its context.

    Attributes:
        first_contexts: first context of each leg, counted over all legs, and last their number.
        blocks: block of each context, from 0 on, shape (context,), counted over all legs.
        bases: the state of the game that is state 0 of the turn in each context, shape (context,),
            counted over all legs.
        seats: player of each leg.
        seen_in_turn: the components of an observation that tell the state of the turn.
    """

    def __init__(
        self,
        legs: Sequence[Leg],
        num_players: int,
        observed: Sequence[tuple[str, int]],
        first_seen: int = 0,
    ) -> None:
        require_count("num_players", num_players)
        legs = entries("legs must be Legs, at least one", legs)
        require_seats(legs, num_players)
        require_legs(legs, self.has_cycles)
        turn = legs[0].turn
        self.legs: tuple[Leg, ...] = tuple(legs)
        self.num_players = num_players
        self.num_actions = turn.legal.shape[1]
        components = entries("observed must list components of observations", observed)
        pairs = [pair("observed must list pairs of name and size", each) for each in components]
        self.observation_names, self.observation_sizes = zip(*pairs, strict=True)
        require_components(self.observation_sizes, self.observation_names)
        numbers = prod(int(size) for size in self.observation_sizes)
        if numbers >= 2**63:  # ``encode`` tells observations by their numbers
            raise SizeError(
                f"sizes must be lower: observations could have {show(numbers)} values, and 2^63 "
                "or more have no numbers"
            )
        self._number_states()
        first_seen = at_least("first_seen", first_seen, 0)
        self.seen_in_turn = slice(first_seen, first_seen + turn.observations.shape[1])
        require_seen(legs, np.array(self.observation_sizes), self._columns)
        self._rolled = np.stack([leg.turn.rolled[0] for leg in legs])  # (leg, outcome)
        self.laws = frozen(self._laws(FLOATS))
        self._range = low, high = extremes(legs)
        require_size(max(abs(low), abs(high)))
        self.payoff_range = (float(low), float(high))
        self.zero_sum = num_players == 2 and adds_up(legs, low + high)

    def _number_states(self) -> None:
        """Number contexts and states: those of each group of contexts are in a row."""
        legs = self.legs
        self.seats = np.array([leg.seat for leg in legs])
        self.first_contexts = np.append(0, np.cumsum([len(leg.contexts) for leg in legs]))
        self._widths = np.array([leg.width for leg in legs])
        starts, bases, self.num_states = [], [], 0
        for leg in legs:
            starts.append(np.array([self.num_states]) if leg.starts is None else leg.starts)
            bases.append((starts[-1][:, None] + np.arange(leg.width)).ravel())
            end = int(starts[-1].max()) + leg.turn.num_states * leg.width
            self.num_states = max(self.num_states, end)
        self.bases = np.concatenate(bases)
        blocks = [np.zeros(len(leg.contexts)) if leg.blocks is None else leg.blocks for leg in legs]
        self.blocks = np.unique(np.concatenate(blocks), return_inverse=True)[1]
        self._starts = np.unique(np.concatenate(starts))
        self._groups = np.full((self.num_players, len(self._starts), 2), -1)  # leg, first context
        for number, (leg, own) in enumerate(zip(legs, starts, strict=True)):
            groups = np.searchsorted(self._starts, own)
            self._groups[leg.seat, groups, 0] = number
            self._groups[leg.seat, groups, 1] = np.arange(len(own)) * leg.width
        owners = (self._groups[..., 0] >= 0).argmax(axis=0)
        self._first_groups = self._groups[owners, np.arange(len(owners))]  # of the first player

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

    def locate(
        self, states: IntArray, seats: IntArray | None = None
    ) -> Iterator[tuple[int, IntArray, IntArray, IntArray]]:
        """Sort states by leg: its number, which they are, their states of the turn, contexts.

        ``seats`` says whose they are, if players have states in common.
        """
        groups = np.searchsorted(self._starts, states, side="right") - 1
        located = np.take(self._first_groups, groups, axis=0)  # many times as fast as indexing
        if seats is not None:
            own = self._groups[seats, groups]
            located = np.where(own < 0, located, own)
        legs, firsts = located[..., 0], located[..., 1]
        for leg in np.flatnonzero(np.bincount(legs)).tolist():
            where = np.flatnonzero(legs == leg)
            inside = states[where] - self._starts[groups[where]]
            in_turn = inside // self._widths[leg]  # several times as fast as divmod
            contexts = inside - in_turn * self._widths[leg]
            yield leg, where, in_turn, firsts[where] + contexts

    def observe(self, states: IntArray, seat: int) -> IntArray:
        """Give what is seen of turn and context; players with the same states see alike."""
        observations = np.empty((len(states), len(self.observation_sizes)), dtype=np.int64)
        turn_columns, context_columns = self._columns
        for leg, where, in_turn, contexts in self.locate(states):
            seen = np.empty((len(where), observations.shape[1]), dtype=np.int64)
            seen[:, turn_columns] = np.take(self.legs[leg].turn.observations, in_turn, axis=0)
            seen[:, context_columns] = np.take(self.legs[leg].contexts, contexts, axis=0)
            observations[where] = seen  # whole rows are written faster than some columns of them
        return observations

    @cached_property
    def _columns(self) -> tuple[IntArray, IntArray]:
        """Components of an observation that tell the state of the turn, and the context."""
        every = np.arange(len(self.observation_sizes))
        return every[self.seen_in_turn], np.delete(every, self.seen_in_turn)

    def encode(self, observations: IntArray) -> IntArray:
        """Give the state of each observation, -1 if there is none."""
        wanted = np.asarray(observations, dtype=np.int64)
        sizes = np.array(self.observation_sizes)
        of_turn, of_context = (keys_of(wanted[..., own], sizes[own]) for own in self._columns)
        states = np.full(wanted.shape[:-1], -1)
        for number, (turn, contexts) in self._indices.items():
            in_turn, context = turn.find(of_turn), contexts.find(of_context)
            base = self.bases[self.first_contexts[number] + np.maximum(context, 0)]
            found = (in_turn >= 0) & (context >= 0)
            states = np.where(found, base + in_turn * self._widths[number], states)
        return states

    @cached_property
    def _indices(self) -> "dict[int, tuple[Index, Index]]":
        """States of the turn and contexts by what is seen of them, by leg with own states."""
        found, sizes = {}, np.array(self.observation_sizes)
        of_turn, of_context = (sizes[own] for own in self._columns)
        for number in np.unique(self._first_groups[:, 0]).tolist():
            turn = Index(keys_of(self.legs[number].turn.observations, of_turn))
            found[number] = turn, Index(keys_of(self.legs[number].contexts, of_context))
        return found

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
        _, states = self.enter(np.zeros_like(outcomes), outcomes)
        return states, turn.probabilities[EXACT][turn.law[0], outcomes]

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
        for number, where, in_turn, contexts in self.locate(states, seats):
            leg, move = self.legs[number], (in_turn, actions[where])
            led_to, ends = leg.turn.leads_to[move], leg.turn.ends[move]
            rolling, ended = where[~ends], where[ends]
            rolled = leg.turn.rolled[led_to[~ends], outcomes[rolling]]
            base = self.bases[self.first_contexts[number] + contexts[~ends]]
            after_states[rolling] = base + rolled * leg.width
            result = led_to[ends], contexts[ends]
            payoffs[ended], over[ended] = leg.paid(arithmetic)[result], leg.settled[result]
            goes_on = ~leg.ends[result]
            entering, entered = ended[goes_on], leg.following[result][goes_on]
            legs, after_states[entering] = self.enter(entered, outcomes[entering])
            seats[entering] = self.seats[legs]
        return Move(seats, after_states, payoffs, over)

    def enter(self, contexts: IntArray, outcomes: IntArray) -> tuple[IntArray, IntArray]:
        """Give leg and state at the beginning of turns in contexts counted over all legs."""
        legs = np.searchsorted(self.first_contexts, contexts, side="right") - 1
        return legs, self.bases[contexts] + self._rolled[legs, outcomes] * self._widths[legs]

    def stages(self) -> Sequence[tuple[int, IntArray]]:
        """List the layers of each leg."""
        return [
            (leg.seat, self.states_in(number, states))
            for number, leg in enumerate(self.legs)
            for _, states in leg.turn.slices
        ]

    def states_in(
        self, leg: int, in_turn: slice, contexts: "IntArray | slice" = slice(None)
    ) -> IntArray:
        """Give some states of a leg's turn in some of its contexts, shape (state * context,)."""
        bases = self.bases[slice(*self.first_contexts[leg : leg + 2])][contexts]
        inside = np.arange(in_turn.start, in_turn.stop) * self._widths[leg]
        return (inside[:, None] + bases).ravel()

    def block(self, seat: int, states: IntArray) -> tuple[IntArray, BoolArray]:
        """Give blocks of contexts; the cut is what follows the first roll where moves lead back."""
        blocks, cut = np.empty_like(states), np.empty(len(states), dtype=bool)
        for number, where, in_turn, contexts in self.locate(states, np.full_like(states, seat)):
            every = self.first_contexts[number] + contexts
            blocks[where] = self.blocks[every]
            begins = in_turn < self.legs[number].turn.possible[0].sum()
            cut[where] = begins & self.is_cut[every]
        return blocks, cut

    @cached_property
    def is_cut(self) -> BoolArray:
        """Whether a result of the same leg or of a later one leads back to a context of its block.

        Shape (context,), counted over all legs.
        """
        cut, blocks = np.zeros(len(self.blocks), dtype=bool), self.blocks
        for leg, (first, after) in zip(self.legs, pairwise(self.first_contexts), strict=True):
            result, context = np.nonzero(~leg.ends & (leg.following < after))
            targets = leg.following[result, context]
            cut[targets[blocks[targets] == blocks[first + context]]] = True
        return frozen(cut)
