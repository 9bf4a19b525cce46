"""Run folders: the files of a training run, written and read.

    config.json          the options of the run
    hyperparameters.yml  its hyperparameters
    evaluations.npz      the exact scores so far (the keys of stable-baselines3's EvalCallback, and
                         regret and normalized)
    checkpoint.pt        the state of training, from which the run is resumed to the last bit
    best_model.zip       the model with the smallest exact regret so far
    final_model.zip      the model at the end
    certificate.npz      its policy and score, for ``exactdice verify``
    score.json           its exact score
    diagnosis.npz        exact figures of training, with the option diagnose (and a .csv)
    .lock                exists while a process trains in the folder

Every file is written under a temporary name and then renamed, so that a reader finds the whole old
file or the whole new one, even if the process is killed. Temporary files of a killed process are
removed when training goes on. No code from a file of a run folder is run: models are rebuilt
from the configuration, and only their weights are read. The one exception is a game of one's own:
config.json names the file or module of its class, which is imported.
"""

import io
import json
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from ...core import FloatArray, WriteError, write_file
from ...core.words import first_line
from .config import RunError, TrainConfig

#: File of a benchmark with a row for each of its runs, in the folder that has the run folders.
RESULTS = "results.csv"
#: Columns of the log; the first three are the keys of stable-baselines3's EvalCallback.
LOG = ("timesteps", "results", "ep_lengths", "regret", "normalized", "seconds")
#: Further columns of self-play runs: exploitability, and the agent's value in each seat of the game
#: against a best response.
SELF_PLAY = ("exploitability", "normalized_exploitability", "guaranteed_0", "guaranteed_1")
#: Further column of runs that are scored by sample games: half the width of the 95 % confidence
#: interval of the score; 0 for exact scores.
MARGIN = "margin"
#: Numbers of ``score.json`` that every finished run has.
NUMBERS = ("value", "optimum", "random", "regret", "normalized", "steps", "seconds")
#: Files that only the process writes that trains in the folder.
FILES = (
    *("config.json", "hyperparameters.yml", "evaluations.npz", "checkpoint.pt"),
    *("best_model.zip", "final_model.zip", "certificate.npz", "score.json"),
    *("diagnosis.npz", "diagnosis.csv"),
)


@contextmanager
def locked(path: Path, over: Callable[[], bool] = lambda: True) -> Iterator[bool]:
    """Hold the lock of a file during the block, and say so; say False if another process holds it.

    The operating system releases the lock when the process ends, however it ends. A file that a
    kill has left is not a lock. It is removed if the work on it is ``over`` after the block.
    """
    from filelock import FileLock, Timeout  # of the extra "agents", as in load_model

    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        yield False
        return
    except OSError as error:
        raise WriteError(f"{path.parent} cannot be written to: {error.strerror or error}") from None
    try:
        yield True
    finally:
        if over():
            with suppress(OSError):  # Windows refuses, as the file is open
                path.unlink(missing_ok=True)
        lock.release()


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the lock of a run folder during the block, so that no other process trains there."""
    with locked(folder / ".lock") as mine:
        if not mine:
            raise RunError(
                f"run folder must be one that no other process trains in, got {folder}: wait for "
                "its end, or end it"
            )
        for name in FILES:
            for path in folder.glob(f".{name}.*"):  # left by a process that was killed
                path.unlink(missing_ok=True)
        yield


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file atomically."""
    write_file(path, (json.dumps(content, indent=2) + "\n").encode())


def read_config(folder: Path) -> TrainConfig:
    """Read the configuration of a run."""
    path = held(folder, "config.json")
    try:
        options = json.loads(path.read_text(encoding="utf-8"))
        return TrainConfig(**options, conf=folder / "hyperparameters.yml")
    except (ValueError, TypeError, RecursionError) as error:
        raise RunError(f"{path} must be the configuration of a run, got: {error}") from None


def load_model(folder: Path, which: str = "final") -> tuple[Any, Any]:
    """Load the final or the best model of a run, and its training environment, a ``GameVecEnv``."""
    from .models import make_env, make_model

    config = read_config(folder)
    path = held(folder, f"{which}_model.zip")
    env = make_env(config)
    model = make_model(config, env)
    with reading(path, "hold the weights of this run"):
        check_sums(path)
        model.set_parameters(str(path), device=model.device)
    return model, env


def read_log(folder: Path) -> dict[str, FloatArray]:
    """Read the scores of a run so far: an array (evaluation,) for each name in ``LOG``.

    A run of self-play has those of ``SELF_PLAY``, too; one with sample scores has ``MARGIN``.
    """
    with reading(held(folder, "evaluations.npz"), "hold the scores of a run") as path:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as columns:
            names = [*LOG, *(name for name in (*SELF_PLAY, MARGIN) if name in columns)]
            log = {name: np.asarray(columns[name], dtype=np.float64).reshape(-1) for name in names}
        if len({len(column) for column in log.values()}) > 1:
            raise ValueError("columns of different lengths")
    return log


def exact_part(log: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Return the log without the scores that were estimated from sample games."""
    exact = log[MARGIN] == 0 if MARGIN in log else slice(None)
    return {name: column[exact] for name, column in log.items()}


def read_score(folder: Path) -> dict[str, Any]:
    """Read the exact score of a finished run."""
    path = folder / "score.json"
    with reading(path, "be the score of a run"):
        score = json.loads(path.read_text(encoding="utf-8"))
        numbers = {name: score[name] + 0 for name in NUMBERS}
        if not all(map(math.isfinite, numbers.values())):
            raise ValueError("a number that is not finite")
    return {**score, **numbers}


def held(folder: Path, name: str, advice: str = "") -> Path:
    """Return the path of a file in a run folder; the error for a missing one ends with advice."""
    path = folder / name
    if not path.is_file():
        article = "an" if name[0] in "aeiou" else "a"
        raise RunError(f"run folder must hold {article} {name}, got {folder}{advice}")
    return path


@contextmanager
def reading(path: Path, must: str) -> Iterator[Path]:
    """Turn any error of the block, which reads a file of a run folder, into a ``RunError``."""
    try:
        yield path
    except Exception as error:  # zip, zlib, json, pickle, numpy and torch raise many classes
        raise RunError(f"{path} must {must}, got: {first_line(error)}") from None


def check_sums(path: Path) -> None:
    """Check the CRCs of a zip file, which PyTorch does not."""
    with zipfile.ZipFile(path) as file:
        wrong = file.testzip()
    if wrong is not None:
        raise ValueError(f"a wrong CRC in {wrong}")
