"""Games with cycles: values and visits as fixed points, found block by block.

Let T(c) be the values of a block's cut after one pass backward with the values c put in at the cut
(``games.blocks``). The true values solve c = T(c).

*Fixed policies* make T affine, T(c) = b + A c, where A holds the probabilities to come from one
point of the cut next to another. So from any guess c the step d to the solution solves the small
linear system (I - A) d = T(c) - c. Forward, the expected visits x of the cut solve the transposed
one, x = r + A' x, where r is what comes to the cut of the mass that begins in the block.

*Free players* choose by policy iteration (Howard 1960): what they choose in the pass for T(c)
is followed until the end, which gives the next c, until they choose the same again. Where two
choose, the opponent first finds its best response to the choices of the other, by the same
iteration (Hoffman and Karp 1966).

*How right it is.* A player who stays can gain no more than the residual |T(c) - c| at each visit of
the cut. So c is off by no more than the residual times the longest expected stay, the number of
visits if all players conspire to prolong it. That stay is finite if and only if a block is left
with positive probability under every policy, as every game must; it is found by the same iteration,
for a game that pays one for each visit. Without rounding, c = T(c) holds to the last digit.
"""

from typing import Any

import numpy as np

from ..games import (
    FLOATS,
    Arithmetic,
    Array,
    Decide,
    FloatArray,
    Game,
    GameError,
    IntArray,
    Stage,
    Values,
    frozen,
)
from ..games.blocks import Block
from .answers import remembered
from .players import Players, one_hot

#: A block left with a smaller probability than this, whatever is done, counts as never left.
SMALLEST_EXIT = 1e-9
#: A longest stay is found if no choice prolongs it by more than this part of it.
ROUNDING = 1e-12
#: Policy iteration takes a few rounds; one that takes so many goes in circles.
MOST_ROUNDS = 1000


def fixed_point(players: Players) -> tuple[Values, float]:
    """Find the values of all positions to a player, and the choices of those who are free.

    Returns:
        Values, shape (player to move, state), and how far they may be from the true ones: 0 if
        they are fractions.
    """
    game, arithmetic = players.game, players.arithmetic
    start = arithmetic.values(game.num_players, game.num_states)
    if not arithmetic.rounds:  # begin where floats end: nearly all choices are right there
        start = fixed_point(players.in_floats())[0]
    stays = longest_stays(game, players.seat)
    values, bound = arithmetic.values(game.num_players, game.num_states), 0.0
    blocks = game.blocks(players.seat, arithmetic)
    for stay, block in zip(stays[::-1], reversed(blocks), strict=True):
        guess = arithmetic.numbers(block.at_cut(start))
        bound += float(_solve(block, players, values, guess)) * float(stay)
    return values.frozen(), bound


def _solve(block: Block, players: Players, values: Values, cut: Array) -> Any:
    """Find the values of one block, given those of later ones, and give the residual.

    Args:
        block: what is swept.
        players: who choose, or do not.
        values: of later blocks, to which those of this one are added.
        cut: a guess of the cut's values, shape (cut,).
    """
    gains = block.gains(values)
    chosen: IntArray | None = None
    for _ in range(MOST_ROUNDS):
        found = block.backward(players.choose, gains, cut, values)
        residual = np.abs(found - cut).max(initial=0)
        last, chosen = chosen, players.chosen(block.stages)
        if not residual or (last is not None and (last == chosen).all()):
            break
        cut = cut + _solve_linear(
            block, block.returns(players.weigh), found - cut, players.arithmetic
        )
        if len(players.free) == 2:
            cut = _respond(block, players, gains, cut)
    else:
        raise ArithmeticError(f"policy iteration must end within {MOST_ROUNDS} rounds, and did not")
    if residual and not players.arithmetic.rounds:
        raise ArithmeticError(f"values must be a fixed point, got a residual of {float(residual)}")
    return residual


def _respond(block: Block, players: Players, gains: Any, cut: Array) -> Array:
    """Find the cut's values if the opponent answers best to what the other player has chosen."""
    chosen = players.chosen(block.stages)
    for _ in range(MOST_ROUNDS):
        found = block.backward(players.respond, gains, cut)
        last, chosen = chosen, players.chosen(block.stages)
        if (last == chosen).all():
            return cut
        cut = cut + _solve_linear(
            block, block.returns(players.weigh), found - cut, players.arithmetic
        )
    raise ArithmeticError(f"a best response must be found within {MOST_ROUNDS} rounds, and was not")


def _solve_linear(block: Block, chances: Array, right: Array, arithmetic: Arithmetic) -> Array:
    """Solve x = right + A x, for each group by itself.

    By Gauss and Jordan, without pivoting, which these matrices do not need: off the diagonal of
    I - A nothing is positive, and its rows or its columns sum to no less than nothing.

    Args:
        block: whose cut it is.
        chances: A, shape (group, place, place).
        right: shape (cut,).
        arithmetic: of all numbers.

    Raises:
        GameError: if a point is never left for good.
    """
    at, width = (block.groups, block.places), chances.shape[1]
    one = arithmetic.numbers(np.eye(width))
    matrices = np.concatenate([one - chances, np.zeros_like(chances[..., :1])], axis=2)
    matrices[(*at, width)] = right
    for column in range(width):
        pivots = matrices[:, column, column]
        if (pivots < SMALLEST_EXIT).any():
            point = np.flatnonzero(block.groups == np.argmax(pivots < SMALLEST_EXIT))[column]
            raise GameError(
                "a game must end with positive probability whatever its players do, but they can "
                f"come back for ever to {block.describe_cut(point)}"
            )
        matrices[:, column] = matrices[:, column] * (1 / pivots)[:, None]
        factors = matrices[:, :, column].copy()
        factors[:, column] = 0
        matrices -= factors[:, :, None] * matrices[:, column, None]
    solved: Array = matrices[(*at, width)]
    return solved


@remembered
def longest_stays(game: Game, seat: int) -> FloatArray:
    """Bound how often the cut of each block is visited, shape (block,), whatever all players do.

    The bound is the expected number of visits if all of them conspire to prolong it.

    Raises:
        GameError: if they can do so for ever.
    """
    choices = np.full((game.num_players, game.num_states), -1)

    def prolong(stage: Stage, expected: Array) -> Array:
        best, optimal = FLOATS.best(expected, game.mask(stage.states), 0.0)
        choices[stage.positions] = optimal.argmax(axis=1)
        return best

    def weigh(stage: Stage, mass: Array) -> Array:
        weights: Array = mass[:, None] * one_hot(choices[stage.positions], game.num_actions)
        return weights

    stays = []
    for block in game.blocks(seat):
        visits, gains = np.ones(len(block.groups)), block.gains(None)
        while len(visits):
            gained = 1 + block.backward(prolong, gains, visits) - visits
            if (gained <= ROUNDING * visits).all():
                break
            visits = visits + _solve_linear(block, block.returns(weigh), gained, FLOATS)
        stays.append(visits.max(initial=0.0))
    return frozen(np.array(stays))


def pass_through(
    game: Game, look: Decide, values: Values, seat: int, arithmetic: Arithmetic
) -> None:
    """Call ``look`` at every stage with what its actions are worth, given all values.

    Args:
        game: the rules.
        look: takes a stage and expected values, shape (state, action), meaningless for illegal
            actions; gives the values of the states.
        values: to ``seat``, shape (player to move, state).
        seat: whose values they are.
        arithmetic: of the values.
    """
    for block in reversed(game.blocks(seat, arithmetic)):
        block.backward(look, block.gains(values), block.at_cut(values))


def visits(game: Game, decide: Decide, start: Array, seat: int, arithmetic: Arithmetic) -> Array:
    """Compute how often each position is met on average.

    Args:
        game: the rules.
        decide: takes a stage and the mass of its states, shape (state,); gives the weights of its
            actions, shape (state, action); linear, and asked several times.
        start: mass before the first move, shape (player to move, state).
        seat: for whom the game is not over where mass goes on.
        arithmetic: of the mass.

    Returns:
        Expected visits, shape (player to move, state).
    """
    mass = start.copy()
    for block in game.blocks(seat, arithmetic):
        returning = arithmetic.zeros(0)
        if len(block.groups):
            returned = np.swapaxes(block.returns(decide), 1, 2)
            came = block.arrive(decide, mass)
            returning = _solve_linear(block, returned, came, arithmetic)
        block.forward(decide, mass, returning)
    return mass
