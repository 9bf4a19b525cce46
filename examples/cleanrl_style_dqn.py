"""DQN in one file, in the style of CleanRL, with its exact regret in the place of sample games.

Only a few lines of it are about this project: the one that makes the environments, the one that
calls ``exact_evaluation``, and the one that writes a certificate, with which agents enter the board
of the benchmark. Copy them into a training loop of your own.

python examples/cleanrl_style_dqn.py --help
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import gymnasium as gym
import torch
import tyro
from torch import nn

import exactdice


@dataclass
class Args:
    """Train a Q-network, held to the legal actions, and log what it gives away."""

    env_id: str = "exactdice/Greed-OneHot-v0"
    """id of an environment that shows floats"""
    seed: int = 1
    """seed of weights, exploration and dice"""
    total_timesteps: int = 500_000
    """moves to train for"""
    num_envs: int = 64
    """games played at once"""
    learning_rate: float = 1e-3
    """step size of the optimizer at the start; it falls linearly to zero"""
    buffer_size: int = 200_000
    """moves that are remembered"""
    batch_size: int = 512
    """moves a gradient is the mean of; one gradient is taken for each move of all games"""
    learning_starts: int = 10_000
    """moves before the first gradient"""
    target_network_frequency: int = 5_000
    """moves between two renewals of the target network"""
    exploration_fraction: float = 0.5
    """part of training in which the rate of random actions falls from 1"""
    end_e: float = 0.05
    """that rate at the end"""
    evaluations: int = 10
    """exact evaluations in a run"""
    tensorboard: str = ""
    """folder to log to, if any"""
    certificate: str = ""
    """file for the certificate of the last policy, if any, such as Greed-1.npz"""


class Replay:
    """The last moves: what was seen, done and paid, and what was seen and legal afterwards."""

    def __init__(self, size: int, features: int, actions: int) -> None:
        self.seen = torch.zeros(size, features)
        self.actions = torch.zeros(size, dtype=torch.int64)
        self.rewards = torch.zeros(size)
        self.over = torch.zeros(size, dtype=torch.bool)
        self.after = torch.zeros(size, features)
        self.legal_after = torch.zeros(size, actions, dtype=torch.bool)
        self.count = 0

    def add(self, *move: torch.Tensor) -> None:
        """Remember a move of each game, over the oldest ones."""
        places = (self.count + torch.arange(len(move[0]))) % len(self.seen)
        self.count += len(move[0])
        kept = (self.seen, self.actions, self.rewards, self.over, self.after, self.legal_after)
        for memory, value in zip(kept, move, strict=True):
            memory[places] = value.to(memory.dtype)

    def targets(self, rows: torch.Tensor, network: nn.Module) -> torch.Tensor:
        """Give r + max Q(s', a') over the legal a', and r where the game is over."""
        with torch.no_grad():
            later = network(self.after[rows]).masked_fill(~self.legal_after[rows], -torch.inf)
        return self.rewards[rows] + torch.where(self.over[rows], 0.0, later.max(dim=1).values)


def make_network(features: int, actions: int) -> nn.Sequential:
    """Make a network of two hidden layers."""
    hidden = [nn.Linear(features, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()]
    return nn.Sequential(*hidden, nn.Linear(128, actions))


def choose(
    network: nn.Module, seen: torch.Tensor, legal: torch.Tensor, epsilon: float
) -> torch.Tensor:
    """Take the best legal action of each game, or at the rate epsilon any legal one."""
    with torch.no_grad():
        values = network(seen)
    values = torch.where(torch.rand(len(seen), 1) < epsilon, torch.rand(legal.shape), values)
    return values.masked_fill(~legal, -torch.inf).argmax(dim=1)


def logger(folder: str) -> Callable[[dict[str, float], int], None]:
    """Print figures, and write them for TensorBoard if there is a folder for it."""
    started, writer = time.time(), None
    if folder:
        from torch.utils.tensorboard import SummaryWriter

        writer = SummaryWriter(folder)

    def log(figures: dict[str, float], step: int) -> None:
        words = ", ".join(f"{name} {figure:.5f}" for name, figure in figures.items())
        print(f"step {step:>9,}: {words}, {time.time() - started:.1f} s")
        if writer is not None:
            for name, figure in figures.items():
                writer.add_scalar(f"exact/{name}", figure, step)

    return log


def learn(
    args: Args, replay: Replay, network: nn.Module, target: nn.Module, optimizer: torch.optim.Adam
) -> None:
    """Take one gradient of the squared error."""
    rows = torch.randint(min(replay.count, args.buffer_size), (args.batch_size,))
    values = network(replay.seen[rows]).gather(1, replay.actions[rows, None]).squeeze(1)
    loss = nn.functional.mse_loss(values, replay.targets(rows, target))
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()


def main(args: Args) -> dict[str, float]:
    """Train, and return the exact figures at the end."""
    torch.set_num_threads(1)  # the network is too small to gain from more
    torch.manual_seed(args.seed)
    envs = gym.make_vec(args.env_id, args.num_envs, autoreset_mode="SameStep")
    box, moves = envs.single_observation_space, envs.single_action_space
    assert isinstance(box, gym.spaces.Box), "choose an encoding of floats"
    assert isinstance(moves, gym.spaces.Discrete)
    features, actions = box.shape[0], int(moves.n)
    network, target = make_network(features, actions), make_network(features, actions)
    optimizer = torch.optim.Adam(network.parameters(), lr=args.learning_rate)
    replay, log = Replay(args.buffer_size, features, actions), logger(args.tensorboard)

    shown, infos = envs.reset(seed=args.seed)
    for step in range(0, args.total_timesteps, args.num_envs):
        done = step / args.total_timesteps
        if step % args.target_network_frequency < args.num_envs:
            target.load_state_dict(network.state_dict())
        if step % (args.total_timesteps // args.evaluations) < args.num_envs:
            log(exactdice.exact_evaluation(network, envs), step)

        seen, legal = torch.as_tensor(shown), torch.as_tensor(infos["action_mask"]).bool()
        epsilon = max(args.end_e, 1 - done / args.exploration_fraction * (1 - args.end_e))
        chosen = choose(network, seen, legal, epsilon)
        shown, rewards, over, _, infos = envs.step(chosen.numpy())
        paid = torch.as_tensor(rewards), torch.as_tensor(over)
        replay.add(seen, chosen, *paid, *map(torch.as_tensor, (shown, infos["action_mask"])))
        if step >= args.learning_starts:
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - done)
            learn(args, replay, network, target, optimizer)

    figures = exactdice.exact_evaluation(network, envs)
    log(figures, args.total_timesteps)
    if args.certificate:
        exactdice.score(network, envs).save(args.certificate)
    return figures


if __name__ == "__main__":
    main(tyro.cli(Args))
