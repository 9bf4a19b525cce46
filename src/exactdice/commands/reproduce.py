"""``exactdice reproduce``: recompute the numbers and claims of a source."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from ..core import InputError
from ..sources.reproduce import SOURCES, reproduce
from .waiting import shown_progress

#: A name in ``SOURCES``, shown as a choice.
SourceName = Annotated[str | None, tyro.conf.arg(metavar="{" + ",".join(SOURCES) + "}")]


@dataclass(frozen=True)
class ReproduceConfig:
    """Print every number and claim of a source, its exact value and a verdict, as Markdown tables.

    The exit code is 0 if every verdict is as recorded, else 1.
    """

    source: tyro.conf.Positional[SourceName] = None
    """The source, or a game that it describes."""

    all: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print all sources."""

    def __post_init__(self) -> None:
        """Check that either a source is named or ``--all`` is given."""
        if (self.source is None) != self.all:
            raise InputError(f"source must be one of {', '.join(SOURCES)}, or left out with --all")


def run(options: ReproduceConfig) -> int:
    """Print the tables of one source, or of all."""
    names = list(SOURCES) if options.source is None else [options.source]
    return reproduce(names, shown_progress)
