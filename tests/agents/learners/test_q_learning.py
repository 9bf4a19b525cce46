"""Q-learning, and in self-play with minimax targets."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
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
from small_games import Rounds

import exactdice


@pytest.mark.parametrize(
    "game", [Greed(8, 3), ShutTheBox(4, 2, 3), FourTwoOne(2, 4, 2, utility="sum")], ids=repr
)
def test_it_finds_the_optimum_of_small_games(game):
    env = GameVecEnv(Task(game), 256)
    model = QLearning(QTable, env, seed=0).learn(400_000)
    score = exactdice.score(model, env)
    assert score.normalized > 0.998
    start = int(np.argmax(prepare(env.task).initial))
    best = np.max(model.policy.of(np.array([start])))
    assert best == pytest.approx(exactdice.solve(env).values[0, start], abs=0.05)


def test_values_are_means_of_what_came_of_an_action():
    """With omega 1 and one update at a time the value is the mean of its targets."""
    model = QLearning(QTable, GameVecEnv(Task(Greed(8, 3)), 1), omega=1.0, seed=0)
    for target in (1.0, 0.0, 0.0, 1.0, 1.0):
        model._learn(np.array([5]), np.array([2]), np.array([target]))
    assert model.policy.values[5, 2] == pytest.approx(0.6)
    assert model.policy.visits[5, 2] == 5
    assert model.policy.visits.sum() == 5


def test_equal_moves_of_one_step_count_as_often_as_they_came():
    model = QLearning(QTable, GameVecEnv(Task(Greed(8, 3)), 1), initial_value=1.0, seed=0)
    model.policy.visits[5, 2] = 100
    model._learn(np.array([5, 5, 5]), np.array([2, 2, 2]), np.array([0.0, 0.0, 0.0]))
    assert model.policy.values[5, 2] == pytest.approx((1 - 103**-0.77) ** 3)


def test_only_legal_actions_are_taken_and_learnt_from():
    env = GameVecEnv(Task(Greed(10, 3)), 8)
    model = QLearning(QTable, env, seed=0).learn(2000)
    game = env.task.game
    assert model.policy.visits.numpy()[~game.mask(np.arange(game.num_states))].sum() == 0
    assert model.policy.visits.sum() == model.num_timesteps >= 2000


@pytest.mark.parametrize("initial", [0.0, 0.4])
def test_a_saved_table_has_the_rows_of_the_visited_states_alone(initial, tmp_path):
    env = GameVecEnv(Task(ShutTheBox()), 8)
    model = QLearning(QTable, env, seed=0, initial_value=initial).learn(2000)
    model.save(tmp_path / "model.zip")
    assert (tmp_path / "model.zip").stat().st_size < 2**20 < model.policy.values.nbytes
    again = QLearning.load(tmp_path / "model.zip")
    trained = QLearning(QTable, env, seed=1, initial_value=0.9).learn(2000)
    trained.set_parameters(str(tmp_path / "model.zip"))
    for policy in (again.policy, trained.policy):
        assert torch.equal(policy.values, model.policy.values)
        assert torch.equal(policy.visits, model.policy.visits)


def test_a_table_of_another_game_is_refused():
    tables = [QLearning(QTable, GameVecEnv(Task(Greed(size, 3)), 1)).policy for size in (8, 9)]
    with pytest.raises(exactdice.InputError, match="table must be of shape"):
        tables[1].load_state_dict(tables[0].state_dict())


@pytest.mark.parametrize("exponent", [0, 0.001, 0.25, 1 / 3, 0.5, 0.77, 1 - 1e-16, 1])
def test_powers_by_square_roots_are_those_of_the_library_up_to_three_units(exponent):
    bases = np.concatenate([np.arange(1, 3000), 3 ** np.arange(33), 2 ** np.arange(53)])
    expected = np.array([math.pow(base, exponent) for base in bases.tolist()])
    assert (np.abs(power(bases, exponent) - expected) <= 3 * np.spacing(expected)).all()


def test_whole_powers_are_products():
    bases, exponents = np.array([0.0, 1.0, 0.5, 0.999, 0.3]), np.array([1, 1024, 10, 1000, 0])
    expected = [0, 1, 2**-10, math.pow(0.999, 1000), 1]
    np.testing.assert_allclose(whole_power(bases, exponents), expected, rtol=1e-13)


def test_the_exponent_of_the_learning_rate_is_from_0_to_1():
    env = GameVecEnv(Task(Greed(8, 3)), 1)
    with pytest.raises(ValueError, match="omega must be from 0 to 1, got 1.5"):
        QLearning(QTable, env, omega=1.5)


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


@pytest.mark.parametrize("game", [Greed(5, 3), ShutTheBox(4, 2, 3)], ids=repr)
def test_the_table_converges_to_the_equilibrium(game):
    model = MinimaxQLearning("QTable", GameVecEnv(Task(game), 64), seed=1, initial_value=0.5)
    before = score_self_play(model, Task(game))
    model.learn(150_000)
    after = score_self_play(model, Task(game))
    assert after.exploitability < 0.02 < 0.1 < before.exploitability
    assert model.num_timesteps == model.policy.visits.sum()
    for seat in (0, 1):
        truth, states = exactdice.solve(Task(game, seat)).table, states_of(game, seat)
        often = model.policy.visits.numpy()[states] > 1000
        assert often.any()
        found = model.policy.values.numpy()[states]
        assert np.abs(found - truth[states])[often].max() < 0.1
