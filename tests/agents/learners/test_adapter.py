"""Models of stable-baselines3 are scored as they play, in the libraries' vectors and in ours.

Models whose methods are not the libraries' own are refused: they may do what no network says.
"""

import re
import sys
import types

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.agents.learners.adapter import ModelPolicy
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.baselines import Reading, Task
from exactdice.games import Greed, InputError
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3 import DQN, PPO
from stable_baselines3.common import evaluation
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.policies import ActorCriticPolicy, BasePolicy
from stable_baselines3.dqn.policies import DQNPolicy, QNetwork

import exactdice

ENV = gym.make("exactdice/Greed-v0", max_score=10, sides=3)
LAW = "get_distribution"


def mine(base, method):
    """Make a class with a method of its own."""

    def own(self, *args, **keywords):
        return getattr(base, method)(self, *args, **keywords)

    return type("Mine", (base,), {method: own})


class QPolicy(DQNPolicy):
    def make_q_net(self):
        options = self._update_features_extractor(self.net_args, features_extractor=None)
        return mine(QNetwork, "_predict")(**options)


def patched():
    model = PPO("MlpPolicy", ENV, device="cpu")
    model.predict = types.MethodType(mine(PPO, "predict").predict, model)
    return model


@pytest.mark.parametrize(
    ("make", "method"),
    [
        (lambda: mine(PPO, "predict")("MlpPolicy", ENV, device="cpu"), "Mine has a predict"),
        (lambda: PPO(mine(ActorCriticPolicy, "_predict"), ENV), "Mine has a _predict"),
        (lambda: PPO(mine(ActorCriticPolicy, LAW), ENV), f"Mine has a {LAW}"),
        (lambda: DQN(QPolicy, ENV), "Mine has a _predict"),
        (patched, "PPO has a predict"),
    ],
)
def test_methods_that_may_do_something_else_are_refused(make, method):
    model = make()
    for deterministic in (True, False):
        with pytest.raises(InputError, match=f"{method} of its own, which may do something else"):
            exactdice.score(model, ENV, deterministic=deterministic)


def test_a_law_that_is_not_that_of_the_network_is_refused():
    """Whatever changed it: here a distribution, which no method of the policy shows."""
    model = PPO("MlpPolicy", ENV, seed=1, device="cpu")
    kind = type(model.policy.action_dist)

    class Sharp(kind):
        def proba_distribution(self, action_logits):
            return super().proba_distribution(100 * action_logits)

    model.policy.action_dist.__class__ = Sharp
    with pytest.raises(InputError, match="get_distribution of PPO is off by"):
        exactdice.score(model, ENV, deterministic=False)


class OfJax(BasePolicy):
    """A policy like those of sbx, whose network is none of torch, with stable-baselines3's base."""

    def forward(self, obs):
        return self._predict(obs)

    def _predict(self, observation, deterministic=False):
        return torch.as_tensor(np.asarray(observation).sum(axis=-1).astype(np.int64) % 3)


@pytest.mark.parametrize("encoding", ["integer", "one_hot_float"])
def test_a_model_of_unknown_networks_is_refused_with_code_that_scores_what_it_plays(encoding):
    env = gym.make("exactdice/Greed-v0", max_score=10, sides=3, encoding=encoding)
    model = OfJax(env.observation_space, env.action_space)
    with pytest.raises(InputError, match="got OfJax: score what predict plays") as caught:
        exactdice.score(model, env)
    names = {"model": model, "env": env, "np": np, "exactdice": exactdice}
    scored = eval(re.search(r"exactdice.*", str(caught.value))[0], names)
    states = np.arange(242)
    seen = env.unwrapped.sight.show(env.unwrapped.task.game.observe(states, 0))
    played = seen.sum(axis=1).astype(int) % 3
    assert scored.value == exactdice.score(played, env, masked=False).value


def test_without_sb3_contrib_a_model_is_refused_in_a_sentence(monkeypatch):
    model = PPO("MlpPolicy", ENV, device="cpu")
    monkeypatch.setitem(sys.modules, "sb3_contrib.ars.policies", None)
    monkeypatch.delitem(sys.modules, "exactdice.agents.learners.adapter", raising=False)
    with pytest.raises(InputError, match=r"PPO needs more libraries \(sb3_contrib.*: pip install"):
        exactdice.score(model, ENV)


@pytest.mark.parametrize(
    "algorithm",
    ["ppo", *(pytest.param(each, marks=pytest.mark.slow) for each in ("dqn", "qlearning"))],
)
def test_a_networks_score_agrees_with_simulation(build, algorithm):
    """100,000 games of the same network, played by the environment with its masks."""
    model = build(algorithm=algorithm, steps=2000).learn(2000)
    score = exactdice.score(model, ENV)
    lanes, wanted, outcomes = 4000, 25, []
    vector = gym.make_vec(ENV.spec.id, lanes, max_score=10, sides=3, autoreset_mode="SameStep")
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
    assert len(results) == 100_000
    assert abs(results.mean() - score.value) < 4.5 * results.std() / np.sqrt(len(results))


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
    message = r"model must be trained for observations \(11, 11, 2\) and 7 actions .* got one for"
    larger = gym.make("exactdice/Greed-v0", max_score=11, sides=3)
    for place, given in ((larger, "Multi"), ("CartPole-v1", "Box")):
        with pytest.raises(ValueError, match=f"{message} {given}"):
            exactdice.score(PPO("MlpPolicy", place, device="cpu"), ENV)
    broken = PPO("MlpPolicy", ENV, device="cpu")
    with torch.no_grad():
        broken.policy.action_net.bias[0] = float("nan")
    with pytest.raises(ValueError, match=r"must give numbers, got nan at observation \[0, 0, 0\]"):
        exactdice.score(broken, ENV)


@pytest.mark.filterwarnings("ignore:.*render_mode='rgb_array'")  # which make_vec_env tries first
def test_the_libraries_own_vectors_and_wrappers_take_the_environments():
    env_id, size = "exactdice:exactdice/Greed-v0", {"max_score": 20}
    env = make_vec_env(env_id, 4, env_kwargs=size, seed=1)
    model = MaskablePPO("MlpPolicy", env, n_steps=32, device="cpu", seed=0).learn(128)
    mean, _ = evaluate_policy(model, env, 500, warn=False)
    score = exactdice.score(model, gym.make(env_id, **size))
    assert abs(mean - score.value) < 5 * 0.5 / np.sqrt(500)
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
    assert {*evaluate(model, env, 40, return_episode_rewards=True)[0]} <= {0.0, 0.5, 1.0}


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
