"""The decision process of an agent as flat tables, which all environments of a task share.

The agent is at a *place*, the state of its turn, in a *context*, its knowledge of earlier turns. A
move draws an outcome from a law. The outcome leads to another place, or ends the agent's turn with
a *result*. A result in a context is an *event*: a payoff or a *node*. A node is a draw by chance,
whose outcomes lead to a place in a context or to the next event. The policies of the other players
are fixed, so that their moves are chance too. If moves pay before the end, a payment and what
follows it are a node too, at which the agent is paid.

Events are numbers: GOES_ON, ILLEGAL, the payoffs in increasing order from FIRST_PAYOFF on, and then
the nodes. ``tables`` makes the tables, and says what places and nodes are in a game.
"""

from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...core import AliasLaws, FloatArray, IntArray, frozen

#: Event of a move after which the agent's turn goes on; as a payoff it is 0.
GOES_ON = 0
#: Event of an illegal move, which ends the game with the worst payoff.
ILLEGAL = 1
#: Event of the lowest payoff; the others follow in increasing order.
FIRST_PAYOFF = 2

#: Entries of ``Process.leads_to`` of at least this number are places. The entry ~n leads to the
#: result n, in which a move ends the agent's turn, or from a node to the event n.
FIRST_PLACE = 0
#: Number of the law that has a single outcome.
SURE = 0


class ContextGroups(NamedTuple):
    """Converts place and context of the agent to its state, and back.

    In context c, place p is the state ``bases[c] + strides[c] * p`` of the game. The states of a
    turn in several contexts may be consecutive; such contexts form a group.
    """

    bases: IntArray  # (context,)
    strides: IntArray  # (context,)
    starts: IntArray  # (group,) first state of each group, in increasing order
    contexts: IntArray  # (group,) first context of each group
    widths: IntArray  # (group,) number of contexts of each group
    places: IntArray  # (group,) first place of each group

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
        return self.bases[contexts] + self.strides[contexts] * places

    def locate(self, states: IntArray) -> tuple[IntArray, IntArray]:
        """Give place and context of each state of the agent."""
        group = np.searchsorted(self.starts, states, side="right") - 1
        inside, context = np.divmod(states - self.starts[group], self.widths[group])
        return self.places[group] + inside, self.contexts[group] + context


@dataclass(frozen=True, eq=False)
class Process:
    """The tables of a task."""

    laws: AliasLaws  # the laws of moves and of nodes
    move_laws: IntArray  # (place * action,) law of each move; SURE if the move is illegal
    move_firsts: IntArray  # (place * action,) entry of ``leads_to`` for outcome 0 of each move
    node_laws: IntArray  # (node,) law of each node
    node_firsts: IntArray  # (node,) entry of ``leads_to`` for outcome 0 of each node
    node_contexts: IntArray  # (node,) context of the places to which a node leads
    leads_to: IntArray  # (entry,) where each outcome leads (see ``FIRST_PLACE``)
    events: IntArray  # (result * context,) event of each result in each context
    payoffs: FloatArray  # (event that is no node,) by event: what is paid with it
    start: int  # event with which a game begins
    legal: npt.NDArray[np.int8]  # (place, action) 1 for legal actions
    groups: ContextGroups  # the state of each place in each context
    # The components of an observation that depend on the place; the others depend on the context.
    seen: slice
    node_gains: FloatArray | None  # (node,) what the agent is paid at a node; None if no node pays

    def __post_init__(self) -> None:
        for table in (*vars(self).values(), *self.laws, *self.groups):
            if isinstance(table, np.ndarray):
                frozen(table)

    @property
    def first_node(self) -> int:
        """Event that is node 0."""
        return len(self.payoffs)

    @property
    def num_contexts(self) -> int:
        """Number of contexts."""
        return len(self.groups.bases)

    @cached_property
    def plain(self) -> SimpleNamespace:
        """The tables as memory views, whose entries are Python ints and floats."""
        tables: dict[str, Any] = vars(self) | self.laws._asdict() | self.groups._asdict()
        arrays: Any = filter(lambda each: isinstance(each[1], np.ndarray), tables.items())
        return SimpleNamespace(**{name: memoryview(table) for name, table in arrays})
