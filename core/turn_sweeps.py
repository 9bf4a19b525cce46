"""The sweeps of games of turns, a layer of a turn at a time.

The contexts of a leg are columns, so that one pass over the layers of its turn serves all that
belong to a block. Between legs a pass has one number a context (see ``turn_values``).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from typing_extensions import override

from .arithmetic import FLOATS, Arithmetic, Values
from .blocks import Block, Blocks, PayoffLaw
from .presentation import present
from .sweeps import Sweeps, sweeps_for
from .turn_game import TurnGame
from .turn_values import LegPart, TurnMass, TurnValues, parts_of
from .types import Array, Decide, IntArray, Start


class TurnGains(NamedTuple):
    """The worth of results, for ``TurnBlock.backward``."""

    later: Array  # (context,) value of the contexts of later blocks before the first roll
    around: Array | None = None  # (context,) values from which squared deviations are gained


class TurnBlock(Block):
    """Contexts of some legs; ``seats`` are one but for ``backward_together``."""

    def __init__(
        self, game: TurnGame, seats: int | list[int], arithmetic: Arithmetic, number: int
    ) -> None:
        self._game, self._seats, self._arithmetic = game, seats, arithmetic
        self._inside = game.blocks == number
        self._on = self._inside & ~game.is_cut  # contexts at which a pass does not stop
        within = np.split(self._inside, game.first_contexts[1:-1])  # by leg
        self._parts = [
            part for n, own in enumerate(within) for part in parts_of(game, n, arithmetic, own)
        ]
        reached = np.unique(np.concatenate([part.targets for part in self._parts]))
        self._later = reached[~self._inside[reached]]  # contexts of other blocks
        self.successors = np.unique(game.blocks[self._later]).tolist()
        self._cut = np.flatnonzero(self._inside & game.is_cut)
        self.is_swept_whole = not len(self._cut)
        self.pays_early = any(part.leg.pays_early for part in self._parts)
        self.groups, self.places = np.zeros_like(self._cut), np.arange(len(self._cut))

    @property
    @override
    def positions(self) -> list[tuple[int, IntArray]]:
        return [(part.leg.seat, part.states()) for part in self._parts]

    # ------------------------------------------------------------------ backward

    @override
    def gains(self, values: TurnValues | None) -> TurnGains | None:
        return None if values is None else TurnGains(values.numbers)

    @override
    def deviations(self, values: TurnValues, spreads: TurnValues) -> TurnGains:
        return TurnGains(spreads.numbers, around=values.numbers)

    @override
    def at_cut(self, values: TurnValues) -> Array:
        return values.numbers[self._cut]

    @override
    def backward(
        self, decide: Decide, gains: TurnGains | None, cut: Array, values: TurnValues | None = None
    ) -> Array:
        between = self._arithmetic.zeros(len(self._inside)) if gains is None else gains.later.copy()
        between[self._cut] = cut
        found = self._pass(decide, between, lambda part: self._ends(part, gains, between))
        if values is not None:
            values.numbers[self._inside] = between[self._inside]
        return found

    def backward_together(self, decide: Decide) -> Array:
        """Give values of all contexts before the first roll to several players, (seat, context)."""
        assert isinstance(self._seats, list)
        between = self._arithmetic.zeros(len(self._seats), len(self._inside))
        self._pass(decide, between, lambda part: part.worth(self._seats, between))
        return between

    def _ends(self, part: LegPart, gains: TurnGains | None, between: Array) -> Array:
        """Give what the results of a part are worth, (result, context)."""
        if gains is None:
            return part.ahead(self._seat, between)
        if gains.around is None:
            return part.worth(self._seat, between)
        away = part.worth(self._seat, gains.around) - gains.around[part.own]
        return away * away + part.ahead(self._seat, between)

    def _pass(self, decide: Decide, between: Array, ends: Callable[[LegPart], Array]) -> Array:
        """Sweep the legs last to first, given what the results of a part are worth (``ends``).

        ``between`` has the values before the first roll, shape (..., context), of the cut and of
        later blocks; the others are filled in.

        Returns:
            Values of the contexts of the cut as the pass finds them, shape (..., cut).
        """
        found = between.copy()
        for part in reversed(self._parts):
            _, start = part.backward(decide, ends(part))
            found[..., part.own] = start
            on = self._on[part.own]
            between[..., part.own[on]] = start[..., on]
        return found[..., self._cut]

    # ------------------------------------------------------------------ forward

    @override
    def returns(self, decide: Decide) -> Array:
        """Begin turns in points of the cut whose mass never meets side by side."""
        count = len(self._cut)
        chances = self._arithmetic.zeros(1, count, count)
        for points, origins in self._apart:
            entering = self._arithmetic.zeros(len(self._inside))
            entering[self._cut[points]] = self._arithmetic.number(1)
            for contexts, targets, led in self._turns(decide, entering):
                back = self._inside[targets] & self._game.is_cut[targets]
                places = np.searchsorted(self._cut, targets[back])
                np.add.at(chances[0], (origins[contexts[back]], places), led[back])
        return chances

    @cached_property
    def _apart(self) -> list[tuple[IntArray, IntArray]]:
        """Divide the cut into points that lead to different contexts.

        Each part has its points, and the point that leads to each context, (context,).
        """
        origins = np.zeros((len(self._cut), len(self._inside)), dtype=bool)
        origins[np.arange(len(self._cut)), self._cut] = True
        for part in self._parts:
            _, contexts, targets = part.leads_on(self._seat)
            on = self._on[targets]
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
    def arrive(self, decide: Decide, mass: TurnMass) -> Array:
        came = self._arithmetic.zeros(len(self._inside))
        for _, targets, led in self._turns(decide, mass.numbers.copy(), mass):
            back = self._inside[targets] & self._game.is_cut[targets]
            np.add.at(came, targets[back], led[back])
        return came[self._cut]

    @override
    def forward(
        self, decide: Decide, mass: TurnMass, returning: Array, law: PayoffLaw | None = None
    ) -> None:
        mass.numbers[self._cut] += returning
        for _, targets, led in self._turns(decide, mass.numbers, mass, law, mass.totals):
            leaves = ~self._inside[targets]
            np.add.at(mass.numbers, targets[leaves], led[leaves])

    def _turns(
        self,
        decide: Decide,
        entering: Array,
        mass: TurnMass | None = None,
        law: PayoffLaw | None = None,
        totals: Array | None = None,
    ) -> Iterator[tuple[IntArray, IntArray, Array]]:
        """Play the turns of all legs, first to last, with ``mass`` that no move has brought there.

        What turns lead to in the block, but not to its cut, is added to ``entering``, the mass
        before the first roll of each context; settled payoffs are added to ``law``, and the mass of
        the positions of each player to ``totals``.

        Yields:
            For each part of a leg where the game goes on: context, context that follows, and mass,
            each of shape (way,).
        """
        seat = self._seat
        for part in self._parts:
            begun = part.nothing() if mass is None else mass.begun(part)
            on = (entering[part.own] != 0) | (begun != 0).any(axis=0)
            if not on.any():
                continue
            part, begun = part.within(on), begun[:, on]  # the turns that games enter
            met, ended = part.forward(decide, begun, entering[part.own])
            if totals is not None:
                each = self._arithmetic.zeros(len(met.array), len(on))
                each[:, on] = met.array  # a sum of another shape has other last bits
                totals[part.leg.seat] += each.sum()
            if law is not None:
                law.add(*part.settled(seat, ended))
            results, contexts, targets = part.leads_on(seat)
            led = ended[results, contexts]
            on = self._on[targets]
            np.add.at(entering, targets[on], led[on])
            yield part.own[contexts], targets, led

    @property
    def _seat(self) -> int:
        """The only player for whom values are computed."""
        assert isinstance(self._seats, int)
        return self._seats

    # ------------------------------------------------------------------ rounding

    @override
    def roundings(self, decision: int, stay: float) -> float:
        """Count a payoff, one more roll, and the longest way, or the rolls of each decision.

        Where results pay early, each leg has a payoff and its sum with what follows.
        """
        more, each = 2 + int(self._game.laws.shape[1]), 2 * self.pays_early
        if self.is_swept_whole:
            return more + self._on_longest_way(
                [part.leg.turn.backward_roundings(decision) + each for part in self._parts]
            )
        rolls = len(self._game.legs[0].turn.first_roll(self._arithmetic)[0])
        return (stay + 1) * (1 + 2 * (rolls + 1) + decision)

    @override
    def forward_roundings(self, decision: int) -> int:
        """Count the longest way; to begin a turn takes some more."""
        entered = [part.leads_on(self._seat)[2] for part in self._parts]
        most = int(np.bincount(np.concatenate(entered)).max(initial=0)) + 3
        return self._on_longest_way(
            [part.leg.turn.forward_roundings(decision) + most for part in self._parts]
        )

    def _on_longest_way(self, roundings: Sequence[int]) -> int:
        """Add up roundings over legs that a game can go through before the cut: the largest sum."""
        longest = np.zeros(len(self._game.legs), dtype=np.int64)
        for part, own in reversed(list(zip(self._parts, roundings, strict=True))):
            on = part.targets[self._on[part.targets]]
            legs = np.searchsorted(self._game.first_contexts, on, side="right") - 1
            way = own + longest[legs].max(initial=0)
            longest[part.number] = max(longest[part.number], way)
        return int(longest.max())

    @override
    def describe_cut(self, point: int) -> str:
        roll = self._game.legs[0].turn.first_roll(self._arithmetic)[0][:1]
        (leg,), (state,) = self._game.enter(self._cut[[point]], roll)
        seat = self._game.legs[leg].seat
        seen = self._game.observe(np.array([state]), seat)[0]
        words = present(self._game).describe(seen)
        return f"player {seat} at the beginning of a turn: {words}"


@sweeps_for(TurnGame)
class TurnSweeps(Sweeps):
    """The sweeps of a game of turns."""

    game: TurnGame
    is_listed = False

    @override
    def blocks(self, seat: int, arithmetic: Arithmetic = FLOATS) -> Blocks:
        count = int(self.game.blocks.max()) + 1
        return Blocks(count, lambda number: TurnBlock(self.game, seat, arithmetic, number))

    @override
    def values(self, seat: int, decide: Decide, arithmetic: Arithmetic = FLOATS) -> Values:
        return TurnValues(self.game, seat, arithmetic, decide)

    @override
    def mass(
        self, decide: Decide, starts: Sequence[Start], arithmetic: Arithmetic = FLOATS
    ) -> Values:
        return TurnMass(self.game, arithmetic, decide, starts)

    @override
    def backward_together(
        self, decide: Decide, values: Mapping[int, Values], arithmetic: Arithmetic = FLOATS
    ) -> None:
        block = TurnBlock(self.game, list(values), arithmetic, 0)
        for found, row in zip(values.values(), block.backward_together(decide), strict=True):
            assert isinstance(found, TurnValues)
            found.numbers[:] = row
