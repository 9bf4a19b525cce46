"""What an agent faces: a game, a seat, and fixed policies for all other players."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from ..games import GAMES, Array, Game, InputError, KeywordError, Stage, arithmetic, frozen
from ..games.checks import require_attributes
from ..games.sizes import check_sizes
from .conversion import Sight, convert, label, packages_of
from .induction import spread
from .names import EQUILIBRIUM, is_policy_name
from .policies import Policy, PolicyLike

#: One policy for several seats, or one for each, in the order of the seats or by seat.
LineUp: TypeAlias = PolicyLike | Sequence[PolicyLike] | Mapping[int, PolicyLike]


class Task:
    """A game for one agent: everything else that happens is chance.

    Args:
        game: the rules.
        seat: the agent's seat; seat 0 moves first.
        opponents: one policy for all other seats, or a policy for each of them, in the order of
            the seats or by seat. "optimal" is the equilibrium.
        exact: whether named opponents are computed without rounding.

    Attributes:
        policies: the other players' policies by seat.
        labels: what to call them.

    Raises:
        ValueError: if the seat does not exist or an opponent is not a policy of the game.
    """

    def __init__(
        self,
        game: Game,
        seat: int = 0,
        opponents: LineUp = "optimal",
        exact: bool = False,
    ) -> None:
        require_attributes(game)
        if isinstance(seat, bool) or seat not in range(game.num_players):
            raise InputError(f"seat must be from 0 to {game.num_players - 1}, got {seat!r}")
        if exact:
            check_sizes(game, exact=True)
        others = [other for other in range(game.num_players) if other != seat]
        self.game = game
        self.seat = int(seat)
        self.is_exact = exact
        self._opponents = by_seat(opponents, others)
        self.policies: Mapping[int, Policy] = MappingProxyType(
            {
                other: convert(policy, game, other, exact)
                for other, policy in self._opponents.items()
            }
        )
        self.memo: dict[str, Any] = {}  # what exact computation has found out already
        self.labels: Mapping[int, str] = MappingProxyType(
            {other: label(policy) for other, policy in self._opponents.items()}
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what was given, not the tables found out since: models carry their task along."""
        return Task, (self.game, self.seat, self._opponents, self.is_exact)

    def __repr__(self) -> str:
        return f"Task({self.game!r}, seat={self.seat}, opponents={dict(self.labels)})"

    @property
    def faces_equilibrium(self) -> bool:
        """Whether all other players, if there are any, play the equilibrium."""
        return all(isinstance(p, str) and p in EQUILIBRIUM for p in self._opponents.values())

    @property
    def opponent_keywords(self) -> dict[str, Any]:
        """The keyword of environments that gives these opponents, in JSON's types.

        Raises:
            ValueError: if one of them is not known by name.
        """
        names = list(self._opponents.values())
        unnamed = [
            label(policy)
            for policy in names
            if not (isinstance(policy, str) and is_policy_name(self.game, policy))
        ]
        if unnamed:
            raise InputError(f"opponents must be known by name, got {', '.join(unnamed)}")
        return {self.game.opponent_keyword: names} if names else {}

    def with_exact(self, exact: bool) -> "Task":
        """Give the same task for exact or for float computation."""
        return (
            self if self.is_exact == exact else Task(self.game, self.seat, self._opponents, exact)
        )

    @cached_property
    def initial(self) -> Array:
        """Law of the agent's first state, shape (state,): fractions if exact.

        Games that the others end before the agent ever moves are left out, as the environments
        replay them.
        """
        mass = start_mass(self.game, self.is_exact)
        first: Array = mass[0]
        if self.seat == 0:
            return frozen(first)

        def decide(stage: Stage, met: Array) -> Array:
            if stage.seat == self.seat:  # its first move: the mass goes no further
                return np.zeros((len(met), self.game.num_actions), dtype=met.dtype)
            return spread(self.policies[stage.seat], stage.states, met)

        first = self.game.forward(decide, mass, self.seat, arithmetic(self.is_exact))[self.seat]
        if not first.any():
            raise InputError(f"seat must be one that gets to move, got {self.seat}")
        normalized: Array = first / first.sum()
        return frozen(normalized)


def make_task(game: str, /, seat: int = 0, **keywords: Any) -> Task:
    """Build a task from the keywords of an environment.

    Args:
        game: name of the game.
        seat: the agent's seat.
        keywords: those of the game, and its ``opponent_keyword``: a policy, a list of policies,
            or, as text, several names with commas between them.

    Raises:
        KeywordError: if a keyword is not one of the game's.
        ValueError: if a value is out of range.
    """
    rules = GAMES[game]
    opponents = keywords.pop(rules.opponent_keyword, None)
    known = inspect.signature(rules).parameters
    unknown = [name for name in keywords if name not in known]
    if unknown:
        names = ", ".join(["seat", rules.opponent_keyword, *known])
        raise KeywordError(f"{game} takes the keywords {names}, got {', '.join(unknown)}")
    played = rules(**keywords)
    if opponents is None:
        return Task(played, seat, rules.default_opponent)
    if played.num_players == 1:
        raise InputError(
            f"{rules.opponent_keyword} must be left out, as there is one player, got {opponents!r}"
        )
    if rules.opponent_keyword == "opponents" and isinstance(opponents, str) and "," in opponents:
        opponents = opponents.split(",")
    return Task(played, seat, opponents)


def by_seat(policies: LineUp, seats: Iterable[int]) -> dict[int, PolicyLike]:
    """Give each of some seats its policy.

    Raises:
        ValueError: if there are policies for more, fewer or other seats.
    """
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


def start_mass(game: Game, exact: bool = False) -> Array:
    """Give the probability mass before the first move, shape (player to move, state)."""
    mass = np.zeros((game.num_players, game.num_states), dtype=object if exact else np.float64)
    states, probabilities = game.initial_law()
    mass[0, states] = probabilities
    return mass


#: Says what the agent of an environment faces and what it is shown.
Look: TypeAlias = Callable[[Any], tuple[Task, Sight]]

_LOOKS: dict[str, Look] = {}


def register_environment(package: str, look: Look) -> None:
    """Have environments whose class comes from a package looked at by a function."""
    _LOOKS[package] = look


def look_at(env: Any) -> tuple[Task, Sight | None]:
    """Give the task of an environment, and what its agent is shown; of a task, itself.

    Raises:
        TypeError: if it is neither.
        ValueError: if a wrapper of the environment changes the game.
    """
    if isinstance(env, Task):
        return env, None
    look = next((_LOOKS[name] for name in packages_of(env) if name in _LOOKS), None)
    if look is None:
        raise TypeError(f"env must be an exactdice environment, got {env!r}")
    return look(env)


def as_task(env: Any) -> Task:
    """Give the task behind a task, an environment or a vector environment of this project.

    Raises:
        TypeError: if there is none.
        ValueError: if a wrapper of the environment changes the game.
    """
    return look_at(env)[0]
