"""PPO in one file, to read: beside each line that people get wrong stands the audit of that line.

An audit compares the recorded numbers with the exact law of the game, and names the mistake. A
comment such as ``# gae-ends-late`` has the name of the mistake that the line avoids. The agent is
scored exactly, over all states, instead of by sample games: 1 is the optimum. The tuned agents of
docs/leaderboard.md, after 5 and 6 million moves, reach 0.9975 and 0.9988.

python examples/ppo.py --help
python examples/ppo.py                                    # Greed: 0.9968 in 77 s of processor time
python examples/ppo.py --env-id exactdice/FourTwoOne-v0   # 421: 0.9954 in 56 s
"""

import csv
import time
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import torch
import tyro
from exactdice.diagnose import PolicyUpdate, Report, Rollout, audit
from torch import Tensor, nn
from torch.distributions import Categorical

import exactdice

Steps = dict[str, Tensor]  # arrays by name, shape (time, lane, ...) or (move, ...)


@dataclass(frozen=True)
class Args:
    """Train an actor and a critic with PPO, and print the exact score of the actor."""

    env_id: str = "exactdice/Greed-v0"  # id of the environment
    seed: int = 1  # seed of weights, actions and dice
    total_timesteps: int = 3_000_000  # moves to train for
    num_envs: int = 1024  # games played at once, the lanes of a rollout
    num_steps: int = 8  # moves of each game in a rollout
    epochs: int = 2  # passes over a rollout
    batch_size: int = 2048  # moves of a gradient
    learning_rate: float = 3e-3  # step size of the optimizer at the start; falls linearly to 0
    gamma: float = 1.0  # discount: 1, as only the result of a game counts
    gae_lambda: float = 0.3  # lambda of generalised advantage estimation
    clip: float = 0.2  # change of a probability, relative to it, up to which it is rewarded
    ent_coef: float = 0.2  # weight of the entropy bonus at the start; falls linearly to 0
    vf_coef: float = 0.5  # weight of the critic's loss
    max_grad_norm: float = 0.5  # largest norm of a gradient
    audits: int = 10  # rounds that are audited and scored
    autoreset: str = "SameStep"  # when a game that has ended begins anew: see main
    log: str = ""  # file .csv for the exact scores, which exactdice plot curves draws


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


class Agent(nn.Module):
    """An actor, which gives logits, and a critic, which gives values."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.actor = make_network(inputs, actions, last_gain=0.01)  # begins almost uniform
        self.critic = make_network(inputs, 1, last_gain=1.0)

    def values(self, observations: Any) -> Tensor:
        """Return the critic's values, shape (move,)."""
        # values-broadcast: without squeeze, (move, 1) minus (move,) is a square.
        return self.critic(torch.as_tensor(observations)).squeeze(1)

    def law(self, observations: Tensor, masks: Tensor) -> Categorical:
        """Return the law of actions (log-probs-unmasked, illegal-action: of legal ones alone)."""
        return Categorical(logits=self.actor(observations).masked_fill(~masks, -torch.inf))


def make_network(inputs: int, outputs: int, last_gain: float) -> nn.Sequential:
    """Build two hidden layers, with orthogonal weights."""
    layers = [nn.Linear(inputs, 128), nn.Linear(128, 128), nn.Linear(128, outputs)]
    for layer, gain in zip(layers, (2**0.5, 2**0.5, last_gain), strict=True):
        nn.init.orthogonal_(layer.weight, gain)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])


@torch.no_grad()
def collect(games: Games, agent: Agent, num_steps: int) -> tuple[Steps, Tensor]:
    """Play; return the moves, shape (time, lane, ...), and the values after the last one."""
    rows = []
    for _ in range(num_steps):
        # shifted-actions, stale-observation: an action belongs to the observation before it.
        row = {"observations": games.observations, "masks": games.masks}
        law = agent.law(games.observations, games.masks)
        row["actions"] = law.sample()
        row["log_probs"] = law.log_prob(row["actions"])
        row["values"] = agent.values(games.observations)  # shifted-values: before the move
        row["rewards"], row["terminated"] = games.step(row["actions"])  # shifted-rewards
        rows.append(row)
    steps = {name: torch.stack([row[name] for row in rows]) for name in rows[0]}
    return steps, agent.values(games.observations)


def advantages_of(steps: Steps, last_values: Tensor, args: Args) -> Tensor:
    """Estimate advantages, shape (time, lane), by GAE (Schulman et al. 2016, eq. 16)."""
    advantages, ahead = torch.zeros_like(steps["values"]), torch.zeros(())
    next_values = last_values  # gae-last-value-missing: not 0, as the last games go on
    for row in reversed(range(len(advantages))):
        # gae-ignores-ends, gae-ends-late: whether the move of this row has ended the game.
        goes_on = args.gamma * ~steps["terminated"][row]
        delta = steps["rewards"][row] + goes_on * next_values - steps["values"][row]
        ahead = advantages[row] = delta + goes_on * args.gae_lambda * ahead  # lambda-wrong
        next_values = steps["values"][row]
    return advantages


def check(games: Games, agent: Agent, steps: Steps, last_values: Tensor, args: Args) -> Report:
    """Audit a rollout before the update, which changes actor and critic."""
    recorded: dict[str, Any] = {name: steps[name] for name in steps.keys() - {"masks"}}
    last: dict[str, Any] = {"last_values": last_values, "last_observations": games.observations}
    rollout = Rollout(**recorded, **last, gamma=args.gamma, gae_lambda=args.gae_lambda)
    return audit(games.envs, rollout, policy=agent.actor, critic=agent.values)


def losses(agent: Agent, batch: Steps, clip: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return the loss of the actor, the loss of the critic, and the entropy, of a batch of moves.

    Advantages and returns are constants: no gradient flows through them (advantages-not-detached).
    """
    law = agent.law(batch["observations"], batch["masks"])  # mask-missing-in-update
    # ratio-inverted: new over old probabilities, 1 before the first gradient.
    ratio = (law.log_prob(batch["actions"]) - batch["log_probs"]).exp()
    advantages = batch["advantages"]
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    clipped = ratio.clamp(1 - clip, 1 + clip)
    # clip-without-minimum: the worse of the two, so that a step too far can be taken back.
    actor = -torch.min(ratio * advantages, clipped * advantages).mean()
    critic = nn.functional.mse_loss(agent.values(batch["observations"]), batch["returns"])
    return actor, critic, law.entropy().mean()


def update(
    agent: Agent, optimizer: torch.optim.Optimizer, steps: Steps, args: Args, left: float
) -> PolicyUpdate:
    """Improve actor and critic by the moves of a rollout; return the last gradient step.

    ``left`` is the part of training that is left.
    """
    rate = args.learning_rate * left
    optimizer.param_groups[0]["lr"] = rate  # learning-rate-zero
    ent_coef = args.ent_coef * left
    rollout = {name: each.flatten(0, 1) for name, each in steps.items()}  # lanes-mixed: all alike
    for _ in range(args.epochs):
        for rows in torch.split(torch.randperm(len(rollout["actions"])), args.batch_size):
            batch = {name: each[rows] for name, each in rollout.items()}
            actor, critic, entropy = losses(agent, batch, args.clip)
            loss = actor + args.vf_coef * critic - ent_coef * entropy  # entropy-sign
            before, old = deepcopy((agent, optimizer))  # for the audit alone
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            optimizer.step()
    names = "observations", "actions", "log_probs", "advantages", "returns"
    record: dict[str, Any] = {name: batch[name] for name in names}
    record |= {"before": before, "after": agent, "actor": before.actor, "critic": before.values}
    recorded: dict[str, Any] = {name: steps[name] for name in steps.keys() - {"masks"}}
    record |= {"rollout": Rollout(**recorded), "rows": rows}
    record |= {"optimizer": old, "learning_rate": rate}
    record |= {"clip": args.clip, "ent_coef": ent_coef, "vf_coef": args.vf_coef}
    return PolicyUpdate(**record, max_grad_norm=args.max_grad_norm)


def main(args: Args) -> dict[str, float]:
    """Train, and return the exact figures at the end."""
    torch.set_num_threads(1)  # the networks are too small to gain from more
    torch.manual_seed(args.seed)
    # autoreset: by default Gymnasium ignores the action after the end of a game, and resets;
    # the row that a program records there is no move. SameStep has no such rows.
    kind: dict[str, Any] = {"encoding": "one_hot_float", "autoreset_mode": args.autoreset}
    games = Games(gym.make_vec(args.env_id, args.num_envs, **kind), args.seed)
    agent = Agent(games.observations.shape[1], games.masks.shape[1])
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    moves = args.num_envs * args.num_steps  # of a round
    rounds = args.total_timesteps // moves
    begun = time.monotonic()
    for number in range(rounds):
        audited = number % -(-rounds // args.audits) == 0
        if audited:
            figures = exactdice.exact_evaluation(agent.actor, games.envs)
            print(f"after {number * moves:,} moves: {figures}")
            write(args.log, number * moves, begun, figures)
        steps, last_values = collect(games, agent, args.num_steps)
        steps["advantages"] = advantages_of(steps, last_values, args)
        steps["returns"] = steps["advantages"] + steps["values"]  # returns-without-values
        if audited:
            print(check(games, agent, steps, last_values, args))
        step = update(agent, optimizer, steps, args, left=1 - number / rounds)
        if audited:
            print(audit(games.envs, step))
    figures = exactdice.exact_evaluation(agent.actor, games.envs)
    write(args.log, rounds * moves, begun, figures)
    return figures


def write(log: str, moves: int, begun: float, figures: dict[str, float]) -> None:
    """Add a line to the log; the first one has the names of the columns."""
    if log:
        path, spent = Path(log), time.monotonic() - begun
        row = {"timesteps": moves, "seconds": spent, **figures}
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a" if moves else "w", encoding="utf-8", newline="") as file:
            lines = csv.DictWriter(file, row)
            if not moves:
                lines.writeheader()
            lines.writerow(row)


if __name__ == "__main__":
    print(main(tyro.cli(Args)))
