"""Exact head-to-head results of any set of policies."""

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...core import Array, InputError
from ..policies.door import Reading, convert, label
from ..solving.induction import arithmetic_of
from ..solving.solver import evaluate
from ..task import Task, task_and_sight


@dataclass(frozen=True)
class PayoffMatrix:
    """Expected payoff of each policy against each other, averaged over all seats.

    Attributes:
        names: names of the policies.
        payoffs: entry (i, j) is the expected payoff of policy i in one seat if policy j plays all
            others, averaged over the seats; shape (policy, policy), fractions if exact.
    """

    names: tuple[str, ...]
    payoffs: Array

    @property
    def means(self) -> dict[str, float | Fraction]:
        """Mean payoff of each policy against all the others, best first."""
        others = ~np.eye(len(self.names), dtype=bool)
        rows = zip(self.names, self.payoffs, others, strict=True)
        means = {name: sum(row[other].tolist()) / int(other.sum()) for name, row, other in rows}
        return dict(sorted(means.items(), key=lambda entry: -entry[1]))

    @property
    def ranking(self) -> list[str]:
        """Names by mean payoff against all the others, best first."""
        return list(self.means)


def payoff_matrix(
    policies: Mapping[str, Any] | Sequence[Any], env: Any, exact: bool = False
) -> PayoffMatrix:
    """Let every policy play every other, and itself, in every seat.

    Args:
        policies: two at least, each whatever ``as_policy`` takes, by name or in a list. A policy
            must be able to play every seat of the game; "optimal" is the equilibrium.
        env: an environment of this project, its id, or a ``Task``, for its game.
        exact: compute with fractions.

    Raises:
        ValueError: if the game has one player, or there are fewer than two policies.
    """
    task, sight = task_and_sight(env)
    game = task.game
    seats = range(game.num_players)
    if len(seats) < 2:
        raise InputError(f"game must have two players at least, got {game!r}")
    if not isinstance(policies, Mapping | list | tuple) or len(policies) < 2:
        size = f" of {len(policies)}" if isinstance(policies, Sized) else ""
        raise InputError(
            "policies must be a mapping from two names at least to policies, or a list of two at "
            f"least, got {type(policies).__name__}{size}"
        )
    named = policies if isinstance(policies, Mapping) else _named(policies)
    arithmetic = arithmetic_of(game, exact)
    resolved = [
        {seat: convert(policy, game, seat, exact, Reading(sight=sight)) for seat in seats}
        for policy in named.values()
    ]
    payoffs = arithmetic.zeros(len(resolved), len(resolved))
    for column, others in enumerate(resolved):
        for seat in seats:
            opponents = {other: others[other] for other in seats if other != seat}
            task = Task(game, seat, opponents)
            for row, policy in enumerate(resolved):
                found = evaluate(policy[seat], task, exact)
                payoffs[row, column] += found.value_before_play
    return PayoffMatrix(tuple(named), payoffs / len(seats))


def _named(policies: Sequence[Any]) -> dict[str, Any]:
    """Name each policy of a list; policies of one name are numbered."""
    names = [label(policy) for policy in policies]
    found: dict[str, Any] = {}
    for place, (name, policy) in enumerate(zip(names, policies, strict=True)):
        number = names[: place + 1].count(name)
        found[name if names.count(name) == 1 else f"{name} {number}"] = policy
    return found
