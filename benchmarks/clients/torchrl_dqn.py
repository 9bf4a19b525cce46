"""DQN of TorchRL, held to the legal actions by its own masks, and its exact score.

TorchRL 0.14.1 installs beside the versions of constraints.txt: pip install torchrl==0.14.1

python benchmarks/clients/torchrl_dqn.py Greed 100000
"""

import sys
import time

import gymnasium as gym
import torch
from exactdice.envs import MaskInObservation
from tensordict.nn import TensorDictSequential
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
from torchrl.envs import ActionMask, GymWrapper, TransformedEnv
from torchrl.modules import EGreedyModule, QValueActor
from torchrl.objectives import DQNLoss, HardUpdate

import exactdice


def main(game: str, steps: int) -> None:
    """Train, and print the exact figures after each fifth."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    bare = gym.make(f"exactdice/{game}-OneHot-v0")
    env = TransformedEnv(
        GymWrapper(MaskInObservation(bare, "torchrl"), categorical_action_encoding=True),
        ActionMask(),
    )
    env.set_seed(0)
    features, actions = *bare.observation_space.shape, int(bare.action_space.n)
    hidden = [nn.Linear(features, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()]
    network = nn.Sequential(*hidden, nn.Linear(128, actions))
    started = time.time()
    actor = QValueActor(
        network, in_keys=["observation"], spec=env.action_spec, action_mask_key="action_mask"
    )
    explore = EGreedyModule(env.action_spec, 1.0, 0.05, steps // 2, action_mask_key="action_mask")
    collector = Collector(
        env, TensorDictSequential(actor, explore), frames_per_batch=64, total_frames=steps
    )
    loss = DQNLoss(actor, action_space="categorical", delay_value=True)
    loss.make_value_estimator(gamma=1.0)
    target = HardUpdate(loss, value_network_update_interval=100)
    replay = TensorDictReplayBuffer(storage=LazyTensorStorage(100_000), batch_size=256)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    done = 0
    for moves in collector:
        replay.extend(moves.reshape(-1))
        explore.step(moves.numel())
        done += moves.numel()
        for _ in range(4 if done > 5_000 else 0):
            loss(replay.sample())["loss"].backward()
            optimizer.step()
            optimizer.zero_grad()
            target.step()
        if done * 5 // steps > (done - moves.numel()) * 5 // steps:
            figures = exactdice.exact_evaluation(network, bare)
            print(", ".join(f"{name} {figure:.6f}" for name, figure in figures.items()), end=", ")
            print(f"{time.time() - started:.1f} s")
    collector.shutdown()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
