"""``exactdice diagnose``: exact figures of the critic, advantages and exploration of a run."""

from dataclasses import dataclass
from pathlib import Path

import tyro


@dataclass(frozen=True)
class DiagnoseConfig:
    """Compute how good the numbers are that a run learns from, for each of its models.

    The figures are those of ``train --diagnose``; they are also written into the run folder, as
    diagnosis-models.csv.
    """

    run_folder: tyro.conf.Positional[Path]
    """Run folder, of a finished run or of one with a checkpoint."""


def run(options: DiagnoseConfig) -> int:
    """Print the figures of a run's models."""
    from rich.console import Console

    from ..diagnose.training.folder import FILE, diagnose_models, print_models

    print_models(diagnose_models(options.run_folder), Console())
    print(f"written in {options.run_folder / FILE}")
    return 0
