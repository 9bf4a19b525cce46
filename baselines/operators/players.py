"""The players of a sweep: at each stage a player follows a policy or takes the best action."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from ...core import FLOATS, Arithmetic, Array, Game, InputError, IntArray, Stage, Sweeps
from ...core.contract import require_worst
from ...core.game import ListedGame
from ...core.positions import legal_in
from ...core.types import Fold
from ..policies.kinds import Policy


def range_of_values(
    law: Sweeps, seat: int, arithmetic: Arithmetic, masked: bool
) -> tuple[Any, Any]:
    """Give the range that holds the values of all positions to a seat.

    A policy that is not held to the legal actions may get the worst payoff after a payment; of a
    process some policies are paid less than the range of payoffs says.
    """
    if law.game.is_process:
        return -inf, inf
    payoffs = arithmetic.payoff_range(law.game)
    if masked or not law.pays_early(seat):
        return payoffs
    low, high = payoffs
    return 2 * low - high, high


def with_illegal(game: Game, stage: Stage, expected: Array, arithmetic: Arithmetic) -> Array:
    """Set the values of illegal actions, (state, action), to the worst payoff."""
    worst = arithmetic.scaled(arithmetic.payoff_range(game)[0], stage.scale)
    return np.where(legal_in(game, stage), expected, worst[:, None])


def one_hot(actions: IntArray, num_actions: int) -> IntArray:
    """Return 1 for the action of each state and 0 for all others, shape (state, action)."""
    return (np.arange(num_actions) == actions[:, None]).astype(np.int64)


def no_choices(game: Game, *players: int) -> IntArray:
    """Return an array for an action in every state, filled with -1, shape (..., state).

    Its dtype is the smallest integer type that holds all actions.
    """
    small = np.min_scalar_type(-game.num_actions)
    return np.full((*players, game.num_states), -1, small)


class Players:
    """All players of a game, in sweeps for one of them.

    Attributes:
        roundings: largest number of roundings in a decision.
        tie: values that differ by at most this number count as equal, in any state.
    """

    def __init__(
        self,
        law: Sweeps,
        seat: int,  # whose payoffs are computed
        policies: Mapping[int, Policy],  # fixed policies by seat; the seats left out are free
        arithmetic: Arithmetic = FLOATS,
        partial: bool = False,  # values leave out some payments, so that they may be out of range
        masked: bool = True,  # whether the policy of the seat keeps to the legal actions
    ) -> None:
        self.law, self.game, self.seat, self.arithmetic = law, law.game, seat, arithmetic
        game = law.game
        self.free = [other for other in range(game.num_players) if other not in policies]
        if len(self.free) > 1 and not game.zero_sum:
            raise InputError(f"{game.name} is not zero-sum, so at most one player can be free")
        self.roundings = max((policy.roundings for policy in policies.values()), default=0)
        self._policies, self._partial = policies, partial
        if not (masked or game.is_process):
            require_worst(game)
        self.range = range_of_values(law, seat, arithmetic, masked)
        self.tie = arithmetic.tie(game) if self.free else 0.0
        self._is_listed = isinstance(game, ListedGame)

    @cached_property
    def choices(self) -> dict[int, IntArray]:
        """The last chosen action of each free player in every state, shape (state,); -1 at first.

        The array of a game that its law sweeps by itself (``fold``) has no room, and is not made.
        """
        return {other: no_choices(self.game) for other in self.free}

    @property
    def fold(self) -> Fold | None:
        """The fold by which the only player decides in all states; None if there is none."""
        if self.game.num_players > 1 or self._partial:
            return None
        return "best" if self.free else self._policies[self.seat].fold

    def in_floats(self) -> "Players":
        """Return the same players with floats as arithmetic."""
        return Players(self.law, self.seat, self._policies, FLOATS, self._partial)

    def within(self, values: Array) -> Array:
        """Clip values to the range of payoffs, which they leave only by rounding."""
        if self._partial:
            return values
        return self.arithmetic.within(values, *self.range)

    def choose(self, stage: Stage, expected: Array) -> Array:
        """Return the values of states if all free players take their best actions, (state,)."""
        return self._decide(stage, expected, self.free)

    def respond(self, stage: Stage, expected: Array) -> Array:
        """Return the values if one player repeats its last choices and its opponent chooses."""
        return self._decide(stage, expected, [1 - self.seat])

    def repeat(self, stage: Stage, expected: Array) -> Array:
        """Return the values of states if all free players repeat their last choices, (state,)."""
        return self._decide(stage, expected, ())

    def weigh(self, stage: Stage, mass: Array) -> Array:
        """Distribute the mass of states, (state,), over the players' actions, (state, action)."""
        mover, states = stage.seat, stage.states
        if mover in self._policies:
            weights = self._policies[mover].spread(states, mass, self.arithmetic)
            return weights * legal_in(self.game, stage)  # illegal moves end the game
        chosen = self.choices[mover][states]
        return mass[:, None] * one_hot(chosen, self.game.num_actions)

    def chances(self, stage: Stage, arithmetic: Arithmetic) -> Array:
        """Return what a player with a fixed policy does, illegal actions too, (state, action)."""
        return self._policies[stage.seat].spread(stage.states, stage.scale, arithmetic)

    def chosen(self, positions: Sequence[tuple[int, IntArray]]) -> IntArray:
        """Return the last choices of the free players in positions, (player, states) pairs."""
        each = [self.choices[seat][states] for seat, states in positions if seat in self.choices]
        return np.concatenate([np.empty(0, dtype=np.int64), *each])

    def _with_illegal(self, stage: Stage, expected: Array) -> Array:
        return with_illegal(self.game, stage, expected, self.arithmetic)

    def _decide(self, stage: Stage, expected: Array, choosing: Collection[int]) -> Array:
        mover, states = stage.seat, stage.states
        if mover in self._policies:
            if mover == self.seat:  # other players are always masked
                expected = self._with_illegal(stage, expected)
            return self.within(self._policies[mover].average(states, expected, self.arithmetic))
        if mover not in choosing:
            return self.within(expected[np.arange(len(states)), self.choices[mover][states]])
        low, mask = mover != self.seat, legal_in(self.game, stage)
        tie = self.arithmetic.tie(self.game, states) if self._is_listed else self.tie
        best, optimal = self.arithmetic.best(-expected if low else expected, mask, tie)
        self.choices[mover][states] = optimal.argmax(axis=1)
        return self.within(-best if low else best)
