"""The search spaces: each of their choices is a set of hyperparameters, within reason."""

import pytest
from exactdice.agents.algorithms import ALGORITHMS
from exactdice.agents.runs.hyperparameters import read_hyperparameters
from exactdice.agents.tracks import TRACKS
from optuna.trial import FixedTrial


class AtEnd:
    """A trial that draws the first or the last value of each range, but for some names."""

    def __init__(self, end, **fixed):
        self._end, self._fixed = end, fixed

    def suggest_float(self, name, low, high, *, log=False):
        return self._fixed.get(name, (low, high)[self._end])

    suggest_int = suggest_float

    def suggest_categorical(self, name, options):
        return options[self._end]


@pytest.mark.parametrize("track", ["exactdice-10k", "exactdice-100k", "exactdice-1m"])
@pytest.mark.parametrize("algorithm", [name for name, each in ALGORITHMS.items() if each.space])
def test_both_ends_of_every_space_are_hyperparameters_with_many_updates(algorithm, track):
    moves = TRACKS[track].moves
    for end in (0, -1):
        chosen = ALGORITHMS[algorithm].space(AtEnd(end), moves)
        checked = read_hyperparameters(algorithm, {**chosen, "n_timesteps": moves})
        assert moves // checked.rollout >= 19
        assert 0.9 * moves < moves // checked.rollout * checked.rollout <= moves
        if algorithm == "ppo":  # a trial takes minutes
            chosen = ALGORITHMS["ppo"].space(AtEnd(0, n_epochs=16), moves)
            assert chosen["n_epochs"] * moves / chosen["batch_size"] <= 130_000


def test_draws_that_are_no_hyperparameters_determine_some():
    draws = {"encoding": "thermometer", "width": 7, "activation": "Tanh", "n_envs": 4}
    draws |= {"updates": 2504.0, "batch_size": 5, "warmup": 0.0251, "copies": 100.0}
    draws |= {"learning_rate": 0.0012345, "exploration_fraction": 0.5}
    draws |= {"exploration_final_eps": 0.05, "quantiles": 4, "n_steps": 3, "decay": 0.01234}
    many = ALGORITHMS["qrdqn"].space(FixedTrial(draws), 10_000)
    assert many["policy_kwargs"] == (
        "dict(activation_fn=nn.Tanh, net_arch=[128, 128], optimizer_class=th.optim.AdamW, "
        "optimizer_kwargs=dict(weight_decay=0.0123), n_quantiles=16)"
    )
    assert many["env_kwargs"] == {"encoding": "thermometer"}
    assert many["learning_rate"] == "lin_0.00123"
    assert (many["n_envs"], many["batch_size"], many["buffer_size"]) == (16, 32, 10_000)
    assert (many["learning_starts"], many["target_update_interval"]) == (251, 100)
    assert (many["train_freq"], many["gradient_steps"]) == (1, 4)
    few = ALGORITHMS["ndqn"].space(FixedTrial({**draws, "updates": 504.0}), 10_000)
    assert (few["train_freq"], few["gradient_steps"], few["n_steps"]) == (1, 1, 3)
    fewer = ALGORITHMS["dqn"].space(AtEnd(0, updates=312.0, n_envs=4), 10_000)
    assert (fewer["train_freq"], fewer["gradient_steps"]) == (2, 1)
