"""``exactdice train``, ``audit`` and ``diagnose``: what learns, records and is learned from."""

from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.console import Console

from ..agents.runs.config import TrainConfig
from ..agents.runs.options import TRACKS, GameName, Keywords, environment_from_options
from ..core import Table, one_of, write_file
from ..core.progress import shown_progress
from ..diagnose import audit_file
from ..games import DEFAULT_GAME
from .printing import InJson, print_json

#: Number of rows of figures in a diagnosed run.
ROWS = 40


def diagnosis_of(run: Any) -> Any:
    """Make the ``DiagnoseCallback`` of a ``Run``, with about as many rows as exact scores."""
    from ..diagnose.training import DiagnoseCallback

    updates = run.config.total_steps // run.config.hyperparameters.rollout
    return DiagnoseCallback(every=max(1, updates // ROWS), folder=run.folder)


def run_train(options: TrainConfig) -> None:
    """Train an agent and score it."""
    from ..agents.runs.train import train

    if options.track is not None:  # the rungs of a ladder are trained on a track's budget
        games = TRACKS[options.track].games
        one_of(f"game on the track {options.track}", options.game_name, games)
    if train(options, diagnosis=diagnosis_of) is None:
        raise KeyboardInterrupt  # which has ended the training


@dataclass(frozen=True)
class AuditConfig(InJson):
    """Check what a learning algorithm has recorded against the exact law of the game.

    The exit code is 0 if all checks hold, 1 if one does not, 2 if the file cannot be read.
    """

    file: tyro.conf.Positional[Path]
    """File of arrays, as numpy.savez writes it, by the names of the fields of Rollout (time, lane,
    ...), of Transitions or of Targets (transition, ...)."""

    game: tyro.conf.Positional[GameName] = DEFAULT_GAME
    """Game that was played."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the environment: --env max_score 50 seat 1 encoding one_hot_float."""


def run_audit(options: AuditConfig) -> int:
    """Print the report."""
    import_module("scipy.sparse")  # the audit needs it: say so before the file is read

    with shown_progress():
        report = audit_file(environment_from_options(options.game, options.env), options.file)
    print_json({"ok": report.ok, **asdict(report)}) if options.json else print(report)
    return 0 if report.ok else 1


#: The file of a run folder with the figures of its models, a row for each.
FILE = "diagnosis-models.csv"


@dataclass(frozen=True)
class DiagnoseConfig:
    """Compute how good the numbers are that a run learns from, for each of its models.

    The figures are those of ``train --diagnose``; they are also written into the run folder, as
    diagnosis-models.csv.
    """

    run_folder: tyro.conf.Positional[Path]
    """Run folder, of a finished run or of one with a checkpoint."""


def diagnose_models(folder: Path) -> dict[str, Any]:
    """Compute the ``Columns`` of the models of a run, and write them into its folder.

    They are "best" and "final"; before the end of training "checkpoint" instead of "final". A run
    on a track has no "best".
    """
    import torch as th

    from ..agents.runs.folders import load_model, read_config, read_log
    from ..agents.runs.run import Run
    from ..diagnose.training.model import COLUMNS, Diagnosed, require_fixed_opponents, to_csv

    require_fixed_opponents(folder)
    th.set_num_threads(1)  # more threads slow small networks down
    log, found = read_log(folder), {}
    last = "final" if (folder / "score.json").is_file() else "checkpoint"
    for which in (last,) if read_config(folder).track else ("best", last):
        model = Run.resume(folder).model if which == "checkpoint" else load_model(folder, which)[0]
        row = int(np.argmax(log["results"])) if which == "best" else -1
        steps = model.num_timesteps if which == "checkpoint" else log["timesteps"][row]
        columns = Diagnosed(model).figures()
        columns.numbers["timesteps"] = float(steps)
        columns.leave_out(("unvisited",), "train --diagnose keeps them")
        found[which] = columns
    rows = [{"model": which, **columns.numbers} for which, columns in found.items()]
    write_file(folder / FILE, to_csv(["model", *COLUMNS], rows))
    return found


def run_diagnose(options: DiagnoseConfig) -> None:
    """Print the figures of a run's models."""
    from ..diagnose.training.model import COLUMNS, told_missing

    found, console, rows = diagnose_models(options.run_folder), Console(), []
    for name in COLUMNS:
        digits = 0 if name == "timesteps" else 6
        numbers = [each.numbers.get(name) for each in found.values()]
        cells = ["" if number is None else f"{number:,.{digits}f}" for number in numbers]
        rows += [[name, *cells]] if any(cells) else []
    Table(["", *found], rows).show(console)
    for line in told_missing({which: each.missing for which, each in found.items()}):
        console.print(line, highlight=False, markup=False)
    print(f"written in {options.run_folder / FILE}")
