"""Libraries of other people step these environments untouched, where they are installed."""

import gymnasium as gym
import numpy as np
import pytest
from exactdice.envs import MaskInObservation

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries' own


def make(**keywords):
    return gym.make("exactdice/ShutTheBox-OneHot-v0", tiles=4, dice=1, **keywords)


@pytest.mark.parametrize("form", ["", "-OneHot"])
def test_torchrl_makes_every_environment_by_its_id(form):
    torchrl = pytest.importorskip("torchrl.envs")
    env = torchrl.GymEnv(f"exactdice/ShutTheBox{form}-v0", tiles=4, dice=1)
    torchrl.check_env_specs(env)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        torchrl.GymEnv("exactdice/Greed-v0", colour="red")


def test_torchrl_keeps_to_the_legal_actions():
    torchrl = pytest.importorskip("torchrl.envs")
    inner = torchrl.GymWrapper(
        MaskInObservation(make(), "torchrl"), categorical_action_encoding=True
    )
    env = torchrl.TransformedEnv(inner, torchrl.ActionMask())
    for seed in range(30):
        env.set_seed(seed)
        game = env.rollout(10)
        assert game["action_mask"].gather(-1, game["action"][:, None]).all()


def test_tianshou_keeps_to_the_legal_actions():
    pytest.importorskip("tianshou")
    from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.env import DummyVectorEnv
    from tianshou.utils.net.common import Net

    env = MaskInObservation(make(), "tianshou")
    network = Net(
        state_shape=env.observation_space["obs"].shape,
        action_shape=env.action_space.n,
        hidden_sizes=[8],
    )
    policy = DiscreteQLearningPolicy(model=network, action_space=env.action_space)
    lanes = DummyVectorEnv([lambda: MaskInObservation(make(), "tianshou") for _ in range(4)])
    buffer = VectorReplayBuffer(400, 4)
    collector = Collector(policy, lanes, buffer)
    collector.reset()
    collector.collect(n_step=400)
    played, _ = buffer.sample(0)
    assert len(played) == 400
    assert not played.obs.mask.all()
    assert np.take_along_axis(played.obs.mask, played.act[:, None], axis=1).all()
