"""The files of a diagnosis in a run folder: the figures of its training, and those of its models.

diagnosis.npz         an array (row,) for each of ``COLUMNS``, NaN where a number was not computed;
                      ``visited``, the states that training has visited, as packed bits; ``words``,
                      a text in JSON: the reasons of missing columns, and the findings of audits
diagnosis.csv         the columns, for spreadsheets
diagnosis-models.csv  the columns of the models, computed after training or in a pause of it
"""

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch as th

from ...agents.runs.config import RunError
from ...agents.runs.folders import held, load_model, read_config, read_log, reading
from ...agents.runs.run import Run
from ...core import BoolArray, FloatArray, Table, write_file
from .model import COLUMNS, Columns, Diagnosed

NAME = "diagnosis.npz"
#: The file of a run folder with a row for each model.
FILE = "diagnosis-models.csv"


@dataclass
class Diary:
    """The rows, the findings and the missing columns of a diagnosis.

    Attributes:
        rows: numbers by the names in ``COLUMNS``, in the order of training.
        missing: why a column has no number in any row, by its name.
        findings: the findings of audits, each check and mistake once: with ``timesteps``, when it
            was found first, and the fields of ``Finding``.
        visited: the states that training has visited, shape (state,); None if not known.
    """

    rows: list[dict[str, float]] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    findings: list[dict[str, Any]] = field(default_factory=list)
    visited: BoolArray | None = None

    def column(self, name: str) -> FloatArray:
        """Return a column, NaN where it was not computed, shape (row,)."""
        return np.array([row.get(name, np.nan) for row in self.rows], dtype=np.float64)

    @property
    def known(self) -> list[str]:
        """Names of the columns that have a number."""
        return [name for name in COLUMNS if any(name in row for row in self.rows)]

    def add(self, row: dict[str, float], missing: Mapping[str, str]) -> None:
        """Add a row, and the reasons for columns that have no number so far."""
        self.rows.append(row)
        reasons = {**self.missing, **missing}
        self.missing = {key: reasons[key] for key in reasons if key not in self.known}

    def write(self, folder: Path) -> None:
        """Write the files of a run folder."""
        words = json.dumps({"missing": self.missing, "findings": self.findings})
        content: dict[str, Any] = {name: self.column(name) for name in COLUMNS}
        content["words"] = np.array(words)
        if self.visited is not None:
            content |= {"visited": np.packbits(self.visited), "states": len(self.visited)}
        write_file(folder / NAME, lambda file: np.savez(file, **content))
        write_file(folder / "diagnosis.csv", _csv(COLUMNS, self.rows))

    @classmethod
    def read(cls, folder: Path) -> "Diary":
        """Read the file of a run folder; raise a ``RunError`` if there is none, or no whole one."""
        path = held(folder, NAME, ": train with --diagnose")
        with (
            reading(path, "hold what was diagnosed in a run"),
            np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file,
        ):
            columns = {name: file[name].astype(np.float64).tolist() for name in COLUMNS}
            words = json.loads(str(file["words"]))
            found = zip(*columns.values(), strict=True)
            rows = [dict(zip(columns, row, strict=True)) for row in found]
            rows = [{key: one for key, one in row.items() if np.isfinite(one)} for row in rows]
            visited = None
            if "visited" in file:
                visited = np.unpackbits(file["visited"], count=int(file["states"])).astype(bool)
            return cls(rows, dict(words["missing"]), list(words["findings"]), visited)


def _csv(header: Iterable[str], rows: list[dict[str, Any]]) -> bytes:
    """Return rows as CSV; numbers that are missing are empty."""
    names = list(header)
    return Table(names, [[row.get(name) for name in names] for row in rows]).csv().encode()


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
    log, found = read_log(folder), {}
    last = "final" if (folder / "score.json").is_file() else "checkpoint"
    for which in (last,) if read_config(folder).track else ("best", last):
        model = Run.resume(folder).model if which == "checkpoint" else load_model(folder, which)[0]
        row = int(np.argmax(log["results"])) if which == "best" else -1
        steps = model.num_timesteps if which == "checkpoint" else log["timesteps"][row]
        columns = Diagnosed(model).figures()
        columns.numbers["timesteps"] = float(steps)
        columns.leave_out(("unvisited", "audit_findings"), "train --diagnose keeps them")
        found[which] = columns
    rows = [{"model": which, **columns.numbers} for which, columns in found.items()]
    write_file(folder / FILE, _csv(["model", *COLUMNS], rows))
    return found


def require_fixed_opponents(folder: Path) -> None:
    """Raise a ``RunError`` if a run was trained by self-play: its opponents changed."""
    if read_config(folder).self_play:
        raise RunError(f"a diagnosis needs a run without self-play, got {folder}")
