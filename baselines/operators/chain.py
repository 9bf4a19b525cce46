"""The Markov chain of a policy in a decision process (see ``mdp``): its values and its visits."""

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from ...core import Arithmetic, Array, BoolArray, FloatArray, Game, InputError, IntArray, present
from ...core.block_moves import in_a_row, sums
from ...core.errors import needing
from ..law.explicit import ExplicitGame, name_states
from ..law.graphs import search, strong_components
from .rounding import UNIT

#: Systems of up to so many unknowns are factored.
FEW = 500
#: Of others, sweeps at most, and sweeps between checks. The part of what is missed that is left
#: after a jump, and after so many sweeps.
MOST_SWEEPS, CHECKED, SHRINKS, PATIENCE = 500, 5, 0.1, 40
#: Steps of BiCGSTAB at most, and the part of the right side that may be left.
STEPS, NEAR = 1000, 1e-9
#: Solutions that are added up at most, each of the system for what the last ones miss; and the part
#: of the numbers in it, in roundings, that may be missed.
REFINED, MISSED = 4, 8


def scipy_sparse(what: str = "a game whose moves lead back") -> Any:
    """Return ``scipy.sparse``, with its graphs and its linear algebra, which ``what`` needs."""
    with needing(what, "scipy"):
        import scipy.sparse
        import scipy.sparse.csgraph
        import scipy.sparse.linalg
    return scipy.sparse


class Chain:
    """The Markov chain of a policy in a process.

    Attributes:
        lost: probability of actions that end the game, shape (state,).
        settled: the states in which the chain stays for ever and nothing is paid, shape (state,).
        circles: those in which it stays for ever and moves pay, shape (state,).
        circling: those from which it may come to a circle, shape (state,).
    """

    def __init__(
        self,
        game: ExplicitGame,
        weights: Array,  # probability of each action, (state, action); illegal ones end the game
        arithmetic: Arithmetic,
        # those with which the game goes on, of the same shape; None for the legal actions
        kept: Array | None = None,
    ) -> None:
        listing, self._arithmetic, self._count = game.listing, arithmetic, game.rows
        if kept is None:
            kept = np.where(listing.legal, weights, arithmetic.number(0))
        self.lost = (weights - kept).sum(axis=1)
        cells = np.flatnonzero(kept)
        ways, often = in_a_row(listing.firsts, cells), listing.counts.ravel()[cells]
        chances = np.repeat(kept.ravel()[cells], often) * chances_of(game, arithmetic)[ways]
        some = chances != 0
        ways, chances = ways[some], chances[some]
        sources, targets = listing.sources[ways], listing.targets[ways]
        paid = payments_of(game, arithmetic)[ways]
        self._paid = self.lost * arithmetic.payoff_range(game)[0]
        np.add.at(self._paid, sources, chances * paid)
        on, gamma = targets >= 0, arithmetic.number(listing.gamma)
        self._edges, self._weights = (sources[on], targets[on]), gamma * chances[on]
        nowhere = np.zeros(self._count, dtype=bool)
        self.settled = self.circles = self.circling = nowhere
        if gamma == 1:
            self._parts = parts = strong_components(*self._edges, self._count)
            apart = ~on | (parts[sources] != parts[targets])
            stays = ~np.isin(parts, np.append(parts[sources[apart]], parts[self.lost != 0]))
            pays = np.isin(parts, parts[sources[paid != 0]])
            self.settled, self.circles = stays & ~pays, stays & pays
            self.circling = self._may_reach(self.circles)
        out = ~on | (sources != targets)
        leaves = np.where(out, chances, (1 - gamma) * chances)
        self._leaves = self.lost.copy()  # the chance to go to another state or to an end
        np.add.at(self._leaves, sources, leaves)

    def _may_reach(self, states: BoolArray) -> BoolArray:
        """Find the states from which the chain may come to some of them, shape (state,)."""
        by = search(np.flatnonzero(states), *self._edges[::-1], self._count)
        return np.asarray(by >= 0)

    def require_ends(self, first: IntArray, game: Game, said: str) -> None:
        """Raise an error that names where the chain circles, if it may from some states."""
        if self.circling[first].any():
            ahead = search(first, *self._edges, self._count) >= 0
            refuse_for_ever(game, self.circles & ahead, said)

    def gains(self) -> BoolArray:
        """Find where the chain circles and is for certain paid a positive mean, shape (state,)."""
        own = np.flatnonzero(self.circles)
        _, first, number = np.unique(self._parts[own], return_index=True, return_inverse=True)
        inside, count = self.circles[self._edges[0]], len(own)
        rows, columns = (np.searchsorted(own, each[inside]) for each in self._edges)
        weights, paid = self._weights[inside], self._paid[own]
        every, free = np.arange(count), ~np.isin(np.arange(count), first)
        entries = np.concatenate([-weights * free[columns], free, np.ones(count)])
        ends = [columns, every, first[number]]  # the mean stands in the place of the first number
        at = np.concatenate([rows, every, every]), np.concatenate(ends)
        matrix = scipy_sparse().coo_array((entries, at), (count, count)).tocsr()
        numbers = _solver(matrix)(paid) * free
        ways, roundings = weights * numbers[columns], 8 + np.bincount(rows, minlength=count)
        mean = paid - numbers + np.bincount(rows, ways, count)
        size = np.abs(paid) + np.abs(numbers) + np.bincount(rows, np.abs(ways), count)
        sure = np.zeros(self._count, dtype=bool)
        sure[own] = ~np.isin(number, number[~(mean > roundings * 2 * UNIT * size)])
        return sure

    def values(self) -> Array:
        """Solve for the value of each state, shape (state,); minus infinity where it circles."""
        values = self.solve(self._paid)
        if not (pays := self._paid != 0).all():  # whatever rounding made of the others
            values[~self._may_reach(pays)] = self._arithmetic.number(0)
        values[self.circling] = -inf
        return values

    def visits(self, begun: Array) -> Array:
        """Solve for the expected visits of each state; both arrays are of shape (state,).

        The mass before the first move is ``begun``. Of settled states the first one is counted, as
        nothing is paid from there on.
        """
        sources, targets = self._edges
        found = self.solve(begun, transposed=True)
        into = self.settled[targets] & ~self.settled[sources]
        np.add.at(found, targets[into], self._weights[into] * found[sources[into]])
        return found

    @cached_property
    def stays(self) -> Array:
        """The expected number of moves before the chain ends or settles, (state,)."""
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
            shape = len(leaves), len(leaves)
            moves = scipy_sparse().coo_array((weights, (rows, columns)), shape).tocsr()
            found[free] = _solved(moves, leaves, right[free])
        return found


def _solved(moves: Any, leaves: FloatArray, right: FloatArray) -> FloatArray:
    """Solve leaves x = right + moves x, in floats."""
    solved, solve = np.zeros(len(right)), None
    if len(right) > FEW:
        solved = _swept(moves, leaves, right)
    for _ in range(REFINED):
        missed, part = _missed(moves, leaves, right, solved)
        if not part > MISSED * UNIT:
            break
        solve = solve or _solver((scipy_sparse().diags_array(leaves) - moves).tocsr())
        most = np.abs(missed).max()
        solved = solved + most * solve(missed / most)  # of tiny numbers products vanish
    return solved


def _missed(
    moves: Any, leaves: FloatArray, right: FloatArray, solved: FloatArray
) -> tuple[FloatArray, float]:
    """Give what solutions miss in each row, and its largest part of the numbers that are added."""
    own = leaves * solved
    missed, size = right - own + moves @ solved, np.abs(right) + np.abs(own)
    size += moves @ np.abs(solved)
    return missed, float((np.abs(missed) / np.where(size > 0, size, 1.0)).max())


def _swept(moves: Any, leaves: FloatArray, right: FloatArray) -> FloatArray:
    """Sweep x = (right + moves x) / leaves while what is missed becomes small soon.

    Often what a sweep changes becomes, in the long run, always the same but for a factor near 1, as
    with a discount: then a jump adds all that would follow (Aitken 1926).
    """
    solved = change = along = np.zeros(len(right))
    jump: Any = 0.0
    least, last, jump = (
        inf,
        0,
        np.float64(0),
    )  # the part that is missed at most, and the sweep since when
    for turn in range(MOST_SWEEPS):
        before = change
        if turn % CHECKED:
            change = (right - leaves * solved + moves @ solved) / leaves
        else:
            missed, part = _missed(moves, leaves, right, solved)
            if not (part > MISSED * UNIT and turn - last <= PATIENCE):
                break
            if part < SHRINKS * least:
                least, last = part, turn
            change = missed / leaves
            factor = (change @ before) / (before @ before or 1.0)
            rest = np.abs(change - factor * before).max()
            if rest < SHRINKS * (1 - factor) * np.abs(change).max():
                along, jump = change, factor / (1 - factor) / (change @ change)
            change = change + jump * (change @ along) * along
        solved = solved + change
    return solved


def _solver(matrix: Any) -> Callable[[FloatArray], Any]:
    """Return a function that solves a sparse system, in a library whose last bits may differ.

    The factors of a large matrix may have no room: steps of BiCGSTAB (van der Vorst 1992) come
    first, which end soon where games do. Without cycles, in the order of the components, the matrix
    is triangular, and its own factor.
    """
    linalg, count, factors = scipy_sparse().linalg, matrix.shape[0], list[Any]()
    order, how, large = np.arange(count), dict[str, str](), count > FEW
    if large:
        edges = matrix.tocoo()
        parts = strong_components(edges.row, edges.col, count)
        if parts.max() + 1 == count:
            order, how, large = np.argsort(parts), {"permc_spec": "NATURAL"}, False

    def solve(right: FloatArray) -> Any:
        if large and not factors:
            found, failed = linalg.bicgstab(matrix, right, rtol=NEAR, maxiter=STEPS)
            if not failed:
                return found
        if not factors:
            try:
                factors.append(linalg.splu(matrix[order][:, order].tocsc(), **how))
            except RuntimeError:  # of a matrix that rounding has made singular
                return np.full(count, np.nan)
        found = np.empty(count)
        found[order] = factors[0].solve(right[order])
        return found

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


def chances_of(game: ExplicitGame, arithmetic: Arithmetic) -> Array:
    """Give the chance of each way, shape (way,)."""
    return game.way_chances if arithmetic.rounds else game.exact_chances


def payments_of(game: ExplicitGame, arithmetic: Arithmetic) -> Array:
    """Give what each way pays, shape (way,)."""
    return game.way_payments if arithmetic.rounds else game.exact_payments


def means_of(
    game: ExplicitGame, numbers: Callable[[slice], Array], arithmetic: Arithmetic
) -> Array:
    """Give the mean over the ways of each action, shape (state, action); illegal ones are -inf.

    The numbers of ways in a row are asked for in pieces, as all at once take much memory.
    """
    found: Array = np.full(game.listing.counts.size, -inf, arithmetic.dtype)
    chances = chances_of(game, arithmetic)
    for cells, ways, begins in game.listing.pieces():
        found[cells] = np.add.reduceat(chances[ways] * numbers(ways), begins)
    return found.reshape(game.listing.counts.shape)


def moves_of(game: ExplicitGame, choices: IntArray) -> tuple[FloatArray, Any]:
    """Give what the chosen actions, (state,), are paid, (state,), and how the game goes on.

    The latter is a sparse matrix (state, state) of probabilities times the discount.
    """
    listing, every = game.listing, np.arange(game.rows)
    ways = in_a_row(listing.firsts, every * game.num_actions + choices)
    firsts = sums(listing.counts[every, choices])
    chances, targets = game.way_chances[ways], listing.targets[ways]
    paid = np.add.reduceat(chances * game.way_payments[ways], firsts[:-1])
    chances = np.where(targets < 0, 0.0, float(listing.gamma) * chances)
    entries = chances, np.maximum(targets, 0), firsts
    return paid, scipy_sparse().csr_array(entries, shape=(game.rows, game.rows))


def refuse_for_ever(game: Game, where: BoolArray, said: str) -> None:
    """Raise the error that a game goes on for ever in some states, (state,)."""
    raise InputError(
        f"{said} in {name_states(where)} of {present(game).title}: give a horizon, or a gamma "
        "below 1"
    )
