"""What runs write for other programs to draw, and buffers that do not fit."""

import importlib.util
import sys
import tracemalloc
from unittest.mock import MagicMock

import pytest
from exactdice.agents.runs import train
from exactdice.agents.runs.callback import RunCallback
from exactdice.agents.runs.run import Run
from exactdice.games import InputError, SizeError


def pretend(monkeypatch, *there):
    """Have these libraries for logs found, and no others."""
    find = importlib.util.find_spec

    def found(name, package=None):
        asked = name in ("tensorboard", "wandb")
        return (name if name in there else None) if asked else find(name, package)

    monkeypatch.setattr("importlib.util.find_spec", found)


def test_logs_are_put_into_the_run_folder_of_a_resumed_run_too(small, tmp_path, monkeypatch):
    pretend(monkeypatch, "tensorboard", "wandb")
    run = Run.create(small(tensorboard=True, run_folder=tmp_path / "run"))
    assert run.model.tensorboard_log == str(tmp_path / "run/tensorboard")
    run.model.tensorboard_log = None  # as tensorboard may not be here
    run.model.learn(1, callback=RunCallback(run, lambda *_: None))
    assert Run.resume(tmp_path / "run").model.tensorboard_log == str(tmp_path / "run/tensorboard")
    assert Run.create(small(run_folder=tmp_path / "other")).model.tensorboard_log is None


def test_weights_and_biases_takes_what_tensorboard_does(small, tmp_path, monkeypatch):
    session = MagicMock()
    monkeypatch.setitem(sys.modules, "wandb", session)
    pretend(monkeypatch, "tensorboard", "wandb")
    run = Run.create(small(wandb="dice", run_folder=tmp_path / "run"))
    with train._logged_by_wandb(run):
        session.init().__exit__.assert_not_called()
    session.init().__exit__.assert_called_once()
    wanted = {"project": "dice", "name": "run", "sync_tensorboard": True}
    wanted["config"] = run.config.to_json()
    assert session.init.call_args_list[0].kwargs.items() >= wanted.items()
    assert run.model.tensorboard_log == str(tmp_path / "run/tensorboard")


@pytest.mark.parametrize(
    ("options", "missing", "message"),
    [
        ({"tensorboard": True}, "tensorboard", "tensorboard .* libraries, got True: pip in"),
        ({"wandb": "dice"}, "tensorboard", "tensorboard .* libraries, got 'dice': pip in"),
        ({"wandb": "dice"}, "wandb", "wandb needs .* libraries, got 'dice': pip install wandb"),
    ],
)
def test_a_log_needs_its_library(small, tmp_path, monkeypatch, options, missing, message):
    pretend(monkeypatch, *{"tensorboard", "wandb"} - {missing})
    with pytest.raises(InputError, match=message):
        Run.create(small(**options, run_folder=tmp_path / "run"))
    assert not (tmp_path / "run").exists()


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
    model = build(algorithm=algorithm)
    buffer = model.rollout_buffer if algorithm == "ppo" else model.replay_buffer
    taken = sum(getattr(array, "nbytes", 0) for array in vars(buffer).values())
    assert taken / 3 < asked[name] < 3 * taken


def test_what_a_batch_of_several_steps_takes_is_estimated_to_a_factor_of_three(build, asked):
    sizes = {"batch_size": "64", "buffer_size": "2000", "n_steps": "200"}
    model = build(algorithm="dqn", hyperparams=sizes)
    model.replay_buffer.pos = 100
    tracemalloc.start()
    model.replay_buffer.sample(model.batch_size)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken / 3 < asked["n_steps"] < 3 * taken
