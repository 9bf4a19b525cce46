"""The table of all states of a solved game: values and optimal actions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...core import Array, IntArray
from ...core.frame import frame


@dataclass(frozen=True, eq=False)
class States:
    """The states in which the agent may be to move, in increasing order.

    Attributes:
        names: names of the components of an observation.
        states: numbers of the states, shape (state,).
        observations: what the agent sees, integers of shape (state, component).
        values: expected payoff under optimal play, floats or fractions, shape (state,).
        actions: the smallest optimal action, shape (state,).
    """

    names: Sequence[str]
    states: IntArray
    observations: IntArray
    values: Array
    actions: IntArray

    def __len__(self) -> int:
        return len(self.states)

    def to_frame(self) -> Any:
        """Make a ``pandas.DataFrame``: a row for each state, a column for each component.

        Raises:
            InputError: if pandas is not installed.
        """
        seen = dict(zip(self.names, self.observations.T, strict=True))
        own = {"state": self.states, "value": self.values, "action": self.actions}
        return frame({**seen, **own})
