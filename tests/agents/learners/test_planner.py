"""The planner: its counts against a model of the test's own, and its plan against the optimum."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from exactdice.agents.learners.planner import ModelTable, Planner
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.baselines import Task, prepare
from exactdice.games import FourTwoOne, Greed, ShutTheBox
from gymnasium import spaces

import exactdice


def table(game, **options):
    seen = spaces.MultiDiscrete(game.observation_sizes)
    return ModelTable(seen, spaces.Discrete(game.num_actions), game, **options)


def planned(moves, mask, default, prior, bonus, highest):
    """Compute the plan of moves (state, action, reward, next state or -1) by plain loops."""
    unseen, best, rows = min(default + bonus, highest), {}, {}
    by_state = {state: [move for move in moves if move[0] == state] for state, *_ in moves}
    for _ in range(300):
        for state, came in by_state.items():
            total, taken = Counter(), Counter(move[1] for move in came)
            for _, action, reward, after in came:
                total[action] += reward + (best.get(after, unseen) if after >= 0 else 0.0)
            mean = (prior * default + sum(total.values())) / (prior + len(came))
            rows[state] = [
                min(mean + bonus, highest)
                if action not in taken
                else min(
                    (prior * mean + total[action]) / (prior + taken[action])
                    + bonus / taken[action] ** 0.5,
                    highest,
                )
                for action in range(mask.shape[1])
            ]
        best = {state: max(np.array(row)[mask[state]]) for state, row in rows.items()}
    return rows, unseen


@pytest.mark.parametrize("bonus", [0.0, 0.3])
def test_the_plan_is_the_value_iteration_of_what_was_seen(bonus):
    game, rng = Greed(6, 3), np.random.default_rng(1)
    mask = game.mask(np.arange(game.num_states))
    model = table(game, default=0.4, prior=2.0, bonuses=(0.0, bonus), highest=1.0)
    moves = []
    for _ in range(5):  # random moves, cycles among them
        states = rng.integers(12, size=40)
        actions = np.array([rng.choice(np.flatnonzero(mask[state])) for state in states])
        rewards, reached = rng.integers(2, size=40) * 1.0, rng.integers(-1, 14, size=40)
        rewards[reached >= 0] = 0.0
        model.learn(states, actions, rewards, reached)
        moves += zip(*(a.tolist() for a in (states, actions, rewards, reached)), strict=True)
    for plan, drawn in enumerate((0.0, bonus)):
        known, unseen = planned(moves, mask, 0.4, 2.0, drawn, 1.0)
        expected = np.full(mask.shape, unseen)
        expected[list(known)] = list(known.values())
        np.testing.assert_allclose(model.rows(np.arange(len(mask)), plan), expected, atol=1e-6)
    times = Counter((state, action, after) for state, action, _, after in moves)
    assert sorted(model.times) == sorted(times.values())


@pytest.mark.parametrize(
    "game", [Greed(8, 3), ShutTheBox(4, 2, 3), FourTwoOne(2, 4, 2, utility="sum")], ids=repr
)
def test_it_finds_the_optimum_of_small_games(game):
    env = GameVecEnv(Task(game), 64)
    model = Planner("ModelTable", env, prior=0.5, bonus=0.3, seed=0).learn(200_000)
    assert exactdice.score(model, env).normalized > 0.99
    start = int(np.argmax(prepare(env.task).initial))
    best = np.max(model.policy.of(np.array([start])))
    assert best == pytest.approx(exactdice.solve(env).values[0, start], abs=0.1)


def test_a_saved_model_has_the_counts(tmp_path):
    env = GameVecEnv(Task(Greed(8, 3)), 8)
    model = Planner("ModelTable", env, seed=0).learn(2048)
    model.save(tmp_path / "model.zip")
    again = Planner.load(tmp_path / "model.zip")
    states = np.arange(env.task.game.num_states)
    for plan in (0, 1):
        np.testing.assert_array_equal(
            again.policy.rows(states, plan), model.policy.rows(states, plan)
        )
    assert again.policy.times.sum() == 2048
    assert again.exploration_rate == 0  # of its law: its moves are those of the plan


def test_a_model_of_another_game_is_refused():
    models = [Planner("ModelTable", GameVecEnv(Task(Greed(size, 3)), 1)) for size in (8, 9)]
    with pytest.raises(exactdice.InputError, match="the model must be of Greed"):
        models[0].policy.load_state_dict(models[1].policy.state_dict())


def test_a_game_whose_moves_have_too_large_numbers_is_refused():
    game = SimpleNamespace(num_states=2**30, num_actions=8, observation_sizes=(2,))
    with pytest.raises(exactdice.InputError, match="the planner needs a smaller game"):
        table(game, default=0.0, prior=1.0, bonuses=(0.0, 0.0), highest=1.0)


def test_a_prior_of_nothing_is_refused():
    with pytest.raises(exactdice.InputError, match="prior must be above 0, got 0"):
        Planner("ModelTable", None, prior=0)
