"""A REINFORCE of the tests with a baseline, as users write it: nothing in it knows of this project.

python small_reinforce.py --env CartPole-v1 --moves 300
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
parser.add_argument("--moves", type=int, default=300)
args = parser.parse_args()
GAMMA = 0.97

torch.manual_seed(1)
env = gym.make(args.env)
numbered, outputs = hasattr(env.observation_space, "n"), int(env.action_space.n)
inputs = int(env.observation_space.n) if numbered else env.observation_space.shape[0]
policy = nn.Sequential(nn.Linear(inputs, 32), nn.Tanh(), nn.Linear(32, outputs))
baseline = nn.Sequential(nn.Linear(inputs, 32), nn.Tanh(), nn.Linear(32, 1))
mean, count = np.zeros(inputs), 0
policy_optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
baseline_optimizer = torch.optim.Adam(baseline.parameters(), lr=1e-2)


def shown(state):
    return torch.tensor(np.eye(inputs)[state] if numbered else state).float()


moves = 0
while moves < args.moves:
    observations, logs, rewards = [], [], []
    state, _ = env.reset(seed=moves)
    over = False
    while not over:
        observations.append(shown(state))
        law = Categorical(logits=policy(observations[-1][None]))
        action = law.sample()
        logs.append(law.log_prob(action))
        state, reward, ended, cut, _ = env.step(action.item())
        rewards.append(reward)
        over = ended or cut
        moves += 1
    returns, ahead = [], 0.0
    for reward in reversed(rewards):
        ahead = reward + GAMMA * ahead
        returns.insert(0, ahead)
    returns = torch.tensor(returns)
    values = baseline(torch.stack(observations)).squeeze(1)
    losses = [-log * a for log, a in zip(logs, returns - values.detach(), strict=True)]
    policy_loss = torch.cat(losses).mean()
    value_loss = nn.functional.mse_loss(values, returns)
    policy_optimizer.zero_grad()
    policy_loss.backward()
    policy_optimizer.step()
    baseline_optimizer.zero_grad()
    value_loss.backward()
    baseline_optimizer.step()
print(sum(float(each.detach().double().sum()) for each in policy.parameters()))
