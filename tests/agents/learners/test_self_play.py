"""Self-play, and the ceilings of networks."""

from pathlib import Path

import numpy as np
import pytest
import torch
from exactdice.agents.learners.adapter import ModelPolicy
from exactdice.agents.learners.ceiling import ceiling
from exactdice.agents.learners.q_learning import MinimaxQLearning
from exactdice.agents.learners.self_play import SelfPlay
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.runs.folders import SELF_PLAY, load_model, read_log, read_score
from exactdice.agents.runs.train import train
from exactdice.baselines import Reading, Task, prepare
from exactdice.core import playing
from exactdice.core.positions import states_of
from exactdice.games import FourTwoOne, LowestScore

import exactdice


@pytest.mark.slow
def test_self_play_lowers_the_exploitability_of_both_seats(build, small):
    options = {"self_play": True, "num_envs": 256, "hyperparams": {"batch_size": "1024"}}
    untrained = build(**options)
    task = untrained.get_env().task
    assert exactdice.exploitability(ModelPolicy(untrained, task.game), task) > 0.2
    train(small(**options, steps=200_000))
    model, env = load_model(Path("runs/Greed-ppo-1"))
    assert exactdice.exploitability(ModelPolicy(model, env.task.game), env.task) < 0.05


def test_the_opponent_is_the_agent_as_it_is_now_and_the_seat_changes(build):
    model = build(env={"utility": "set", "faces": 3}, game="FourTwoOne")
    env, seats = model.get_env(), []

    class Watch(SelfPlay):
        def _on_rollout_start(self):
            super()._on_rollout_start()
            task = env.task
            seats.append(task.seat)
            now = ModelPolicy(model, task.game, Reading(deterministic=False))
            states = states_of(task.game, 1 - task.seat)
            law = now(task.game.observe(states, 1 - task.seat), task.game.mask(states))
            assert np.allclose(
                prepare(task).policies[1 - task.seat].probabilities(states), law, atol=1e-6
            )
            assert env.observation_space.contains(model._last_obs[0])

    model.learn(16 * 8 * 7, callback=[Watch(env.task.game)])
    assert seats == [0, 1, 0, 1]


@pytest.mark.parametrize("algorithm", [pytest.param("ppo", marks=pytest.mark.slow), "qlearning"])
def test_a_self_play_run_resumes_to_the_last_bit(small, interrupted, algorithm):
    options = {"self_play": True, "algorithm": algorithm}
    whole, parts = Path("whole"), interrupted(**options)
    right = train(small(**options, run_folder=whole))
    assert train(TrainConfig(resume=parts)).value == right.value
    logs = read_log(whole), read_log(parts)
    for name in SELF_PLAY:
        assert logs[0][name].tolist() == logs[1][name].tolist()
    assert read_score(whole)["steps"] == read_score(parts)["steps"]


def test_moves_of_both_seats_count(build, monkeypatch):
    played = []
    make = playing.make

    def counting(game, seats, *others):
        played.extend(seats.tolist())
        return make(game, seats, *others)

    for module in ("core.playing", "envs.engine.lanes"):
        monkeypatch.setattr(f"exactdice.{module}.make", counting)
    model = build()
    model.learn(3000, callback=[SelfPlay(model.get_env().task.game)])
    assert model.num_timesteps == len(played)
    assert 0.4 < np.mean(played) < 0.6


@pytest.mark.parametrize("game", [LowestScore(2, 3, 3, 3), FourTwoOne()])
def test_self_play_needs_two_players(game):
    for make in (SelfPlay, lambda game: MinimaxQLearning("QTable", GameVecEnv(Task(game), 2))):
        with pytest.raises(ValueError, match="self_play needs a zero-sum game for two players"):
            make(game)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
def test_a_network_told_the_optimum_reaches_it_in_a_small_game(build, algorithm):
    model = build(algorithm=algorithm)
    assert ceiling(model, model.get_env().task).normalized > 0.999


@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
def test_a_model_that_has_just_learned_has_the_ceiling_of_an_untrained_one(
    build, monkeypatch, algorithm
):
    """The last outputs of PPO have gradients, so that they have no deep copy."""
    monkeypatch.setattr("exactdice.agents.learners.ceiling.UPDATES", 2)
    model = build(algorithm=algorithm)
    task = model.get_env().task
    untrained = ceiling(model, task)
    assert untrained.normalized < 0.99
    model.learn(1000)
    weights = [weight.clone() for weight in model.policy.parameters()]
    assert ceiling(model, task).value == untrained.value
    assert all(map(torch.equal, weights, model.policy.parameters()))


def test_tables_and_models_of_another_game_have_no_ceiling(build):
    table = build(algorithm="qlearning")
    with pytest.raises(ValueError, match="model must have a network, got QLearning"):
        ceiling(table, table.get_env().task)
    with pytest.raises(ValueError, match="model must be trained for observations"):
        ceiling(build(), Task(FourTwoOne()))
