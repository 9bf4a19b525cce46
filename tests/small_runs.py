"""Small training runs, as fixtures."""

import os
import signal
from functools import cache
from pathlib import Path

import pytest
from exactdice.agents.algorithms import ALGORITHMS
from exactdice.agents.runs.callback import RunCallback
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.runs.hyperparameters import fields_of
from exactdice.agents.runs.models import make_env, make_model
from exactdice.agents.runs.train import train

#: Hyperparameters that make a run small, by what its algorithm learns from.
SMALL = {
    "rollouts": {"batch_size": "128"},
    "games": {},
    "replay": {
        "batch_size": "64",
        "buffer_size": "2000",
        "learning_starts": "200",
        "target_update_interval": "200",
    },
    "tables": {},
    "model": {"n_steps": "16"},
}

#: Keywords with which a game is solved and drawn in a second, by name.
SMALL_GAMES = {
    "Greed": {"max_score": 10, "sides": 3},
    "LowestScore": {"dice": 3},
    "FourTwoOne": {},
    "FourTwoOneMatch": {"tokens": 2, "faces": 3},
    "LowestScoreMatch": {"dice": 3, "wins": 2},
    "ShutTheBox": {"tiles": 6},
    "Yahtzee": {"boxes": "full_house"},
}


@pytest.fixture
def small_env():
    """Give the keywords of a game that is solved and scored in a second."""
    return lambda game: SMALL_GAMES.get(game, {})


@pytest.fixture(scope="session")
def small_config():
    """Make configurations of runs that take a second."""

    def make(**options):
        defaults = {"env": {"max_score": 10, "sides": 3}, "num_envs": 16, "steps": 3000}
        algorithm = options.get("algorithm", "ppo")
        changes = SMALL[ALGORITHMS[algorithm].learns_from]
        known = fields_of(algorithm).model_fields
        changes = {name: value for name, value in changes.items() if name in known}
        defaults |= {"hyperparams": changes, "eval_interval": 1000}
        return TrainConfig(**{**defaults, **options})

    return make


@pytest.fixture
def small(small_config, monkeypatch, tmp_path):
    """Make such configurations, for runs in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return small_config


@pytest.fixture
def interrupted(small, monkeypatch):
    """Train such a run, pressing Ctrl-C after 1,000 moves; give its folder."""

    def run(**options):
        begin = RunCallback._on_rollout_start

        def pressing(self):
            if self.num_timesteps >= 1000 and not self.stop:
                os.kill(os.getpid(), signal.SIGINT)
            begin(self)

        with monkeypatch.context() as patch:
            patch.setattr(RunCallback, "_on_rollout_start", pressing)
            assert train(small(run_folder=Path("parts"), **options)) is None
        return Path("parts")

    return run


@pytest.fixture
def build(small):
    """Make the untrained model of such a run, which holds its environment."""

    def make(**options):
        config = small(**options)
        return make_model(config, make_env(config))

    return make


@pytest.fixture(scope="module")
def trained(small_config, tmp_path_factory):
    """Train a small run once for all tests that only read it; give its score and its folder."""

    @cache
    def run(**options):
        folder = tmp_path_factory.mktemp("trained") / "run"
        return train(small_config(**options, run_folder=folder)), folder

    return run
