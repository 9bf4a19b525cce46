"""Builder of the tables of a ``Process``."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import AliasLaws, BoolArray, FloatArray, IntArray, SizeError
from .process import ContextGroups, Process

#: Limit of the tables of a task, in bytes; larger games are played by their rules.
LIMIT = 2**28


class ProcessBuilder:
    """Collects laws and entries of ``leads_to``; it begins with the law ``SURE``."""

    def __init__(self) -> None:
        self.laws: list[FloatArray] = [np.ones((1, 1))]
        self.leads_to: list[IntArray] = []
        self.num_laws, self.num_entries = 1, 0

    def add_laws(self, table: FloatArray) -> int:
        """Add laws, shape (law, outcome), and return the number of the first law."""
        self.laws.append(table)
        self.num_laws += len(table)
        return self.num_laws - len(table)

    def add_entries(self, leads_to: IntArray) -> int:
        """Add entries of any shape to ``leads_to``, and return the number of the first entry."""
        self.leads_to.append(leads_to.ravel())
        self.num_entries += leads_to.size
        return self.num_entries - leads_to.size

    def check(self, numbers: float) -> None:
        """Check that the tables stay within ``LIMIT``.

        Args:
            numbers: number of entries of eight bytes that are still to be added.

        Raises:
            SizeError: if the tables would be larger.
        """
        if 8 * (self.num_entries + numbers) > LIMIT:
            raise SizeError(f"tables must take at most {LIMIT} bytes")

    def process(
        self,
        *,
        moves: Sequence[IntArray],
        nodes: Sequence[IntArray],
        node_gains: FloatArray | None,
        events: IntArray,
        worst: float,
        payoffs: FloatArray,
        start: int,
        legal: BoolArray,
        groups: ContextGroups,
        seen: slice,
    ) -> Process:
        """Build the process (see ``Process``), with integers of 32 bits.

        Args:
            moves: ``move_laws`` and ``move_firsts``, each of shape (place, action).
            nodes: ``node_laws``, ``node_firsts`` and ``node_contexts``.
            node_gains: what the agent is paid at each node; None if no node pays.
            events: shape (result, context).
            worst: payoff of illegal moves.
            payoffs: all other payoffs, in increasing order.
            start: event with which a game begins.
            legal: the legal actions, shape (place, action).
            groups: the state of each place in each context.
            seen: the components of an observation that depend on the place.
        """
        integers = (*moves, *nodes, np.concatenate(self.leads_to), events)
        tables: Any = (np.ascontiguousarray(table, dtype=np.int32).ravel() for table in integers)
        rest: Any = (
            np.array([0.0, worst, *payoffs]),
            start,
            legal.astype(np.int8, order="C"),
            groups,
            seen,
            node_gains,
        )
        return Process(AliasLaws.of(self.laws), *tables, *rest)
