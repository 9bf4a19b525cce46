"""DQN in one file, to read: beside each line that people get wrong stands the audit of that line.

An audit compares the recorded numbers with the exact law of the game, and names the mistake. A
comment such as ``# target-ignores-ends`` has the name of the mistake that the line avoids. The
agent is scored exactly, over all states, instead of by sample games: 1 is the optimum. The tuned
agents of docs/leaderboard.md, after 6 million moves, reach 0.9964 and 0.9999.

python examples/dqn.py --help
python examples/dqn.py                                    # Greed: 0.9930 in 104 s of processor time
python examples/dqn.py --env-id exactdice/FourTwoOne-v0   # 421: 0.9981 in 80 s
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium as gym
import torch
import tyro
from exactdice.diagnose import EpsilonGreedy, Report, Targets, Transitions, ValueUpdate, audit
from torch import Tensor, nn

import exactdice

Moves = dict[str, Tensor]  # arrays by name, shape (move, ...)


@dataclass(frozen=True)
class Args:
    """Train a Q-network with DQN, and print the exact score of its greedy policy."""

    env_id: str = "exactdice/Greed-v0"  # id of the environment
    seed: int = 1  # seed of weights, exploration and dice
    total_timesteps: int = 3_000_000  # moves to train for
    num_envs: int = 256  # games played at once
    num_steps: int = 4  # moves of each game between two updates
    gradients: int = 2  # gradients of an update
    batch_size: int = 2048  # moves of a gradient
    buffer_size: int = 500_000  # moves that the replay buffer holds
    learning_starts: int = 10_000  # moves before the first gradient, all of them random
    target_interval: int = 50_000  # moves between two copies of the network as the target network
    learning_rate: float = 5e-4  # step size of the optimizer at the start; falls linearly to 0
    gamma: float = 1.0  # discount: 1, as only the result of a game counts
    double: bool = False  # whether the online network chooses the action of the target
    exploration_fraction: float = 0.3  # part of training in which random actions become few
    last_epsilon: float = 0.02  # rate of random actions afterwards; it falls linearly from 1
    max_grad_norm: float = 10.0  # largest norm of a gradient
    audits: int = 10  # rounds that are audited and scored
    autoreset: str = "SameStep"  # when a game that has ended begins anew: see main


class Games:
    """Games that are played at once, and what the agent sees in each of them now."""

    def __init__(self, envs: Any, seed: int) -> None:
        self.envs = envs
        low, high = envs.task.game.payoff_range
        self.scale = high - low  # rewards of size 1; the audit notes the factor
        self.see(*envs.reset(seed=seed))

    def see(self, observations: Any, info: dict[str, Any]) -> None:
        """Copy what the agent sees now (stale-observation: some environments overwrite it)."""
        self.observations = torch.tensor(observations)
        self.masks = torch.tensor(info["action_mask"], dtype=torch.bool)

    def step(self, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Make a move in each game; return rewards and whether the games have ended."""
        observations, rewards, terminated, _, info = self.envs.step(actions.numpy())
        self.see(observations, info)  # games are never truncated: all of them end
        return torch.tensor(rewards / self.scale, dtype=torch.float32), torch.tensor(terminated)


class Buffer:
    """The last moves: arrays by name, shape (move, ...)."""

    def __init__(self, size: int) -> None:
        self.size, self.count = size, 0
        self.kept: Moves = {}

    def add(self, moves: Moves) -> None:
        """Write moves over the oldest ones."""
        places = (self.count + torch.arange(len(moves["actions"]))) % self.size
        self.count += len(places)
        for name, new in moves.items():
            # Observations are zeros and ones here: a byte each.
            new = new.to(torch.uint8) if "observations" in name else new
            if name not in self.kept:
                self.kept[name] = torch.zeros(self.size, *new.shape[1:], dtype=new.dtype)
            self.kept[name][places] = new

    def take(self, rows: Tensor) -> Moves:
        """Return the moves of some rows."""
        moves = {name: kept[rows] for name, kept in self.kept.items()}
        return moves | {name: moves[name].float() for name in moves if "observations" in name}

    def sample(self, count: int) -> Moves:
        """Draw moves, all with the same probability."""
        return self.take(torch.randint(min(self.count, self.size), (count,)))

    def newest(self, count: int) -> Moves:
        """Return the moves that were added last."""
        return self.take(torch.arange(self.count - count, self.count) % self.size)


class Networks(NamedTuple):
    """The network that is trained, and the one that it was some time ago."""

    online: nn.Module
    target: nn.Module


def make_network(inputs: int, actions: int) -> nn.Sequential:
    """Build a network of two hidden layers, from observations to action values."""
    hidden = [nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()]
    return nn.Sequential(*hidden, nn.Linear(128, actions))


def epsilon_at(step: int, args: Args) -> float:
    """Return the rate of random actions: 1 until learning starts, then falling linearly."""
    part = (step - args.learning_starts) / (args.exploration_fraction * args.total_timesteps)
    return 1 - min(max(part, 0.0), 1.0) * (1 - args.last_epsilon)


def best_legal(values: Tensor, masks: Tensor) -> Tensor:
    """Return the best legal action of each row, shape (move,)."""
    return values.masked_fill(~masks, -torch.inf).argmax(dim=1)  # illegal-action


@torch.no_grad()
def collect(games: Games, online: nn.Module, epsilon: float, num_steps: int) -> list[Moves]:
    """Play epsilon-greedily; return the moves of each step, shape (lane, ...)."""
    steps = []
    for _ in range(num_steps):
        move = {"observations": games.observations}  # stale-observation: before the action
        best = best_legal(online(games.observations), games.masks)
        drawn = torch.multinomial(games.masks.float(), 1).squeeze(1)
        move["actions"] = torch.where(torch.rand(len(best)) < epsilon, drawn, best)
        move["rewards"], move["terminated"] = games.step(move["actions"])
        # terminated-missing: after the end of a game, these are of the next game.
        move |= {"next_observations": games.observations, "next_masks": games.masks}
        steps.append(move)
    return steps


@torch.no_grad()
def targets_of(batch: Moves, networks: Networks, args: Args) -> Tensor:
    """Return r + gamma max Q(s', a') over the legal a', and r where the game has ended."""
    values = networks.target(batch["next_observations"])  # target-from-online-network
    chosen_by = networks.online(batch["next_observations"]) if args.double else values
    best = best_legal(chosen_by, batch["next_masks"])  # max-over-illegal: the next state's mask
    later = values.gather(1, best[:, None]).squeeze(1)
    later = torch.where(batch["terminated"], 0.0, later)  # target-ignores-ends
    return batch["rewards"] + args.gamma * later  # gamma-wrong


def loss_of(online: nn.Module, batch: Moves, targets: Tensor) -> Tensor:
    """Return the Huber loss of the values of the actions that were taken (value-of-best-action)."""
    values = online(batch["observations"]).gather(1, batch["actions"][:, None]).squeeze(1)
    return nn.functional.smooth_l1_loss(values, targets)


def check(games: Games, moves: Moves, networks: Networks, args: Args, epsilon: float) -> Report:
    """Audit moves that the present network and epsilon have drawn, and their targets."""
    recorded: dict[str, Any] = {key: each for key, each in moves.items() if key != "next_masks"}
    targets = targets_of(moves, networks, args)
    options = networks.target, networks.online, args.gamma, args.double  # double-dqn: as declared
    record = Targets(Transitions(**recorded, drawn=False), targets, *options)
    return audit(games.envs, record, policy=EpsilonGreedy(networks.online, epsilon))


def update(
    networks: Networks, optimizer: torch.optim.Optimizer, buffer: Buffer, args: Args, due: bool
) -> ValueUpdate:
    """Take some gradients, each of a new batch; return the last one, to be audited.

    ``due`` says whether the target network becomes a copy of the online network.
    """
    online, target = networks
    old_target = deepcopy(target)  # for the audit alone, as the next copy
    for _ in range(args.gradients):
        batch = buffer.sample(args.batch_size)
        targets = targets_of(batch, networks, args)
        before, old = deepcopy((online, optimizer))
        optimizer.zero_grad()
        loss_of(online, batch, targets).backward()
        nn.utils.clip_grad_norm_(online.parameters(), args.max_grad_norm)
        optimizer.step()
    if due:  # target-never-updated, target-always-updated
        target.load_state_dict(online.state_dict())
    copies: dict[str, Any] = {"target_before": old_target, "target_after": target, "copied": due}
    copies |= {"optimizer": old, "max_grad_norm": args.max_grad_norm}
    recorded: dict[str, Any] = {key: each for key, each in batch.items() if key != "next_masks"}
    copies |= {"source": Targets(Transitions(**recorded), targets, old_target, gamma=args.gamma)}
    copies |= {"rows": torch.arange(len(targets))}
    return ValueUpdate(batch["observations"], batch["actions"], targets, before, online, **copies)


def main(args: Args) -> dict[str, float]:
    """Train, and return the exact figures at the end."""
    torch.set_num_threads(1)  # the network is too small to gain from more
    torch.manual_seed(args.seed)
    # autoreset: by default Gymnasium ignores the action after the end of a game, and resets;
    # the row that a program records there is no move. SameStep has no such rows.
    kind: dict[str, Any] = {"encoding": "one_hot_float", "autoreset_mode": args.autoreset}
    games = Games(gym.make_vec(args.env_id, args.num_envs, **kind), args.seed)
    online = make_network(games.observations.shape[1], games.masks.shape[1])
    networks = Networks(online, target=deepcopy(online))
    optimizer = torch.optim.Adam(online.parameters(), lr=args.learning_rate)
    buffer, moves = Buffer(args.buffer_size), args.num_envs * args.num_steps  # moves of a round
    rounds = args.total_timesteps // moves
    for number in range(rounds):
        step, audited = number * moves, number % -(-rounds // args.audits) == 0
        epsilon = epsilon_at(step, args)  # epsilon-wrong
        if audited:
            print(f"after {step:,} moves: {exactdice.exact_evaluation(online, games.envs)}")
        for batch in collect(games, online, epsilon, args.num_steps):
            buffer.add(batch)
        if audited:  # the newest moves: older networks have drawn the others
            print(check(games, buffer.newest(moves), networks, args, epsilon))
        if step >= args.learning_starts:
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - number / rounds)
            due = step % args.target_interval < moves
            taken = update(networks, optimizer, buffer, args, due)
            if audited:
                print(audit(games.envs, taken))
    return exactdice.exact_evaluation(online, games.envs)


if __name__ == "__main__":
    print(main(tyro.cli(Args)))
