"""Decision processes whose moves lead back, by policy iteration on their listed moves.

Such a process (``baselines.explicit``) has one player. Moves may pay in cycles, and without a limit
of moves or a discount a policy may never end. Its value is the expected sum of all that it is paid.
A policy that circles for ever in states where nothing is paid has the sum so far; one that
is charged on average as it circles has minus infinity (the convention of stochastic shortest paths,
Bertsekas and Tsitsiklis 1991).

*A policy* makes a Markov chain. States from which the chain cannot end lead to recurrent classes
that it never leaves: they are found in its graph, not in rounded numbers. In all other states, with
P the chances among them and r what a move pays, the values solve (I - P) v = r and the expected
visits solve the transposed system; both are sparse.

*The optimum.* Policy iteration begins with a policy that ends from every state, and changes an
action only for a strictly better one. Then no policy on the way circles for ever, unless it is paid
on average as it does: with the values v of the last policy, v(s) < r(s) + sum of P(s, s') v(s') in
a changed state and equality in others, so that in a recurrent class the stationary mean of what is
paid is positive. The optimum is infinite then, and refused. At the end v >= T v, with T the Bellman
operator, so that whatever a policy does, it is paid in n moves v(s) - E v(s_n) at most. If it ends,
that is at most v(s). If it never ends and is not charged for ever, it keeps to actions whose value
is v; so v is the optimum if no such actions can keep a game in states with v < 0 for ever. A
process in which they can is refused: there, never to end is worth more.

*Error bound.* The same argument proves bounds. Let w be whole multiples of a small unit, with
w >= T w: then w is no less than the values that T has as its fixed point. Such a w is found from
the computed values by adding a little and raising each number to an upper bound of T w while there
is one below. The mean of some numbers is bounded by the smallest one plus the mean of what the
others have above it, rounded up, and by the largest one. So a move that only leads to states of one
number, and pays nothing, raises nothing, and circles do not climb. The same with signs reversed
bounds values from below, under the policy that was found.
"""

from collections.abc import Callable
from fractions import Fraction
from math import frexp
from typing import Any

import numpy as np

from ...core import (
    EXACT,
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
from ...core.errors import needing
from ...core.presentation import present
from ...core.types import Decide, Start
from ..explicit import ExplicitGame, name_states, search
from ..policies.kinds import Policy
from .players import Players, one_hot
from .rounding import require_precision, upwards

#: An action is better if its value is larger by this part of the largest value.
BETTER = 1e-12
#: Where never ending is excluded, actions count as equal up to this part of the largest value.
EQUAL = 1e-9
#: Bits of the unit of error bounds, below the largest value.
BITS = 48
#: Largest part by which a float is rounded.
ROUNDING = 2.0**-53
#: Smallest float that is rounded so, and whole numbers of which floats hold each sum of two.
TINY, LARGEST = float(np.finfo(np.float64).tiny), 2.0**52
#: Systems of up to so many unknowns are factored.
FEW = 2000
#: Of others, steps of GMRES between restarts, restarts, and the part of the right side that may be
#: left.
STEPS, RESTARTS, NEAR = 40, 4, 1e-12
#: Policy iteration takes a few rounds; after this many it must be going in circles.
MOST_ROUNDS = 1000
ENDLESS = "the value of a policy must be finite, and this one circles and is paid without end"
#: So with rounds in which error bounds are raised.
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
        beyond: what illegal actions pay each state on average, shape (state,).
        arithmetic: of values and visits.

    Attributes:
        settled: the states in which the chain stays for ever and nothing is paid, shape (state,).
        circling: those from which it may come to stay for ever where moves pay, shape (state,).
    """

    def __init__(
        self, game: ExplicitGame, weights: Array, beyond: Array, arithmetic: Arithmetic
    ) -> None:
        listing, self._arithmetic, self._count = game.listing, arithmetic, game.rows
        chances = weights.ravel()[listing.cells] * _chances(game, arithmetic)
        possible = np.flatnonzero(chances)
        sources, targets = listing.sources[possible], listing.targets[possible]
        chances, paid = chances[possible], _payoffs(game, arithmetic)[listing.paid[possible]]
        self.paid = beyond.copy()
        np.add.at(self.paid, sources, chances * paid)
        on = targets >= 0
        self._edges, self._weights = (sources[on], targets[on]), chances[on]
        shape = self._count, self._count
        graph = sparse().coo_array((np.ones(len(chances[on])), self._edges), shape).tocsr()
        _, parts = sparse().csgraph.connected_components(graph, connection="strong")
        apart = parts[sources[on]] != parts[targets[on]]
        leave = [parts[sources[~on]], parts[sources[on][apart]], parts[np.flatnonzero(beyond)]]
        stays = ~np.isin(parts, np.concatenate(leave))
        pays = np.isin(parts, parts[sources[paid != 0]])
        self.settled = stays & ~pays
        self._circle = stays & pays
        back = self._edges[::-1]
        self.circling = search(np.flatnonzero(self._circle), *back, self._count) >= 0

    def require_ends(self, first: IntArray, game: Game, said: str) -> None:
        """Raise an error that names where the chain circles, if it may from some states."""
        if self.circling[first].any():
            ahead = search(first, *self._edges, self._count) >= 0
            refuse_for_ever(game, self._circle & ahead, said)

    def values(self) -> Array:
        """Solve for the value of each state, shape (state,); minus infinity where it circles."""
        values = self.solve(self.paid)
        values[self.circling] = -np.inf
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
        if not self._arithmetic.rounds:
            found[free] = _eliminated(rows, columns, weights, right[free])
        elif free.any():
            shape = int(free.sum()), int(free.sum())
            moves = sparse().coo_array((weights, (rows, columns)), shape).tocsc()
            solve = _solver(sparse().eye_array(*shape, format="csc") - moves)
            first = solve(right[free])
            missed = right[free] - first
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
            factors.append(linalg.splu(matrix))
        return factors[0].solve(right)

    return solve


def _eliminated(rows: IntArray, columns: IntArray, weights: Array, right: Array) -> Array:
    """Solve x = right + A x in fractions, by putting in one unknown after the other."""
    solved = right.copy()
    known: list[dict[int, Any]] = [{} for _ in right]
    users: list[set[int]] = [set() for _ in right]
    for row, column, weight in zip(rows.tolist(), columns.tolist(), weights, strict=True):
        known[row][column] = known[row].get(column, 0) + weight
        users[column].add(row)
    for place, equation in enumerate(known):
        factor = 1 / Fraction(1 - equation.pop(place, 0))
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


def swept(players: Players) -> tuple[Values, float]:
    """Find the values of a process to its player, who is free or has a policy; and their bound.

    Raises:
        InputError: naming the states, if the policy or the optimum circles for ever where it is
            paid, or never to end is worth more than to end.
    """
    game, arithmetic = players.game, players.arithmetic
    assert isinstance(game, ExplicitGame)
    if players.free:
        found, choices, bound = _optimum(game, arithmetic)
        players.choices[0][:] = choices
    else:
        found, bound = _evaluated(game, players)
    require_precision(game, bound)
    values = arithmetic.values(1, game.rows)
    values.put(0, found, 1)
    return values.frozen(), bound


def _optimum(game: ExplicitGame, arithmetic: Arithmetic) -> tuple[Array, IntArray, float]:
    """Find the values of optimal play, an optimal action in each state, and the error bound."""
    rounds, nothing = arithmetic.rounds, arithmetic.zeros(game.rows)
    choices = game.way_out if rounds else _optimum(game, FLOATS)[1]
    for _ in range(MOST_ROUNDS):
        weights = one_hot(choices, game.num_actions)
        chain = Chain(game, weights, nothing, arithmetic)
        said = "the optimum must be finite, and play can be paid without end"
        chain.require_ends(np.arange(game.rows), game, said)
        values = chain.values()
        expected, most = _expected(game, values, arithmetic), float(np.abs(values).max())
        now = expected[np.arange(game.rows), choices]
        better = expected.max(axis=1) > now + (BETTER * most if rounds else 0)
        if not better.any():
            break
        choices = np.where(better, expected.argmax(axis=1), choices)
    else:
        raise ArithmeticError(f"policy iteration must end within {MOST_ROUNDS} rounds, and did not")
    near = EQUAL * most
    lasting = game.listing.lasting(expected.astype(float) >= (values.astype(float) - near)[:, None])
    if (better_on := lasting & (values.astype(float) < -near)).any():
        refuse_for_ever(game, better_on, "a game must be worth ending, and play may rather go on")
    if not rounds:
        return values, choices, 0.0
    above, below = _raised(game, values, chain, None, 1), _raised(game, -values, chain, weights, -1)
    return values, choices, max(above, below)


def _evaluated(game: ExplicitGame, players: Players) -> tuple[Array, float]:
    """Find the values of a policy, and the error bound."""
    arithmetic = players.arithmetic
    weights, beyond = _law(players, arithmetic)
    legal = np.where(game.listing.legal, weights, arithmetic.number(0))
    chain = Chain(game, legal, beyond, arithmetic)
    first = game.initial_law()[0] if arithmetic.rounds else np.arange(game.rows)
    chain.require_ends(first, game, ENDLESS)
    values = chain.values()
    if not arithmetic.rounds:
        return values, 0.0
    weights, _ = _law(players, EXACT)
    finite = np.where(chain.circling, 0.0, values)
    above, below = (_raised(game, sign * finite, chain, weights, sign) for sign in (1, -1))
    return values, max(above, below)


def _law(players: Players, arithmetic: Arithmetic) -> tuple[Array, Array]:
    """Give the weights of the player's actions, and what illegal ones pay on average."""
    game = players.game
    stage = Stage(0, np.arange(game.num_states), arithmetic.numbers(np.ones(game.num_states, int)))
    weights = players.law(stage, arithmetic)
    legal = game.mask(stage.states)
    beyond = np.where(legal, 0, weights).sum(axis=1) * arithmetic.payoff_range(game)[0]
    return weights, beyond + arithmetic.zeros(len(legal))


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
    often, worth = met[0], values[0]
    away = np.where(often != 0, worth, arithmetic.number(0))  # it may circle elsewhere
    weights = policy.spread(np.arange(game.rows), often, arithmetic)
    squares = np.where(weights != 0, _expected(game, away, arithmetic, squared=True), 0)
    begins = arithmetic.numbers(chances)
    first = away[states] - arithmetic.mean(begins, away[states])
    found: float | Fraction = arithmetic.total(weights * squares)
    found += arithmetic.mean(begins, first * first)
    return found


def _expected(
    game: ExplicitGame, values: Array, arithmetic: Arithmetic, squared: bool = False
) -> Array:
    """Compute the expected value of each action, shape (state, action); illegal are -inf.

    Args:
        game: the process.
        values: shape (state,).
        arithmetic: of the values.
        squared: whether to compute the mean square of its distance from the state's value instead.
    """
    listing, ahead = game.listing, np.append(values, arithmetic.zeros(1))
    worth = _payoffs(game, arithmetic)[listing.paid] + ahead[listing.targets]
    if squared:
        worth = (worth - values[listing.sources]) ** 2
    found: Array = np.full(listing.legal.size, -np.inf, arithmetic.dtype)
    some = np.flatnonzero(listing.counts)
    begins = sums(listing.counts)[some]
    found[some] = np.add.reduceat(_chances(game, arithmetic) * worth, begins)
    return found.reshape(listing.legal.shape)


def _raised(
    game: ExplicitGame, values: FloatArray, chain: Chain, weights: Array | None, sign: int
) -> float:
    """Raise values until they bound the true ones from above; return by how much at most.

    Args:
        game: the process.
        values: about the true ones, shape (state,).
        chain: that of the policy that has the values.
        weights: of a policy's actions, legal and illegal, fractions of shape (state, action); None
            for the best play.
        sign: -1 if values, and what moves pay, are negative.
    """
    listing, low = game.listing, Fraction(0)
    if weights is not None and weights[~listing.legal].any():
        low = Fraction(game.payoff_range[0])
    largest = max(np.abs(values).max(), *map(abs, listing.payoffs), abs(low))
    unit = Fraction(2) ** (frexp(float(largest) or 1.0)[1] - BITS)
    least = float(-(-sign * low // unit))  # of an illegal action
    payoffs = np.array([float(-(-sign * payoff // unit)) for payoff in listing.payoffs])
    paid, chances = payoffs[listing.paid], _chances(game, FLOATS)
    cells = np.flatnonzero(listing.counts)
    begins, most = sums(listing.counts)[cells], int(listing.counts.max())
    expected = np.full(listing.legal.size, least if weights is not None else -np.inf)
    if weights is not None:
        chosen = np.flatnonzero(weights)
        firsts = np.flatnonzero(np.diff(chosen // game.num_actions, prepend=-1))
        shares = weights.ravel()[chosen].astype(np.float64)
    now = np.ceil(values / float(unit) + (8 + most / 8) * chain.stays())
    for _ in range(MOST_RAISES):
        if not (np.abs(now) < LARGEST).all():  # or no number: the system had no solution
            return np.inf
        worth = paid + np.append(now, 0.0)[listing.targets]
        expected[cells] = _mean_above(worth, chances, begins)
        if weights is None:
            best = expected.reshape(listing.legal.shape).max(axis=1)
        else:
            best = _mean_above(expected[chosen], shares, firsts)
        best[chain.circling] = -np.inf
        if not (best > now).any():
            return upwards(float((now - values / float(unit)).max()) * float(unit))
        now = np.maximum(now, best)
    return np.inf


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


def visits(
    game: Game, decide: Decide, start: Start, arithmetic: Arithmetic, law: PayoffLaw | None
) -> Values:
    """Compute the expected visits of each state (see ``cycles.visits`` and ``Chain.visits``)."""
    assert isinstance(game, ExplicitGame)
    states = np.arange(game.rows)
    stage = Stage(0, states, np.ones(game.rows, arithmetic.dtype))
    weights = decide(stage, stage.scale)
    nothing = arithmetic.zeros(game.rows)
    chain, begun = Chain(game, weights, nothing, arithmetic), nothing.copy()
    begun[start.states] = start.chances
    chain.require_ends(np.flatnonzero(begun), game, ENDLESS)
    met = chain.visits(begun)
    if law is not None:
        ends = game.listing.targets < 0
        flow = (met[:, None] * weights).ravel()[game.listing.cells] * _chances(game, arithmetic)
        law.add(_payoffs(game, arithmetic)[game.listing.paid[ends]], flow[ends])
        settled = met[chain.settled].sum()
        law.add(arithmetic.zeros(1), arithmetic.zeros(1) + settled)
    return Values(met[None]).frozen()
