"""``exactdice board``: verify the entries of the public board, and write its pages."""

from dataclasses import dataclass
from pathlib import Path

import tyro

from ..core import at_least


@dataclass(frozen=True)
class BoardConfig:
    """Verify every certificate of a folder of entries anew, and write the board of each track.

    The exit code is 0 if all entries hold, 1 if one is refused; the others are on the board.
    """

    folder: tyro.conf.Positional[Path]
    """Folder of the entries; ``exactdice submit`` makes them."""

    output: Path = Path("runs/board")
    """Folder for the page, the table (Markdown) and the CSV file of each track."""

    accepted: Path | None = None
    """Folder of the entries that stand already: they must be unchanged, and a copy of one of them
    is refused, whatever its name. Default: of two copies the later name is refused."""

    summary: Path | None = None
    """File for a text of what holds and what does not, in Markdown, as long as a comment may be."""

    jobs: int = -1
    """Number of certificates that are verified at the same time; -1 for the number of
    processors."""

    def __post_init__(self) -> None:
        """Check what can be checked at once."""
        if self.jobs != -1:
            at_least("jobs", self.jobs, 1)


def run(options: BoardConfig) -> int:
    """Verify the entries; print what holds and what does not, and where the boards are."""
    from ..agents.board.pool import processors
    from ..agents.entries.admission import admit
    from ..agents.entries.tables import CLAIMS, boards_of, summary
    from ..core import make_folder, write_file
    from ..look.entries import write

    jobs = processors() if options.jobs == -1 else options.jobs
    found = admit(options.folder, jobs, options.accepted)
    for held in found.verified:
        print(f"holds: {held.entry.name}")
    for name, reason in found.refused.items():  # no line begins with the text of a stranger
        print(f"refused: {name}: {reason}")
    boards = boards_of(found)
    make_folder(options.output)
    for path in write(boards, options.output):
        print(f"written: {path}")
    print(CLAIMS)
    if options.summary is not None:
        write_file(options.summary, summary(found, boards).encode())
    return 1 if found.refused else 0
