"""The class ``Policy``, a probability law of actions for every state of a seat, and its kinds.

The door (``door``) makes a ``Policy`` of every policy that a user gives. Exact computation calls
``law`` and ``average``, environments call ``sample``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeAlias, Union

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from ...core import (
    FLOATS,
    Arithmetic,
    Array,
    BoolArray,
    Game,
    IntArray,
    InverseLaws,
    SizeError,
    Values,
    frozen,
    sweeps_of,
)
from ...core.positions import pieces
from ...core.sizes import show
from ...core.tour import Choices, Grid
from ...core.types import Fold

#: A policy on observations: (observations (state, component), masks (state, action)) to
#: probabilities (state, action) or actions (state,).
PolicyFunction: TypeAlias = Callable[[IntArray, BoolArray], npt.NDArray[Any]]
#: The forms of a user's policy; ``door.convert`` makes a ``Policy`` of each.
PolicyLike: TypeAlias = Union[str, "Policy", npt.NDArray[Any], PolicyFunction]

#: Largest number of states for which a ``GreedyPolicy`` makes an array of all actions.
MOST_TABULATED = 2**22


class Policy(ABC):
    """A probability law over the legal actions in every state.

    Methods take a batch of states; exact computation asks for all states of a stage at once. A
    subclass needs ``shape`` and ``probabilities``, and must always give the same probabilities.

    Attributes:
        shape: number of states and of actions.
        is_table: whether laws are read from a table or counted, without calling a user's function.
        is_deterministic: whether the policy always takes the same action in a state.
        fold: the function from the values of the legal actions to the value of the state, if it is
            the same in all states (see ``Sweeps.folded``); else None.
    """

    shape: tuple[int, int]
    is_table: ClassVar[bool] = False
    is_deterministic: bool = False
    fold: ClassVar[Fold | None] = None

    @property
    def name(self) -> str:
        """Name for people."""
        return type(self).__name__

    @property
    def roundings(self) -> int:
        """Bound the number of roundings in a mean over the actions, probabilities included.

        None if an action is certain. Otherwise two for each action: rows are divided by their sum,
        which rounds the sum and the quotient; then each product and the sum of products are
        rounded.
        """
        return 0 if self.is_deterministic else 2 * self.shape[1]

    @abstractmethod
    def probabilities(self, states: IntArray) -> Array:
        """Return the probability of each action, shape (state, action)."""

    def probabilities_in(self, states: IntArray, arithmetic: Arithmetic) -> Array:
        """Return the probabilities in an arithmetic; fractions equal the floats exactly."""
        return arithmetic.normalized(self.probabilities(states))

    def average(self, states: IntArray, numbers: Array, arithmetic: Arithmetic) -> Array:
        """Return the mean of numbers, shape (state, action), over the actions: shape (state,)."""
        if self.is_deterministic:
            return numbers[np.arange(len(states)), self.likeliest(states)]
        return (self.probabilities_in(states, arithmetic) * numbers).sum(axis=1)

    def spread(self, states: IntArray, mass: Array, arithmetic: Arithmetic) -> Array:
        """Distribute the mass of each state over its actions: shape (state, action)."""
        if not self.is_deterministic:
            return mass[:, None] * self.probabilities_in(states, arithmetic)
        certain = arithmetic.zeros(len(states), self.shape[1])
        certain[np.arange(len(states)), self.likeliest(states)] = mass
        return certain

    def likeliest(self, states: IntArray) -> IntArray:
        """Return the likeliest action in each state, shape (state,)."""
        return self.probabilities(states).argmax(axis=1)

    def choices(self, grid: Grid, met: BoolArray) -> Choices:
        """Return the actions and their probabilities in the reached states of a grid."""
        places = np.flatnonzero(met)
        states = grid.states.ravel()[places]
        if self.is_deterministic:
            return Choices.certain(met, self.likeliest(states))
        law = self.probabilities(states)
        rows, actions = np.nonzero(law)
        return Choices(places[rows], actions, law[rows, actions])

    def sample(self, states: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw an action in each state, shape (state,); nothing is drawn if there is one alone."""
        if self.is_deterministic:
            return self.likeliest(states)
        return InverseLaws(self.probabilities(states)).draw(np.arange(len(states)), rng)


class TablePolicy(Policy):
    """One row for each state; two tables are equal if they have equal rows and names.

    Rows are actions, shape (state,), or probabilities, shape (state, action); they become read-only
    and are not copied.
    """

    is_table = True
    name = ""

    def __init__(
        self, rows: npt.NDArray[Any], num_actions: int | None = None, name: str = ""
    ) -> None:
        self._rows = frozen(rows if rows.flags.owndata else rows.copy())
        self.name = name or "a table"
        self.shape = (len(rows), num_actions or rows.shape[1])

    def __eq__(self, other: object) -> bool:
        """Compare rows and names."""
        return self is other or (
            isinstance(other, TablePolicy)
            and type(self) is type(other)
            and (self.shape, self.name) == (other.shape, other.name)
            and np.array_equal(self._rows, other._rows)
        )

    def __hash__(self) -> int:
        step = 1 + len(self._rows) // 256  # a sample of rows differs between most policies
        return hash((self.name, self.shape, self._rows[::step].tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the rows, which are read-only again when they are loaded."""
        return type(self), (self._rows, self.shape[1], self.name)


class DeterministicPolicy(TablePolicy):
    """One action in each state, shape (state,)."""

    is_deterministic = True

    def __init__(self, actions: IntArray, num_actions: int, name: str = "") -> None:
        small = np.min_scalar_type(-num_actions)  # there may be many states
        super().__init__(actions.astype(small, copy=False), num_actions, name)

    @cached_property
    def actions(self) -> IntArray:
        """The action in each state, shape (state,)."""
        return frozen(self.likeliest(np.arange(self.shape[0])))

    @override
    def probabilities(self, states: IntArray) -> Array:
        return self.probabilities_in(states, FLOATS)

    @override
    def probabilities_in(self, states: IntArray, arithmetic: Arithmetic) -> Array:
        chosen = np.arange(self.shape[1]) == self.likeliest(states)[:, None]
        return chosen.view(np.int8).astype(arithmetic.dtype)  # booleans as objects stay so

    @override
    def likeliest(self, states: IntArray) -> IntArray:
        return self._rows[states].astype(np.int64)


class GreedyPolicy(DeterministicPolicy):
    """Takes the smallest of the best actions, computed from the values of positions on request.

    It is for games with too many states for a table of actions; ``found`` has the values of all
    positions to the seat, floats.
    """

    fold = "best"

    def __init__(self, game: Game, seat: int, found: Values, name: str) -> None:
        super().__init__(np.zeros(0, dtype=np.int64), game.num_actions, name)
        self.shape = (game.num_states, game.num_actions)
        self._game, self._seat, self._found = game, seat, found

    @override
    def __eq__(self, other: object) -> bool:
        """Compare games, seats, names and values."""
        return self is other or (
            isinstance(other, GreedyPolicy)
            and (self._game, self._seat, self.name) == (other._game, other._seat, other.name)
            and np.array_equal(self._found.numbers, other._found.numbers)
        )

    @override
    def __hash__(self) -> int:
        return hash((self._game, self._seat, self.name))

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle game and values."""
        return GreedyPolicy, (self._game, self._seat, self._found, self.name)

    @cached_property
    def actions(self) -> IntArray:
        """The action in each state, shape (state,), of at most ``MOST_TABULATED`` states."""
        if self.shape[0] > MOST_TABULATED:
            raise SizeError(
                f"a table of actions must be of at most {show(MOST_TABULATED)} states, got "
                f"{show(self.shape[0])}: ask for the actions in some states"
            )
        return super().actions

    @override
    def likeliest(self, states: IntArray) -> IntArray:
        chosen = np.empty(len(states), dtype=np.int64)
        tie, sweeps = FLOATS.tie(self._game), sweeps_of(self._game)
        for piece in pieces(len(states)):
            expected = sweeps.expected(self._seat, states[piece], self._found)
            optimal = FLOATS.best(expected, np.isfinite(expected), tie)[1]
            chosen[piece] = optimal.argmax(axis=1)
        return chosen


class StochasticPolicy(TablePolicy):
    """Probabilities in a table, (state, action), that is not copied; its rows sum to one."""

    @cached_property
    def roundings(self) -> int:
        """Bound the number of roundings in a mean, by the row with the most actions."""
        return 2 * int(np.count_nonzero(self._rows, axis=1).max())

    @override
    def probabilities(self, states: IntArray) -> Array:
        return self._rows[states]


@dataclass(unsafe_hash=True)
class UniformPolicy(Policy):
    """Every legal action with the same probability: the policy "random"."""

    game: Game
    is_table = True
    fold = "mean"
    name = "random"

    def __post_init__(self) -> None:
        self.shape = (self.game.num_states, self.game.num_actions)

    @property
    def roundings(self) -> int:
        """One for each addition, and one for the division."""
        return self.shape[1]

    @override
    def probabilities(self, states: IntArray) -> Array:
        return self.probabilities_in(states, FLOATS)

    @override
    def probabilities_in(self, states: IntArray, arithmetic: Arithmetic) -> Array:
        mask = self.game.mask(states)
        return mask / arithmetic.numbers(mask.sum(axis=1, keepdims=True))

    @override
    def average(self, states: IntArray, numbers: Array, arithmetic: Arithmetic) -> Array:
        mask = self.game.mask(states)
        return (mask * numbers).sum(axis=1) / arithmetic.numbers(mask.sum(axis=1))


@dataclass(unsafe_hash=True)
class TimelessPolicy(Policy):
    """The policy of a game in the same game within a limit of moves (see ``law.cut``).

    A state is that of the game, plus a multiple of the number of its states.
    """

    policy: Policy
    layers: int  # numbers of moves that may have been made

    def __post_init__(self) -> None:
        states, actions = self.policy.shape
        self.shape = self.layers * states, actions
        self.is_deterministic = self.policy.is_deterministic
        self.is_table = self.policy.is_table  # type: ignore[misc]

    @property
    @override
    def name(self) -> str:
        return self.policy.name

    @property
    @override
    def roundings(self) -> int:
        return self.policy.roundings

    @override
    def probabilities(self, states: IntArray) -> Array:
        return self.policy.probabilities(states % self.policy.shape[0])

    @override
    def probabilities_in(self, states: IntArray, arithmetic: Arithmetic) -> Array:
        return self.policy.probabilities_in(states % self.policy.shape[0], arithmetic)

    @override
    def likeliest(self, states: IntArray) -> IntArray:
        return self.policy.likeliest(states % self.policy.shape[0])
