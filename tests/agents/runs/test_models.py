"""Masks in DQN, networks as policies, exact scores of networks."""

from functools import partial

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.agents.learners.adapter import ModelPolicy
from exactdice.agents.learners.dqn import MaskedDQN, MaskedDQNPolicy, MaskedQRDQN, MaskedQRDQNPolicy
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.baselines import Reading, Task
from exactdice.games import Greed
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from sb3_contrib import QRDQN, MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3 import DQN, PPO
from stable_baselines3.common import evaluation
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.monitor import Monitor

import exactdice

slow = partial(pytest.param, marks=pytest.mark.slow)
DQN_OPTIONS = {
    "seed": 3, "learning_starts": 300, "buffer_size": 3000, "batch_size": 64, "device": "cpu",
    "train_freq": 4, "gradient_steps": 2, "target_update_interval": 160, "gamma": 1.0,
    "exploration_fraction": 0.8, "policy_kwargs": {"net_arch": [32]},
}  # fmt: skip
#: Few quantiles, as an update compares each with each.
QRDQN_OPTIONS = {**DQN_OPTIONS, "policy_kwargs": {"net_arch": [32], "n_quantiles": 10}}
KINDS = [
    (DQN, MaskedDQN, MaskedDQNPolicy, DQN_OPTIONS),
    (QRDQN, MaskedQRDQN, MaskedQRDQNPolicy, QRDQN_OPTIONS),
]


@pytest.mark.parametrize(("plain", "masked", "policy", "options"), KINDS)
def test_masked_dqn_is_dqn_to_the_last_float_when_all_actions_are_legal(
    plain, masked, policy, options
):
    """Through warm-up, exploration, greedy play, target updates and hundreds of updates."""
    models = []
    for kind, network in ((plain, "MlpPolicy"), (masked, policy)):
        env = GameVecEnv(Task(Greed(10, 3, max_dice=5)), 8)
        models.append(kind(network, env, **options).learn(4000))
    plain, masked = (model.policy.state_dict() for model in models)
    assert models[0]._n_updates > 200
    assert plain.keys() == masked.keys()
    assert all(torch.equal(plain[key], masked[key]) for key in plain)
    for name in ("observations", "actions", "rewards"):
        replays = [getattr(model.replay_buffer, name) for model in models]
        assert np.array_equal(*replays)


@pytest.mark.parametrize(("kind", "policy", "options"), [each[1:] for each in KINDS])
def test_masked_dqn_never_takes_an_illegal_action_nor_learns_from_one(kind, policy, options):
    env = GameVecEnv(Task(Greed(10, 3), 0, "random"), 8)
    model = kind(policy, env, **options).learn(3000)
    buffer = model.replay_buffer
    game = env.task.game
    observations = buffer.observations.reshape(-1, 3)
    legal = game.mask(game.encode(observations))
    assert legal[np.arange(len(legal)), buffer.actions.ravel()].all()
    assert not legal.all()
    target = model.q_net_target if kind is MaskedDQN else model.quantile_net_target
    values = target(torch.as_tensor(observations)).detach().numpy()
    values = values.mean(axis=1) if values.ndim == 3 else values
    assert np.isneginf(values[~legal]).all()
    assert np.isfinite(values[legal]).all()
    actions, _ = model.predict(observations, deterministic=True)
    assert legal[np.arange(len(legal)), actions].all()
    assert all(torch.isfinite(weight).all() for weight in model.policy.parameters())


def test_exploration_is_uniform_over_legal_actions():
    model = MaskedDQN(MaskedDQNPolicy, GameVecEnv(Task(Greed(10, 3)), 8), **DQN_OPTIONS)
    for own in (0, 7, 10):
        drawn = model._explore(np.tile([own, 3, 0], (6000, 1)))
        count = 2 * (10 - own) // 4 + 2
        seen = np.bincount(drawn, minlength=count) / len(drawn)
        assert len(seen) == count
        assert np.abs(seen - 1 / count).max() < 6 * np.sqrt(1 / count / len(drawn))
    assert model._explore(np.array([0, 0, 0])).shape == ()


@pytest.mark.parametrize("algorithm", ["ppo", slow("dqn"), "qlearning"])
def test_a_networks_score_agrees_with_simulation(build, algorithm):
    """200,000 games of the same network, played by the environment with its masks."""
    model = build(algorithm=algorithm, steps=4000, env={}).learn(4000)
    score = exactdice.score(model, gym.make("exactdice/Greed-v0"))
    lanes, wanted, outcomes = 4000, 50, []
    vector = gym.make_vec("exactdice/Greed-v0", lanes, autoreset_mode="SameStep")
    observations, infos = vector.reset(seed=1)
    played = np.zeros(lanes, dtype=int)
    while played.min() < wanted:
        options = {"action_masks": infos["action_mask"]} if algorithm == "ppo" else {}
        actions, _ = model.predict(observations, deterministic=True, **options)
        observations, _, over, _, infos = vector.step(actions)
        counted = over & (played < wanted)
        if counted.any():
            outcomes.append(infos["final_info"]["outcome"][counted])
        played += over
    results = np.concatenate(outcomes)
    assert len(results) == 200_000
    assert abs(results.mean() - score.value) < 4.5 * results.std() / np.sqrt(len(results))
    costs = sum(blunder.cost for blunder in score.blunders(None))
    assert costs == pytest.approx(score.regret, abs=1e-10)


def law_of(model):
    """Ask for the law of a model in every state: the law, the observations and the masks."""
    game = model.get_env().task.game
    states = np.arange(game.num_states)
    observations, masks = game.observe(states, 0), game.mask(states)
    law = ModelPolicy(model, game, Reading(deterministic=False))(observations, masks)
    return law, observations, masks


def test_stochastic_policies_are_scored_by_the_law_they_draw_from(build):
    model = build().learn(1000)
    law, observations, masks = law_of(model)
    with torch.no_grad():
        theirs = model.policy.get_distribution(torch.as_tensor(observations), action_masks=masks)
    np.testing.assert_allclose(law, theirs.distribution.probs.numpy(), atol=1e-6)
    task = model.get_env().task
    score = exactdice.score(model, task, deterministic=False)
    assert not score.deterministic
    assert score.value == pytest.approx(exactdice.score(law, task).value, abs=1e-12)


def test_a_stochastic_dqn_is_epsilon_greedy(build):
    model = build(algorithm="dqn")
    model.exploration_rate = 0.25
    law, observations, masks = law_of(model)
    best = ModelPolicy(model, model.get_env().task.game)(observations, masks)
    uniform = masks / masks.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(law, 0.75 * np.eye(7)[best] + 0.25 * uniform)


def test_other_models_and_nan_are_refused():
    env = gym.make("exactdice/Greed-v0", max_score=10, sides=3)
    message = r"model must be trained for observations \(11, 11, 2\) and 7 actions .* got one for"
    larger = gym.make("exactdice/Greed-v0", max_score=11, sides=3)
    for place, given in ((larger, "Multi"), ("CartPole-v1", "Box")):
        with pytest.raises(ValueError, match=f"{message} {given}"):
            exactdice.score(PPO("MlpPolicy", place, device="cpu"), env)
    broken = PPO("MlpPolicy", env, device="cpu")
    with torch.no_grad():
        broken.policy.action_net.bias[0] = float("nan")
    with pytest.raises(ValueError, match=r"must give numbers, got nan at observation \[0, 0, 0\]"):
        exactdice.score(broken, env)


@pytest.mark.filterwarnings("ignore:.*render_mode='rgb_array'")  # which make_vec_env tries first
def test_the_libraries_own_vectors_and_wrappers_take_the_environments():
    env_id, size = "exactdice:exactdice/Greed-v0", {"max_score": 20}
    env = make_vec_env(env_id, 16, env_kwargs=size, seed=1)
    model = MaskablePPO("MlpPolicy", env, n_steps=8, device="cpu", seed=0).learn(256)
    mean, _ = evaluate_policy(model, env, 2000, warn=False)
    score = exactdice.score(model, gym.make(env_id, **size))
    assert abs(mean - score.value) < 5 * 0.5 / np.sqrt(2000)
    for mode in ("NextStep", "SameStep"):
        vector = RecordEpisodeStatistics(gym.make_vec(env_id, 8, autoreset_mode=mode, **size))
        vector.reset(seed=1)
        for _ in range(50):
            infos = vector.step(np.full(8, 3))[-1]
        assert len(vector.return_queue) > 50
        assert "action_mask" in infos


@pytest.mark.parametrize("evaluate", [evaluate_policy, evaluation.evaluate_policy])
def test_evaluations_take_the_vector_for_monitored(evaluate):
    """They warned; what they read is the payoff of the game, whatever the rewards are scaled by."""
    env = GameVecEnv(Task(Greed(10, 3)), 4, reward_scale=10.0)
    model = MaskablePPO("MlpPolicy", env, n_steps=8, device="cpu", seed=0)
    rewards, lengths = evaluate(model, env, 40, return_episode_rewards=True)
    assert set(rewards) <= {0.0, 0.5, 1.0}
    assert min(lengths) >= 1


def test_the_vector_refuses_what_it_cannot_do():
    env = GameVecEnv(Task(Greed(10, 3)), 4)
    assert env.get_attr("render_mode") == [None] * 4
    assert env.env_is_wrapped(gym.Wrapper, [0, 2]) == [False, False]
    assert env.env_is_wrapped(Monitor) == [True] * 4
    assert len(env.env_method("action_masks", indices=[1, 3])) == 2
    with pytest.raises(AttributeError, match="games share one engine"):
        env.set_attr("reward", "regret")
    with pytest.raises(AttributeError, match="close must be 'action_masks'"):
        env.env_method("close")
    env.close()
