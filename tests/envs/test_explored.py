"""Environments that are copied: their law is what they do, and hostile ones are refused by name."""

import pickle
import random
import time
from functools import lru_cache
from itertools import product
from typing import ClassVar

import gymnasium as gym
import numpy as np
import pytest
import torch
from checkout import ROOT
from exactdice.core import GameError, InputError
from exactdice.envs import explore
from gymnasium.spaces import Box, Dict, Discrete
from minigrid.wrappers import ImgObsWrapper
from stable_baselines3 import PPO
from thinning import later

import exactdice


class Walk(gym.Env):
    """Cells in a row; action 1 goes right, 0 left; the last cell ends the game and pays 1."""

    cells, limit = 5, None

    def __init__(self):
        self.observation_space, self.action_space = Box(0, 99, (1,), np.int64), Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.moves = 0, 0
        return self.seen(), {}

    def seen(self):
        return np.array([self.place])

    def step(self, action):
        self.moves += 1
        self.place = max(0, self.place + (1 if action else -1))
        over = self.place == self.cells
        cut = self.limit is not None and self.moves >= self.limit
        return self.seen(), self.pay(action, over), over, cut, {}

    def pay(self, action, over):
        return float(over)


def simulated(env, depth):
    """The optimum within a number of moves by trying all sequences of actions in the simulator."""

    @lru_cache
    def best(actions):
        env.reset(seed=0)
        paid, over = 0.0, False
        for action in actions:
            _, paid, ended, cut, _ = env.step(action)
            over = ended or cut
        if over or len(actions) == depth:
            return paid if actions else 0.0
        return (paid if actions else 0.0) + max(
            best((*actions, action)) for action in range(env.action_space.n)
        )

    return best(())


class Counting(Walk):
    """The reward at the end falls with the number of moves, as in MiniGrid."""

    limit = 9

    def pay(self, action, over):
        return 1 - 0.9 * self.moves / self.limit if over else 0


class Squared(Counting):
    def pay(self, action, over):
        return 1 - 0.9 * (self.moves / self.limit) ** 2 if over else 0


class Costs(Counting):
    """Each move costs its number."""

    def pay(self, action, over):
        return 5.0 * over - 0.01 * self.moves


class Door(Counting):
    """From the fourth move on, nothing can be won."""

    def pay(self, action, over):
        return float(over and self.moves < 6) + 0.1 * (self.moves >= 6)


class Falling(Walk):
    """A part of the state grows with every move, as the ball of Catch falls."""

    def seen(self):
        return np.array([self.place + 10 * self.moves])

    def step(self, action):
        seen, _, _, _, info = super().step(action)
        return seen, float(self.place == 2), self.moves == 4, False, info


class Fourth(Counting):
    """Each move pays, and the fourth ends the game; so does action 1, which pays nothing."""

    def step(self, action):
        self.moves += 1
        return np.array([0]), 1.0 - action, bool(action) or self.moves == 4, False, {}


class FromOne(Counting):
    """Its counter begins at 1, so that the limit comes a move earlier."""

    def reset(self, **options):
        found = super().reset(**options)
        self.moves = 1
        return found


@pytest.mark.parametrize("kind", [Walk, Counting, Squared, Costs, Door, Falling, Fourth, FromOne])
def test_the_optimum_is_that_of_all_sequences_of_moves(kind):
    depth = 9
    task = explore(kind(), horizon=None if kind.limit or kind is Falling else depth)
    expected = simulated(kind(), depth)
    assert exactdice.solve(task).value == pytest.approx(expected, abs=1e-12)


def test_a_limit_may_be_that_of_the_environment_or_of_a_wrapper():
    assert explore(Counting()).game.horizon == 9
    assert explore(gym.wrappers.TimeLimit(Counting(), 7)).game.horizon == 7
    assert explore(gym.wrappers.TimeLimit(Walk(), 7)).game.horizon == 7
    assert explore(Counting(), horizon=6).game.horizon == 6


class RecordVideo(gym.RewardWrapper):
    """Has the name of a wrapper that keeps a record, and pays twice."""

    def reward(self, reward):
        return 2 * reward


def test_wrappers_that_keep_records_are_known_by_their_package():
    assert exactdice.solve(explore(RecordVideo(Walk()), horizon=9)).value == 2
    recorded = gym.wrappers.RecordEpisodeStatistics(Walk())
    assert exactdice.solve(explore(recorded, horizon=9)).value == 1


class Slippery(Walk):
    """One move in four goes nowhere."""

    def step(self, action):
        slips = self.np_random.random() < 0.25
        place = self.place
        found = super().step(action)
        if slips:
            self.place = place
            return self.seen(), 0.0, False, False, {}
        return found


class Fixed:
    def __init__(self, number):
        self.random = lambda: number


def test_chance_is_listed_by_the_user():
    with pytest.raises(InputError, match=r"draw random numbers.*action 0 in state 0: give chance"):
        explore(Slippery())

    def chance(_env, _action):
        for probability, number in ((0.25, 0.0), (0.75, 1.0)):
            yield probability, lambda env, number=number: setattr(env, "_np_random", Fixed(number))

    task = explore(Slippery(), chance=chance, horizon=8)
    law = {}
    for place in range(5):
        law[place] = {0: [(0.25, place, 0.0, False), (0.75, max(0, place - 1), 0.0, False)]}
        law[place][1] = [
            (0.25, place, 0.0, False),
            (0.75, place + 1, float(place == 4), place == 4),
        ]
    law[5] = {action: [(1.0, 5, 0.0, True)] for action in (0, 1)}
    expected = exactdice.solve(exactdice.from_P(law, 0, horizon=8)).value
    assert exactdice.solve(task).value == pytest.approx(expected)


class Globally(Walk):
    def pay(self, action, over):
        return float(np.random.random() < 0.5)


class Pythonic(Walk):
    def pay(self, action, over):
        return random.random()


class Nested(Walk):
    def reset(self, **options):
        self.world = {"rng": np.random.default_rng(0)}
        return super().reset(**options)

    def pay(self, action, over):
        return self.world["rng"].random()


class Clock(Walk):
    def pay(self, action, over):
        return time.perf_counter()


class Entropy(Walk):
    def pay(self, action, over):
        return float(np.random.default_rng().random() < 0.5)


class Shared(Walk):
    count: ClassVar = [0]

    def pay(self, action, over):
        self.count[0] += 1
        return float(self.count[0] % 3)


class Unseeded(Walk):
    def reset(self, *, seed=None, options=None):
        found = super().reset(seed=seed)
        self.place = int(np.random.default_rng().integers(10**6))
        return found


class Turns(Walk):
    """Begins by turns in two places, both states of the game."""

    begun: ClassVar = [0]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.begun[0] += 1
        self.place = self.begun[0] % 2
        return self.seen(), {}


class Continuous(Walk):
    def step(self, action):
        found = super().step(action)
        self.drift = np.sin(3 * getattr(self, "drift", 0.0) + action + 0.5)
        return found


class Locked(Walk):
    def __init__(self):
        super().__init__()
        self.file = ROOT.joinpath("README.md").open("rb")

    def close(self):
        self.file.close()


class Lambda(Walk):
    def __init__(self):
        super().__init__()
        self.rule = lambda: 1


class Endless(Walk):
    """A reward at the end that counts moves, without a limit."""

    def pay(self, action, over):
        return 1 - 0.01 * self.moves if over else 0


class Nan(Walk):
    def pay(self, action, over):
        return np.nan


class Real(Walk):
    def __init__(self):
        super().__init__()
        self.action_space = Box(0, 1, (1,))


class Failing(Walk):
    def step(self, action):
        raise KeyError("lost")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Globally, "draw random numbers"),
        (Pythonic, "draw random numbers"),
        later((Nested, "states that are met again|answer by its state")),
        (Clock, "answer by its state"),
        (Entropy, "answer by its state|play by the law"),
        (Shared, "answer by its state|play by the law"),
        later((Unseeded, "begin by its seed|show what follows")),
        (Turns, "begin by its seed"),
        later((Continuous, "met again")),
        (Locked, "can be copied"),
        (Lambda, "key must be given, as the content .* cannot be compared"),
        (Endless, "horizon must be given"),
        (Nan, "pay finite numbers"),
        (Real, "Discrete action space, got Box"),
        (Failing, "KeyError"),
    ],
)
def test_hostile_environments_are_refused_by_name(kind, said, monkeypatch):
    monkeypatch.setattr("exactdice.envs.api.explored.MANY", 300)
    monkeypatch.setattr("exactdice.envs.api.explored.DEEP", 30)
    env = kind()
    with pytest.raises((InputError, GameError), match=said):
        explore(env)
    env.close()


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (lambda env: env.place // 2, "show what follows|answer by its state"),
        (lambda env: 0, "show what follows|answer by its state"),
        (lambda env: [env.place], "hashable"),
    ],
)
def test_a_key_that_leaves_something_out_is_refused(key, said):
    with pytest.raises(InputError, match=said):
        explore(Walk(), key=key, horizon=5)


def test_cartpole_is_refused_within_some_thousand_states(monkeypatch):
    monkeypatch.setattr("exactdice.envs.api.explored.MANY", 500)
    with pytest.raises(InputError, match="may be continuous"):
        explore(gym.make("CartPole-v1"))


def test_vectors_and_seeds_are_named():
    for seeds in ((), (0, "a"), (0.5,)):
        with pytest.raises(InputError, match="seeds must be"):
            explore(Walk(), seeds=seeds)
    with pytest.raises(GameError, match="horizon must be"):
        explore(Walk(), horizon=0)
    with pytest.raises(InputError, match="env must be an environment of Gymnasium"):
        explore(gym.vector.SyncVectorEnv([Walk]))


class Blind(Counting):
    """All cells look alike."""

    def seen(self):
        return np.array([0])


def test_what_is_seen_stays_with_the_task():
    """States that look alike get one action; the score says how many there are."""
    task = explore(Blind(), horizon=6)
    right = exactdice.score(lambda seen, legal: 1 - seen[:, 0], task)
    assert right.value == pytest.approx(1 - 0.9 * 5 / 9)
    assert "1 observation" in str(right)
    shapes = set()

    def logits(seen):
        shapes.add(seen.shape[1:])
        return np.tile([0.0, 1.0], (len(seen), 1))

    exactdice.score(exactdice.from_network(logits, task), task)
    assert shapes == {(1,)}
    with pytest.raises(InputError, match=r"observation must be that of one state"):
        exactdice.solve(task).action_values([0])


class Alike(Walk):
    """Nine cells in a random graph, of which three and three look alike."""

    limit = 6

    def __init__(self, seed):
        super().__init__()
        rng = np.random.default_rng(seed)
        self.leads, self.looks = rng.integers(9, size=(9, 2)), rng.integers(3, size=9)
        self.pays = rng.integers(5, size=(9, 2)) * (rng.random((9, 2)) < 0.4)

    def seen(self):
        return np.array([self.looks[self.place]])

    def step(self, action):
        paid = float(self.pays[self.place, action])
        self.place, self.moves = int(self.leads[self.place, action]), self.moves + 1
        return self.seen(), paid, False, self.moves >= self.limit, {}


@pytest.mark.parametrize("seed", range(6))
def test_the_best_policy_without_a_memory_is_that_of_all_of_them(seed):
    task = explore(Alike(seed))
    looks = task.game.view.shown[:, 0]
    values = [
        exactdice.evaluate(np.array(actions)[looks], task).value
        for actions in product((0, 1), repeat=3)
    ]
    found = exactdice.memoryless(task)
    assert found.value == found.bound == pytest.approx(max(values))
    assert exactdice.score(found.actions, task).value == found.value
    assert found.optimum == exactdice.solve(task).value >= found.value
    early = exactdice.memoryless(task, nodes=1)
    assert early.value <= found.value <= early.bound <= found.optimum


class Named(Walk):
    def __init__(self):
        super().__init__()
        self.observation_space = Dict({"place": self.observation_space})

    def seen(self):
        return {"place": super().seen()}


def test_dictionaries_are_solved_and_refused_where_a_policy_must_see_them():
    task = explore(Named(), horizon=6)
    assert exactdice.solve(task).value == 1
    assert 0 < exactdice.score("random", task).value < 1
    with pytest.raises(InputError, match="must show arrays to a policy"):
        exactdice.score(lambda seen, legal: [1] * len(seen), task)


def test_the_environment_stays_as_it_is():
    env = Counting()
    env.reset(seed=3)
    env.step(1)
    before = env.place, env.moves, env.np_random.bit_generator.state
    explore(env)
    assert (env.place, env.moves, env.np_random.bit_generator.state) == before


def test_errors_name_the_door():
    with pytest.raises(TypeError, match=r"exactdice\.explore\(env\) lists an environment that can"):
        exactdice.solve(Walk())


#: Values of levels of seed 0 by ``benchmarks/worlds.py``, which computes each a second time by
#: backward induction over the simulator.
LEVELS = [("MiniGrid-LavaGapS5-v0", 1, 16, 0.946, 0.0363255810619835)]
LONG = [
    ("MiniGrid-Empty-5x5-v0", 1, 26, 0.955, 0.1995229490147541),
    ("MiniGrid-DoorKey-5x5-v0", 1, 153, 0.9604, 0.0238219157245854),
    ("MiniGrid-SimpleCrossingS9N1-v0", 1, 137, 0.9611111111111, 0.0323526447824),
    ("MiniGrid-DoorKey-5x5-v0", 8, 289, 0.96265, 0.0328791274063),
]
LEVELS += [pytest.param(*level, marks=pytest.mark.slow) for level in LONG]


@pytest.mark.parametrize(("level", "levels", "images", "optimum", "blind"), LEVELS)
def test_levels_of_minigrid_have_their_optimum(level, levels, images, optimum, blind):
    task = explore(ImgObsWrapper(gym.make(f"minigrid:{level}")), range(levels))
    assert task.game.view.different == images
    score = exactdice.score("random", task)
    assert (score.optimum, score.value) == pytest.approx((optimum, blind), abs=1e-12)


@pytest.mark.slow
def test_a_model_is_followed_through_images_in_another_order():
    env = ImgObsWrapper(gym.make("minigrid:MiniGrid-Empty-5x5-v0"))
    model = PPO("MlpPolicy", env, n_steps=64, seed=0, device="cpu").learn(64)
    assert type(model.get_env()).__name__ == "VecTransposeImage"
    task = explore(env)
    found = exactdice.score(model, task, deterministic=False).value

    def law(seen, _legal):
        with torch.no_grad():
            images = torch.as_tensor(np.moveaxis(seen, -1, 1).copy())
            return model.policy.get_distribution(images).distribution.probs.double().numpy()

    assert exactdice.score(law, task).value == pytest.approx(found, abs=1e-6)


@pytest.mark.slow
def test_the_command_line_explores(own_games):
    game = own_games("explore:MiniGrid-LavaGapS5-v0")
    two = game(seeds=2)
    second = exactdice.explore(gym.make("MiniGrid-LavaGapS5-v0"), seeds=[1])
    mean = (0.946 + exactdice.solve(second).value) / 2  # both levels are equally likely
    assert exactdice.solve(exactdice.Task(two)).value == pytest.approx(mean)
    assert pickle.loads(pickle.dumps(two)) == two
    with pytest.raises(InputError, match=r"; exactdice.explore\(env\) lists an environment"):
        own_games("gym:MiniGrid-LavaGapS5-v0")


def test_explore_is_a_word_of_every_command(own_games, prints, run):
    own_games("explore:MiniGrid-LavaGapS5-v0")
    words = ("gym:MiniGrid-LavaGapS5-v0", "--explore")
    assert "optimal value 0.9415" in prints("solve", *words, "--env", "seeds", "2")
    assert '"value": 0.03632' in prints("score", "random", *words, "--json")
    assert "--explore must go with gym:ID" in run("solve", "Greed", "--explore")[2]
