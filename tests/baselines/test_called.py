"""Networks and functions of large games, which are called where the agent can be met."""

import pickle

import gymnasium as gym
import numpy as np
import pytest
import torch as th
from exactdice.baselines import Task, make_task
from exactdice.baselines.policies import called
from exactdice.baselines.policies.called import CalledPolicy
from exactdice.games import Greed, InputError
from small_games import SMALL
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import exactdice

TURNS = ("LowestScore", "LowestScoreMatch", "ShutTheBox", "FourTwoOne", "FourTwoOneMatch")


class Network:
    """Preferences that are drawn once for each observation, and the observations that came."""

    def __init__(self, task, seed=0):
        sizes, actions = task.game.observation_sizes, task.game.num_actions
        self.sizes = sizes
        self.table = np.random.default_rng(seed).normal(size=(int(np.prod(sizes)), actions))
        self.called = set()

    def __call__(self, seen):
        places = np.ravel_multi_index(tuple(np.moveaxis(seen, -1, 0)), self.sizes)
        self.called.update(places.tolist())
        return self.table[places]


@pytest.fixture
def large(monkeypatch):
    monkeypatch.setattr(called, "LARGE", 0)
    monkeypatch.setattr(called, "SAMPLE", 1)  # states with which a function is called at first


def small_tasks():
    for name in TURNS:
        for keywords in SMALL[name]:
            for seat in range(make_task(name, **keywords).game.num_players):
                yield pytest.param(name, keywords, seat, id=f"{name}-{seat}-{len(str(keywords))}")


@pytest.mark.parametrize(("name", "keywords", "seat"), list(small_tasks()))
def test_scores_are_those_of_a_network_that_is_called_everywhere(name, keywords, seat, monkeypatch):
    task = Task(make_task(name, **keywords).game, seat, "random")
    network = exactdice.from_network(Network(task), task)
    whole = exactdice.score(network, task)
    monkeypatch.setattr(called, "LARGE", 0)
    found = exactdice.score(network, task)
    assert [isinstance(each.agent, CalledPolicy) for each in (found, whole)] == [True, False]
    assert found.as_dict() == whole.as_dict()
    assert (found.moves, found.blunders(None)) == (whole.moves, whole.blunders(None))
    assert np.array_equal(found.occupancy, whole.occupancy)
    everywhere = np.arange(task.game.num_states)
    assert np.array_equal(found.agent.likeliest(everywhere), whole.agent.likeliest(everywhere))


@pytest.mark.usefixtures("large")
def test_the_network_is_called_where_the_agent_can_be_met_and_nowhere_else():
    task = make_task("FourTwoOneMatch", tokens=3, faces=2)
    function = Network(task)
    found = exactdice.score(exactdice.from_network(function, task), task)
    game = task.game
    met = np.flatnonzero(found.occupancy > 0)
    decisions = met[game.mask(met).sum(axis=1) > 1]
    seen = game.observe(decisions, task.seat)
    wanted = set(np.ravel_multi_index(tuple(seen.T), game.observation_sizes).tolist())
    states = np.arange(game.num_states)
    assert wanted <= function.called
    assert len(function.called - wanted) <= 1  # and one state when the network was given
    assert len(wanted) < 0.5 * (game.mask(states).sum(axis=1) > 1).sum()


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("laws", [0, called.LAWS])
def test_a_network_that_plays_by_chance_or_acts_illegally_is_scored_alike(laws, monkeypatch):
    monkeypatch.setattr(called, "LAWS", laws)
    task = make_task("ShutTheBox", tiles=3)
    for deterministic, masked in ((False, True), (True, False), (False, False)):
        network = exactdice.from_network(Network(task), task, deterministic, masked)
        found = exactdice.score(network, task, masked=masked)
        assert isinstance(found.agent, CalledPolicy)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(called, "LARGE", 2**17)
            patch.setattr(called, "LAWS", 2**27)
            whole = exactdice.score(network, task, masked=masked)
        assert {**found.as_dict(), "error_bound": 0} == {**whole.as_dict(), "error_bound": 0}
        assert whole.error_bound <= found.error_bound < 2 * whole.error_bound


def test_a_network_that_was_trained_since_is_refused(monkeypatch):
    monkeypatch.setattr(called, "LARGE", 0)
    task = make_task("ShutTheBox", tiles=4)
    function = Network(task)
    agent = exactdice.as_policy(exactdice.from_network(function, task), task)
    score = exactdice.score(exactdice.from_network(function, task), task)
    assert isinstance(score.agent, CalledPolicy)
    states = np.arange(task.game.num_states)
    met = np.flatnonzero(score.occupancy)
    before = score.agent.likeliest(met)
    function.table = -function.table
    assert np.array_equal(score.agent.likeliest(met), before)  # it is remembered
    with pytest.raises(ValueError, match="answer alike to an observation every time"):
        score.agent.likeliest(states)
    assert exactdice.score(agent, task).value == score.value  # a table


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("kind", ["model", "policy", "normalised", "stochastic", "module"])
def test_the_agent_of_a_score_keeps_the_network_that_was_scored(kind, monkeypatch):
    monkeypatch.setattr(called, "LAWS", 0)  # laws are not kept in a table
    env = gym.make("exactdice/ShutTheBox-v0", tiles=4, encoding="one_hot_float")
    vector = DummyVecEnv([lambda: env])
    if kind == "normalised":
        vector = VecNormalize(vector)
        vector.obs_rms.mean += np.linspace(0, 1, vector.obs_rms.mean.size)
    model = PPO("MlpPolicy", vector, seed=0, n_steps=8, batch_size=8, device="cpu")
    with th.no_grad():
        model.policy.action_net.weight.mul_(100)
    sizes = env.observation_space.shape[0], env.action_space.n
    module = th.nn.Sequential(th.nn.Linear(sizes[0], 8), th.nn.Tanh(), th.nn.Linear(8, sizes[1]))
    given = {"policy": model.policy, "module": module}.get(kind, model)
    options = {"deterministic": kind != "stochastic"}
    if kind == "policy":
        options["observations"] = np.asarray
    before = exactdice.score(given, env, **options)
    with th.no_grad():
        for weights in [*model.policy.parameters(), *module.parameters()]:
            weights.mul_(-1)
        if kind == "normalised":
            vector.obs_rms.mean -= 5
    states = np.arange(before.task.game.num_states)
    laws = before.agent.probabilities(states)
    assert exactdice.score(laws, env, deterministic=False).value == pytest.approx(before.value)
    after = exactdice.score(given, env, **options)
    assert after.value != pytest.approx(before.value)


@pytest.mark.usefixtures("large")
def test_an_agent_of_a_score_plays_on_as_a_table():
    """As an opponent, in other processes, and for whoever converts the network by itself."""
    task = make_task("ShutTheBox", tiles=4)
    network = exactdice.from_network(Network(task), task)
    agent, table = exactdice.score(network, task).agent, exactdice.as_policy(network, task)
    assert isinstance(agent, CalledPolicy)
    assert not isinstance(table, CalledPolicy)
    assert pickle.loads(pickle.dumps(agent)) == table
    rng = np.random.default_rng(0)
    states = np.arange(task.game.num_states)
    assert np.array_equal(agent.sample(states, rng), table.actions)
    assert rng.random() == np.random.default_rng(0).random()  # nothing was drawn
    other = Task(task.game, 1, {0: agent})
    assert exactdice.solve(other).value == exactdice.solve(Task(task.game, 1, {0: table})).value


def test_agents_are_held_to_the_legal_actions_or_not_as_they_and_the_score_say():
    task = make_task("ShutTheBox", tiles=3)
    network = exactdice.from_network(Network(task), task)
    with pytest.raises(InputError, match="masked=False must be given to from_network, too"):
        exactdice.score(network, task, masked=False)

    def cheats(_, masks):
        masks[:] = True
        return np.full(len(masks), masks.shape[1] - 1)

    with pytest.raises(ValueError, match="policy must choose legal actions"):
        exactdice.score(cheats, make_task("Greed", max_score=10, sides=3))


def test_a_wrong_law_is_refused_at_the_door_wherever_it_is_wrong(monkeypatch):
    def wrong(observations, masks):
        law = masks / masks.sum(axis=1, keepdims=True)
        law[(observations == [7, 90, 1]).all(axis=1)] *= 0.5
        return law

    task, api = Task(Greed(100)), exactdice
    doors = [api.as_policy, api.occupancy, api.score, api.evaluate]
    doors += [lambda policy, _: gym.make("exactdice/Greed-v0", opponent=policy)]
    for laws, some in ((called.LAWS, doors), (0, doors[2:4])):  # 0: laws are not kept
        monkeypatch.setattr(called, "LAWS", laws)
        for ask in some:
            with pytest.raises(ValueError, match=r"sum to 1, got 0\.5 in state"):
                ask(wrong, task)
