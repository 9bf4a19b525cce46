"""Checks of policies: each state needs a legal action, or probabilities of legal actions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...core import BoolArray, FloatArray, Game, InputError, IntArray
from ...core.positions import are_legal, first_actions

SUM_TOLERANCE = 1e-5  # float32 networks; the probabilities are normalised once accepted
_UNMASKED = " (masked=False lets it choose any, at the worst payoff)"

#: A function from states to whether every action there has the worst payoff as its value, (state,).
Worthless: TypeAlias = Callable[[IntArray], BoolArray]


@dataclass(frozen=True)
class PolicyCheck:
    """Checks actions and probabilities that a policy gives for states of its seat.

    Attributes:
        game: the game that is played.
        seat: the seat that the policy plays.
        name: name of the policy.
        masked: whether the policy must keep to the legal actions.
        worthless: returns whether every action of a state has the worst payoff as its value. In
            such a state the table of a planner may choose an illegal action, which pays the same;
            the first legal action replaces it.
        cure: code that makes a policy of the user's numbers if they are logits or action values.
    """

    game: Game
    seat: int
    name: str
    masked: bool = True
    worthless: Worthless | None = None
    cure: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of states and of actions."""
        return self.game.num_states, self.game.num_actions

    def __call__(self, given: npt.NDArray[Any], states: IntArray) -> npt.NDArray[Any]:
        """Return the checked actions, or the checked probabilities, normalised to sum to 1.

        Args:
            given: actions, shape (state,), or probabilities, shape (state, action).
            states: the states, shape (state,).

        Raises:
            ValueError: if the shape is wrong, an entry is not a probability or not an action, or
                probabilities do not sum to one.
        """
        if given.ndim == 1 and np.issubdtype(given.dtype, np.integer):
            return self._actions(given, states)
        shape = (len(states), self.game.num_actions)
        if given.shape != shape:
            raise InputError(
                f"policy must be a table of shape {shape} (state, action) or integers of shape "
                f"({len(states)},), got {given.dtype} of shape {given.shape}"
            )
        allowed = self.game.mask(states) if self.masked else np.ones(shape, dtype=bool)
        return self._law(given, states, allowed)

    def _actions(self, given: IntArray, states: IntArray) -> IntArray:
        """Check an action for each state."""
        game = self.game
        if given.shape != states.shape:
            raise InputError(
                f"policy must have one action for each of {len(states)} states, got {len(given)}"
            )
        in_range = (given >= 0) & (given < game.num_actions)
        chosen = np.where(in_range, given, 0).astype(np.int64)
        legal = in_range & (are_legal(game, states, chosen) if self.masked else True)
        illegal = np.flatnonzero(in_range & ~legal)
        if self.worthless is not None and len(illegal):
            harmless = illegal[self.worthless(states[illegal])]
            chosen[harmless] = first_actions(game, states[harmless])
            legal[harmless] = True
        if not legal.all():
            row = int(np.argmin(legal))
            raise InputError(
                f"policy must choose legal actions, got {given[row]} in state {states[row]}"
                f"{_UNMASKED}"
            )
        return chosen

    def _law(self, given: npt.NDArray[Any], states: IntArray, allowed: BoolArray) -> FloatArray:
        """Check a law of actions for each state."""
        law = given.astype(np.float64)  # before it is normalised: float16 rows are off by 1e-4
        illegal = np.flatnonzero(((law > 0) & ~allowed).any(axis=1))
        if self.worthless is not None and len(illegal):
            harmless = illegal[self.worthless(states[illegal])]
            moved = np.where(allowed[harmless], 0.0, law[harmless]).sum(axis=1)
            law[harmless] = np.where(allowed[harmless], law[harmless], 0.0)
            law[harmless, allowed[harmless].argmax(axis=1)] += moved
        _check_probabilities(law, states, allowed, self.cure)
        normalized: FloatArray = law / law.sum(axis=1, keepdims=True)
        return normalized


def _check_probabilities(table: FloatArray, states: IntArray, mask: BoolArray, cure: str) -> None:
    with np.errstate(invalid="ignore"):
        sums = table.sum(axis=1)
    off = ~(np.abs(sums - 1) <= SUM_TOLERANCE)
    complaints = [
        (~np.isfinite(table), "be finite", ""),
        (table < 0, "not be negative", ""),
        ((table > 0) & ~mask, "leave illegal actions alone", _UNMASKED),
    ]
    values = f"; if these are logits or action values, give {cure}" if cure and off.any() else ""
    for wrong, requirement, hint in complaints:
        if wrong.any():
            row, action = np.argwhere(wrong)[0]
            raise InputError(
                f"policy must {requirement}, got {table[row, action]:.6g} in state {states[row]}, "
                f"action {action}{values or hint}"
            )
    if off.any():
        row = int(np.argmax(np.abs(sums - 1)))
        raise InputError(
            f"policy must have probabilities that sum to 1, got {sums[row]:.6g} in state "
            f"{states[row]}{values}"
        )
