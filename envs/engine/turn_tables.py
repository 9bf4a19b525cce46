"""The tables of a game of turns, joined from the tables of its legs.

Each turn in each context begins with a node, which draws the first roll: node n belongs to context
n, counted over all legs. One further node draws the context in which the agent begins. The last
nodes are those that pay: the nodes of contexts again, with what a result pays that leads there.
"""

import numpy as np

from ...baselines import Task
from ...baselines.solving.players import spread
from ...core import FLOATS, Array, FloatArray, IntArray, Leg, TurnGame
from ...core.turn import Piece
from .builder import ProcessBuilder
from .process import FIRST_PAYOFF, ILLEGAL, SURE, ContextGroups, Process, ends_in

#: After the agent's last move the rest of a game with fewer payoffs than this is one draw.
MOST_PAYOFFS = 64


def process_of_turns(task: Task, game: TurnGame) -> Process:
    """Make the tables of a task whose game is made of turns.

    Raises:
        SizeError: if the tables would be larger than the limit.
    """
    return _TurnTables(task, game).process()


class _TurnTables:
    """Makes the tables of one task."""

    def __init__(self, task: Task, game: TurnGame) -> None:
        self._task, self._game, self._legs, self._tables = task, game, game.legs, ProcessBuilder()
        legs = game.legs
        self._own = [number for number, leg in enumerate(legs) if leg.seat == task.seat]
        turns = {id(legs[number].turn): legs[number].turn for number in self._own}
        self._played = list(turns.values())  # legs that share a turn share its places
        counts = [len(leg.contexts) for leg in legs]
        self._nodes = [
            slice(end - count, end) for count, end in zip(counts, np.cumsum(counts), strict=True)
        ]
        self._num_results = max(turn.num_results for turn in self._played)
        self._num_contexts = sum(counts[number] for number in self._own)
        self._check()
        ended = [leg.settled[..., task.seat] for leg in legs]
        paid = [leg.paid(FLOATS)[..., task.seat] for leg in legs]
        settled = [each[over] for each, over in zip(paid, ended, strict=True)]
        self._payoffs = np.unique(np.concatenate(settled))
        self._first_node = FIRST_PAYOFF + len(self._payoffs)
        self._begins: int = self._nodes[-1].stop  # node with which a game begins
        pairs = [
            np.stack([leg.following[early], each[early]]).astype(np.float64)
            for leg, each, over in zip(legs, paid, ended, strict=True)
            for early in [~over & (each != 0)]
        ]
        self._paying = np.unique(
            np.concatenate(pairs, axis=1), axis=1
        )  # (context or payment, node)
        self._events = list(map(self._events_of, legs))
        count = self._begins + 1 + self._paying.shape[1]
        self._laws, self._firsts, self._contexts = np.zeros((3, count), dtype=np.int64)

    def _check(self) -> None:
        """Check that the tables will stay within the limit."""
        places = sum(turn.num_states for turn in self._played)
        of_agent = places * self._task.game.num_actions + self._num_results * self._num_contexts
        others = [leg.following.size for leg in self._legs if leg.seat != self._task.seat]
        self._tables.check(of_agent + sum(others))

    def _events_of(self, leg: Leg) -> IntArray:
        """Give the event of each result in each context of a leg, shape (result, context)."""
        player = self._task.seat
        paid, settled = leg.paid(FLOATS)[..., player], leg.settled[..., player]
        payoffs = FIRST_PAYOFF + np.searchsorted(self._payoffs, paid)
        nodes = leg.following.copy()
        early = ~settled & (paid != 0)
        if early.any():
            known = self._paying[0] + 1j * self._paying[1]  # complex numbers sort by both parts
            pairs = leg.following[early] + 1j * paid[early]
            nodes[early] = self._begins + 1 + np.searchsorted(known, pairs)
        return np.where(settled, payoffs, self._first_node + nodes)

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
            first, end = self._game.first_contexts[number : number + 2]
            for start in self._game.bases[first : end : leg.width].tolist():
                groups.append((start, begun, leg.width, first_places[played]))
                begun += leg.width
        located = ContextGroups.of(*np.array(groups).T)
        start = self._start(located)
        return self._tables.process(
            moves=moves,
            events=events,
            start=start,
            nodes=(self._laws, self._firsts, self._contexts),
            node_gains=self._add_paying(),
            worst=self._task.game.payoff_range[0],
            payoffs=self._payoffs,
            legal=np.concatenate([turn.legal for turn in self._played]),
            groups=located,
            seen=self._game.seen_in_turn,
        )

    def _start(self, groups: ContextGroups) -> int:
        """Return the event with which a game begins.

        If the agent begins, this is the node of its first roll, else the node that draws its first
        context.
        """
        if self._legs[0].seat == self._task.seat:
            return self._first_node
        initial = self._task.initial
        states = np.flatnonzero(initial)
        law = np.zeros(self._num_contexts)
        np.add.at(law, groups.locate(states)[1], initial[states])
        nodes = np.concatenate([np.arange(*self._nodes[n].indices(2**62)) for n in self._own])
        met = np.flatnonzero(law)
        self._laws[self._begins] = self._tables.add_laws(law[None, met])
        firsts = self._tables.add_entries(ends_in(self._first_node + nodes[met]))
        self._firsts[self._begins] = firsts
        return self._first_node + self._begins

    def _add_paying(self) -> FloatArray | None:
        """Add the nodes that pay, and return what the agent is paid at each node, (node,)."""
        contexts, paid = self._paying
        for table in (self._laws, self._firsts, self._contexts):
            table[self._begins + 1 :] = table[contexts.astype(np.int64)]
        return np.append(np.zeros(self._begins + 1), paid) if len(paid) else None

    def _add_moves(self) -> tuple[list[IntArray], dict[int, int], dict[int, tuple[int, int]]]:
        """Add the moves of the agent's turns.

        Returns:
            Law and first entry of each move; then, by ``id`` of each turn, its first place, and
            law and first entry of its first roll.
        """
        laws, firsts, first_places, rolls, place = [], [], {}, {}, 0
        illegal = self._num_results  # one more result than the turns have
        ended = self._tables.add_entries(ends_in(np.arange(illegal + 1)))
        for turn in self._played:
            law = self._tables.add_laws(turn.probabilities[FLOATS])
            rolled = self._tables.add_entries(place + turn.rolled)  # (afterstate, outcome)
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
        one_draw &= not self._paying.size  # else totals would have to be drawn
        settled = np.zeros((size, self._first_node))  # (node, event): law of the payoffs
        through = np.zeros(size, dtype=bool)  # (node,): whether the agent has no more moves
        # ILLEGAL has probability 0; without its column seeds would give other games than before.
        paid = self._tables.add_entries(ends_in(np.arange(ILLEGAL, self._first_node)))
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
                laws = settled[node, ILLEGAL:]
                firsts = np.full(len(laws), paid)
            else:
                laws = ends.T
                entries = self._tables.add_entries(ends_in(events.T))
                firsts = entries + len(ends) * np.arange(len(laws))
            self._laws[node] = self._tables.add_laws(laws) + np.arange(len(laws))
            self._firsts[node] = firsts


def _result_laws(task: Task, game: TurnGame, number: int) -> FloatArray:
    """Compute the law of another player's results in a leg, shape (result, context)."""
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
