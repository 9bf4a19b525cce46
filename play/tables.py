"""The games that people have open in browsers, and what they may ask for when they begin one."""

import re
import secrets
from collections import OrderedDict
from dataclasses import replace
from threading import Lock
from typing import Any

from ..baselines import is_policy_name
from ..core import GAMES, InputError
from ..envs import find_game
from .record import Record, new_seed
from .session import Session
from .views import JSON, against_of

KEPT = 50  # games


class NotKeptError(InputError):
    """A game that is asked for and not there."""


class Table:
    """A game that somebody plays in a browser, one request at a time."""

    def __init__(self, record: Record) -> None:
        self.record, self.lock = record, Lock()
        self.session: Session = record.session()


class Tables:
    """The games that are kept, by their random numbers; who was not asked for longest goes first.

    Args:
        first: the game to begin with, from the command line.
    """

    def __init__(self, first: Record) -> None:
        self._first, self._lock = first, Lock()
        self._kept: OrderedDict[str, Table] = OrderedDict()

    def begin(self, wish: JSON) -> tuple[str, Table]:
        """Begin a game, one like another that is kept, or, of no wish, that of the command line.

        Raises:
            ValueError: if the wish cannot be granted.
        """
        table = Table(self._again(wish) if "again" in wish else self._record(wish))
        name = secrets.token_urlsafe(16)
        with self._lock:
            self._kept[name] = table
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return name, table

    def find(self, name: str) -> Table:
        """Give a game.

        Raises:
            NotKeptError: if there is none of that name, or no more.
        """
        with self._lock:
            if name not in self._kept:
                raise NotKeptError(
                    f"This game is not kept here: only the last {KEPT} are. Begin a new one."
                )
            self._kept.move_to_end(name)
            return self._kept[name]

    def _record(self, wish: JSON) -> Record:
        """Read what somebody wants to play; files of policies are named on the command line."""
        if not wish:
            return self._first
        _check(wish, game=str, against=str, seat=int, seed=int, env=dict)
        name, env = wish.get("game", ""), wish.get("env", {})
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
        return Record(
            self._first.game if own else name,
            {key: _number(value) for key, value in env.items()} | ({"seat": seat} if seat else {}),
            None if against == game.default_opponent else against,
            wish["seed"] if "seed" in wish else new_seed(),
        )

    def _again(self, wish: JSON) -> Record:
        """Read which game is to be begun again, from which seed."""
        _check(wish, again=str, seed=int)
        like = self.find(wish["again"]).record
        return replace(like, seed=wish.get("seed", like.seed), actions=())


def _check(wish: JSON, **known: type) -> None:
    """See that a wish has nothing but what is known, each of its type."""
    for key, value in wish.items():
        if key not in known:
            raise InputError(f"a game takes {', '.join(known)}, got {key[:50]!r}")
        if not isinstance(value, known[key]) or isinstance(value, bool):
            raise InputError(
                f"{key} must be of type {known[key].__name__}, got {str(value)[:50]!r}"
            )


def _number(value: Any) -> Any:
    """Read what was typed, as the command line does."""
    typed = isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,30}", value)
    return int(value) if typed else value
