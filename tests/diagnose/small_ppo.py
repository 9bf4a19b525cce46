"""A PPO of the tests, as users write it: nothing in it knows of this project.

python small_ppo.py --env CartPole-v1 --moves 2048
"""

# ruff: noqa: T201  a script, as users write it
import argparse

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

parser = argparse.ArgumentParser()
parser.add_argument("--env", default="CartPole-v1")
parser.add_argument("--moves", type=int, default=1024)
parser.add_argument("--seed", type=int, default=1)
args = parser.parse_args()
LANES, ROWS, GAMMA, LAMBDA, CLIP = 4, 64, 0.97, 0.9, 0.2

torch.manual_seed(args.seed)
np.random.seed(args.seed)
same_step = gym.vector.AutoresetMode.SAME_STEP
envs = gym.make_vec(args.env, LANES, "sync", vector_kwargs={"autoreset_mode": same_step})
inputs, outputs = envs.single_observation_space.shape[0], int(envs.single_action_space.n)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(inputs, 32), nn.Tanh(), nn.Linear(32, outputs))
        self.critic = nn.Sequential(nn.Linear(inputs, 32), nn.Tanh(), nn.Linear(32, 1))


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3)
seen, _ = envs.reset(seed=args.seed)
obs = torch.zeros(ROWS, LANES, inputs)
actions = torch.zeros(ROWS, LANES, dtype=torch.long)
log_probs, rewards, ends, values = (torch.zeros(ROWS, LANES) for _ in range(4))
for _ in range(args.moves // (ROWS * LANES)):
    for t in range(ROWS):
        obs[t] = torch.tensor(seen)
        with torch.no_grad():
            law = Categorical(logits=agent.actor(obs[t]))
            actions[t] = law.sample()
            log_probs[t] = law.log_prob(actions[t])
            values[t] = agent.critic(obs[t]).squeeze(1)
        seen, reward, ended, cut, _ = envs.step(actions[t].numpy())
        rewards[t], ends[t] = torch.tensor(reward), torch.tensor(ended | cut)
    with torch.no_grad():
        following = agent.critic(torch.tensor(seen)).squeeze(1)
    advantages, ahead = torch.zeros(ROWS, LANES), torch.zeros(LANES)
    for t in reversed(range(ROWS)):
        goes_on = 1 - ends[t]
        delta = rewards[t] + GAMMA * following * goes_on - values[t]
        advantages[t] = ahead = delta + GAMMA * LAMBDA * goes_on * ahead
        following = values[t]
    returns = advantages + values
    flat = [each.flatten(0, 1) for each in (obs, actions, log_probs, advantages, returns)]
    for _ in range(2):
        order = np.random.permutation(ROWS * LANES)
        for rows in order.reshape(2, -1):
            b_obs, b_actions, b_logs, b_advantages, b_returns = (each[rows] for each in flat)
            law = Categorical(logits=agent.actor(b_obs))
            ratio = (law.log_prob(b_actions) - b_logs).exp()
            b_advantages = (b_advantages - b_advantages.mean()) / (b_advantages.std() + 1e-8)
            clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
            policy_loss = -torch.min(ratio * b_advantages, clipped * b_advantages).mean()
            value_loss = ((agent.critic(b_obs).squeeze(1) - b_returns) ** 2).mean()
            loss = policy_loss + 0.5 * value_loss - 0.01 * law.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
print(sum(float(each.detach().double().sum()) for each in agent.parameters()))
