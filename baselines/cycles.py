"""Games with cycles: values and visits as fixed points, found block by block.

Let T(c) be the values of a block's cut after one pass backward with the values c put in at the cut
(``games.blocks``). The true values solve c = T(c).

*Fixed policies* make T affine, T(c) = b + A c, where A holds the probabilities to come from one
point of the cut to another. A pass with a unit vector gives a column of A, and c solves the small
linear system (I - A) c = b. Forward, the expected visits x of the cut solve the transposed one,
x = r + A' x, where r is what comes to the cut of the mass that enters the block.

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
from .players import Players

#: A block left with a smaller probability than this, whatever is done, counts as never left.
SMALLEST_EXIT = 1e-9
#: A longest stay is found if no choice prolongs it by more than this part of it.
ROUNDING = 1e-12


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
        cut = arithmetic.numbers(block.at_cut(start))
        found, residual = _solve(block, players, block.gains(values), cut)
        values.put(block.positions, found, 1)
        bound += float(residual) * float(stay)
    return values.frozen(), bound


def _solve(block: Block, players: Players, gains: Array, cut: Array) -> tuple[Array, Array]:
    """Find the values of one block, beginning with a guess of its cut; and the residual."""
    chosen: IntArray | None = None
    while True:
        values, found = block.backward(_alone(players.choose), gains, cut[None])
        residual = np.abs(found[0] - cut).max(initial=0)
        last, chosen = chosen, players.chosen(block.stages)
        if not residual or (last is not None and (last == chosen).all()):
            break
        cut = _follow(block, players.follow(), gains, cut, players.arithmetic)
        if len(players.free) == 2:
            cut = _respond(block, players, gains, cut)
    if residual and not players.arithmetic.rounds:
        raise ArithmeticError(f"values must be a fixed point, got a residual of {float(residual)}")
    return values[0], residual


def _respond(block: Block, players: Players, gains: Array, cut: Array) -> Array:
    """Find the cut's values if the opponent answers best to what the other player has chosen."""
    opponent = 1 - players.seat
    chosen = players.chosen(block.stages)
    while True:
        block.backward(_alone(players.follow([opponent])), gains, cut[None])
        last, chosen = chosen, players.chosen(block.stages)
        if (last == chosen).all():
            return cut
        cut = _follow(block, players.follow(), gains, cut, players.arithmetic)


def _alone(decide: Decide) -> Decide:
    """Let a player of a single row decide for the only row of a pass."""
    return lambda stage, expected: decide(stage, expected[0])[None]


def _follow(
    block: Block,
    decide: Decide,
    gains: Array | None,
    cut: Array,
    arithmetic: Arithmetic,
    per_visit: int = 0,
) -> Array:
    """Improve a guess of the cut's values under fixed policies: exact but for rounding.

    Args:
        block: what is swept.
        decide: what the policies do; linear in the expected values.
        gains: of moves that leave the block.
        cut: the guess, shape (cut,).
        arithmetic: of all numbers.
        per_visit: what each visit of the cut gains.
    """
    rows = np.repeat(cut[None], 1 + _width(block), axis=0)
    rows[1 + block.places, np.arange(len(cut))] += 1
    _, found = block.backward(decide, gains, rows)
    step: Array = _solve_linear(block, found[1:] - found[0], per_visit + found[0] - cut, arithmetic)
    return cut + step


def _width(block: Block) -> int:
    """Give the number of points in the largest group of the cut."""
    return int(block.places.max(initial=-1)) + 1


def _solve_linear(block: Block, leads: Array, right: Array, arithmetic: Arithmetic) -> Array:
    """Solve x = right + A x, for each group by itself.

    By Gauss and Jordan, without pivoting, which these matrices do not need: off the diagonal of
    I - A nothing is positive, and rows (or columns) do not sum to less than nothing.

    Args:
        block: whose cut it is.
        leads: entry (k, i) is what the point of place k in the group of i gives to i.
        right: shape (cut,).
        arithmetic: of all numbers.

    Raises:
        GameError: if a point is never left for good.
    """
    width, at = _width(block), (block.groups, block.places)
    matrices = arithmetic.zeros(int(block.groups.max(initial=-1)) + 1, width, width + 1)
    matrices[:, range(width), range(width)] += arithmetic.number(1)
    matrices[(*at, slice(width))] -= leads.T
    matrices[(*at, width)] = right
    for column in range(width):
        pivots = matrices[:, column, column]
        if (pivots < SMALLEST_EXIT).any():
            point = np.flatnonzero(block.groups == np.argmax(pivots < SMALLEST_EXIT))[column]
            raise GameError(
                "a game must end with positive probability whatever its players do, but they can "
                f"come back for ever to {block.describe_cut(point)}"
            )
        matrices[:, column] = matrices[:, column] / pivots[:, None]
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
    chosen: dict[tuple[int, bytes], Array] = {}

    def prolong(stage: Stage, expected: Array) -> Array:
        best, optimal = FLOATS.best(expected, game.mask(stage.states), 0.0)
        chosen[stage.seat, stage.states.tobytes()] = optimal.argmax(axis=1)
        return best

    def follow(stage: Stage, expected: Array) -> Array:
        actions = chosen[stage.seat, stage.states.tobytes()]
        followed: Array = expected[..., np.arange(len(actions)), actions]
        return followed

    stays = []
    for block in game.blocks(seat):
        visits = np.ones(len(block.groups))
        while len(visits):
            _, found = block.backward(_alone(prolong), None, visits[None])
            if (1 + found[0] - visits <= ROUNDING * visits).all():
                break
            visits = _follow(block, follow, None, visits, FLOATS, per_visit=1)
        stays.append(visits.max(initial=0.0))
        chosen.clear()
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
        block.backward(_alone(look), block.gains(values), block.at_cut(values)[None])


def visits(game: Game, decide: Decide, start: Array, seat: int, arithmetic: Arithmetic) -> Array:
    """Compute how often each position is met on average.

    Args:
        game: the rules.
        decide: takes a stage and the mass of its states, shape (..., state); gives the weights of
            its actions, shape (..., state, action); linear, and asked several times.
        start: mass before the first move, shape (player to move, state).
        seat: for whom the game is not over where mass goes on.
        arithmetic: of the mass.

    Returns:
        Expected visits, shape (player to move, state).
    """
    mass = start.copy()
    for block in game.blocks(seat, arithmetic):
        begun = mass[block.positions]
        returned = arithmetic.zeros(1 + _width(block), len(block.groups))
        returned[1 + block.places, np.arange(len(block.groups))] = arithmetic.number(1)
        entering = arithmetic.zeros(len(returned), len(begun))
        entering[0] = begun
        _, came = block.forward(decide, entering, returned)
        returning = _solve_linear(block, came[1:], came[0], arithmetic)
        met, _ = block.forward(decide, begun[None], returning[None])
        mass[block.positions] = met[0]
        block.leave(decide, met[0], mass)
    return mass
