"""Small training runs."""

import pytest
from exactdice.agents.algorithms import ALGORITHMS
from exactdice.agents.runs.arguments import fields_of
from exactdice.agents.runs.config import TrainConfig


@pytest.fixture(autouse=True)
def _one_thread(one_thread):
    """Train on one thread."""


#: Hyperparameters that make a run small, by what its algorithm learns from.
SMALL = {
    "rollouts": {"batch_size": "128"},
    "replay": {
        "batch_size": "64",
        "buffer_size": "2000",
        "learning_starts": "200",
        "target_update_interval": "200",
    },
    "tables": {},
}

#: Keywords that make a game small, by name, where it is not small by default.
SMALL_GAMES = {
    "FourTwoOneMatch": {"tokens": 2, "faces": 3},
    "LowestScoreMatch": {"dice": 3, "wins": 2},
    "ShutTheBox": {"tiles": 6},
}


@pytest.fixture
def small_env():
    """Give the keywords of a game that is solved and scored in a second."""
    return lambda game: SMALL_GAMES.get(game, {})


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Make configurations of runs that take a second."""
    monkeypatch.chdir(tmp_path)

    def make(**options):
        defaults = {"env": {"max_score": 10, "sides": 3}, "num_envs": 16, "steps": 3000}
        algorithm = options.get("algorithm", "ppo")
        changes = SMALL[ALGORITHMS[algorithm].learns_from]
        known = fields_of(algorithm).model_fields
        changes = {name: value for name, value in changes.items() if name in known}
        defaults |= {"hyperparams": changes, "eval_interval": 1000}
        return TrainConfig(**{**defaults, **options})

    return make
