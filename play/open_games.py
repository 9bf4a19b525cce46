"""The games that are open in browsers, and requests for new games."""

import re
import secrets
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from ..agents.runs.reading import STRICT, read
from ..baselines import is_policy_name
from ..core import GAMES, InputError
from ..core.progress import watched
from ..core.words import YOU, shown
from ..envs import find_game
from .levels import PERSON, Agent, agent_of
from .record import GameRecord, new_seed
from .session import Session
from .statistics import keep, kept_game, path_of_games
from .views import JSON, against_of

KEPT = 50  # largest number of open things of a kind
Thing = TypeVar("Thing")


class NotKeptError(InputError):
    """A request for something that the server does not keep."""


class Opened(Generic[Thing]):
    """Things by random name; if there are too many, the least recently used is closed.

    Args:
        kind: what a thing is, "game".
    """

    def __init__(self, kind: str) -> None:
        self._kind, self._lock = kind, Lock()
        self._kept: OrderedDict[str, Thing] = OrderedDict()

    def add(self, thing: Thing) -> str:
        """Keep a thing, and return its name."""
        name = secrets.token_urlsafe(16)
        with self._lock:
            self._kept[name] = thing
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return name

    def find(self, name: str) -> Thing:
        """Return the thing of a name.

        Raises:
            NotKeptError: if there is none, or it has been closed.
        """
        with self._lock:
            if name not in self._kept:
                raise NotKeptError(
                    f"This {self._kind} is not kept here: only the last {KEPT} are. "
                    "Begin a new one."
                )
            self._kept.move_to_end(name)
            return self._kept[name]


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
    seat: int = 0
    seed: int | None = None
    env: Env = {}
    moves: list[int] = []


class Again(BaseModel):
    """A request for a game like an open one, with its first moves."""

    model_config = STRICT

    again: str
    seed: int | None = None
    made: Annotated[int, Field(ge=0)] = 0


class OpenGame:
    """A game in a browser; its lock lets one request in at a time.

    Args:
        record: options, seed and first moves.
        watch: the policy that makes the moves; None if persons make them.
        counts: whether the game is kept for the statistics when it is over.

    Attributes:
        session: the game.
        agent: makes the moves, if persons do not.
    """

    def __init__(self, record: GameRecord, watch: str | None, *, counts: bool) -> None:
        self.record, self.watch, self.lock = record, watch, Lock()
        self.agent: Agent | None = None if watch is None else agent_of(watch, record.task)
        self.session: Session = record.session(self.agent.title if self.agent else YOU)
        self._counts = counts and watch is None and not record.together

    def keep(self) -> None:
        """Keep the game for the statistics, if it is over and counts; once."""
        if self._counts and self.session.now.over:
            self._counts = False
            keep(kept_game(self.session, self.record), path_of_games())


class Progress:
    """How far the computation is that answers wait for.

    Attributes:
        percent: the part that is done; None while nothing long is computed.
    """

    def __init__(self) -> None:
        self.percent: int | None = None

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


class OpenGames:
    """The open games.

    Args:
        first: the game that the command line names.
        watch: the policy that the command line names to make the moves.

    Attributes:
        progress: how far the computations are that their answers wait for.
    """

    def __init__(self, first: GameRecord, watch: str | None = None) -> None:
        self._first, self._watch = first, watch
        self._opened: Opened[OpenGame] = Opened("game")
        self.progress = Progress()

    @contextmanager
    def opened(self, name: str) -> Iterator[OpenGame]:
        """Find a game, let one request at a time into it, and watch its computations."""
        game = self._opened.find(name)
        with game.lock, self.progress.shown():
            yield game

    def begin(self, wish: JSON) -> tuple[str, OpenGame]:
        """Start a game: with the given options, those of an open game, or the command line's.

        Raises:
            ValueError: if an option is unknown or out of range.
        """
        wish = dict(wish)
        if "again" in wish:
            game = self._again(wish)
        elif not wish:
            game = OpenGame(self._first, self._watch, counts=True)
        else:
            watch = self._watched(wish)
            game = OpenGame(self._record(wish), watch, counts="moves" not in wish)
        return self._opened.add(game), game

    def _watched(self, wish: JSON) -> str | None:
        """Take the policy that makes the moves out of a wish; empty for a person."""
        watch = wish.pop("watch", "")
        if not isinstance(watch, str):
            raise InputError(f"watch must be a text, got {shown(watch)}")
        game: Any = GAMES.get(str(wish.get("game")))
        if watch and watch != self._watch and not (game and is_policy_name(game, watch)):
            raise InputError(f"watch must be the name of a policy, got {watch[:50]!r}")
        return watch or None

    def _record(self, wish: JSON) -> GameRecord:
        """Read the options of a new game; only the command line may name files of policies."""
        given = read(NewGame, wish, "the options of a game")
        name = given.game
        if name == self._first.game:  # a file says where the class of a game of one's own is
            name = find_game(name).name
        if name not in GAMES:
            raise InputError(f"game must be one of {', '.join(GAMES)}, got {name[:50]!r}")
        game: Any = GAMES[name]
        own = find_game(self._first.game) is game
        against = game.default_opponent if given.against is None else given.against
        is_given = own and against == against_of(self._first)
        together = against == PERSON.name
        if not (is_given or together or is_policy_name(game, against)):
            raise InputError(f"against must be the name of a policy, got {against[:50]!r}")
        if {"seat", game.opponent_keyword} & set(given.env):
            raise InputError(f"env must be without seat and {game.opponent_keyword}")
        seat = 0 if together else given.seat
        return GameRecord(
            self._first.game if own else name,
            given.env | ({"seat": seat} if seat else {}),
            None if against == game.default_opponent else against,
            new_seed() if given.seed is None else given.seed,
            actions=tuple(given.moves),
        )

    def _again(self, wish: JSON) -> OpenGame:
        """Return a game like an open one, with its first moves or none, perhaps another seed.

        The same dice again, or another try from a position, do not count for the statistics.
        """
        given = read(Again, wish, "the options of a game")
        game, made = self._opened.find(given.again), given.made
        with game.lock:
            like = game.record.after(game.session)
        seed = like.seed if given.seed is None else given.seed
        record = replace(like, seed=seed, actions=like.actions[:made])
        return OpenGame(record, game.watch, counts=not made and record.seed != like.seed)
