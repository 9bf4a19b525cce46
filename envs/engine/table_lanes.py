"""Lanes that are played by flat tables, with arrays or with Python's own numbers.

Python's own numbers are faster for a few lanes. Both classes draw the same random numbers in the
same order, and so play the same games.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...baselines import Problem
from ...core import BoolArray, IntArray
from ..encoding import Encoding, Features
from .lanes import Lanes, Outcome
from .process import FIRST_PLACE, GOES_ON, ILLEGAL
from .tables import features_of, process_of


class TableLanes(Lanes):
    """Lanes that are played by tables; the task must have a ``Process``."""

    _places: IntArray | list[int]  # of each lane
    _contexts: IntArray | list[int]

    def __init__(self, problem: Problem, num_lanes: int, encoding: Encoding) -> None:
        super().__init__(problem, num_lanes, encoding)
        process = process_of(problem)
        assert process is not None
        self._process, self._legal = process, process.legal.view(np.bool_)
        self._by_place, self._by_context = features_of(problem, encoding.name)
        self._gained: Any = None  # what nodes pay in each lane, until it is read
        self._gains: Any = process.node_gains
        if self._gains is not None:
            self._gained, self._totals = np.zeros((2, num_lanes))

    def states(self) -> IntArray:
        """Give the state of each lane."""
        return self._process.groups.states(np.asarray(self._places), np.asarray(self._contexts))

    def observations(self) -> Features:
        """Return the sum of the features of place and context."""
        seen: Features = self._by_place.take(self._places, axis=0)
        if self._by_context is not None:
            seen += self._by_context.take(self._contexts, axis=0)
        return seen

    def masks(self) -> BoolArray:
        """Read the legal actions from the table."""
        return self._legal.take(self._places, axis=0)

    def _gain(self, lanes: IntArray | list[int], events: IntArray | list[int]) -> None:
        """Pay what nodes pay, each to another lane."""
        nodes = np.subtract(events, self._process.first_node)
        self._gained[lanes] += self._gains[nodes]

    def _outcome(self, events: IntArray, lanes: IntArray) -> Outcome:
        """Return the results of moves whose events are no nodes, each of another lane."""
        paid = self._process.payoffs[events]
        if self._gained is not None:
            paid += self._gained[lanes]
            self._gained[lanes] = 0.0
        return Outcome(paid, events != GOES_ON, self._added(lanes, paid), events == ILLEGAL)


class ArrayLanes(TableLanes):
    """Lanes in arrays, which read the tables a batch at a time."""

    _places: IntArray
    _contexts: IntArray

    def __init__(self, problem: Problem, num_lanes: int, encoding: Encoding) -> None:
        super().__init__(problem, num_lanes, encoding)
        self._places, self._contexts = np.zeros((2, num_lanes), dtype=np.int64)

    def go_to(self, states: IntArray) -> None:
        """Put the lanes into states."""
        self._begin(slice(None))
        self._places[:], self._contexts[:] = self._process.groups.locate(states)

    def start(self, lanes: IntArray, rng: np.random.Generator) -> None:
        """Begin new games: without the draws and the outcomes of moves, which take their time."""
        self._begin(lanes)
        self._follow(lanes, np.full(len(lanes), self._process.start), rng)

    def advance(
        self, lanes: IntArray, actions: IntArray, fresh: BoolArray, rng: np.random.Generator
    ) -> Outcome:
        """Make moves and begin games; draws at nodes are made for all lanes together."""
        if np.count_nonzero(fresh):
            self._begin(lanes[fresh])
            moving, events = np.flatnonzero(~fresh), np.full(len(lanes), self._process.start)
            events[moving] = self._move(lanes[moving], actions[moving], rng)
        else:
            events = self._move(lanes, actions, rng)
        ended = np.flatnonzero(events != GOES_ON)
        events[ended] = self._follow(lanes[ended], events[ended], rng)
        return self._outcome(events, lanes)

    def _move(self, lanes: IntArray, actions: IntArray, rng: np.random.Generator) -> IntArray:
        """Make moves and return their events, shape (move,)."""
        tables, places = self._process, self._places.take(lanes)
        moves = places * tables.legal.shape[1]
        moves += actions
        outcomes = tables.laws.draw(tables.move_laws.take(moves), rng)
        outcomes += tables.move_firsts.take(moves)
        entries = tables.leads_to.take(outcomes)
        goes_on = entries >= FIRST_PLACE
        self._places[lanes] = np.where(goes_on, entries, places)
        events = np.full(len(entries), GOES_ON)
        ended = np.flatnonzero(~goes_on)
        results = ~entries[ended].astype(np.int64)
        results *= tables.num_contexts
        events[ended] = tables.events.take(results + self._contexts[lanes[ended]])
        return events

    def _follow(self, lanes: IntArray, events: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw at nodes until no lane is at a node, and return the last events, shape (lane,)."""
        tables, first_node = self._process, self._process.first_node
        paid = events.astype(np.int64)
        at = np.flatnonzero(paid >= first_node)
        while len(at):
            nodes = paid[at] - first_node
            if self._gained is not None:
                self._gain(lanes[at], paid[at])
            outcomes = tables.laws.draw(tables.node_laws.take(nodes), rng)
            entries = tables.leads_to.take(tables.node_firsts.take(nodes) + outcomes)
            arrives = entries >= FIRST_PLACE
            paid[at] = np.where(arrives, GOES_ON, ~entries)
            arrived = np.flatnonzero(arrives)
            whose = lanes[at[arrived]]
            self._places[whose] = entries[arrived]
            self._contexts[whose] = tables.node_contexts.take(nodes[arrived])
            at = at[paid[at] >= first_node]
        return paid


class PlainLanes(TableLanes):
    """Lanes in lists, which read the tables entry by entry as Python's own numbers."""

    _places: list[int]
    _contexts: list[int]

    def __init__(self, problem: Problem, num_lanes: int, encoding: Encoding) -> None:
        super().__init__(problem, num_lanes, encoding)
        self._tables = self._process.plain
        self._places, self._contexts = [0] * num_lanes, [0] * num_lanes
        self._num_actions, self._num_contexts = self._legal.shape[1], self._process.num_contexts
        self._first_node = self._process.first_node
        self._payoffs: list[float] = self._process.payoffs.tolist()

    def go_to(self, states: IntArray) -> None:
        """Put the lanes into states."""
        self._begin(slice(None))
        places, contexts = self._process.groups.locate(states)
        self._places[:], self._contexts[:] = places.tolist(), contexts.tolist()

    def start(self, lanes: IntArray, rng: np.random.Generator) -> None:
        """Begin new games: without the outcomes of moves, which take their time."""
        self._begin(lanes)
        self._follow(lanes.tolist(), [self._process.start] * len(lanes), rng)

    def advance(
        self, lanes: IntArray, actions: IntArray, fresh: BoolArray, rng: np.random.Generator
    ) -> Outcome:
        """Make moves and begin games; draws at nodes are made for all lanes together."""
        if self._totals is not None:
            self._begin(lanes[fresh])
        whose, chosen, news = lanes.tolist(), actions.tolist(), fresh.tolist()
        chances, start = iter(rng.random(news.count(False)).tolist()), self._process.start
        events = [
            start if new else self._move(lane, action, next(chances))
            for lane, action, new in zip(whose, chosen, news, strict=True)
        ]
        self._follow(whose, events, rng)
        return self._outcome(np.array(events, dtype=np.int64), lanes)

    def _follow(self, lanes: Sequence[int], events: list[int], rng: np.random.Generator) -> None:
        """Draw at nodes until no lane is at a node; ``events`` is changed in place."""
        while at := [i for i, event in enumerate(events) if event >= self._first_node]:
            if self._gained is not None:
                self._gain([lanes[i] for i in at], [events[i] for i in at])
            for i, chance in zip(at, rng.random(len(at)).tolist(), strict=True):
                events[i] = self._go_on(lanes[i], events[i], chance)

    def state_of_one(self) -> int:
        """Give the state of the only lane."""
        context, tables = self._contexts[0], self._tables
        return tables.bases[context] + tables.strides[context] * self._places[0]

    def observe_one(self) -> Features:
        """Give the observation of the only lane, shape (feature,), in fresh memory."""
        if self._by_context is None:
            return self._by_place[self._places[0]].copy()
        return self._by_place[self._places[0]] + self._by_context[self._contexts[0]]

    def mask_of_one(self) -> npt.NDArray[np.int8]:
        """Give the legal actions of the only lane, shape (action,), in fresh memory."""
        legal: npt.NDArray[np.int8] = self._process.legal[self._places[0]]
        return legal.copy()

    def start_one(self, rng: np.random.Generator) -> None:
        """Begin a new game in the only lane."""
        self._begin(slice(None))
        event = self._process.start
        while event >= self._first_node:
            event = self._go_on(0, event, rng.random())

    def move_one(self, action: int, rng: np.random.Generator) -> tuple[float, bool, float, bool]:
        """Make a move in the only lane."""
        if self._gained is not None:
            return super().move_one(action, rng)
        event = self._move(0, action, rng.random())
        while event >= self._first_node:
            event = self._go_on(0, event, rng.random())
        payoff = self._payoffs[event]
        return payoff, event != GOES_ON, payoff, event == ILLEGAL

    def _move(self, lane: int, action: int, chance: float) -> int:
        """Make a move by a uniform random number, and return its event."""
        tables, move = self._tables, self._places[lane] * self._num_actions + action
        entry = self._drawn(tables.move_laws[move], tables.move_firsts[move], chance)
        if entry >= FIRST_PLACE:
            self._places[lane] = entry
            return GOES_ON
        return tables.events[~entry * self._num_contexts + self._contexts[lane]]

    def _go_on(self, lane: int, event: int, chance: float) -> int:
        """Draw at a node by a uniform random number, and return the next event."""
        tables, node = self._tables, event - self._first_node
        entry = self._drawn(tables.node_laws[node], tables.node_firsts[node], chance)
        if entry >= FIRST_PLACE:
            self._places[lane], self._contexts[lane] = entry, tables.node_contexts[node]
            return GOES_ON
        return ~entry

    def _drawn(self, law: int, first: int, chance: float) -> int:
        """Draw an outcome of a law by a uniform random number, and return its entry."""
        tables = self._tables
        spread = chance * tables.sizes[law]
        outcome = int(spread)
        slot = tables.firsts[law] + outcome
        if spread - outcome >= tables.thresholds[slot]:
            outcome = tables.aliases[slot]
        return tables.leads_to[first + outcome]
