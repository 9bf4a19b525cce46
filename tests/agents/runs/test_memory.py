"""Buffers that do not fit are refused before they are made."""

import tracemalloc

import pytest
from exactdice.games import SizeError

HUGE = "10000000000000"
STEPS = {"batch_size": "2048", "buffer_size": "2000000", "n_steps": "1000000"}
TABLE = {"algorithm": "qlearning", "env": {"max_score": 1100, "opponent": "if_else"}}
DQN = {"algorithm": "dqn"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({**DQN, "hyperparams": {"buffer_size": HUGE}}, r"buffer_size must .* [\d,]+, got 10,0"),
        ({**DQN, "hyperparams": {"batch_size": HUGE}}, r"batch_size must be at most [\d,]+"),
        ({**DQN, "hyperparams": STEPS}, r"n_steps must be at most [\d,]+, got 1,000,"),
        ({"hyperparams": {"n_steps": HUGE}}, r"n_steps must be at most [\d,]+"),
        ({"num_envs": 10**9}, r"num_envs must be at most [\d,]+, got 1,000,000,000"),
        (TABLE, r"Q-learning's tables must be of a smaller game"),
    ],
)
def test_what_does_not_fit_is_named(build, options, message):
    with pytest.raises(SizeError, match=f"^{message}"):
        build(**options)


@pytest.fixture
def asked(monkeypatch):
    """Give the bytes that are asked for, by the name of the hyperparameter."""
    bytes_of = {}
    monkeypatch.setattr(
        "exactdice.agents.runs.models.check_memory",
        lambda name, count, each: bytes_of.update({name: count * each}),
    )
    return bytes_of


@pytest.mark.parametrize(("algorithm", "name"), [("ppo", "n_steps"), ("dqn", "buffer_size")])
def test_what_a_buffer_takes_is_estimated_to_a_factor_of_three(build, asked, algorithm, name):
    """Of the arrays that stable-baselines3 makes."""
    model = build(algorithm=algorithm)
    buffer = model.rollout_buffer if algorithm == "ppo" else model.replay_buffer
    taken = sum(getattr(array, "nbytes", 0) for array in vars(buffer).values())
    assert taken / 3 < asked[name] < 3 * taken


def test_what_several_steps_take_is_estimated_to_a_factor_of_three(build, asked):
    """What a batch of a buffer that adds up rewards takes while it is drawn."""
    sizes = {"batch_size": "64", "buffer_size": "2000", "n_steps": "200"}
    model = build(algorithm="dqn", hyperparams=sizes)
    model.replay_buffer.pos = 100
    tracemalloc.start()
    model.replay_buffer.sample(model.batch_size)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken / 3 < asked["n_steps"] < 3 * taken
