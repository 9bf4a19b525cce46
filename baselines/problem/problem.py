"""Problems: tasks made ready, once, for all exact computation and for all environments.

``prepare`` resolves names, solves opponents and checks the rules. Whatever computes or plays takes
a ``Problem``, and never a name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from ... import registry
from ...core import (
    FLOATS,
    Arithmetic,
    Array,
    FloatArray,
    Game,
    InputError,
    Stage,
    Sweeps,
    Values,
    arithmetic,
    frozen,
    sweeps_of,
)
from ...core.contract import order_of
from ...core.game import ListedGame
from ...core.positions import states_of
from ...core.types import Start
from ...registry import Places
from ..cache import cached
from ..operators.cycles import visits
from ..operators.rounding import gamma, upwards
from ..policies.door import Reading, packages_of, read_policy
from ..policies.kinds import Policy, UniformPolicy
from ..policies.names import EQUILIBRIUM, STRENGTH, read_share, source_policy
from ..policies.observations import Sight, shows, sight_of
from .equilibrium import equilibrium
from .strength import strength_policy
from .task import Task

#: A function that gives the task of an environment, and how it shows states to its agent.
Inspect: TypeAlias = Callable[[Any], tuple[Task, Sight | None]]

#: The inspectors of environments, by the package of their class; that of Gymnasium knows ids, too.
INSPECTORS = Places[Inspect](registry.INSPECTORS)

#: Longest text of an object in a message.
LONGEST = 100


_Found = TypeVar("_Found")


def cached_bare(find: Callable[["Problem"], _Found]) -> Callable[["Problem"], _Found]:
    """Cache a function of a problem, which gets the problem ``bare``."""
    known = cached(find)
    return wraps(find)(lambda problem: known(problem.bare))


class FirstLaw(NamedTuple):
    """Law of the agent's first state."""

    start: Start  # the states that are possible, and their chances
    # Bounds the error of a mean of values over the law, as a part of the span of the values; 0 if
    # the chances are exact.
    error: float


@dataclass(frozen=True)
class Problem:
    """A task made ready. Equal problems share cached results; ``sight`` is no part of equality.

    Attributes:
        task: game, seat and opponents.
        arithmetic: floats, or numbers without rounding.
        sight: how an environment shows states to the agent; None if it shows integers, as for a
            ``Task``.
    """

    task: Task
    arithmetic: Arithmetic = FLOATS
    sight: Sight | None = field(default=None, compare=False, repr=False)

    @property
    def game(self) -> Game:
        """The rules."""
        return self.task.game

    @property
    def seat(self) -> int:
        """The agent's seat."""
        return self.task.seat

    @property
    def in_floats(self) -> "Problem":
        """The same problem in floats."""
        return self if self.arithmetic.rounds else replace(self, arithmetic=FLOATS)

    @property
    def bare(self) -> "Problem":
        """The same problem, shown in integers: what is cached holds no environment."""
        return self if self.sight is None else replace(self, sight=None)

    @property
    def law(self) -> Sweeps:
        """The law of all moves, which operators sweep."""
        return sweeps_of(self.game)

    @property
    def pays_early(self) -> bool:
        """Whether a move may pay the agent while the game goes on."""
        return self.law.pays_early(self.seat)

    @property
    @cached_bare
    def policies(self) -> Mapping[int, Policy]:
        """The policies of the other players, by seat."""
        exact = not self.arithmetic.rounds
        pairs = zip(self.task.others, self.task.opponents, strict=True)
        found = {other: resolve(policy, self.game, other, exact) for other, policy in pairs}
        return MappingProxyType(found)

    def line_up(self, agent: Policy) -> dict[int, Policy]:
        """Give the policies of all players, by seat."""
        return {**self.policies, self.seat: agent}

    @property
    @cached_bare
    def first(self) -> FirstLaw:
        """Law of the agent's first state, and the bound of its error.

        The law is conditional on the agent's getting to move: it leaves out games that end before
        the agent's first move, because environments replay them.
        """
        arithmetic, seat, start = self.arithmetic, self.seat, self.start_of_game
        if seat == 0:
            return FirstLaw(start, gamma(1) if arithmetic.rounds else 0.0)
        policies = self.policies

        def decide(stage: Stage, met: Array) -> Array:
            if stage.seat == seat:  # its first move: the mass goes no further
                return arithmetic.zeros(len(met), self.game.num_actions)
            return policies[stage.seat].spread(stage.states, met, arithmetic)

        mass, residual = visits(self.law, decide, start, seat, arithmetic)
        own = states_of(self.game, seat)
        met = mass.at(seat, own)
        reached = arithmetic.total(met)
        if not reached:
            raise InputError(f"seat must be one that gets to move, got {seat}")
        error = _error_of_first(self, mass, residual, reached) if arithmetic.rounds else 0.0
        states, chances = own[met > 0], arithmetic.divided(met[met > 0], reached)
        return FirstLaw(Start(seat, frozen(states), frozen(chances)), error)

    @property
    def start(self) -> Start:
        """Law of the agent's first state."""
        return self.first.start

    @property
    def start_of_game(self) -> Start:
        """Law of the state in which player 0 makes the first move."""
        if self.law.is_listed and not isinstance(self.game, ListedGame):
            _ = order_of(self.game)  # before the initial law is used
        states, probabilities = map(np.array, self.game.initial_law())
        return Start(0, frozen(states), frozen(self.arithmetic.numbers(probabilities)))

    @property
    def initial(self) -> FloatArray:
        """Probability that each state is the agent's first, shape (state,)."""
        start, initial = self.in_floats.start, np.zeros(self.game.num_states)
        initial[start.states] = start.chances
        return frozen(initial)


class OfProblem:
    """A result about a problem."""

    problem: Problem

    @property
    def task(self) -> Task:
        """Game, seat and opponents."""
        return self.problem.task

    @property
    def arithmetic(self) -> Arithmetic:
        """Floats, or numbers without rounding."""
        return self.problem.arithmetic


def prepare(env: Any, exact: bool = False) -> Problem:
    """Make a task ready: that of an environment, its id, a ``Task`` or a ``Problem``.

    A ``Problem`` keeps its arithmetic unless ``exact``, computation without rounding, is asked for.
    """
    if isinstance(env, Problem) and not (exact and env.arithmetic.rounds):
        return env
    task, sight = task_and_sight(env)
    return Problem(task, arithmetic(exact, task.game), sight)


def task_and_sight(env: Any) -> tuple[Task, Sight | None]:
    """Give the task of an environment and how it shows states; a ``Task`` is given back as it is.

    A text is the id of an environment, such as "exactdice/Greed-v0".
    """
    if isinstance(env, Problem):
        return env.task, env.sight
    if isinstance(env, Task):
        return env, sight_of(env.game) if shows(env.game) else None
    packages = ["gymnasium"] if isinstance(env, str) else packages_of(env)
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


def convert(policy: Any, game: Game, seat: int, reading: Reading | None = None) -> Policy:
    """Return a user's policy (``read_policy``) as that of a seat; "optimal" is the equilibrium."""
    reading = reading or Reading()
    known = read_policy(policy, game, seat, reading)
    return resolve(known, game, seat, reading.exact, reading.masked)


def resolve(
    known: str | Policy, game: Game, seat: int, exact: bool = False, masked: bool = True
) -> Policy:
    """Return the ``Policy`` that a known name stands for; "optimal" is the equilibrium.

    A ``Policy`` is returned unchanged; ``known_name`` has checked a name.
    """
    if not isinstance(known, str):
        return known
    share = read_share(known) if known.startswith(STRENGTH) else None
    if known in EQUILIBRIUM or share == 1:
        return equilibrium(game, exact).policies[seat]
    if known == "random" or share == 0:
        return UniformPolicy(game)
    if share is not None:
        return strength_policy(game, share, seat)
    named = source_policy(game, known, seat, masked)
    assert named is not None
    return named


def _error_of_first(problem: Problem, mass: Values, residual: float, reached: float) -> float:
    """Bound the error of a mean over the law of first states (see ``FirstLaw``).

    Each pass adds a relative error to all mass that it moves to a cut or out of a block, after at
    least one decision of another player. Without linear systems these errors multiply. Residuals of
    linear systems, and earlier errors, reach the agent at most once, as mass does.
    """
    decision = max(policy.roundings for policy in problem.policies.values()) + 1
    blocks = problem.law.blocks(problem.seat)  # each adds to the mass of later ones
    relative = gamma(sum(block.forward_roundings(decision) for block in blocks) + 2)
    if not residual:
        return relative
    lost = residual + relative * (1 + sum(mass.total(other) for other in problem.task.others))
    return upwards(lost / max(reached - lost, lost) + gamma(2))
