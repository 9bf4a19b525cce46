"""Games whose moves are listed state by state: their arrays, and the class ``ExplicitGame``.

A state is a position: one player moves in it. States are numbered, and all *ways* of all moves, the
possible outcomes, stand in flat arrays, sorted by state, action and outcome (``Listing``). The
order of the states follows from the moves. States between which moves lead back and forth are the
strongly connected components of a graph, whose blocks they are (``Game.block``). Within a component
a move leads to a state of a larger number, or to the cut, so that every cycle passes the cut.

A *limit* of moves makes layers of the states, one for each number of moves made so far; after the
last layer the game is over.
"""

from array import array
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from math import lcm, prod
from typing import Any, NamedTuple

import numpy as np
from typing_extensions import override

from ...core import Array, BoolArray, FloatArray, GameError, IntArray, Move
from ...core.block_moves import in_a_row, sums
from ...core.checks import is_whole
from ...core.contract import CLOSE
from ...core.errors import needing
from ...core.game import ListedGame
from ...core.turn_game import Index, keys_of
from ...core.types import Order
from .numbers import near, rational

#: Probabilities whose sum is off by 1 in this number at most are divided by it.
MOST_OFF = 10**9


class Law(NamedTuple):
    """Probabilities of outcomes as fractions of one denominator, their sum."""

    parts: tuple[int, ...]
    whole: int


class Listing(NamedTuple):
    """All moves of a game, in flat arrays."""

    movers: IntArray  # the player to move in each state, shape (state,)
    seen: IntArray  # the observation of each state, shape (state, component)
    start: Array  # probability of each state at the beginning, fractions of shape (state,)
    legal: BoolArray  # which actions are legal, shape (state, action)
    laws: Sequence[Law]  # the different laws of moves
    rows: IntArray  # number of the law of each cell, shape (state * action,); 0 where it is illegal
    counts: IntArray  # number of ways of each cell, shape (state * action,)
    targets: IntArray  # the state that a way leads to; -1 if the game is over, shape (way,)
    payoffs: Array  # the different payoffs, fractions of shape (payoff,)
    paid: IntArray  # number of the payoff of a way to the player who moves, shape (way,)

    @property
    def cells(self) -> IntArray:
        """The cell, state * number of actions + action, of each way, shape (way,)."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @property
    def sources(self) -> IntArray:
        """The state of each way, shape (way,)."""
        return self.cells // self.legal.shape[1]

    def circles(self, allowed: BoolArray) -> BoolArray:
        """Find the end components: the actions with which play can stay for ever, (state, action).

        Of the ``allowed`` actions, shape (state, action), they are those whose ways all stay in a
        strongly connected component of such actions (de Alfaro 1997, *Formal Verification of
        Probabilistic Systems*, section 3.3).
        """
        cells, sources, targets = self.cells, self.sources, self.targets
        inside = (allowed & self.legal).ravel()
        inside[cells[targets < 0]] = False
        while inside.any():
            used = inside[cells]
            parts = strong_components(sources[used], targets[used], len(self.movers))
            leave = used & (parts[sources] != parts[targets])
            if not leave.any():
                break
            inside[cells[leave]] = False
        return inside.reshape(self.legal.shape)


def strong_components(sources: IntArray, targets: IntArray, count: int) -> IntArray:
    """Give the strongly connected component of each node, (node,), of a graph of edges, (edge,)."""
    with needing("a game whose moves lead back", "scipy"):
        from scipy.sparse import coo_array, csgraph
    graph = coo_array((np.ones(len(sources), np.int8), (sources, targets)), (count, count))
    parts: IntArray = csgraph.connected_components(graph, connection="strong")[1]
    return parts


def search(first: IntArray, sources: IntArray, targets: IntArray, count: int) -> IntArray:
    """Search a graph of ``count`` nodes and edges of shape (edge,), from the ``first`` nodes on.

    It goes breadth first, and gives the edge by which each node was reached first, -1 if it was
    not, and the number of edges of the nodes to begin with, shape (node,).
    """
    by, by_source = np.full(count, -1), np.argsort(sources, kind="stable")
    by[first] = len(sources)
    firsts, new = sums(np.bincount(sources, minlength=count)), np.unique(first)
    while len(new):
        edges = by_source[in_a_row(firsts, new)]
        edges = edges[by[targets[edges]] < 0]
        new, at = np.unique(targets[edges], return_index=True)
        by[new] = edges[at]
    return by


def order_of_states(listing: Listing) -> Order:
    """Order the states so that moves lead to later stages, or to the cut of their block."""
    count, on = len(listing.movers), listing.targets >= 0
    edges = np.unique(listing.sources[on] * np.int64(count) + listing.targets[on])
    sources, targets = np.divmod(edges, count)
    levels, ends = _levels(sources, targets, count)
    if ends:
        return Order(levels, np.zeros_like(levels), np.zeros(count, dtype=bool))
    parts = strong_components(sources, targets, count)
    inside = parts[sources] == parts[targets]
    blocks = _levels(parts[sources[~inside]], parts[targets[~inside]], count)[0][parts]
    cut = np.zeros(count, dtype=bool)
    cut[targets[inside & (targets <= sources)]] = True
    ahead = inside & ~cut[targets]
    within, _ = _levels(sources[ahead], targets[ahead], count)
    _, stages = np.unique(blocks * np.int64(count) + within, return_inverse=True)
    return Order(stages, blocks, cut)


def _levels(sources: IntArray, targets: IntArray, count: int) -> tuple[IntArray, bool]:
    """Give the length of the longest way to each node of a graph, and whether it has no cycle."""
    targets = targets[np.argsort(sources, kind="stable")]
    firsts = sums(np.bincount(sources, minlength=count))
    waiting = np.bincount(targets, minlength=count)  # for so many nodes before
    levels, level = np.zeros(count, dtype=np.int64), 0
    ready = np.flatnonzero(waiting == 0)
    while len(ready):
        levels[ready] = level
        after, times = np.unique(targets[in_a_row(firsts, ready)], return_counts=True)
        waiting[after] -= times
        ready, level = after[waiting[after] == 0], level + 1
    return levels, not waiting.any()


def split_by(numbers: IntArray) -> list[IntArray]:
    """Divide indices by their numbers, which are 0, 1, ... without a gap."""
    return np.split(np.argsort(numbers, kind="stable"), np.cumsum(np.bincount(numbers))[:-1])


def _exact_law(chances: Sequence[Any], named: str) -> Law:
    """Read a law; its numbers are fractions together, or all stand for the floats that they are."""
    law = [found for chance in chances if (found := near(chance)) is not None]
    if len(law) < len(chances):
        law = [Fraction(chance) for chance in chances]
    whole = lcm(*(chance.denominator for chance in law))
    parts = tuple(chance.numerator * (whole // chance.denominator) for chance in law)
    total, least = sum(parts), min(parts, default=0)
    if least <= 0 or abs(total - whole) * MOST_OFF > whole:
        got = f"a sum of {total / whole:.10g}" if least > 0 else str(least / whole)
        raise GameError(f"probabilities must be above 0 and sum to 1, got {got} {named}")
    return Law(parts, total)


def _parts(target: int) -> tuple[int, ...]:
    """Part an outcome that goes on in two, the second of which does not."""
    return (target,) if target < 0 else (target, -1)


class Lister:
    """Collects the moves of a game, cell by cell, by state and action.

    The discount ``gamma`` parts each outcome after which the game goes on in two: with this
    probability it does go on.
    """

    def __init__(self, gamma: float = 1.0) -> None:
        if not 0 <= gamma <= 1:
            raise GameError(f"gamma must be from 0 to 1, got {gamma}")
        self._gamma = rational(gamma)
        self._rows, self._counts, self._targets, self._paid = (array("q") for _ in range(4))
        self._laws: list[Law] = []
        self._known: dict[Any, int] = {}
        self._payoffs: dict[Any, int] = {}
        self._fractions: list[Fraction] = []

    def skip(self) -> None:
        """Leave out a cell: the action is illegal."""
        self._rows.append(0)
        self._counts.append(0)

    def add(
        self,
        chances: Sequence[Any],  # their probabilities, floats or fractions
        targets: Sequence[int],  # the states that follow, -1 if the game is over
        payoffs: Sequence[Any],  # floats or fractions
        named: str,  # state and action, for a message
    ) -> None:
        """Add the outcomes of a legal action."""
        split = self._gamma < 1
        key = (*chances, *(target < 0 for target in targets)) if split else tuple(chances)
        if key not in self._known:
            self._known[key] = len(self._laws)
            self._laws.append(self._law(chances, targets, named))
        if split:
            payoffs = [paid for paid, to in zip(payoffs, targets, strict=True) for _ in _parts(to)]
            targets = [after for to in targets for after in _parts(to)]
        self._rows.append(self._known[key])
        self._counts.append(len(targets))
        self._targets.extend(targets)
        for paid in payoffs:
            if paid not in self._payoffs:
                self._payoffs[paid] = len(self._payoffs)
                self._fractions.append(rational(paid))
        self._paid.extend([self._payoffs[paid] for paid in payoffs])

    def _law(self, chances: Sequence[Any], targets: Sequence[int], named: str) -> Law:
        law = _exact_law(chances, named)
        if self._gamma == 1:
            return law
        on, whole = self._gamma.numerator, self._gamma.denominator
        each = zip(law.parts, targets, strict=True)
        parted = [
            (part * whole,) if to < 0 else (part * on, part * (whole - on)) for part, to in each
        ]
        return Law(tuple(part for parts in parted for part in parts), law.whole * whole)

    def listing(
        self, movers: IntArray, seen: IntArray, start: Mapping[int, Any], num_actions: int
    ) -> Listing:
        """List all cells, (state, action); ``start`` has the probabilities of the first states."""
        law = _exact_law(list(start.values()), "of first states")
        first = np.full(len(movers), Fraction(0), dtype=object)
        first[list(start)] = [Fraction(part, law.whole) for part in law.parts]
        rows, counts, targets, paid = map(
            np.array, (self._rows, self._counts, self._targets, self._paid)
        )
        payoffs = np.array(self._fractions, dtype=object)
        legal = counts.reshape(-1, num_actions) > 0
        return Listing(movers, seen, first, legal, self._laws, rows, counts, targets, payoffs, paid)


class ExplicitGame(ListedGame):
    """A game whose moves are listed (see the docstring of the module).

    A state is the number of a state of the listing plus, if there is a limit, the number of moves
    so far times the number of those states; observations then end with the number of moves. What
    one of two players is paid the other pays.

    Attributes:
        rows: number of states of the listing.
        is_process: whether the game is a decision process whose moves lead back: its only player
            may be paid in cycles or, unless ``longest`` is given, play on for ever (see
            ``baselines.operators.mdp``). Then ``payoff_range`` may not hold the values of all
            policies.
        idle: in such a process, the actions with which a game can go on for ever where nothing is
            paid, shape (state, action).
        way_out: in such a process, an action of each state with which a game in the long run ends,
            or goes on where nothing is paid, shape (state,).
    """

    def __init__(
        self,
        listing: Listing,
        components: Sequence[str],  # names of the components of the listing's observations
        limit: int | None = None,  # moves after which a game is over; None for no limit
        # bound of the expected number of moves, whatever the players do; None if there is none
        longest: float | None = None,
    ) -> None:
        if limit is not None and not (is_whole(limit) and limit > 0):
            raise GameError(f"horizon must be a whole number above 0 or None, got {limit!r}")
        self.listing, self._limit = listing, limit
        self.rows, self.num_actions = listing.legal.shape
        self.num_players = 1 + int(listing.movers.max())
        self.zero_sum = self.num_players == 2
        self.num_states = self.rows * (limit or 1)
        sizes = (listing.seen.max(axis=0) + 1).tolist()
        self._find = _finder(listing.seen, sizes)
        self.observation_sizes = (*sizes, *([limit] if limit else []))
        self.observation_names = (*components, *(["moves"] if limit else []))
        if limit:
            nowhere = np.zeros(self.rows, dtype=np.int64)
            self._order = Order(nowhere, nowhere, nowhere.astype(bool))
        else:
            self._order = order_of_states(listing)
        self._firsts = sums(listing.counts)
        self.has_cycles = bool(self._order.cut.any())  # type: ignore[misc]
        self.is_process = self.has_cycles and self.num_players == 1  # type: ignore[misc]
        self._floats = listing.payoffs.astype(np.float64)
        if self.is_process:
            self.idle, self.way_out = self._ways_out()
        circling = self._paid_in_cycles() if self.has_cycles and longest is None else None
        self.payoff_range = self._range(longest)
        self.unbounded = circling is not None
        if circling is not None and not self.is_process:
            raise GameError(
                "two players must be paid where no move leads back, for a finite total, got "
                f"payments in {name_states(circling)}: give a horizon, or a gamma below 1"
            )
        self.laws = self._table(lambda part, whole: part / whole, np.float64)

    @property
    @override
    def _read(self) -> dict[str, Any]:
        """The arguments and the law: what the methods of the class gave when the game was made."""
        return {**self.keywords, "law": self._digest}

    @cached_property
    def _digest(self) -> str:
        """The SHA-256 of the listing and the limit."""
        listing = self.listing
        digest = sha256(repr((self._limit, listing.seen.shape, listing.legal.shape)).encode())
        part: Any
        for part in listing:
            plain = isinstance(part, np.ndarray) and part.dtype != object
            digest.update(part.tobytes() if plain else repr(list(part)).encode())
        return digest.hexdigest()

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return same_again, (super().__reduce__(), self._digest)

    def _ways_out(self) -> tuple[BoolArray, IntArray]:
        """Find ``idle`` and ``way_out``."""
        listing, end = self.listing, self.rows
        pays = np.zeros(listing.legal.size, dtype=bool)
        pays[listing.cells[self._floats[listing.paid] != 0]] = True
        idle = listing.circles(~pays.reshape(listing.legal.shape))
        after = np.where(listing.targets < 0, end, listing.targets)
        first = np.append(np.flatnonzero(idle.any(axis=1)), end)
        ways = search(first, after, listing.sources, self.rows + 1)[:-1]
        if (ways < 0).any():
            raise GameError(
                "a game without a limit of moves must be able to end, and no moves lead from "
                f"{name_states(ways < 0)} to an end: give a horizon, or a gamma below 1"
            )
        leads = listing.cells[np.minimum(ways, len(listing.targets) - 1)] % self.num_actions
        return idle, np.where(idle.any(axis=1), idle.argmax(axis=1), leads)

    def _paid_in_cycles(self) -> BoolArray | None:
        """Give the states where a move that stays in a cycle pays, (state,); None if none does."""
        listing, blocks = self.listing, self._order.blocks
        on = (listing.targets >= 0) & (self._floats[listing.paid] != 0)
        sources = listing.sources[on]
        inside = sources[blocks[sources] == blocks[listing.targets[on]]]
        return np.bincount(inside, minlength=self.rows) > 0 if len(inside) else None

    def _range(self, longest: float | None) -> tuple[float, float]:
        """Find the smallest and the largest payoff of a player, and the ``ties`` of the states."""
        listing, low, high = self.listing, np.zeros(0), np.zeros(0)
        pays_on = bool(self._floats[listing.paid[listing.targets >= 0]].any())
        if pays_on and self.has_cycles and (longest is not None or self.is_process):
            most = (longest or self.rows) * float(np.abs(self._floats).max())
            ends = -most, most
        else:
            low, high = self._extremes(np.minimum), self._extremes(np.maximum)
            ends = float(low.min()), float(high.max())
        if any(Fraction(float(payoff)) != payoff for payoff in listing.payoffs):
            wider = CLOSE * max(map(abs, ends))  # sums of rounded payoffs
            ends = ends[0] - wider, ends[1] + wider
        if not self.has_cycles:
            size, span = np.maximum(-low, high), high - low
            moves = self._limit or 1 + self._order.stages.max() - self._order.stages
            each = 4 + int(listing.counts.max()) * (2 if pays_on else 1)  # roundings of a move
            self.ties = (moves + 1) * (2 * each * 2.0**-53) * (size + pays_on * span)
        return (min(ends[0], -ends[1]), max(-ends[0], ends[1])) if self.zero_sum else ends

    def _extremes(self, best: np.ufunc) -> FloatArray:
        """Find the smallest or the largest total of player 0 from each state on, (state,)."""
        listing, groups = self.listing, [np.arange(self.rows)]
        signs = np.where(listing.movers[listing.sources] == 0, 1.0, -1.0)
        paid = signs * self._floats[listing.paid]
        firsts = sums(np.bincount(listing.sources, minlength=self.rows))
        worth = np.zeros(self.rows + 1)  # the last is that of the end
        extremes = worth[:-1].copy()  # 0 is that of a game that never ends
        if not self._limit:
            groups = split_by(self._order.stages)[::-1]
            worth[:-1] = np.inf if best is np.minimum else -np.inf  # unknown
        for moves in range(self._limit or self.rows):
            before = worth.copy()
            for states in groups:
                ways = in_a_row(firsts, states)
                totals = paid[ways] + worth[listing.targets[ways]]
                begins = sums(firsts[states + 1] - firsts[states])[:-1]
                worth[states] = best.reduceat(totals, begins)
            extremes = best(extremes, worth[:-1]) if moves or self.is_process else worth[:-1].copy()
            if (worth == before).all() or not (self._limit or self.has_cycles):
                break
        return extremes

    # ------------------------------------------------------------------ rules

    @override
    def exact_laws(self) -> Array:
        return self._table(Fraction, object)

    def _table(self, divide: Callable[[int, int], Any], dtype: Any) -> Array:
        """Make the table of laws."""
        laws = self.listing.laws
        shape = len(laws), max(len(law.parts) for law in laws)
        table: Array = np.full(shape, divide(0, 1), dtype)
        for row, law in zip(table, laws, strict=True):
            row[: len(law.parts)] = [divide(part, law.whole) for part in law.parts]
        return table

    @override
    def observe(self, states: IntArray, seat: int) -> IntArray:
        moves, rows = np.divmod(states, self.rows)
        seen: IntArray = self.listing.seen[rows]
        return np.append(seen, moves[:, None], axis=1) if self._limit else seen

    @override
    def encode(self, observations: IntArray) -> IntArray:
        width = self.listing.seen.shape[1]
        rows = self._find(observations[..., :width])
        if not self._limit:
            return rows
        moves = observations[..., -1]
        known = (rows >= 0) & (moves >= 0) & (moves < self._limit)
        return np.where(known, rows + moves * self.rows, -1)

    @override
    def mask(self, states: IntArray) -> BoolArray:
        legal: BoolArray = self.listing.legal[states % self.rows]
        return legal

    @override
    def initial_law(self) -> tuple[IntArray, Array]:
        states = np.flatnonzero(self.listing.start)
        return states, self.listing.start[states]

    @override
    def law(self, states: IntArray, actions: IntArray) -> IntArray:
        rows: IntArray = self.listing.rows[states % self.rows * self.num_actions + actions]
        return rows

    @override
    def advance(
        self, seats: IntArray, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        return self._advance(self._floats, states, actions, outcomes)

    @override
    def exact_advance(
        self, seats: IntArray, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        return self._advance(self.listing.payoffs, states, actions, outcomes)

    def _advance(
        self, payoffs: Array, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        listing, (moves, rows) = self.listing, np.divmod(states, self.rows)
        ways = self._firsts[rows * self.num_actions + actions] + outcomes
        after, paid = listing.targets[ways], payoffs[listing.paid[ways], None]
        over = after < 0
        if self._limit:
            over, after = over | (moves + 1 >= self._limit), after + (moves + 1) * self.rows
        after = np.where(over, states, after)
        if self.num_players == 2:
            paid = np.where(listing.movers[rows, None] == np.arange(2), paid, -paid)
        seats = listing.movers[after % self.rows]
        return Move(seats, after, paid, np.repeat(over[:, None], self.num_players, axis=1))

    @override
    def stages(self) -> Sequence[tuple[int, IntArray]]:
        groups = split_by(self._order.stages)
        movers = [(seat, self.listing.movers == seat) for seat in range(self.num_players)]
        listed = [(seat, states[mine[states]]) for states in groups for seat, mine in movers]
        listed = [(seat, states) for seat, states in listed if len(states)]
        layers = np.arange(self._limit or 1) * self.rows
        return [(seat, states + layer) for layer in layers for seat, states in listed]

    @override
    def block(self, seat: int, states: IntArray) -> tuple[IntArray, BoolArray]:
        return self._order.blocks[states], self._order.cut[states]


def _finder(seen: IntArray, sizes: Sequence[int]) -> Callable[[IntArray], IntArray]:
    """Return a function from observations, (..., component), to their rows of ``seen``, or -1."""
    if prod(sizes) < 2**63:
        index = Index(keys_of(seen, sizes))
        return lambda wanted: index.find(keys_of(wanted, sizes))
    known = {tuple(row): number for number, row in enumerate(seen.tolist())}
    return lambda wanted: np.array([known.get(tuple(row), -1) for row in wanted.tolist()], int)


def same_again(made: tuple[Any, ...], digest: str) -> Any:
    """Make a game again from what ``Game.__reduce__`` gives; its law must be the same."""
    make, arguments = made
    game = make(*arguments)
    if game._digest != digest:
        raise GameError(
            f"{game!r} must have the law that it had when it was saved, and what makes it draws "
            "its law or was changed: save its law, with exactdice.from_P"
        )
    return game


def name_states(which: BoolArray) -> str:
    """Name the first few of some states, (state,), for a message."""
    first = [str(state) for state in np.flatnonzero(which)[:3]]
    several, more = "s" if len(first) > 1 else "", ", ..." if which.sum() > 3 else ""
    return f"state{several} {', '.join(first)}{more}"
