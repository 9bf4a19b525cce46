"""Backward and forward induction over all positions of a game, with one policy for each seat.

Let V(i, s) be the value to one chosen seat when player i is to move in state s, and Q(i, s, a) the
expected value of an action, which ``Block.backward`` computes from later values. Then:

* a fixed policy pi_i gives V(i, s) = sum over a of pi_i(a | s) Q(i, s, a);
* the chosen player, if free, takes the maximum;
* the other player of a zero-sum game, if free, takes the minimum.

Without a free opponent this is the Bellman equation of a decision process.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...core import (
    Arithmetic,
    Array,
    FloatArray,
    Game,
    IntArray,
    Stage,
    Values,
)
from ...core.positions import first_actions, pieces
from ...core.progress import tell
from ...core.sweeps import sweeps_of
from ...core.types import Fold
from . import mdp
from .cycles import fixed_point, pass_error
from .players import Players
from .rounding import upwards


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
    choices = {other: everywhere(players.game, choice) for other, choice in players.choices.items()}
    return Sweep(values, choices, error_bound)


def _folded(players: Players, fold: Fold) -> Sweep | None:
    """Sweep a one-player game by a fold; None if the game has no such sweep.

    A greedy policy loses at most the tie tolerance in each decision. The bound of the roundings
    yields the largest number of decisions in a game.
    """
    game, arithmetic = players.game, players.arithmetic
    values = sweeps_of(game).folded(fold) if arithmetic.rounds else None
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


def everywhere(game: Game, choice: IntArray) -> IntArray:
    """Put the first legal action into other players' states, so that tables are complete."""
    for piece in pieces(len(choice)):
        rest = np.flatnonzero(choice[piece] < 0)
        choice[piece][rest] = first_actions(game, piece.start + rest)
    return choice
