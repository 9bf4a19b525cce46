"""The games that are open in browsers, and requests for new games."""

import re
import secrets
from collections import OrderedDict
from dataclasses import replace
from threading import Lock
from typing import Any

from ..baselines import is_policy_name
from ..core import GAMES, InputError, at_least
from ..envs import find_game
from .record import GameRecord, new_seed
from .session import Session
from .views import JSON, against_of

KEPT = 50  # largest number of open games


class NotKeptError(InputError):
    """A request for a game that the server does not keep."""


class OpenGame:
    """A game in a browser; its lock lets one request in at a time."""

    def __init__(self, record: GameRecord) -> None:
        self.record, self.lock = record, Lock()
        self.session: Session = record.session()


class OpenGames:
    """The open games by random name; if there are too many, the least recently used is closed.

    Args:
        first: the game that the command line names.
    """

    def __init__(self, first: GameRecord) -> None:
        self._first, self._lock = first, Lock()
        self._kept: OrderedDict[str, OpenGame] = OrderedDict()

    def begin(self, wish: JSON) -> tuple[str, OpenGame]:
        """Start a game: with the given options, those of an open game, or the command line's.

        Raises:
            ValueError: if an option is unknown or out of range.
        """
        game = OpenGame(self._again(wish) if "again" in wish else self._record(wish))
        name = secrets.token_urlsafe(16)
        with self._lock:
            self._kept[name] = game
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return name, game

    def find(self, name: str) -> OpenGame:
        """Return the game of a name.

        Raises:
            NotKeptError: if there is no such game, or it has been closed.
        """
        with self._lock:
            if name not in self._kept:
                raise NotKeptError(
                    f"This game is not kept here: only the last {KEPT} are. Begin a new one."
                )
            self._kept.move_to_end(name)
            return self._kept[name]

    def _record(self, wish: JSON) -> GameRecord:
        """Read the options of a new game; only the command line may name files of policies."""
        if not wish:
            return self._first
        _check(wish, game=str, against=str, seat=int, seed=int, env=dict, moves=list)
        name, env = wish.get("game", ""), wish.get("env", {})
        if name == self._first.game:  # a file says where the class of a game of one's own is
            name = find_game(name).name
        if name not in GAMES:
            raise InputError(f"game must be one of {', '.join(GAMES)}, got {name[:50]!r}")
        game: Any = GAMES[name]
        own = find_game(self._first.game) is game
        against = wish.get("against", game.default_opponent)
        is_given = own and against == against_of(self._first)
        if not (is_given or is_policy_name(game, against)):
            raise InputError(f"against must be the name of a policy, got {against[:50]!r}")
        if {"seat", game.opponent_keyword} & set(env):
            raise InputError(f"env must be without seat and {game.opponent_keyword}")
        if not all(isinstance(value, int | str | None) for value in env.values()):
            raise InputError("env must have numbers, words, true, false or null")
        seat = wish.get("seat", 0)
        return GameRecord(
            self._first.game if own else name,
            {key: _number(value) for key, value in env.items()} | ({"seat": seat} if seat else {}),
            None if against == game.default_opponent else against,
            wish["seed"] if "seed" in wish else new_seed(),
            actions=_moves(wish),
        )

    def _again(self, wish: JSON) -> GameRecord:
        """Return the record of an open game, with its first moves or none, perhaps another seed."""
        _check(wish, again=str, seed=int, made=int)
        game = self.find(wish["again"])
        with game.lock:
            like = game.record.after(game.session)
        made = at_least("made", wish.get("made", 0), 0)
        return replace(like, seed=wish.get("seed", like.seed), actions=like.actions[:made])


def _check(wish: JSON, **known: type) -> None:
    """Refuse unknown options, and values of another type."""
    for key, value in wish.items():
        if key not in known:
            raise InputError(f"a game takes {', '.join(known)}, got {key[:50]!r}")
        if not isinstance(value, known[key]) or isinstance(value, bool):
            raise InputError(
                f"{key} must be of type {known[key].__name__}, got {str(value)[:50]!r}"
            )


def _moves(wish: JSON) -> tuple[int, ...]:
    """Return the moves that a link or a file has made."""
    moves = wish.get("moves", [])
    if not all(type(action) is int for action in moves):
        raise InputError("moves must be whole numbers")
    return tuple(moves)


def _number(value: Any) -> Any:
    """Turn a typed whole number into an int, as the command line does."""
    typed = isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,30}", value)
    return int(value) if typed else value
