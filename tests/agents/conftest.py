"""Small training runs."""

import pytest
import torch
from exactdice.agents import models
from exactdice.agents.config import TrainConfig


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Make configurations of runs that take a second."""
    monkeypatch.setitem(models.HYPERPARAMETERS["ppo"], "batch_size", 128)
    monkeypatch.setitem(models.HYPERPARAMETERS["dqn"], "batch_size", 64)
    monkeypatch.setitem(models.HYPERPARAMETERS["dqn"], "buffer_size", 2000)
    monkeypatch.setitem(models.HYPERPARAMETERS["dqn"], "learning_starts", 200)
    monkeypatch.setitem(models.HYPERPARAMETERS["dqn"], "target_update_interval", 200)
    monkeypatch.chdir(tmp_path)

    def make(**options):
        defaults = {"env": {"max_score": 10, "sides": 3}, "num_envs": 16, "steps": 3000}
        return TrainConfig(**{**defaults, "eval_interval": 1000, **options})

    return make
