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

import numpy as np

from ..games import FLOATS, Arithmetic, Array, Game, InputError, IntArray, Stage, Values, arithmetic
from ..games.sizes import check_array, check_sizes
from .answers import remembered
from .policies import DeterministicPolicy, Policy


def arithmetic_of(game: Game, exact: bool) -> Arithmetic:
    """Give the arithmetic that a user asks for.

    Raises:
        SizeError: if the game is too large for it.
    """
    if exact:
        check_sizes(game, exact=True)
    return arithmetic(exact)


def tie(game: Game) -> float:
    """Give the difference up to which float values in a game are equal."""
    return FLOATS.tie(game)


def sweep_back(
    game: Game,
    seat: int,
    policies: Mapping[int, Policy],
    arithmetic: Arithmetic = FLOATS,
    worst: bool = False,
) -> tuple[Values, dict[int, IntArray]]:
    """Compute the value of every position, and the choices of the players who are free.

    Args:
        game: the rules.
        seat: whose payoffs are meant.
        policies: fixed policies by seat; the seats left out choose what is best for them. If two
            choose, ``game`` has to be zero-sum.
        arithmetic: how to count.
        worst: free players choose what is worst for them.

    Returns:
        Values of all positions; and the smallest optimal action in every state, shape (state,),
        for each free seat.
    """
    free = [other for other in range(game.num_players) if other not in policies]
    if len(free) > 1 and not game.zero_sum:
        raise InputError(f"{game.name} is not zero-sum, so at most one player can be free")
    choices = {other: np.full(game.num_states, -1) for other in free}
    equal = arithmetic.tie(game) if free else 0.0

    def decide(stage: Stage, expected: Array) -> Array:
        mover, states = stage.seat, stage.states
        if mover in policies:
            if mover == seat:  # others cannot be unmasked
                expected = with_illegal(game, stage, expected, arithmetic)
            return policies[mover].average(states, expected, arithmetic)
        sign = 1 if (mover == seat) != worst else -1
        best, optimal = arithmetic.best(sign * expected, game.mask(states), equal)
        choices[mover][states] = optimal.argmax(axis=1)
        return sign * best

    values = game.backward(decide, seat, arithmetic)
    return values, {other: _everywhere(game, choice) for other, choice in choices.items()}


def _everywhere(game: Game, choice: IntArray) -> IntArray:
    """Put the first legal action where only other players move, so that tables are complete."""
    rest = np.flatnonzero(choice < 0)
    choice[rest] = game.first_actions(rest)
    return choice


def with_illegal(game: Game, stage: Stage, expected: Array, arithmetic: Arithmetic) -> Array:
    """Value illegal actions (state, action) at the worst payoff, as the environments do."""
    worst = arithmetic.scaled(arithmetic.payoff_range(game)[0], stage.scale)
    return np.where(game.mask(stage.states), expected, worst[:, None])


def spread(policy: Policy, states: IntArray, mass: Array, arithmetic: Arithmetic) -> Array:
    """Distribute the mass of each state over its actions: shape (state, action)."""
    weights: Array = mass[:, None] * policy.law(states, arithmetic)
    return weights


@dataclass(frozen=True)
class Equilibrium:
    """Mutual best responses of all players, in every position of the game.

    Attributes:
        values: for each seat the values to it.
        policies: the policy of each seat.
    """

    values: tuple[Values, ...]
    policies: tuple[DeterministicPolicy, ...]


def equilibrium(game: Game, exact: bool = False) -> Equilibrium:
    """Solve a game for all players; equally good actions give way to the smallest."""
    return equilibrium_in(game, arithmetic_of(game, exact))


@remembered
def equilibrium_in(game: Game, arithmetic: Arithmetic) -> Equilibrium:
    """Do as ``equilibrium`` does, in an arithmetic."""
    if game.zero_sum or game.num_players == 1:
        values, choices = sweep_back(game, 0, {}, arithmetic)
        every: tuple[Values, ...] = (values,)
        if game.zero_sum:
            every = (values, values.subtracted_from(sum(arithmetic.payoff_range(game))))
    else:
        every, choices = _sweep_together(game, arithmetic)
    policies = [
        DeterministicPolicy(choices[seat], game.num_actions, "equilibrium")
        for seat in sorted(choices)
    ]
    return Equilibrium(every, tuple(policies))


def _sweep_together(
    game: Game, arithmetic: Arithmetic
) -> tuple[tuple[Values, ...], dict[int, IntArray]]:
    """Let every player maximise its own value, all players' values side by side."""
    seats = range(game.num_players)
    check_array("an equilibrium", game, game.num_players, game.num_players, game.num_states)
    choices = {seat: np.full(game.num_states, -1) for seat in seats}
    equal = arithmetic.tie(game)

    def decide(stage: Stage, expected: Array) -> Array:  # (seat, state, action) to (seat, state)
        mover, states = stage.seat, stage.states
        _, optimal = arithmetic.best(expected[mover], game.mask(states), equal)
        chosen = choices[mover][states] = optimal.argmax(axis=1)
        return expected[:, np.arange(len(states)), chosen]

    values = game.backward_together(decide, seats, arithmetic)
    return tuple(values.row(seat) for seat in seats), {
        seat: _everywhere(game, choice) for seat, choice in choices.items()
    }
