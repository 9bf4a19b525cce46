"""The tables of a game that is not made of turns: its moves are listed, one by one.

Places are the states of the game. A node is a position in which another player is to move, or an
action that this player has drawn there; the last node draws the state in which the agent begins.
"""

import numpy as np

from ...baselines import Task
from ...core.positions import states_of
from ...core.sweeps import sweeps_of
from .builder import TableBuilder
from .process import FIRST_PAYOFF, ILLEGAL, SURE, ContextGroups, Process, ends_in


def process_of_moves(task: Task) -> Process:
    """Make the tables of a task from the listed moves of its game.

    Raises:
        SizeError: if they would not fit.
    """
    game, seat, tables = task.game, task.seat, TableBuilder()
    size = game.num_states
    tables.check(game.num_players * size * game.num_actions + game.laws.size)
    illegal, law = tables.add_entries(np.array([ends_in(ILLEGAL)])), tables.add_laws(game.laws)
    moves = {mover: sweeps_of(game).moves(mover, seat) for mover in range(game.num_players)}
    payoffs = np.unique(np.concatenate([every.payoffs for every in moves.values()]))
    first_node = FIRST_PAYOFF + len(payoffs)
    begins = np.zeros(game.num_players, dtype=np.int64)  # first node of each of the others
    begins[task.others] = np.arange(len(task.others)) * size
    tabulated = {}
    for mover, every in moves.items():
        over = every.leads_to < 0
        movers, states = np.divmod(np.where(over, 0, every.leads_to), size)
        paid = FIRST_PAYOFF + np.searchsorted(payoffs, every.payoffs)
        paid = paid[np.where(over, -1 - every.leads_to, 0)]
        events = np.where(over, paid, first_node + begins[movers] + states)
        entries = tables.add_entries(np.where(~over & (movers == seat), states, ends_in(events)))
        legal = every.laws >= 0
        firsts = np.where(legal, entries + every.firsts, illegal)
        tabulated[mover] = np.where(legal, law + every.laws, SURE), firsts
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
            tables.add_entries(ends_in(first_node + later)) + each * game.num_actions,
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
        worst=game.payoff_range[0],
        payoffs=payoffs,
        start=first_node + len(node_laws) - 1,
        legal=game.mask(np.arange(size)),
        groups=ContextGroups.of(first, first, one, first),
        seen=slice(None),
    )
