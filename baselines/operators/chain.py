"""The Markov chain of a policy in a decision process (see ``mdp``): its values and its visits."""

from collections.abc import Callable
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from ...core import Arithmetic, Array, BoolArray, FloatArray, Game, InputError, IntArray, present
from ...core.block_moves import index_type, sums
from ..law.explicit import ExplicitGame, name_states
from ..law.graphs import search, strong_components
from .rounding import UNIT
from .systems import System, eliminated, scipy_sparse, solver

#: The part of a move that expected numbers of moves may miss.
ROUGH = 0.1


class Chain:
    """The Markov chain of a policy in a process.

    Attributes:
        lost: probability of actions that end the game, shape (state,).
        paid: what the next move is paid on average, shape (state,).
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
        self._own = arithmetic.zeros(self._count)  # the chance to stay in a state for another move
        self._leaves = self.lost.copy()  # that to go to another state or to an end
        self.paid = self.lost * arithmetic.payoff_range(game)[0]
        used = kept != 0
        self._ways = np.where(used, listing.counts, 0).sum(axis=1)
        nowhere = np.zeros(self._count, dtype=bool)
        pays, ends = nowhere.copy(), self.lost != 0  # where a move may pay, or end the game
        gamma = arithmetic.number(listing.gamma)
        given, payments = chances_of(game, arithmetic), payments_of(game, arithmetic)
        often, filled = np.zeros(self._count, dtype=np.int64), 0
        most = int(self._ways.sum())
        self._targets, self._weights = np.empty(most, listing.targets.dtype), arithmetic.zeros(most)
        for cells, ways, _ in listing.pieces(np.flatnonzero(used)):
            shares = np.repeat(kept.ravel()[cells], listing.counts.ravel()[cells])
            chances = shares * given[ways]
            ways, chances = ways[chances != 0], chances[chances != 0]
            sources, targets, paid = listing.sources[ways], listing.targets[ways], payments[ways]
            np.add.at(self.paid, sources, chances * paid)
            pays[sources[paid != 0]] = True
            ends[sources[targets < 0]] = True
            stays = sources == targets
            np.add.at(self._own, sources[stays], gamma * chances[stays])
            out = np.where(stays, (1 - gamma) * chances, chances)
            np.add.at(self._leaves, sources, out)
            on = (targets >= 0) & ~stays
            np.add.at(often, sources[on], 1)
            new = slice(filled, filled := filled + int(on.sum()))
            self._targets[new], self._weights[new] = targets[on], gamma * chances[on]
        self._firsts = sums(often).astype(index_type(filled), copy=False)  # as the targets'
        self._targets, self._weights = self._targets[:filled], self._weights[:filled]
        self.settled = self.circles = self.circling = nowhere
        self._parts: IntArray | None = None
        if gamma == 1:
            self._parts = self._find_classes(pays, ends)

    def _find_classes(self, pays: BoolArray, ends: BoolArray) -> IntArray:
        """Find the states in which the chain stays for ever, given where a move pays, or ends.

        The strongly connected component of each state is returned, (state,).
        """
        sources, targets = self._edges
        parts = strong_components(sources, targets, self._count)
        leaves, paid = np.zeros_like(pays), np.zeros_like(pays)
        leaves[parts[sources[parts[sources] != parts[targets]]]] = leaves[parts[ends]] = True
        paid[parts[pays]] = True
        self.settled, self.circles = (~leaves & ~paid)[parts], (~leaves & paid)[parts]
        if self.circles.any():
            self.circling = self._may_reach(self.circles)
        return parts

    @property
    def _edges(self) -> tuple[IntArray, IntArray]:
        """The moves from a state to another one, (move,)."""
        every = np.arange(self._count, dtype=self._targets.dtype)
        return np.repeat(every, np.diff(self._firsts)), self._targets

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
        assert self._parts is not None  # as there are circles
        _, first, number = np.unique(self._parts[own], return_index=True, return_inverse=True)
        sources, targets = self._edges
        inside, count = self.circles[sources], len(own)
        rows, columns = (np.searchsorted(own, each[inside]) for each in (sources, targets))
        weights, paid, stays = self._weights[inside], self.paid[own], self._own[own]
        every, free = np.arange(count), ~np.isin(np.arange(count), first)
        entries = np.concatenate(
            [-weights * free[columns], free * self._leaves[own], np.ones(count)]
        )
        ends = [columns, every, first[number]]  # the mean stands in the place of the first number
        at = np.concatenate([rows, every, every]), np.concatenate(ends)
        matrix = scipy_sparse().coo_array((entries, at), (count, count)).tocsr()
        numbers = solver(matrix)(paid) * free
        ways, stays = weights * numbers[columns], stays * numbers
        mean = paid - numbers + stays + np.bincount(rows, ways, count)
        size = (
            np.abs(paid) + np.abs(numbers) + np.abs(stays) + np.bincount(rows, np.abs(ways), count)
        )
        roundings = 9 + self._ways[own]
        sure = np.zeros(self._count, dtype=bool)
        sure[own] = ~np.isin(number, number[~(mean > roundings * 2 * UNIT * size)])
        return sure

    def values(self, near: FloatArray | None = None) -> Array:
        """Solve for the value of each state, shape (state,); minus infinity where it circles.

        The solution may be searched from values ``near`` it, of the same shape.
        """
        values = self.solve(self.paid, near)
        pays = self.paid != 0
        if (values[~pays] != 0).any():  # whatever rounding made of those that lead to no payment
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
        """About the expected number of moves before the chain ends or settles, (state,)."""
        return self.solve(np.where(self.settled, 0.0, 1.0), rough=ROUGH)

    def solve(
        self,
        right: Array,
        near: FloatArray | None = None,
        rough: float = 0.0,
        transposed: bool = False,
    ) -> Array:
        """Solve x = right + P x, or x = right + P' x, in the states that lead to an end.

        In the other states x is ``right`` if they are settled, and 0 if they circle. The solution
        may be ``near`` some numbers, (state,), and miss a ``rough`` part of ``right``.
        """
        free, found = self._free, right.copy()
        found[self.circling] = self._arithmetic.number(0)
        if not self._arithmetic.rounds:
            rows, columns = self._edges[::-1] if transposed else self._edges
            inside, places = free[rows] & free[columns], np.cumsum(free) - 1
            edges = places[rows[inside]], places[columns[inside]], self._weights[inside]
            found[free] = eliminated(*edges, right[free], self._leaves[free])
        elif free.any():
            system = System(self._moves.T, self._leaves[free]) if transposed else self._system
            near = None if near is None else near[free]
            found[free] = system.solve(right[free], near, rough)
        return found

    @cached_property
    def _free(self) -> BoolArray:
        """The states that lead to an end, (state,)."""
        return ~self.settled & ~self.circling

    @cached_property
    def _moves(self) -> Any:
        """The sparse matrix (state, state) of moves among those states."""
        entries, free = (self._weights, self._targets, self._firsts), self._free
        moves = scipy_sparse().csr_array(entries, shape=(self._count, self._count))
        return moves if free.all() else moves[free][:, free]

    @cached_property
    def _system(self) -> System:
        parts = None if self._parts is None else self._parts[self._free]
        return System(self._moves, self._leaves[self._free], parts)


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


def refuse_for_ever(game: Game, where: BoolArray, said: str) -> None:
    """Raise the error that a game goes on for ever in some states, (state,)."""
    raise InputError(
        f"{said} in {name_states(where)} of {present(game).title}: give a horizon, or a gamma "
        "below 1"
    )
