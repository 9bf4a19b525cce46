"""A small run, and what draws and commands need."""

import pytest
import torch
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.runs.train import train

from exactdice.cli import main

SMALL = {"max_score": 10, "sides": 3}


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Train small runs on each kind of reward; give their folders by reward."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    folders = {}
    for reward in ("outcome", "regret"):
        folders[reward] = tmp_path_factory.mktemp("runs") / reward
        options = {"steps": 2000, "num_envs": 256, "eval_interval": 1000, "reward": reward}
        train(TrainConfig(env=SMALL, run_folder=folders[reward], **options))
    torch.set_num_threads(threads)
    return folders


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Call the command line in an empty folder: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    threads = torch.get_num_threads()

    def call(*arguments):
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in arguments])
        return end.value.code, *capsys.readouterr()

    yield call
    torch.set_num_threads(threads)
