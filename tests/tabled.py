"""The flat tables of a task against its law ``P``, in every state and action."""

from collections import defaultdict

import numpy as np
import pytest
from exactdice.core.positions import states_of
from exactdice.envs import Engine
from exactdice.envs.engine.process import number_of
from exactdice.envs.engine.tables import process_of
from exactdice.envs.planners import tabulate_transitions


def law_of(laws, row):
    """Put a law together from its slots."""
    size, first = int(laws.sizes[row]), int(laws.firsts[row])
    slots = slice(first, first + size)
    chances = laws.thresholds[slots] / size
    np.add.at(chances, laws.aliases[slots], (1 - laws.thresholds[slots]) / size)
    return dict(enumerate(chances.tolist()))


def ends_of_events(process):
    """Follow every event to all its ends: event -> {(place, context) or (None, payoff): chance}.

    Nodes may come back to themselves, so that their laws solve a linear system.
    """
    nodes = range(len(process.node_laws))
    size = len(nodes)
    back, found, columns = np.zeros((size, size)), np.zeros((size, 0)), {}
    for node in nodes:
        for outcome, chance in law_of(process.laws, process.node_laws[node]).items():
            entry = int(process.leads_to[process.node_firsts[node] + outcome]) if chance else -1
            event = number_of(entry)
            if entry < 0 and event >= process.first_node:
                back[node, event - process.first_node] += chance
                continue
            end = (entry, int(process.node_contexts[node])) if entry >= 0 else (None, event)
            if end not in columns:
                columns[end] = len(columns)
                found = np.concatenate([found, np.zeros((size, 1))], axis=1)
            found[node, columns[end]] += chance
    laws = np.linalg.solve(np.eye(size) - back, found)
    ends = [{(None, number): 1.0} for number in range(process.first_node)]
    return ends + [dict(zip(columns, law.tolist(), strict=True)) for law in laws]


def after(process, ends, place, context, action):
    found = defaultdict(float)
    move = place * process.legal.shape[1] + action
    for outcome, chance in law_of(process.laws, process.move_laws[move]).items():
        if not chance:
            continue
        entry = int(process.leads_to[process.move_firsts[move] + outcome])
        if entry >= 0:
            found[entry, context] += chance
            continue
        event = process.events[number_of(entry) * process.num_contexts + context]
        for end, part in ends[event].items():
            found[end] += chance * part
    return found


def listed(process, found):
    """Give a law as ``P`` does: by next state, or none, and payoff."""
    law = defaultdict(float)
    for (place, context), chance in found.items():
        if place is None:
            law[None, process.payoffs[context]] += chance
        else:
            law[int(process.groups.states(np.array([place]), np.array([context]))[0]), 0.0] += (
                chance
            )
    return law


def require_tables(task, process=None, within=1e-14):
    """Check the law of every move, whatever the others reply, and of the first state."""
    game, process = task.game, process or process_of(task)
    ends = ends_of_events(process)
    transitions = tabulate_transitions(Engine(task, 1))
    states = states_of(game, task.seat)
    places, contexts = process.groups.locate(states)
    assert (process.groups.states(places, contexts) == states).all()
    assert (process.legal[places] == game.mask(states)).all()
    for state, place, context in zip(states.tolist(), places, contexts, strict=True):
        for action in range(game.num_actions):
            wanted = defaultdict(float)
            for chance, later, reward, over in transitions[state][action]:
                wanted[None if over else later, reward] += chance
            found = listed(process, after(process, ends, place, context, action))
            assert_same(found, wanted, within)
    first = {state: chance for (state, _), chance in listed(process, ends[process.start]).items()}
    met = np.flatnonzero(task.initial)
    assert_same(first, dict(zip(met.tolist(), task.initial[met].tolist(), strict=True)), within)


def assert_same(found, wanted, within=1e-14):
    ends = found.keys() | wanted.keys()
    assert {end: found.get(end, 0) for end in ends} == pytest.approx(
        {end: wanted.get(end, 0) for end in ends}, abs=within
    )
