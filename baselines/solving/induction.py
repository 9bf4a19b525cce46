"""Backward and forward induction over all positions of a game, with one policy for each seat.

Let V(i, s) be the value to one chosen seat when player i is to move in state s, and Q(i, s, a) the
expected value of an action, which ``Block.backward`` computes from later values. Then:

* a fixed policy pi_i gives V(i, s) = sum over a of pi_i(a | s) Q(i, s, a);
* the chosen player, if free, takes the maximum;
* the other player of a zero-sum game, if free, takes the minimum.

Without a free opponent this is the Bellman equation of a decision process. If all players are free
and each takes its own best action, the result is an equilibrium: of a zero-sum game the minimax
solution. In any other game, ties are broken towards the smallest action, and another choice among
tied actions may change the payoffs of the other players.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

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
from ...core.positions import first_actions, legal_in, pieces
from ...core.progress import tell
from ...core.sizes import check_array, check_exact
from ...core.sweeps import sweeps_of
from ...core.types import Fold
from ..cache import cached
from ..policies.kinds import DeterministicPolicy, GreedyPolicy
from . import kept, mdp
from .cycles import fixed_point, pass_error
from .players import Players, no_choices
from .rounding import upwards


def arithmetic_of(game: Game, exact: bool) -> Arithmetic:
    """Return the arithmetic for a user's option ``exact``: without rounding if True, else floats.

    Raises:
        SizeError: if the game is too large for this arithmetic.
    """
    if exact:
        check_exact(game)
    return arithmetic(exact)


class Sweep(NamedTuple):
    """Result of a sweep backward."""

    values: Values  # the values of all positions
    # The smallest optimal action in every state, shape (state,), for each free seat.
    choices: dict[int, IntArray]
    # Largest distance of a value or an action value from the true one by rounding (see
    # ``rounding``); 0 if exact. Of a process, that of each state, shape (state,).
    error_bound: float | FloatArray


def sweep_back(players: Players) -> Sweep:
    """Compute the value of every position, and the choices of the free players."""
    if players.fold and (found := _folded(players, players.fold)):
        return found
    values: Values
    error_bound: float | FloatArray
    values, error_bound = (mdp.swept if players.game.is_process else fixed_point)(players)
    choices = {
        other: _everywhere(players.game, choice) for other, choice in players.choices.items()
    }
    return Sweep(values, choices, error_bound)


def _folded(players: Players, fold: Fold) -> Sweep | None:
    """Sweep a one-player game by a fold; None if the game has no such sweep.

    A greedy policy loses at most the tie tolerance in each decision. The bound of the roundings
    yields the largest number of decisions in a game.
    """
    game, arithmetic = players.game, players.arithmetic
    values = kept.folded(game, fold, arithmetic)
    if values is None:
        return None
    bound = pass_error(game, players.seat, arithmetic, players.roundings)
    if fold == "best":
        (block,) = sweeps_of(game).blocks(players.seat, arithmetic)
        decisions = block.roundings(1, 0.0) - block.roundings(0, 0.0)
        bound = upwards(bound + decisions * arithmetic.tie(game))
    return Sweep(values, {}, bound)


def visit_action_values(
    game: Game,
    visit: Callable[[Stage, Array], None],
    values: Values,
    seat: int,
    arithmetic: Arithmetic,
) -> None:
    """Call ``visit`` at every stage of a seat with the expected values of its actions.

    Args:
        game: the rules.
        visit: takes a stage and expected values, shape (state, action), multiplied by its scale
            and meaningless for illegal actions.
        values: values of all positions to the seat.
        seat: the seat.
        arithmetic: arithmetic of the values.
    """

    def decide(stage: Stage, expected: Array) -> Array:
        if stage.seat == seat:
            visit(stage, expected)
        return values.again(stage, expected)

    blocks = sweeps_of(game).blocks(seat, arithmetic)
    for number, block in enumerate(reversed(blocks)):
        tell(number, len(blocks), "decisions")
        block.backward(decide, block.gains(values), block.at_cut(values))


def _everywhere(game: Game, choice: IntArray) -> IntArray:
    """Put the first legal action into other players' states, so that tables are complete."""
    for piece in pieces(len(choice)):
        rest = np.flatnonzero(choice[piece] < 0)
        choice[piece][rest] = first_actions(game, piece.start + rest)
    return choice


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
    return _equilibrium(game, arithmetic_of(game, exact))


@cached
def _equilibrium(game: Game, arithmetic: Arithmetic) -> Equilibrium:
    if game.zero_sum or game.num_players == 1:
        if found := kept.folded(game, "best", arithmetic):
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
    choice = _everywhere(game, players.choices[0])
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
        seat: _everywhere(game, choice) for seat, choice in choices.items()
    }
