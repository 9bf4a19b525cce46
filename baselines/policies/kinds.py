"""The class ``Policy``, a probability law of actions for every state of a seat, and its kinds.

The door (``door``) makes a ``Policy`` of every policy that a user gives. Exact computation calls
``law`` and ``average``, environments call ``sample``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from ...core import (
    FLOATS,
    Arithmetic,
    Array,
    BoolArray,
    FloatArray,
    Game,
    IntArray,
    InverseLaws,
    frozen,
)
from ...core.tour import Choices, Grid
from ...core.types import Fold

#: A policy on observations: (observations (state, component), masks (state, action)) to
#: probabilities (state, action) or actions (state,).
PolicyFunction: TypeAlias = Callable[[IntArray, BoolArray], npt.NDArray[Any]]
#: The forms of a user's policy; ``door.convert`` makes a ``Policy`` of each.
PolicyLike: TypeAlias = Union[str, "Policy", npt.NDArray[Any], PolicyFunction]


class Policy(ABC):
    """A probability law over the legal actions in every state.

    Methods take a batch of states; exact computation asks for all states of a stage at once. A
    subclass needs ``shape`` and ``probabilities``, and must always give the same probabilities.

    Attributes:
        shape: number of states and of actions.
        is_table: whether laws are read from a table or counted, without calling a user's function.
        is_deterministic: whether the policy always takes the same action in a state.
        fold: the function from the values of the legal actions to the value of the state, if it is
            the same in all states (see ``FoldedSweeps``); else None.
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

        By default two for each action: rows are divided by their sum, which rounds the sum and the
        quotient; then each product and the sum of products are rounded.
        """
        return 2 * self.shape[1]

    @abstractmethod
    def probabilities(self, states: IntArray) -> Array:
        """Return the probability of each action, shape (state, action)."""

    def probabilities_in(self, states: IntArray, arithmetic: Arithmetic) -> Array:
        """Return the probabilities in an arithmetic; fractions equal the floats exactly."""
        return arithmetic.normalized(self.probabilities(states))

    def average(self, states: IntArray, numbers: Array, arithmetic: Arithmetic) -> Array:
        """Return the mean of numbers, shape (state, action), over the actions: shape (state,)."""
        mean: Array = (self.probabilities_in(states, arithmetic) * numbers).sum(axis=1)
        return mean

    def spread(self, states: IntArray, mass: Array, arithmetic: Arithmetic) -> Array:
        """Distribute the mass of each state over its actions: shape (state, action)."""
        weights: Array = mass[:, None] * self.probabilities_in(states, arithmetic)
        return weights

    def likeliest(self, states: IntArray) -> IntArray:
        """Return the likeliest action in each state, shape (state,)."""
        actions: IntArray = self.probabilities(states).argmax(axis=1)
        return actions

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

    Args:
        rows: actions, shape (state,), or probabilities, shape (state, action); they become
            read-only and are not copied.
        num_actions: size of the action space.
        name: name for people.
    """

    is_table = True

    def __init__(self, rows: npt.NDArray[Any], num_actions: int, name: str = "") -> None:
        self._rows = frozen(rows if rows.flags.owndata else rows.copy())
        self._name = name or "a table"
        self.shape = (len(rows), num_actions)

    @property
    def name(self) -> str:
        """Name for people."""
        return self._name

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
        return _table_policy, (type(self), self._rows, self.shape[1], self._name)


def _table_policy(
    kind: type[TablePolicy], rows: npt.NDArray[Any], num_actions: int, name: str
) -> TablePolicy:
    policy = kind.__new__(kind)
    if kind.is_deterministic:  # files of earlier versions have actions of eight bytes
        rows = _small(rows, num_actions)
    TablePolicy.__init__(policy, rows, num_actions, name)
    return policy


def _small(actions: npt.NDArray[Any], num_actions: int) -> npt.NDArray[Any]:
    """Return actions in the smallest integer type: there may be many states."""
    return actions.astype(np.min_scalar_type(-num_actions), copy=False)


class DeterministicPolicy(TablePolicy):
    """One action in each state.

    Args:
        actions: shape (state,).
        num_actions: size of the action space.
        name: name for people.
    """

    is_deterministic = True

    def __init__(self, actions: IntArray, num_actions: int, name: str = "") -> None:
        super().__init__(_small(actions, num_actions), num_actions, name)

    @property
    def roundings(self) -> int:
        """0: the value of one action is taken, without rounding."""
        return 0

    @cached_property
    def actions(self) -> IntArray:
        """The action in each state, shape (state,)."""
        return frozen(self._rows.astype(np.int64))

    def probabilities(self, states: IntArray) -> Array:
        """Give 1 to the action chosen, 0 to all others."""
        return self.probabilities_in(states, FLOATS)

    def probabilities_in(self, states: IntArray, arithmetic: Arithmetic) -> Array:
        """Give 1 to the action chosen, 0 to all others."""
        chosen = np.arange(self.shape[1]) == self._chosen(states)[:, None]
        law: Array = chosen.view(np.int8).astype(arithmetic.dtype)  # booleans as objects stay so
        return law

    def average(self, states: IntArray, numbers: Array, arithmetic: Arithmetic) -> Array:
        """Return the number of the chosen action, shape (state,)."""
        picked: Array = numbers[np.arange(len(states)), self._chosen(states)]
        return picked

    def spread(self, states: IntArray, mass: Array, arithmetic: Arithmetic) -> Array:
        """Give the mass of each state to the chosen action, shape (state, action)."""
        weights = arithmetic.zeros(len(states), self.shape[1])
        weights[np.arange(len(states)), self._chosen(states)] = mass
        return weights

    def likeliest(self, states: IntArray) -> IntArray:
        """Return the action in each state, shape (state,)."""
        return self._chosen(states).astype(np.int64)

    def _chosen(self, states: IntArray) -> IntArray:
        """Return the action in each state in the stored small integer type, shape (state,)."""
        chosen: IntArray = self._rows[states]
        return chosen


class StochasticPolicy(TablePolicy):
    """Probabilities in a table.

    Args:
        table: shape (state, action); rows sum to one. It becomes read-only and is not copied.
        name: name for people.
    """

    def __init__(self, table: FloatArray, name: str = "") -> None:
        super().__init__(table, table.shape[1], name)

    @cached_property
    def roundings(self) -> int:
        """Bound the number of roundings in a mean, by the row with the most actions."""
        return 2 * int(np.count_nonzero(self._rows, axis=1).max())

    def probabilities(self, states: IntArray) -> Array:
        """Give the rows of the table."""
        law: Array = self._rows[states]
        return law


class UniformPolicy(Policy):
    """Every legal action with the same probability: the policy "random"."""

    is_table = True
    fold = "mean"

    def __init__(self, game: Game) -> None:
        self._game = game
        self.shape = (game.num_states, game.num_actions)

    def __eq__(self, other: object) -> bool:
        """Compare games."""
        return isinstance(other, UniformPolicy) and self._game == other._game

    def __hash__(self) -> int:
        return hash(self._game)

    @property
    def name(self) -> str:
        """Name for people."""
        return "random"

    def probabilities(self, states: IntArray) -> Array:
        """Give 1 / number of legal actions to each of them."""
        return self.probabilities_in(states, FLOATS)

    def probabilities_in(self, states: IntArray, arithmetic: Arithmetic) -> Array:
        """Give 1 / number of legal actions to each of them."""
        mask = self._game.mask(states)
        uniform: Array = mask / arithmetic.numbers(mask.sum(axis=1, keepdims=True))
        return uniform

    @property
    def roundings(self) -> int:
        """One for each addition, and one for the division."""
        return self.shape[1]

    def average(self, states: IntArray, numbers: Array, arithmetic: Arithmetic) -> Array:
        """Take the mean over the legal actions."""
        mask = self._game.mask(states)
        mean: Array = (mask * numbers).sum(axis=1) / arithmetic.numbers(mask.sum(axis=1))
        return mean
