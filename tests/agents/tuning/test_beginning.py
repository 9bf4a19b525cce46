"""Hyperparameters are translated back to the choices of a search space."""

import optuna
import pytest
from exactdice.agents.algorithms import ALGORITHMS
from exactdice.agents.runs.hyperparameters import read_hyperparameters
from exactdice.agents.tuning import study
from exactdice.agents.tuning.config import TuneConfig
from exactdice.agents.tuning.study import choices_of, within
from optuna.samplers import RandomSampler


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_choices_are_found_again_in_their_hyperparameters(algorithm):
    config = TuneConfig(track="exactdice-100k", algorithm=algorithm)
    trials = optuna.create_study(sampler=RandomSampler(seed=3))
    for _ in range(20):
        drawn = trials.ask()
        study.choose(drawn, study.space_of(config))
        chosen = study.hyperparameters(config, drawn.params)
        known = vars(read_hyperparameters(algorithm, chosen))
        again = within(study.space_of(config), choices_of(known))
        assert set(again) == set(drawn.params)
        found = study.hyperparameters(config, again)
        for name, value in chosen.items():
            near = isinstance(value, int | float)  # lengths of intervals are whole numbers
            assert found[name] == (pytest.approx(value, rel=0.01) if near else value), name


def test_values_that_no_search_chooses_are_drawn():
    known = {
        "n_envs": 8,
        "n_timesteps": 640,
        "env_kwargs": {"encoding": "scaled"},
        "policy_kwargs": "dict(net_arch=[8, 16])",
        "learning_rate": 0.1,
    }
    found = within(ALGORITHMS["ppo"].space(100_000), choices_of(known))
    assert found == {"learning_rate": 1e-2}


def test_as_many_updates_as_moves_are_found_again():
    given = {"n_envs": 8, "n_timesteps": 640, "env_kwargs": {}, "gradient_steps": -1}
    others = {"train_freq": 2, "target_update_interval": 64, "learning_starts": 32}
    assert choices_of(given | others)["updates"] == 640
