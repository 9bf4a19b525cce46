"""The files of a diagnosis in a run folder: the figures of its training, and those of its models.

diagnosis.npz         an array (row,) for each of ``COLUMNS``, NaN where a number was not computed;
                      ``visited``, the states that training has visited, as packed bits; ``words``,
                      a text in JSON: the reasons of missing columns, and the findings of audits
diagnosis.csv         the columns, for spreadsheets
"""

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...agents.runs.config import RunError
from ...agents.runs.folders import held, read_config, reading
from ...core import BoolArray, FloatArray, Table, write_file
from .model import COLUMNS

NAME = "diagnosis.npz"


@dataclass
class Diary:
    """The rows, the findings and the missing columns of a diagnosis."""

    #: Numbers by the names in ``COLUMNS``, in the order of training.
    rows: list[dict[str, float]] = field(default_factory=list)
    #: Why a column has no number in any row, by its name.
    missing: dict[str, str] = field(default_factory=dict)
    #: The findings of audits, each check and mistake once: with ``timesteps``, when it was found
    #: first, and the fields of ``Finding``.
    findings: list[dict[str, Any]] = field(default_factory=list)
    visited: BoolArray | None = None  # the states that training has visited; None if not known

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
        write_file(folder / "diagnosis.csv", to_csv(COLUMNS, self.rows))

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


def to_csv(header: Iterable[str], rows: list[dict[str, Any]]) -> bytes:
    """Return rows as CSV; numbers that are missing are empty."""
    names = list(header)
    return Table(names, [[row.get(name) for name in names] for row in rows]).csv().encode()


def require_fixed_opponents(folder: Path) -> None:
    """Raise a ``RunError`` if a run was trained by self-play: its opponents changed."""
    if read_config(folder).self_play:
        raise RunError(f"a diagnosis needs a run without self-play, got {folder}")
