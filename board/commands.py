"""``exactdice benchmark`` and ``tune``; ``submit`` and ``board``: the public board, and entries."""

from pathlib import Path

import tyro

from ..agents.runs.options import Jobs, Positive, TrackName, checked
from ..core import make_folder, write_file
from .grid import BenchmarkConfig, TuneConfig


def run_benchmark(options: BenchmarkConfig) -> int:
    """Train the cells that are missing; the exit code is 1 if one failed."""
    from .benchmark import benchmark
    from .pictures import to_page

    return 1 if benchmark(options, page=to_page) else 0


def run_tune(options: TuneConfig) -> None:
    """Run the trials that are missing, and write the best hyperparameters."""
    from .tune import tune

    tune(options)


@checked
class SubmitConfig:
    """Make an entry of the public board, a folder with certificates and a card, and verify it."""

    place: tyro.conf.Positional[Path]
    """Folder of a benchmark on a track; or a folder of certificates of any program, with names of
    a game and a seed, such as Greed-0.npz."""

    title: str
    """Name of the entry on the board."""

    link: str
    """Address of the code or the paper, which begins with https://."""

    algorithm: str | None = None
    """Learning algorithm. Of run folders: which one, if there are several."""

    hardware: str = "not said"
    """The hardware that trained the runs."""

    track: TrackName | None = None
    """Track of certificates; runs know theirs, as they know moves and seconds."""

    moves: Positive | None = None
    """Largest number of moves of a run, exploration included, for certificates."""

    seconds: float | None = None
    """Mean seconds of a run, for certificates."""

    folder: Path | None = None
    """Folder of the entry, which must not exist. Default: one in benchmarks/entries, named
    after the track and the title."""

    jobs: Jobs = -1
    """Number of certificates that are verified at the same time; -1 for the number of
    processors."""


def run_submit(options: SubmitConfig) -> None:
    """Make the entry, and print its score."""
    from .entry_boards import CLAIMS
    from .strata import estimate, headline, numbers
    from .submission import submit

    names = ("title", "link", "algorithm", "track", "moves", "seconds", "hardware")
    said = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    found = submit(options.place, said, options.folder, options.jobs)
    nines = estimate(numbers(found.strata, "score"), headline).middle
    print(f"{found.folder}: {len(found.figures)} certificates hold, nines {nines:.3f}\n{CLAIMS}")


@checked
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

    jobs: Jobs = -1
    """Number of certificates that are verified at the same time; -1 for the number of
    processors."""


def run_board(options: BoardConfig) -> int:
    """Verify the entries; print what holds and what does not, and where the boards are."""
    from .admission import admit
    from .entry_boards import CLAIMS, boards_of, summary
    from .pictures import write_entries

    found = admit(options.folder, options.jobs, options.accepted)
    for held in found.verified:
        print(f"holds: {held.name}")
    for name, reason in found.refused.items():  # no line begins with the text of a stranger
        print(f"refused: {name}: {reason}")
    boards = boards_of(found)
    make_folder(options.output)
    for path in write_entries(boards, options.output):
        print(f"written: {path}")
    print(CLAIMS)
    if options.summary is not None:
        write_file(options.summary, summary(found, boards).encode())
    return 1 if found.refused else 0
