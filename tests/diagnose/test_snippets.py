"""The lines of docs/audit.md that save records of other libraries, run as they stand there."""

import re
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
import torch
from checkout import ROOT
from exactdice.diagnose import audit_file
from recording import play

PAGE = ROOT / "docs/audit.md"
GREED = {"max_score": 12, "sides": 3}


def execute(first_line, **names):
    """Run a snippet with some names; return all."""
    text = PAGE.read_text(encoding="utf-8")
    (code,) = re.findall(rf"^```python\n({re.escape(first_line)}\n.*?)^```$", text, re.M | re.S)
    exec(compile(code, first_line, "exec"), names)
    return names


def holds(path, **keywords):
    env = gym.make("exactdice/Greed-v0", **GREED, **keywords)
    report = audit_file(env, path)
    assert report.ok, str(report)
    return report


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def of_a_library(test):
    """Mark a test of a library, which has warnings of its own."""
    return pytest.mark.slow(pytest.mark.filterwarnings("ignore")(test))


def test_the_lines_for_a_loop_like_cleanrls_ppo():
    """The variables are those of the loop, with the flags of the row before."""
    _, arrays = play("Greed", **GREED)
    ended = torch.as_tensor(arrays["terminated"]).float()
    dones = torch.cat([torch.zeros(1, 8), ended[:-1]])
    values, logprobs = torch.randn(60, 8), torch.zeros(60, 8)
    next_value, rewards = torch.randn(1, 8), torch.as_tensor(arrays["rewards"]).float()
    after = torch.cat([values[1:], next_value]) * (1 - ended)
    names = {"np": np, "torch": torch, "args": SimpleNamespace(gamma=0.9, gae_lambda=0.0)}
    names |= {"dones": dones, "rewards": rewards, "values": values, "logprobs": logprobs}
    names |= {"obs": torch.as_tensor(arrays["observations"]), "next_done": ended[-1]}
    names |= {"actions": torch.as_tensor(arrays["actions"]), "next_value": next_value}
    names |= {"returns": rewards + 0.9 * after, "advantages": rewards + 0.9 * after - values}
    execute("# in the loop of CleanRL's ppo.py", **names)
    assert holds("rollout.npz").held["advantages"] == 480


@of_a_library
def test_the_lines_for_rllibs_episodes():
    pytest.importorskip("ray.rllib", reason="an installation with RLlib")
    from ray.rllib.env.single_agent_episode import SingleAgentEpisode

    env, rng, episodes = gym.make("exactdice/Greed-v0", **GREED), np.random.default_rng(0), []
    for seed in range(50):
        seen, info = env.reset(seed=seed)
        episode = SingleAgentEpisode()
        episode.add_env_reset(seen)
        while not episode.is_done:
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            seen, reward, ended, _, info = env.step(action)
            episode.add_env_step(seen, action, reward, terminated=ended)
        episodes.append(episode)
    execute("# of RLlib")["save"]([*episodes, SingleAgentEpisode()])
    holds("transitions.npz")
