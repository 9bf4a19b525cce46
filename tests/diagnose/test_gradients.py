"""Exact gradients against differences of exact values, and of losses weighted by occupancy."""

import sys

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.baselines import Task, evaluate, from_network, occupancy
from exactdice.core import InputError
from exactdice.diagnose import gradient
from exactdice.games import LowestScore
from recording import TASKS
from thinning import later
from torch import nn
from torch.distributions import Categorical

import exactdice

pytestmark = pytest.mark.usefixtures("one_thread")

GREED = TASKS[0]


def networks(task, kind=torch.float64):
    torch.manual_seed(0)
    width = len(task.game.observation_sizes)
    return [
        nn.Sequential(nn.Linear(width, 4), nn.Tanh(), nn.Linear(4, results)).to(kind)
        for results in (task.game.num_actions, 1)
    ]


def network_policy(actor, task):
    kind = torch.int64 if isinstance(actor, nn.Embedding) else next(actor.parameters()).dtype
    act = lambda seen: actor(torch.as_tensor(seen, dtype=kind))  # noqa: E731
    return from_network(act, task, deterministic=False)


def slope(number, entries, place, step=1e-5):
    """Give the slope of a number in an entry of a parameter, by a difference."""
    entries[place] += step
    above = number()
    entries[place] -= 2 * step
    below = number()
    entries[place] += step
    return (above - below) / (2 * step)


def flat(gradients):
    return torch.cat([part.ravel() for part in gradients.values()])


@pytest.mark.parametrize("task", [*TASKS[:3], later(TASKS[3])], ids=repr)
def test_the_gradient_of_the_return_is_that_of_its_exact_value(task):
    actor, _ = networks(task)
    found = gradient(task, actor)
    assert float(flat(found.policy).norm()) > 1e-3
    assert not flat(found.entropy).any()
    assert not found.critic
    value = lambda: evaluate(network_policy(actor, task), task).value  # noqa: E731
    for name, parameter in actor.named_parameters():
        entries, part = parameter.data.view(-1), found.policy[name].view(-1)
        for place in {0, len(entries) - 1}:
            assert part[place].item() == pytest.approx(slope(value, entries, place), abs=1e-8)


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_entropy_and_critic_are_weighted_by_occupancy(task):
    actor, critic = networks(task)
    found = gradient(task, actor, critic, ent_coef=0.3)
    policy = network_policy(actor, task)
    met = occupancy(policy, task)
    states = np.flatnonzero(met)
    values = evaluate(policy, task).values[task.seat][states]
    seen = torch.as_tensor(task.game.observe(states, task.seat), dtype=torch.float64)
    mask = torch.as_tensor(task.game.mask(states))
    weights = torch.as_tensor(met[states])
    logits = actor(seen).masked_fill(~mask, -1e9)
    (0.3 * weights * Categorical(logits=logits).entropy()).sum().backward()
    loss = (critic(seen)[:, 0] - torch.as_tensor(values)) ** 2 * weights
    (loss.sum() / weights.sum()).backward()
    for module, part in ((actor, found.entropy), (critic, found.critic)):
        for name, parameter in module.named_parameters():
            torch.testing.assert_close(part[name], parameter.grad, rtol=1e-9, atol=1e-12)
        assert float(flat(part).norm()) > 1e-3
    assert found.moves == pytest.approx(met.sum())
    assert found.compare_critic(critic) == pytest.approx((1, 1))


def test_a_policy_that_is_certain_has_no_gradient():
    """Its softmax is 0 and 1: the logarithm of 0 times the weight 0 is 0."""
    actor, _ = networks(GREED)
    actor[2].weight.data *= 1e-3
    assert float(flat(gradient(GREED, actor).policy).norm()) > 1e-3
    actor[2].bias.data += torch.arange(4) * 1000
    found = gradient(GREED, actor, ent_coef=0.1)
    assert not any(flat(part).any() for part in (found.policy, found.entropy))


@pytest.mark.parametrize("reward", ["outcome", "shaped", "regret"])
def test_modes_of_rewards_change_the_critics_gradient_alone_and_a_scale_the_policys(reward):
    actor, critic = networks(GREED)
    env = GameVecEnv(GREED, 2, reward=reward, reward_scale=4.0)
    found, plain = gradient(env, actor, critic, 0.1), gradient(GREED, actor, critic, 0.1)
    torch.testing.assert_close(flat(found.policy), 4 * flat(plain.policy))
    torch.testing.assert_close(flat(found.entropy), flat(plain.entropy))
    unscaled = gradient(GameVecEnv(GREED, 2, reward=reward), actor, critic, 0.1)
    same = torch.allclose(flat(unscaled.critic), flat(plain.critic))
    assert same == (reward == "outcome")


def test_batches_add_up(monkeypatch):
    actor, critic = networks(TASKS[3])
    whole = gradient(TASKS[3], actor, critic, 0.1)
    monkeypatch.setattr("exactdice.diagnose.gradients.BATCH", 7)
    parts = gradient(TASKS[3], actor, critic, 0.1)
    for name in ("policy", "entropy", "critic"):
        one, other = (flat(getattr(each, name)) for each in (whole, parts))
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-14)


def test_single_precision_and_the_module_stay_as_they_are():
    actor, critic = networks(GREED, torch.float32)
    actor[0].bias.requires_grad_(False)
    found = gradient(GREED, actor, critic, 0.1)
    assert list(found.policy) == ["0.weight", "2.weight", "2.bias"]
    assert {part.dtype for part in found.policy.values()} == {torch.float32}
    assert all(parameter.grad is None for parameter in actor.parameters())
    precise, _ = networks(GREED)
    exact = gradient(GREED, precise).policy
    for name, part in found.policy.items():
        torch.testing.assert_close(part.double(), exact[name], rtol=1e-4, atol=1e-6)


def test_the_sign_of_a_comparison_is_that_of_a_loss():
    """A program minimises the mean over the moves, and an exact gradient is a sum over a game."""
    actor, _ = networks(GREED)
    found = gradient(GREED, actor, ent_coef=0.3)
    whole = {name: part + found.entropy[name] for name, part in found.policy.items()}
    loss = {name: -part / found.moves for name, part in whole.items()}
    for name, parameter in actor.named_parameters():
        parameter.grad = loss[name]
    assert found.compare(loss) == found.compare(actor) == pytest.approx((1, 1))
    assert found.compare({name: -2 * part for name, part in loss.items()}) == pytest.approx((-1, 2))
    nothing = found.compare({name: 0 * part for name, part in loss.items()})
    assert np.isnan(nothing.cosine)
    assert nothing.ratio == 0
    task = Task(LowestScore(4, players=1))  # every payoff is 1: the gradient is rounding
    found = gradient(task, networks(task)[0])
    compared = found.compare({name: 1 + part for name, part in found.policy.items()})
    assert np.isnan(compared).all()


def test_gradients_of_other_shapes_are_refused():
    actor, critic = networks(GREED)
    found = gradient(GREED, actor)
    short = dict.fromkeys(found.policy, torch.zeros(2))
    for given, words in (
        (actor, r"must be there: call loss.backward\(\) befo"),
        ({"0.weight": found.policy["0.weight"]}, "must have all names .*, got no 0.bias"),
        (short, r"must be of shape \(4, 3\) for 0.weight, got"),
        (3, "must be a torch module or gradients by name"),
    ):
        with pytest.raises(InputError, match=f"^gradients {words}"):
            found.compare(given)
    with pytest.raises(InputError, match="^critic must be given to gradient before it is compared"):
        found.compare_critic(critic)


class Detached(nn.Linear):
    def forward(self, seen):
        return super().forward(seen).detach()


RIGHT, INFINITE = nn.Linear(3, 4), nn.Linear(3, 4)
nn.init.constant_(INFINITE.bias, np.inf)
WRONG = [
    ((lambda seen: seen,), "^actor must be a torch module, got a function$"),
    ((nn.Linear(3, 7),), r"^actor must give numbers of shape \(\d+, 4\), got \(\d+, 7\)$"),
    ((nn.Linear(2, 4),), r"^actor must take observations of shape \(\d+, 3\): Runtime"),
    ((nn.Flatten(),), "^actor must have parameters that require a gradient, got none$"),
    ((nn.LSTM(3, 4),), "^actor must give a tensor, got a tuple$"),
    ((Detached(3, 4),), "^actor must give results with a gradient, got a detached tensor$"),
    ((INFINITE,), "^actor must give finite numbers, got inf$"),
    ((nn.Sequential(RIGHT, nn.LogSoftmax(0)),), "^policy must answer alike .* and actor"),
    ((nn.Sequential(RIGHT, nn.Dropout()),), "^policy must answer alike .* and actor"),
    ((RIGHT, nn.Linear(3, 2)), r"^critic must give numbers of shape \(\d+,\), got \(\d+, 2"),
    ((RIGHT, nn.Sequential(nn.Dropout(), nn.Linear(3, 1))), "critic .* call its method eval"),
    ((RIGHT, None, np.nan), "^ent_coef must be a finite number, got nan$"),
]


@pytest.mark.parametrize(("given", "words"), WRONG)
def test_wrong_networks_and_coefficients_are_refused(given, words):
    with pytest.raises(InputError, match=words):
        gradient(GREED, *given)


def test_without_torch_gradient_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "exactdice.diagnose.gradients", None)
    monkeypatch.delitem(vars(exactdice.diagnose), "gradient", raising=False)
    with pytest.raises(ModuleNotFoundError, match="^gradient needs .*: pip install torch"):
        _ = exactdice.diagnose.gradient
    with pytest.raises(AttributeError, match="attribute gradients_of"):
        _ = exactdice.diagnose.gradients_of


def test_networks_that_embed_numbers_of_states_have_the_slopes_of_the_value():
    """In Taxi, which pays in each move."""
    env = exactdice.from_P(gym.make("Taxi-v4"), gamma=0.9)
    torch.manual_seed(0)
    actor = nn.Embedding(500, 6).double()
    found = gradient(env, actor).policy["weight"]
    value = lambda: evaluate(network_policy(actor, env), env).value  # noqa: E731
    for place in ((1, 0), (328, 3), (473, 5)):
        wanted = slope(value, actor.weight.data, place, step=1e-4)
        assert found[place].item() == pytest.approx(wanted, rel=1e-4, abs=1e-7)
