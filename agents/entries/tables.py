"""The board of entries: tables of the entries of a track, as Markdown and CSV."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...core import Table, write_file
from ..board.statistics import RESAMPLES, Estimate, estimate, iqm, mean
from ..board.tables import NINES, REGRET, SCORE, SEEDS, estimated, numbers, single, table
from ..tracks import OPEN, Track
from .admission import Admission, Verified
from .checking import NUMBERS

CLAIMS = (
    "Moves, seconds and hardware are claims of the authors: nobody can prove with how many moves a "
    "policy was trained, or that it was trained at all. The scores are no claims: they were "
    "computed anew from the policy in each certificate."
)
LONGEST = 60_000  # characters of a summary; a comment on GitHub has at most 65,536


#: Columns of an entry over all games, before the claims of its card.
TOTALS = [
    single("seeds", lambda own: str(len(own[0]))),
    estimated(("mean nines", "95 % interval"), "nines", mean, ".3f"),
    estimated(("IQM", "95 % interval of the IQM"), "score", iqm, ".4f"),
]
CLAIMED = ("claimed moves", "claimed seconds", "claimed hardware")
#: Header of the CSV file, which has a row for each certificate.
COLUMNS = (
    *("track", "version", "entry", "title", "algorithm", "game", "seed", *NUMBERS),
    *("claimed_moves", "claimed_seconds", "claimed_hardware", "link", "exactdice"),
)


@dataclass(frozen=True)
class EntryBoard:
    """The board of one track.

    Attributes:
        track: the track.
        entries: its entries, best first.
    """

    track: Track
    entries: list[Verified]

    @property
    def headlines(self) -> list[Estimate]:
        """The mean nines of each entry, with their interval."""
        return [_headline(found) for found in self.entries]

    @property
    def links(self) -> dict[str, str]:
        """Where each entry comes from, by title."""
        return {found.entry.card.title: found.entry.card.link for found in self.entries}

    @property
    def totals(self) -> Table:
        """The table of the entries over all games."""
        cards = [found.entry.card for found in self.entries]
        names = [(card.title, card.algorithm) for card in cards]
        scored = zip(names, (found.strata for found in self.entries), strict=True)
        shown = table(("entry", "algorithm"), scored, TOTALS)
        claimed = [[f"{card.moves:,}", f"{card.seconds:,.0f}", card.hardware] for card in cards]
        rows = [[*row, *more] for row, more in zip(shown.rows, claimed, strict=True)]
        return Table([*shown.header, *CLAIMED], rows, texts=2)

    @property
    def games(self) -> Table:
        """The table of the entries in each game."""
        scored = [
            ((game, found.entry.card.title, found.entry.card.algorithm), [found.of_game(game)])
            for game in self.track.games
            for found in self.entries
        ]
        return table(("game", "entry", "algorithm"), scored, [SEEDS, NINES, SCORE, REGRET])

    @property
    def certificates(self) -> Table:
        """The table of all certificates, with all digits."""
        return Table(COLUMNS, [row for found in self.entries for row in _rows(found)])

    @property
    def rules(self) -> str:
        """Sentences on the computation of the figures, and on the statements that are unproven."""
        return (
            f"Every entry has certificates of all games of {self.track.title}, with their default "
            f"keywords, and of at least {self.track.seeds} seeds. It says that each run made at "
            f"most {self.track.moves:,} moves of its agent. {CLAIMS} 1 is the optimum, 0 uniformly "
            "random play; nines are -log10(1 - normalised score), at most 9. The headline is the "
            "mean of the nines over games and seeds; IQM is the mean of the middle half of all "
            f"normalised scores. Intervals come from {RESAMPLES:,} bootstrap resamples of the "
            "seeds within each game, and are rather too narrow for so few seeds."
        )


def _headline(found: Verified) -> Estimate:
    return estimate(numbers(found.strata, "nines"), mean)


def _rows(found: Verified) -> list[list[object]]:
    """Return the rows of an entry in the table of certificates."""
    card, name = found.entry.card, found.entry.name
    begin = [card.track, card.version, name, card.title, card.algorithm]
    end = [card.moves, card.seconds, card.hardware, card.link, card.exactdice]
    return [
        [*begin, game, seed, *(getattr(each, number) for number in NUMBERS), *end]
        for (game, seed), each in found.figures.items()
    ]


def boards_of(admission: Admission) -> list[EntryBoard]:
    """Make the board of every track that has an entry."""
    best = sorted(admission.verified, key=lambda found: -float(_headline(found).middle))
    boards = [
        EntryBoard(track, [found for found in best if found.entry.track == track])
        for track in OPEN.values()
    ]
    return [board for board in boards if board.entries]


def write_tables(board: EntryBoard, folder: Path) -> list[Path]:
    """Write the Markdown and the CSV of a board into a folder."""
    links = "\n".join(f"- {title}: <{link}>" for title, link in board.links.items())
    parts = [f"# {board.track.title}", board.rules, board.totals.markdown(), links]
    texts = {
        f"{board.track.name}.md": "\n\n".join([*parts, board.games.markdown()]) + "\n",
        f"{board.track.name}.csv": board.certificates.csv(),
    }
    for name, text in texts.items():
        write_file(folder / name, text.encode())
    return [folder / name for name in texts]


def summary(admission: Admission, boards: Sequence[EntryBoard]) -> str:
    """Return the admitted and the refused entries in Markdown, short enough for a comment.

    The reasons may quote files of unknown origin. They stand in a block of plain text, and no line
    of a reason can end the block, since every line begins with "refused".
    """
    held, refused = len(admission.verified), admission.refused
    parts = [f"## Entries: {held} {'holds' if held == 1 else 'hold'}, {len(refused)} refused"]
    if refused:
        lines = [f"refused: {name}: {reason}" for name, reason in refused.items()]
        parts.append("\n".join(["~~~text", *_shortened(lines), "~~~"]))
    parts += [f"### {board.track.title}\n\n{board.totals.markdown()}" for board in boards]
    parts.append(CLAIMS)
    text = "\n\n".join(parts) + "\n"
    if len(text) > LONGEST:
        text = "\n\n".join([*parts[: 1 + bool(refused)], "The tables are too long.", CLAIMS]) + "\n"
    return text


def _shortened(lines: list[str]) -> list[str]:
    """Return the first lines that fit into half a summary, and a count of the omitted lines."""
    room, shown = LONGEST // 2, list[str]()
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return [*shown, f"refused: {len(lines) - len(shown)} more"]
        shown.append(line)
    return shown
