"""Every number and claim of the sources, beside what exact computation says of it."""

from collections.abc import Callable

from . import greed
from .claims import Claim, report

SOURCES: dict[str, tuple[str, Callable[[], list[Claim]]]] = {"greed": (greed.TITLE, greed.claims)}


def reproduce(source: str) -> int:
    """Print the table of one source.

    Returns:
        0 if every verdict is as recorded, else 1.

    Raises:
        ValueError: if the source is unknown.
    """
    if source not in SOURCES:
        raise ValueError(f"source must be one of {', '.join(SOURCES)}, got {source!r}")
    title, claims = SOURCES[source]
    return report(title, claims())


__all__ = ["SOURCES", "Claim", "reproduce"]
