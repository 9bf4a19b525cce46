"""One player's turn against chance.

The player rolls, chooses, rolls again, until the turn ends with a *result*. Before a roll it is in
an *afterstate*: what it has put aside. The roll makes that a *state of the turn*, in which it
chooses an action, which leads to an afterstate further on or ends the turn. What a result is worth
depends on the *context* in which the turn is played, such as a score to beat; what the player can
do does not.

Let E(m, c) be the expected value in afterstate m and context c, V(s, c) that in state s, U(r, c)
that of ending with result r, and p(o | m) the law of the roll. Then, with contexts as columns,

    E(m, .) = sum over o of p(o | m) V(s(m, o), .)       Q(s, a, .) = E(m(s, a), .) or U(r(s, a), .)

Without rounding, values are computed as integers over the denominator of all U times those of all
rolls to come, which grows from layer to layer.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from .arithmetic import EXACT, FLOATS, Arithmetic, Values
from .checks import is_whole, require_below, require_count, require_tables
from .errors import GameError
from .sizes import PIECE
from .types import Array, BoolArray, IntArray, frozen

#: Kind and axes of each table of a turn (see ``require_tables``).
FORMS = {
    "rolls": ("fractions", "law", "outcome"),
    "layers": ("integers", "afterstate"),
    "law": ("integers", "afterstate"),
    **dict.fromkeys(("legal", "ends"), ("bool", "state", "action")),
    "leads_to": ("integers", "state", "action"),
    "observations": ("integers", "state", "component"),
}


class Piece(NamedTuple):
    """States of one layer of a turn."""

    states: slice
    scale: int  # what the numbers here are multiplied by, 1 in floats


#: What a sweep of a turn asks about some states (see ``game.Decide``).
DecideStates: TypeAlias = Callable[[Piece, Array], Array]


@dataclass(frozen=True, eq=False)
class Turn:
    """One player's turn against chance.

    Afterstates are numbered in the order of their layers, from the start, afterstate 0; states in
    the order of their afterstates, and for each in the order of the outcomes that are possible.

    Attributes:
        rolls: counts of equally likely casts, shape (law, outcome), Python integers.
        layers: layer of each afterstate, from 0 on, never falling; several afterstates may share
            a layer, and actions lead to later layers.
        law: row of ``rolls`` that the next roll follows, shape (afterstate,).
        legal: whether an action is legal, shape (state, action).
        ends: whether it ends the turn, of the same shape.
        leads_to: the afterstate that it leads to or, where it ends the turn, the result; 0 where
            it is illegal. Of the same shape.
        observations: what the player sees of its turn, shape (state, component).
        num_results: results are 0, ..., num_results - 1.

    Raises:
        GameError: if the tables are not those of a turn that ends, naming the entry.
    """

    rolls: Array
    layers: IntArray
    law: IntArray
    legal: BoolArray
    ends: BoolArray
    leads_to: IntArray
    observations: IntArray
    num_results: int

    def __post_init__(self) -> None:
        require_tables(self, FORMS)
        require_count("num_results", self.num_results)
        require_count("number of afterstates", self.num_afterstates)
        require_below("layers must be", self.layers, self.num_afterstates)
        require_below("law must be rows of rolls", self.law, len(self.rolls))
        counts = all(map(is_whole, self.rolls.flat))
        if not counts or (self.rolls < 0).any() or not self.possible.any(axis=1).all():
            raise GameError("rolls must be counts, of which each law has some above 0")
        if (np.diff(self.layers) < 0).any():
            raise GameError("layers must grow with the afterstates")
        if self.possible.sum() != self.num_states:
            raise GameError(
                "states must be the possible outcomes of all afterstates, "
                f"{self.possible.sum()}, got {self.num_states}"
            )
        if not self.legal.any(axis=1).all():
            raise GameError("legal must give each state an action")
        number = np.where(self.ends, self.num_results, self.num_afterstates)
        beyond = (self.leads_to < 0) | (self.leads_to >= np.where(self.legal, number, 1))
        for state, action in np.argwhere(beyond)[:1].tolist():
            raise GameError(
                f"leads_to must be an afterstate below {self.num_afterstates} or a result below "
                f"{self.num_results}, and 0 if illegal, got {self.leads_to[state, action]} for "
                f"action {action} in state {state}"
            )
        before = np.repeat(np.arange(self.num_afterstates), self.possible.sum(axis=1))  # (state,)
        layer_ends = np.searchsorted(self.layers, self.layers[before], side="right")[:, None]
        circles = self.legal & ~self.ends & (self.leads_to < layer_ends)
        for state, action in np.argwhere(circles)[:1].tolist():
            raise GameError(
                f"an action must lead to a later layer or end the turn, got action {action} in "
                f"state {state}, which leads from afterstate {before[state]} to "
                f"{self.leads_to[state, action]}"
            )
        for name in FORMS:
            frozen(getattr(self, name))

    @property
    def num_afterstates(self) -> int:
        """Number of afterstates."""
        return len(self.layers)

    @property
    def num_states(self) -> int:
        """Number of states."""
        return len(self.legal)

    @cached_property
    def possible(self) -> BoolArray:
        """Whether an outcome is possible, shape (afterstate, outcome)."""
        return frozen((self.rolls > 0)[self.law])

    @cached_property
    def rolled(self) -> IntArray:
        """State that each possible outcome makes of an afterstate, shape (afterstate, outcome)."""
        number = np.cumsum(self.possible) - 1
        return frozen(number.reshape(self.possible.shape))

    @cached_property
    def slices(self) -> list[tuple[slice, slice]]:
        """Afterstates and states of each layer."""
        bounds = np.searchsorted(self.layers, np.arange(self.layers[-1] + 2))
        firsts = np.append(0, np.cumsum(self.possible.sum(axis=1)))  # (afterstate + 1,)
        return [
            (slice(i, j), slice(int(firsts[i]), int(firsts[j])))
            for i, j in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        ]

    @cached_property
    def probabilities(self) -> dict[Arithmetic, Array]:
        """Laws of the rolls in each arithmetic, shape (law, outcome)."""
        return {kind: frozen(kind.chances(self.rolls)) for kind in (FLOATS, EXACT)}

    def first_roll(self, arithmetic: Arithmetic) -> tuple[IntArray, Array]:
        """Give the states after the first roll, and their probabilities, both of shape (state,)."""
        rolls = np.flatnonzero(self.possible[0])
        return self.rolled[0, rolls], self.probabilities[arithmetic][self.law[0], rolls]

    def _pieces(self, states: slice, contexts: int) -> Iterator[slice]:
        """Cut a layer into pieces whose numbers for (state, action, context) are few."""
        step = max(1, PIECE // (self.legal.shape[1] * contexts))
        for first in range(states.start, states.stop, step):
            yield slice(first, min(first + step, states.stop))

    def _reached(self, states: slice) -> IntArray:
        """Give the afterstate, or num_afterstates + the result, of actions: (state, action)."""
        return self.leads_to[states] + self.num_afterstates * self.ends[states]

    def backward(
        self, decide: DecideStates, ends: Array, arithmetic: Arithmetic = FLOATS
    ) -> tuple[Values, Array]:
        """Visit the layers last to first with the value of every action.

        All arrays may have the same further axes before the axes named here.

        Args:
            decide: takes states and the values of their actions, shape (state, action, context),
                meaningless if illegal; gives the value of each state, shape (state, context). All
                are multiplied by the scale of the piece.
            ends: value of each result, shape (result, context), floats or fractions.
            arithmetic: of the values.

        Returns:
            Values of all states, shape (state, context), and before the first roll, (context,).
        """
        *before, _, contexts = ends.shape
        ends, scale = arithmetic.whole(ends)
        values = arithmetic.values(*before, self.num_states, contexts)
        unknown = arithmetic.zeros(*before, self.num_afterstates, contexts)
        later = np.concatenate([unknown, ends], axis=-2)  # (afterstate or result, context)
        for afterstates, states in reversed(self.slices):
            for piece in self._pieces(states, contexts):
                expected = np.take(later, self._reached(piece), axis=-2)
                decided = decide(Piece(piece, scale), expected)
                values.put((..., piece, slice(None)), decided, scale)
            laws, rows = np.unique(self.law[afterstates], return_inverse=True)
            weights, unit = arithmetic.whole(self.probabilities[arithmetic][laws])
            rolled = np.take(values.numbers, self.rolled[afterstates], axis=-2)
            if unit > 1:
                later[..., afterstates.stop :, :] *= unit
                scale *= unit
            later[..., afterstates, :] = (weights[rows][..., None] * rolled).sum(axis=-2)
        return values.frozen(), arithmetic.unscaled(later[..., 0, :], scale)

    def backward_roundings(self, decision: int) -> int:
        """Bound the roundings of one pass (see ``Block.roundings``).

        A roll takes that of a probability, of a product, and of each addition.
        """
        return len(self.slices) * (int(self.rolls.shape[1]) + 1 + decision)

    def forward_roundings(self, decision: int) -> int:
        """Bound the roundings of one pass (see ``Block.forward_roundings``).

        A layer takes those of a decision, of the probability of a roll and the product with it, and
        of each addition: to what begins in a state, and of all that comes to an afterstate.
        """
        reached = self._reached(slice(0, self.num_states))[self.legal]
        return len(self.slices) * (decision + 4 + int(np.bincount(reached).max()))

    def forward(
        self, decide: DecideStates, start: Array, arithmetic: Arithmetic = FLOATS
    ) -> tuple[Values, Array]:
        """Visit the layers first to last, moving probability mass along.

        Args:
            decide: takes states and their mass, shape (state, context); gives the weight of every
                action, shape (state, action, context). All are multiplied by the scale of the
                piece.
            start: mass that does not come from earlier layers, shape (state, context).
            arithmetic: of the mass.

        Returns:
            Mass of all states, shape (state, context), and of each result, (result, context).
        """
        start, scale = arithmetic.whole(start)
        contexts = start.shape[1]
        mass, rolls = arithmetic.values(*start.shape), 1  # of all layers so far
        reached = arithmetic.zeros(self.num_afterstates + self.num_results, contexts)
        for layer, (afterstates, states) in enumerate(self.slices):
            met = start[states] * rolls
            if layer:
                laws, rows = np.unique(self.law[afterstates], return_inverse=True)
                weights, unit = arithmetic.whole(self.probabilities[arithmetic][laws])
                rolled = weights[rows][..., None] * reached[afterstates][:, None]
                if unit > 1:
                    reached[afterstates.stop :] *= unit
                    met, rolls = met * unit, rolls * unit
                met = met + rolled[self.possible[afterstates]]
            mass.put((states, slice(None)), met, scale * rolls)
            for piece in self._pieces(states, contexts):
                inside = met[piece.start - states.start : piece.stop - states.start]
                decided = decide(Piece(piece, scale * rolls), inside)
                legal = self.legal[piece]
                places = self._reached(piece)[legal][:, None] * contexts + np.arange(contexts)
                # Numpy adds numbers several times as fast as rows.
                np.add.at(reached.reshape(-1), places.reshape(-1), decided[legal].reshape(-1))
        ended: Array = arithmetic.unscaled(reached[self.num_afterstates :], scale * rolls)
        return mass, ended
