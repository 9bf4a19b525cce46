"""Games whose moves are listed state by state: their arrays, and the class ``ExplicitGame``.

A state is a position: one player moves in it. States are numbered, and all *ways* of all moves, the
possible outcomes, stand in flat arrays, sorted by state, action and outcome (``Listing``). The
order of the states follows from the moves. States between which moves lead back and forth are the
strongly connected components of a graph, whose blocks they are (``Game.block``). Within a component
a move leads to a state of a larger number, or to the cut, so that every cycle passes the cut.

A *limit* of moves makes layers of the states, one for each number of moves made so far; after the
last layer the game is over.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from math import inf, prod
from typing import Any

import numpy as np
from typing_extensions import override

from ...core import Array, BoolArray, FloatArray, GameError, IntArray, Move, frozen
from ...core.block_moves import in_a_row, small, sums
from ...core.checks import is_whole
from ...core.contract import CLOSE
from ...core.game import ListedGame
from ...core.positions import pieces
from ...core.turn_game import Index, keys_of
from ...core.types import Order
from .graphs import levels_of, order_of_cycles, search, split_by, strong_components
from .listing import MOST_OFF, Listing, exact_law, no_law
from .numbers import rational

#: A player alone plays at most so many stages that are swept one by one.
DEEP = 10_000


@dataclass(frozen=True, eq=False)
class Frame:
    """The pictures that an environment draws of its states, and where the states lie on them.

    Attributes:
        draw: returns the picture of a state, uint8 of shape (height, width, 3).
        places: right and down, in parts of the picture, shape (state, 2).
        arrows: the direction in which an action leads, shape (state, action): 0 right, 1 down, 2
            left, 3 up; -1 if the action does not move the agent.
        layers: the number of the picture on which each state lies, shape (state,).
        names: what the states of a picture have in common, by layer.
    """

    draw: Callable[[int], Array]
    places: FloatArray
    arrows: IntArray
    layers: IntArray
    names: Sequence[str]


class View:
    """The observations that an environment shows in the states of a law, and their names.

    Attributes:
        space: its observation space, of Gymnasium; None if it shows the numbers of the states.
        shown: the observation of each state, shape (state, ...); None of dictionaries and texts.
        actions: names of the actions; empty if they have none.
        states: names of the states; empty if they have none.
        frame: the environment's own pictures; None if there are none. A copy in another process
            has none.
    """

    def __init__(
        self,
        space: Any = None,
        shown: Array | None = None,
        actions: tuple[str, ...] = (),
        states: tuple[str, ...] = (),
        frame: Frame | None = None,
    ) -> None:
        self.space, self.shown, self.actions, self.states = space, shown, actions, states
        self.frame = frame
        self._told = repr(space), b"" if shown is None else shown.tobytes(), actions, states

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "frame": None}

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, View) and self._told == other._told

    @override
    def __hash__(self) -> int:
        return hash(self._told)

    @cached_property
    def different(self) -> int:
        """Number of different observations."""
        return 0 if self.shown is None else len(np.unique(self.shown, axis=0))


class ExplicitGame(ListedGame):
    """A game whose moves are listed (see the docstring of the module).

    A state is the number of a state of the listing plus, if there is a limit, the number of moves
    so far times the number of those states; observations then end with the number of moves. What
    one of two players is paid the other pays.

    Attributes:
        rows: number of states of the listing.
        way_chances, way_payments: the probability of each way, and what it pays the player who
            moves, in floats, shape (way,); ``exact_chances`` and ``exact_payments`` in fractions.
        is_process: whether the game is a decision process whose moves lead back: its only player
            may be paid in cycles or, without a discount, play on for ever (see
            ``baselines.operators.mdp``); or it has more than ``DEEP`` stages. Then
            ``payoff_range`` may not hold the values of all policies.
        idle: in such a process, the actions with which a game can go on for ever where nothing is
            paid, shape (state, action); ``idles`` has the states with such actions, (state,).
        way_out: in such a process, an action of each state with which a game in the long run ends,
            or goes on where nothing is paid, shape (state,).
        view: what players see of a state, and its name; None if they see its number.
    """

    view: View | None = None

    def __init__(
        self,
        listing: Listing,
        components: Sequence[str],  # names of the components of the listing's observations
        limit: int | None = None,  # moves after which a game is over; None for no limit
    ) -> None:
        if limit is not None and not (is_whole(limit) and limit > 0):
            raise GameError(f"horizon must be a whole number above 0 or None, got {limit!r}")
        if not 0 <= listing.gamma <= 1:
            raise GameError(f"gamma must be from 0 to 1, got {float(listing.gamma):g}")
        self.listing, self._limit = listing, limit
        self.rows, self.num_actions = listing.counts.shape
        self.num_players = 1 + int(listing.movers.max())
        self.zero_sum = self.num_players == 2
        self.num_states = self.rows * (limit or 1)
        sizes = (listing.seen.max(axis=0) + 1).tolist()
        self._find = _finder(listing.seen, sizes)
        self.observation_sizes = (*sizes, *([limit] if limit else []))
        self.observation_names = (*components, *(["moves"] if limit else []))
        self.way_chances = self._normed()
        self.way_payments = listing.paid.astype(np.float64, copy=False)
        self.has_cycles = not self._stages[1]  # type: ignore[misc]
        self.is_process = self.has_cycles and self.num_players == 1  # type: ignore[misc]
        discounted = listing.gamma < 1
        self._halves = 1 + discounted  # outcomes of a way
        if self.is_process:
            self.idle, self.way_out = self._ways_out()
            self.idles = self.idle.any(axis=1)
        circling = self._paid_in_cycles() if self.has_cycles and not discounted else None
        self.payoff_range = self._range()
        self.unbounded = circling is not None
        if circling is not None and not self.is_process:
            raise GameError(
                "two players must be paid where no move leads back, for a finite total, got "
                f"payments in {name_states(circling)}: give a horizon, or a gamma below 1"
            )

    @property
    @override
    def _read(self) -> dict[str, Any]:
        """The arguments, and in place of arrays the law: what the methods of the class gave."""
        given = self.keywords.items()
        short = {name: value for name, value in given if not isinstance(value, np.ndarray)}
        return {**short, "law": self._digest}

    @cached_property
    def _digest(self) -> str:
        """The SHA-256 of the listing and the limit."""
        listing = self.listing
        digest = sha256(repr((self._limit, listing.seen.shape, listing.counts.shape)).encode())
        for part in (np.asarray(getattr(listing, field.name)) for field in fields(listing)):
            kind = np.int64 if part.dtype.kind == "i" else part.dtype  # in sparse matrices, smaller
            exact = part.dtype == object
            digest.update(
                repr(part.tolist()).encode() if exact else part.astype(kind, order="C").data
            )
        return digest.hexdigest()

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return same_again, (super().__reduce__(), self._digest)

    def _name_cell(self, cell: int) -> str:
        """Name a state and an action for a message."""
        return cell_name(cell, self.num_actions)

    def _normed(self) -> FloatArray:
        """Give the chances of ways in floats, divided by the sums of their laws if these miss 1.

        A sum that misses 1 by rounding alone is left as it is.
        """
        listing, counts = self.listing, self.listing.counts.ravel()
        chances, some = listing.chances.astype(np.float64, copy=False), np.flatnonzero(counts)
        totals = np.ones(len(counts))
        totals[some] = np.add.reduceat(chances, listing.firsts[some])
        off = np.abs(totals - 1)
        wrong = ~(off * MOST_OFF <= 1)
        if not (above := listing.chances > 0).all():
            wrong[listing.cells[~above]] = True
        if wrong.any():
            cell = int(np.argmax(wrong))
            own = listing.chances[slice(*listing.firsts[cell : cell + 2])]
            raise no_law(own, self._name_cell(cell))
        if (misses := off > counts * 2.0**-53).any():
            chances = chances / np.repeat(np.where(misses, totals, 1.0), counts)
        return frozen(chances)

    @cached_property
    def _stages(self) -> tuple[IntArray, bool]:
        """The stage of each state, if moves lead to later ones; and whether they do.

        They do not if a player alone has more than ``DEEP`` stages.
        """
        if self._limit:
            return np.zeros(self.rows, dtype=np.int64), True
        firsts = self.listing.firsts[:: self.num_actions]
        return levels_of(firsts, self.listing.targets, DEEP if self.num_players == 1 else inf)

    @cached_property
    def _order(self) -> Order:
        """The stages and blocks of the listing's states."""
        levels, found = self._stages
        if found:
            return Order(levels, np.zeros_like(levels), np.zeros(self.rows, dtype=bool))
        on = self.listing.targets >= 0
        return order_of_cycles(self.listing.sources[on], self.listing.targets[on], self.rows)

    def _ways_out(self) -> tuple[BoolArray, IntArray]:
        """Find ``idle`` and ``way_out``."""
        listing, end = self.listing, self.rows
        if listing.gamma < 1:
            return np.zeros_like(listing.legal), listing.legal.argmax(axis=1)
        cells = listing.cells
        pays = np.zeros(listing.counts.size, dtype=bool)
        pays[cells[self.way_payments != 0]] = True
        idle = listing.circles(~pays.reshape(listing.legal.shape))
        after = np.where(listing.targets < 0, end, listing.targets)
        first = np.append(np.flatnonzero(idle.any(axis=1)), end)
        before = search(first, after, listing.sources, self.rows + 1)[:-1]
        if (before < 0).any():
            raise GameError(
                "a game without a limit of moves must be able to end, and no moves lead from "
                f"{name_states(before < 0)} to an end: give a horizon, or a gamma below 1"
            )
        leads = np.zeros(listing.counts.size, dtype=bool)
        leads[cells[after == before[listing.sources]]] = True
        leads = np.where(idle.any(axis=1, keepdims=True), idle, leads.reshape(idle.shape))
        return idle, leads.argmax(axis=1)

    @cached_property
    def components(self) -> IntArray:
        """The strongly connected component of each state; moves lead to smaller ones, (state,)."""
        on = self.listing.targets >= 0
        return strong_components(self.listing.sources[on], self.listing.targets[on], self.rows)

    def _paid_in_cycles(self) -> BoolArray | None:
        """Give the states where a move that stays in a cycle pays, (state,); None if none does."""
        pays, parts = self.way_payments != 0, self.components
        pays &= self.listing.targets >= 0
        sources, targets = self.listing.sources[pays], self.listing.targets[pays]
        inside = sources[parts[sources] == parts[targets]]
        return np.bincount(inside, minlength=self.rows) > 0 if len(inside) else None

    def _range(self) -> tuple[float, float]:
        """Find the smallest and the largest payoff of a player, and the ``ties`` of the states."""
        listing, paid = self.listing, self.way_payments
        self.pays_early = pays_on = bool(paid[listing.targets >= 0].any())
        if self.is_process or (pays_on and self.has_cycles and listing.gamma < 1):
            ends = min(0.0, float(paid.min())), max(0.0, float(paid.max()))
            if pays_on:
                longest = float(1 / (1 - listing.gamma)) if listing.gamma < 1 else self.rows
                most = longest * max(-ends[0], ends[1])
                ends = -most, most
        else:
            low, high = self._extremes(np.minimum), self._extremes(np.maximum)
            ends = float(low.min()), float(high.max())
        if not _is_exact(listing.paid):
            wider = CLOSE * max(map(abs, ends))  # sums of rounded payoffs
            ends = ends[0] - wider, ends[1] + wider
        if not self.has_cycles:
            size, span = np.maximum(-low, high), high - low
            moves = self._limit or 1 + self._order.stages.max() - self._order.stages
            most_ways = int(listing.counts.max()) * (1 + (listing.gamma < 1))
            each = 4 + most_ways * (2 if pays_on else 1)  # roundings of a move
            self.ties = (moves + 1) * (2 * each * 2.0**-53) * (size + pays_on * span)
        return (min(ends[0], -ends[1]), max(-ends[0], ends[1])) if self.zero_sum else ends

    def _extremes(self, best: np.ufunc) -> FloatArray:
        """Find the smallest or the largest total of player 0 from each state on, (state,)."""
        listing, groups = self.listing, [np.arange(self.rows)]
        signs = np.where(listing.movers[listing.sources] == 0, 1.0, -1.0)
        paid = signs * self.way_payments
        firsts = listing.firsts[:: self.num_actions]
        worth = np.zeros(self.rows + 1)  # the last is that of the end
        extremes = worth[:-1]
        if not self._limit:
            groups = split_by(self._order.stages)[::-1]
            worth[:-1] = np.inf if best is np.minimum else -np.inf  # unknown
        for moves in range(self._limit or self.rows):
            before = worth.copy()
            for states in groups:
                ways = in_a_row(firsts, states)
                ahead = worth[listing.targets[ways]]
                totals = paid[ways] + (best(ahead, 0.0) if listing.gamma < 1 else ahead)
                begins = sums(firsts[states + 1] - firsts[states])[:-1]
                worth[states] = best.reduceat(totals, begins)
            extremes = best(extremes, worth[:-1]) if moves else worth[:-1].copy()
            if (worth == before).all() or not (self._limit or self.has_cycles):
                break
        return extremes

    # ------------------------------------------------------------------ numbers

    @cached_property
    def exact_chances(self) -> Array:
        """The probability of each way as a fraction, shape (way,)."""
        found: Array = np.empty(len(self.way_chances), dtype=object)
        known: dict[tuple[Any, ...], list[Fraction]] = {}
        given, bounds = self.listing.chances.tolist(), self.listing.firsts.tolist()
        for first, last in pairwise(bounds):
            law = tuple(given[first:last])
            if law and law not in known:
                known[law] = exact_law(law)
            found[first:last] = known.get(law, [])
        return frozen(found)

    @cached_property
    def payment_kinds(self) -> tuple[Array, IntArray]:
        """The different payments as fractions, and the number of that of each way, shape (way,)."""
        given, numbers = self.listing.paid, _numbered(self.listing.paid)
        firsts = np.zeros(int(numbers.max()) + 1, dtype=np.int64)
        firsts[numbers[::-1]] = np.arange(len(numbers))[::-1]
        kinds: Array = np.empty(len(firsts), dtype=object)
        kinds[:] = [rational(paid) for paid in given[firsts].tolist()]
        return frozen(kinds), frozen(small(numbers))

    @cached_property
    def largest_payments(self) -> FloatArray:
        """The size of the largest payment of the moves from each state, shape (state,)."""
        return frozen(self.listing.most(lambda ways: np.abs(self.way_payments[ways])))

    @property
    def exact_payments(self) -> Array:
        """The payment of each way as a fraction, shape (way,)."""
        kinds, numbers = self.payment_kinds
        return kinds[numbers]

    @cached_property
    def _kinds(self) -> tuple[IntArray, IntArray]:
        """The number of each cell's law, 0 where it is illegal, and a cell with each law."""
        listing, counts = self.listing, self.listing.counts.ravel()
        some, rows = np.flatnonzero(counts), np.zeros_like(counts)
        table = np.full((len(some), counts.max()), -1)
        each = 2 * _numbered(listing.chances) + (listing.targets >= 0)
        table[np.arange(counts.max()) < counts[some, None]] = each
        _, laws, found = np.unique(table, axis=0, return_index=True, return_inverse=True)
        rows[some] = found.ravel()
        return rows, some[laws]

    @cached_property
    def laws(self) -> FloatArray:  # type: ignore[override]
        """The different laws of moves, shape (law, outcome)."""
        gamma = self.listing.gamma
        return frozen(self._table(self.way_chances, float(gamma), float(1 - gamma)))

    def _table(self, chances: Array, gamma: Any, rest: Any) -> Array:
        """Make the table of laws, given the chance of each way, and to go on or not after a move.

        With a discount each way is two outcomes, the second of which ends the game.
        """
        listing, (_, laws) = self.listing, self._kinds
        counts, ways = listing.counts.ravel()[laws], in_a_row(listing.firsts, laws)
        ends = listing.targets[ways] < 0
        shares = np.stack([np.where(ends, 1, gamma), np.where(ends, 0, rest)], axis=1)
        table: Array = np.zeros((len(laws), counts.max(), self._halves), dtype=chances.dtype)
        parts = chances[ways, None] * shares[:, : self._halves]
        table[np.arange(counts.max()) < counts[:, None]] = parts
        return table.reshape(len(laws), -1)

    # ------------------------------------------------------------------ rules

    @override
    def exact_laws(self) -> Array:
        gamma = self.listing.gamma
        return self._table(self.exact_chances, gamma, 1 - gamma)

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
        return self.listing.first, self.listing.start

    @override
    def law(self, states: IntArray, actions: IntArray) -> IntArray:
        rows, _ = self._kinds
        found: IntArray = rows[states % self.rows * self.num_actions + actions]
        return found

    @override
    def advance(
        self, seats: IntArray, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        return self._advance(self.way_payments, states, actions, outcomes)

    @override
    def exact_advance(
        self, seats: IntArray, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        return self._advance(self.exact_payments, states, actions, outcomes)

    def _advance(
        self, payoffs: Array, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        listing, (moves, rows) = self.listing, np.divmod(states, self.rows)
        ways, halves = np.divmod(outcomes, self._halves)
        places = listing.firsts[rows * self.num_actions + actions] + ways
        after, paid = listing.targets[places], payoffs[places, None]
        over = (after < 0) | (halves > 0)
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


def cell_name(cell: int, num_actions: int) -> str:
    """Name the state and the action of a cell for a message."""
    state, action = divmod(cell, num_actions)
    return f"for action {action} in state {state}"


def _is_exact(paid: Array) -> bool:
    """Say whether payments are the floats that stand for them, such as whole numbers."""
    parts = (paid[piece] for piece in pieces(len(paid)))
    if paid.dtype == object:
        return all((part == part.astype(np.float64)).all() for part in parts)
    return all((8 * part == np.rint(8 * part)).all() for part in parts)


def _numbered(values: Array) -> IntArray:
    """Give a number to each different value, floats or fractions, of an array (value,)."""
    if values.dtype != object:
        return np.unique(values, return_inverse=True)[1]
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values.tolist()])


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
