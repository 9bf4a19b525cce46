"""What an agent faces as flat tables, which all environments of a task in this process share.

The agent is at a *place*, in a *context*: the state of its turn, and what it knows from the turns
before. A move draws an outcome from a law, which leads to another place or ends the agent's turn
with a *result*. Result and context make an *event*: a payoff, or a node of chance, where another
draw leads to a place in a context or to the next event. The others are chance as well, as their
policies are fixed: in a game of turns a node is a whole turn of theirs or, where the agent does not
move again, all that they still do; in other games it is a move of theirs.

In games that are not made of turns places are states, and there is one context.

The tables are made by the game's own rules (``tables``).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...core import AliasLaws, FloatArray, IntArray, frozen

#: The event that an illegal move is: payoff number 0, the worst one.
ILLEGAL = 0


class ContextGroups(NamedTuple):
    """Numbers the agent's states by place and context, and back.

    In context c, place p is the state ``bases[c] + strides[c] * p`` of the game. The states of a
    turn in several contexts may be consecutive; such contexts form a group.

    Attributes:
        bases: shape (context,).
        strides: shape (context,).
        starts: first state of each group, in increasing order, shape (group,).
        contexts: first context of each group, shape (group,).
        widths: number of contexts of each group, shape (group,).
        places: first place of each group, shape (group,).
    """

    bases: IntArray
    strides: IntArray
    starts: IntArray
    contexts: IntArray
    widths: IntArray
    places: IntArray

    @classmethod
    def of(
        cls, starts: IntArray, contexts: IntArray, widths: IntArray, places: IntArray
    ) -> "ContextGroups":
        """Build the groups; the contexts of a group have consecutive numbers."""
        strides = np.repeat(widths, widths)
        bases = np.repeat(starts - places * widths - contexts, widths) + np.arange(len(strides))
        order = np.argsort(starts)
        groups = (array[order] for array in (starts, contexts, widths, places))
        return cls(bases, strides, *groups)

    def states(self, places: IntArray, contexts: IntArray) -> IntArray:
        """Give the state of each place in a context."""
        found: IntArray = self.bases[contexts] + self.strides[contexts] * places
        return found

    def locate(self, states: IntArray) -> tuple[IntArray, IntArray]:
        """Give place and context of each state of the agent."""
        group = np.searchsorted(self.starts, states, side="right") - 1
        inside, context = np.divmod(states - self.starts[group], self.widths[group])
        return self.places[group] + inside, self.contexts[group] + context


@dataclass(frozen=True, eq=False)
class Process:
    """The tables.

    Events 0, ..., P - 1 are payoffs, and event P + n is node n.

    Attributes:
        laws: of moves and of nodes.
        move_laws: law of each move, shape (place * action,); that of nothing if it is illegal.
        move_firsts: entry of ``leads_to`` for outcome 0 of each move, shape (place * action,).
        node_laws: the same of nodes, shape (node,).
        node_firsts: shape (node,).
        node_contexts: context of the places to which a node leads, shape (node,).
        leads_to: a place; or -1 - r for a move that ends with result r, or -1 - e for a node that
            leads to event e. Shape (entry,).
        events: event of each result in each context, shape (result * context,).
        payoffs: by number; number 0 is that of illegal moves, and the last one, number -1, is 0,
            that of a game which goes on.
        start: event with which a game begins.
        legal: int8, shape (place, action).
        groups: the state of each place in each context.
        seen: components of an observation that tell the place; the others tell the context.
    """

    laws: AliasLaws
    move_laws: IntArray
    move_firsts: IntArray
    node_laws: IntArray
    node_firsts: IntArray
    node_contexts: IntArray
    leads_to: IntArray
    events: IntArray
    payoffs: FloatArray
    start: int
    legal: npt.NDArray[np.int8]
    groups: ContextGroups
    seen: slice

    def __post_init__(self) -> None:
        for table in (*vars(self).values(), *self.laws, *self.groups):
            if isinstance(table, np.ndarray):
                frozen(table)

    @property
    def first_node(self) -> int:
        """Number of events that are payoffs."""
        return len(self.payoffs) - 1

    @property
    def num_contexts(self) -> int:
        """Number of contexts."""
        return len(self.groups.bases)

    @cached_property
    def plain(self) -> "PlainTables":
        """The same tables, as views that give Python's numbers."""
        integers = [getattr(self, name) for name in PlainTables._fields[4:-2]]
        views: Any = map(memoryview, [*self.laws, *integers, *self.groups[:2]])
        return PlainTables(*views)


class PlainTables(NamedTuple):
    """The tables of a ``Process`` as memory views, whose entries are Python ints and floats."""

    sizes: "memoryview[float]"
    firsts: "memoryview[int]"
    thresholds: "memoryview[float]"
    aliases: "memoryview[int]"
    move_laws: "memoryview[int]"
    move_firsts: "memoryview[int]"
    node_laws: "memoryview[int]"
    node_firsts: "memoryview[int]"
    node_contexts: "memoryview[int]"
    leads_to: "memoryview[int]"
    events: "memoryview[int]"
    bases: "memoryview[int]"
    strides: "memoryview[int]"
