"""Games with cycles: values and visits as fixed points, found block by block.

Let T(c) be the values of a block's cut after one pass backward with the values c put in at the cut
(``core.blocks``). The true values solve c = T(c).

*Fixed policies* make T affine, T(c) = b + A c, where A(i, j) is the probability that the next point
of the cut after point i is point j. So from any guess c the step d to the solution solves the small
linear system (I - A) d = T(c) - c. Forward, the expected visits x of the cut solve the transposed
system x = r + A' x, where r is the mass on its first arrival at the cut.

*Free players* choose by policy iteration (``iteration``), from a guess of c (``_continued``): the
choices of the pass for T(c) become fixed policies, whose solution is the next c, until the choices
repeat. Where two players are free, both choose at once, which is Newton's method and need not come
to an end (Pollatschek and Avi-Itzhak 1969). If choices repeat before c = T(c), the opponent first
finds its best response to the other player's choices, by the same iteration, which always ends
(Hoffman and Karp 1966).

*Error bound.* Let r bound |T(c) - c|, as computed by the last pass. In a position of the cut
the values that are used, c, miss their equation by r more than other values do. So the proof in
``rounding`` bounds their error by (eta + r) N, where N is the expected number of decisions until
the block is left, if all players conspire to prolong the stay. N is finite if and only if the block
is left with positive probability under every policy, as every game must. It is found by the same
iteration, for a game that pays one for each decision. Floats find h in place of its values at the
cut, for which a pass gives T'(h) <= h + t. If t < 1, then 1 / (1 - t) times the values of that
pass, and times h at the cut, are large enough for the proof. The error of later blocks is added
once, as the block is left once. Without rounding, c = T(c) holds to the last digit.

*Endless play.* Two players may be able to play on for ever, where nothing is paid. Then N is
infinite, and T may have more than one fixed point. But T is monotone: c = T(c) is iterated from the
worst payoff and from the best one, and the value lies between the two, whatever endless play is
worth (``_between``). Half their distance bounds the error, with the roundings of all passes, each
of which moves a value by no more than it moves c. If they do not meet, the game is refused. A
player's choices are those of the iteration from its worst payoff; they change only where another
action is better, so that they lead to an end.

*Forward*, if visits x of the cut miss r + A' x by some mass, the mass that arrives at the ends of
the game is wrong by no more than that, as the missing mass ends once.
"""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from ...core import (
    EXACT,
    FLOATS,
    Arithmetic,
    Array,
    Decide,
    FloatArray,
    Game,
    GameError,
    InputError,
    IntArray,
    Stage,
    Sweeps,
    Values,
    frozen,
    present,
    sweeps_of,
)
from ...core.blocks import Block, PayoffLaw
from ...core.game import ListedGame
from ...core.positions import legal_in
from ...core.progress import tell
from ...core.types import Start
from ..cache import cached
from .iteration import MOST_ROUNDS, digest_of, policy_iteration
from .players import Players, no_choices, one_hot
from .rounding import LARGEST_ERROR, gamma, largest_payoff, require_precision, upwards, values_error

#: The iteration for a longest stay stops once the t of the docstring of ``cycles`` is at most this.
MISSING = 2.0**-10
#: If it ends with a larger t than this, floats cannot tell the stay from an endless one.
MOST_MISSING = 0.5
#: Passes after which two bounds of values in which a game may be endless must have met.
MOST_PASSES = 20_000


def longest_stays(law: Sweeps, seat: int, arithmetic: Arithmetic = FLOATS) -> FloatArray:
    """Bound the number of decisions in each block, shape (block,), from any of its positions.

    It is the expected number if all players conspire to prolong the stay; infinite where floats are
    not precise enough and the computation is exact, which needs no bound.
    """
    game, stays = law.game, _stays_in_floats(law.game, seat)
    endless = np.flatnonzero(np.isinf(stays)).tolist()
    if endless:
        blocks = law.blocks(seat, EXACT)
        for number in endless:
            _stay(game, blocks[number], EXACT, no_choices(game, game.num_players))  # may raise
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
        choices = no_choices(game, game.num_players) if choices is None else choices
        try:
            stays.append(_stay(game, block, FLOATS, choices))
        except GameError:  # it may end after all: floats may round a small chance to 0
            stays.append(np.inf)
    return frozen(np.array(stays))


def _stay(game: Game, block: Block, arithmetic: Arithmetic, choices: IntArray) -> float:
    """Bound the decisions in a block; infinite if floats are not precise enough.

    Without rounding it only finds out whether the block is left: a ``GameError`` says that it may
    never be. The actions that prolong the stay are written to ``choices``, (player to move, state).
    """
    longest, gains = [0.0], block.gains(None)

    def prolong(stage: Stage, expected: Array) -> Array:
        best, optimal = arithmetic.best(expected, legal_in(game, stage), 0.0)
        choices[stage.positions] = optimal.argmax(axis=1)
        if arithmetic.rounds:
            longest.append(float(best.max()) + 1)
        return best + stage.scale

    def weigh(stage: Stage, mass: Array) -> Array:
        return mass[:, None] * one_hot(choices[stage.positions], game.num_actions)

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


def _continued(cuts: Sequence[FloatArray], count: int) -> FloatArray:
    """Guess the ``count`` values of a cut: continue those of the last two in a line, or of one.

    Cuts of different lengths are compared by place, the first with the first, the last with the
    last.
    """
    before, last = (_stretched(cuts[place], count) for place in (0, -1))
    return 2 * last - before


def _stretched(numbers: FloatArray, count: int) -> FloatArray:
    """Read numbers at places that divide the way from the first to the last evenly."""
    places = np.arange(count) * ((len(numbers) - 1) / max(count - 1, 1))
    low = places.astype(np.int64)
    high = np.minimum(low + 1, len(numbers) - 1)
    return numbers[low] + (places - low) * (numbers[high] - numbers[low])


def fixed_point(players: Players) -> tuple[Values, float]:
    """Find the values of all positions to a player, and the choices of the free players.

    Values have the shape (player to move, state); the bound of their error is 0 for fractions.
    """
    game, arithmetic = players.game, players.arithmetic
    law = players.law
    endless: GameError | None = None
    try:
        stays = longest_stays(law, players.seat, arithmetic)
    except GameError as error:
        if not (game.zero_sum and arithmetic.rounds and isinstance(game, ListedGame)):
            raise
        stays, endless = _stays_in_floats(game, players.seat), error
    values = law.values(players.seat, players.repeat, arithmetic)
    blocks, floats = law.blocks(players.seat, arithmetic), _in_floats(players)
    bounds = np.zeros(len(blocks))  # of the error of each block
    cuts: deque[FloatArray] = deque(maxlen=2)  # the values of the last cuts
    for number in reversed(range(len(blocks))):
        tell(len(blocks) - 1 - number, len(blocks), "values")
        block = blocks[number]
        width = len(block.groups)
        if floats is not None:
            guess = block.at_cut(floats)
        elif cuts:
            guess = players.within(_continued(cuts, width))
        else:
            guess = np.full(width, sum(game.payoff_range) / 2)
        gains, first = block.gains(values), arithmetic.from_floats(guess)
        later = bounds[block.successors].max(initial=0.0)
        if endless and np.isinf(stays[number]):
            bounds[number] = upwards(later + _between(block, gains, players, values, endless))
            continue
        residual = solve_block(block, gains, players, values, first)
        if arithmetic.rounds:
            cuts.extend([block.at_cut(values)] if width else [])
            missed = _rounding(block, players, stays[number]) + stays[number] * residual
            bounds[number] = upwards(later + missed)
    bound = float(bounds.max(initial=0.0))
    require_precision(game, bound)
    return values.frozen(), bound


def _rounding(block: Block, players: Players, stay: float) -> float:
    """Bound the roundings of values, given that of the decisions until a block is left."""
    size = largest_payoff(players.range, block.pays_early)
    return values_error(block.roundings(players.roundings, stay), size)


def _between(
    block: Block, gains: Any, players: Players, values: Values, refusal: GameError
) -> float:
    """Find the values of a block in which players can play on for ever; bound their error."""
    calls: list[int] = [0]
    bounds: list[FloatArray] = []

    def decide(stage: Stage, expected: Array, own: int | None = None) -> Array:
        """Take the best actions; one player takes another one where it is better."""
        calls[-1] += 1
        mover, states = stage.seat, stage.states
        if mover not in players.free:
            return players.repeat(stage, expected)
        sign = 1 if mover == players.seat else -1
        worth = np.where(legal_in(players.game, stage), sign * expected, -np.inf)
        best = worth.max(axis=1)
        if mover == own:
            chosen = players.choices[mover]
            held = worth[np.arange(len(states)), chosen[states]]
            better = (chosen[states] < 0) | (best > held + players.tie)
            chosen[states] = np.where(better, worth.argmax(axis=1), chosen[states])
        return players.within(sign * best)

    for own, worst in zip((players.seat, 1 - players.seat), players.range, strict=True):
        before, cut = None, np.full(len(block.groups), worst)
        while (before is None or (before != cut).any()) and len(calls) < MOST_PASSES:
            before, cut = cut, block.backward(partial(decide, own=own), gains, cut)
            calls.append(0)
        bounds.append(cut)
    gap = float(np.abs(bounds[1] - bounds[0]).max(initial=0))
    block.backward(decide, gains, (bounds[0] + bounds[1]) / 2, values)
    bound = gap + len(calls) * _rounding(block, players, max(calls))
    if bound > LARGEST_ERROR * largest_payoff(players.range):
        raise refusal
    return bound


def pass_error(law: Sweeps, seat: int, arithmetic: Arithmetic, decision: int = 0) -> float:
    """Bound the error of a seat's values by one pass in a game without cycles; 0 if exact.

    Roundings of a decision are counted by ``decision``.
    """
    if not arithmetic.rounds:
        return 0.0
    (block,), (stay,) = law.blocks(seat), longest_stays(law, seat)
    size = largest_payoff(law.game.payoff_range, block.pays_early)
    bound = values_error(block.roundings(decision, stay), size)
    require_precision(law.game, bound)
    return bound


def _in_floats(players: Players) -> Values | None:
    """Find the values in floats, with which exact policy iteration begins; None if of no use.

    Nearly all choices are right at the floats' values, so exact iteration is short.
    """
    if players.game.has_cycles and not players.arithmetic.rounds:
        with suppress(InputError):  # floats are not precise enough
            return fixed_point(players.in_floats())[0]
    return None


def solve_block(
    block: Block,
    gains: Any,  # of moves that leave it, and what its moves pay
    players: Players,
    values: Values,  # those of later blocks, to which those of this block are added
    cut: Array,  # a guess of the cut's values, shape (cut,)
) -> Any:
    """Find the values of one block, given those of later ones, and give the residual."""

    def back(cut: Array) -> Array:
        return block.backward(players.choose, gains, cut, values)

    def solve(cut: Array, found: Array) -> Array:
        """Give the cut's values if all players repeat their last choices, from c and T(c)."""
        returns = block.returns(players.weigh)
        return players.within(cut + solve_linear(block, returns, found - cut, players.arithmetic))

    def chosen() -> IntArray:
        return players.chosen(block.positions)

    def respond(cut: Array, found: Array) -> Array:
        """Give them after the opponent's best response to the other player's choices."""

        def answer(cut: Array) -> Array:
            return block.backward(players.respond, gains, cut)

        first = solve(cut, found)
        return policy_iteration(answer, solve, chosen, first, {digest_of(chosen())})[0]

    cut, found = policy_iteration(back, solve, chosen, cut)
    residual = np.abs(found - cut).max(initial=0)
    if residual > players.tie and len(players.free) > 1:  # Newton's method went in a circle
        cut, found = policy_iteration(back, respond, chosen, cut)
        residual = np.abs(found - cut).max(initial=0)
    if residual and not players.arithmetic.rounds:
        raise ArithmeticError(f"values must be a fixed point, got a residual of {float(residual)}")
    return residual


def solve_linear(block: Block, chances: Array, right: Array, arithmetic: Arithmetic) -> Array:
    """Solve x = right + A x, for each group of a block's cut by itself.

    Gauss-Jordan elimination without pivoting. I - A needs none: it has no positive entry off the
    diagonal, and either no row or no column with a negative sum. A has the shape (group, place,
    place), ``right`` and x (cut,). A point that is never left for good is a ``GameError``.
    """
    at, width = (block.groups, block.places), chances.shape[1]
    one = arithmetic.numbers(np.eye(width, dtype=np.int64))
    matrices = np.concatenate([one - chances, np.zeros_like(chances[..., :1])], axis=2)
    matrices[(*at, width)] = right
    for column in range(width):
        pivots = matrices[:, column, column]
        if (pivots <= 0).any():
            point = np.flatnonzero(block.groups == np.argmax(pivots <= 0))[column]
            raise GameError(
                "a game must end with positive probability whatever its players do, but they can "
                f"come back for ever to {block.describe_cut(point)} (a SimpleGame takes a horizon, "
                "or a gamma below 1, with which it ends)"
            )
        matrices[:, column] = matrices[:, column] * (1 / pivots)[:, None]
        factors = matrices[:, :, column].copy()
        factors[:, column] = 0
        matrices -= factors[:, :, None] * matrices[:, column, None]
    return matrices[(*at, width)]


def visits(
    law: Sweeps,
    # from a stage's mass, (state,), to its actions' weights, (state, action); linear, and called
    # again for visits of a game of turns
    decide: Decide,
    start: Start,  # mass before the first move
    seat: int,  # mass goes on while the game is not over for this seat
    arithmetic: Arithmetic,
    payoffs: PayoffLaw | None = None,  # those to the seat are added to it
) -> tuple[Values, float]:
    """Compute the expected visits of each position, and what the linear systems miss.

    That is the sum of their absolute residuals.
    """
    mass, residual = law.mass(decide, [start], arithmetic), 0.0
    blocks = law.blocks(seat, arithmetic)
    for number, block in enumerate(blocks):
        tell(number, len(blocks), "visits")
        returning = arithmetic.zeros(0)
        if len(block.groups):
            returned = np.swapaxes(block.returns(decide), 1, 2)
            came = block.arrive(decide, mass)
            returning = solve_linear(block, returned, came, arithmetic)
            residual += _missed(block, returned, came, returning)
        block.forward(decide, mass, returning, payoffs)
    return mass.frozen(), residual


def _missed(block: Block, chances: Array, right: Array, solved: Array) -> float:
    """Bound the residual of a linear system's solution: the sum of |right + A x - x|."""
    inside = np.zeros(chances.shape[:2], dtype=chances.dtype)  # (group, place)
    inside[block.groups, block.places] = solved
    sums = (chances * inside[:, None, :]).sum(axis=2)[block.groups, block.places]
    rounding = gamma(chances.shape[1] + 3) * (right + sums + solved)
    return float((np.abs(right + sums - solved) + rounding).sum())
