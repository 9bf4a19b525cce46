"""A DQN of the tests, as users write it: nothing in it knows of this project.

python small_dqn.py --env CartPole-v1 --moves 2048
"""

# ruff: noqa: T201  a script, as users write it
import argparse
import random

import gymnasium as gym
import numpy as np
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--env", default="CartPole-v1")
parser.add_argument("--moves", type=int, default=600)
parser.add_argument("--seed", type=int, default=1)
args = parser.parse_args()
GAMMA = 0.97

torch.manual_seed(args.seed)
random.seed(args.seed)
env = gym.make(args.env)
inputs, outputs = env.observation_space.shape[0], int(env.action_space.n)
online = nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs))
target = nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs))
target.load_state_dict(online.state_dict())
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
buffer = []
seen, _ = env.reset(seed=args.seed)
for step in range(args.moves):
    if random.random() < 0.2:
        action = random.randrange(outputs)
    else:
        with torch.no_grad():
            action = int(online(torch.tensor(seen[None])).argmax())
    after, reward, ended, cut, _ = env.step(action)
    buffer.append((seen, action, reward, after, ended))
    seen = after
    if ended or cut:
        seen, _ = env.reset()
    if step >= 100 and step % 4 == 0:
        batch = random.sample(buffer, 32)
        obs, acts, rewards, later, ends = (np.array(each) for each in zip(*batch, strict=True))
        obs, later = torch.tensor(obs), torch.tensor(later)
        with torch.no_grad():
            best = target(later).max(dim=1).values
            wanted = torch.tensor(rewards) + GAMMA * best * ~torch.tensor(ends)
        values = online(obs).gather(1, torch.tensor(acts)[:, None]).squeeze(1)
        loss = nn.functional.mse_loss(values, wanted.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if step % 50 == 0:
        target.load_state_dict(online.state_dict())
print(sum(float(each.detach().double().sum()) for each in online.parameters()))
