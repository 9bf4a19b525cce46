"""Models of stable-baselines3 and modules of torch as policies, scored as they play or refused."""

import itertools
import re
import sys
import types
from functools import partialmethod

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
from torch import nn

import exactdice

ENV = gym.make("exactdice/Greed-v0", max_score=10, sides=3, encoding="one_hot_float")
SIZE = ENV.observation_space.shape[0]


def refused(message, policy, env=ENV, **options):
    with pytest.raises(InputError, match=message):
        exactdice.score(policy, env, **options)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.last = nn.Linear(SIZE, 7)

    def forward(self, seen):
        return self.last(seen)


class Changed(Net):
    """Changes what the last layer gets, and what it gives."""

    def __init__(self, before, after):
        super().__init__()
        self.before, self.after = before, after

    def forward(self, seen):
        return self.after(super().forward(self.before(seen)))


MEMORY, COUNT = nn.GRU(SIZE, SIZE), itertools.count()
SAME = nn.Identity()


@pytest.mark.parametrize(
    "changes",
    [
        (lambda seen: nn.functional.dropout(seen, 0.5, training=True), SAME),
        (SAME, lambda preferences: preferences + 0.1 * torch.randn_like(preferences)),
        (lambda seen: seen - seen.mean(dim=0), SAME),
        (lambda seen: MEMORY(seen)[0], SAME),
        (SAME, lambda preferences: preferences.roll(next(COUNT) % 7, 1)),
        (nn.BatchNorm1d(SIZE, track_running_stats=False), SAME),
    ],
    ids=["dropout", "noise", "centred", "along the batch", "counting", "norm of the batch"],
)
def test_what_is_no_function_of_the_observation_is_refused_by_name(changes):
    network = Changed(*changes)
    for policy in (network, exactdice.from_network(lambda x: network(torch.as_tensor(x)), ENV)):
        refused("alike to an observation every time, and .* says", policy)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_scripted_and_traced_modules_are_scored_as_what_they_are_made_of():
    """With dropout and running statistics, which are no matter in evaluation."""
    network = nn.Sequential(nn.Dropout(0.9), nn.BatchNorm1d(SIZE), Net())
    right = exactdice.score(network, ENV).value
    scripted = torch.jit.script(network)
    assert exactdice.score(scripted, ENV).value == right
    assert scripted.training
    traced = torch.jit.trace(network.eval(), torch.zeros(1, SIZE))
    assert exactdice.score(traced, ENV).value == right


@pytest.mark.slow
def test_compiled_modules_are_scored_without_a_compiler():
    def refuse(_graph, _inputs):
        raise AssertionError("compiled")

    network = Net()
    right = exactdice.score(network, ENV).value
    assert exactdice.score(torch.compile(network, backend="eager"), ENV).value == right
    assert exactdice.score(torch.compile(network, backend=refuse), ENV).value == right
    network.compile(backend=refuse)
    assert exactdice.score(network, ENV).value == right


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_modules_are_scored_by_what_env_shows_to_the_rounding_of_their_numbers(kind):
    network, game = Net().to(kind), ENV.unwrapped.task.game
    shown = ENV.unwrapped.sight.show(game.observe(np.arange(242), 0))
    preferences = network(torch.as_tensor(shown, dtype=kind)).detach().double()
    free = exactdice.score(np.eye(7)[preferences.argmax(dim=1)], ENV, masked=False).value
    preferences[~game.mask(np.arange(242))] = -np.inf
    actions = preferences.argmax(dim=1)
    right = exactdice.score(actions.numpy(), ENV).value
    function = lambda seen: network(torch.as_tensor(seen, dtype=kind))  # noqa: E731
    law = torch.eye(7)[actions].to(kind).requires_grad_()
    for policy in (network, exactdice.from_network(function, ENV), law):
        assert exactdice.score(policy, ENV).value == right
    unmasked = exactdice.from_network(function, ENV, masked=False)
    for policy in (network, unmasked):
        assert exactdice.score(policy, ENV, masked=False).value == pytest.approx(free)
    assert right > free + 0.01  # as an illegal move loses the game
    if kind == torch.float32:
        law = exactdice.from_network(function, ENV, deterministic=False)
        right = exactdice.score(torch.softmax(preferences, dim=1).numpy(), ENV).value
        assert exactdice.score(law, ENV).value == pytest.approx(right, abs=1e-6)


def test_a_torch_module_is_scored_as_in_play_and_goes_on_learning():
    bits = gym.make("exactdice/Greed-v0", max_score=10, sides=3, encoding="one_hot")
    last = nn.Linear(bits.observation_space.n, 7)  # a network is given floats
    network = nn.Sequential(nn.Dropout(0.9), last).double()
    network[0].eval()
    assert exactdice.score(network, bits).value == exactdice.score(last, bits).value
    assert [part.training for part in network] == [False, True]
    assert all(weight.grad is None for weight in network.parameters())


def test_torch_modules_that_are_no_policies_are_refused():
    parts = nn.ModuleDict({"actor": Net()})  # which nothing calls, as in CleanRL's ppo.py
    refused("policy must be a module .*, got ModuleDict, which has no forward: pass the", parts)
    refused(r"preferences of shape \(242, 7\) .*, got \(242, 2\) of Linear", nn.Linear(SIZE, 2))
    cut = exactdice.from_network(lambda seen: seen[:, :2], ENV)
    refused(r"preferences .*, got \(242, 2\)", cut)
    module = exactdice.from_network(Net(), ENV)
    refused("function must take arrays, got Net, .* give score the", module)
    refused("preferences of shape .*, got tuple of LSTM", nn.LSTM(SIZE, 7))
    refused(r"must accept the observations of env, \(242, 24\) .*, got Linear, ", nn.Linear(4, 7))
    refused("env must be an environment, .* Net, a torch module", Net(), ENV.unwrapped.task)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda actions: (actions, None), "a pair of an array and None, as predict of a model"),
        (lambda actions: [[0], [0, 1]], "in rows of one length, got a list"),
        (np.ma.masked_array, "got a masked array"),
        (lambda actions: None, r"got nothing \(None\)"),
        (lambda actions: actions.astype(str), "must be numbers, got <U"),
    ],
)
def test_what_is_no_array_is_refused_from_tables_and_functions(change, message):
    table = change(np.zeros(242, int))
    network = exactdice.from_network(lambda seen: change(seen[:, 0]), ENV)
    for policy in (table, lambda seen, legal: change(np.zeros(len(seen), int)), network):
        if policy is not None:
            refused(message, policy)


@pytest.mark.parametrize(
    "form",
    [
        lambda law, logits: law,
        lambda law, logits: (law, logits[:, 0]),
        lambda law, logits: (logits[:, 0], law),
        lambda law, logits: (logits, logits[:, :1]),
    ],
    ids=["law", "law and value", "value and law", "logits and value"],
)
def test_an_output_with_more_than_preferences_is_refused_with_code_for_them(form):
    """A distribution, or a tuple that has one or the logits, as agents of PPO give."""
    net = Changed(SAME, lambda logits: form(torch.distributions.Categorical(logits=logits), logits))
    function = lambda seen: net(torch.as_tensor(seen))  # noqa: E731
    names = {"net": net, "function": function, "torch": torch, "env": ENV, "exactdice": exactdice}
    for policy in (net, exactdice.from_network(function, ENV)):
        with pytest.raises(InputError, match=r"preferences of shape \(242, 7\) alone") as caught:
            exactdice.score(policy, ENV)
        code = re.search(r"give (exactdice.*)", str(caught.value))[1]
        cured = exactdice.score(eval(code, names), ENV).value
        assert cured == exactdice.score(Net(), ENV).value


def test_weights_are_no_policy_and_the_message_has_code_that_loads_them(tmp_path):
    net, path = Net(), tmp_path / "net.pt"
    torch.save(net.state_dict(), path)
    with pytest.raises(InputError, match=r"a file of torch\.save: for weights give net") as caught:
        exactdice.score(path, ENV)
    other = Net()
    nn.init.zeros_(other.last.weight)
    eval(re.search(r"net\.load.*", str(caught.value))[0], {"net": other, "torch": torch})
    assert exactdice.score(other, ENV).value == exactdice.score(net, ENV).value
    refused(r"weights go into their network, net\.load_state_dict", net.state_dict())


MULTI = gym.make("exactdice/Greed-v0", max_score=10, sides=3)


def mine(base, method):
    """Make a class with a method of its own, which does the same."""
    return type("Mine", (base,), {method: partialmethod(getattr(base, method))})


class QPolicy(DQNPolicy):
    def make_q_net(self):
        options = self._update_features_extractor(self.net_args, features_extractor=None)
        return mine(QNetwork, "_predict")(**options)


def patched():
    model = PPO("MlpPolicy", MULTI, device="cpu")
    model.predict = types.MethodType(mine(PPO, "predict").predict, model)
    return model


def test_methods_that_may_do_something_else_are_refused():
    for make, method in (
        (lambda: mine(PPO, "predict")("MlpPolicy", MULTI, device="cpu"), "Mine has a predict"),
        (lambda: PPO(mine(ActorCriticPolicy, "_predict"), MULTI), "Mine has a _predict"),
        (lambda: PPO(mine(ActorCriticPolicy, "get_distribution"), MULTI), "has a get_distribution"),
        (lambda: DQN(QPolicy, MULTI), "Mine has a _predict"),
        (patched, "PPO has a predict"),
    ):
        said, model = f"{method} of its own, which may do something else", make()
        for deterministic in (True, False):
            refused(said, model, MULTI, deterministic=deterministic)


def test_a_law_that_is_not_that_of_the_network_is_refused():
    """Whatever changed it: here a distribution, which no method of the policy shows."""
    model = PPO("MlpPolicy", MULTI, seed=1, device="cpu")
    kind = type(model.policy.action_dist)

    class Sharp(kind):
        def proba_distribution(self, action_logits):
            return super().proba_distribution(100 * action_logits)

    model.policy.action_dist.__class__ = Sharp
    refused("get_distribution of PPO is off by", model, MULTI, deterministic=False)


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
    seen = env.unwrapped.sight.show(env.unwrapped.task.game.observe(np.arange(242), 0))
    played = seen.sum(axis=1).astype(int) % 3
    assert scored.value == exactdice.score(played, env, masked=False).value


def test_without_sb3_contrib_a_model_is_refused_in_a_sentence(monkeypatch):
    model = PPO("MlpPolicy", MULTI, device="cpu")
    monkeypatch.setitem(sys.modules, "sb3_contrib.ars.policies", None)
    monkeypatch.delitem(sys.modules, "exactdice.agents.learners.adapter", raising=False)
    refused(r"PPO needs more libraries \(sb3_contrib.*: pip install", model, MULTI)


def law_of(model):
    """Ask for the law of a model in every state: the law, the observations and the masks."""
    game = model.get_env().task.game
    states = np.arange(game.num_states)
    observations, masks = game.observe(states, 0), game.mask(states)
    law = ModelPolicy(model, game, Reading(deterministic=False))(observations, masks)
    return law, observations, masks


@pytest.mark.parametrize("algorithm", ["ppo", "dqn", "qlearning"])
def test_a_model_is_scored_by_the_actions_that_it_predicts(build, algorithm):
    model = build(algorithm=algorithm).learn(1000)
    _, observations, masks = law_of(model)
    options = {"action_masks": masks} if algorithm == "ppo" else {}
    actions, _ = model.predict(observations, deterministic=True, **options)
    assert exactdice.score(model, MULTI).value == exactdice.score(actions, MULTI).value


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
        refused(f"{message} {given}", PPO("MlpPolicy", place, device="cpu"), MULTI)
    broken = PPO("MlpPolicy", MULTI, device="cpu")
    with torch.no_grad():
        broken.policy.action_net.bias[0] = float("nan")
    refused(r"must give numbers, got nan at observation \[0, 0, 0\]", broken, MULTI)


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


def test_the_vector_is_taken_for_monitored_and_refuses_what_it_cannot_do():
    """Evaluations read the payoff of the game, whatever the rewards are scaled by."""
    env = GameVecEnv(Task(Greed(10, 3)), 4, reward_scale=10.0)
    model = MaskablePPO("MlpPolicy", env, n_steps=8, device="cpu", seed=0)
    for evaluate in (evaluate_policy, evaluation.evaluate_policy):  # which warned
        assert {*evaluate(model, env, 40, return_episode_rewards=True)[0]} <= {0.0, 0.5, 1.0}
    assert env.get_attr("render_mode") == [None] * 4
    assert env.env_is_wrapped(gym.Wrapper, [0, 2]) == [False, False]
    assert env.env_is_wrapped(Monitor) == [True] * 4
    assert len(env.env_method("action_masks", indices=[1, 3])) == 2
    with pytest.raises(AttributeError, match="games share one engine"):
        env.set_attr("reward", "regret")
    with pytest.raises(AttributeError, match="close must be 'action_masks'"):
        env.env_method("close")
    env.close()
