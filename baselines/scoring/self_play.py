"""The exact score of a policy for both seats of a two-player game: its exploitability.

The exploitability of a policy in a seat is the equilibrium value of the seat minus the value of the
policy against a best response. The exploitability of a policy is the mean over both seats, half of
NashConv (Lanctot et al., "A Unified Game-Theoretic Approach to Multiagent Reinforcement Learning",
2017). It is 0 for an equilibrium and positive for any other policy. So that games compare, it is
divided by the exploitability of uniformly random play:

    normalised = 1 - exploitability / exploitability of random play,

which is 1 for an equilibrium, 0 for random play, and negative for a policy that loses more than
random play does. The nines are -log10(1 - normalised), at most 9.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core import FLOATS, Game
from ..cache import cached
from ..policies.door import Reading, label
from ..policies.kinds import Policy, UniformPolicy
from ..problem.problem import prepare
from ..problem.task import Task
from ..solving.solver import read_player, require_two_players, solve
from .figure import nines


@dataclass(frozen=True)
class SelfPlayScore:
    """Exact exploitability of a policy that plays both seats.

    Attributes:
        policy: name of the policy.
        game: the rules.
        guaranteed: value of each seat to the policy against a best response, in payoffs.
        equilibrium: equilibrium value of each seat.
        random: exploitability of uniformly random play.
    """

    policy: str
    game: Game = field(repr=False)
    guaranteed: tuple[float, ...]
    equilibrium: tuple[float, ...]
    random: float

    @property
    def in_seats(self) -> tuple[float, ...]:
        """Exploitability in each seat."""
        pairs = zip(self.equilibrium, self.guaranteed, strict=True)
        return tuple(max(worth - kept, 0.0) for worth, kept in pairs)  # negative by rounding only

    @property
    def exploitability(self) -> float:
        """Mean exploitability of both seats."""
        return sum(self.in_seats) / 2

    @property
    def normalized(self) -> float:
        """1 - exploitability / that of random play; 1 if random play is an equilibrium."""
        rounding = FLOATS.tie(self.game)
        return 1 - self.exploitability / self.random if self.random > rounding else 1.0

    @property
    def nines(self) -> float:
        """-log10(1 - normalised), at most 9; negative below random play."""
        return nines(self.normalized)

    def as_dict(self) -> dict[str, Any]:
        """Give the figures in JSON's types."""
        return {
            "exploitability": self.exploitability,
            "exploitability_in_seats": list(self.in_seats),
            "guaranteed": list(self.guaranteed),
            "equilibrium": list(self.equilibrium),
            "exploitability_of_random": self.random,
            "normalized_exploitability": self.normalized,
            "nines": self.nines,
        }


def score_self_play(
    policy: Any,  # whatever ``as_policy`` takes; it must be able to play both seats
    env: Any,  # an environment of this project, its id, or a ``Task``, for its game
    *,
    deterministic: bool = True,  # whether models take their likeliest action
    observations: Any = None,  # see ``as_policy``
    name: str | None = None,  # of the policy, for people
) -> SelfPlayScore:
    """Score a policy that plays both seats by its exploitability; "optimal" is the equilibrium."""
    problem = prepare(env)
    game = problem.game
    require_two_players(game)
    reading = Reading(deterministic, observations=observations)
    players = [read_player(policy, problem, seat, reading) for seat in (0, 1)]
    guaranteed, worst = _guaranteed(game, players), _random_exploitability(game)
    return SelfPlayScore(name or label(policy), game, guaranteed, _values(game), worst)


def _values(game: Game) -> tuple[float, ...]:
    """Compute the equilibrium value of each seat."""
    return tuple(float(solve(Task(game, seat)).value_before_play) for seat in (0, 1))


def _guaranteed(game: Game, policies: Sequence[Policy]) -> tuple[float, ...]:
    """Compute the value of each seat to the seat's policy against a best response."""
    total = sum(game.payoff_range)
    against = [Task(game, 1 - seat, {seat: policies[seat]}) for seat in (0, 1)]
    return tuple(total - float(solve(task).value_before_play) for task in against)


@cached
def _random_exploitability(game: Game) -> float:
    """Compute the exploitability of uniformly random play."""
    guaranteed = _guaranteed(game, [UniformPolicy(game)] * 2)
    return (sum(_values(game)) - sum(guaranteed)) / 2
