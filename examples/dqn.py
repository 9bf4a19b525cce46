"""DQN in one file, to read: beside each line that people get wrong stands the audit of that line.

An audit compares the recorded numbers with the exact law of the game, and names the mistake. A
comment such as ``# target-ignores-ends`` has the name of the mistake that the line avoids. The
agent is scored exactly, over all states, instead of by sample games.

python examples/dqn.py --help
python examples/dqn.py                                    # Greed: 0.9950 in 128 s of processor time
python examples/dqn.py --env-id exactdice/FourTwoOne-v0   # 421: 0.9988 in 82 s

1 is the optimum; the tuned agents of docs/leaderboard.md, after 6 million moves, reach 0.9964 and
0.9998.
"""

import time
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium as gym
import torch
import tyro
from exactdice.diagnose import EpsilonGreedy, Report, Targets, Transitions, ValueUpdate, audit
from exactdice.envs import GameVectorEnv
from gymnasium.vector import AutoresetMode
from torch import Tensor, nn

import exactdice


@dataclass(frozen=True)
class Args:
    """Train a Q-network with DQN, and log the exact regret of its greedy policy."""

    env_id: str = "exactdice/Greed-v0"
    """id of the environment"""
    seed: int = 1
    """seed of weights, exploration and dice"""
    total_timesteps: int = 3_000_000
    """moves to train for"""
    num_envs: int = 256
    """games played at once"""
    num_steps: int = 4
    """moves of each game between two updates"""
    gradients: int = 2
    """gradients of an update"""
    batch_size: int = 2048
    """moves of a gradient"""
    buffer_size: int = 500_000
    """moves that the replay buffer holds"""
    learning_starts: int = 10_000
    """moves before the first gradient, all of them random"""
    target_interval: int = 50_000
    """moves between two copies of the network into the target network"""
    learning_rate: float = 5e-4
    """step size of the optimizer at the start; it falls linearly to 0"""
    gamma: float = 1.0
    """discount: 1, as only the result of a game counts"""
    double: bool = False
    """whether the online network chooses the action of the target (double DQN)"""
    exploration_fraction: float = 0.3
    """part of training in which the rate of random actions falls from 1"""
    last_epsilon: float = 0.02
    """this rate afterwards"""
    max_gradient: float = 10.0
    """largest norm of a gradient"""
    evaluations: int = 10
    """exact evaluations before the one at the end"""
    audit: int = 2
    """evaluations, from the first, at which the newest transitions are audited; 0 for none"""


class Batch(NamedTuple):
    """Transitions, shape (move, ...): also the legal actions after each."""

    observations: Tensor
    actions: Tensor
    rewards: Tensor
    terminated: Tensor
    next_observations: Tensor
    next_masks: Tensor


def make_envs(args: Args) -> GameVectorEnv:
    """Make the environments."""
    # autoreset: by default Gymnasium ignores the action after the end of a game, and resets;
    # the row that a program records there is no move. SAME_STEP has no such rows.
    same = AutoresetMode.SAME_STEP
    envs = gym.make_vec(args.env_id, args.num_envs, encoding="one_hot_float", autoreset_mode=same)
    assert isinstance(envs, GameVectorEnv)
    return envs


class Games:
    """Games that are played at once, and what the agent sees in each of them now."""

    def __init__(self, envs: GameVectorEnv, seed: int) -> None:
        self.envs = envs
        low, high = envs.task.game.payoff_range
        self.scale = high - low  # rewards of size 1; the audit notes the factor
        self._read(*envs.reset(seed=seed))

    def _read(self, observations: Any, info: dict[str, Any]) -> None:
        # stale-observation: some environments overwrite the array that they gave; hence copies.
        self.observations = torch.tensor(observations)
        self.masks = torch.tensor(info["action_mask"], dtype=torch.bool)

    def step(self, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Make a move in each game; return rewards and whether the games have ended."""
        observations, rewards, terminated, _truncated, info = self.envs.step(actions.numpy())
        self._read(observations, info)  # games are never truncated: all of them end
        return torch.tensor(rewards / self.scale, dtype=torch.float32), torch.tensor(terminated)


class Buffer:
    """The last transitions. Observations are zeros and ones here, of a byte each."""

    def __init__(self, size: int, features: int, actions: int) -> None:
        self.kept = Batch(
            observations=torch.zeros(size, features, dtype=torch.uint8),
            actions=torch.zeros(size, dtype=torch.int64),
            rewards=torch.zeros(size),
            terminated=torch.zeros(size, dtype=torch.bool),
            next_observations=torch.zeros(size, features, dtype=torch.uint8),
            next_masks=torch.zeros(size, actions, dtype=torch.bool),
        )
        self.size, self.count = size, 0

    def add(self, batch: Batch) -> None:
        """Write transitions over the oldest ones."""
        places = (self.count + torch.arange(len(batch.actions))) % self.size
        self.count += len(places)
        for kept, new in zip(self.kept, batch, strict=True):
            kept[places] = new.to(kept.dtype)

    def take(self, rows: Tensor) -> Batch:
        """Return some transitions."""
        batch = Batch(*(kept[rows] for kept in self.kept))
        floats = batch.observations.float(), batch.next_observations.float()
        return batch._replace(observations=floats[0], next_observations=floats[1])

    def sample(self, count: int) -> Batch:
        """Draw transitions, all with the same probability."""
        return self.take(torch.randint(min(self.count, self.size), (count,)))

    def newest(self, count: int) -> Batch:
        """Return the transitions that were added last."""
        first = self.count - min(count, self.size)
        return self.take(torch.arange(first, self.count) % self.size)


def make_network(inputs: int, actions: int) -> nn.Sequential:
    """Build a network of two hidden layers, from observations to action values."""
    hidden = [nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()]
    return nn.Sequential(*hidden, nn.Linear(128, actions))


def epsilon_at(step: int, args: Args) -> float:
    """Return the rate of random actions: 1 until learning starts, then falling linearly."""
    part = (step - args.learning_starts) / (args.exploration_fraction * args.total_timesteps)
    return 1 - min(max(part, 0.0), 1.0) * (1 - args.last_epsilon)


def greedy(values: Tensor, masks: Tensor) -> Tensor:
    """Return the best legal action of each row, shape (move,)."""
    return values.masked_fill(~masks, -torch.inf).argmax(dim=1)  # illegal-action


@torch.no_grad()
def law(network: nn.Module, observations: Tensor, masks: Tensor, epsilon: float) -> Tensor:
    """Return the probability of each action under the epsilon-greedy policy, (move, action)."""
    best = nn.functional.one_hot(greedy(network(observations), masks), masks.shape[1])
    return (1 - epsilon) * best + epsilon * masks / masks.sum(dim=1, keepdim=True)


@torch.no_grad()
def collect(games: Games, network: nn.Module, epsilon: float, num_steps: int) -> list[Batch]:
    """Play; return the transitions of each step."""
    batches = []
    for _ in range(num_steps):
        observations = games.observations  # stale-observation: the one before the action
        actions = torch.multinomial(law(network, observations, games.masks, epsilon), 1).squeeze(1)
        rewards, terminated = games.step(actions)
        # terminated-missing: after the end of a game, games.observations are of the next game.
        after = games.observations, games.masks
        batches.append(Batch(observations, actions, rewards, terminated, *after))
    return batches


@torch.no_grad()
def targets_of(batch: Batch, target: nn.Module, online: nn.Module, args: Args) -> Tensor:
    """Return r + gamma max Q(s', a') over the legal a', and r where the game has ended."""
    values = target(batch.next_observations)  # target-from-online-network
    chosen_by = online(batch.next_observations) if args.double else values  # double-dqn
    best = greedy(chosen_by, batch.next_masks)  # max-over-illegal: the mask of the next state
    later = values.gather(1, best[:, None]).squeeze(1)
    later = torch.where(batch.terminated, 0.0, later)  # target-ignores-ends
    return batch.rewards + args.gamma * later  # gamma-wrong


def loss_of(network: nn.Module, batch: Batch, targets: Tensor) -> Tensor:
    """Return the Huber loss of the values of the actions that were taken (value-of-best-action)."""
    values = network(batch.observations).gather(1, batch.actions[:, None]).squeeze(1)
    return nn.functional.smooth_l1_loss(values, targets)


def check(
    games: Games, batch: Batch, target: nn.Module, online: nn.Module, args: Args, epsilon: float
) -> Report:
    """Audit transitions that the present network and epsilon have drawn, and their targets."""
    recorded = batch._asdict()
    del recorded["next_masks"]  # the audit knows them
    record = Targets(
        Transitions(**recorded),
        targets=targets_of(batch, target, online, args),
        network=target,
        online=online,
        gamma=args.gamma,
        double=args.double,
    )

    return audit(games.envs, record, policy=EpsilonGreedy(online, epsilon))  # epsilon-wrong


def update(
    network: nn.Module,
    target: nn.Module,
    optimizer: torch.optim.Optimizer,
    buffer: Buffer,
    args: Args,
    due: bool,
) -> ValueUpdate:
    """Take some gradients, each of a new batch; return the last step, to be audited."""
    old_target = deepcopy(target)
    for _ in range(args.gradients):
        batch = buffer.sample(args.batch_size)
        targets = targets_of(batch, target, network, args)
        loss = loss_of(network, batch, targets)
        before = deepcopy(network)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), args.max_gradient)
        optimizer.step()  # learning-rate-zero
    if due:  # target-never-updated, target-always-updated
        target.load_state_dict(network.state_dict())
    moves = batch.observations, batch.actions, targets
    copies = {"target_before": old_target, "target_after": target, "copied": due}
    return ValueUpdate(*moves, before, network, **copies)


def main(args: Args) -> dict[str, float]:
    """Train, and return the exact figures at the end."""
    torch.set_num_threads(1)  # the network is too small to gain from more
    torch.manual_seed(args.seed)
    games, started = Games(make_envs(args), args.seed), time.time()
    sizes = games.observations.shape[1], games.masks.shape[1]
    network, target = make_network(*sizes), make_network(*sizes)
    target.load_state_dict(network.state_dict())
    optimizer = torch.optim.Adam(network.parameters(), lr=args.learning_rate)
    buffer = Buffer(args.buffer_size, *sizes)
    moves = args.num_envs * args.num_steps  # of a round
    rounds = max(1, args.total_timesteps // moves)
    logged = range(0, rounds, -(-rounds // args.evaluations))

    def log(step: int) -> dict[str, float]:
        figures = exactdice.exact_evaluation(network, games.envs)
        words = ", ".join(f"{name} {figure:.5f}" for name, figure in figures.items())
        print(f"step {step:>9,}: {words}, {time.time() - started:.1f} s")
        return figures

    for number in range(rounds):
        step = number * moves
        epsilon = epsilon_at(step, args)
        for batch in collect(games, network, epsilon, args.num_steps):
            buffer.add(batch)
        if number in logged:
            log(step)
        if number in logged[: args.audit]:  # the newest: older networks have drawn the others
            print(check(games, buffer.newest(moves), target, network, args, epsilon))
        if step >= args.learning_starts:
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - number / rounds)
            due = step % args.target_interval < moves
            taken = update(network, target, optimizer, buffer, args, due)
            if number in logged[: args.audit]:
                print(audit(games.envs, taken))
    return log(rounds * moves)


if __name__ == "__main__":
    main(tyro.cli(Args))
