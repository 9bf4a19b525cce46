"""PPO in one file, to read: beside each line that people get wrong stands the audit of that line.

An audit compares the recorded numbers with the exact law of the game, and names the mistake. A
comment such as ``# gae-ends-late`` has the name of the mistake that the line avoids. The agent is
scored exactly, over all states, instead of by sample games.

python examples/ppo.py --help
python examples/ppo.py                                    # Greed: 0.9971 in 90 s of processor time
python examples/ppo.py --env-id exactdice/FourTwoOne-v0   # 421: 0.9995 in 53 s

1 is the optimum; the tuned agents of docs/leaderboard.md, after 6 million moves, reach 0.9979 and
0.9992.
"""

import time
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import gymnasium as gym
import torch
import tyro
from exactdice.diagnose import PolicyUpdate, Report, Rollout, audit
from exactdice.envs import GameVectorEnv
from gymnasium.vector import AutoresetMode
from torch import Tensor, nn

import exactdice


@dataclass(frozen=True)
class Args:
    """Train an actor and a critic with PPO, and log the exact regret of the actor."""

    env_id: str = "exactdice/Greed-v0"
    """id of the environment"""
    seed: int = 1
    """seed of weights, actions and dice"""
    total_timesteps: int = 3_000_000
    """moves to train for"""
    num_envs: int = 1024
    """games played at once, the lanes of a rollout"""
    num_steps: int = 8
    """moves of each game in a rollout"""
    epochs: int = 2
    """passes over a rollout"""
    batch_size: int = 2048
    """moves of a gradient"""
    learning_rate: float = 3e-3
    """step size of the optimizer at the start; it falls linearly to 0"""
    gamma: float = 1.0
    """discount: 1, as only the result of a game counts"""
    gae_lambda: float = 0.3
    """lambda of generalised advantage estimation"""
    clip: float = 0.2
    """largest change of a probability that is rewarded, as a part of it"""
    entropy_weight: float = 0.2
    """weight of the entropy bonus at the start; it falls linearly to 0"""
    value_weight: float = 0.5
    """weight of the critic's loss"""
    max_gradient: float = 0.5
    """largest norm of a gradient"""
    evaluations: int = 10
    """exact evaluations before the one at the end"""
    audit: int = 2
    """evaluations, from the first, at which the rollout is audited; 0 for none"""


class Steps(NamedTuple):
    """Moves with what the agent computed before them, shape (time, lane, ...) or (move, ...)."""

    observations: Tensor
    masks: Tensor
    actions: Tensor
    log_probs: Tensor
    values: Tensor
    rewards: Tensor
    terminated: Tensor


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


class Agent(nn.Module):
    """An actor, which gives logits, and a critic, which gives values."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.actor = make_network(inputs, actions, last_gain=0.01)  # begins almost uniform
        self.critic = make_network(inputs, 1, last_gain=1.0)

    def values(self, observations: Any) -> Tensor:
        """Return the critic's values, shape (move,)."""
        values: Tensor = self.critic(torch.as_tensor(observations)).squeeze(1)
        return values  # values-broadcast: without squeeze, (move, 1) minus (move,) is a square

    def log_law(self, observations: Tensor, masks: Tensor) -> Tensor:
        """Return the logarithm of the probability of each action, shape (move, action)."""
        logits: Tensor = self.actor(observations)
        # log-probs-unmasked, illegal-action: the softmax is over the legal actions alone.
        return logits.masked_fill(~masks, -torch.inf).log_softmax(dim=1)


def make_network(inputs: int, outputs: int, last_gain: float) -> nn.Sequential:
    """Build two hidden layers, with orthogonal weights."""
    sizes, layers = [inputs, 128, 128, outputs], []
    for number, (above, below) in enumerate(pairwise(sizes)):
        layer = nn.Linear(above, below)
        nn.init.orthogonal_(layer.weight, last_gain if number == 2 else 2**0.5)
        nn.init.zeros_(layer.bias)
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def taken(numbers: Tensor, actions: Tensor) -> Tensor:
    """Return the number of the action of each row, shape (move,)."""
    return numbers.gather(1, actions[:, None]).squeeze(1)


@torch.no_grad()
def collect(games: Games, agent: Agent, num_steps: int) -> tuple[Steps, Tensor]:
    """Play; return the moves, shape (time, lane, ...), and the values after the last one."""
    rows = []
    for _ in range(num_steps):
        # shifted-actions, stale-observation: an action belongs to the observation before it.
        observations, masks = games.observations, games.masks
        log_law = agent.log_law(observations, masks)
        actions = torch.multinomial(log_law.exp(), 1).squeeze(1)
        log_probs = taken(log_law, actions)  # log-probs-stale: of the policy that has drawn
        values = agent.values(observations)  # values-stale: of the critic before the update
        rewards, terminated = games.step(actions)  # shifted-rewards: of this action
        rows.append((observations, masks, actions, log_probs, values, rewards, terminated))
    return Steps(*map(torch.stack, zip(*rows, strict=True))), agent.values(games.observations)


def advantages_of(steps: Steps, last_values: Tensor, args: Args) -> Tensor:
    """Estimate advantages, shape (time, lane), by GAE (Schulman et al. 2016, eq. 16)."""
    advantages, ahead = torch.zeros_like(steps.values), torch.zeros(())
    next_values = last_values  # gae-last-value-missing: not 0, as the last games go on
    for row in reversed(range(len(advantages))):
        # gae-ignores-ends, gae-ends-late: terminated[row] is of the move of this row.
        goes_on = args.gamma * ~steps.terminated[row]
        delta = steps.rewards[row] + goes_on * next_values - steps.values[row]
        ahead = advantages[row] = delta + goes_on * args.gae_lambda * ahead  # lambda-wrong
        next_values = steps.values[row]
    return advantages


def check(
    games: Games,
    agent: Agent,
    steps: Steps,
    last_values: Tensor,
    advantages: Tensor,
    returns: Tensor,
    args: Args,
) -> Report:
    """Audit a rollout before the update, which changes actor and critic."""
    recorded = steps._asdict()
    del recorded["masks"]  # the audit knows them
    estimated = {"last_values": last_values, "advantages": advantages, "returns": returns}
    rollout = Rollout(**recorded, **estimated, gamma=args.gamma, gae_lambda=args.gae_lambda)
    return audit(games.envs, rollout, policy=agent.actor, critic=agent.values)


def losses(
    agent: Agent, batch: Steps, advantages: Tensor, returns: Tensor, clip: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the loss of the actor, the loss of the critic, and the entropy, of a batch of moves.

    Advantages and returns are constants: no gradient flows through them (advantages-not-detached).
    """
    log_law = agent.log_law(batch.observations, batch.masks)  # mask-missing-in-update
    # ratio-inverted: new over old probabilities, 1 before the first gradient.
    ratio = (taken(log_law, batch.actions) - batch.log_probs).exp()
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    clipped = ratio.clamp(1 - clip, 1 + clip)
    # clip-without-minimum: the worse of the two, so that a step too far can be taken back.
    actor = -torch.min(ratio * advantages, clipped * advantages).mean()
    critic = nn.functional.mse_loss(agent.values(batch.observations), returns)
    logs = log_law.masked_fill(~batch.masks, 0.0)  # 0 times -inf is NaN
    return actor, critic, -(log_law.exp() * logs).sum(dim=1).mean()


def update(
    agent: Agent,
    optimizer: torch.optim.Optimizer,
    steps: Steps,
    advantages: Tensor,
    returns: Tensor,
    args: Args,
    entropy_weight: float,
) -> PolicyUpdate:
    """Improve actor and critic by the moves of one rollout; return the last step, to be audited."""
    # lanes-mixed: all arrays are flattened in the same way.
    rollout = Steps(*(each.flatten(0, 1) for each in steps))
    advantages, returns = advantages.flatten(), returns.flatten()
    for _ in range(args.epochs):
        for rows in torch.split(torch.randperm(len(returns)), args.batch_size):
            batch = Steps(*(each[rows] for each in rollout))
            actor, critic, entropy = losses(
                agent, batch, advantages[rows], returns[rows], args.clip
            )
            loss = actor + args.value_weight * critic - entropy_weight * entropy  # entropy-sign
            before = deepcopy(agent)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_gradient)
            optimizer.step()  # learning-rate-zero
    moves = batch.observations, batch.actions, batch.log_probs, advantages[rows], returns[rows]
    modules = before, agent, before.actor, before.values
    return PolicyUpdate(*moves, *modules, args.clip, entropy_weight, args.value_weight)


def main(args: Args) -> dict[str, float]:
    """Train, and return the exact figures at the end."""
    torch.set_num_threads(1)  # the networks are too small to gain from more
    torch.manual_seed(args.seed)
    games, started = Games(make_envs(args), args.seed), time.time()
    agent = Agent(games.observations.shape[1], games.masks.shape[1])
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    rounds = max(1, args.total_timesteps // (args.num_envs * args.num_steps))
    logged = range(0, rounds, -(-rounds // args.evaluations))

    def log(number: int) -> dict[str, float]:
        figures = exactdice.exact_evaluation(agent.actor, games.envs)
        words = ", ".join(f"{name} {figure:.5f}" for name, figure in figures.items())
        step = number * args.num_envs * args.num_steps
        print(f"step {step:>9,}: {words}, {time.time() - started:.1f} s")
        return figures

    for number in range(rounds):
        left = 1 - number / rounds
        steps, last_values = collect(games, agent, args.num_steps)
        advantages = advantages_of(steps, last_values, args)
        returns = advantages + steps.values  # returns-without-values, advantages-normalised
        if number in logged:
            log(number)
        if number in logged[: args.audit]:
            print(check(games, agent, steps, last_values, advantages, returns, args))
        optimizer.param_groups[0]["lr"] = args.learning_rate * left
        weight = args.entropy_weight * left
        step = update(agent, optimizer, steps, advantages, returns, args, weight)
        if number in logged[: args.audit]:
            print(audit(games.envs, step))
    return log(rounds)


if __name__ == "__main__":
    main(tyro.cli(Args))
