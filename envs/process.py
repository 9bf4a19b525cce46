"""What an agent faces as flat tables, which all environments of a task in this process share.

The agent is at a *place*, in a *context*: the state of its turn, and what it knows from the turns
before. A move draws an outcome from a law, which leads to another place or ends the agent's turn
with a *result*. Result and context make an *event*: a payoff, or a node of chance, where another
draw leads to a place in a context or to the next event. The others are chance as well, as their
policies are fixed: in a game of turns a node is a whole turn of theirs or, where the agent does not
move again, all that they still do; in other games it is a move of theirs.

In games that are not made of turns places are states, and there is one context.

The tables are made by the game's own rules (``Game.turns``, ``Game.moves``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..baselines import Task
from ..baselines.answers import remembered
from ..baselines.players import spread
from ..baselines.policies import DeterministicPolicy
from ..games import (
    FLOATS,
    AliasLaws,
    Array,
    BoolArray,
    FloatArray,
    IntArray,
    SeatTurn,
    SizeError,
    Turn,
    frozen,
)
from ..games.turn import Piece
from .encoding import Encoding, EncodingName, Features

#: Bytes that the tables of a task may take; larger games are played by their rules.
LIMIT = 2**28
#: Payoffs that may differ where all that the others still do is one draw.
MOST_PAYOFFS = 64
#: The event that an illegal move is: payoff number 0, the worst one.
ILLEGAL = 0


class Blocks(NamedTuple):
    """Which states of the game the agent's places are in its contexts.

    In context c place p is the state ``bases[c] + strides[c] * p``. A block is consecutive states.

    Attributes:
        bases: shape (context,).
        strides: shape (context,).
        starts: first state of each block, growing, shape (block,).
        contexts: its first context.
        widths: its number of contexts.
        places: its first place.
    """

    bases: IntArray
    strides: IntArray
    starts: IntArray
    contexts: IntArray
    widths: IntArray
    places: IntArray

    @classmethod
    def of(
        cls, starts: IntArray, contexts: IntArray, widths: IntArray, places: IntArray
    ) -> "Blocks":
        """Make blocks, whose contexts are numbered in a row."""
        strides = np.repeat(widths, widths)
        bases = np.repeat(starts - places * widths - contexts, widths) + np.arange(len(strides))
        order = np.argsort(starts)
        blocks = (array[order] for array in (starts, contexts, widths, places))
        return cls(bases, strides, *blocks)

    def states(self, places: IntArray, contexts: IntArray) -> IntArray:
        """Give the game's states."""
        found: IntArray = self.bases[contexts] + self.strides[contexts] * places
        return found

    def locate(self, states: IntArray) -> tuple[IntArray, IntArray]:
        """Give places and contexts of states of the agent."""
        block = np.searchsorted(self.starts, states, side="right") - 1
        inside, context = np.divmod(states - self.starts[block], self.widths[block])
        return self.places[block] + inside, self.contexts[block] + context


@dataclass(frozen=True, eq=False)
class Process:
    """The tables.

    Events 0, ..., P - 1 are payoffs, and event P + n is node n.

    Attributes:
        laws: of moves and of nodes.
        move_laws: law of each move, shape (place * action,); that of nothing if it is illegal.
        move_firsts: entry of ``leads_to`` for outcome 0 of each move, shape (place * action,).
        node_laws: the same of nodes, shape (node,).
        node_firsts: shape (node,).
        node_contexts: context of the places to which a node leads, shape (node,).
        leads_to: a place; or -1 - r for a move that ends with result r, or -1 - e for a node that
            leads to event e. Shape (entry,).
        events: event of each result in each context, shape (result * context,).
        payoffs: by number; number 0 is that of illegal moves, and the last one, number -1, is 0,
            that of a game which goes on.
        start: event with which a game begins.
        legal: int8, shape (place, action).
        blocks: which states the places are.
        seen: components of an observation that tell the place; the others tell the context.
    """

    laws: AliasLaws
    move_laws: IntArray
    move_firsts: IntArray
    node_laws: IntArray
    node_firsts: IntArray
    node_contexts: IntArray
    leads_to: IntArray
    events: IntArray
    payoffs: FloatArray
    start: int
    legal: npt.NDArray[np.int8]
    blocks: Blocks
    seen: slice

    def __post_init__(self) -> None:
        for table in (*vars(self).values(), *self.laws, *self.blocks):
            if isinstance(table, np.ndarray):
                frozen(table)

    @property
    def first_node(self) -> int:
        """Number of events that are payoffs."""
        return len(self.payoffs) - 1

    @property
    def num_contexts(self) -> int:
        """Number of contexts."""
        return len(self.blocks.bases)

    @cached_property
    def plain(self) -> "PlainTables":
        """The same tables, as views that give Python's numbers."""
        integers = [getattr(self, name) for name in PlainTables._fields[4:-2]]
        views: Any = map(memoryview, [*self.laws, *integers, *self.blocks[:2]])
        return PlainTables(*views)


class PlainTables(NamedTuple):
    """Tables of ``AliasLaws``, ``Process`` and ``Blocks``, whose entries are ints and floats."""

    sizes: "memoryview[float]"
    firsts: "memoryview[int]"
    thresholds: "memoryview[float]"
    aliases: "memoryview[int]"
    move_laws: "memoryview[int]"
    move_firsts: "memoryview[int]"
    node_laws: "memoryview[int]"
    node_firsts: "memoryview[int]"
    node_contexts: "memoryview[int]"
    leads_to: "memoryview[int]"
    events: "memoryview[int]"
    bases: "memoryview[int]"
    strides: "memoryview[int]"


@remembered
def process_of(task: Task) -> Process | None:
    """Make the tables of a task, or give None if they would not fit ``LIMIT``."""
    turns = task.game.turns(task.seat)
    try:
        return _of_turns(task, turns) if turns else _of_moves(task)
    except SizeError:
        return None


@remembered
def features_of(task: Task, encoding: EncodingName) -> tuple[Features, Features | None]:
    """Give what observations say of places, (place, feature), and of contexts, (context, feature).

    An observation is the sum of both; the second is None if there is one context. There must be
    a ``Process``.
    """
    process = process_of(task)
    assert process is not None
    game, blocks, coded = task.game, process.blocks, Encoding(task.game.observation_sizes, encoding)
    in_order = np.argsort(blocks.contexts)
    first_places = np.repeat(blocks.places[in_order], blocks.widths[in_order])  # of each context
    first = blocks.bases + blocks.strides * first_places
    places = np.arange(len(process.legal))
    turns, some = np.unique(blocks.places, return_index=True)
    contexts = blocks.contexts[some][np.searchsorted(turns, places, side="right") - 1]
    in_places, in_contexts = (
        coded.encode(game.observe(states, task.seat))
        for states in (blocks.states(places, contexts), first)
    )
    if process.num_contexts == 1:
        return frozen(in_places), None
    by_place = np.zeros(len(game.observation_sizes), dtype=bool)
    by_place[process.seen] = True
    in_places[:, ~by_place[coded.components]] = 0
    in_contexts[:, by_place[coded.components]] = 0
    return frozen(in_places), frozen(in_contexts)


class _Tables:
    """Laws and ``leads_to`` as they grow; law 0 is that of nothing, which has one outcome."""

    def __init__(self) -> None:
        self.laws: list[FloatArray] = [np.ones((1, 1))]
        self.leads_to: list[IntArray] = []
        self.num_laws, self.num_entries = 1, 0

    def add_laws(self, table: FloatArray) -> int:
        """Add laws, (law, outcome), and give the number of the first."""
        self.laws.append(table)
        self.num_laws += len(table)
        return self.num_laws - len(table)

    def add_entries(self, leads_to: IntArray) -> int:
        """Add entries, of any shape, and give the number of the first."""
        self.leads_to.append(leads_to.ravel())
        self.num_entries += leads_to.size
        return self.num_entries - leads_to.size

    def check(self, numbers: float) -> None:
        """Refuse so many further numbers, of eight bytes each.

        Raises:
            SizeError: if the tables of a task may not take as much.
        """
        if 8 * (self.num_entries + numbers) > LIMIT:
            raise SizeError(f"tables must take at most {LIMIT} bytes")

    def process(
        self,
        *,
        moves: Sequence[IntArray],
        nodes: Sequence[IntArray],
        events: IntArray,
        payoffs: Sequence[float],
        start: int,
        legal: BoolArray,
        blocks: Blocks,
        seen: slice,
    ) -> Process:
        """Put everything together, in small types."""
        integers = (*moves, *nodes, np.concatenate(self.leads_to), events)
        tables: Any = (np.ascontiguousarray(table, dtype=np.int32).ravel() for table in integers)
        rest: Any = np.array([*payoffs, 0.0]), start, legal.astype(np.int8), blocks, seen
        return Process(AliasLaws.of(self.laws), *tables, *rest)


# ---------------------------------------------------------------------- games of turns


def _of_turns(task: Task, turns: Sequence[SeatTurn]) -> Process:
    """Make the tables of a game of turns; node n is the beginning of a turn in context n of all."""
    seat, num_actions = task.seat, task.game.num_actions
    counts = np.array([len(turn.starts) * turn.width for turn in turns])
    nodes = [slice(end - count, end) for count, end in zip(counts, np.cumsum(counts), strict=True)]
    own = [number for number, turn in enumerate(turns) if turn.seat == seat]
    played = list({id(turns[number].turn): turns[number].turn for number in own}.values())
    num_results = max(turn.num_results for turn in played)
    num_contexts, num_places = counts[own].sum(), sum(turn.num_states for turn in played)
    tables = _Tables()
    tables.check(num_places * num_actions + num_results * num_contexts)
    tables.check(sum(turn.following.size for turn in turns if turn.seat != seat))
    payoffs = np.unique(np.concatenate([turn.payoffs[turn.following < 0] for turn in turns]))
    first_node = 1 + len(payoffs)
    leads = [  # the event of each result, (result, context)
        np.where(
            turn.following < 0,
            1 + np.searchsorted(payoffs, turn.payoffs),
            first_node + turn.following,
        )
        for turn in turns
    ]
    node_laws, node_firsts, node_contexts = np.zeros((3, nodes[-1].stop + 1), dtype=np.int64)
    _add_others(task, turns, nodes, leads, tables, node_laws, node_firsts, first_node)

    moves, first_places, rolls = _add_turns(played, num_results, tables)
    events = np.full((num_results + 1, num_contexts), ILLEGAL)  # the last result is illegal
    begun = 0
    blocks = []
    for number in own:
        turn, span = turns[number], slice(begun, begun + int(counts[number]))
        place = first_places[id(turn.turn)]
        events[: len(leads[number]), span] = leads[number]
        node_laws[nodes[number]], node_firsts[nodes[number]] = rolls[id(turn.turn)]
        node_contexts[nodes[number]] = np.arange(span.start, span.stop)
        for block, start in enumerate(turn.starts.tolist()):
            blocks.append((start, begun + block * turn.width, turn.width, place))
        begun = span.stop
    located = Blocks.of(*np.array(blocks).T)
    start = first_node
    if turns[0].seat != seat:  # the law of the agent's first context, as others have moved
        states = np.flatnonzero(task.initial)
        first: FloatArray = np.zeros(num_contexts)
        np.add.at(first, located.locate(states)[1], task.initial[states])
        begins = np.concatenate([np.arange(nodes[n].start, nodes[n].stop) for n in own])
        met = np.flatnonzero(first)
        node_laws[-1] = tables.add_laws(first[None, met])
        node_firsts[-1] = tables.add_entries(-1 - first_node - begins[met])
        start = first_node + len(node_laws) - 1
    legal = np.concatenate([turn.legal for turn in played])
    worst = task.game.payoff_range[0]
    return tables.process(
        moves=moves,
        nodes=(node_laws, node_firsts, node_contexts),
        events=events,
        payoffs=[worst, *payoffs],
        start=start,
        legal=legal,
        blocks=located,
        seen=turns[0].seen,
    )


def _add_turns(
    played: Sequence[Turn], num_results: int, tables: _Tables
) -> tuple[list[IntArray], dict[int, int], dict[int, tuple[int, int]]]:
    """Add the moves of the agent's turns.

    Returns:
        Law and first entry of each move; the first place of each turn, by identity; and law and
        first entry of its first roll.
    """
    laws, firsts, first_places, rolls, place = [], [], {}, {}, 0
    ended = tables.add_entries(-1 - np.arange(num_results + 1))
    for turn in played:
        law = tables.add_laws(turn.probabilities[FLOATS])
        rolled = tables.add_entries(place + turn.rolled)  # (afterstate, outcome)
        after = rolled + turn.leads_to * turn.rolls.shape[1]
        drawn = np.where(turn.ends, 0, law + turn.law[np.where(turn.ends, 0, turn.leads_to)])
        leads = np.where(turn.ends, ended + turn.leads_to, after)
        laws.append(np.where(turn.legal, drawn, 0))
        firsts.append(np.where(turn.legal, leads, ended + num_results))
        first_places[id(turn)], rolls[id(turn)] = place, (law + int(turn.law[0]), rolled)
        place += turn.num_states
    return [np.concatenate(laws), np.concatenate(firsts)], first_places, rolls


def _add_others(
    task: Task,
    turns: Sequence[SeatTurn],
    nodes: Sequence[slice],
    leads: Sequence[IntArray],
    tables: _Tables,
    node_laws: IntArray,
    node_firsts: IntArray,
    first_node: int,
) -> None:
    """Make a node of each turn of the others, or of all that follows where the agent is through."""
    settled = np.zeros((nodes[-1].stop, first_node))  # law of the payoffs from a node on
    through = np.zeros(nodes[-1].stop, dtype=bool)  # whether the agent is
    paid = tables.add_entries(-1 - np.arange(first_node))
    for turn, node, events in reversed(list(zip(turns, nodes, leads, strict=True))):
        if turn.seat == task.seat:
            continue
        ends = _result_laws(task, turn)  # (result, context)
        pays = events < first_node
        later = np.where(pays, 0, events - first_node)
        if (
            first_node <= MOST_PAYOFFS
            and not task.game.has_cycles
            and (pays | through[later]).all()
        ):
            for result, chance in enumerate(ends):
                known = np.eye(first_node)[np.where(pays[result], events[result], 0)]
                after = np.where(pays[result][:, None], known, settled[later[result]])
                settled[node] += chance[:, None] * after
            through[node] = True
            node_laws[node] = tables.add_laws(settled[node]) + np.arange(len(settled[node]))
            node_firsts[node] = paid
        else:
            node_laws[node] = tables.add_laws(ends.T) + np.arange(ends.shape[1])
            node_firsts[node] = tables.add_entries(-1 - events.T) + len(ends) * np.arange(
                ends.shape[1]
            )


def _result_laws(task: Task, turn: SeatTurn) -> FloatArray:
    """Compute the law of another player's results, (result, context), in all contexts at once."""
    policy = task.policies[turn.seat]
    contexts = (turn.starts[:, None] + np.arange(turn.width)).ravel()

    def decide(piece: Piece, mass: Array) -> Array:
        in_turn = np.arange(piece.states.start, piece.states.stop)[:, None] * turn.width
        weights = spread(policy, (in_turn + contexts).ravel(), mass.ravel(), FLOATS)
        return weights.reshape(*mass.shape, -1).swapaxes(1, 2)

    played = turn.turn
    start = np.zeros((played.num_states, len(contexts)))
    first = played.slices[0][1]
    start[first] = played.probabilities[FLOATS][played.law[0]][played.possible[0]][:, None]
    laws: FloatArray = played.forward(decide, start)[1]
    return laws


# ---------------------------------------------------------------------- other games


def _of_moves(task: Task) -> Process:
    """Make the tables of any other game: a node is a position or a move of the others."""
    game, seat, tables = task.game, task.seat, _Tables()
    size = game.num_states
    tables.check(game.num_players * size * game.num_actions + game.laws.size)
    illegal, law = tables.add_entries(np.array([-1 - ILLEGAL])), tables.add_laws(game.laws)
    moves = {mover: game.moves(mover, seat) for mover in range(game.num_players)}
    payoffs = np.unique(np.concatenate([every.payoffs for every in moves.values()]))
    first_node = 1 + len(payoffs)
    begins = np.zeros(game.num_players, dtype=np.int64)  # first node of each of the others
    begins[task.others] = np.arange(len(task.others)) * size
    tabulated = {}
    for mover, every in moves.items():
        over = every.leads_to < 0
        movers, states = np.divmod(np.where(over, 0, every.leads_to), size)
        paid = 1 + np.searchsorted(payoffs, every.payoffs)[np.where(over, -1 - every.leads_to, 0)]
        events = np.where(over, paid, first_node + begins[movers] + states)
        entries = tables.add_entries(np.where(~over & (movers == seat), states, -1 - events))
        legal = every.laws >= 0
        firsts = np.where(legal, entries + every.firsts, illegal)
        tabulated[mover] = np.where(legal, law + every.laws, 0), firsts
    nodes = [np.zeros((2, len(task.others) * size), dtype=np.int64)]
    for mover in task.others:
        own, policy = game.states_of(mover), task.policies[mover]
        if isinstance(policy, DeterministicPolicy):
            nodes[0][:, begins[mover] + own] = np.stack(tabulated[mover])[
                :, own, policy.actions[own]
            ]
            continue
        pairs = np.stack(
            np.nonzero(game.mask(own))
        )  # a node draws the action, the next its outcome
        later = np.zeros((len(own), game.num_actions), dtype=np.int64)
        later[tuple(pairs)] = sum(part.shape[1] for part in nodes) + np.arange(pairs.shape[1])
        nodes[0][0, begins[mover] + own] = np.arange(len(own)) + tables.add_laws(
            policy.probabilities(own)
        )
        nodes[0][1, begins[mover] + own] = np.arange(len(own)) * game.num_actions + (
            tables.add_entries(-1 - first_node - later)
        )
        nodes.append(np.stack(tabulated[mover])[:, own[pairs[0]], pairs[1]])
    met = np.flatnonzero(task.initial)
    start = [[tables.add_laws(task.initial[None, met])], [tables.add_entries(met)]]
    node_laws, node_firsts = np.concatenate([*nodes, start], axis=1)
    first, one = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    return tables.process(
        moves=tabulated[seat],
        nodes=(node_laws, node_firsts, np.zeros_like(node_laws)),
        events=np.arange(first_node + len(node_laws)),
        payoffs=[game.payoff_range[0], *payoffs],
        start=first_node + len(node_laws) - 1,
        legal=game.mask(np.arange(size)),
        blocks=Blocks.of(first, first, one, first),
        seen=slice(None),
    )
