"""Games and tasks from the keywords of an environment."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from ..core import GAMES, Game, InputError, KeywordError
from ..core.contract import require_attributes
from ..core.words import meant
from .cache import cached
from .task import Task


def make_task(game: str, /, seat: int = 0, **keywords: Any) -> Task:
    """Build a task from the keywords of an environment.

    Args:
        game: name of the game.
        seat: the agent's seat.
        keywords: the game's own, and its ``opponent_keyword``: a policy, a list of policies, or a
            text of several names with commas between them.

    Raises:
        KeywordError: if a keyword is not one of the game's.
        ValueError: if a value is out of range.
    """
    rules = GAMES[game]
    opponents = keywords.pop(rules.opponent_keyword, None)
    played = make_game(game, ("seat", rules.opponent_keyword), **keywords)
    if opponents is None:
        return Task(played, seat, rules.default_opponent)
    if played.num_players == 1:
        raise InputError(
            f"{rules.opponent_keyword} must be left out, as there is one player, got {opponents!r}"
        )
    if rules.opponent_keyword == "opponents" and isinstance(opponents, str) and "," in opponents:
        opponents = opponents.split(",")
    return Task(played, seat, opponents)


def make_game(game: str, others: Sequence[str] = (), /, **keywords: Any) -> Game:
    """Build a game from its keywords.

    Args:
        game: name of the game.
        others: further keywords of its environment, which the message lists.
        keywords: the game's own.

    Raises:
        KeywordError: if a keyword is not one of the game's.
        ValueError: if a value is out of range.
    """
    rules = GAMES[game]
    known = inspect.signature(rules).parameters
    unknown = next((name for name in keywords if name not in known), None)
    if unknown is not None:
        names = ", ".join([*others, *known])
        raise KeywordError(
            f"{game} takes the keywords {names}, got an unexpected keyword argument {unknown!r}"
            + meant(unknown, [*others, *known])
        )
    made = _played(rules, keywords)
    require_attributes(made)
    return made


def _played(rules: type[Game], keywords: Mapping[str, Any]) -> Game:
    """Build a game; equal plain keywords give the same cached object."""
    plain = [(name, type(value), value) for name, value in sorted(keywords.items())]
    if all(kind in (str, int, float, bool, type(None)) for _, kind, _ in plain):
        return _built(rules, tuple(plain))
    return rules(**keywords)


@cached
def _built(rules: type[Game], keywords: tuple[tuple[str, type, Any], ...]) -> Game:
    """Build a game of names, types and values; the types tell 1 from 1.0 and True."""
    return rules(**{name: value for name, _, value in keywords})
