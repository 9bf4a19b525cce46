"""Functions as policies of games with too many states for tables.

A tour scores a policy in such a game and calls it once for each state (``core.tour``). The results
are not stored. To check that they depend on the state alone, a sample of each batch is passed to
the function again, in a batch of its own.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from ...core import Array, InputError, IntArray
from ...core.sweeps import sweeps_of
from ...core.tour import Choices, Grid
from ...core.types import BoolArray
from .checks import PolicyCheck
from .consistency import ROUNDING, SAMPLE, as_law, check_again
from .kinds import Policy, PolicyFunction
from .preferences import NetworkPolicy
from .tables import as_numbers, batches

#: One of this number of states in a batch is passed to the function again.
SHARE = 256


@dataclass(frozen=True)
class Call:
    """Calls a function with the observations and masks of states.

    Attributes:
        function: returns actions (state,) or probabilities (state, action).
        check: names the game and the seat whose observations the function gets.
    """

    function: PolicyFunction
    check: PolicyCheck

    def __call__(
        self, states: IntArray, again: bool = False
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return actions or laws, and the evidence: preferences, if the function has any."""
        game = self.check.game
        seen = game.observe(states, self.check.seat), game.mask(states)
        if isinstance(self.function, NetworkPolicy):
            return self.function.tell(*seen, again=again)
        given = as_numbers(self.function(*seen), "policy")
        return given, given.astype(np.float64) if given.ndim == 2 else given


class CalledPolicy(Policy):
    """A function that is called whenever laws are needed.

    Args:
        function: returns actions (state,) or probabilities (state, action).
        check: the check of the results.

    Attributes:
        function: as given.

    Raises:
        ValueError: if ``check`` rejects the results for a sample of states, or if the function
            returns other results when it is called again.
    """

    def __init__(self, function: PolicyFunction, check: PolicyCheck) -> None:
        self.shape, self.function = check.shape, function
        self._call, self._check = Call(function, check), check
        self._player = (check.game, check.seat, check.name)
        self._rounding = getattr(function, "rounding", ROUNDING)
        self.is_deterministic = self._begin()
        self._in_parts = None
        if isinstance(function, NetworkPolicy) and function.is_lazy:
            self._in_parts = function.grid_actions(check.game, check.seat)

    def _begin(self) -> bool:
        """Call the function with a sample of states; return whether it returns actions."""
        game = self._check.game
        some = np.linspace(0, game.num_states - 1, SAMPLE).astype(np.int64)
        states = some[sweeps_of(game).may_move(self._check.seat, some)]
        given, evidence = self._call(states)
        checked = self._check(given, states)
        first = states, evidence, len(states)
        check_again(self._evidence, first, self._player, self._rounding)
        return checked.ndim == 1

    @property
    @override
    def name(self) -> str:
        return self._check.name

    @property
    @override
    def roundings(self) -> int:
        return 0 if self.is_deterministic else super().roundings

    @override
    def probabilities(self, states: IntArray) -> Array:
        return as_law(self._answers(states), self.shape[1])

    @override
    def likeliest(self, states: IntArray) -> IntArray:
        answers = self._answers(states)
        actions: IntArray = answers if answers.ndim == 1 else answers.argmax(axis=1)
        return actions

    @override
    def choices(self, grid: Grid, met: BoolArray) -> Choices:
        if self._in_parts is None:
            return super().choices(grid, met)
        actions = np.take_along_axis(grid.actions, self._in_parts(grid), axis=1)
        sample = np.flatnonzero(met)[::SHARE]
        self._confirm(grid.states.ravel()[sample], actions.ravel()[sample])
        return Choices.certain(met, actions[met])

    def _answers(self, states: IntArray) -> npt.NDArray[Any]:
        """Return checked actions (state,) or laws (state, action), from one call per batch."""
        found = []
        for batch in batches(states, self.shape[1]):
            given, evidence = self._call(batch, again=True)
            found.append(self._check(given, batch))
            first = batch[::SHARE], evidence[::SHARE], len(batch)
            check_again(self._evidence, first, self._player, self._rounding, once=True)
        if not found:
            return np.zeros(0, dtype=np.int64)
        return np.concatenate(found)

    def _evidence(self, states: IntArray) -> npt.NDArray[Any]:
        given, evidence = self._call(states, again=True)
        self._check(given, states)
        return evidence

    def _confirm(self, states: IntArray, actions: IntArray) -> None:
        """Raise an error unless the whole network, called again, prefers these actions too.

        Preferences that differ by rounding alone count as equal.
        """
        preferences = self._evidence(states)
        chosen, largest = preferences[np.arange(len(states)), actions], preferences.max(axis=1)
        missing = ~(largest - chosen <= self._rounding * (1 + np.abs(largest)))
        if missing.any():
            row = int(np.argmax(missing))
            seen = self._check.game.observe(states[[row]], self._check.seat)[0].tolist()
            raise InputError(
                f"policy must answer alike to an observation every time, and {self.name} prefers "
                f"action {actions[row]} at {seen} in one batch and another in one of {len(states)}"
            )
