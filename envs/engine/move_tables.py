"""The tables of a game that is not made of turns, from its listed moves.

Places are the states of the game. Where another player is to move, a node draws its action, and a
further node for each action draws the outcome; if the policy of the player is deterministic, the
first node draws the outcome at once. The last node draws the state in which the agent begins. The
first nodes are those that pay: another node, or a state of the agent, with what a move pays.
"""

from typing import TypeAlias

import numpy as np

from ...baselines import Task
from ...core import FloatArray, IntArray, Moves
from ...core.positions import states_of
from ...core.sweeps import sweeps_of
from .builder import ProcessBuilder
from .process import FIRST_PAYOFF, ILLEGAL, SURE, ContextGroups, Process, ends_in

#: Law and first entry of each move of a player, each of shape (state, action).
_Moves: TypeAlias = tuple[IntArray, IntArray]


def process_of_moves(task: Task) -> Process:
    """Make the tables of a task from the listed moves of its game.

    Raises:
        SizeError: if the tables would be larger than the limit.
    """
    game, seat, tables = task.game, task.seat, ProcessBuilder()
    size = game.num_states
    tables.check(game.num_players * size * game.num_actions + game.laws.size)
    illegal, law = tables.add_entries(np.array([ends_in(ILLEGAL)])), tables.add_laws(game.laws)
    moves = {mover: sweeps_of(game).moves(mover, seat) for mover in range(game.num_players)}
    payoffs = np.unique(np.concatenate([every.payoffs[every.over] for every in moves.values()]))
    first_node = FIRST_PAYOFF + len(payoffs)
    paying = _Paying(list(moves.values()))
    begins = np.zeros(game.num_players, dtype=np.int64)  # node of state 0 of each other player
    begins[task.others] = len(paying.gains) + np.arange(len(task.others)) * size
    tabulated = {}
    for (mover, every), number in zip(moves.items(), paying.numbers, strict=True):
        movers, states = np.divmod(np.where(every.over, 0, every.leads_to), size)
        paid = FIRST_PAYOFF + np.searchsorted(payoffs, every.payoffs)
        events = np.where(every.over, paid, first_node + begins[movers] + states)
        events = np.where(number < 0, events, first_node + number)
        ours = ~every.over & (movers == seat) & (number < 0)
        entries = tables.add_entries(np.where(ours, states, ends_in(events)))
        legal = every.laws >= 0
        firsts = np.where(legal, entries + every.firsts, illegal)
        tabulated[mover] = np.where(legal, law + every.laws, SURE), firsts
    node_laws, node_firsts = _nodes(task, tables, tabulated, begins, first_node, paying.leads_to)
    first, one = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    return tables.process(
        moves=tabulated[seat],
        nodes=(node_laws, node_firsts, np.zeros_like(node_laws)),
        node_gains=paying.at_nodes(len(node_laws)),
        events=np.arange(first_node + len(node_laws)),
        worst=game.payoff_range[0],
        payoffs=payoffs,
        start=first_node + len(node_laws) - 1,
        legal=game.mask(np.arange(size)),
        groups=ContextGroups.of(first, first, one, first),
        seen=slice(None),
    )


class _Paying:
    """The ways of moves that pay the agent before the end: each pair of payment and next position.

    Args:
        moves: of each player, with what they pay the agent.

    Attributes:
        leads_to: position that follows each pair, seat * num_states + state, shape (pair,).
        gains: payment of each pair, shape (pair,).
        numbers: for each player the pair of each entry of its moves, shape (entry,); -1 for none.
    """

    def __init__(self, moves: list[Moves]) -> None:
        early = [~every.over & (every.payoffs != 0) for every in moves]
        columns = [
            np.stack([every.leads_to[pays].astype(np.float64), every.payoffs[pays]])
            for every, pays in zip(moves, early, strict=True)
        ]
        pairs, found = np.unique(np.concatenate(columns, axis=1), axis=1, return_inverse=True)
        self.leads_to, self.gains = pairs[0].astype(np.int64), pairs[1]
        self.numbers = [np.full(len(pays), -1) for pays in early]
        each = np.split(found.ravel(), np.cumsum([pays.sum() for pays in early])[:-1])
        for numbers, pays, own in zip(self.numbers, early, each, strict=True):
            numbers[pays] = own

    def at_nodes(self, count: int) -> FloatArray | None:
        """Give what the agent is paid at each node, shape (node,); None if none pays."""
        return np.append(self.gains, np.zeros(count - len(self.gains))) if len(self.gains) else None


def _nodes(
    task: Task,
    tables: ProcessBuilder,
    moves: dict[int, _Moves],
    begins: IntArray,
    first_node: int,
    paying: IntArray,
) -> IntArray:
    """Add the nodes of all other players, and the node with which a game begins.

    Args:
        task: the agent's decision problem.
        tables: the builder, which gets the laws and entries of the nodes.
        moves: the moves of each player.
        begins: node of state 0 of each other player, shape (player,).
        first_node: event that is node 0.
        paying: position that follows each payment, seat * num_states + state, shape (payment,).

    Returns:
        Law and first entry of each node, shape (2, node).
    """
    game = task.game
    count = len(paying) + len(task.others) * game.num_states
    nodes = [np.zeros((2, count), dtype=np.int64)]
    for mover in task.others:
        own, policy, known = states_of(game, mover), task.policies[mover], np.stack(moves[mover])
        if policy.is_deterministic:
            nodes[0][:, begins[mover] + own] = known[:, own, policy.likeliest(own)]
            continue
        state, action = np.nonzero(game.mask(own))
        later = np.zeros((len(own), game.num_actions), dtype=np.int64)  # node of each action
        later[state, action] = sum(part.shape[1] for part in nodes) + np.arange(len(state))
        each = np.arange(len(own))
        nodes[0][:, begins[mover] + own] = [
            tables.add_laws(policy.probabilities(own)) + each,
            tables.add_entries(ends_in(first_node + later)) + each * game.num_actions,
        ]
        nodes.append(known[:, own[state], action])
    movers, states = np.divmod(paying, game.num_states)
    ours = movers == task.seat
    entries = tables.add_entries(states[ours]) + np.arange(ours.sum())
    nodes[0][:, np.flatnonzero(ours)] = np.stack([np.full_like(entries, SURE), entries])
    again = begins[movers[~ours]] + states[~ours]
    nodes[0][:, np.flatnonzero(~ours)] = nodes[0][:, again]
    met = np.flatnonzero(task.initial)
    start = [[tables.add_laws(task.initial[None, met])], [tables.add_entries(met)]]
    return np.concatenate([*nodes, start], axis=1)
