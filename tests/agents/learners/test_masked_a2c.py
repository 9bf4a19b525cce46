"""A2C with masks: where every action is legal, each update is that of stable-baselines3."""

import pytest
import torch
from exactdice.agents.learners.masked_a2c import MaskedA2C
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.baselines import Task
from exactdice.games import Greed, ShutTheBox
from stable_baselines3 import A2C

import exactdice


@pytest.mark.parametrize("options", [{}, {"use_rms_prop": False, "normalize_advantage": True}])
def test_where_all_actions_are_legal_it_learns_as_the_original(options):
    """Sums of batches may differ in their last bit, and updates amplify them."""
    weights = []
    for model in (A2C, MaskedA2C):
        env = GameVecEnv(Task(Greed(10, 3, max_dice=5)), 8)
        trained = model("MlpPolicy", env, n_steps=4, ent_coef=0.01, seed=0, device="cpu", **options)
        trained.learn(320)
        weights.append([weight.detach().clone() for weight in trained.policy.parameters()])
    for own, other in zip(*weights, strict=True):
        torch.testing.assert_close(own, other, rtol=1e-3, atol=1e-4)


def test_it_never_takes_an_illegal_action():
    env = GameVecEnv(Task(ShutTheBox(6)), 8)
    model = MaskedA2C("MlpPolicy", env, seed=0, device="cpu")
    model.learn(800)
    assert model.batch_size == 40
    assert not any("illegal_action" in info for info in model.ep_info_buffer)
    assert exactdice.score(model, env).masked
