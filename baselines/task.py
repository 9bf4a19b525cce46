"""Tasks: a game, the agent's seat in it, and fixed policies for all other players."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .. import registry
from ..core import (
    FLOATS,
    GAMES,
    Arithmetic,
    Array,
    FloatArray,
    Game,
    InputError,
    KeywordError,
    Stage,
    Values,
    frozen,
)
from ..core.checks import one_of
from ..core.contract import order_of, require_attributes
from ..core.positions import states_of
from ..core.presentation import present
from ..core.sweeps import sweeps_of
from ..core.types import Start
from ..core.words import listed, meant, plural
from ..registry import Places
from .cache import cached
from .explicit import ExplicitGame
from .law_game import LawGame
from .policies.door import Sight, label, packages_of, read_policy
from .policies.kinds import Policy, PolicyLike
from .policies.names import EQUILIBRIUM, resolve
from .solving.cycles import visits
from .solving.rounding import gamma, upwards

#: One policy for several seats, or one for each, in the order of the seats or by seat.
LineUp: TypeAlias = PolicyLike | Sequence[PolicyLike] | Mapping[int, PolicyLike]

#: Longest text of an object in a message.
LONGEST = 100


@dataclass(frozen=True, init=False, repr=False)
class Task:
    """A game for one agent: the moves of all other players are chance.

    A task is a description and computes nothing; equal tasks share cached results (see ``cache``).

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
        if isinstance(seat, bool) or seat not in range(game.num_players):
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

    @property
    def policies(self) -> Mapping[int, Policy]:
        """The other players' policies by seat, computed in floats."""
        return policies_against(self, FLOATS)

    @property
    def initial(self) -> FloatArray:
        """Law of the agent's first state, shape (state,) (see ``first_law``)."""
        start, initial = first_law(self, FLOATS).start, np.zeros(self.game.num_states)
        initial[start.states] = start.chances
        return frozen(initial)


@cached
def policies_against(task: Task, arithmetic: Arithmetic) -> Mapping[int, Policy]:
    """Give the other players' policies by seat."""
    pairs = zip(task.others, task.opponents, strict=True)
    return MappingProxyType(
        {other: resolve(policy, task.game, other, not arithmetic.rounds) for other, policy in pairs}
    )


class FirstLaw(NamedTuple):
    """Law of the agent's first state."""

    start: Start  # the states that are possible, and their chances
    # Bounds the error of a mean of values over the law, as a part of the span of the values; 0 if
    # the chances are exact.
    error: float


@cached
def first_law(task: Task, arithmetic: Arithmetic) -> FirstLaw:
    """Compute the law of the agent's first state.

    The law is conditional on the agent's getting to move: it leaves out games that end before the
    agent's first move, because environments replay them.

    Raises:
        ValueError: if the agent never gets to move.
    """
    start = initial_law(task.game, arithmetic)
    if task.seat == 0:
        return FirstLaw(start, gamma(1) if arithmetic.rounds else 0.0)
    policies = policies_against(task, arithmetic)

    def decide(stage: Stage, met: Array) -> Array:
        if stage.seat == task.seat:  # its first move: the mass goes no further
            return arithmetic.zeros(len(met), task.game.num_actions)
        return policies[stage.seat].spread(stage.states, met, arithmetic)

    mass, residual = visits(task.game, decide, start, task.seat, arithmetic)
    own = states_of(task.game, task.seat)
    met = mass.at(task.seat, own)
    reached = arithmetic.total(met)
    if not reached:
        raise InputError(f"seat must be one that gets to move, got {task.seat}")
    error = _error(task, mass, residual, reached) if arithmetic.rounds else 0.0
    states, chances = own[met > 0], arithmetic.divided(met[met > 0], reached)
    return FirstLaw(Start(task.seat, frozen(states), frozen(chances)), error)


def _error(task: Task, mass: Values, residual: float, reached: float) -> float:
    """Bound the error of a mean over the law of first states (see ``FirstLaw``).

    Each pass adds a relative error to all mass that it moves to a cut or out of a block, after at
    least one decision of another player. Without linear systems these errors multiply. Residuals of
    linear systems, and earlier errors, reach the agent at most once, as mass does.
    """
    game = task.game
    decision = max(policy.roundings for policy in policies_against(task, FLOATS).values()) + 1
    blocks = sweeps_of(game).blocks(task.seat)  # each adds to the mass of later ones
    relative = gamma(sum(block.forward_roundings(decision) for block in blocks) + 2)
    if not residual:
        return relative
    lost = residual + relative * (1 + sum(mass.total(other) for other in task.others))
    return upwards(lost / max(reached - lost, lost) + gamma(2))


def by_seat(policies: LineUp, seats: Iterable[int]) -> dict[int, PolicyLike]:
    """Assign policies to seats.

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


def initial_law(game: Game, arithmetic: Arithmetic = FLOATS) -> Start:
    """Give the law of the state in which player 0 makes the first move."""
    if sweeps_of(game).is_listed:
        _ = order_of(game)  # before the initial law is used
    states, probabilities = game.initial_law()
    return Start(0, states, arithmetic.numbers(np.asarray(probabilities)))


#: A function that gives the task of an environment, and how it shows states to its agent.
Inspect: TypeAlias = Callable[[Any], tuple[Task, Sight | None]]

#: The inspectors of environments, by the package of their class; that of ids is at "str", and that
#: of tasks whose law an environment may show is at "task".
INSPECTORS = Places[Inspect](registry.INSPECTORS)


class Seen(NamedTuple):
    """A task and how an environment shows its states: they stand for the environment."""

    task: Task
    sight: Sight | None


def task_and_sight(env: Any) -> tuple[Task, Sight | None]:
    """Give the task of an environment and how it shows states; a ``Task`` is given back as it is.

    A text is the id of an environment, such as "exactdice/Greed-v0".

    Raises:
        TypeError: if it is neither.
        ValueError: if a wrapper of the environment changes the game.
    """
    if isinstance(env, Seen):
        return env
    if isinstance(env, Task) and not isinstance(env.game, LawGame):
        return env, None
    packages = ["task"] if isinstance(env, Task) else packages_of(env)
    if isinstance(env, str):
        packages = ["str"]
    known = next((name for name in packages if name in INSPECTORS), None)
    if known is None:
        shown = repr(env)
        if len(shown) > LONGEST:
            shown = f"a {type(env).__name__}"
        advice = "; give exactdice.Task(game, seat=0)" if isinstance(env, Game) else ""
        raise TypeError(f"env must be an exactdice environment or have P, got {shown}{advice}")
    return INSPECTORS[known](env)


def as_task(env: Any) -> Task:
    """Give the task behind a task, an environment, its id, or a vector environment.

    Raises:
        TypeError: if there is none.
        ValueError: if a wrapper of the environment changes the game.
    """
    return task_and_sight(env)[0]


def make_task(game: "str | Task", /, seat: int = 0, **keywords: Any) -> Task:
    """Build a task from the keywords of an environment.

    Args:
        game: name of the game; or a task, without keywords, which is returned.
        seat: the agent's seat.
        keywords: the game's own, and its ``opponent_keyword``: a policy, a list of policies, or a
            text of several names with commas between them.

    Raises:
        KeywordError: if a keyword is not one of the game's.
        ValueError: if a value is out of range.
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
    plain = tuple((name, type(value), value) for name, value in sorted(keywords.items()))
    simple = all(kind in (str, int, float, bool, type(None)) for _, kind, _ in plain)
    if simple and not issubclass(rules, ExplicitGame):  # whose law is asked for anew: it may change
        made = _built(rules, plain)
    else:
        made = rules(**keywords)
    require_attributes(made)
    return made


@cached
def _built(rules: type[Game], plain: tuple[tuple[str, type, Any], ...]) -> Game:
    """Build a game of names, types and values; the types tell 1 from 1.0 and True."""
    return rules(**{name: value for name, _, value in plain})
