"""The exact figures of the models of a run folder, after training or in a pause of it."""

from pathlib import Path

import numpy as np
import torch as th
from rich.console import Console

from ...agents.runs.config import RunError
from ...agents.runs.folders import load_model, read_config, read_log
from ...agents.runs.run import Run
from ...core import Table, write_file
from .columns import COLUMNS, GRADIENT, Columns
from .diagnosed import Diagnosed
from .diary import NAME, Diary, as_csv

#: The file of a run folder with a row for each model.
FILE = "diagnosis-models.csv"


def diagnose_models(folder: Path) -> dict[str, Columns]:
    """Compute the columns of the models of a run, and write them into its folder.

    Args:
        folder: a run folder.

    Returns:
        The columns by model: "best" and "final"; before the end of training "checkpoint" instead
        of "final". A run on a track has no "best".

    Raises:
        RunError: if the folder is not that of a run, holds no model, or is one of self-play.
    """
    require_fixed_opponents(folder)
    th.set_num_threads(1)  # more threads slow small networks down
    log = read_log(folder)
    last = "final" if (folder / "score.json").is_file() else "checkpoint"
    found = {}
    for which in (last,) if read_config(folder).track else ("best", last):
        if which == "checkpoint":
            model = Run.resume(folder).model
            steps = float(model.num_timesteps)
        else:
            model, _ = load_model(folder, which)
            row = int(np.argmax(log["results"])) if which == "best" else -1
            steps = float(log["timesteps"][row])
        diagnosed = Diagnosed(model)
        columns = diagnosed.figures()
        columns.add(diagnosed.by_moves())
        columns.numbers["timesteps"] = steps
        columns.leave_out(GRADIENT, "it needs the buffer of training")
        _add_visits(columns, folder, which)
        found[which] = columns
    rows = [columns.numbers for columns in found.values()]
    write_file(folder / FILE, as_csv(rows, model=list(found)).encode())
    return found


def require_fixed_opponents(folder: Path) -> None:
    """Check that a run has the same opponents all the time.

    Raises:
        RunError: if it was trained by self-play.
    """
    if read_config(folder).self_play:
        raise RunError(f"a diagnosis needs a run without self-play, got {folder}")


def _add_visits(columns: Columns, folder: Path, which: str) -> None:
    """Add what training has left out, and what the last audit has found, of the newest model."""
    names = ("unvisited", "audit_findings")
    if which == "best":
        columns.leave_out(names, "they are known for the end of training alone")
        return
    if not (folder / NAME).is_file():
        columns.leave_out(names, "training keeps them with --diagnose")
        return
    diary = Diary.read(folder)
    for name in names:
        rows = [row[name] for row in diary.rows if name in row]
        if rows:
            columns.numbers[name] = rows[-1]
        else:
            columns.leave_out((name,), diary.missing.get(name, "it had no turn in training"))


def print_models(found: dict[str, Columns], console: Console) -> None:
    """Print the columns of models as a table, and why others are missing."""
    texts = [[_text(name, each.numbers.get(name)) for each in found.values()] for name in COLUMNS]
    rows = [[name, *cells] for name, cells in zip(COLUMNS, texts, strict=True) if any(cells)]
    Table(["", *found], rows).show(console)
    for reason, names in reasons(found).items():
        console.print(f"no {', '.join(names)}: {reason}", highlight=False, markup=False)


def reasons(found: dict[str, Columns]) -> dict[str, list[str]]:
    """Return the names of missing columns by the reason, each once."""
    told: dict[str, list[str]] = {}
    for which, columns in found.items():
        for name, reason in columns.missing.items():
            everywhere = all(reason == other.missing.get(name) for other in found.values())
            shown = name if everywhere else f"{name} of {which}"
            if shown not in told.setdefault(reason, []):
                told[reason].append(shown)
    return told


def _text(name: str, number: float | None) -> str:
    if number is None:
        return ""
    whole = name in ("timesteps", "audit_findings")
    return f"{number:,.0f}" if whole else f"{number:.6f}"
