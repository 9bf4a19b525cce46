"""How a score is shown: as text, as a web page's table in a notebook, and as a file."""

from html import escape
from pathlib import Path
from typing import Any

from ...core import InputError, write_file
from ..task import Task
from .figure import FIGURES


class Shown:
    """The texts and the file of a ``Score``, which has the attributes below."""

    policy: str
    deterministic: bool
    masked: bool
    task: Task

    @property
    def title(self) -> str:
        """The policy and its task in words."""
        kind = "deterministic" if self.deterministic else "stochastic"
        held = "masked" if self.masked else "not masked"
        return f"{self.policy} ({kind}, {held}) in {self.task.words}"

    def __str__(self) -> str:
        figures = ", ".join(f"{name} {text}" for name, text in self._row().items())
        return f"{self.title}: {figures}"

    def _repr_html_(self) -> str:
        """Write the title and a table of the figures, for notebooks."""
        row = self._row()
        names = "".join(f"<th>{escape(name)}</th>" for name in row)
        texts = "".join(f"<td>{escape(text)}</td>" for text in row.values())
        return (
            f"<table><caption>{escape(self.title)}</caption>"
            f"<thead><tr>{names}</tr></thead><tbody><tr>{texts}</tr></tbody></table>"
        )

    def _row(self) -> dict[str, str]:
        """Give the figures that take no sentence, as texts by name."""
        shown = (figure for figure in FIGURES if figure.label and not figure.sentence)
        return {figure.label: figure.text(self) for figure in shown}

    def save(self, path: Path | str) -> None:
        """Write the certificate of the score, a file that ``exactdice.verify`` checks.

        Args:
            path: the file, which ends in .npz; it may be given as a policy, too.

        Raises:
            WriteError: if there is no room or no permission; a file that is there is whole.
            InputError: if the name has another ending; if the policy is not held to the legal
                actions or is too large to verify, or an opponent is not known by name.
        """
        from .certificate import certificate  # which needs Score

        result: Any = self
        file = Path(path)
        if file.suffix != ".npz":
            raise InputError(f"path must end in .npz, got {file}")
        write_file(file, certificate(result))
