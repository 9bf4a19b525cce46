"""How a number of a score is shown: in JSON, in the terminal and on web pages."""

from typing import NamedTuple


class Figure(NamedTuple):
    """A number of a ``Score``: how JSON, the terminal and web pages show it.

    Attributes:
        name: the attribute of ``Score``, and the key in JSON.
        label: its name for people; empty if it stands in JSON only.
        meaning: a phrase that explains it.
        format: format of the number, as for ``format``.
        sentence: for the terminal, with the number at ``{}``; empty for a column of the table.
        logged: whether a training loop logs it.
    """

    name: str
    label: str = ""
    meaning: str = ""
    format: str = ".6f"
    sentence: str = ""
    logged: bool = False

    def text(self, score: object) -> str:
        """Write the number; empty if it is None, as exploitability is without an adversary."""
        value = getattr(score, self.name)
        return "" if value is None else format(value, self.format)
