"""Policies: what a player does in every state of one seat.

Policies come as names, tables, action lists or callables, and end as a ``Policy``, which exact
computation asks for expectations and the environments for samples.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from ..games import Array, BoolArray, FloatArray, Game, InputError, IntArray, InverseLaws, frozen
from ..games.sizes import check_array

#: A policy on observations: (observations (state, component), masks (state, action)) to
#: probabilities (state, action) or actions (state,).
PolicyFunction: TypeAlias = Callable[[IntArray, BoolArray], npt.NDArray[Any]]
#: What users may give for a policy; ``conversion.convert`` makes a ``Policy`` of it.
PolicyLike: TypeAlias = Union[str, "Policy", npt.NDArray[Any], PolicyFunction]

SUM_TOLERANCE = 1e-5  # float32 networks; the probabilities are normalised once accepted
_UNMASKED = " (masked=False lets it choose any, at the worst payoff)"


class Policy(ABC):
    """A probability law over the legal actions in every state.

    Attributes:
        shape: number of states and of actions.
    """

    shape: tuple[int, int]

    @abstractmethod
    def probabilities(self, states: IntArray) -> Array:
        """Give the probability of each action, shape (state, action)."""

    @abstractmethod
    def expectation(self, states: IntArray, numbers: Array) -> Array:
        """Average numbers (..., state, action) over the action; exact if they are."""

    def sample(self, states: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw an action in each state."""
        return InverseLaws(self.probabilities(states)).draw(np.arange(len(states)), rng)

    def exact_probabilities(self, states: IntArray) -> Array:
        """Give ``probabilities`` as the exact fractions that the floats are, normalised."""
        floats = self.probabilities(states).tolist()
        exact = np.array([[Fraction(p) for p in row] for row in floats], dtype=object)
        normalized: Array = exact / exact.sum(axis=1, keepdims=True)
        return normalized


class DeterministicPolicy(Policy):
    """One action in each state.

    Args:
        actions: shape (state,).
        num_actions: size of the action space.
    """

    def __init__(self, actions: IntArray, num_actions: int) -> None:
        self.actions = frozen(actions.view())
        self.shape = (len(actions), num_actions)

    def probabilities(self, states: IntArray) -> Array:
        """Give 1 to the action chosen, 0 to all others."""
        chosen: Array = (np.arange(self.shape[1]) == self.actions[states][:, None]).astype(float)
        return chosen

    def expectation(self, states: IntArray, numbers: Array) -> Array:
        """Pick the number of the action chosen."""
        return numbers[..., np.arange(len(states)), self.actions[states]]

    def sample(self, states: IntArray, rng: np.random.Generator) -> IntArray:
        """Give the action chosen; draws nothing."""
        return self.actions[states]


class UniformPolicy(Policy):
    """Every legal action with the same probability: the policy "random"."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self.shape = (game.num_states, game.num_actions)

    def probabilities(self, states: IntArray) -> Array:
        """Give 1 / number of legal actions to each of them."""
        mask = self._game.mask(states)
        uniform: Array = mask / mask.sum(axis=1, keepdims=True)
        return uniform

    def expectation(self, states: IntArray, numbers: Array) -> Array:
        """Take the mean over the legal actions."""
        mask = self._game.mask(states)
        counts: Array = mask.sum(axis=1)
        if numbers.dtype == object:  # an integer over an integer would be a float
            counts = np.array([Fraction(count) for count in counts.tolist()], dtype=object)
        mean: Array = (mask * numbers).sum(axis=-1) / counts
        return mean


class StochasticPolicy(Policy):
    """Probabilities in a table.

    Args:
        table: shape (state, action); rows sum to one.
    """

    def __init__(self, table: FloatArray) -> None:
        self.table = frozen(table.view())
        self.shape = (table.shape[0], table.shape[1])

    def probabilities(self, states: IntArray) -> Array:
        """Give the rows of the table."""
        return self.table[states]

    def expectation(self, states: IntArray, numbers: Array) -> Array:
        """Average with the rows of the table."""
        exact = numbers.dtype == object
        law = self.exact_probabilities(states) if exact else self.table[states]
        mean: Array = (law * numbers).sum(axis=-1)
        return mean


def tabulate(
    policy: npt.ArrayLike | PolicyFunction,
    game: Game,
    seat: int,
    masked: bool = True,
    worthless: Callable[[IntArray], BoolArray] | None = None,
) -> Policy:
    """Turn a table, a list of actions or a callable into a checked ``Policy``.

    Only the states in which its seat may be to move count.

    Args:
        policy: probabilities, shape (state, action); or actions, integers of shape (state,); or
            a function from (observations, masks) to either, which is asked about the states that
            count.
        game: the game that is played.
        seat: the seat that the policy plays.
        masked: whether the policy must keep to the legal actions.
        worthless: says in which states no action is worth more than the worst payoff. There the
            tables of planners may choose an illegal action, which pays the same; the first legal
            one takes its place.

    Raises:
        ValueError: if the shape is wrong, an entry is not a probability or not an action, or
            probabilities do not sum to one.
    """
    states = game.states_of(seat)
    if callable(policy):
        table = _as_array(policy(game.observe(states, seat), game.mask(states)))
    else:
        table = _as_array(policy)
        shape = (game.num_states, game.num_actions)
        if table.shape not in (shape, shape[:1]):
            raise InputError(
                f"policy must be a table of shape {shape} (state, action) or integers of shape "
                f"({game.num_states},), got {table.dtype} of shape {table.shape}"
            )
        table = table[states]
    if table.ndim == 1 and np.issubdtype(table.dtype, np.integer):
        return _actions(table, game, states, masked, worthless)
    if table.shape != (len(states), game.num_actions):
        raise InputError(
            f"policy must be a table of shape {(len(states), game.num_actions)} (state, action) or "
            f"integers of shape ({len(states)},), got {table.dtype} of shape {table.shape}"
        )
    mask = game.mask(states)
    return _law(table, game, states, mask if masked else np.ones_like(mask), worthless)


def _as_array(policy: npt.ArrayLike) -> npt.NDArray[Any]:
    table = np.asarray(policy)
    if table.dtype.kind not in "uifb":
        raise InputError(f"policy must be numbers, got {table.dtype} of shape {table.shape}")
    return table


def _actions(
    table: npt.NDArray[Any],
    game: Game,
    states: IntArray,
    masked: bool,
    worthless: Callable[[IntArray], BoolArray] | None,
) -> DeterministicPolicy:
    """Check one action for each of some states."""
    if table.shape != states.shape:
        raise InputError(
            f"policy must have one action for each of {len(states)} states, got {len(table)}"
        )
    in_range = (table >= 0) & (table < game.num_actions)
    chosen = np.where(in_range, table, 0).astype(np.int64)
    legal = in_range & (game.allows(states, chosen) if masked else True)
    illegal = np.flatnonzero(in_range & ~legal)
    if worthless is not None and len(illegal):
        harmless = illegal[worthless(states[illegal])]
        chosen[harmless] = game.first_actions(states[harmless])
        legal[harmless] = True
    if not legal.all():
        row = int(np.argmin(legal))
        raise InputError(
            f"policy must choose legal actions, got {table[row]} in state {states[row]}{_UNMASKED}"
        )
    actions = np.empty(game.num_states, dtype=np.int64)
    others = np.setdiff1d(np.arange(game.num_states), states)
    actions[others] = game.first_actions(others)  # never taken
    actions[states] = chosen
    return DeterministicPolicy(actions, game.num_actions)


def _law(
    table: npt.NDArray[Any],
    game: Game,
    states: IntArray,
    allowed: BoolArray,
    worthless: Callable[[IntArray], BoolArray] | None,
) -> StochasticPolicy:
    """Check a law of actions for each of some states."""
    law = table.astype(np.float64)  # before it is normalised: float16 rows are off by 1e-4
    illegal = np.flatnonzero(((law > 0) & ~allowed).any(axis=1))
    if worthless is not None and len(illegal):
        harmless = illegal[worthless(states[illegal])]
        moved = np.where(allowed[harmless], 0.0, law[harmless]).sum(axis=1)
        law[harmless] = np.where(allowed[harmless], law[harmless], 0.0)
        law[harmless, allowed[harmless].argmax(axis=1)] += moved
    _check_probabilities(law, states, allowed)
    check_array("a table of probabilities", game, game.num_states, game.num_actions)
    probabilities = np.zeros((game.num_states, game.num_actions))
    probabilities[:, 0] = 1.0  # never taken, where it is not overwritten
    probabilities[states] = law / law.sum(axis=1, keepdims=True)
    return StochasticPolicy(probabilities)


def _check_probabilities(table: FloatArray, states: IntArray, mask: BoolArray) -> None:
    complaints = [
        (~np.isfinite(table), "be finite", ""),
        (table < 0, "not be negative", ""),
        ((table > 0) & ~mask, "leave illegal actions alone", _UNMASKED),
    ]
    for wrong, requirement, hint in complaints:
        if wrong.any():
            row, action = np.argwhere(wrong)[0]
            raise InputError(
                f"policy must {requirement}, got {table[row, action]:.6g} in state {states[row]}, "
                f"action {action}{hint}"
            )
    sums = table.sum(axis=1)
    if (np.abs(sums - 1) > SUM_TOLERANCE).any():
        row = int(np.argmax(np.abs(sums - 1)))
        raise InputError(
            f"policy must have probabilities that sum to 1, got {sums[row]:.6g} in state "
            f"{states[row]}"
        )
