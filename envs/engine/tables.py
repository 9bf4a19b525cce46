"""The flat tables of a task, made by the rules of its game and the policies of the others."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...baselines import Task
from ...baselines.cache import cached
from ...baselines.solving.players import spread
from ...core import (
    FLOATS,
    AliasLaws,
    Array,
    BoolArray,
    FloatArray,
    IntArray,
    Leg,
    SizeError,
    TurnGame,
    frozen,
)
from ...core.contract import order_of
from ...core.positions import states_of
from ...core.sweeps import sweeps_of
from ...core.turn import Piece
from ..api.encoding import Encoding, EncodingName, Features
from .process import ILLEGAL, ContextGroups, Process

#: Bytes that the tables of a task may take; larger games are played by their rules.
LIMIT = 2**28
#: Payoffs that may differ where all that the others still do is one draw.
MOST_PAYOFFS = 64


@cached
def process_of(task: Task) -> Process | None:
    """Make the tables of a task, or give None if they would not fit ``LIMIT``.

    There are none either if another player is too large to be a table itself.
    """
    if not all(policy.is_table for policy in task.policies.values()):
        return None
    if sweeps_of(task.game).is_listed:
        _ = order_of(task.game)  # before the initial law is used
    _ = task.initial  # raises if the agent never gets to move
    try:
        turns = sweeps_of(task.game).turn_game
        return _of_moves(task) if turns is None else _OfTurns(task, turns).process()
    except SizeError:
        return None


@cached
def features_of(task: Task, encoding: EncodingName) -> tuple[Features, Features | None]:
    """Give what observations say of places, (place, feature), and of contexts, (context, feature).

    An observation is the sum of both; the second is None if there is one context. There must be
    a ``Process``.
    """
    process = process_of(task)
    assert process is not None
    game, groups, coded = task.game, process.groups, Encoding(task.game.observation_sizes, encoding)
    in_order = np.argsort(groups.contexts)
    first_places = np.repeat(groups.places[in_order], groups.widths[in_order])  # of each context
    first = groups.bases + groups.strides * first_places
    places = np.arange(len(process.legal))
    turns, some = np.unique(groups.places, return_index=True)
    contexts = groups.contexts[some][np.searchsorted(turns, places, side="right") - 1]
    in_places, in_contexts = (
        np.ascontiguousarray(coded.encode(game.observe(states, task.seat)))
        for states in (groups.states(places, contexts), first)
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
        groups: ContextGroups,
        seen: slice,
    ) -> Process:
        """Put everything together, in small types."""
        integers = (*moves, *nodes, np.concatenate(self.leads_to), events)
        tables: Any = (np.ascontiguousarray(table, dtype=np.int32).ravel() for table in integers)
        rest: Any = np.array([*payoffs, 0.0]), start, legal.astype(np.int8, order="C"), groups, seen
        return Process(AliasLaws.of(self.laws), *tables, *rest)


# ---------------------------------------------------------------------- games of turns


class _OfTurns:
    """Makes the tables of a game of turns, in which each turn in each context begins with a node.

    Node n is the beginning in context n of all; the last node draws the agent's first context.
    """

    def __init__(self, task: Task, game: TurnGame) -> None:
        self._task, self._game, self._legs, self._tables = task, game, game.legs, _Tables()
        legs = game.legs
        self._own = [number for number, leg in enumerate(legs) if leg.seat == task.seat]
        played = {id(legs[number].turn): legs[number].turn for number in self._own}
        self._played = list(played.values())
        counts = [len(leg.contexts) for leg in legs]
        self._nodes = [
            slice(end - count, end) for count, end in zip(counts, np.cumsum(counts), strict=True)
        ]
        self._num_results = max(turn.num_results for turn in self._played)
        self._num_contexts = sum(counts[number] for number in self._own)
        self._check()
        ended = [leg.settled[..., task.seat] for leg in legs]
        paid = [leg.paid[FLOATS][..., task.seat] for leg in legs]
        settled = [each[over] for each, over in zip(paid, ended, strict=True)]
        self._payoffs = np.unique(np.concatenate(settled))
        self._first_node = 1 + len(self._payoffs)
        self._events = list(map(self._events_of, legs))
        self._laws, self._firsts, self._contexts = np.zeros(
            (3, self._nodes[-1].stop + 1), dtype=np.int64
        )

    def _check(self) -> None:
        """Refuse tables that would not fit."""
        places = sum(turn.num_states for turn in self._played)
        of_agent = places * self._task.game.num_actions + self._num_results * self._num_contexts
        others = [leg.following.size for leg in self._legs if leg.seat != self._task.seat]
        self._tables.check(of_agent + sum(others))

    def _events_of(self, leg: Leg) -> IntArray:
        """Give the event of each result, shape (result, context)."""
        player = self._task.seat
        payoffs = 1 + np.searchsorted(self._payoffs, leg.paid[FLOATS][..., player])
        return np.where(leg.settled[..., player], payoffs, self._first_node + leg.following)

    def process(self) -> Process:
        """Put everything together."""
        self._add_others()
        moves, first_places, rolls = self._add_moves()
        events = np.full((self._num_results + 1, self._num_contexts), ILLEGAL)  # the last one is
        groups: list[tuple[int, int, int, int]] = []
        begun = 0
        for number in self._own:
            leg, nodes, known = self._legs[number], self._nodes[number], self._events[number]
            played = id(leg.turn)
            contexts = slice(begun, begun + known.shape[1])
            events[: len(known), contexts] = known
            self._laws[nodes], self._firsts[nodes] = rolls[played]
            self._contexts[nodes] = np.arange(contexts.start, contexts.stop)
            first, end = self._game.first_contexts[number : number + 2]
            for start in self._game.bases[first : end : leg.width].tolist():
                groups.append((start, begun, leg.width, first_places[played]))
                begun += leg.width
        located = ContextGroups.of(*np.array(groups).T)
        return self._tables.process(
            moves=moves,
            events=events,
            start=self._start(located),
            nodes=(self._laws, self._firsts, self._contexts),
            payoffs=[self._task.game.payoff_range[0], *self._payoffs],
            legal=np.concatenate([turn.legal for turn in self._played]),
            groups=located,
            seen=self._game.seen_in_turn,
        )

    def _start(self, groups: ContextGroups) -> int:
        """Give the event with which a game begins: the first turn, or the agent's first context."""
        if self._legs[0].seat == self._task.seat:
            return self._first_node
        initial = self._task.initial
        states = np.flatnonzero(initial)
        law = np.zeros(self._num_contexts)
        np.add.at(law, groups.locate(states)[1], initial[states])
        nodes = np.concatenate([np.arange(*self._nodes[n].indices(2**62)) for n in self._own])
        met = np.flatnonzero(law)
        self._laws[-1] = self._tables.add_laws(law[None, met])
        self._firsts[-1] = self._tables.add_entries(-1 - self._first_node - nodes[met])
        return self._first_node + len(self._laws) - 1

    def _add_moves(self) -> tuple[list[IntArray], dict[int, int], dict[int, tuple[int, int]]]:
        """Add the moves of the agent's turns.

        Returns:
            Law and first entry of each move; the first place of each turn, by identity; and law
            and first entry of its first roll.
        """
        laws, firsts, first_places, rolls, place = [], [], {}, {}, 0
        ended = self._tables.add_entries(-1 - np.arange(self._num_results + 1))
        for turn in self._played:
            law = self._tables.add_laws(turn.probabilities[FLOATS])
            rolled = self._tables.add_entries(place + turn.rolled)  # (afterstate, outcome)
            after = rolled + turn.leads_to * turn.rolls.shape[1]
            drawn = np.where(turn.ends, 0, law + turn.law[np.where(turn.ends, 0, turn.leads_to)])
            leads = np.where(turn.ends, ended + turn.leads_to, after)
            laws.append(np.where(turn.legal, drawn, 0))
            firsts.append(np.where(turn.legal, leads, ended + self._num_results))
            first_places[id(turn)], rolls[id(turn)] = place, (law + int(turn.law[0]), rolled)
            place += turn.num_states
        return [np.concatenate(laws), np.concatenate(firsts)], first_places, rolls

    def _add_others(self) -> None:
        """Make a node of each turn of the others, or of all that follows if the agent is through.

        Turns lead to later ones; not so in games with cycles, where the agent may always come back.
        """
        size, one_draw = self._nodes[-1].stop, self._first_node <= MOST_PAYOFFS
        settled = np.zeros((size, self._first_node))  # law of the payoffs from a node on
        through = np.zeros(size, dtype=bool)  # whether the agent is
        paid = self._tables.add_entries(-1 - np.arange(self._first_node))
        for number in reversed(range(len(self._legs))):
            if number in self._own:
                continue
            node, events = self._nodes[number], self._events[number]
            ends = _result_laws(self._task, self._game, number)  # (result, context)
            pays = events < self._first_node
            later = np.where(pays, 0, events - self._first_node)
            if one_draw and not self._task.game.has_cycles and (pays | through[later]).all():
                for result, chance in enumerate(ends):
                    known = np.eye(self._first_node)[np.where(pays[result], events[result], 0)]
                    after = np.where(pays[result][:, None], known, settled[later[result]])
                    settled[node] += chance[:, None] * after
                through[node] = True
                laws, firsts = settled[node], np.full(len(settled[node]), paid)
            else:
                laws = ends.T
                firsts = self._tables.add_entries(-1 - events.T) + len(ends) * np.arange(len(laws))
            self._laws[node] = self._tables.add_laws(laws) + np.arange(len(laws))
            self._firsts[node] = firsts


def _result_laws(task: Task, game: TurnGame, number: int) -> FloatArray:
    """Compute the law of another player's results, (result, context), in all contexts of a leg."""
    leg = game.legs[number]
    policy, played = task.policies[leg.seat], leg.turn

    def decide(piece: Piece, mass: Array) -> Array:
        weights = spread(policy, game.states_in(number, piece.states), mass.ravel(), FLOATS)
        return weights.reshape(*mass.shape, -1).swapaxes(1, 2)

    start = np.zeros((played.num_states, len(leg.contexts)))
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
    moves = {mover: sweeps_of(game).moves(mover, seat) for mover in range(game.num_players)}
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
        own, policy = states_of(game, mover), task.policies[mover]
        if policy.is_deterministic:
            chosen = policy.likeliest(own)
            nodes[0][:, begins[mover] + own] = np.stack(tabulated[mover])[:, own, chosen]
            continue
        # A node draws the action, and the next one its outcome.
        pairs = np.stack(np.nonzero(game.mask(own)))
        later = np.zeros((len(own), game.num_actions), dtype=np.int64)
        later[tuple(pairs)] = sum(part.shape[1] for part in nodes) + np.arange(pairs.shape[1])
        each = np.arange(len(own))
        nodes[0][:, begins[mover] + own] = [
            tables.add_laws(policy.probabilities(own)) + each,
            tables.add_entries(-1 - first_node - later) + each * game.num_actions,
        ]
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
        groups=ContextGroups.of(first, first, one, first),
        seen=slice(None),
    )
