"""What planners do with the two forms of a transition law, in a few lines, for several tests."""

import numpy as np
from exactdice.core.positions import states_of
from exactdice.envs import Engine, sparse_law
from exactdice.envs.planners import tabulate_transitions


def require_same_law(task, reward="outcome"):
    """Compare the sparse law with ``P``, which is listed move by move, for every action."""
    law, listed = sparse_law(task, reward), tabulate_transitions(Engine(task, 1, reward))
    numbers = [*law.states.tolist(), task.game.num_states]  # the end is last in both
    assert (states_of(task.game, task.seat) == law.states).all()
    assert (law.initial == np.append(task.initial, 0.0)[numbers]).all()
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


def iterate(law, most=10_000):
    """Do value iteration until nothing changes: values, and the smallest best action."""
    values = np.zeros(len(law.initial))
    for _ in range(most):
        table = law.rewards + (law.transitions @ values).reshape(law.rewards.shape)
        if (values == table.max(axis=1)).all():
            return values, np.where(law.legal, table, -np.inf).argmax(axis=1)
        values = table.max(axis=1)
    raise AssertionError("values must settle")
