"""Modules of torch as policies: scripted, compiled, and those that are no function of a state."""

import itertools
import re

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.games import InputError
from torch import nn

import exactdice

ENV = gym.make("exactdice/Greed-v0", max_score=10, sides=3, encoding="one_hot_float")
SIZE = ENV.observation_space.shape[0]


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
        with pytest.raises(InputError, match=r"alike to an observation every time, and .* says"):
            exactdice.score(policy, ENV)


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
    preferences[~game.mask(np.arange(242))] = -np.inf
    actions = preferences.argmax(dim=1)
    right = exactdice.score(actions.numpy(), ENV).value
    function = lambda seen: network(torch.as_tensor(seen, dtype=kind))  # noqa: E731
    law = torch.eye(7)[actions].to(kind).requires_grad_()
    for policy in (network, exactdice.from_network(function, ENV), law):
        assert exactdice.score(policy, ENV).value == right
    if kind == torch.float32:
        law = exactdice.from_network(function, ENV, deterministic=False)
        right = exactdice.score(torch.softmax(preferences, dim=1).numpy(), ENV).value
        assert exactdice.score(law, ENV).value == pytest.approx(right, abs=1e-6)


def test_a_torch_module_without_masks_does_what_it_likes():
    """Without masks the agent loses more, as an illegal move loses the game."""
    env = gym.make("exactdice/ShutTheBox-v0", tiles=4, dice=1, encoding="one_hot_float")
    game = env.unwrapped.task.game
    torch.manual_seed(0)
    network = nn.Linear(*env.observation_space.shape, game.num_actions)
    shown = torch.as_tensor(env.unwrapped.sight.show(game.observe(np.arange(game.num_states), 0)))
    actions = network(shown).detach().numpy().argmax(axis=1)
    free = exactdice.score(np.eye(game.num_actions)[actions], env, masked=False).value
    function = exactdice.from_network(
        lambda seen: network(torch.as_tensor(seen)), env, masked=False
    )
    for policy in (network, function):
        assert exactdice.score(policy, env, masked=False).value == pytest.approx(free)
    assert exactdice.score(network, env).value > free + 0.01


def test_a_torch_module_is_scored_as_in_play_and_goes_on_learning():
    bits = gym.make("exactdice/Greed-v0", max_score=10, sides=3, encoding="one_hot")
    last = nn.Linear(bits.observation_space.n, 7)  # a network is given floats
    network = nn.Sequential(nn.Dropout(0.9), last).double()
    network[0].eval()
    assert exactdice.score(network, bits).value == exactdice.score(last, bits).value
    assert [part.training for part in network] == [False, True]
    assert all(weight.grad is None for weight in network.parameters())


class Agent(nn.Module):
    """As in CleanRL's ppo.py: parts, and nothing that calls them."""

    actor = nn.Linear(SIZE, 7)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (Agent(), "policy must be a module .*, got Agent, which has no forward: pass the part"),
        (nn.Linear(SIZE, 2), r"preferences of shape \(242, 7\) .*, got \(242, 2\) of Linear"),
        (exactdice.from_network(lambda seen: seen[:, :2], ENV), r"preferences .*, got \(242, 2\)"),
        (
            exactdice.from_network(Net(), ENV),
            "function must take arrays, got Net, .* give score the",
        ),
        (nn.LSTM(SIZE, 7), "preferences of shape .*, got tuple of LSTM"),
        (nn.Linear(4, 7), r"must accept the observations of env, \(242, 24\) .*, got Linear, "),
    ],
)
def test_torch_modules_that_are_no_policies_are_refused(network, message):
    with pytest.raises(InputError, match=message):
        exactdice.score(network, ENV)


def test_a_torch_module_needs_an_environment_that_shows_it_something():
    with pytest.raises(InputError, match="env must be an environment, .* Net, a torch module"):
        exactdice.score(Net(), ENV.unwrapped.task)


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
            with pytest.raises(InputError, match=message):
                exactdice.score(policy, ENV)


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
    with pytest.raises(InputError, match=r"weights go into their network, net\.load_state_dict"):
        exactdice.score(net.state_dict(), ENV)


@pytest.mark.parametrize("policies", [None, [], {"a": "random"}])
def test_a_matrix_needs_a_mapping(policies):
    with pytest.raises(InputError, match="policies must be a mapping from two names at least"):
        exactdice.payoff_matrix(policies, ENV)
