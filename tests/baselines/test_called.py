"""Networks and functions: called where the agent can be met, refused if they change their mind."""

import pickle

import gymnasium as gym
import numpy as np
import pytest
import torch as th
from exactdice.baselines import Policy, Task, make_task
from exactdice.baselines.policies import called
from exactdice.baselines.policies.called import CalledPolicy
from exactdice.core.positions import states_of
from exactdice.games import Greed, InputError, ShutTheBox
from small_games import SIZED
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from thinning import one_of_each

import exactdice


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


GAMES = [make_task(name, **size).game for name, size in SIZED if name not in ("Greed", "Yahtzee")]
TASKS = [Task(game, seat, "random") for game in GAMES for seat in range(game.num_players)]


@pytest.mark.parametrize("task", one_of_each(lambda task: task.game, TASKS), ids=repr)
def test_scores_are_those_of_a_network_that_is_called_everywhere(task, monkeypatch):
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


GAME = Greed(10, 3)
TASK = Task(GAME)


def certain(actions):
    return np.eye(GAME.num_actions)[actions]


def here(observations):
    """Find a single state."""
    return (observations == [3, 4, 0]).all(axis=1)


def all_alike(masks, action):
    return np.full(len(masks), int(action))


RNG = np.random.default_rng(0)
BAD = {
    "draws": lambda _, masks: (RNG.random(masks.shape) * masks).argmax(axis=1),
    "draws in a state": lambda seen, masks: here(seen) * RNG.integers(0, 2, len(masks)),
    "compares with the batch": lambda seen, _: (seen[:, 0] > seen[:, 0].mean()) * 1,
    "actions to many, a law to one": lambda _, masks: (
        all_alike(masks, 0) if len(masks) > 1 else certain(all_alike(masks, 1))
    ),
    "sees the size": lambda _, masks: all_alike(masks, len(masks) > 1),
    "size 1": lambda _, masks: all_alike(masks, len(masks) == 1),
    "size 2": lambda _, masks: all_alike(masks, len(masks) == 2),  # as none of a halving may have
    "size 7": lambda _, masks: all_alike(masks, len(masks) == 7),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_what_is_no_function_of_the_observation_is_refused(bad):
    message = r"answer alike to an observation every time, and \w+( \w+)? says .* at \[.*\] in a "
    message += r"batch of \d+ and .* in one of \d+: what depends on chance"
    for ask in (lambda: exactdice.score(bad, TASK), lambda: Task(GAME, 1, bad)):
        with pytest.raises(InputError, match=message):
            ask()


def test_what_cannot_be_asked_about_one_observation_is_refused():
    def several(_observations, masks):
        if len(masks) == 1:
            raise RuntimeError("two at least")
        return np.zeros(len(masks), int)

    with pytest.raises(InputError, match="of 1 several says: RuntimeError: two at least"):
        exactdice.score(several, TASK)
    with pytest.raises(InputError, match=r"of shape \(121,\), got int64 of shape \(242,\)"):
        exactdice.score(lambda *_: np.zeros(242, int), TASK)


def test_rounding_of_float32_is_no_change_of_mind():
    """A near tie falls to either action as the batch goes; a network's preferences hardly move."""

    def preferences(seen):
        scores = np.zeros((len(seen), 7))
        scores[:, :2] = 1
        scores[:, 1] += 1e-7 * (-1) ** len(seen)
        return scores

    actions = exactdice.score(exactdice.from_network(preferences, TASK), TASK).agent.actions
    assert set(actions.tolist()) == {1}
    law = exactdice.from_network(preferences, TASK, deterministic=False)
    assert exactdice.score(law, TASK).value > 0
    with pytest.raises(InputError, match="a function says action 1 at"):
        exactdice.score(lambda seen, legal: preferences(seen).argmax(axis=1), TASK)


def test_a_policy_that_is_asked_again_cannot_change_its_mind_later(monkeypatch):
    """Its laws are not kept, but a number for each, so that every state is compared."""
    monkeypatch.setattr(called, "LAWS", 0)

    class Later:
        changed = False

        def __call__(self, observations, masks):
            law = masks / masks.sum(axis=1, keepdims=True)
            if self.changed:
                law[here(observations)] = certain([0])
            return law

    later = Later()
    policy = exactdice.as_policy(later, TASK)
    assert exactdice.evaluate(policy, TASK).value < exactdice.solve(TASK).value
    opponent = Task(GAME, 1, policy)
    later.changed = True
    for ask in (
        lambda: exactdice.score(policy, TASK),
        lambda: exactdice.occupancy(policy, TASK),
        lambda: exactdice.solve(opponent),
    ):
        with pytest.raises(InputError, match=r"Later (gives another law|says .*) at \[3, 4, 0\]"):
            ask()


def test_a_policy_of_ones_own_class_is_held_to_the_rules():
    def own(probabilities):
        shape = GAME.num_states, GAME.num_actions
        methods = {"shape": shape, "probabilities": lambda _, states: probabilities(states)}
        return type("Own", (Policy,), methods)()

    zero = own(lambda states: certain(all_alike(states, 0)))
    assert exactdice.score(zero, TASK).value == 0
    for policy, message in (
        (own(lambda states: certain(RNG.integers(0, 2, len(states)))), "Own says"),
        (own(lambda states: 2 * certain(all_alike(states, 0))), "sum to 1, got 2"),
        (own(lambda states: certain(all_alike(states, 6))), "leave illegal actions alone"),
    ):
        with pytest.raises(InputError, match=message):
            exactdice.score(policy, TASK)
        with pytest.raises(InputError, match=message):
            Task(GAME, 1, policy)


def test_a_sample_of_a_large_game_is_asked_about_again():
    task, asked = Task(ShutTheBox(9, 2, 4), 0, "random"), []

    def first(_, masks):
        asked.append(len(masks))
        return masks.argmax(axis=1)

    exactdice.as_policy(first, task)
    own = len(states_of(task.game, 0))
    assert own > called.SAMPLE
    assert sum(asked) < 1.2 * own + called.SAMPLE
    assert asked.count(1) > called.ALONE
