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

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..games import Array, Decide, Game, InputError, IntArray, Stage, frozen
from ..games.arithmetic import EXACT, FLOATS
from ..games.sizes import PIECE, check_array
from .cycles import fixed_point, pass_through, visits
from .players import Players, maximize, tie
from .policies import DeterministicPolicy, Policy


class Sweep(NamedTuple):
    """What a sweep backward has found.

    Attributes:
        values: shape (player to move, state), scaled by ``game.denominators`` if exact.
        choices: the smallest optimal action in every state, shape (state,), for each free seat.
        error_bound: how far values may be from a fixed point (see ``cycles``): 0 if exact, and in
            games without cycles, which have no other error than the rounding of a single pass.
    """

    values: Array
    choices: dict[int, IntArray]
    error_bound: float


def sweep_back(
    game: Game,
    seat: int,
    policies: Mapping[int, Policy],
    exact: bool = False,
    worst: bool = False,
) -> Sweep:
    """Compute the value of every position, and the choices of the players who are free.

    Args:
        game: the rules.
        seat: whose payoffs are meant.
        policies: fixed policies by seat; the seats left out choose what is best for them. If two
            choose, ``game`` has to be zero-sum.
        exact: compute with integers and fractions.
        worst: free players choose what is worst for them.
    """
    players = Players(game, seat, policies, EXACT if exact else FLOATS, worst)
    error_bound = 0.0
    if game.has_cycles:
        values, error_bound = fixed_point(players)
    else:
        values = game.backward(players.choose, seat, exact)
    choices = {other: _everywhere(game, choice) for other, choice in players.choices.items()}
    return Sweep(values, choices, error_bound)


def sweep_forward(game: Game, decide: Decide, start: Array, seat: int) -> Array:
    """Compute how often each position is met on average (see ``cycles.visits``)."""
    if not game.has_cycles:
        return game.forward(decide, start, seat)
    return visits(game, decide, start, seat, EXACT if start.dtype == object else FLOATS)


def in_pieces(game: Game) -> Iterator[Stage]:
    """List all stages, cut where numbers for their states and actions would be many."""
    step = max(1, PIECE // game.num_actions)
    for mover, states in game.stages():
        for first in range(0, len(states), step):
            yield Stage(mover, states[first : first + step])


def look_ahead(
    game: Game, look: Callable[[Stage, Array], None], values: Array, seat: int, exact: bool = False
) -> None:
    """Call ``look`` at every stage with the expected values of its actions.

    Args:
        game: the rules.
        look: takes a stage and expected values, shape (state, action), meaningless for illegal
            actions.
        values: to ``seat``, shape (player to move, state).
        seat: whose values they are.
        exact: as ``sweep_back`` gives them.
    """

    def decide(stage: Stage, expected: Array) -> Array:
        look(stage, expected)
        known: Array = values[stage.seat, stage.states]
        return known

    if game.has_cycles:
        pass_through(game, decide, values, seat, EXACT if exact else FLOATS)
    else:
        game.backward(decide, seat, exact)


def _everywhere(game: Game, choice: IntArray) -> IntArray:
    """Put the first legal action where only other players move, so that tables are complete."""
    rest = np.flatnonzero(choice < 0)
    choice[rest] = game.first_actions(rest)
    return choice


@dataclass(frozen=True)
class Equilibrium:
    """Mutual best responses of all players, in every position of the game.

    Attributes:
        values: for each seat the values to it, shape (player to move, state); scaled if exact.
        policies: the policy of each seat.
        error_bound: as of a ``Sweep``.
    """

    values: tuple[Array, ...]
    policies: tuple[DeterministicPolicy, ...]
    error_bound: float


@lru_cache(maxsize=16)
def equilibrium(game: Game, exact: bool = False) -> Equilibrium:
    """Solve a game for all players; equally good actions give way to the smallest."""
    if game.zero_sum or game.num_players == 1:
        values, choices, error_bound = sweep_back(game, 0, {}, exact)
        every: tuple[Array, ...] = (values,)
        if game.zero_sum:
            every = (values, _complement(game, values))
    else:
        every, choices = _sweep_together(game, exact)
        error_bound = 0.0
    policies = [DeterministicPolicy(choices[i], game.num_actions) for i in sorted(choices)]
    return Equilibrium(tuple(map(frozen, every)), tuple(policies), error_bound)


def _sweep_together(game: Game, exact: bool) -> tuple[tuple[Array, ...], dict[int, IntArray]]:
    """Let every player maximise its own value, all players' values side by side."""
    seats = range(game.num_players)
    if game.has_cycles:
        raise InputError(
            "an equilibrium must be of a game without cycles, or zero-sum for two players, got "
            f"{game!r}"
        )
    check_array("an equilibrium", game, game.num_players, game.num_players, game.num_states)
    choices = {seat: np.full(game.num_states, -1) for seat in seats}
    equal = 0.0 if exact else tie(game)

    def decide(stage: Stage, expected: Array) -> Array:  # (seat, state, action) to (seat, state)
        mover, states = stage
        _, optimal = maximize(expected[mover], game.mask(states), equal)
        chosen = choices[mover][states] = optimal.argmax(axis=1)
        return expected[:, np.arange(len(states)), chosen]

    values = game.backward_together(decide, seats, exact)
    return tuple(values), {seat: _everywhere(game, choice) for seat, choice in choices.items()}


def _complement(game: Game, values: Array) -> Array:
    """Turn values to one player of a zero-sum game into values to the other."""
    if values.dtype != object:
        return sum(game.payoff_range) - values
    total = sum(game.exact_range, Fraction(0))
    scale = game.denominators(np.arange(game.num_states))
    return scale * (int(total) if total.denominator == 1 else total) - values
