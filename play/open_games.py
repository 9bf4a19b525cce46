"""The games and puzzles that are open in browsers, and requests for new ones."""

import re
import secrets
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BaseModel
from pydantic_core import PydanticCustomError

from ..agents.runs.options import STRICT, read
from ..baselines import is_policy_name
from ..core import GAMES, InputError
from ..core.progress import watched
from ..core.words import YOU
from ..envs import find_game
from .levels import PERSON, agent_of
from .record import GameRecord, new_seed
from .statistics import keep, kept_game, path_of_games
from .views import JSON, against_of, session_view

KEPT = 50  # largest number of open things of a kind
Thing = TypeVar("Thing")


@dataclass(eq=False)
class Progress:
    """How far the computation is that answers wait for."""

    percent: int | None = None  # the part that is done; None while nothing long is computed

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Note how far long computations in the ``with`` block are."""

        def report(done: int, total: int, *_: object) -> None:
            self.percent = 100 * done // total

        try:
            with watched(report):
                yield
        finally:
            self.percent = None


class NotKeptError(InputError):
    """A request for something that the server does not keep."""


class Opened(Generic[Thing]):
    """Things of a kind by random name; if there are too many, the least recently used is closed."""

    def __init__(self, kind: str, progress: Progress) -> None:
        self.progress, self._kind, self._lock = progress, kind, Lock()
        self._run = secrets.token_urlsafe(4)  # names of another run of the server begin otherwise
        self._kept: OrderedDict[str, tuple[Thing, Lock]] = OrderedDict()

    def add(self, thing: Thing) -> str:
        """Keep a thing, and return its name."""
        name = self._run + secrets.token_urlsafe(16)
        with self._lock:
            self._kept[name] = thing, Lock()
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return name

    @contextmanager
    def use(self, name: str) -> Iterator[Thing]:
        """Let one request at a time use the thing of a name."""
        with self._lock:
            if name not in self._kept:
                here = name.startswith(self._run)
                why = f"only the last {KEPT} are" if here else "the server has been started again"
                raise NotKeptError(f"This {self._kind} is not kept here: {why}. Begin a new one.")
            self._kept.move_to_end(name)
            thing, lock = self._kept[name]
        with lock, self.progress.shown():
            yield thing


def _value(value: Any) -> Any:
    """Return the value of a keyword; a typed whole number as an int, as on the command line."""
    if not isinstance(value, int | str | None):
        raise PydanticCustomError("kind", "a number, a word, true, false or null")
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,30}", value):
        return int(value)
    return value


#: Keyword arguments of a game in a request.
Env = dict[str, Annotated[Any, AfterValidator(_value)]]


class NewGame(BaseModel):
    """A request for a game with options."""

    model_config = STRICT

    game: str = ""
    against: str | None = None
    watch: str = ""
    seat: int = 0
    seed: int | None = None
    env: Env = {}
    moves: list[int] = []
    counts: bool | None = None


class NewPuzzles(BaseModel):
    """A request for puzzles."""

    model_config = STRICT

    game: str
    of: str = ""
    level: str = "easy"
    seed: int | None = None
    env: Env = {}


class OpenGame:
    """A game in a browser, of persons or a policy, which may count for the statistics."""

    def __init__(self, record: GameRecord, watch: str, *, counts: bool) -> None:
        self.record = record
        self.agent = agent_of(watch, record.task) if watch else None
        self.session = record.session(self.agent.title if self.agent else YOU)
        self._counts = counts and not watch and not record.together

    @property
    def view(self) -> JSON:
        """The board, the legal moves and the moves so far."""
        view = session_view(self.session, self.record, self.agent)
        return view | {"counts": self._counts}

    def keep(self) -> None:
        """Keep the game for the statistics, if it is over and counts; once."""
        if self._counts and self.session.now.over:
            self._counts = False
            keep(kept_game(self.session, self.record), path_of_games())


def begin_game(wish: JSON, first: GameRecord, watch: str) -> OpenGame:
    """Start a game with the wished options, or the command line's.

    A request for nothing but a seed asks for the command line's game, in which a policy may move. A
    game that is given moves, be it none, does not count for the statistics: the same dice again,
    another try from a position, a link or a file. ``counts`` decides where a page restores a game
    that the server has lost.
    """
    given = read(NewGame, wish, "the options of a game")
    if wish.keys() <= {"seed"}:
        if given.seed not in (None, first.seed):
            first = replace(first, seed=given.seed, actions=())
        return OpenGame(first, watch, counts=True)
    counts = "moves" not in wish if given.counts is None else given.counts
    return OpenGame(_record(given, first, watch), given.watch, counts=counts)


def _record(given: NewGame, first: GameRecord, watch: str) -> GameRecord:
    """Return the record of a new game; only the command line may name files of policies."""
    place = place_of(given.game, first)
    game: Any = find_game(place)
    own = place == first.game
    against = game.default_opponent if given.against is None else given.against
    is_given = own and against == against_of(first)
    together = against == PERSON.name
    if not (is_given or together or is_policy_name(game, against)):
        raise InputError(f"against must be the name of a policy, got {against[:50]!r}")
    if given.watch not in ("", watch) and not is_policy_name(game, given.watch):
        raise InputError(f"watch must be the name of a policy, got {given.watch[:50]!r}")
    if {"seat", game.opponent_keyword} & set(given.env):
        raise InputError(f"env must be without seat and {game.opponent_keyword}")
    seat = 0 if together else given.seat
    return GameRecord(
        place,
        given.env | ({"seat": seat} if seat else {}),
        None if against == game.default_opponent else against,
        new_seed() if given.seed is None else given.seed,
        actions=tuple(given.moves),
    )


def place_of(name: str, first: GameRecord) -> str:
    """Return the game of a request as a record names it; only the command line may name files."""
    if name in (first.game, find_game(first.game).name):
        return first.game
    if name not in GAMES:
        raise InputError(f"game must be one of {', '.join(GAMES)}, got {name[:50]!r}")
    return name
