"""What a run writes for other programs to draw."""

import importlib.util
import sys
from unittest.mock import MagicMock

import pytest
from exactdice.agents.runs import train
from exactdice.agents.runs.callback import RunCallback
from exactdice.agents.runs.run import Run
from exactdice.games import InputError


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
    options = session.init.call_args_list[0].kwargs
    assert (options["project"], options["name"]) == ("dice", "run")
    assert options["sync_tensorboard"]
    assert options["config"] == run.config.to_json()
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
