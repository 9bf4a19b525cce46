"""Backward and forward induction over all positions of a game, with one policy for each seat.

Let V(i, s) be the value to one chosen seat when player i is to move in state s, and Q(i, s, a) the
expected value of an action, which ``Block.backward`` computes from later values. Then:

* a fixed policy pi_i gives V(i, s) = sum over a of pi_i(a | s) Q(i, s, a);
* the chosen player, if free, takes the maximum;
* the other player of a zero-sum game, if free, takes the minimum.

Without a free opponent this is the Bellman equation of a decision process.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from ...core import (
    Arithmetic,
    Array,
    BoolArray,
    Decide,
    FloatArray,
    Game,
    IntArray,
    Stage,
    Sweeps,
    Values,
)
from ...core.blocks import PayoffLaw
from ...core.positions import first_actions, pieces
from ...core.progress import tell
from ...core.types import Start
from ..policies.kinds import DeterministicPolicy, GreedyPolicy, Policy
from . import mdp
from .cycles import fixed_point, pass_error, visits
from .players import Players
from .rounding import upwards


class Sweep(NamedTuple):
    """Result of a sweep backward."""

    values: Values  # the values of all positions
    policies: dict[int, DeterministicPolicy]  # of the free seats: the smallest optimal actions
    # Largest distance of a value or an action value from the true one by rounding (see
    # ``rounding``); 0 if exact. Of a process, that of each state, shape (state,).
    error_bound: float | FloatArray


def sweep_back(players: Players, name: str = "") -> Sweep:
    """Compute the value of every position, and the policies, with a name, of the free players."""
    law, arithmetic = players.law, players.arithmetic
    if (found := _folded(players, name)) is not None:
        return found
    error: float | FloatArray
    both = len(players.free) > 1
    if both and (values := law.backward_mirrored(players.choose, arithmetic)) is not None:
        players.choices[1] = players.choices[0]
        error = pass_error(law, players.seat, arithmetic)
    else:
        values, error = (mdp.swept if law.game.is_process else fixed_point)(players)
    return Sweep(values, policies_of(law.game, players.choices, name), error)


def _folded(players: Players, name: str) -> Sweep | None:
    """Sweep a one-player game by a fold; None if the game has no such sweep.

    A greedy policy loses at most the tie tolerance in each decision. The bound of the roundings
    yields the largest number of decisions in a game.
    """
    law, seat, arithmetic = players.law, players.seat, players.arithmetic
    fold = players.fold if arithmetic.rounds else None
    if fold is None or (values := law.folded(fold)) is None:
        return None
    bound = pass_error(law, seat, arithmetic, players.roundings)
    if players.free:
        return Sweep(values, {seat: GreedyPolicy(law.game, seat, values, name)}, bound)
    if fold == "best":
        (block,) = law.blocks(seat, arithmetic)
        decisions = block.roundings(1, 0.0) - block.roundings(0, 0.0)
        bound = upwards(bound + decisions * arithmetic.tie(law.game))
    return Sweep(values, {}, bound)


def sweep_forward(
    law: Sweeps,
    policies: Mapping[int, Policy],  # by seat
    # from the weights of a stage's actions, (state, action), to those with which the game goes on;
    # linear
    keep: Decide,
    start: Start,  # mass before a seat's first move; it goes on while the game is not over for it
    arithmetic: Arithmetic,
    payoffs: PayoffLaw | None = None,  # those to the seat are added to it
) -> Values:
    """Compute the expected visits of each position, if every seat has a policy."""
    seat = start.seat

    def decide(stage: Stage, met: Array) -> Array:
        return keep(stage, policies[stage.seat].spread(stage.states, met, arithmetic))

    if not law.game.is_process:
        return visits(law, decide, start, seat, arithmetic, payoffs)[0]
    every = np.arange(law.game.num_states)
    stage = Stage(seat, every, np.ones(len(every), arithmetic.dtype))
    weights = policies[seat].spread(every, stage.scale, arithmetic)
    return mdp.visits(law.game, weights, keep(stage, weights), start, arithmetic, payoffs)


def settled(law: Sweeps, policy: Policy) -> BoolArray:
    """Find where an only player's policy stays for ever and nothing is paid, shape (state,)."""
    if law.game.is_process:
        return mdp.settled(law.game, policy)
    return np.zeros(law.game.num_states, dtype=bool)  # other games end


def visit_action_values(
    law: Sweeps,
    visit: Callable[[Stage, Array], None],
    values: Values,
    seat: int,
    arithmetic: Arithmetic,
) -> None:
    """Call ``visit`` at every stage of a seat with the expected values of its actions.

    They are of shape (state, action), multiplied by the stage's scale and meaningless for illegal
    actions; ``values`` are those of all positions to the seat.
    """
    if law.game.is_process:
        expected = mdp.action_values(law.game, values, arithmetic)
        for piece in pieces(len(expected)):
            states = np.arange(len(expected))[piece]
            visit(Stage(seat, states, np.ones(len(states), arithmetic.dtype)), expected[piece])
        return

    def decide(stage: Stage, expected: Array) -> Array:
        if stage.seat == seat:
            visit(stage, expected)
        return values.again(stage, expected)

    blocks = law.blocks(seat, arithmetic)
    for number, block in enumerate(reversed(blocks)):
        tell(number, len(blocks), "decisions")
        block.backward(decide, block.gains(values), block.at_cut(values))


def policies_of(
    game: Game, choices: Mapping[int, IntArray], name: str
) -> dict[int, DeterministicPolicy]:
    """Make the policies of free seats from their choices in every state, (state,), by seat.

    The first legal action stands in the states of other players, so that tables are complete.
    """
    for choice in choices.values():
        for piece in pieces(len(choice)):
            rest = np.flatnonzero(choice[piece] < 0)
            choice[piece][rest] = first_actions(game, piece.start + rest)
    return {
        seat: DeterministicPolicy(choice, game.num_actions, name)
        for seat, choice in sorted(choices.items())
    }
