"""DQN of Tianshou, held to the legal actions by its own masks, and its exact score.

Tianshou 2.0.1 installs beside the versions of constraints.txt but for pandas, of which it wants
one below 3: pip install 'tianshou==2.0.1' 'pandas<3'

python benchmarks/clients/tianshou_dqn.py Greed 100000
"""

import sys
import time

import gymnasium as gym
import torch
from exactdice.envs import MaskInObservation
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import exactdice

LANES = 16


def main(game: str, steps: int) -> None:
    """Train, and print the exact figures after each fifth."""
    torch.set_num_threads(1)
    torch.manual_seed(0)

    def make() -> gym.Env:
        return MaskInObservation(gym.make(f"exactdice/{game}-OneHot-v0"), "tianshou")

    env, started = make(), time.time()
    features, actions = env.observation_space["obs"].shape, env.action_space.n
    network = Net(state_shape=features, action_shape=actions, hidden_sizes=[128, 128])
    policy = DiscreteQLearningPolicy(
        model=network, action_space=env.action_space, eps_training=1.0, eps_inference=0.0
    )
    optim = AdamOptimizerFactory(lr=1e-3)
    algorithm = DQN(policy=policy, optim=optim, gamma=1.0, target_update_freq=100)
    lanes = DummyVectorEnv([make for _ in range(LANES)])
    lanes.seed(0)
    buffer = VectorReplayBuffer(100_000, LANES)
    collector = Collector(algorithm, lanes, buffer, exploration_noise=True)
    agent = exactdice.from_network(lambda seen: network(seen)[0], env)

    for fifth in range(5):
        policy.set_eps_training(max(0.05, 1 - fifth / 3))
        algorithm.run_training(
            OffPolicyTrainerParams(
                training_collector=collector,
                max_epochs=1,
                epoch_num_steps=steps // 5,
                collection_step_num_env_steps=LANES,
                batch_size=256,
                update_step_num_gradient_steps_per_sample=1 / 8,
                verbose=False,
                show_progress=False,
            )
        )
        figures = exactdice.exact_evaluation(agent, env)
        print(", ".join(f"{name} {figure:.6f}" for name, figure in figures.items()), end=", ")
        print(f"{time.time() - started:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
