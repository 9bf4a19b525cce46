"""The transition laws that planners read, and what planners find in them."""

import sys

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import prepare
from exactdice.envs import sparse_law
from exactdice.games import SizeError

import exactdice

#: Default sizes, where ``P`` is refused or long, and Greed in one that takes no gigabytes.
GAMES = [
    ("FourTwoOne", {}),
    ("FourTwoOne", {"utility": "set"}),
    ("LowestScore", {}),
    ("LowestScore", {"seat": 2, "dice": 4, "objective": "score"}),
    ("ShutTheBox", {}),
    ("ShutTheBox", {"seat": 1, "tiles": 6, "opponent": "random"}),
    ("Greed", {"max_score": 30}),
    ("Greed", {"max_score": 12, "reward": "regret"}),
    ("Greed", {"max_score": 12, "reward": "shaped"}),
    pytest.param("Greed", {}, marks=pytest.mark.slow),  # three gigabytes
]


def iterate(law, most=10_000):
    """Do value iteration until nothing changes: values, and the smallest best action."""
    values = np.zeros(len(law.initial))
    for _ in range(most):
        table = law.rewards + (law.transitions @ values).reshape(law.rewards.shape)
        if (values == table.max(axis=1)).all():
            return values, np.where(law.legal, table, -np.inf).argmax(axis=1)
        values = table.max(axis=1)
    raise AssertionError("values must settle")


@pytest.mark.parametrize(("name", "keywords"), GAMES)
def test_value_iteration_finds_the_optimum(name, keywords):
    env = gym.make(f"exactdice/{name}-v0", **keywords)
    law = env.unwrapped.sparse_P
    values, actions = iterate(law)
    optimum = exactdice.solve(env).value
    best = 0 if "reward" in keywords else optimum
    assert law.initial @ values == pytest.approx(best, abs=1e-12)
    plan = dict(zip(law.states.tolist(), actions.tolist(), strict=False))
    assert exactdice.score(plan, env).value == pytest.approx(optimum, abs=1e-12)


def test_a_plan_for_the_states_of_p_has_an_action_for_the_end():
    env = gym.make("exactdice/Greed-v0", max_score=10)
    solution = exactdice.solve(env)
    plan = np.append(solution.policy.actions, 0)
    assert len(plan) == len(env.unwrapped.P) == len(env.unwrapped.initial_state_distrib)
    for policy in (plan, np.eye(env.action_space.n)[plan], dict(enumerate(plan.tolist()))):
        assert exactdice.score(policy, env).value == solution.value


def test_every_row_is_a_law_to_the_last_digits():
    """Some planners refuse rows that miss 1 by more than 2.2e-15."""
    law = sparse_law(prepare(gym.make("exactdice/LowestScore-v0").unwrapped.task))
    assert np.abs(law.transitions.sum(axis=1) - 1).max() < 2e-15


@pytest.mark.parametrize(
    ("size", "limit", "message"),
    [
        (30, "0.001", r"outcomes of moves must be at most 133,333, got .*MB"),  # as it is listed
        (60, "0.025", "must be at most .*, got .*MB"),  # but moves fit
    ],
)
def test_a_law_or_replies_without_room_are_refused(monkeypatch, size, limit, message):
    env = gym.make("exactdice/Greed-v0", max_score=size)
    monkeypatch.setenv("EXACTDICE_LIMIT", limit)
    with pytest.raises(SizeError, match=message):
        _ = env.unwrapped.sparse_P


def test_a_dictionary_of_a_game_that_is_too_large_by_default_is_refused():
    with pytest.raises(ValueError, match="P needs at most 20000 pairs of state and action, got"):
        _ = gym.make("exactdice/Greed-v0").unwrapped.P


def test_a_dictionary_without_room_is_refused(monkeypatch):
    law = gym.make("exactdice/Greed-v0", max_score=20).unwrapped.sparse_P
    monkeypatch.setenv("EXACTDICE_LIMIT", "0.001")
    with pytest.raises(SizeError, match="entries of a dictionary must be at most 53,333, got"):
        law.as_dict()


def test_without_scipy_it_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(
        ModuleNotFoundError, match="sparse_P needs more libraries .scipy.*: pip install scipy"
    ):
        _ = gym.make("exactdice/FourTwoOne-v0").unwrapped.sparse_P
