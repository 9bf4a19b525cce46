"""``exactdice audit`` and ``diagnose``: what a learning algorithm records and learns from."""

from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import tyro

from ..agents.runs.options import GameName, Keywords, environment_from_options
from ..core.progress import shown_progress
from ..diagnose import audit_file
from ..games import DEFAULT_GAME


@dataclass(frozen=True)
class AuditConfig:
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
    print(report)
    return 0 if report.ok else 1


@dataclass(frozen=True)
class DiagnoseConfig:
    """Compute how good the numbers are that a run learns from, for each of its models.

    The figures are those of ``train --diagnose``; they are also written into the run folder, as
    diagnosis-models.csv.
    """

    run_folder: tyro.conf.Positional[Path]
    """Run folder, of a finished run or of one with a checkpoint."""


def run_diagnose(options: DiagnoseConfig) -> None:
    """Print the figures of a run's models."""
    from rich.console import Console

    from ..core import Table
    from ..diagnose.training.folder import FILE, diagnose_models
    from ..diagnose.training.model import COLUMNS, told_missing

    found, console, rows = diagnose_models(options.run_folder), Console(), []
    for name in COLUMNS:
        digits = 0 if name in ("timesteps", "audit_findings") else 6
        numbers = [each.numbers.get(name) for each in found.values()]
        cells = ["" if number is None else f"{number:,.{digits}f}" for number in numbers]
        rows += [[name, *cells]] if any(cells) else []
    Table(["", *found], rows).show(console)
    for line in told_missing({which: each.missing for which, each in found.items()}):
        console.print(line, highlight=False, markup=False)
    print(f"written in {options.run_folder / FILE}")
