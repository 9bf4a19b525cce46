"""Scores in games with too many states for arrays, computed by a tour."""

from collections.abc import Mapping
from functools import cached_property
from math import sqrt
from typing import NoReturn

from typing_extensions import override

from ...core import InputError, at_least
from ...core.positions import require_few_states
from ...core.tour import KEPT, Tour
from ..solving.solver import solve
from ..solving.touring import tour_of
from .blunders import Blunders, Mistakes
from .score import Score


class TouredScore(Score):
    """Exact value, regret and costliest decisions of a policy in a game too large for arrays.

    Attributes that are arrays over all states raise an error.
    """

    @cached_property
    @override
    def outcomes(self) -> None:
        """None: states do not contain the payoffs so far."""

    @cached_property
    @override
    def deviation(self) -> float:
        if self.agent.fold is not None:
            return super().deviation
        return sqrt(self._tour.variance)

    @cached_property
    @override
    def moves(self) -> float:
        return self._tour.moves

    @cached_property
    @override
    def optimal_share(self) -> float:
        return max(0.0, 1 - self._tour.mistakes / self._tour.moves)

    @cached_property
    @override
    def flawless(self) -> float:
        return self._tour.flawless

    @property
    @override
    def regrets(self) -> Mapping[str, Mapping[str, float]]:
        return self._tour.regrets

    @cached_property
    @override
    def counts(self) -> Mapping[str, Mapping[str, tuple[float, float]]]:
        best = tour_of(solve(self.task).policy, self.task).counts
        return {
            what: {name: (count, best[what][name]) for name, count in parts.items()}
            for what, parts in self._tour.counts.items()
        }

    @override
    def blunders(self, count: int | None = 10) -> Blunders:
        if count is None or at_least("count", count, 0) > KEPT:
            raise InputError(f"count must be at most {KEPT} in {self.task.game!r}, got {count}")
        return super().blunders(count)

    @cached_property
    @override
    def occupancy(self) -> NoReturn:
        self._refuse()

    @cached_property
    @override
    def costs(self) -> NoReturn:
        self._refuse()

    @cached_property
    @override
    def costliest_actions(self) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        require_few_states(self.task.game)
        raise AssertionError

    @cached_property
    def _mistakes(self) -> Mistakes:
        return Mistakes(*self._tour.costliest)

    @property
    def _tour(self) -> Tour:
        return tour_of(self.agent, self.task)
