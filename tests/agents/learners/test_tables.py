"""Learners without networks: tables of values, in self-play too, and plans of what was seen."""

import math
from collections import Counter
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from exactdice.agents.learners.planner import ModelTable, Planner
from exactdice.agents.learners.q_learning import (
    MinimaxQLearning,
    QLearning,
    QTable,
    power,
    whole_power,
)
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.baselines import Task, prepare, score_self_play
from exactdice.core.moves import transitions
from exactdice.core.positions import states_of
from exactdice.games import FourTwoOne, FourTwoOneMatch, Greed, ShutTheBox
from gymnasium import spaces
from small_games import Rounds

import exactdice


def q_learning(game, lanes, steps, **options):
    return QLearning(QTable, GameVecEnv(Task(game), lanes), seed=0, **options).learn(steps)


@pytest.mark.parametrize("game", [Greed(8, 3), FourTwoOne(2, 4, 2, utility="sum")], ids=repr)
def test_the_optimum_of_small_games_is_found(game):
    env = GameVecEnv(Task(game), 64)
    planner = Planner("ModelTable", env, prior=0.5, bonus=0.3, seed=0).learn(200_000)
    learner = q_learning(game, 256, 200_000)
    for model, share, within in ((learner, 0.998, 0.05), (planner, 0.99, 0.1)):
        assert exactdice.score(model, env).normalized > share
        start = int(np.argmax(prepare(env.task).initial))
        best = np.max(model.policy.of(np.array([start])))
        assert best == pytest.approx(exactdice.solve(env).values[0, start], abs=within)


def test_values_are_means_of_what_came_of_an_action():
    """With omega 1 and one update at a time the value is the mean of its targets."""
    model = QLearning(QTable, GameVecEnv(Task(Greed(8, 3)), 1), omega=1.0, seed=0)
    for target in (1.0, 0.0, 0.0, 1.0, 1.0):
        model._learn(np.array([5]), np.array([2]), np.array([target]))
    assert model.policy.values[5, 2] == pytest.approx(0.6)
    assert model.policy.visits[5, 2] == model.policy.visits.sum() == 5


def test_equal_moves_of_one_step_count_as_often_as_they_came():
    model = QLearning(QTable, GameVecEnv(Task(Greed(8, 3)), 1), initial_value=1.0, seed=0)
    model.policy.visits[5, 2] = 100
    model._learn(np.array([5, 5, 5]), np.array([2, 2, 2]), np.array([0.0, 0.0, 0.0]))
    assert model.policy.values[5, 2] == pytest.approx((1 - 103**-0.77) ** 3)


def test_only_legal_actions_are_taken_and_learnt_from():
    game = Greed(10, 3)
    model = q_learning(game, 8, 2000)
    assert model.policy.visits.numpy()[~game.mask(np.arange(game.num_states))].sum() == 0
    assert model.policy.visits.sum() == model.num_timesteps >= 2000


@pytest.mark.parametrize("initial", [0.0, 0.4])
def test_a_saved_table_has_the_rows_of_the_visited_states_alone(initial, tmp_path):
    path, game = tmp_path / "model.zip", ShutTheBox(8)
    model = q_learning(game, 8, 800, initial_value=initial)
    model.save(path)
    assert path.stat().st_size < model.policy.values.nbytes / 10
    trained = q_learning(game, 8, 800, initial_value=0.9)
    trained.set_parameters(str(path))
    for policy in (QLearning.load(path).policy, trained.policy):
        assert torch.equal(policy.values, model.policy.values)
        assert torch.equal(policy.visits, model.policy.visits)


@pytest.mark.parametrize(
    ("kind", "policy", "message"),
    [(QLearning, QTable, "table must be of shape"), (Planner, "ModelTable", "must be of Greed")],
)
def test_a_model_of_another_game_is_refused(kind, policy, message):
    models = [kind(policy, GameVecEnv(Task(Greed(size, 3)), 1)).policy for size in (8, 9)]
    with pytest.raises(exactdice.InputError, match=message):
        models[1].load_state_dict(models[0].state_dict())


@pytest.mark.parametrize("exponent", [0, 0.001, 0.25, 1 / 3, 0.5, 0.77, 1 - 1e-16, 1])
def test_powers_by_square_roots_are_those_of_the_library_up_to_three_units(exponent):
    bases = np.concatenate([np.arange(1, 3000), 3 ** np.arange(33), 2 ** np.arange(53)])
    expected = np.array([math.pow(base, exponent) for base in bases.tolist()])
    assert (np.abs(power(bases, exponent) - expected) <= 3 * np.spacing(expected)).all()


def test_whole_powers_are_products():
    bases, exponents = np.array([0.0, 1.0, 0.5, 0.999, 0.3]), np.array([1, 1024, 10, 1000, 0])
    expected = [0, 1, 2**-10, math.pow(0.999, 1000), 1]
    np.testing.assert_allclose(whole_power(bases, exponents), expected, rtol=1e-13)


GAMES = [
    Greed(6, 3),
    ShutTheBox(4, 2, 3),
    FourTwoOne(3, 2, 2, utility="set"),
    FourTwoOneMatch(2, faces=2, charge_casts=1, discharge_casts=2),
    Rounds(2, 4, Fraction(-1)),
]


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_the_target_of_a_move_is_the_payoff_or_the_value_with_the_sign_of_the_next_player(game):
    model = MinimaxQLearning("QTable", GameVecEnv(Task(game), 1))
    rng = np.random.default_rng(0)
    table = rng.random((game.num_states, game.num_actions))
    model.policy.values[:] = model.policy.values.new_tensor(table)
    best = np.where(game.mask(np.arange(game.num_states)), table, -np.inf).max(axis=1)
    kinds = set()
    for seat in (0, 1):
        for state in rng.choice(states_of(game, seat), 60).tolist():
            action = rng.choice(np.flatnonzero(game.mask(np.array([state]))[0]))
            row = (np.array([number]) for number in (seat, state, action))
            (target,), (later,), (reached,) = model._play(*row, rng)
            chances, move = transitions(game, seat, state, action)
            wanted = set()
            for i in np.flatnonzero(chances):
                paid = move.payoffs[i, seat]  # before the end 0 in most games
                if move.over[i, seat]:
                    wanted.add((-1, state, paid))
                elif move.seats[i] == seat:
                    wanted.add((seat, move.states[i], paid + best[move.states[i]]))
                else:
                    other = sum(game.payoff_range) - best[move.states[i]]
                    wanted.add((1 - seat, move.states[i], paid + other))
            assert (later, reached, target) in wanted
            kinds.add(None if later < 0 else later == seat)
    assert len(kinds) >= 2  # the end of the game, and one player's or both players' next move


@pytest.mark.parametrize("game", [Greed(5, 3)], ids=repr)
def test_the_table_converges_to_the_equilibrium(game):
    model = MinimaxQLearning("QTable", GameVecEnv(Task(game), 64), seed=1, initial_value=0.5)
    before = score_self_play(model, Task(game))
    model.learn(100_000)
    after = score_self_play(model, Task(game))
    assert after.exploitability < 0.02 < 0.1 < before.exploitability
    assert model.num_timesteps == model.policy.visits.sum()
    for seat in (0, 1):
        truth, states = exactdice.solve(Task(game, seat)).table, states_of(game, seat)
        often = model.policy.visits.numpy()[states] > 1000
        assert often.any()
        found = model.policy.values.numpy()[states]
        assert np.abs(found - truth[states])[often].max() < 0.1


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


def test_a_game_whose_moves_have_too_large_numbers_is_refused():
    game = SimpleNamespace(num_states=2**30, num_actions=8, observation_sizes=(2,))
    with pytest.raises(exactdice.InputError, match="the planner needs a smaller game"):
        table(game, default=0.0, prior=1.0, bonuses=(0.0, 0.0), highest=1.0)


def test_numbers_that_cannot_be_are_refused():
    with pytest.raises(exactdice.InputError, match="prior must be above 0, got 0"):
        Planner("ModelTable", None, prior=0)
    with pytest.raises(ValueError, match="omega must be from 0 to 1, got 1.5"):
        QLearning(QTable, GameVecEnv(Task(Greed(8, 3)), 1), omega=1.5)
