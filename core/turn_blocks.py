"""The blocks of games of turns, swept a layer of a turn at a time.

The contexts of a leg are columns, so that one pass over the layers of its turn serves all that
belong to a block. Between legs a pass has one number a context: backward the value before the first
roll, forward the mass that enters.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from typing_extensions import override

from .arithmetic import Arithmetic
from .blocks import Block
from .leg_part import LegPart, parts_of
from .turn import Piece
from .turn_game import TurnGame
from .types import Array, Decide, IntArray, Stage
from .values import Values


class TurnBlock(Block):
    """Contexts of some legs.

    Args:
        game: the rules.
        seats: for whom values are computed: one but for ``backward_together``.
        arithmetic: of values and mass.
        blocks: block of each context, shape (context,), counted over all legs.
        number: which of them is meant.
    """

    def __init__(
        self,
        game: TurnGame,
        seats: Sequence[int],
        arithmetic: Arithmetic,
        blocks: IntArray,
        number: int,
    ) -> None:
        self._game, self._seats, self._arithmetic = game, list(seats), arithmetic
        self._inside = blocks == number
        self._parts = parts_of(game, self._inside)
        reached = np.unique(np.concatenate([part.targets for part in self._parts]))
        self._later = reached[~self._inside[reached]]  # contexts of other blocks
        self.successors = np.unique(blocks[self._later]).tolist()
        self._cut = np.flatnonzero(self._inside & game.is_cut)
        self.is_swept_whole = not len(self._cut)
        self.groups, self.places = np.zeros_like(self._cut), np.arange(len(self._cut))
        turn = game.legs[0].turn
        self._rolls = np.flatnonzero(turn.possible[0])
        self._first_law = turn.probabilities[arithmetic][turn.law[0]][self._rolls]

    @property
    @override
    def stages(self) -> list[Stage]:
        return [
            part.stage(slice(0, part.leg.turn.num_states), self._arithmetic) for part in self._parts
        ]

    def _entered(self, contexts: IntArray) -> tuple[IntArray, IntArray]:
        """Give the positions after the first roll, arrays of shape (context, roll)."""
        every = np.repeat(contexts, len(self._rolls))
        legs, states = self._game.enter(every, np.tile(self._rolls, len(contexts)))
        shape = len(contexts), len(self._rolls)
        return self._game.seats[legs].reshape(shape), states.reshape(shape)

    # ------------------------------------------------------------------ backward

    @override
    def gains(self, values: Values | None) -> Array | None:
        """Compute the value of each context of later blocks before the first roll, (context,)."""
        if values is None:
            return None
        entries = self._arithmetic.zeros(len(self._inside))
        entries[self._later] = self._before_roll(self._later, values)
        return entries

    def _before_roll(self, contexts: IntArray, values: Values) -> Array:
        """Average the values of contexts over the first roll, shape (context,)."""
        mean: Array = (values[self._entered(contexts)] * self._first_law).sum(axis=-1)
        return mean

    @override
    def at_cut(self, values: Values) -> Array:
        return self._before_roll(self._cut, values)

    @override
    def backward(
        self, decide: Decide, gains: Array | None, cut: Array, values: Values | None = None
    ) -> Array:
        def decide_alone(stage: Stage, expected: Array) -> Array:
            decided = decide(stage, expected[0])
            if values is not None:
                values.put(_in_a_row(stage), decided, stage.scale)
            return decided[None]

        entries = self._arithmetic.zeros(len(self._inside)) if gains is None else gains.copy()
        entries[self._cut] = cut
        found = self._pass(decide_alone, entries[None], pays=gains is not None)
        picked: Array = found[0, self._cut]
        return picked

    def backward_together(self, decide: Decide, values: Values) -> None:
        """Fill in values for all seats (see ``Sweeps.backward_together``)."""

        def decide_and_keep(stage: Stage, expected: Array) -> Array:
            decided = decide(stage, expected)
            values.put((..., *_in_a_row(stage)), decided, stage.scale)
            return decided

        entries = self._arithmetic.zeros(len(self._seats), len(self._inside))
        self._pass(decide_and_keep, entries, pays=True)

    def _pass(self, decide: Decide, entries: Array, pays: bool) -> Array:
        """Sweep the legs last to first.

        Args:
            decide: takes expected values, shape (seat, state, action).
            entries: values of contexts before the first roll, shape (seat, context): those of the
                cut and of later blocks. The others are filled in.
            pays: whether settled payoffs count.

        Returns:
            Values of the cut's contexts as the pass finds them, among others, (seat, context).
        """
        found, in_cut = entries.copy(), self._game.is_cut
        for part in reversed(self._parts):

            def decide_states(piece: Piece, expected: Array, part: LegPart = part) -> Array:
                rows, count, actions, columns = expected.shape  # (seat, state, action, context)
                stage = part.stage(piece.states, self._arithmetic, piece.scale)
                by_state = expected.swapaxes(2, 3).reshape(rows, count * columns, actions)
                return decide(stage, by_state).reshape(rows, count, columns)

            settled, nothing = part.settled(self._seats), self._arithmetic.number(0)
            paid = part.paid(self._seats, self._arithmetic) if pays else nothing
            ends = np.where(settled, paid, entries[:, part.following])
            _, start = part.leg.turn.backward(decide_states, ends, self._arithmetic)
            found[:, part.own] = start
            entries[:, part.own] = np.where(in_cut[part.own], entries[:, part.own], start)
        return found

    # ------------------------------------------------------------------ forward

    @override
    def returns(self, decide: Decide) -> Array:
        """Begin turns in points of the cut whose mass never meets side by side."""
        count = len(self._cut)
        chances = self._arithmetic.zeros(1, count, count)
        for points, origins in self._apart:
            entering = self._arithmetic.zeros(len(self._inside))
            entering[self._cut[points]] = self._arithmetic.number(1)
            for contexts, targets, mass in self._follow(decide, entering, None):
                back = self._game.is_cut[targets] & self._inside[targets]
                places = np.searchsorted(self._cut, targets[back])
                np.add.at(chances[0], (origins[contexts[back]], places), mass[back])
        return chances

    @cached_property
    def _apart(self) -> list[tuple[IntArray, IntArray]]:
        """Divide the cut into points that lead to different contexts.

        Returns:
            For each part its points, and the point that leads to each context, (context,).
        """
        origins = np.zeros((len(self._cut), len(self._inside)), dtype=bool)
        origins[np.arange(len(self._cut)), self._cut] = True
        for part in self._parts:
            _, contexts, targets = part.leads_on(self._seats[0])
            on = self._inside[targets] & ~self._game.is_cut[targets]
            np.logical_or.at(origins.T, targets[on], origins.T[part.own[contexts[on]]])
        parts: list[tuple[IntArray, IntArray]] = []
        left = np.arange(len(self._cut))
        while len(left):
            taken, chosen = np.zeros(len(self._inside), dtype=bool), []
            for point in left.tolist():
                if not (taken & origins[point]).any():
                    chosen.append(point)
                    taken |= origins[point]
            points = np.array(chosen)
            parts.append((points, points[origins[points].argmax(axis=0)]))
            left = np.setdiff1d(left, points)
        return parts

    @override
    def arrive(self, decide: Decide, mass: Array) -> Array:
        return self._flow(decide, mass.copy(), self._arithmetic.zeros(len(self._cut)))[self._cut]

    @override
    def forward(self, decide: Decide, mass: Array, returning: Array) -> None:
        came = self._flow(decide, mass, returning)
        entered = self._later[came[self._later] != 0]
        entering = came[entered][:, None] * self._first_law
        np.add.at(mass, self._entered(entered), entering)

    def _flow(self, decide: Decide, mass: Array, returning: Array) -> Array:
        """Follow mass, which all mass of the block replaces; give what comes to contexts.

        Returns:
            What comes to points of the cut and to contexts of later blocks, shape (context,).
        """
        entering = self._arithmetic.zeros(len(self._inside))
        entering[self._cut] = returning
        came = np.zeros_like(entering)
        for _, targets, led in self._follow(decide, entering, mass):
            stops = ~self._inside[targets] | self._game.is_cut[targets]
            np.add.at(came, targets[stops], led[stops])
        return came

    def _follow(
        self, decide: Decide, entering: Array, mass: Array | None
    ) -> list[tuple[IntArray, IntArray, Array]]:
        """Play the turns of all legs, first to last.

        Args:
            decide: as in ``forward``.
            entering: mass before the first roll of each context; what turns lead to in the block,
                but not to its cut, is added.
            mass: of positions, which all mass of the block replaces; None for nothing.

        Returns:
            For each leg where the game goes on: context, context that follows, mass, each (way,).
        """
        followed = []
        for part in self._parts:
            leg = part.leg
            begun = self._arithmetic.zeros(leg.turn.num_states, len(part.own))
            positions = leg.seat, part.states(slice(0, leg.turn.num_states))
            if mass is not None:
                begun += mass[positions].reshape(begun.shape)
            first_states = leg.turn.rolled[0, self._rolls]
            begun[first_states] += self._first_law[:, None] * entering[part.own]
            met, ended = leg.turn.forward(self._divide(decide, part), begun, self._arithmetic)
            if mass is not None:
                mass[positions] = met.array.ravel()
            results, contexts, targets = part.leads_on(self._seats[0])
            led = ended[results, contexts]
            followed.append((part.own[contexts], targets, led))
            on = self._inside[targets] & ~self._game.is_cut[targets]
            np.add.at(entering, targets[on], led[on])
        return followed

    def _divide(self, decide: Decide, part: LegPart) -> Callable[[Piece, Array], Array]:
        def divide(piece: Piece, met: Array) -> Array:
            stage = part.stage(piece.states, self._arithmetic)
            weights = decide(stage, self._arithmetic.unscaled(met.ravel(), piece.scale))
            whole: Array = self._arithmetic.scaled(weights, piece.scale)  # (state, action)
            return whole.reshape(*met.shape, self._game.num_actions).swapaxes(1, 2)

        return divide

    # ------------------------------------------------------------------ rounding

    @override
    def roundings(self, decision: int, stay: float) -> float:
        """Count a payoff, one more roll, and the longest way, or the rolls of each decision."""
        more = 2 + int(self._game.laws.shape[1])
        if self.is_swept_whole:
            return more + self._on_longest_way(
                [part.leg.turn.backward_roundings(decision) for part in self._parts]
            )
        return (stay + 1) * (1 + 2 * (len(self._first_law) + 1) + decision)

    @override
    def forward_roundings(self, decision: int) -> int:
        """Count the longest way; to begin a turn takes some more."""
        entered = [part.leads_on(self._seats[0])[2] for part in self._parts]
        most = int(np.bincount(np.concatenate(entered)).max(initial=0)) + 3
        return self._on_longest_way(
            [part.leg.turn.forward_roundings(decision) + most for part in self._parts]
        )

    def _on_longest_way(self, roundings: Sequence[int]) -> int:
        """Add up roundings over legs that a game can go through before the cut: the largest sum."""
        longest = np.zeros(len(self._game.legs), dtype=np.int64)
        for part, own in reversed(list(zip(self._parts, roundings, strict=True))):
            targets = part.targets
            on = targets[self._inside[targets] & ~self._game.is_cut[targets]]
            legs = np.searchsorted(self._game.first_contexts, on, side="right") - 1
            longest[part.number] = own + longest[legs].max(initial=0)
        return int(longest.max())

    @override
    def describe_cut(self, point: int) -> str:
        context = self._cut[point]
        (seat,), (state,) = (column[:, 0] for column in self._entered(np.array([context])))
        seen = self._game.observe(np.array([state]), int(seat))[0]
        return f"player {seat} at the beginning of a turn: {self._game.describe(seen)}"


def _in_a_row(stage: Stage) -> tuple[int, IntArray | slice]:
    """Give the index of the positions of a stage, as a slice if its states are in a row."""
    first, last = int(stage.states[0]), int(stage.states[-1])
    in_a_row = last - first == len(stage.states) - 1
    return stage.seat, slice(first, last + 1) if in_a_row else stage.states
