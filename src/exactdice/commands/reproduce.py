"""``exactdice reproduce``: recompute the numbers and claims of a source."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from ..core import InputError
from ..sources.reproduce import SOURCES, reproduce

#: A name in ``SOURCES``, shown as a choice.
SourceName = Annotated[str | None, tyro.conf.arg(metavar="{" + ",".join(SOURCES) + "}")]


@dataclass(frozen=True)
class ReproduceConfig:
    """Print every number and claim of a source beside the exact one, with a verdict, as Markdown.

    The exit code is 0 if every verdict is as recorded, else 1.
    """

    source: tyro.conf.Positional[SourceName] = None
    """Which source."""

    all: tyro.conf.FlagCreatePairsOff[bool] = False
    """Every source, one after the other."""

    def __post_init__(self) -> None:
        """Check that there is one thing to do."""
        if (self.source is None) != self.all:
            raise InputError(f"source must be one of {', '.join(SOURCES)}, or left out with --all")


def run(options: ReproduceConfig) -> int:
    """Print the tables of one source, or of all."""
    return reproduce(list(SOURCES) if options.source is None else [options.source])
