"""Games of one task, played side by side: by flat tables, or by the rules where those do not fit.

A *lane* is one game. All draws come from one generator, in rounds: one number for each lane that
moves, in the order in which they are given; then one for each of those at a node of chance, in the
same order, until none is there. So the two ways to read the tables, with arrays and with Python's
own numbers, which is faster for a few lanes, play the same games.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import count, starmap
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..baselines import Task
from ..games import BoolArray, FloatArray, GameError, IntArray, InverseLaws, Move
from ..games.sizes import check_memory
from .encoding import Encoding, Features
from .process import ILLEGAL
from .tables import features_of, process_of

#: Up to so many lanes Python's own numbers are faster than arrays.
FEW = 24
#: Replays of games that end before the agent's first move, after which it is asked whether any is.
PATIENCE = 100
#: Stands for the payoff of a game that goes on.
GOES_ON = -1


class Ends(NamedTuple):
    """What moves have brought about, arrays of shape (move,)."""

    payoffs: FloatArray  # of the game to the agent, zero until it is over
    over: BoolArray
    illegal: BoolArray  # whether the move was illegal, which ends the game


class Played(NamedTuple):
    """A move that was made, by whomever."""

    seat: int
    state: int
    action: int
    outcome: int  # of chance


class Lanes(ABC):
    """A number of games; at the end of one its state stays what the agent saw last.

    Args:
        task: what the agent faces.
        num_lanes: number of games.
        encoding: how observations are written.
    """

    def __init__(self, task: Task, num_lanes: int, encoding: Encoding) -> None:
        self._task, self._num_lanes, self._encoding = task, num_lanes, encoding

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what lanes are made of, and where they are; tables are found again."""
        made_of = type(self), self._task, self._num_lanes, self._encoding
        return _lanes_at, (*made_of, self.states())

    @abstractmethod
    def states(self) -> IntArray:
        """Give the state of each lane, shape (lane,), in fresh memory."""

    @abstractmethod
    def go_to(self, states: IntArray) -> None:
        """Put the lanes into states in which the agent is to move, shape (lane,)."""

    @abstractmethod
    def start(self, lanes: IntArray, rng: np.random.Generator) -> None:
        """Begin new games in some lanes; the others play up to the agent's first move."""

    @abstractmethod
    def move(self, lanes: IntArray, actions: IntArray, rng: np.random.Generator) -> Ends:
        """Make one move in each of some lanes and let the others reply."""

    def move_all(self, actions: IntArray, fresh: BoolArray, rng: np.random.Generator) -> Ends:
        """Make one move in every lane, or begin a new game where ``fresh`` says so."""
        moving = np.flatnonzero(~fresh)
        self.start(np.flatnonzero(fresh), rng)
        ends = self.move(moving, actions[moving], rng)
        payoffs, (over, illegal) = np.zeros(len(fresh)), np.zeros((2, len(fresh)), dtype=bool)
        payoffs[moving], over[moving], illegal[moving] = ends
        return Ends(payoffs, over, illegal)

    @abstractmethod
    def observations(self) -> Features:
        """Give the encoded observation of each lane, shape (lane, feature), in fresh memory."""

    @abstractmethod
    def masks(self) -> BoolArray:
        """Say which actions are legal, shape (lane, action), in fresh memory."""


def make_lanes(task: Task, num_lanes: int, encoding: Encoding, tables: bool = True) -> Lanes:
    """Make lanes, which are played by tables if they are wanted and fit."""
    if not tables or process_of(task) is None:
        return RuleLanes(task, num_lanes, encoding)
    kind = PlainLanes if num_lanes <= FEW else ArrayLanes
    return kind(task, num_lanes, encoding)


def _lanes_at(
    kind: type[Lanes], task: Task, num_lanes: int, encoding: Encoding, states: IntArray
) -> Lanes:
    lanes = kind(task, num_lanes, encoding)
    lanes.go_to(states)
    return lanes


class TableLanes(Lanes):
    """Lanes that are played by tables, which must fit."""

    _places: IntArray | list[int]  # of each lane
    _contexts: IntArray | list[int]

    def __init__(self, task: Task, num_lanes: int, encoding: Encoding) -> None:
        super().__init__(task, num_lanes, encoding)
        process = process_of(task)
        assert process is not None
        self._process, self._legal = process, process.legal.view(np.bool_)
        self._by_place, self._by_context = features_of(task, encoding.name)

    def states(self) -> IntArray:
        """Give the state of each lane."""
        return self._process.blocks.states(np.asarray(self._places), np.asarray(self._contexts))

    def observations(self) -> Features:
        """Add up what place and context tell."""
        seen: Features = self._by_place.take(self._places, axis=0)
        if self._by_context is not None:
            seen += self._by_context.take(self._contexts, axis=0)
        return seen

    def masks(self) -> BoolArray:
        """Look the legal actions up."""
        return self._legal.take(self._places, axis=0)

    def _ends(self, paid: IntArray) -> Ends:
        """Tell what numbers of payoffs say."""
        return Ends(self._process.payoffs[paid], paid != GOES_ON, paid == ILLEGAL)


class ArrayLanes(TableLanes):
    """Lanes in arrays, which read a whole batch of entries of the tables at once."""

    _places: IntArray
    _contexts: IntArray

    def __init__(self, task: Task, num_lanes: int, encoding: Encoding) -> None:
        super().__init__(task, num_lanes, encoding)
        self._places, self._contexts = np.zeros((2, num_lanes), dtype=np.int64)

    def go_to(self, states: IntArray) -> None:
        """Put the lanes into states."""
        self._places[:], self._contexts[:] = self._process.blocks.locate(states)

    def start(self, lanes: IntArray, rng: np.random.Generator) -> None:
        """Begin new games."""
        self._follow(lanes, np.full(len(lanes), self._process.start), rng)

    def move(self, lanes: IntArray, actions: IntArray, rng: np.random.Generator) -> Ends:
        """Make moves."""
        paid = self._move(lanes, self._places[lanes], self._contexts[lanes], actions, rng)
        ended = np.flatnonzero(paid != GOES_ON)
        paid[ended] = self._follow(lanes[ended], paid[ended], rng)
        return self._ends(paid)

    def move_all(self, actions: IntArray, fresh: BoolArray, rng: np.random.Generator) -> Ends:
        """Make moves and begin games, whose draws at nodes of chance are made together."""
        if np.count_nonzero(fresh):
            lanes, paid = np.flatnonzero(~fresh), np.full(len(fresh), self._process.start)
            places, contexts = self._places[lanes], self._contexts[lanes]
            paid[lanes] = self._move(lanes, places, contexts, actions[lanes], rng)
        else:
            paid = self._move(slice(None), self._places, self._contexts, actions, rng)
        ended = np.flatnonzero(paid != GOES_ON)
        paid[ended] = self._follow(ended, paid[ended], rng)
        return self._ends(paid)

    def _move(
        self,
        lanes: IntArray | slice,
        places: IntArray,
        contexts: IntArray,
        actions: IntArray,
        rng: np.random.Generator,
    ) -> IntArray:
        """Make moves; give events, or ``GOES_ON``."""
        tables = self._process
        moves = places * tables.legal.shape[1]
        moves += actions
        outcomes = tables.laws.draw(tables.move_laws.take(moves), rng)
        outcomes += tables.move_firsts.take(moves)
        entries = tables.leads_to.take(outcomes)
        goes_on = entries >= 0
        self._places[lanes] = np.where(goes_on, entries, places)
        events = np.full(len(entries), GOES_ON)
        ended = np.flatnonzero(~goes_on)
        results = -1 - entries[ended].astype(np.int64)
        events[ended] = tables.events.take(results * tables.num_contexts + contexts[ended])
        return events

    def _follow(self, lanes: IntArray, events: IntArray, rng: np.random.Generator) -> IntArray:
        """Go on from events to places or payoffs: numbers of payoffs, or ``GOES_ON``."""
        tables, first_node = self._process, self._process.first_node
        paid = events.astype(np.int64)
        at = np.flatnonzero(paid >= first_node)
        while len(at):
            nodes = paid[at] - first_node
            outcomes = tables.laws.draw(tables.node_laws.take(nodes), rng)
            entries = tables.leads_to.take(tables.node_firsts.take(nodes) + outcomes)
            paid[at] = np.where(entries >= 0, GOES_ON, -1 - entries)
            arrived = np.flatnonzero(entries >= 0)
            whose = lanes[at[arrived]]
            self._places[whose] = entries[arrived]
            self._contexts[whose] = tables.node_contexts.take(nodes[arrived])
            at = at[paid[at] >= first_node]
        return paid


class PlainLanes(TableLanes):
    """Lanes in lists, which read the tables entry by entry, in Python's own numbers.

    Attributes:
        payoffs: by number; that of a game which goes on, the last one, is 0.
    """

    _places: list[int]
    _contexts: list[int]

    def __init__(self, task: Task, num_lanes: int, encoding: Encoding) -> None:
        super().__init__(task, num_lanes, encoding)
        self._tables = self._process.plain
        self._places, self._contexts = [0] * num_lanes, [0] * num_lanes
        self._num_actions, self._num_contexts = self._legal.shape[1], self._process.num_contexts
        self._first_node = self._process.first_node
        self.payoffs: list[float] = self._process.payoffs.tolist()

    def go_to(self, states: IntArray) -> None:
        """Put the lanes into states."""
        places, contexts = self._process.blocks.locate(states)
        self._places[:], self._contexts[:] = places.tolist(), contexts.tolist()

    def start(self, lanes: IntArray, rng: np.random.Generator) -> None:
        """Begin new games."""
        self._follow(lanes.tolist(), [self._process.start] * len(lanes), rng)

    def move(self, lanes: IntArray, actions: IntArray, rng: np.random.Generator) -> Ends:
        """Make moves."""
        whose, chances = lanes.tolist(), rng.random(len(lanes)).tolist()
        paid = list(map(self._move, whose, actions.tolist(), chances))
        self._follow(whose, paid, rng)
        return self._ends(np.array(paid, dtype=np.int64))

    def move_all(self, actions: IntArray, fresh: BoolArray, rng: np.random.Generator) -> Ends:
        """Make moves and begin games, whose draws at nodes of chance are made together."""
        news, chosen, start = fresh.tolist(), actions.tolist(), self._process.start
        chances = iter(rng.random(news.count(False)).tolist())
        every = range(len(news))
        paid = [
            start if news[lane] else self._move(lane, chosen[lane], next(chances)) for lane in every
        ]
        self._follow(every, paid, rng)
        return self._ends(np.array(paid))

    def _follow(self, lanes: Sequence[int], events: list[int], rng: np.random.Generator) -> None:
        """Go on from the events of lanes until all are numbers of payoffs or ``GOES_ON``."""
        while at := [i for i, event in enumerate(events) if event >= self._first_node]:
            for i, chance in zip(at, rng.random(len(at)).tolist(), strict=True):
                events[i] = self._go_on(lanes[i], events[i], chance)

    def state_of_one(self) -> int:
        """Give the state of the only lane."""
        context, tables = self._contexts[0], self._tables
        return tables.bases[context] + tables.strides[context] * self._places[0]

    def observe_one(self) -> Features:
        """Give the observation of the only lane, shape (feature,), in fresh memory."""
        if self._by_context is None:
            alone: Features = self._by_place[self._places[0]].copy()
            return alone
        seen: Features = self._by_place[self._places[0]] + self._by_context[self._contexts[0]]
        return seen

    def mask_of_one(self) -> npt.NDArray[np.int8]:
        """Give the legal actions of the only lane, shape (action,), in fresh memory."""
        legal: npt.NDArray[np.int8] = self._process.legal[self._places[0]]
        return legal.copy()

    def start_one(self, rng: np.random.Generator) -> None:
        """Begin a new game in the only lane."""
        event = self._process.start
        while event >= self._first_node:
            event = self._go_on(0, event, rng.random())

    def move_one(self, action: int, rng: np.random.Generator) -> int:
        """Make a move in the only lane; give the number of the payoff, or ``GOES_ON``."""
        event = self._move(0, action, rng.random())
        while event >= self._first_node:
            event = self._go_on(0, event, rng.random())
        return event

    def _move(self, lane: int, action: int, chance: float) -> int:
        """Make a move whose uniform number is drawn; give the event, or ``GOES_ON``."""
        tables = self._tables
        move = self._places[lane] * self._num_actions + action
        law = tables.move_laws[move]
        spread = chance * tables.sizes[law]
        outcome = int(spread)
        slot = tables.firsts[law] + outcome
        if spread - outcome >= tables.thresholds[slot]:
            outcome = tables.aliases[slot]
        entry = tables.leads_to[tables.move_firsts[move] + outcome]
        if entry >= 0:
            self._places[lane] = entry
            return GOES_ON
        event: int = tables.events[(-1 - entry) * self._num_contexts + self._contexts[lane]]
        return event

    def _go_on(self, lane: int, event: int, chance: float) -> int:
        """Leave a node, in the same way."""
        tables, node = self._tables, event - self._first_node
        law = tables.node_laws[node]
        spread = chance * tables.sizes[law]
        outcome = int(spread)
        slot = tables.firsts[law] + outcome
        if spread - outcome >= tables.thresholds[slot]:
            outcome = tables.aliases[slot]
        entry = tables.leads_to[tables.node_firsts[node] + outcome]
        if entry < 0:
            return -1 - entry
        self._places[lane], self._contexts[lane] = entry, tables.node_contexts[node]
        return GOES_ON


class RuleLanes(Lanes):
    """Lanes that are played by the rules, move by move, whoever makes it.

    Attributes:
        played: if there is one lane only, the moves in it since it was last told to move or start.
    """

    def __init__(self, task: Task, num_lanes: int, encoding: Encoding) -> None:
        super().__init__(task, num_lanes, encoding)
        self._game = task.game
        components, features = len(self._game.observation_sizes), len(encoding.components)
        each = 400 + 8 * (3 * components + 2 * features) + 5 * self._game.num_actions
        check_memory("num_envs", num_lanes, float(each))
        self.played: list[Played] = []
        self._policies = dict(task.policies)
        self._states = np.zeros(num_lanes, dtype=np.int64)
        self._most_moves = np.inf if self._game.has_cycles else len(self._game.stages())
        self._starts, chances = self._game.initial_law()
        self._start_law = InverseLaws(chances.astype(np.float64)[None])

    def states(self) -> IntArray:
        """Give the state of each lane."""
        return self._states.copy()

    def go_to(self, states: IntArray) -> None:
        """Put the lanes into states."""
        self._states[:] = states

    def observations(self) -> Features:
        """Observe and encode."""
        return self._encoding.encode(self._game.observe(self._states, self._task.seat))

    def masks(self) -> BoolArray:
        """Ask the rules."""
        return self._game.mask(self._states)

    def start(self, lanes: IntArray, rng: np.random.Generator) -> None:
        """Begin new games; those that end before the agent's first move are replayed."""
        for replay in count():
            if not len(lanes):
                break
            if replay == PATIENCE:
                _ = self._task.initial  # raises if the agent never gets to move
            self.played.clear()
            seats = np.zeros(len(lanes), dtype=np.int64)
            states = self._starts[self._start_law.draw(seats, rng)]
            lanes = lanes[self._play_others(lanes, seats, states, rng)[1]]

    def move(self, lanes: IntArray, actions: IntArray, rng: np.random.Generator) -> Ends:
        """Make moves."""
        seat, before = self._task.seat, self._states[lanes]
        legal = self._game.mask(before)[np.arange(len(lanes)), actions]
        payoffs = np.full(len(lanes), self._game.payoff_range[0])
        over = np.ones(len(lanes), dtype=bool)
        self.played.clear()
        move = self._sample(np.full(legal.sum(), seat), before[legal], actions[legal], rng)
        playing = ~move.over[:, seat]
        goes_on = np.flatnonzero(legal)[playing]
        payoffs[legal] = move.payoffs[:, seat]
        payoffs[goes_on], over[goes_on] = self._play_others(
            lanes[goes_on], move.seats[playing], move.states[playing], rng
        )
        return Ends(payoffs, over, ~legal)

    def _play_others(
        self, lanes: IntArray, seats: IntArray, states: IntArray, rng: np.random.Generator
    ) -> tuple[FloatArray, BoolArray]:
        """Play lanes on until the agent is to move or the game is over: (payoffs, over)."""
        seats, states = seats.copy(), states.copy()
        payoffs = np.zeros(len(lanes))
        over = np.zeros(len(lanes), dtype=bool)
        moves = np.zeros(len(lanes), dtype=np.int64)
        for seat in self._others_in_turn(seats, over):
            waiting = np.flatnonzero((seats == seat) & ~over)
            moves[waiting] += 1
            if moves.max() > self._most_moves:  # each move leads to a later stage
                raise GameError(f"{self._game!r} must end, but others move in circles")
            actions = self._policies[seat].sample(states[waiting], rng)
            move = self._sample(seats[waiting], states[waiting], actions, rng)
            seats[waiting], states[waiting] = move.seats, move.states
            payoffs[waiting] = move.payoffs[:, self._task.seat]
            over[waiting] = move.over[:, self._task.seat]
        self._states[lanes[~over]] = states[~over]
        return payoffs, over

    def _sample(
        self, seats: IntArray, states: IntArray, actions: IntArray, rng: np.random.Generator
    ) -> Move:
        """Make moves, and remember them if all are of one lane."""
        outcomes = self._game.draw(states, actions, rng)
        if self._num_lanes == 1:
            columns = (column.tolist() for column in (seats, states, actions, outcomes))
            self.played += starmap(Played, zip(*columns, strict=True))
        return self._game.advance(seats, states, actions, outcomes)

    def _others_in_turn(self, seats: IntArray, over: BoolArray) -> Iterator[int]:
        """Yield a seat that is to move in some lane, until the agent is to move in all."""
        while (waiting := (seats != self._task.seat) & ~over).any():
            yield int(seats[np.argmax(waiting)])
