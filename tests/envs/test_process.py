"""The flat tables of a task: equal to the rules in every state and action of small sizes."""

from collections import defaultdict

import numpy as np
import pytest
from exactdice.baselines import make_task
from exactdice.envs import Engine
from exactdice.envs.process import process_of
from exactdice.envs.transitions import tabulate_transitions
from exactdice.games import GAMES
from small_games import SMALL


def law_of(laws, row):
    """Put a law together from its slots."""
    size, first = int(laws.sizes[row]), int(laws.firsts[row])
    slots = slice(first, first + size)
    chances = laws.thresholds[slots] / size
    np.add.at(chances, laws.aliases[slots], (1 - laws.thresholds[slots]) / size)
    return dict(enumerate(chances.tolist()))


def ends(process, event, chance, found):
    """Follow an event to all its ends: (place, context) or payoff -> probability."""
    if event < process.first_node:
        found[None, event] += chance
        return
    node = event - process.first_node
    for outcome, part in law_of(process.laws, process.node_laws[node]).items():
        if part > 1e-17:
            entry = int(process.leads_to[process.node_firsts[node] + outcome])
            if entry >= 0:
                found[entry, int(process.node_contexts[node])] += chance * part
            else:
                ends(process, -1 - entry, chance * part, found)


def after(process, place, context, action):
    found = defaultdict(float)
    move = place * process.legal.shape[1] + action
    for outcome, chance in law_of(process.laws, process.move_laws[move]).items():
        if chance > 1e-17:
            entry = int(process.leads_to[process.move_firsts[move] + outcome])
            if entry >= 0:
                found[entry, context] += chance
            else:
                event = process.events[(-1 - entry) * process.num_contexts + context]
                ends(process, int(event), chance, found)
    return found


def listed(process, found):
    """Give a law as ``P`` does: by next state, or none, and payoff."""
    law = defaultdict(float)
    for (place, context), chance in found.items():
        if place is None:
            law[None, process.payoffs[context]] += chance
        else:
            law[int(process.blocks.states(np.array([place]), np.array([context]))[0]), 0.0] += (
                chance
            )
    return law


CASES = [
    pytest.param(name, sizes, seat, policy, id=f"{name}{number}-{seat}-{policy}")
    for name, all_sizes in SMALL.items()
    for number, sizes in enumerate(all_sizes)
    for seat in range(GAMES[name](**sizes).num_players)
    for policy in ("equilibrium", "random")
    if GAMES[name](**sizes).num_players > 1 or policy == "random"
]


@pytest.mark.parametrize(("name", "sizes", "seat", "policy"), CASES)
def test_the_tables_are_the_rules(name, sizes, seat, policy):
    """The law of every move, whatever the others reply, and of the first state."""
    game = GAMES[name](**sizes)
    others = {game.opponent_keyword: policy} if game.num_players > 1 else {}
    task = make_task(name, seat, **sizes, **others)
    process = process_of(task)
    if game.has_cycles:
        pytest.skip("laws have no end")
    transitions = tabulate_transitions(Engine(task, 1))
    states = game.states_of(seat)
    places, contexts = process.blocks.locate(states)
    assert (process.blocks.states(places, contexts) == states).all()
    assert (process.legal[places] == game.mask(states)).all()
    for state, place, context in zip(states.tolist(), places, contexts, strict=True):
        for action in range(game.num_actions):
            wanted = defaultdict(float)
            for chance, later, reward, over in transitions[state][action]:
                wanted[None if over else later, reward] += chance
            found = listed(process, after(process, place, context, action))
            assert dict(found) == pytest.approx(dict(wanted), abs=1e-14)
    first = defaultdict(float)
    ends(process, process.start, 1.0, first)
    law = {state: chance for (state, _), chance in listed(process, first).items()}
    met = np.flatnonzero(task.initial)
    assert law == pytest.approx(dict(zip(met.tolist(), task.initial[met], strict=True)), abs=1e-14)
