"""Decision processes whose moves lead back, by policy iteration on their listed moves.

Such a process (``baselines.explicit``) has one player. Moves may pay in cycles, and without a limit
of moves or a discount a policy may never end. Its value is the expected sum of all that it is paid.
A policy that circles for ever in states where nothing is paid has the sum so far; a policy that
circles where moves pay has no value, and where it is charged on average minus infinity (the
convention of stochastic shortest paths, Bertsekas and Tsitsiklis 1991).

*A policy* makes a Markov chain. States from which the chain cannot end lead to recurrent classes
that it never leaves: they are found in its graph, not in rounded numbers. In all other states, with
P the chances among them and r what a move pays, the values solve (I - P) v = r and the expected
visits solve the transposed system; both are sparse. The diagonal of I - P is the chance to leave a
state, a sum in which nothing cancels.

*The optimum.* Policy iteration begins with a policy that from every state ends, or circles where
nothing is paid, and changes an action only for a strictly better one. Then no policy on the way
circles where moves pay, unless it is paid on average as it does: with the values v of the last
policy, v(s) < r(s) + sum of P(s, s') v(s') in a changed state and equality in others, so that in a
recurrent class the stationary mean of what is paid is positive. The optimum is infinite then, and
refused. At the end v >= T v, with T the Bellman operator, so that whatever a policy does, it is
paid in n moves v(s) - E v(s_n) at most. That is at most v(s) if it ends, or circles where nothing
is paid, where v >= 0. What is left are policies that circle where moves pay 0 on average: they keep
to actions whose value is v. If they can do so in states with v < 0, the process is refused.

*Floats* may take rounding for an improvement. An action is better if its value is larger by more
than the rounding of both. A policy that circles where moves pay is refused if the mean is positive
for certain: if r(s) + sum of P(s, s') h(s') - h(s) > 0 in the whole class for some numbers h. Else
its class keeps the actions that it had. Whatever policy is left, its bounds are proved.

*Error bound.* The same argument proves bounds. Let w be whole multiples of small units, with
w >= T w, and w >= 0 where play can go on without payments: then w is no less than the values that T
has as its fixed point. Such a w is found from the computed values by adding a little and raising
each number to an upper bound of T w while there is one below. The mean of some numbers is bounded
by the smallest one plus the mean of what the others have above it, rounded up, and by the largest
one. So a move that only leads to states of one number, and pays nothing, raises nothing, and
circles do not climb. The unit of a state is a power of 2, relative to the largest payoff or value
that can be reached from the state, over the common denominator of all payoffs, if that is small:
what happens elsewhere leaves it as small as it is, and payoffs that cancel in a circle cancel in
units. The same with signs reversed bounds values from below, under the policy that was found.
"""

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from math import inf, lcm, nextafter
from typing import Any, NamedTuple

import numpy as np

from ...core import (
    FLOATS,
    Arithmetic,
    Array,
    BoolArray,
    FloatArray,
    Game,
    InputError,
    IntArray,
    Stage,
    Values,
)
from ...core.block_moves import sums
from ...core.blocks import PayoffLaw
from ...core.checks import require_worst
from ...core.errors import needing
from ...core.presentation import present
from ...core.types import Start
from ..explicit import ExplicitGame, name_states, search, strong_components
from ..policies.kinds import Policy
from .players import Players, one_hot
from .rounding import LARGEST_ERROR, not_precise

#: Bits of the unit of error bounds, below the largest value, and bits between two sizes of units.
BITS, STEP = 48, 4
#: Largest common denominator of payoffs by which units are divided.
DENOMINATOR = 2**40
#: Largest part by which a float is rounded.
ROUNDING = 2.0**-53
#: Smallest float that is rounded so, and whole numbers of which floats hold each sum of two.
TINY, LARGEST = float(np.finfo(np.float64).tiny), 2.0**52
#: Systems of up to so many unknowns are factored.
FEW = 2000
#: Of others, steps of GMRES between restarts, restarts, and the part of the right side that may be
#: left.
STEPS, RESTARTS, NEAR = 40, 4, 1e-12
ENDLESS = "the value of a policy must be finite, and this one circles and is paid without end"
#: Rounds in which error bounds are raised, at most.
MOST_RAISES = 20_000


def sparse() -> Any:
    """Return ``scipy.sparse``, with its graphs and its linear algebra."""
    with needing("a game whose moves lead back", "scipy"):
        import scipy.sparse
        import scipy.sparse.csgraph
        import scipy.sparse.linalg
    return scipy.sparse


class Chain:
    """The Markov chain of a policy in a process.

    Args:
        game: the process.
        weights: probability of each legal action, shape (state, action).
        arithmetic: of values and visits.
        leaks: whether a game may be over by another action, shape (state,); None if in no state.
        beyond: what such actions pay on average, shape (state,).

    Attributes:
        settled: the states in which the chain stays for ever and nothing is paid, shape (state,).
        circling: those from which it may come to stay for ever where moves pay, shape (state,).
        parts: the strongly connected component of each state, shape (state,).
    """

    def __init__(
        self,
        game: ExplicitGame,
        weights: Array,
        arithmetic: Arithmetic,
        leaks: BoolArray | None = None,
        beyond: Array | None = None,
    ) -> None:
        listing, self._arithmetic, self._count = game.listing, arithmetic, game.rows
        chances = weights.ravel()[listing.cells] * _chances(game, arithmetic)
        possible = np.flatnonzero(chances)
        sources, targets = listing.sources[possible], listing.targets[possible]
        chances, paid = chances[possible], _payoffs(game, arithmetic)[listing.paid[possible]]
        self.paid = arithmetic.zeros(game.rows) if beyond is None else beyond.copy()
        np.add.at(self.paid, sources, chances * paid)
        on = targets >= 0
        self._edges, self._weights = (sources[on], targets[on]), chances[on]
        self.parts = parts = strong_components(*self._edges, self._count)
        apart = ~on | (parts[sources] != parts[targets])
        leave = parts[sources[apart]]
        if leaks is not None:
            leave = np.append(leave, parts[leaks])
        stays = ~np.isin(parts, leave)
        pays = np.isin(parts, parts[sources[paid != 0]])
        self.settled = stays & ~pays
        self.circles = stays & pays
        back = self._edges[::-1]
        self.circling = search(np.flatnonzero(self.circles), *back, self._count) >= 0
        out = ~on | (sources != targets)
        self._leaves = arithmetic.zeros(game.rows)  # the chance to go to another state or to an end
        np.add.at(self._leaves, sources[out], chances[out])
        if leaks is not None:
            self._leaves[leaks] += arithmetic.number(1) - weights[leaks].sum(axis=1)

    def require_ends(self, first: IntArray, game: Game, said: str) -> None:
        """Raise an error that names where the chain circles, if it may from some states."""
        if self.circling[first].any():
            ahead = search(first, *self._edges, self._count) >= 0
            refuse_for_ever(game, self.circles & ahead, said)

    def gains(self) -> BoolArray:
        """Find where the chain circles and is for certain paid a positive mean, shape (state,)."""
        own = np.flatnonzero(self.circles)
        _, first, number = np.unique(self.parts[own], return_index=True, return_inverse=True)
        inside = self.circles[self._edges[0]]
        rows, columns = (np.searchsorted(own, each[inside]) for each in self._edges)
        weights, paid = self._weights[inside], self.paid[own]
        mixed, others = sparse().coo_array, ~np.isin(columns, first)
        every, free = np.arange(len(own)), np.setdiff1d(np.arange(len(own)), first)
        entries = np.concatenate([-weights[others], np.ones(len(free)), np.ones(len(own))])
        at = np.append(rows[others], np.append(free, every))
        system = entries, (at, np.append(columns[others], np.append(free, first[number])))
        sure = np.zeros(self._count, dtype=bool)
        with suppress(RuntimeError):  # the system is singular
            numbers = sparse().linalg.splu(mixed(system, (len(own),) * 2).tocsc()).solve(paid)
            numbers[first] = 0.0  # where the mean stood
            mean, size = paid - numbers, np.abs(paid) + np.abs(numbers)
            np.add.at(mean, rows, weights * numbers[columns])
            np.add.at(size, rows, weights * np.abs(numbers[columns]))
            roundings = 8 + np.bincount(rows, minlength=len(own))
            wrong = number[~(mean > roundings * 2 * ROUNDING * size)]
            sure[own] = ~np.isin(number, wrong)
        return sure

    def values(self) -> Array:
        """Solve for the value of each state, shape (state,); minus infinity where it circles."""
        values = self.solve(self.paid)
        values[self.circling] = -inf
        return values

    def visits(self, begun: Array) -> Array:
        """Solve for the expected visits of each state, shape (state,).

        Of settled states the first one is counted, as nothing is paid from there on.

        Args:
            begun: mass before the first move, shape (state,).
        """
        sources, targets = self._edges
        found = self.solve(begun, transposed=True)
        into = self.settled[targets] & ~self.settled[sources]
        np.add.at(found, targets[into], self._weights[into] * found[sources[into]])
        return found

    def stays(self) -> Array:
        """Solve for the expected number of moves before the chain ends or settles, (state,)."""
        return self.solve(np.where(self.settled, 0.0, 1.0))

    def solve(self, right: Array, transposed: bool = False) -> Array:
        """Solve x = right + P x, or x = right + P' x, in the states that lead to an end.

        In the other states x is ``right`` if they are settled, and 0 if they circle.
        """
        rows, columns = self._edges[::-1] if transposed else self._edges
        free = ~self.settled & ~self.circling
        inside, places = free[rows] & free[columns], np.cumsum(free) - 1
        rows, columns = places[rows[inside]], places[columns[inside]]
        weights = self._weights[inside]
        found = right.copy()
        found[self.circling] = self._arithmetic.number(0)
        off, leaves = rows != columns, self._leaves[free]
        rows, columns, weights = rows[off], columns[off], weights[off]
        if not self._arithmetic.rounds:
            found[free] = _eliminated(rows, columns, weights, right[free], leaves)
        elif free.any():
            every, count = np.arange(len(leaves)), len(leaves)
            at = np.append(rows, every), np.append(columns, every)
            entries = np.append(-weights, leaves)
            solve = _solver(sparse().coo_array((entries, at), (count, count)).tocsc())
            first = solve(right[free])
            missed = right[free] - leaves * first
            np.add.at(missed, rows, weights * first[columns])
            found[free] = first + solve(missed)
        return found


def _solver(matrix: Any) -> Callable[[FloatArray], Any]:
    """Return a function that solves a sparse system, in a library whose last bits may differ.

    The factors of a large matrix may have no room; steps of GMRES come first, which end soon where
    games do.
    """
    factors: list[Any] = []

    def solve(right: FloatArray) -> Any:
        linalg, failed = sparse().linalg, True
        if matrix.shape[0] > FEW and not factors:
            found, failed = linalg.gmres(matrix, right, rtol=NEAR, restart=STEPS, maxiter=RESTARTS)
        if not failed:
            return found
        if not factors:
            try:
                factors.append(linalg.splu(matrix))
            except RuntimeError:  # of a matrix that rounding has made singular
                return np.full(len(right), np.nan)
        return factors[0].solve(right)

    return solve


def _eliminated(
    rows: IntArray, columns: IntArray, weights: Array, right: Array, leaves: Array
) -> Array:
    """Solve leaves x = right + A x in fractions, by putting in one unknown after the other."""
    solved = right.copy()
    known: list[dict[int, Any]] = [{} for _ in right]
    users: list[set[int]] = [set() for _ in right]
    for row, column, weight in zip(rows.tolist(), columns.tolist(), weights, strict=True):
        known[row][column] = known[row].get(column, 0) + weight
        users[column].add(row)
    for place, equation in enumerate(known):
        factor = 1 / Fraction(leaves[place] - equation.pop(place, 0))
        solved[place] *= factor
        for column in equation:
            equation[column] *= factor
        for other in users[place] - {place}:
            part = known[other].pop(place)
            solved[other] += part * solved[place]
            for column, weight in equation.items():
                known[other][column] = known[other].get(column, 0) + part * weight
                users[column].add(other)
    return solved


def _chances(game: ExplicitGame, arithmetic: Arithmetic) -> Array:
    """Give the chance of each way, shape (way,)."""
    counts = game.listing.counts
    outcomes = np.arange(counts.sum()) - np.repeat(sums(counts)[:-1], counts)
    return arithmetic.laws(game)[np.repeat(game.listing.rows, counts), outcomes]


def _payoffs(game: ExplicitGame, arithmetic: Arithmetic) -> Array:
    payoffs = game.listing.payoffs
    return arithmetic.numbers(payoffs) if arithmetic.rounds else payoffs


def swept(players: Players) -> tuple[Values, float | FloatArray]:
    """Find the values of a process to its player, who is free or has a policy; and their bounds.

    Returns:
        Values, and a bound of the error of the value and of all action values of each state, shape
        (state,); 0 if they are fractions.

    Raises:
        InputError: naming the states, if the policy or the optimum circles where it is paid.
    """
    game = players.game
    assert isinstance(game, ExplicitGame)
    if players.free:
        found, choices, bounds = _optimum(game, players.arithmetic)
        players.choices[0][:] = choices
    else:
        found, bounds = _evaluated(game, players)
    return Values(found[None]).frozen(), bounds


def _optimum(
    game: ExplicitGame, arithmetic: Arithmetic
) -> tuple[Array, IntArray, float | FloatArray]:
    """Find the values of optimal play, an optimal action in each state, and the error bounds."""
    rounds, choices, known = arithmetic.rounds, game.way_out, set[bytes]()
    if not rounds:
        with suppress(InputError):  # floats are not precise enough
            choices = _optimum(game, FLOATS)[1]
    before, every = choices, np.arange(game.rows)
    while True:
        chain = Chain(game, one_hot(choices, game.num_actions), arithmetic)
        if chain.circles.any():
            if (sure := chain.gains() if rounds else chain.circles).any():
                said = "the optimum must be finite, and play can be paid without end"
                refuse_for_ever(game, sure, said)
            choices = np.where(chain.circles, before, choices)
            continue
        values = chain.values()
        expected, slack = _expected(game, values, arithmetic), arithmetic.zeros(1)
        if rounds:
            size = _expected(game, np.abs(values), arithmetic, absolute=True)
            slack = (2 * game.listing.counts.max() + 8) * ROUNDING * size
        now = expected[every, choices][:, None]
        better = np.where(expected > now + slack, expected, -inf)
        known.add(choices.tobytes())
        before, best = choices, better.argmax(axis=1)
        choices = np.where((better > -inf).any(axis=1), best, choices)
        if choices.tobytes() in known:  # they are as before or, by rounding, as once before
            choices = before
            break
    if not rounds:
        _refuse_swings(game, expected == values[:, None], values)
        return values, choices, 0.0
    above, tight = _raised(game, values, chain, None, 1)
    below, _ = _raised(game, -values, chain, one_hot(choices, game.num_actions), -1)
    bounds = _bounds(game, values, np.maximum(above, below))
    _refuse_swings(game, tight, values)
    return values, choices, bounds


def _refuse_swings(game: ExplicitGame, tight: BoolArray, values: Array) -> None:
    """Refuse a process that can go on where it is paid and charged as much, and is worth less.

    Args:
        game: the process.
        tight: the actions whose value is that of their state, shape (state, action).
        values: of optimal play, shape (state,).
    """
    listing, circles = game.listing, game.listing.circles(tight & ~game.idle)
    if not circles.any():
        return
    circles = listing.circles(tight)
    used = circles.ravel()[listing.cells]
    sources = listing.sources[used]
    parts = strong_components(sources, listing.targets[used], game.rows)
    pays = parts[sources[_payoffs(game, FLOATS)[listing.paid[used]] != 0]]
    swings = circles.any(axis=1) & np.isin(parts, pays)
    if swings[values < 0].any():
        said = "a game must be worth ending, and play may rather go on, paid and charged as much,"
        refuse_for_ever(game, swings, said)


def _evaluated(game: ExplicitGame, players: Players) -> tuple[Array, float | FloatArray]:
    """Find the values of a policy, and the error bounds."""
    arithmetic, legal = players.arithmetic, game.listing.legal
    every = np.arange(game.rows)
    stage = Stage(0, every, arithmetic.numbers(np.ones(game.rows, dtype=np.int64)))
    weights = players.law(stage, arithmetic)
    leaks: BoolArray = np.asarray(((weights != 0) & ~legal).any(axis=1))
    beyond = None
    if leaks.any():
        require_worst(game)
        worst = arithmetic.payoff_range(game)[0]
        beyond = np.where(legal, 0, weights).sum(axis=1) * worst + arithmetic.zeros(game.rows)
    kept = np.where(legal, weights, arithmetic.number(0))
    chain = Chain(game, kept, arithmetic, leaks, beyond)
    chain.require_ends(game.initial_law()[0], game, ENDLESS)
    values = chain.values()
    if not arithmetic.rounds:
        return values, 0.0
    finite = np.where(chain.circling, 0.0, values)
    above, below = (_raised(game, sign * finite, chain, weights, sign)[0] for sign in (1, -1))
    return values, _bounds(game, finite, np.maximum(above, below))


def _bounds(game: ExplicitGame, values: FloatArray, missed: FloatArray) -> FloatArray:
    """Bound the error of the value and of all action values of each state, shape (state,).

    Args:
        game: the process.
        values: shape (state,).
        missed: bounds of their errors, shape (state,).

    Raises:
        InputError: if the bound of a state that games meet is a large part of what it is worth.
    """
    listing, sizes = game.listing, _sizes(game, values)
    firsts = np.searchsorted(listing.sources, np.arange(game.rows))
    later = np.maximum.reduceat(np.append(missed, 0.0)[listing.targets], firsts)
    rounding = (2 * listing.counts.max() + 8) * 2 * ROUNDING * sizes
    bounds: FloatArray = (np.maximum(missed, later) + rounding) * (1 + 4 * ROUNDING)
    start, on = game.initial_law()[0], listing.targets >= 0
    met = search(start, listing.sources[on], listing.targets[on], game.rows) >= 0
    poor = met & ~(bounds <= LARGEST_ERROR * sizes)
    if poor.any():
        raise not_precise(game, float(bounds[poor].max()))
    return bounds


def refuse_for_ever(game: Game, where: BoolArray, said: str) -> None:
    """Raise the error that a game goes on for ever in some states, (state,)."""
    raise InputError(
        f"{said} in {name_states(where)} of {present(game).title}: give a horizon, or a gamma "
        "below 1"
    )


def variance(
    game: Game, policy: Policy, values: Values, met: Values, arithmetic: Arithmetic
) -> float | Fraction:
    """Compute the variance of what a policy is paid, by the law of total variance.

    It is that of the first states' values, and with the expected visits of each state the sum of
    the mean squares by which a move changes what is paid so far and the value together.

    Args:
        game: the process.
        policy: that of its player, which keeps to the legal actions.
        values: the values of the policy.
        met: the expected visits.
        arithmetic: of values and visits.
    """
    assert isinstance(game, ExplicitGame)
    states, chances = game.initial_law()
    often, worth, legal = met[0], values[0], game.listing.legal
    away = np.where(often != 0, worth, arithmetic.number(0))  # it may circle elsewhere
    weights = policy.spread(np.arange(game.rows), often, arithmetic)
    expected = _expected(game, away, arithmetic, squared=True)
    beyond = (arithmetic.payoff_range(game)[0] - away) ** 2  # of illegal actions
    squares = np.where(weights != 0, np.where(legal, expected, beyond[:, None]), 0)
    begins = arithmetic.numbers(chances)
    first = away[states] - arithmetic.mean(begins, away[states])
    found: float | Fraction = arithmetic.total(weights * squares)
    found += arithmetic.mean(begins, first * first)
    return found


def _expected(
    game: ExplicitGame,
    values: Array,
    arithmetic: Arithmetic,
    squared: bool = False,
    absolute: bool = False,
) -> Array:
    """Compute the expected value of each action, shape (state, action); illegal are -inf.

    Args:
        game: the process.
        values: shape (state,).
        arithmetic: of the values.
        squared: whether to compute the mean square of its distance from the state's value instead.
        absolute: whether to take the size of each payoff.
    """
    listing, ahead = game.listing, np.append(values, arithmetic.zeros(1))
    payoffs = _payoffs(game, arithmetic)
    worth = (np.abs(payoffs) if absolute else payoffs)[listing.paid] + ahead[listing.targets]
    if squared:
        worth = (worth - values[listing.sources]) ** 2
    found: Array = np.full(listing.legal.size, -inf, arithmetic.dtype)
    some = np.flatnonzero(listing.counts)
    begins = sums(listing.counts)[some]
    found[some] = np.add.reduceat(_chances(game, arithmetic) * worth, begins)
    return found.reshape(listing.legal.shape)


def _sizes(game: ExplicitGame, values: FloatArray) -> FloatArray:
    """Bound the largest payoff or value that can be reached from each state by a power of 2.

    Returns:
        Powers of 2^``STEP``, shape (state,); 0 where all payoffs and values are 0.
    """
    listing, on = game.listing, game.listing.targets >= 0
    firsts = np.searchsorted(listing.sources, np.arange(game.rows))
    paid = np.maximum.reduceat(np.abs(_payoffs(game, FLOATS))[listing.paid], firsts)
    own = np.maximum(np.abs(values), paid)
    powers = np.where(own > 0, -(-np.frexp(own)[1] // STEP) * STEP, np.iinfo(np.int64).min)
    sizes, edges = np.zeros(game.rows), (listing.targets[on], listing.sources[on])
    for power in np.unique(powers[own > 0])[::-1].tolist():
        first = np.flatnonzero((powers == power) & (sizes == 0))
        reached = search(first, *edges, game.rows) >= 0
        sizes[reached & (sizes == 0)] = 2.0**power
    return sizes


class _Units(NamedTuple):
    """The units of error bounds.

    Attributes:
        scale: units in 1, shape (state,); 0 where all numbers are 0.
        ratios: by which the number of the next state is multiplied, shape (way,).
        paid: payoff of each way, rounded up to units of its state, shape (way,).
        least: the same of an illegal action, shape (state,).
    """

    scale: FloatArray
    ratios: FloatArray
    paid: FloatArray
    least: FloatArray


def _units(game: ExplicitGame, values: FloatArray, sign: int) -> _Units:
    """Choose the unit of each state, and count payoffs in it; ``sign`` -1 reverses them."""
    listing, sizes, whole = game.listing, _sizes(game, values), 1
    for denominator in {payoff.denominator for payoff in listing.payoffs}:
        whole = lcm(whole, denominator) if whole <= DENOMINATOR else whole
    whole = whole if whole <= DENOMINATOR else 1
    sizes = sizes * 2.0 ** (whole - 1).bit_length()
    steps = np.where(sizes > 0, 2.0**BITS / np.where(sizes > 0, sizes, 1.0), 0.0)
    after = np.append(steps, 0.0)[listing.targets]
    ratios = np.where(after > 0, steps[listing.sources] / np.where(after > 0, after, 1.0), 0.0)
    payoffs = np.array([_above(sign * payoff * whole) for payoff in listing.payoffs])
    paid = np.ceil(payoffs[listing.paid] * steps[listing.sources])
    worst = 0.0 if game.worst_payoff == -inf else _above(sign * game.exact_range[0] * whole)
    return _Units(steps * whole, ratios, paid, np.ceil(worst * steps))


def _above(number: Fraction) -> float:
    """Give the smallest float that is not below a number."""
    near = float(number)
    return nextafter(near, inf) if near < number else near


def _raised(
    game: ExplicitGame, values: FloatArray, chain: Chain, weights: Array | None, sign: int
) -> tuple[FloatArray, BoolArray]:
    """Raise values until they bound the true ones from above.

    Args:
        game: the process.
        values: about the true ones, shape (state,).
        chain: that of the policy that has the values.
        weights: of a policy's actions, legal and illegal, shape (state, action); None for the best
            play.
        sign: -1 if values, and what moves pay, are negative.

    Returns:
        By how much each was raised, (state,), infinite if they cannot be; and the actions that may
        be worth all of it, shape (state, action).
    """
    listing, units = game.listing, _units(game, values, sign)
    chances, cells = _chances(game, FLOATS), np.flatnonzero(listing.counts)
    begins, most = sums(listing.counts)[cells], int(listing.counts.max())
    expected = np.full(listing.legal.shape, -inf)
    if weights is not None:
        expected[:] = units.least[:, None]
        chosen = np.flatnonzero(weights)
        firsts = np.flatnonzero(np.diff(chosen // game.num_actions, prepend=-1))
        shares = weights.ravel()[chosen].astype(np.float64)
    scaled = values * units.scale
    slack = (8 + most / 8) * chain.stays()
    now = np.ceil(scaled + np.where(units.scale > 0, slack, 0.0))
    if weights is None:
        now = np.where(game.idle.any(axis=1), np.maximum(now, 0.0), now)
    for _ in range(MOST_RAISES):
        if not (np.abs(now) < LARGEST).all():  # or no number: the system had no solution
            break
        worth = units.paid + np.ceil(np.append(now, 0.0)[listing.targets] * units.ratios)
        expected.ravel()[cells] = _mean_above(worth, chances, begins)
        best = expected.max(axis=1)
        if weights is not None:
            best = _mean_above(expected.ravel()[chosen], shares, firsts)
        best[chain.circling] = -inf
        if not (best > now).any():
            raised = (now - scaled + 1) / np.where(units.scale > 0, units.scale, inf)
            return raised * (1 + 4 * ROUNDING), expected >= now[:, None]
        now = np.maximum(now, best)
    return np.full(game.rows, inf), np.zeros(listing.legal.shape, dtype=bool)


def _mean_above(numbers: FloatArray, chances: FloatArray, begins: IntArray) -> FloatArray:
    """Bound the means of groups of whole numbers from above, by whole numbers of shape (group,).

    Args:
        numbers: shape (number,).
        chances: probability of each in its group, rounded once, shape (number,).
        begins: the first number of each group, shape (group,).
    """
    sizes = np.diff(begins, append=len(numbers))
    least, most = (best.reduceat(numbers, begins) for best in (np.minimum, np.maximum))
    chances = np.maximum(chances, TINY)  # smaller ones are rounded by more
    above = np.add.reduceat(chances * (numbers - np.repeat(least, sizes)), begins)
    rounded = 1 + (int(sizes.max()) + 4) * 2 * ROUNDING
    return np.minimum(least + np.ceil(above * rounded), most)


def settled(game: Game, policy: Policy) -> BoolArray:
    """Find where a policy stays for ever and nothing is paid, shape (state,)."""
    assert isinstance(game, ExplicitGame)
    every, legal = np.arange(game.rows), game.listing.legal
    weights = policy.spread(every, np.ones(game.rows), FLOATS)
    leaks: BoolArray = np.asarray(((weights != 0) & ~legal).any(axis=1))
    return Chain(game, np.where(legal, weights, 0.0), FLOATS, leaks).settled


def visits(
    game: Game,
    weights: Array,
    kept: Array,
    start: Start,
    arithmetic: Arithmetic,
    law: PayoffLaw | None,
) -> Values:
    """Compute the expected visits of each state (see ``cycles.visits`` and ``Chain.visits``).

    Args:
        game: the process.
        weights: probability of each action, shape (state, action).
        kept: that with which the game goes on, of the same shape: illegal actions, say, end it.
        start: mass before the first move.
        arithmetic: of the mass.
        law: payoffs are added to it, unless it is None.
    """
    assert isinstance(game, ExplicitGame)
    chain = Chain(game, kept, arithmetic, (weights != kept).any(axis=1))
    begun = arithmetic.zeros(game.rows)
    begun[start.states] = start.chances
    chain.require_ends(np.flatnonzero(begun), game, ENDLESS)
    met = chain.visits(begun)
    if law is not None:
        ends = game.listing.targets < 0
        flow = (met[:, None] * kept).ravel()[game.listing.cells] * _chances(game, arithmetic)
        law.add(_payoffs(game, arithmetic)[game.listing.paid[ends]], flow[ends])
        settled = met[chain.settled].sum()
        law.add(arithmetic.zeros(1), arithmetic.zeros(1) + settled)
    return Values(met[None]).frozen()
