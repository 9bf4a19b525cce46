"""Enter Tianshou's Rainbow for a track: noisy, dueling, categorical, n-step, with priorities.

Tianshou holds it to the legal actions by masks. The installation is that of tianshou_dqn.py.

python benchmarks/clients/tianshou_track.py --track exactdice-10k --folder runs/tianshou
"""

import dataclasses
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import torch
import tyro
from entry import Cell, cells, parser
from exactdice.envs import MaskInObservation
from tianshou.algorithm import RainbowDQN
from tianshou.algorithm.modelfree.c51 import C51Policy
from tianshou.algorithm.optim import AdamOptimizerFactory, LRSchedulerFactoryLinear
from tianshou.data import Collector, PrioritizedVectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import NoisyLinear
from tianshou.utils.torch_utils import policy_within_training_step

import exactdice


@dataclasses.dataclass(frozen=True)
class Rainbow:
    """Hyperparameters; the defaults are the best of 40 trials on exactdice-10k."""

    lanes: int = 8
    """games at once; one step of all of them is a rollout"""
    updates: int = 2
    """gradient steps after each rollout"""
    batch: int = 32
    learning_rate: float = 2.33e-3
    """falls linearly to 0"""
    learning_starts: float = 0.02
    """part of the moves before the first update"""
    buffer: int = 100_000
    n_step: int = 1
    target: int = 56
    """updates between two copies to the target network"""
    atoms: int = 11
    width: int = 64
    noise: float = 0.109
    """initial standard deviation of the noisy layers"""
    alpha: float = 0.703
    """exponent of the priorities"""
    beta: float = 0.4
    """exponent of the weights against the priorities' bias; rises to 1"""


def train(cell: Cell, settings: Rainbow) -> None:
    """Train on one cell."""
    np.random.seed(cell.seed)  # noqa: NPY002  Tianshou draws from numpy's global generator
    torch.manual_seed(cell.seed)

    def make() -> gym.Env[Any, Any]:
        return MaskInObservation(gym.make(cell.env_id), "tianshou")

    lanes = DummyVectorEnv([make for _ in range(settings.lanes)])
    lanes.seed([1000 * cell.seed + lane for lane in range(settings.lanes)])
    rollouts = cell.track.whole(settings.lanes) // settings.lanes
    warmup = int(settings.learning_starts * rollouts)
    buffer = PrioritizedVectorReplayBuffer(
        settings.buffer, settings.lanes, alpha=settings.alpha, beta=settings.beta
    )
    algorithm, agent = make_algorithm(cell, settings, (rollouts - warmup) * settings.updates)
    policy = algorithm.policy.train()
    collector = Collector[Any](algorithm, lanes, buffer)
    collector.reset()
    with policy_within_training_step(policy):
        for rollout in range(rollouts):
            cell.play(settings.lanes, agent)
            done = rollout / rollouts
            buffer.set_beta(settings.beta + (1 - settings.beta) * done)
            collector.collect(n_step=settings.lanes)
            if rollout >= warmup:
                for _ in range(settings.updates):
                    algorithm.update(buffer, settings.batch)
    cell.finish(agent, dataclasses.asdict(settings))


def make_algorithm(cell: Cell, settings: Rainbow, updates: int) -> tuple[RainbowDQN, Any]:
    """Return Rainbow with its network, and its greedy policy without noise."""
    layer = partial(NoisyLinear, noisy_std=settings.noise)
    head = {"hidden_sizes": [settings.width], "linear_layer": layer}
    game = cell.env.unwrapped.task.game
    low, high = game.payoff_range
    policy = C51Policy(
        model=Net(
            state_shape=cell.env.observation_space.shape,
            action_shape=cell.env.action_space.n,
            hidden_sizes=[settings.width],
            num_atoms=settings.atoms,
            softmax=True,
            dueling_param=(head, head),
        ),
        action_space=cell.env.action_space,
        num_atoms=settings.atoms,
        v_min=low,
        v_max=high,
    )
    falling = LRSchedulerFactoryLinear(1, updates, 1)
    optim = AdamOptimizerFactory(lr=settings.learning_rate).with_lr_scheduler_factory(falling)
    algorithm = RainbowDQN(
        policy=policy,
        optim=optim,
        gamma=1.0,
        n_step_return_horizon=settings.n_step,
        target_update_freq=settings.target,
    )

    def action_values(seen: torch.Tensor) -> torch.Tensor:
        policy.eval()
        values = policy.compute_q_value(policy.model(seen)[0], None)
        policy.train()
        return values

    return algorithm, exactdice.from_network(action_values, cell.env)


def main() -> None:
    """Train on every cell of the track."""
    options, rest = parser("Enter Tianshou's Rainbow for a track.").parse_known_args()
    settings = tyro.cli(Rainbow, args=rest)
    for cell in cells(options, "tianshou_rainbow", masked=True):
        train(cell, settings)


if __name__ == "__main__":
    main()
