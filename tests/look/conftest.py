"""Small runs to draw."""

import pytest
import torch
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.runs.train import train

SMALL = {"max_score": 10, "sides": 3}


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Train small runs on each kind of reward; give their folders by reward."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    folders = {}
    for reward in ("outcome", "regret"):
        folders[reward] = tmp_path_factory.mktemp("runs") / reward
        options = {"steps": 8192, "num_envs": 64, "eval_interval": 4096, "reward": reward}
        train(TrainConfig(env=SMALL, run_folder=folders[reward], **options))
    torch.set_num_threads(threads)
    return folders
