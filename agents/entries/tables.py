"""The board of entries: tables of the entries of a track, as Markdown and CSV."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...core import FloatArray, write_file
from ..board.statistics import RESAMPLES, Estimate, estimate, iqm, mean
from ..board.tables import Table, interval_text, markdown, to_csv, unit_of
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


@dataclass(frozen=True)
class EntryBoard:
    """The board of one track.

    Attributes:
        track: the track.
        entries: its entries, best first.
        headlines: the mean nines of each entry, with their interval.
        totals: the table of the entries over all games.
        games: the table of the entries in each game.
    """

    track: Track
    entries: list[Verified]
    headlines: list[Estimate]
    totals: Table
    games: Table

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
    "entry", "algorithm", "seeds", "mean nines", "95 % interval", "IQM", "95 % interval of the IQM",
    "claimed moves", "claimed seconds", "claimed hardware",
]  # fmt: skip
GAMES = [
    "game", "entry", "algorithm", "seeds", "nines", "95 % interval", "normalised score",
    "regret per 1,000 games",
]  # fmt: skip


def boards_of(admission: Admission) -> list[EntryBoard]:
    """Make the board of every track that has an entry."""
    boards = []
    for track in OPEN.values():
        own = [found for found in admission.verified if found.entry.card.track == track.name]
        if own:
            boards.append(_board(track, own))
    return boards


def _board(track: Track, found: list[Verified]) -> EntryBoard:
    headlines = {entry.entry.name: _estimate(entry, "nines") for entry in found}
    found = sorted(found, key=lambda entry: -float(headlines[entry.entry.name].middle))
    return EntryBoard(
        track,
        found,
        [headlines[entry.entry.name] for entry in found],
        (TOTALS, [_total(entry, headlines[entry.entry.name]) for entry in found]),
        (GAMES, [_in_game(game, entry) for game in track.games for entry in found]),
    )


def _numbers(found: Verified, game: str, name: str) -> FloatArray:
    return np.array([getattr(figures, name) for figures in found.of_game(game)], dtype=np.float64)


def _estimate(found: Verified, name: str) -> Estimate:
    statistic = mean if name == "nines" else iqm
    return estimate([_numbers(found, game, name) for game in found.entry.track.games], statistic)


def _total(found: Verified, headline: Estimate) -> list[str]:
    card, middle = found.entry.card, _estimate(found, "normalized")
    return [
        card.title,
        card.algorithm,
        str(len(found.entry.seeds)),
        f"{headline.middle:.3f}",
        interval_text(headline, ".3f"),
        f"{middle.middle:.4f}",
        interval_text(middle, ".4f"),
        f"{card.moves:,}",
        f"{card.seconds:,.0f}",
        card.hardware,
    ]


def _in_game(game: str, found: Verified) -> list[str]:
    nines = estimate([_numbers(found, game, "nines")], mean)
    return [
        game,
        found.entry.card.title,
        found.entry.card.algorithm,
        str(len(found.entry.seeds)),
        f"{nines.middle:.3f}",
        interval_text(nines, ".3f"),
        f"{_numbers(found, game, 'normalized').mean():.4f}",
        f"{1000 * _numbers(found, game, 'regret').mean():.1f} {unit_of(game)}",
    ]


def _rows(found: Verified) -> list[Row]:
    card = found.entry.card
    said: dict[str, Any] = {
        "title": card.title,
        "algorithm": card.algorithm,
        "claimed_moves": card.moves,
        "claimed_seconds": card.seconds,
        "claimed_hardware": card.hardware,
        "link": card.link,
        "exactdice": card.exactdice,
    }
    rows = []
    for (game, seed), figures in found.figures.items():
        numbers = {name: getattr(figures, name) for name in NUMBERS}
        known: dict[str, Any] = {
            "track": card.track,
            "version": card.version,
            "entry": found.entry.name,
        }
        rows.append(Row(**known, **said, game=game, seed=seed, **numbers))
    return rows


def write_tables(board: EntryBoard, folder: Path) -> list[Path]:
    """Write the Markdown and the CSV of a board into a folder."""
    links = "\n".join(
        f"- {found.entry.card.title}: <{found.entry.card.link}>" for found in board.entries
    )
    parts = [f"# {board.track.title}", board.rules, markdown(board.totals), links]
    texts = {
        f"{board.track.name}.md": "\n\n".join([*parts, markdown(board.games)]) + "\n",
        f"{board.track.name}.csv": to_csv(
            Row, [row for own in board.entries for row in _rows(own)]
        ),
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
    parts += [f"### {board.track.title}\n\n{markdown(board.totals)}" for board in boards]
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
