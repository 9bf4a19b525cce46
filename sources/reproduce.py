"""All claims of the sources, each with the exact result and a verdict."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain

from ..core import InputError
from ..core.words import meant
from .claim import Claim, surprises, table
from .four_two_one import claims as four_two_one
from .four_two_one import match_claims
from .greed import claims as greed
from .lowest_score import claims as lowest_score
from .shut_the_box import claims as shut_the_box

#: The tables of each source: title, and the function that lists the claims.
SOURCES: dict[str, list[tuple[str, Callable[[], list[Claim]]]]] = {
    "greed": [(greed.TITLE, greed.claims)],
    "lowest-score": [(lowest_score.TITLE, lowest_score.claims)],
    "shut-the-box": [(shut_the_box.TITLE, shut_the_box.claims)],
    "421": [
        (four_two_one.TITLE, four_two_one.claims),
        (match_claims.TITLE, match_claims.claims),
    ],
}

#: The source that describes a game of another name.
OF_GAME = {"FourTwoOne": "421", "FourTwoOneMatch": "421"}

HEADING = """# The sources, recomputed

Every printed number and every claim of the sources, beside the result of exact computation, as
`exactdice reproduce --all` prints it. Each source has a table: first the claims that are *wrong*,
with a counterexample beside each wrong statement, then the numbers that the transcription lost
(*garbled*), then the claims that *agree*. A number may agree exactly, *by rounding* or *by
truncation* of its last digit."""


def find_source(name: str) -> str:
    """Return the source with a name, or the source of the game with a name, in any case.

    Raises:
        ValueError: if there is none.
    """
    known = {source.replace("-", ""): source for source in SOURCES}
    known |= {game.lower(): source for game, source in OF_GAME.items()}
    plain = name.lower().replace("-", "")
    if plain not in known:
        near = meant(name, (*SOURCES, *OF_GAME))
        raise InputError(f"source must be one of {', '.join(SOURCES)}, got {name!r}{near}")
    return known[plain]


def reproduce(
    names: Sequence[str], computing: Callable[[], AbstractContextManager[None]] = nullcontext
) -> int:
    """Print the tables of some sources as a Markdown page.

    Args:
        names: see ``find_source``.
        computing: makes a context in which each table is computed; it may show the progress.

    Returns:
        0 if every verdict is as recorded, else 1.

    Raises:
        ValueError: if a source is unknown.
    """
    sources = [find_source(name) for name in names]
    print(HEADING, flush=True)  # the first claims take seconds
    new = 0
    for title, find in chain.from_iterable(SOURCES[source] for source in sources):
        with computing():
            claims = find()
        new += len(surprises(claims))
        print()
        print("\n".join(table(title, claims)), flush=True)
    return 1 if new else 0
