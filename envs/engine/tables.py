"""The flat tables of a task, and its observations by place and context.

*A game that is not made of turns*, from its listed moves. Places are the states of the game, in one
context. Where another player is to move, a node draws its action, and a further node for each
action draws the outcome; if the policy of the player is deterministic, the first node draws the
outcome at once. The last node draws the state in which the agent begins. The first nodes are those
that pay: another node, or a state of the agent, with what a move pays.

*A game of turns*, joined from the tables of its legs. Each turn in each context begins with a node,
which draws the first roll: node n belongs to context n, counted over all legs. It is the whole turn
of another player or, if the agent does not move again, the rest of the game. One further node draws
the context in which the agent begins. The last nodes are those that pay: the nodes of contexts
again, with what a result pays that leads there.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from ...baselines import Problem
from ...baselines.cache import cached
from ...core import FLOATS, AliasLaws, FloatArray, IntArray, SizeError, TurnGame, TurnSweeps, frozen
from ...core.contract import worst_payoff
from ...core.positions import states_of
from ...core.turn_values import parts_of
from ..encoding import Encoding, EncodingName, Features
from .process import FIRST_PAYOFF, ILLEGAL, SURE, ContextGroups, Process

#: Limit of the tables of a task, in bytes; larger games are played by their rules.
LIMIT = 2**28
#: After the agent's last move the rest of a game with fewer payoffs than this is one draw.
MOST_PAYOFFS = 64


class ProcessBuilder:
    """Collects laws and entries of ``leads_to``; it begins with the law ``SURE``."""

    def __init__(self, problem: Problem, numbers: float) -> None:
        if 8 * numbers > LIMIT:
            raise SizeError(f"tables of moves must take at most {LIMIT} bytes")
        self._problem = problem
        self._tables: list[FloatArray] = [np.ones((1, 1))]  # of laws
        self._leads_to: list[IntArray] = []

    def add_laws(self, table: FloatArray) -> int:
        """Add laws, shape (law, outcome), and return the number of the first law."""
        self._tables.append(table)
        return sum(map(len, self._tables[:-1]))

    def add_entries(self, leads_to: IntArray) -> int:
        """Add entries of any shape to ``leads_to``, and return the number of the first entry."""
        self._leads_to.append(leads_to.ravel())
        return sum(map(len, self._leads_to[:-1]))

    def build(self, payoffs: FloatArray, **tables: Any) -> Process:
        """Build the process, with integers of 32 bits."""
        tables["leads_to"] = np.concatenate(self._leads_to)
        for name, table in tables.items():
            if isinstance(table, np.ndarray) and table.dtype.kind == "i":
                tables[name] = np.ascontiguousarray(table, dtype=np.int32).ravel()
        tables["legal"] = tables["legal"].astype(np.int8, order="C")
        paid = np.array([0.0, worst_payoff(self._problem.game), *payoffs])
        return Process(laws=AliasLaws.of(self._tables), payoffs=paid, **tables)


class _Paying:
    """The ways that pay the agent before the end: pairs of a payment and what follows, (way,)."""

    def __init__(self, following: IntArray, paid: FloatArray) -> None:
        distinct, numbers = np.unique(paid, return_inverse=True)
        pairs, self.nodes = np.unique(  # (way,) the pair of each way
            following.astype(np.int64) * len(distinct) + numbers, return_inverse=True
        )
        self.leads_to, numbers = np.divmod(pairs, max(1, len(distinct)))  # (pair,)
        self.gains = distinct[numbers]  # (pair,)

    def gains_of(self, nodes: slice, count: int) -> FloatArray | None:
        """Give the payments at all nodes, of which ``nodes`` are the pairs; None without pairs."""
        if not len(self.gains):
            return None
        gains = np.zeros(count)
        gains[nodes] = self.gains
        return gains


class _TurnTables(ProcessBuilder):
    """Makes the tables of a task whose game is made of turns."""

    def __init__(self, problem: Problem, game: TurnGame) -> None:
        legs = self._legs = game.legs
        self._game = game
        self._own = [number for number, leg in enumerate(legs) if leg.seat == problem.seat]
        turns = {id(legs[number].turn): legs[number].turn for number in self._own}
        self._played = list(turns.values())  # legs that share a turn share its places
        firsts = game.first_contexts.tolist()
        self._nodes = [slice(first, after) for first, after in pairwise(firsts)]
        self._num_results = max(turn.num_results for turn in self._played)
        self._num_contexts = sum(len(legs[number].contexts) for number in self._own)
        of_agent = sum(turn.num_states for turn in self._played) * problem.game.num_actions
        of_agent += self._num_results * self._num_contexts
        others = sum(leg.following.size for leg in legs if leg.seat != problem.seat)
        super().__init__(problem, of_agent + others)
        over = np.concatenate([leg.settled[..., problem.seat].ravel() for leg in legs])
        paid = np.concatenate([leg.paid(FLOATS)[..., problem.seat].ravel() for leg in legs])
        nodes = np.concatenate([leg.following.ravel() for leg in legs])
        self._payoffs = np.unique(paid[over])
        self._first_node = FIRST_PAYOFF + len(self._payoffs)
        self._begins: int = self._nodes[-1].stop  # node with which a game begins
        early = ~over & (paid != 0)
        self._paying = _Paying(nodes[early], paid[early])
        nodes[early] = self._begins + 1 + self._paying.nodes
        payoffs = FIRST_PAYOFF + np.searchsorted(self._payoffs, paid)
        events = np.where(over, payoffs, self._first_node + nodes)
        bounds = np.cumsum([leg.following.size for leg in legs])[:-1]
        self._events: list[IntArray] = [  # of each result in each context of a leg
            each.reshape(leg.following.shape)
            for leg, each in zip(legs, np.split(events, bounds), strict=True)
        ]
        count = self._begins + 1 + len(self._paying.gains)
        self._laws, self._firsts, self._contexts = np.zeros((3, count), dtype=np.int64)

    def process(self) -> Process:
        """Make the tables of the agent's turns and of all nodes."""
        self._add_others()
        moves, first_places, rolls = self._add_moves()
        events = np.full((self._num_results + 1, self._num_contexts), ILLEGAL)
        # The last row remains: it is the result of an illegal move.
        groups: list[tuple[int, int, int, int]] = []
        begun = 0
        for number in self._own:
            leg, nodes, known = self._legs[number], self._nodes[number], self._events[number]
            played = id(leg.turn)
            contexts = slice(begun, begun + known.shape[1])
            events[: len(known), contexts] = known
            self._laws[nodes], self._firsts[nodes] = rolls[played]
            self._contexts[nodes] = np.arange(contexts.start, contexts.stop)
            for start in self._game.bases[nodes][:: leg.width].tolist():
                groups.append((start, begun, leg.width, first_places[played]))
                begun += leg.width
        located = ContextGroups.of(*np.array(groups).T)
        start, paying = self._start(located), slice(self._begins + 1, None)
        for table in (self._laws, self._firsts, self._contexts):
            table[paying] = table[self._paying.leads_to]
        return self.build(
            move_laws=moves[0],
            move_firsts=moves[1],
            events=events,
            start=start,
            node_laws=self._laws,
            node_firsts=self._firsts,
            node_contexts=self._contexts,
            node_gains=self._paying.gains_of(paying, len(self._laws)),
            payoffs=self._payoffs,
            legal=np.concatenate([turn.legal for turn in self._played]),
            groups=located,
            seen=self._game.seen_in_turn,
        )

    def _start(self, groups: ContextGroups) -> int:
        """Return the event with which a game begins: the agent's first roll, or first context."""
        if self._legs[0].seat == self._problem.seat:
            return self._first_node
        initial = self._problem.initial
        states = np.flatnonzero(initial)
        law = np.zeros(self._num_contexts)
        np.add.at(law, groups.locate(states)[1], initial[states])
        own = [np.arange(self._begins)[self._nodes[number]] for number in self._own]
        nodes, met = np.concatenate(own), np.flatnonzero(law)
        self._laws[self._begins] = self.add_laws(law[None, met])
        self._firsts[self._begins] = self.add_entries(~(self._first_node + nodes[met]))
        return self._first_node + self._begins

    def _add_moves(self) -> tuple[list[IntArray], dict[int, int], dict[int, tuple[int, int]]]:
        """Add the moves of the agent's turns: law and first entry of each.

        Also, by ``id`` of each turn, its first place, and law and first entry of its first roll.
        """
        laws, firsts, first_places, rolls, place = [], [], {}, {}, 0
        illegal = self._num_results  # one more result than the turns have
        ended = self.add_entries(~np.arange(illegal + 1))
        for turn in self._played:
            law = self.add_laws(turn.probabilities[FLOATS])
            rolled = self.add_entries(place + turn.rolled)  # (afterstate, outcome)
            after = rolled + turn.leads_to * turn.rolls.shape[1]
            drawn = np.where(turn.ends, SURE, law + turn.law[np.where(turn.ends, 0, turn.leads_to)])
            leads = np.where(turn.ends, ended + turn.leads_to, after)
            laws.append(np.where(turn.legal, drawn, SURE))
            firsts.append(np.where(turn.legal, leads, ended + illegal))
            first_places[id(turn)], rolls[id(turn)] = place, (law + int(turn.law[0]), rolled)
            place += turn.num_states
        return [np.concatenate(laws), np.concatenate(firsts)], first_places, rolls

    def _add_others(self) -> None:
        """Add a node for each turn of another player in each context.

        If the agent has no more moves, the node is the rest of the game. Legs are visited last to
        first, so that later nodes are known. In a game with cycles the agent may always move again.
        """
        size, one_draw = self._begins, len(self._payoffs) < MOST_PAYOFFS
        one_draw &= not len(self._paying.gains)  # else totals would have to be drawn
        settled = np.zeros((size, self._first_node))  # (node, event): law of the payoffs
        through = np.zeros(size, dtype=bool)  # (node,): whether the agent has no more moves
        # ILLEGAL has probability 0; without its column seeds would give other games than before.
        paid = self.add_entries(~np.arange(ILLEGAL, self._first_node))
        for number in reversed(range(len(self._legs))):
            if number in self._own:
                continue
            node, events = self._nodes[number], self._events[number]
            ends = self._result_laws(number)  # (result, context)
            pays = events < self._first_node
            later = np.where(pays, 0, events - self._first_node)
            if one_draw and not self._problem.game.has_cycles and (pays | through[later]).all():
                for result, chance in enumerate(ends):
                    known = np.eye(self._first_node)[np.where(pays[result], events[result], 0)]
                    after = np.where(pays[result][:, None], known, settled[later[result]])
                    settled[node] += chance[:, None] * after
                through[node] = True
                laws = settled[node, ILLEGAL:]
                firsts = np.full(len(laws), paid)
            else:
                laws = ends.T
                entries = self.add_entries(~events.T)
                firsts = entries + len(ends) * np.arange(len(laws))
            self._laws[node] = self.add_laws(laws) + np.arange(len(laws))
            self._firsts[node] = firsts

    def _result_laws(self, number: int) -> FloatArray:
        """Compute the law of another player's results in a leg, shape (result, context)."""
        policy = self._problem.policies[self._legs[number].seat]
        laws = [
            part.forward(
                lambda stage, mass: policy.spread(stage.states, mass, FLOATS),
                part.nothing(),
                np.ones(len(part.own)),
            )[1]
            for part in parts_of(self._game, number, FLOATS)
        ]
        return np.concatenate(laws, axis=1)


class _MoveTables(ProcessBuilder):
    """Makes the tables of a task from the listed moves of its game."""

    def __init__(self, problem: Problem) -> None:
        game, self._size = problem.game, problem.game.num_states
        moves = game.num_players * self._size * game.num_actions
        super().__init__(problem, moves + game.laws.size)
        self._listed = [problem.law.moves(mover, problem.seat) for mover in range(game.num_players)]
        over = np.concatenate([every.over for every in self._listed])
        paid = np.concatenate([every.payoffs for every in self._listed])
        later = np.concatenate([every.leads_to[every.paying] for every in self._listed])
        self._payoffs = np.unique(paid[over])
        self._first_node = FIRST_PAYOFF + len(self._payoffs)
        self._paying = _Paying(later[~over], paid[~over])
        #: Node of state 0 of each other player.
        self._begins: Any = np.zeros(game.num_players, dtype=np.int32)
        first = len(self._paying.gains)
        others = problem.task.others
        self._begins[others] = first + np.arange(len(others)) * self._size

    def process(self) -> Process:
        """Make the tables of the moves and of the nodes."""
        game, moves = self._problem.game, self._moves()
        node_laws, node_firsts = self._nodes(moves)
        count, first, one = len(node_laws), np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
        return self.build(
            move_laws=moves[self._problem.seat][0],
            move_firsts=moves[self._problem.seat][1],
            node_laws=node_laws,
            node_firsts=node_firsts,
            node_contexts=np.zeros_like(node_laws),
            node_gains=self._paying.gains_of(slice(len(self._paying.gains)), count),
            events=np.arange(self._first_node + count),
            payoffs=self._payoffs,
            start=self._first_node + count - 1,
            legal=game.mask(np.arange(self._size)),
            groups=ContextGroups.of(first, first, one, first),
            seen=slice(None),
        )

    def _moves(self) -> list[IntArray]:
        """Add the moves of all players: law and first entry of each, shape (2, state, action)."""
        moves, law = [], self.add_laws(self._problem.game.laws)
        illegal = self.add_entries(np.array([~ILLEGAL]))
        counts = [np.count_nonzero(~every.over) for every in self._listed]
        of_players = np.split(self._paying.nodes, np.cumsum(counts)[:-1])
        for every, pairs in zip(self._listed, of_players, strict=True):
            movers, states = np.divmod(every.leads_to, self._size)
            nodes = ~(self._first_node + self._begins[movers] + states)
            leads_to, over = np.where(movers == self._problem.seat, states, nodes), every.over
            paid = FIRST_PAYOFF + np.searchsorted(self._payoffs, every.payoffs[over])
            leads_to[every.paying[over]] = ~paid
            leads_to[every.paying[~over]] = ~(self._first_node + pairs)
            firsts, legal = self.add_entries(leads_to) + every.firsts, every.laws >= 0
            both = np.where(legal, law + every.laws, SURE), np.where(legal, firsts, illegal)
            moves.append(np.stack(both))
        return moves

    def _nodes(self, moves: list[IntArray]) -> IntArray:
        """Add all nodes: law and first entry of each, (2, node); a game begins at the last."""
        problem, game, others = self._problem, self._problem.game, self._problem.task.others
        count = len(self._paying.gains) + len(others) * self._size
        nodes = [np.zeros((2, count), dtype=np.int64)]
        for mover in others:
            own, policy, known = states_of(game, mover), problem.policies[mover], moves[mover]
            if policy.is_deterministic:
                nodes[0][:, self._begins[mover] + own] = known[:, own, policy.likeliest(own)]
                continue
            state, action = np.nonzero(game.mask(own))
            later = np.zeros((len(own), game.num_actions), dtype=np.int64)  # node of each action
            later[state, action] = sum(part.shape[1] for part in nodes) + np.arange(len(state))
            each = np.arange(len(own))
            nodes[0][:, self._begins[mover] + own] = [
                self.add_laws(policy.probabilities(own)) + each,
                self.add_entries(~(self._first_node + later)) + each * game.num_actions,
            ]
            nodes.append(known[:, own[state], action])
        movers, states = np.divmod(self._paying.leads_to, self._size)
        ours = movers == problem.seat
        entries = self.add_entries(states[ours]) + np.arange(ours.sum())
        nodes[0][:, np.flatnonzero(ours)] = np.stack([np.full_like(entries, SURE), entries])
        again = self._begins[movers[~ours]] + states[~ours]
        nodes[0][:, np.flatnonzero(~ours)] = nodes[0][:, again]
        met = np.flatnonzero(problem.initial)
        start = [[self.add_laws(problem.initial[None, met])], [self.add_entries(met)]]
        return np.concatenate([*nodes, start], axis=1)


@cached
def process_of(problem: Problem) -> Process | None:
    """Make the tables by which a task is played.

    None if they would take more than ``LIMIT`` bytes, or if another player's policy is no table.
    """
    if not all(policy.is_table for policy in problem.policies.values()):
        return None
    try:
        return _made(problem)
    except SizeError:
        return None


def asked_process(problem: Problem) -> Process:
    """Make the tables of a task, for which opponents' policies are asked in every state."""
    return process_of(problem) or _made(problem)


def _made(problem: Problem) -> Process:
    _ = problem.first  # checks the game, and that the agent gets to move
    if isinstance(problem.law, TurnSweeps):
        return _TurnTables(problem, problem.law.game).process()
    return _MoveTables(problem).process()


@cached
def features_of(problem: Problem, encoding: EncodingName) -> tuple[Features, Features | None]:
    """Split encoded observations into features of the place and features of the context.

    Their sum is the observation: (place, feature) and (context, feature), None if there is one
    context.
    """
    process, game = process_of(problem), problem.game
    assert process is not None
    groups, coded = process.groups, Encoding(game.observation_sizes, encoding)
    in_order = np.argsort(groups.contexts)
    first_places = np.repeat(groups.places[in_order], groups.widths[in_order])  # (context,)
    first = groups.bases + groups.strides * first_places
    places = np.arange(len(process.legal))
    turns, some = np.unique(groups.places, return_index=True)
    contexts = groups.contexts[some][np.searchsorted(turns, places, side="right") - 1]
    in_places, in_contexts = (
        np.ascontiguousarray(coded.encode(game.observe(states, problem.seat)))
        for states in (groups.states(places, contexts), first)
    )
    if process.num_contexts == 1:
        return frozen(in_places), None
    by_place = np.zeros(len(game.observation_sizes), dtype=bool)
    by_place[process.seen] = True
    in_places[:, ~by_place[coded.components]] = 0
    in_contexts[:, by_place[coded.components]] = 0
    return frozen(in_places), frozen(in_contexts)
