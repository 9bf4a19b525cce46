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
    Stage,
    Sweeps,
    Values,
    arithmetic,
    sweeps_of,
)
from ...core.contract import require_attributes
from ...core.positions import legal_in
from ...core.sizes import check_array
from ..cache import cached
from ..operators.cycles import pass_error
from ..operators.induction import policies_of, sweep_back
from ..operators.players import Players, no_choices
from ..policies.kinds import DeterministicPolicy


@dataclass(frozen=True)
class Equilibrium:
    """Mutual best responses of all players, in every position of the game."""

    values: tuple[Values, ...]  # the values of all positions to each seat
    policies: tuple[DeterministicPolicy, ...]  # the policy of each seat
    error_bound: float | FloatArray  # largest rounding error of a value (see ``Sweep``); 0 if exact


def equilibrium(game: Game, exact: bool = False) -> Equilibrium:
    """Solve a game for all players at once; of equally good actions the smallest is taken."""
    require_attributes(game)
    return _equilibrium(game, arithmetic(exact, game))


@cached
def _equilibrium(game: Game, arithmetic: Arithmetic) -> Equilibrium:
    law = sweeps_of(game)
    if not (game.zero_sum or game.num_players == 1):
        return _of_several(law, arithmetic)
    players = Players(law, 0, {}, arithmetic)
    swept = sweep_back(players, "equilibrium")
    every: tuple[Values, ...] = (swept.values,)
    if game.zero_sum:
        payoffs = arithmetic.payoff_range(game)
        every = (*every, swept.values.subtracted_from(payoffs, players.repeat))
    return Equilibrium(every, tuple(swept.policies.values()), swept.error_bound)


def _of_several(law: Sweeps, arithmetic: Arithmetic) -> Equilibrium:
    """Let every player maximise its own value, all players' values side by side."""
    game, seats = law.game, range(law.game.num_players)
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

    values = {seat: law.values(seat, repeat, arithmetic) for seat in seats}
    law.backward_together(decide, values, arithmetic)
    policies = policies_of(game, choices, "equilibrium")
    error_bound = max(pass_error(law, seat, arithmetic) for seat in seats)
    frozen = tuple(found.frozen() for found in values.values())
    return Equilibrium(frozen, tuple(policies.values()), error_bound)
