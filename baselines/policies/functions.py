"""Functions as policies, checked before anything is computed with them.

A function is called with all states of its seat, batch by batch, and then with a sample of them
again (``consistency``). Its results are stored as a table if they are actions, or if a table of
laws is not too large. In a larger game the function is called whenever a sweep needs laws, and must
give equal results; no array of shape (state, action) is stored for the whole game.
"""

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core import Array, BoolArray, IntArray
from ...core.positions import states_of
from .checks import PolicyCheck
from .consistency import ROUNDING, Marks, as_law, check_again, sample_of
from .kinds import Policy, PolicyFunction
from .preferences import NetworkPolicy
from .tables import TableBuilder, as_numbers, batch_size, batches

LAWS = 2**27  # bytes of a table of laws that may be stored: calling a network again takes longer


def function_policy(function: PolicyFunction, check: PolicyCheck) -> Policy:
    """Turn a function on (observations, masks) into a policy; it is called with every state.

    Args:
        function: gives actions (state,) or probabilities (state, action).
        check: the check of its results.

    Raises:
        ValueError: as ``check`` does, or if the function gives something else when it is called
            again.
    """
    call = _Call(function, check)
    game, states = check.game, states_of(check.game, check.seat)
    player = (game, check.seat, check.name)
    rows = TableBuilder(check, with_laws=8 * game.num_states * game.num_actions <= LAWS)
    marks, sample = Marks(player), sample_of(states)
    sampled = np.zeros(game.num_states, dtype=bool)  # np.isin would take longer than a network
    sampled[sample] = True
    evidence: list[npt.NDArray[Any]] = [np.zeros(0, dtype=np.int64)]
    for batch in batches(states, game.num_actions):
        given, behind = call(batch)
        checked = check(given, batch)
        rows.add(batch, checked)
        marks.note(batch, checked)
        evidence.append(behind[sampled[batch]])

    def ask(states: IntArray) -> npt.NDArray[Any]:
        given, behind = call(states, again=True)
        check(given, states)
        return behind

    most = min(len(states), batch_size(game.num_actions))
    first = sample, _joined(evidence, game.num_actions), most
    check_again(ask, first, player, getattr(function, "rounding", ROUNDING))
    return rows.policy(states) or FunctionPolicy(call, check, marks)


def _joined(evidence: list[npt.NDArray[Any]], num_actions: int) -> npt.NDArray[Any]:
    """Join the evidence of several batches: actions, unless one batch has laws or preferences."""
    if any(part.ndim == 2 for part in evidence):
        evidence = [as_law(part, num_actions) for part in evidence]
    return np.concatenate(evidence)


class _Call:
    """Calls a function with the observations and masks of states."""

    def __init__(self, function: PolicyFunction, check: PolicyCheck) -> None:
        self._function, self._game, self._seat = function, check.game, check.seat

    def __call__(
        self, states: IntArray, again: bool = False
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return actions or laws, and the evidence: preferences, if the function has any."""
        seen = self._game.observe(states, self._seat), self._game.mask(states)
        if isinstance(self._function, NetworkPolicy):
            return self._function.tell(*seen, again=again)
        given = as_numbers(self._function(*seen), "policy")
        return given, given.astype(np.float64) if given.ndim == 2 else given


class FunctionPolicy(Policy):
    """A function whose table would be too large: it is called whenever a sweep needs laws.

    Args:
        call: calls the function with states.
        check: the check of every result.
        marks: marks of the first results, with which later results are compared.
    """

    def __init__(self, call: _Call, check: PolicyCheck, marks: Marks) -> None:
        self.shape = check.shape
        self._call, self._check, self._marks = call, check, marks

    @property
    def name(self) -> str:
        """Name for people."""
        return self._check.name

    @property
    def roundings(self) -> int:
        """Bound the roundings of a mean, by the law with the most actions."""
        return 2 * self._marks.most_actions

    def probabilities(self, states: IntArray) -> Array:
        """Call the function for the law of each state; other players' states get any law.

        Raises:
            ValueError: as ``PolicyCheck`` does, or if the function gave something else before.
        """
        law = np.zeros((len(states), self.shape[1]))
        law[:, 0] = 1.0  # stays only where other players are to move
        own = np.flatnonzero(self._own[states])
        if len(own):
            law[own] = as_law(self._checked(states[own]), self.shape[1])
        return law

    @cached_property
    def _own(self) -> BoolArray:
        own = np.zeros(self.shape[0], dtype=bool)
        own[states_of(self._check.game, self._check.seat)] = True
        return own

    def _checked(self, states: IntArray) -> npt.NDArray[Any]:
        """Call the function for states of the seat: actions (state,), or laws (state, action)."""
        given, _ = self._call(states)
        checked = self._check(given, states)
        self._marks.compare(states, checked)
        return checked
