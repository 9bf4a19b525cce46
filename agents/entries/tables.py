"""The board of entries: tables of the entries of a track, as Markdown and CSV."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...core import Table, write_file
from ..board.statistics import RESAMPLES, Estimate, estimate, iqm, mean
from ..board.tables import (
    NINES,
    REGRET,
    SCORE,
    SEEDS,
    by,
    estimated,
    numbers,
    ranked,
    single,
    table,
)
from ..tracks import OPEN, Track
from .admission import Admission, Verified
from .checking import NUMBERS

CLAIMS = (
    "Moves, seconds and hardware are claims of the authors: nobody can prove with how many moves a "
    "policy was trained, or that it was trained at all. The scores are no claims: they were "
    "computed anew from the policy in each certificate."
)
LONGEST = 60_000  # characters of a summary; a comment on GitHub has at most 65,536


@dataclass(frozen=True)
class Row:
    """One certificate, with all digits, and the claims of its entry."""

    track: str
    version: int
    entry: str
    title: str
    algorithm: str
    game: str
    seed: int
    value: float
    optimum: float
    random: float
    regret: float
    normalized: float
    nines: float
    claimed_moves: int
    claimed_seconds: float
    claimed_hardware: str
    link: str
    exactdice: str

    @property
    def agent(self) -> str:
        """The title of the entry, by which the board names it."""
        return self.title

    @property
    def score(self) -> float:
        """The normalised score."""
        return self.normalized


def rows_of(found: Verified) -> list[Row]:
    """Return the rows of an entry, one for each certificate."""
    card = vars(found.entry.card)
    said = {f"claimed_{name}": card[name] for name in ("moves", "seconds", "hardware")}
    said |= {name: card[name] for name in ("track", "version", "title", "algorithm", "link")}
    said |= {"entry": found.entry.name, "exactdice": card["exactdice"]}
    return [
        Row(game=game, seed=seed, **said, **{name: getattr(each, name) for name in NUMBERS})
        for (game, seed), each in found.figures.items()
    ]


@dataclass(frozen=True)
class EntryBoard:
    """The board of one track.

    Attributes:
        track: the track.
        entries: the rows of its entries by game, best first, by title.
    """

    track: Track
    entries: dict[str, list[list[Row]]]

    @property
    def headlines(self) -> list[Estimate]:
        """The mean nines of each entry, with their interval."""
        return [estimate(numbers(own, "nines"), mean) for own in self.entries.values()]

    @property
    def links(self) -> dict[str, str]:
        """Where each entry comes from."""
        return {title: own[0][0].link for title, own in self.entries.items()}

    @property
    def totals(self) -> Table:
        """The table of the entries over all games."""
        entries = {(title, own[0][0].algorithm): own for title, own in self.entries.items()}
        return table(("entry", "algorithm"), entries.items(), TOTALS)

    @property
    def games(self) -> Table:
        """The table of the entries in each game."""
        entries = {
            (game, title, own[0][0].algorithm): [group for group in own if group[0].game == game]
            for game in self.track.games
            for title, own in self.entries.items()
        }
        return table(("game", "entry", "algorithm"), entries.items(), [SEEDS, NINES, SCORE, REGRET])

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


TOTALS = [
    single("seeds", lambda own: str(len(own[0]))),
    estimated(("mean nines", "95 % interval"), "nines", mean, ".3f"),
    estimated(("IQM", "95 % interval of the IQM"), "normalized", iqm, ".4f"),
    single("claimed moves", lambda own: f"{own[0][0].claimed_moves:,}"),
    single("claimed seconds", lambda own: f"{own[0][0].claimed_seconds:,.0f}"),
    single("claimed hardware", lambda own: own[0][0].claimed_hardware),
]


def boards_of(admission: Admission) -> list[EntryBoard]:
    """Make the board of every track that has an entry."""
    rows = by((row for found in admission.verified for row in rows_of(found)), "track")
    return [EntryBoard(OPEN[name], ranked(rows[name])) for name in OPEN if name in rows]


def write_tables(board: EntryBoard, folder: Path) -> list[Path]:
    """Write the Markdown and the CSV of a board into a folder."""
    links = "\n".join(f"- {title}: <{link}>" for title, link in board.links.items())
    parts = [f"# {board.track.title}", board.rules, board.totals.markdown(), links]
    rows = [row for own in board.entries.values() for group in own for row in group]
    texts = {
        f"{board.track.name}.md": "\n\n".join([*parts, board.games.markdown()]) + "\n",
        f"{board.track.name}.csv": Table.of(Row, rows).csv(),
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
