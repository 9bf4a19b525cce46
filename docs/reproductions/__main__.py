"""Print the claims of the sources, each with the exact result and a verdict.

``python -m docs.reproductions greed`` prints the page of a source, ``docs/reproduction/greed.md``,
and ``python -m docs.reproductions`` the index, ``docs/reproduction.md``, which computes all claims,
too; ``--pictures FOLDER`` draws the figures of the sources instead.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path

from exactdice.core import InputError, Table, one_of

from .claim import Claim, summary, surprises, table
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
    "421": [(four_two_one.TITLE, four_two_one.claims), (match_claims.TITLE, match_claims.claims)],
}

HEADING = """# The sources, recomputed

Every printed number and every claim of the sources, beside the result of exact computation. Each
source has a table: first the claims that are *wrong*, with a counterexample beside each wrong
statement, then the numbers that the transcription lost (*garbled*), then the claims that *agree*. A
number may agree exactly, *by rounding* or *by truncation* of its last digit.

In a checkout `python -m docs.reproductions` prints this page, and
`python -m docs.reproductions greed` that of a source: greed, lowest-score, shut-the-box or 421.
`make reproduce` prints the pages of all."""
END = "[All sources](../reproduction.md), and what the verdicts mean."


def reproduce(names: Sequence[str]) -> int:
    """Print the Markdown pages of some sources; without any, the index of all.

    Returns:
        0 if every verdict is as recorded, else 1.

    Raises:
        InputError: if a source is unknown.
    """
    for name in names:
        one_of("source", name, tuple(SOURCES))
    rows, new = [], 0
    for name in names or SOURCES:
        found = [(title, find()) for title, find in SOURCES[name]]
        new += sum(len(surprises(claims)) for _, claims in found)
        rows += [(f"[{title}](reproduction/{name}.md)", summary(claims)) for title, claims in found]
        if names:
            page = "\n\n".join([*(table(*each) for each in found), END])
            print(page[1:], flush=True)  # the first title is the page's
    if not names:
        print(f"{HEADING}\n\n{Table(['source', 'claims'], rows).markdown()}")
    return 1 if new else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code, 2 for a user's mistake."""
    parser = ArgumentParser("python -m docs.reproductions", description=__doc__)
    parser.add_argument("sources", nargs="*", metavar="source", help=", ".join(SOURCES))
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="draw the figures here")
    options = parser.parse_args(arguments)
    try:
        if options.pictures is None:
            return reproduce(options.sources)
        from .pictures import draw_all

        draw_all(options.pictures)
    except InputError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
