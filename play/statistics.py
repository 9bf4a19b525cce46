"""Statistics over a person's games, which are recorded in a file in the user's data folder.

Each finished game is a line of JSON in ``games.jsonl``. ``EXACTDICE_DATA`` names another folder;
the word "none" turns recording off. The reader skips a damaged line and reports it; no line is ever
changed or removed.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from ..agents.runs.options import STRICT
from ..baselines.advice import seen_at
from ..core import InputError, WriteError, append, present, user_folder
from .coach import POINTS, WINS, accuracy, costliest, steps, unit_of
from .levels import rivals
from .record import GameRecord
from .session import Session

VARIABLE = "EXACTDICE_DATA"
FILE = "games.jsonl"
RECENT = 10  # games of a recent total


class KeptGame(BaseModel):
    """A finished game, as the file records it."""

    model_config = STRICT

    kind: Literal["exactdice game"] = "exactdice game"  # marks the lines of the file
    when: datetime  # time of its end in UTC
    title: str  # the game with its keywords, in words
    rivals: str  # the other players, in words; empty if there were none
    link: str  # the game as the part of an address behind the # (``GameRecord.link``)
    seat: int  # the person's seat
    points: bool  # whether payoffs are points; if not, they are wins
    decisions: int  # number of moves for which some legal move was not optimal
    lost: float  # sum of the losses of the moves, in units of the payoff
    average: float  # sum of the mean losses of the legal moves, the scale of accuracy
    luck: float  # change of the expected payoff by dice and by other players' moves
    payoff: float  # payoff of the game
    # The observation and the loss of each of the costliest moves.
    worst: tuple[tuple[tuple[int, ...], float], ...]


def figures(games: Sequence[KeptGame]) -> dict[str, Any]:
    """Return the figures of several games of one kind, as they are printed.

    What is "lost" is the mean of the decisions, "luck" and "payoff" are those of the games. The
    payoff of a single game is "won", "lost" or "tied", unless it is points.
    """
    unit = POINTS if games[0].points else WINS
    decisions, lost = sum(one.decisions for one in games), sum(one.lost for one in games)
    payoff = sum(one.payoff for one in games) / len(games)
    ended = {0.0: "lost", 1.0: "won"}.get(payoff, "tied")
    return {
        "games": len(games),
        "decisions": decisions,
        "lost": unit.shown(unit.rounded(lost / max(1, decisions))),
        "accuracy": accuracy(lost, sum(one.average for one in games)),
        "luck": unit.signed(sum(one.luck for one in games) / len(games)),
        "payoff": ended if len(games) == 1 and unit.ends else unit.shown(unit.rounded(payoff)),
    }


def path_of_games() -> Path | None:
    """Return the file of the games; None if recording is turned off."""
    folder = user_folder("data", VARIABLE)
    return folder and folder / FILE


def kept_game(session: Session, record: GameRecord) -> KeptGame:
    """Return the record of a finished session with one person."""
    game, made, account = session.task.game, steps(session), session.account
    states = [session.moments[one.number].state for one in costliest(made)]
    seen = [tuple(seen_at(game, session.task.seat, state).tolist()) for state in states]
    return KeptGame(
        when=datetime.now(UTC).replace(microsecond=0),
        title=present(game).heading,
        rivals=", ".join(one.title for one in rivals(session.task)),
        link=record.after(session).link,
        seat=session.task.seat,
        points=not unit_of(game).ends,
        decisions=sum(bool(one.grade) for one in made),
        lost=sum(one.cost for one in made),
        average=sum(one.average for one in made),
        luck=account.luck,
        payoff=account.payoff,
        worst=tuple(zip(seen, (one.cost for one in costliest(made)), strict=True)),
    )


def keep(game: KeptGame, path: Path | None) -> None:
    """Append a game to the file, if there is one."""
    if path is None:
        return
    try:
        append(path, f"{game.model_dump_json()}\n".encode())
    except WriteError as error:
        raise WriteError(f"This game is not in your statistics: {error}.") from None


def read_games(path: Path | None) -> tuple[list[KeptGame], list[str]]:
    """Read all games of a file, the oldest first, and a sentence for each skipped line."""
    try:
        lines = path.read_bytes().split(b"\n") if path is not None and path.exists() else []
    except OSError as error:
        raise InputError(f"{path} must be a file that can be read: {error.strerror}") from None
    games, damaged = [], []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                games.append(KeptGame.model_validate_json(line))
            except ValueError:
                damaged.append(f"Line {number} of {path} is damaged and was passed over.")
    return games, damaged


def by_title(games: Sequence[KeptGame]) -> dict[str, list[KeptGame]]:
    """Group games by title; the title of the latest game comes first."""
    titles = dict.fromkeys(one.title for one in reversed(games))
    return {title: [one for one in games if one.title == title] for title in titles}


def statistics_view() -> dict[str, Any]:
    """Return the statistics of all kept games, as the page and the terminal show them."""
    path = path_of_games()
    games, damaged = read_games(path)
    return {
        "file": "" if path is None else str(path),
        "damaged": damaged,
        "games": [
            {
                "title": title,
                "all": figures(own),
                "recent": figures(own[-RECENT:]) if len(own) > RECENT else None,
                "series": [
                    {
                        "when": one.when.isoformat(),
                        "rivals": one.rivals,
                        "link": one.link,
                        "lost": one.lost / max(1, one.decisions),
                        "words": figures([one]),
                    }
                    for one in own
                ],
            }
            for title, own in by_title(games).items()
        ],
    }
