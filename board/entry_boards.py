"""The board of entries: tables of the entries of a track, as Markdown and CSV."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..core import Table
from . import strata
from .admission import NUMBERS, Admission, Verified
from .tracks import OPEN, Track

CLAIMS = (
    "Moves, seconds and hardware are claims of the authors: nobody can prove with how many moves a "
    "policy was trained, or that it was trained at all. The scores are no claims: they were "
    "computed anew from the policy in each certificate."
)
LONGEST = 60_000  # characters of a summary; a comment on GitHub has at most 65,536
WIDEST, MOST = 1000, 40  # characters of a reason in it, and the number of reasons
#: Columns of an entry over all games, and those of its card.
TOTALS: dict[str, strata.Cell] = {"seeds": lambda own: str(len(own[0])), **strata.HEADLINES}
CLAIMED = ("claimed moves", "claimed seconds", "claimed hardware")
#: Header of the CSV file, which has a row for each certificate.
COLUMNS = (
    *("track", "version", "entry", "title", "algorithm", "game", "seed", *NUMBERS),
    *("claimed_moves", "claimed_seconds", "claimed_hardware", "link", "exactdice"),
)


@dataclass(frozen=True)
class EntryBoard:
    """The board of one track."""

    track: Track
    entries: list[Verified]  # best first

    @property
    def links(self) -> dict[str, str]:
        """Where each entry comes from, by title."""
        return {found.card.title: found.card.link for found in self.entries}

    @property
    def totals(self) -> Table:
        """The table of the entries over all games."""
        rows = []
        agents = [found.strata for found in self.entries]
        places = strata.ranks(strata.pairs(agents))
        for place, found, own in zip(places, self.entries, agents, strict=True):
            card = found.card
            scored = [cell(own) for cell in TOTALS.values()]
            claimed = [f"{card.moves:,}", f"{card.seconds:,.0f}", card.hardware]
            rows.append([card.title, card.algorithm, place, *scored, *claimed])
        return Table(["entry", "algorithm", "rank", *TOTALS, *CLAIMED], rows, texts=2)

    @property
    def games(self) -> Table:
        """The table of the entries in each game."""
        scored = [
            ((game, found.card.title, found.card.algorithm), [found.of_game(game)])
            for game in self.track.games
            for found in self.entries
        ]
        columns = {**strata.SEEDS, **strata.NINES, **strata.SCORE, **strata.REGRET}
        return strata.table(("game", "entry", "algorithm"), scored, columns)

    @property
    def certificates(self) -> Table:
        """The table of all certificates, with all digits."""
        rows = []
        for found, card in ((found, found.card) for found in self.entries):
            begin = [card.track, card.version, found.name, card.title, card.algorithm]
            end = [card.moves, card.seconds, card.hardware, card.link, card.exactdice]
            for cell, figures in found.figures.items():
                rows.append([*begin, *cell, *(getattr(figures, name) for name in NUMBERS), *end])
        return Table(COLUMNS, rows)

    @property
    def rules(self) -> str:
        """Sentences on the computation of the figures, and on the statements that are unproven."""
        return (
            f"Every entry has certificates of all games of {self.track.title}, with their default "
            f"keywords, and of at least {self.track.seeds} seeds. It says that each run made at "
            f"most {self.track.moves:,} moves of its agent. {CLAIMS} 1 is the optimum, 0 uniformly "
            f"random play; {strata.HEADLINE}. {strata.INTERVALS}"
        )

    @property
    def markdown(self) -> str:
        """The board in Markdown."""
        links = "\n".join(f"- {title}: <{link}>" for title, link in self.links.items())
        head = f"# {self.track.title}", self.rules
        return "\n\n".join([*head, self.totals.markdown(), links, self.games.markdown()]) + "\n"


def boards_of(admission: Admission) -> list[EntryBoard]:
    """Make the board of every track that has an entry."""
    best = sorted(admission.verified, key=lambda found: strata.rank(found.strata))
    boards = [
        EntryBoard(track, [found for found in best if found.track == track])
        for track in OPEN.values()
    ]
    return [board for board in boards if board.entries]


def summary(admission: Admission, boards: Sequence[EntryBoard]) -> str:
    """Return the admitted and the refused entries in Markdown, short enough for a comment.

    The reasons may quote files of unknown origin. They stand in a block of plain text, and no line
    of a reason can end the block, since every line begins with "refused".
    """
    held, refused = len(admission.verified), admission.refused
    parts = [f"## Entries: {held} {'holds' if held == 1 else 'hold'}, {len(refused)} refused"]
    if refused:
        lines = [f"refused: {name}: {reason}"[:WIDEST] for name, reason in refused.items()]
        more = [f"refused: {len(lines) - MOST} more"] if len(lines) > MOST else []
        parts.append("\n".join(["~~~text", *lines[:MOST], *more, "~~~"]))
    parts += [f"### {board.track.title}\n\n{board.totals.markdown()}" for board in boards]
    text = "\n\n".join([*parts, CLAIMS]) + "\n"
    if len(text) > LONGEST:
        text = "\n\n".join([*parts[: 1 + bool(refused)], "The tables are too long.", CLAIMS]) + "\n"
    return text
