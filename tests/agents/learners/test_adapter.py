"""Models whose methods are not the libraries' own are refused: they may do what no network says."""

import re
import sys
import types

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.games import InputError
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.policies import ActorCriticPolicy, BasePolicy
from stable_baselines3.dqn.policies import DQNPolicy, QNetwork
from torch import nn

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


class Deep(nn.Linear):
    """What stable-baselines3 asks of a network: a part for actions, and one for values."""

    latent_dim_pi = latent_dim_vf = 5
    forward_actor = forward_critic = nn.Linear.forward


class OwnNetwork(ActorCriticPolicy):
    """The recipe of stable-baselines3 for a network of one's own."""

    def _build_mlp_extractor(self):
        self.mlp_extractor = Deep(self.features_dim, 5)


def test_networks_of_ones_own_are_scored():
    model = PPO(OwnNetwork, ENV, seed=1, device="cpu")
    seen = ENV.unwrapped.task.game.observe(np.arange(242), 0)
    actions = model.predict(seen, deterministic=True)[0]
    found = exactdice.score(model, ENV, masked=False).value
    assert found == exactdice.score(actions, ENV, masked=False).value
    assert exactdice.score(model, ENV, deterministic=False).value > 0


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
