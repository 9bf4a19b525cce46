"""How long a game can stay in a block, whatever its players do (see ``cycles`` for the proof)."""

from typing import Any

import numpy as np

from ...core import (
    EXACT,
    FLOATS,
    Arithmetic,
    Array,
    FloatArray,
    Game,
    GameError,
    InputError,
    IntArray,
    Stage,
    frozen,
)
from ...core.blocks import Block
from ...core.positions import legal_in
from ...core.presentation import present
from ...core.sweeps import sweeps_of
from ..cache import cached
from .linear import solve_linear
from .players import one_hot
from .rounding import gamma, upwards

#: The iteration for a longest stay stops once the t of the docstring of ``cycles`` is at most this.
MISSING = 2.0**-10
#: If it ends with a larger t than this, floats cannot tell the stay from an endless one.
MOST_MISSING = 0.5
#: Policy iteration takes a few rounds; after this many it must be going in circles.
MOST_ROUNDS = 1000


def longest_stays(game: Game, seat: int, arithmetic: Arithmetic = FLOATS) -> FloatArray:
    """Bound the number of decisions in each block, shape (block,), from any of its positions.

    It is the expected number if all players conspire to prolong the stay; infinite where floats
    are not precise enough and the computation is exact, which needs no bound.

    Raises:
        GameError: if they can stay for ever.
        InputError: if floats are not precise enough to exclude that.
    """
    stays = _stays_in_floats(game, seat)
    endless = np.flatnonzero(np.isinf(stays)).tolist()
    if endless:
        blocks = sweeps_of(game).blocks(seat, EXACT)
        for number in endless:
            _stay(game, blocks[number], EXACT, _no_choices(game))  # raises if it is endless
        if arithmetic.rounds:
            raise InputError(
                f"{present(game).title} may come back to {blocks[endless[0]].describe_cut(0)}, "
                "or near it, more often than floats can tell: compute with exact=True"
            )
    return stays


@cached
def _stays_in_floats(game: Game, seat: int) -> FloatArray:
    """Bound the decisions in each block; infinite where floats are not precise enough."""
    stays: list[float] = []
    choices: IntArray | None = None  # a game that is swept whole may have very many states
    for block in sweeps_of(game).blocks(seat):
        if block.is_swept_whole:
            stays.append(0.0)
            continue
        choices = _no_choices(game) if choices is None else choices
        try:
            stays.append(_stay(game, block, FLOATS, choices))
        except GameError:  # it may end after all: floats may round a small chance to 0
            stays.append(np.inf)
    return frozen(np.array(stays))


def _no_choices(game: Game) -> IntArray:
    """Make an array of actions that are not chosen yet, shape (player to move, state)."""
    small = np.min_scalar_type(-game.num_actions)
    choices: IntArray = np.full((game.num_players, game.num_states), -1, small)
    return choices


def _stay(game: Game, block: Block, arithmetic: Arithmetic, choices: IntArray) -> float:
    """Bound the decisions in a block; infinite if floats are not precise enough.

    Without rounding it only finds out whether the block is left.

    Args:
        game: the rules.
        block: a block of the game.
        arithmetic: arithmetic of the bound.
        choices: array for the actions that prolong the stay, shape (player to move, state).

    Raises:
        GameError: if players can stay in the block for ever.
    """
    longest, gains = [0.0], block.gains(None)

    def prolong(stage: Stage, expected: Array) -> Array:
        best, optimal = arithmetic.best(expected, legal_in(game, stage), 0.0)
        choices[stage.positions] = optimal.argmax(axis=1)
        if arithmetic.rounds:
            longest.append(float(best.max()) + 1)
        return best + stage.scale

    def weigh(stage: Stage, mass: Array) -> Array:
        weights: Array = mass[:, None] * one_hot(choices[stage.positions], game.num_actions)
        return weights

    visits = arithmetic.numbers(np.ones(len(block.groups), dtype=np.int64))
    missing: Any = None
    for _ in range(MOST_ROUNDS):
        del longest[1:]
        again = block.backward(prolong, gains, visits)
        relative = gamma(block.roundings(1, len(longest))) if arithmetic.rounds else 0
        last, missing = missing, (again * (1 + relative) - visits).max(initial=0)
        if missing <= MISSING or missing == last:
            break
        visits = visits + solve_linear(block, block.returns(weigh), again - visits, arithmetic)
    if missing > MOST_MISSING:
        return np.inf
    return upwards(max(longest) * (1 + relative) / (1 - float(missing)))
