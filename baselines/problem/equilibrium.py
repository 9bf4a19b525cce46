"""Equilibria: mutual best responses of all players of a game.

If all players are free in a sweep (``operators.induction``) and each takes its own best action, the
result is an equilibrium: of a zero-sum game the minimax solution. In any other game, ties are
broken towards the smallest action, and another choice among tied actions may change the payoffs of
the other players.
"""

from dataclasses import dataclass

import numpy as np

from ...core import (
    Arithmetic,
    Array,
    FloatArray,
    Game,
    InputError,
    IntArray,
    Stage,
    Values,
    arithmetic,
)
from ...core.contract import require_attributes
from ...core.positions import legal_in
from ...core.sizes import check_array
from ...core.sweeps import sweeps_of
from ..cache import cached
from ..operators.cycles import pass_error
from ..operators.induction import Sweep, everywhere, sweep_back
from ..operators.players import Players, no_choices
from ..policies.kinds import DeterministicPolicy, GreedyPolicy


@dataclass(frozen=True)
class Equilibrium:
    """Mutual best responses of all players, in every position of the game."""

    values: tuple[Values, ...]  # the values of all positions to each seat
    policies: tuple[DeterministicPolicy, ...]  # the policy of each seat
    error_bound: float | FloatArray  # largest rounding error of a value (see ``Sweep``); 0 if exact


def equilibrium(game: Game, exact: bool = False) -> Equilibrium:
    """Solve a game for all players at once; of equally good actions the smallest is taken.

    Args:
        game: the rules.
        exact: whether to compute with integers, so that values are fractions.

    Raises:
        ValueError: if the game has cycles and is not zero-sum for two players.
    """
    require_attributes(game)
    return _equilibrium(game, arithmetic(exact, game))


@cached
def _equilibrium(game: Game, arithmetic: Arithmetic) -> Equilibrium:
    if game.zero_sum or game.num_players == 1:
        found = sweeps_of(game).folded("best") if arithmetic.rounds else None
        if found is not None:
            best = GreedyPolicy(game, 0, found, "equilibrium")
            return Equilibrium((found,), (best,), pass_error(game, 0, arithmetic))
        players = Players(game, 0, {}, arithmetic)
        values, choices, error_bound = _sweep_mirrored(players) or sweep_back(players)
        every: tuple[Values, ...] = (values,)
        if game.zero_sum:
            payoffs = arithmetic.payoff_range(game)
            every = (values, values.subtracted_from(payoffs, players.repeat))
    else:
        every, choices = _sweep_together(game, arithmetic)
        error_bound = max(pass_error(game, seat, arithmetic) for seat in range(game.num_players))
    policies = [
        DeterministicPolicy(choices[seat], game.num_actions, "equilibrium")
        for seat in sorted(choices)
    ]
    return Equilibrium(every, tuple(policies), error_bound)


def _sweep_mirrored(players: Players) -> Sweep | None:
    """Sweep with equal choices of both players; None if the game has no mirrored sweep."""
    game, arithmetic = players.game, players.arithmetic
    values = sweeps_of(game).backward_mirrored(players.choose, arithmetic)
    if values is None:
        return None
    choice = everywhere(game, players.choices[0])
    return Sweep(values, {0: choice, 1: choice}, pass_error(game, 0, arithmetic))


def _sweep_together(
    game: Game, arithmetic: Arithmetic
) -> tuple[tuple[Values, ...], dict[int, IntArray]]:
    """Let every player maximise its own value, all players' values side by side."""
    seats = range(game.num_players)
    if game.has_cycles:
        raise InputError(
            "an equilibrium must be of a game without cycles, or zero-sum for two players, got "
            f"{game!r}"
        )
    check_array("an equilibrium", game, game.num_players, game.num_players, game.num_states)
    choices = {seat: no_choices(game) for seat in seats}
    equal, payoffs = arithmetic.tie(game), arithmetic.payoff_range(game)

    def repeat(stage: Stage, expected: Array) -> Array:  # (..., state, action) to (..., state)
        chosen = choices[stage.seat][stage.states]
        within: Array = arithmetic.within(expected[..., np.arange(len(chosen)), chosen], *payoffs)
        return within

    def decide(stage: Stage, expected: Array) -> Array:  # (seat, state, action) to (seat, state)
        mover = stage.seat
        _, optimal = arithmetic.best(expected[mover], legal_in(game, stage), equal)
        choices[mover][stage.states] = optimal.argmax(axis=1)
        return repeat(stage, expected)

    sweeps = sweeps_of(game)
    values = {seat: sweeps.values(seat, repeat, arithmetic) for seat in seats}
    sweeps.backward_together(decide, values, arithmetic)
    return tuple(found.frozen() for found in values.values()), {
        seat: everywhere(game, choice) for seat, choice in choices.items()
    }
