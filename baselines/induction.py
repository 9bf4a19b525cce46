"""Backward and forward induction over all positions of a game, one policy a seat.

With V(i, s) the value to one chosen seat when player i is to move in state s, and Q(i, s, a) the
expected value of an action, which ``Game.backward`` computes from later values:

* a fixed policy pi_i gives V(i, s) = sum over a of pi_i(a | s) Q(i, s, a);
* the chosen player, if free, takes the maximum;
* the other player of a zero-sum game, if free, takes the minimum.

Without a free opponent this is the Bellman equation of a decision process. If all players are free
and each takes what is best for itself, the result is an equilibrium: of a zero-sum game the minimax
solution, of any other game the one in which ties are broken towards the smallest action, which then
may matter to the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..games import (
    FLOATS,
    Arithmetic,
    Array,
    BoolArray,
    Game,
    InputError,
    IntArray,
    Stage,
    Values,
    arithmetic,
)
from ..games.sizes import check_array
from .policies import DeterministicPolicy, Policy

#: Float values of actions that differ by no more of the span of payoffs are equal. Errors of a
#: sweep are near 1e-15 of the largest payoff; the closest unequal actions of the default Greed are
#: 3.5e-13 apart.
TIE = 1e-13
#: Payoffs must differ by this part of their size at least, or rounding hides what they differ by.
SMALLEST_SPAN = Fraction(1, 10**6)


def tie(game: Game) -> float:
    """Give the difference up to which float values in a game are equal: ``TIE`` of the span.

    Where payoffs are far larger than their span, rounding errors grow with their size.

    Raises:
        InputError: if the span is lost in that rounding.
    """
    low, high = game.exact_range
    span, size = high - low, max(abs(low), abs(high))
    if 0 < span < SMALLEST_SPAN * size:
        raise InputError(
            f"payoffs must differ by more than {float(SMALLEST_SPAN)} of their size, got "
            f"{float(low)!r} to {float(high)!r}: subtract the smallest from all, or compute exactly"
        )
    return TIE * float(max(span, size / 8))


def sweep_back(
    game: Game,
    seat: int,
    policies: Mapping[int, Policy],
    exact: bool = False,
    worst: bool = False,
) -> tuple[Values, dict[int, IntArray]]:
    """Compute the value of every position, and the choices of the players who are free.

    Args:
        game: the rules.
        seat: whose payoffs are meant.
        policies: fixed policies by seat; the seats left out choose what is best for them. If two
            choose, ``game`` has to be zero-sum.
        exact: compute with integers and fractions.
        worst: free players choose what is worst for them.

    Returns:
        Values, shape (player to move, state); and the smallest optimal action in every state,
        shape (state,), for each free seat.
    """
    free = [other for other in range(game.num_players) if other not in policies]
    if len(free) > 1 and not game.zero_sum:
        raise InputError(f"{game.name} is not zero-sum, so at most one player can be free")
    choices = {other: np.full(game.num_states, -1) for other in free}
    equal = 0.0 if exact or not free else tie(game)

    def decide(stage: Stage, expected: Array) -> Array:
        mover, states, _ = stage
        if mover in policies:
            if mover == seat:  # others cannot be unmasked
                expected = with_illegal(game, stage, expected, arithmetic(exact))
            return policies[mover].expectation(states, expected)
        sign = 1 if (mover == seat) != worst else -1
        best, optimal = maximize(sign * expected, game.mask(states), equal)
        choices[mover][states] = optimal.argmax(axis=1)
        return sign * best

    values = game.backward(decide, seat, arithmetic(exact))
    return values, {other: _everywhere(game, choice) for other, choice in choices.items()}


def _everywhere(game: Game, choice: IntArray) -> IntArray:
    """Put the first legal action where only other players move, so that tables are complete."""
    rest = np.flatnonzero(choice < 0)
    choice[rest] = game.first_actions(rest)
    return choice


def maximize(expected: Array, mask: BoolArray, equal: float) -> tuple[Array, BoolArray]:
    """Give the largest legal entry of each row, and which entries are as large.

    Args:
        expected: numbers, shape (state, action).
        mask: which are legal, of the same shape.
        equal: floats that differ by no more are equal (see ``tie``).
    """
    best: Array
    if expected.dtype == object:  # comparing takes time, so only legal entries are
        rows, actions = np.nonzero(mask)
        numbers = expected[rows, actions]
        best = np.maximum.reduceat(numbers, np.searchsorted(rows, np.arange(len(mask))))
        optimal = np.zeros_like(mask)
        optimal[rows, actions] = numbers == best[rows]
        return best, optimal
    legal = np.where(mask, expected, -np.inf)
    best = legal.max(axis=1) + 0.0  # of 0.0 and -0.0 processors take either: make it 0.0
    return best, legal >= (best - equal)[:, None]


def with_illegal(
    game: Game, stage: Stage, expected: Array, arithmetic: Arithmetic = FLOATS
) -> Array:
    """Value illegal actions (state, action) at the worst payoff, as the environments do."""
    worst = stage.scale * arithmetic.payoff_range(game)[0]
    return np.where(game.mask(stage.states), expected, worst[:, None])


def spread(policy: Policy, states: IntArray, mass: Array) -> Array:
    """Distribute the mass of each state over its actions: shape (state, action)."""
    exact = mass.dtype == object
    law = policy.exact_probabilities(states) if exact else policy.probabilities(states)
    weights: Array = mass[:, None] * law
    return weights


@dataclass(frozen=True)
class Equilibrium:
    """Mutual best responses of all players, in every position of the game.

    Attributes:
        values: for each seat the values to it, shape (player to move, state).
        policies: the policy of each seat.
    """

    values: tuple[Values, ...]
    policies: tuple[DeterministicPolicy, ...]


@lru_cache(maxsize=16)
def equilibrium(game: Game, exact: bool = False) -> Equilibrium:
    """Solve a game for all players; equally good actions give way to the smallest."""
    if game.zero_sum or game.num_players == 1:
        values, choices = sweep_back(game, 0, {}, exact)
        every: tuple[Values, ...] = (values,)
        if game.zero_sum:
            total = sum(arithmetic(exact).payoff_range(game))
            every = (values, values.subtracted_from(total))
    else:
        every, choices = _sweep_together(game, exact)
    policies = [DeterministicPolicy(choices[i], game.num_actions) for i in sorted(choices)]
    return Equilibrium(every, tuple(policies))


def _sweep_together(game: Game, exact: bool) -> tuple[tuple[Values, ...], dict[int, IntArray]]:
    """Let every player maximise its own value, all players' values side by side."""
    seats = range(game.num_players)
    check_array("an equilibrium", game, game.num_players, game.num_players, game.num_states)
    choices = {seat: np.full(game.num_states, -1) for seat in seats}
    equal = 0.0 if exact else tie(game)

    def decide(stage: Stage, expected: Array) -> Array:  # (seat, state, action) to (seat, state)
        mover, states, _ = stage
        _, optimal = maximize(expected[mover], game.mask(states), equal)
        chosen = choices[mover][states] = optimal.argmax(axis=1)
        return expected[:, np.arange(len(states)), chosen]

    values = game.backward_together(decide, seats, arithmetic(exact))
    every = tuple(values.row(seat) for seat in seats)
    return every, {seat: _everywhere(game, choice) for seat, choice in choices.items()}
