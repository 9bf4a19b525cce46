"""Flat tables and sparse matrices of a task against its law ``P``, in every state and action."""

import pickle
from collections import defaultdict

import numpy as np
import pytest
from exactdice.baselines import prepare
from exactdice.core.positions import states_of
from exactdice.envs import Encoding, Engine, sparse_law
from exactdice.envs.engine.table_lanes import ArrayLanes, PlainLanes
from exactdice.envs.engine.tables import process_of
from exactdice.envs.planners import tabulate_transitions


def law_of(laws, row):
    """Put a law together from its slots."""
    size, first = int(laws.sizes[row]), int(laws.firsts[row])
    slots = slice(first, first + size)
    chances = laws.thresholds[slots] / size
    np.add.at(chances, laws.aliases[slots], (1 - laws.thresholds[slots]) / size)
    return dict(enumerate(chances.tolist()))


def outcomes(process, law, first):
    """List the outcomes of a law that are possible: entry and chance."""
    for outcome, chance in law_of(process.laws, law).items():
        if chance:
            yield int(process.leads_to[first + outcome]), chance


class Ends(dict):
    """The ends of each event that is asked for: {(place or None, context, paid): chance}."""

    def __init__(self, process):
        self.process = process

    def __missing__(self, event):
        process, found, going = self.process, defaultdict(float), {(event, 0.0): 1.0}
        while sum(going.values()) > 1e-17:  # nodes may come back to themselves
            later = defaultdict(float)
            for (at, paid), mass in going.items():
                node = at - process.first_node
                if node < 0:
                    found[None, 0, paid + float(process.payoffs[at])] += mass
                    continue
                if process.node_gains is not None:
                    paid += float(process.node_gains[node])
                context, law = int(process.node_contexts[node]), process.node_laws[node]
                for entry, chance in outcomes(process, law, process.node_firsts[node]):
                    if entry >= 0:
                        found[entry, context, paid] += mass * chance
                    else:
                        later[~entry, paid] += mass * chance
            going = later
        self[event] = found
        return found


def after(process, ends, place, context, action):
    """Give the law of a move as ``P`` does: by next state, or none, and payoff."""
    found = defaultdict(float)
    move = place * process.legal.shape[1] + action
    for entry, chance in outcomes(process, process.move_laws[move], process.move_firsts[move]):
        law = {(entry, context, 0.0): 1.0}
        if entry < 0:
            law = ends[process.events[~entry * process.num_contexts + context]]
        for end, part in listed(process, law).items():
            found[end] += chance * part
    return found


def listed(process, ends):
    law = defaultdict(float)
    for (place, context, paid), chance in ends.items():
        state = place
        if place is not None:
            state = int(process.groups.states(np.array([place]), np.array([context]))[0])
        law[state, round(paid, 9)] += chance
    return law


def require_tables(task, process=None, within=1e-14):
    """Check the law of every move, whatever the others reply, and of the first state."""
    game, process = task.game, process or process_of(prepare(task))
    ends = Ends(process)
    transitions = tabulate_transitions(Engine(task, 1))
    states = states_of(game, task.seat)
    places, contexts = process.groups.locate(states)
    assert (process.groups.states(places, contexts) == states).all()
    assert (process.legal[places] == game.mask(states)).all()
    for state, place, context in zip(states.tolist(), places, contexts, strict=True):
        for action in range(game.num_actions):
            wanted = defaultdict(float)
            for chance, later, reward, over in transitions[state][action]:
                wanted[None if over else later, round(reward, 9)] += chance
            assert_same(after(process, ends, place, context, action), wanted, within)
    first = {state: chance for (state, _), chance in listed(process, ends[process.start]).items()}
    assert_same(first, dict(enumerate(prepare(task).initial.tolist())), within)


def assert_same(found, wanted, within=1e-14):
    ours, theirs = ({end: law.get(end, 0) for end in found | wanted} for law in (found, wanted))
    assert ours == pytest.approx(theirs, abs=within)


def require_same_law(task, reward="outcome"):
    """Compare the sparse law with ``P``, which is listed move by move, for every action."""
    law, listed = sparse_law(prepare(task), reward), tabulate_transitions(Engine(task, 1, reward))
    numbers = [*law.states.tolist(), task.game.num_states]  # the end is last in both
    assert (states_of(task.game, task.seat) == law.states).all()
    assert (law.initial == np.append(prepare(task).initial, 0.0)[numbers]).all()
    assert (law.legal[:-1] == task.game.mask(law.states)).all()
    num_states, num_actions = law.rewards.shape
    chances, rewards = np.zeros((num_states, num_actions, num_states)), np.zeros_like(law.rewards)
    place = {number: state for state, number in enumerate(numbers)}
    for number, state in place.items():
        for action, ways in listed[number].items():
            for chance, after, paid, over in ways:
                assert over == (after == task.game.num_states)
                chances[state, action, place[after]] += chance
                rewards[state, action] += chance * paid
    found = law.transitions.toarray().reshape(chances.shape)
    np.testing.assert_allclose(found, chances, rtol=0, atol=1e-14, equal_nan=False)
    np.testing.assert_allclose(law.rewards, rewards, rtol=0, atol=1e-12, equal_nan=False)


def require_same_games(task, lanes, steps, kinds=(ArrayLanes, PlainLanes)):
    """Play with arrays and with plain numbers, and then with a copy: moves, ends and payments."""
    both = [kind(prepare(task), lanes, Encoding(task.game.observation_sizes)) for kind in kinds]
    rngs = [np.random.default_rng(3) for _ in both]
    actions, fresh = np.random.default_rng(4), np.ones(lanes, dtype=bool)
    paid, every = np.zeros(lanes), np.arange(lanes)
    for step in range(steps):
        if step == steps // 2:
            both[step % 2] = pickle.loads(pickle.dumps(both[1 - step % 2]))
        legal = both[0].masks() | (actions.random(lanes) < 0.1)[:, None]  # illegal ones, too
        chosen = (legal * actions.random(legal.shape)).argmax(axis=1)
        played = (every, chosen, fresh)
        ours, theirs = (side.advance(*played, rng) for side, rng in zip(both, rngs, strict=True))
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(mine, other)
        for ask in ("states", "observations", "masks"):
            np.testing.assert_array_equal(*(getattr(side, ask)() for side in both))
        paid = np.where(fresh, 0, paid) + ours.rewards
        np.testing.assert_allclose(ours.payoffs[ours.over], paid[ours.over], atol=1e-12)
        fresh = ours.over
