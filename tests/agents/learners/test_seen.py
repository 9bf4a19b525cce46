"""What a model's network is given: all that stood between it and the game, or a refusal."""

import gymnasium as gym
import numpy as np
import pytest
from exactdice.envs import Opaque
from exactdice.games import InputError
from gymnasium.wrappers import TransformObservation
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import is_wrapped
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecNormalize

import exactdice


def make(**keywords):
    return gym.make("exactdice/Greed-v0", max_score=10, sides=3, **keywords)


def ppo(env, **keywords):
    return PPO("MlpPolicy", env, n_steps=64, seed=3, device="cpu", **keywords)


class Mirror(gym.Wrapper):
    """Changes observations, and is no wrapper of observations by its class."""

    def reset(self, **keywords):
        seen, info = self.env.reset(**keywords)
        return seen[[1, 0, 2]], info

    def step(self, action):
        seen, *others = self.env.step(action)
        return seen[[1, 0, 2]], *others


class Rewards(gym.RewardWrapper):
    """A wrapper of rewards by its class, which changes observations too."""

    def reward(self, reward):
        return reward

    def reset(self, **keywords):
        seen, info = self.env.reset(**keywords)
        return seen[[1, 0, 2]], info


class Inside(gym.Env):
    """Has an environment inside, and is no wrapper."""

    def __init__(self):
        self.env = make()
        self.observation_space, self.action_space = (
            self.env.observation_space,
            self.env.action_space,
        )

    def reset(self, **keywords):
        return self.env.reset(**keywords)

    def step(self, action):
        return self.env.step(action)


def mirrored():
    return TransformObservation(make(), lambda seen: seen[[1, 0, 2]], make().observation_space)


def mirror():
    return Mirror(make())


def rewards():
    return Rewards(make())


def bare():
    return make().unwrapped


def watched():
    return Monitor(make())


def test_two_normalisations_are_applied_one_after_the_other():
    env = make(encoding="scaled")
    vector = VecNormalize(VecNormalize(DummyVecEnv([lambda: make(encoding="scaled")])))
    model = ppo(vector).learn(128)
    shown = env.unwrapped.sight.show(env.unwrapped.task.game.observe(np.arange(242), 0))
    given = vector.normalize_obs(vector.venv.normalize_obs(shown))
    actions = model.predict(given, deterministic=True)[0]
    right = exactdice.score(actions, env, masked=False).value
    one = exactdice.score(model, env, masked=False, observations=vector.normalize_obs).value
    assert right != pytest.approx(one, abs=1e-6)
    model_alone = PPO("MlpPolicy", make(encoding="scaled"), device="cpu")
    model_alone.set_parameters(model.get_parameters())
    for policy, observations in ((model, None), (model, vector), (model_alone, vector)):
        found = exactdice.score(policy, env, masked=False, observations=observations)
        assert found.value == pytest.approx(right, abs=1e-12)


@pytest.mark.parametrize("wrap", [mirror, rewards, Inside])
def test_what_cannot_be_looked_into_is_refused_in_this_process(wrap):
    with pytest.raises(InputError, match=f"trained under .* {wrap().__class__.__name__}, which"):
        exactdice.score(ppo(DummyVecEnv([wrap])), make())


@pytest.mark.parametrize(
    ("start", "opaque"),
    [
        (make, False),
        (bare, False),
        (watched, False),
        (mirror, True),
        (mirrored, True),
        (rewards, True),
        (lambda: Monitor(Inside()), True),
    ],
)
def test_what_another_process_says_of_its_environment(start, opaque):
    """It is asked whether the environment is wrapped by a class."""
    assert is_wrapped(start(), Opaque) == opaque


@pytest.mark.slow
def test_environments_in_other_processes_are_looked_into():
    vector = SubprocVecEnv([make, bare, watched])
    try:
        model = ppo(vector)
        assert exactdice.score(model, make()).value == exactdice.score(ppo(make()), make()).value
        assert vector.reset().shape == (3, 3)
    finally:
        vector.close()
    with pytest.raises(InputError, match="its SubprocVecEnv is closed: score it before that"):
        exactdice.score(model, make())
    for start in (mirror, mirrored, rewards, Inside):
        vector = SubprocVecEnv([make, start])
        try:
            model = ppo(vector)
            with pytest.raises(InputError, match="a wrapper in another process, which cannot"):
                exactdice.score(model, make())
            expected = exactdice.score(ppo(mirrored()), mirrored()).value
            assert exactdice.score(model, mirrored()).value == expected
            assert vector.reset().shape == (2, 3)
        finally:
            vector.close()


def test_a_policy_alone_is_taken_only_with_what_its_network_is_given():
    """It looks the same, whether its model was trained under wrappers and normalisation or not."""
    env = make(encoding="scaled")
    vector = VecNormalize(DummyVecEnv([lambda: make(encoding="scaled")]))
    model = ppo(vector).learn(128)
    for place in (env, env.unwrapped.task):
        with pytest.raises(
            InputError, match="^observations must be given for ActorCriticPolicy, a"
        ):
            exactdice.score(model.policy, place)
    right = exactdice.score(model, env).value
    assert exactdice.score(model.policy, env, observations=vector).value == right
    wrapped = ppo(mirrored())
    for place in (make(), mirrored()):
        with pytest.raises(InputError, match="a policy without its model"):
            exactdice.score(wrapped.policy, place)
    right = exactdice.score(wrapped, make()).value
    as_shown = {"observations": lambda seen: seen}
    assert exactdice.score(wrapped.policy, mirrored(), **as_shown).value == right


def test_an_actor_with_an_extractor_of_its_own_is_scored_as_it_plays():
    env = make(encoding="scaled")
    model = ppo(env, policy_kwargs={"share_features_extractor": False})
    game = env.unwrapped.task.game
    shown = env.unwrapped.sight.show(game.observe(np.arange(242), 0))
    actions = model.predict(shown, deterministic=True)[0]
    found = exactdice.score(model, env, masked=False)
    assert found.value == exactdice.score(actions, env, masked=False).value
    law = model.policy.get_distribution(model.policy.obs_to_tensor(shown)[0]).distribution.probs
    drawn = exactdice.score(model, env, masked=False, deterministic=False).value
    right = exactdice.score(law.detach().numpy(), env, masked=False).value
    assert drawn == pytest.approx(right, abs=1e-6)
