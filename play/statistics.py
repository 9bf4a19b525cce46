"""Statistics over a person's games, which are recorded in a file in the user's data folder.

Each finished game is a line of JSON in ``games.jsonl``. ``EXACTDICE_DATA`` names another folder;
the word "none" turns recording off. The reader skips a damaged line and reports it; no line is ever
changed or removed.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from ..agents.runs.reading import checked
from ..core import InputError, WriteError, append, user_folder
from ..core.presentation import present
from .advice import is_decision, seen_at
from .coach import accuracy, costliest, steps, unit_of
from .levels import rivals
from .record import GameRecord
from .session import Session

VARIABLE = "EXACTDICE_DATA"
FILE = "games.jsonl"
KIND = "exactdice game"  # marks the lines


@checked
class KeptGame:
    """A finished game, as the file records it.

    Attributes:
        when: time of its end in UTC, in ISO 8601.
        title: the game with its keywords, in words.
        rivals: the other players, in words; empty if there were none.
        link: the game as the part of an address behind the # (``GameRecord.link``).
        seat: the person's seat.
        points: whether payoffs are points; if not, they are wins.
        decisions: number of moves for which some legal move was not optimal.
        lost: sum of the losses of the moves, in units of the payoff.
        average: sum of the mean losses of the legal moves, the scale of accuracy.
        luck: change of the expected payoff by dice and by other players' moves.
        payoff: payoff of the game.
        worst: the observation and the loss of each of the costliest moves.
    """

    when: str
    title: str
    rivals: str
    link: str
    seat: int
    points: bool
    decisions: int
    lost: float
    average: float
    luck: float
    payoff: float
    worst: tuple[tuple[tuple[int, ...], float], ...]

    @property
    def accuracy(self) -> float | None:
        """Share of the loss of random moves that the person avoided (``coach.accuracy``)."""
        return accuracy(self.lost, self.average)


@dataclass(frozen=True)
class Total:
    """Totals and means over several games.

    Attributes:
        games: the games, the oldest first.
    """

    games: Sequence[KeptGame]

    @property
    def decisions(self) -> int:
        """The number of decisions."""
        return sum(one.decisions for one in self.games)

    @property
    def lost(self) -> float:
        """Mean loss of a decision."""
        return sum(one.lost for one in self.games) / max(1, self.decisions)

    @property
    def accuracy(self) -> float | None:
        """Share of the loss of random moves that the person avoided, over all games."""
        return accuracy(sum(one.lost for one in self.games), sum(one.average for one in self.games))

    @property
    def luck(self) -> float:
        """Mean luck of a game."""
        return sum(one.luck for one in self.games) / max(1, len(self.games))

    @property
    def payoff(self) -> float:
        """Mean payoff of a game."""
        return sum(one.payoff for one in self.games) / max(1, len(self.games))


def path_of_games() -> Path | None:
    """Return the file of the games; None if recording is turned off."""
    folder = user_folder("data", VARIABLE)
    return folder and folder / FILE


def kept_game(session: Session, record: GameRecord) -> KeptGame:
    """Return the record of a finished session with one person."""
    game, made, account = session.task.game, steps(session), session.account
    states = [session.moment(one.number).state for one in costliest(made)]
    seen = [tuple(seen_at(game, session.task.seat, state).tolist()) for state in states]
    deciding = [session.advice(len(made) - one.number) for one in made]
    return KeptGame(
        datetime.now(UTC).isoformat(timespec="seconds"),
        present(game).heading,
        ", ".join(one.title for one in rivals(session.task)),
        record.after(session).link,
        session.task.seat,
        not unit_of(game).ends,
        sum(is_decision(advice) for advice in deciding),
        sum(one.cost for one in made),
        sum(one.average for one in made),
        account.luck,
        account.payoff,
        tuple(zip(seen, (one.cost for one in costliest(made)), strict=True)),
    )


def keep(game: KeptGame, path: Path | None) -> None:
    """Append a game to the file.

    Args:
        game: the game.
        path: the file; None to record nothing.

    Raises:
        WriteError: if it cannot be written to; the games before are as they were.
    """
    if path is None:
        return
    try:
        append(path, (json.dumps({"kind": KIND, **asdict(game)}) + "\n").encode())
    except WriteError as error:
        raise WriteError(f"This game is not in your statistics: {error}.") from None


def read_games(path: Path | None) -> tuple[list[KeptGame], list[str]]:
    """Read all games of a file, the oldest first, and report damaged lines.

    Args:
        path: the file; None if recording is turned off.

    Returns:
        The games, and a sentence for each skipped line.

    Raises:
        InputError: if the file exists and cannot be read.
    """
    try:
        lines = path.read_bytes().split(b"\n") if path is not None and path.exists() else []
    except OSError as error:
        raise InputError(f"{path} must be a file that can be read: {error.strerror}") from None
    games, damaged = [], []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                games.append(_read(line))
            except (ValueError, TypeError, KeyError, RecursionError):
                damaged.append(f"Line {number} of {path} is damaged and was passed over.")
    return games, damaged


def _read(line: bytes) -> KeptGame:
    """Return the game that a line records.

    Raises:
        ValueError: if the line is no record of a game, or a number is missing or of another type.
        TypeError: if a part of the record is of another type.
    """
    content = json.loads(line)
    if not isinstance(content, dict) or content.pop("kind", None) != KIND:
        raise ValueError("another kind")
    worst = tuple((tuple(map(int, seen)), float(cost)) for seen, cost in content.pop("worst"))
    game = KeptGame(**content, worst=worst)
    datetime.fromisoformat(game.when)
    return game


def by_title(games: Sequence[KeptGame]) -> dict[str, Total]:
    """Group games by title; the title of the latest game comes first."""
    titles = dict.fromkeys(one.title for one in reversed(games))
    return {title: Total([one for one in games if one.title == title]) for title in titles}
