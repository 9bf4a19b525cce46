"""One player's turn against chance.

The player rolls, chooses, rolls again, until the turn ends with a *result*. What it has put aside
is its *position*; a roll makes that a *node*, at which it chooses an action, which leads to a
position further on or ends the turn. What a result is worth depends on the *context* in which the
turn is played, such as a score to beat; what the player can do does not.

Let E(m, c) be the expected value in position m and context c, V(n, c) that in node n, U(r, c)
that of ending with result r, and p(o | m) the law of the roll. Then, with contexts as columns,

    E(m, .) = sum over o of p(o | m) V(node(m, o), .)        Q(n, a, .) = E(after(n, a), .)

where E(after) is U if the action ends the turn. Without rounding, values are computed as integers
over the denominator of all U times those of all rolls to come, which grows from layer to layer.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from .arithmetic import EXACT, FLOATS, Arithmetic, Array, Values
from .checks import require_turn
from .game import BoolArray, IntArray, frozen
from .sizes import PIECE


class Piece(NamedTuple):
    """Nodes of one layer of a turn."""

    nodes: slice
    scale: int  # what the numbers here are multiplied by, 1 in floats


#: What a sweep of a turn asks about some nodes (see ``game.Decide``).
DecideNodes: TypeAlias = Callable[[Piece, Array], Array]


@dataclass(frozen=True, eq=False)
class Turn:
    """One player's turn against chance.

    Positions are numbered in the order of their layers, from the start, position 0; nodes in the
    order of their positions.

    Attributes:
        rolls: counts of equally likely casts, shape (law, outcome), Python integers.
        layers: layer of each position, from 0 on, growing; actions lead to later layers.
        laws: row of ``rolls`` that the next roll of a position follows, shape (position,).
        nodes: node after each outcome, shape (position, outcome), -1 where it is impossible.
        after: shape (node, action): the position an action leads to; the number of positions
            plus the result if it ends the turn; -1 if it is illegal.
        observations: what the player sees of its turn, shape (node, component).
        num_results: results are 0, ..., num_results - 1.

    Raises:
        GameError: if the tables are not those of a turn that ends, naming the entry.
    """

    rolls: Array
    layers: IntArray
    laws: IntArray
    nodes: IntArray
    after: IntArray
    observations: IntArray
    num_results: int

    def __post_init__(self) -> None:
        require_turn(self)
        for table in (self.rolls, self.layers, self.laws, self.nodes, self.after):
            frozen(table)
        frozen(self.observations)

    @cached_property
    def num_positions(self) -> int:
        """Number of positions."""
        return len(self.layers)

    @cached_property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.after)

    @cached_property
    def legal(self) -> BoolArray:
        """Which actions are legal, shape (node, action)."""
        return frozen(self.after >= 0)

    @cached_property
    def slices(self) -> list[tuple[slice, slice]]:
        """Positions and nodes of each layer."""
        bounds = np.searchsorted(self.layers, np.arange(self.layers[-1] + 2))
        firsts = np.append(0, np.cumsum((self.nodes >= 0).sum(axis=1)))  # (position + 1,)
        return [
            (slice(i, j), slice(int(firsts[i]), int(firsts[j])))
            for i, j in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        ]

    @cached_property
    def probabilities(self) -> dict[Arithmetic, Array]:
        """Laws of the rolls in each arithmetic, shape (law, outcome)."""
        return {kind: frozen(kind.chances(self.rolls)) for kind in (FLOATS, EXACT)}

    def _pieces(self, nodes: slice, contexts: int) -> Iterator[slice]:
        """Cut a layer into pieces whose numbers for (node, action, context) are few."""
        step = max(1, PIECE // (self.after.shape[1] * contexts))
        for first in range(nodes.start, nodes.stop, step):
            yield slice(first, min(first + step, nodes.stop))

    def backward(
        self, decide: DecideNodes, ends: Array, arithmetic: Arithmetic = FLOATS
    ) -> tuple[Values, Array]:
        """Visit the layers last to first with the value of every action.

        Axes may precede those named here, the same ones everywhere.

        Args:
            decide: takes nodes and the values of their actions, shape (node, action, context),
                meaningless if illegal; gives the value of each node, shape (node, context). All
                are multiplied by the scale of the piece.
            ends: value of each result, shape (result, context), floats or fractions.
            arithmetic: of the values.

        Returns:
            Values of all nodes, shape (node, context), and before the first roll, (context,).
        """
        *before, _, contexts = ends.shape
        ends, scale = arithmetic.whole(ends)
        values = arithmetic.values(*before, self.num_nodes, contexts)
        unknown = arithmetic.zeros(*before, self.num_positions, contexts)
        reached = np.concatenate([unknown, ends], axis=-2)  # (position or result, context)
        for positions, nodes in reversed(self.slices):
            for piece in self._pieces(nodes, contexts):
                expected = np.take(reached, self.after[piece], axis=-2)
                decided = decide(Piece(piece, scale), expected)
                values.put((..., piece, slice(None)), decided, scale)
            laws, rows = np.unique(self.laws[positions], return_inverse=True)
            weights, unit = arithmetic.whole(self.probabilities[arithmetic][laws])
            following = np.take(values.numbers, self.nodes[positions], axis=-2)
            if unit > 1:
                reached[..., positions.stop :, :] *= unit
                scale *= unit
            reached[..., positions, :] = (weights[rows][..., None] * following).sum(axis=-2)
        return values.frozen(), arithmetic.unscaled(reached[..., 0, :], scale)

    def forward(
        self, decide: DecideNodes, start: Array, arithmetic: Arithmetic = FLOATS
    ) -> tuple[Array, Array]:
        """Visit the layers first to last, moving probability mass along.

        Args:
            decide: takes nodes and their mass, shape (node, context); gives the weight of every
                action, shape (node, action, context).
            start: mass that does not come from earlier layers, shape (node, context).
            arithmetic: of the mass.

        Returns:
            Mass of all nodes, shape (node, context), and of each result, (result, context).
        """
        mass = start.copy()
        reached = arithmetic.zeros(self.num_positions + self.num_results, start.shape[1])
        for layer, (positions, nodes) in enumerate(self.slices):
            if layer:
                chances = self.probabilities[arithmetic][self.laws[positions]][..., None]
                where = self.nodes[positions] >= 0
                mass[nodes] += (chances * reached[positions][:, None])[where]
            for piece in self._pieces(nodes, start.shape[1]):
                weights = decide(Piece(piece, 1), mass[piece])
                legal = self.legal[piece]
                np.add.at(reached, self.after[piece][legal], weights[legal])
        return mass, reached[self.num_positions :]
