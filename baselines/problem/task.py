"""Tasks: a game, the agent's seat in it, and fixed policies for all other players."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ...core import GAMES, Game, InputError, KeywordError, one_of, present
from ...core.contract import require_attributes
from ...core.words import listed, meant, plural
from ..cache import cached
from ..law.explicit import ExplicitGame
from ..policies.door import label, read_policy
from ..policies.kinds import Policy, PolicyLike
from ..policies.names import EQUILIBRIUM

#: One policy for several seats, or one for each, in the order of the seats or by seat.
LineUp: TypeAlias = PolicyLike | Sequence[PolicyLike] | Mapping[int, PolicyLike]


@dataclass(frozen=True, init=False, repr=False)
class Task:
    """A game for one agent: the moves of all other players are chance.

    A task is a description, of which ``prepare`` makes a ``Problem``.

    Args:
        game: the rules.
        seat: the agent's seat; seat 0 moves first.
        opponents: one policy for all other seats, or a policy for each of them, in the order of
            the seats or by seat. "optimal" is the equilibrium.

    Attributes:
        opponents: known names and policies, in the order of the other seats.

    Raises:
        ValueError: if the seat does not exist or an opponent is not a policy of the game.
    """

    game: Game
    seat: int
    opponents: tuple[str | Policy, ...]

    def __init__(self, game: Game, seat: int = 0, opponents: LineUp = "optimal") -> None:
        require_attributes(game)
        if isinstance(seat, bool | np.bool_) or seat not in range(game.num_players):
            raise InputError(f"seat must be from 0 to {game.num_players - 1}, got {seat!r}")
        others = [other for other in range(game.num_players) if other != seat]
        played = by_seat(opponents, others)
        known = tuple(read_policy(played[other], game, other) for other in others)
        for name, value in {"game": game, "seat": int(seat), "opponents": known}.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Task({self.game!r}, seat={self.seat}, opponents={dict(self.labels)})"

    @property
    def words(self) -> str:
        """The task in words: "Greed, max_score 50, seat 0, against optimal"."""
        if not self.opponents:
            return present(self.game).words
        seats: dict[str, list[str]] = {}  # by name of policy
        for other, name in self.labels.items():
            seats.setdefault(name, []).append(str(other))
        against = list(seats)
        if len(self.opponents) > 1:
            against = [
                f"{name} in {plural(len(where), 'seat')} {listed(where)}"
                for name, where in seats.items()
            ]
        return f"{present(self.game).words}, seat {self.seat}, against {listed(against)}"

    @property
    def others(self) -> list[int]:
        """The other seats."""
        return [other for other in range(self.game.num_players) if other != self.seat]

    @property
    def labels(self) -> Mapping[int, str]:
        """Names of the other players' policies, by seat."""
        return dict(zip(self.others, map(label, self.opponents), strict=True))

    @property
    def faces_equilibrium(self) -> bool:
        """Whether all other players, if there are any, play the equilibrium."""
        return all(isinstance(p, str) and p in EQUILIBRIUM for p in self.opponents)

    @property
    def opponent_keywords(self) -> dict[str, Any]:
        """The keyword argument that gives an environment these opponents, in JSON's types.

        Raises:
            ValueError: if an opponent is not known by name.
        """
        unnamed = [label(policy) for policy in self.opponents if not isinstance(policy, str)]
        if unnamed:
            raise InputError(f"opponents must be known by name, got {', '.join(unnamed)}")
        return {self.game.opponent_keyword: list(self.opponents)} if self.opponents else {}


def by_seat(policies: LineUp, seats: Iterable[int]) -> dict[int, PolicyLike]:
    """Assign policies to seats."""
    seats = list(seats)
    if isinstance(policies, Mapping):
        if set(policies) != set(seats):
            raise InputError(
                f"opponents or policies must be for seats {seats}, got {sorted(policies)}"
            )
        return {seat: policies[seat] for seat in seats}
    if isinstance(policies, list | tuple):
        if len(policies) != len(seats):
            raise InputError(
                f"opponents or policies must be one or {len(seats)}, got {len(policies)}"
            )
        return dict(zip(seats, policies, strict=True))
    one: Any = policies
    return dict.fromkeys(seats, one)


def make_task(game: "str | Task", /, seat: int = 0, **keywords: Any) -> Task:
    """Build a task from the keywords of an environment; a task, without keywords, is returned.

    Keywords are the game's own, and its ``opponent_keyword``: a policy, a list of policies, or a
    text of several names with commas between them.
    """
    if isinstance(game, Task):
        if seat or keywords:
            raise InputError(
                f"seat and keywords must be left out, as the task has them, got {game}"
            )
        return game
    rules = GAMES[one_of("game", game, tuple(GAMES))]
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
    """Build a game from its keywords; a message lists ``others``, of its environment, too."""
    rules = GAMES[game]
    known = inspect.signature(rules).parameters
    unknown = next((name for name in keywords if name not in known), None)
    if unknown is not None:
        names = ", ".join([*others, *known])
        raise KeywordError(
            f"{game} takes the keywords {names}, got an unexpected keyword argument {unknown!r}"
            + meant(unknown, [*others, *known])
        )
    plain = tuple((name, type(value), value) for name, value in sorted(keywords.items()))
    fixed = all(kind in (str, int, float, bool, type(None)) for _, kind, _ in plain)
    fixed &= not issubclass(rules, ExplicitGame)  # whose law is asked for anew: it may change
    made = _built(rules, plain) if fixed else rules(**keywords)
    require_attributes(made)
    return made


@cached
def _built(rules: type[Game], plain: tuple[tuple[str, type, Any], ...]) -> Game:
    """Build a game of names, types and values; the types tell 1 from 1.0 and True."""
    return rules(**{name: value for name, _, value in plain})
