"""Exact scores of policies: the regret, and the decisions that cause the regret.

The regret of a policy pi is V* - V(pi) = sum over states s and actions a of

    occupancy of s under pi  x  pi(a | s)  x  (V*(s) - Q*(s, a)),

the performance-difference identity (Kakade and Langford 2002, Lemma 6.1), whose terms are the
costs of single decisions.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, nan, sqrt
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from typing_extensions import override

from ...core import (
    EXACT,
    FLOATS,
    Array,
    FloatArray,
    InputError,
    IntArray,
    SizeError,
    Stage,
    Table,
    at_least,
    frozen,
    write_file,
)
from ...core.positions import pieces, require_few_states, states_of
from ...core.tour import KEPT, Tour
from ..cache import cached
from ..operators.rounding import values_error
from ..policies.door import Reading, label
from ..policies.kinds import Policy, UniformPolicy
from ..policies.tabular import SUM_TOLERANCE
from ..problem.problem import OfProblem, Problem, prepare
from ..problem.task import Task
from ..solving.evaluation import Solution
from ..solving.occupancy import Outcomes, outcomes, play, variance_of_law, where_met
from ..solving.solver import gain_of_response, is_toured, optimum, read_agent, tour_of, value_of
from .blunders import Blunders, Mistakes, costliest, is_timeless, mistakes
from .certificate import certificate
from .figure import FIGURES, LOGGED, nines

#: Games of up to so many states have the value of random play computed in fractions, if floats are
#: not precise enough.
FEW = 300


class ImpossibleScoreError(ArithmeticError):
    """A score above the optimum: a bug of this project or of a user's ``Policy``."""


@dataclass(frozen=True)
class Score(OfProblem):
    """Exact value, regret and decisions of a policy.

    Attributes:
        policy: name of the policy.
        deterministic: whether it always takes the same action in a state.
        masked: whether it must act legally; if not, an illegal action gets the worst payoff.
        problem: the task that is scored.
        value: expected payoff of the policy; a fraction if exact, as the next two.
        optimum: expected payoff of the best response to the same opponents.
        random: expected payoff of the uniform policy over legal actions; NaN if floats are not
            precise enough for it, and fractions take too long.
        agent: the policy itself.
        error_bound: largest distance of ``value`` from the exact one by rounding; the bound of
            the optimum is in its ``Solution``.

    Raises:
        ImpossibleScoreError: if the value is above the optimum by more than rounding. A value
            above it by rounding is set to the optimum, so that no regret is negative.
    """

    policy: str
    deterministic: bool
    masked: bool
    problem: Problem = field(repr=False)
    value: float
    optimum: float
    random: float
    agent: Policy = field(repr=False)
    error_bound: float = field(default=0.0, repr=False)

    def __post_init__(self) -> None:
        best = self._best
        bounds = self.error_bound + best.value_error
        if not self.value - self.optimum <= bounds + self._tie:
            raise ImpossibleScoreError(
                f"{self.policy} scores {self.value!r}, the best possible {self.optimum!r}: "
                + _why_impossible(self.agent, self.task)
            )
        if self.value > self.optimum:
            object.__setattr__(self, "value", self.optimum)
            object.__setattr__(self, "error_bound", max(self.error_bound, best.value_error))

    @property
    def regret(self) -> float:
        """Expected payoff that the policy gives away: optimum - value."""
        return self.optimum - self.value

    @property
    def normalized(self) -> float:
        """(value - random) / (optimum - random); 1 if all three agree.

        NaN if random is unknown, or optimal, which the policy is not, as it circles for ever.
        """
        span = self.optimum - self.random
        if not span <= self._tie:
            return (self.value - self.random) / span
        one: float = self.arithmetic.number(1)
        return one if self.regret <= self._tie else nan

    @property
    def nines(self) -> float:
        """-log10(1 - normalised score), at most 9."""
        return nines(float(self.normalized))

    @cached_property
    def outcomes(self) -> Mapping[float, float] | None:
        """Probability of every payoff, by payoff in increasing order.

        None if moves pay before the end, since states do not contain the payoffs so far.
        """
        law = self._law
        return law and MappingProxyType({float(paid): float(law[paid]) for paid in law})

    @cached_property
    def deviation(self) -> float:
        """Standard deviation of the payoff of a game."""
        if (law := self._law) is not None:
            return sqrt(variance_of_law(law, self.arithmetic))
        return sqrt(value_of(self._played, self.problem, self.masked).variance)

    @cached_property
    def occupancy(self) -> FloatArray:
        """Occupancy of each state, shape (state,); see ``exactdice.occupancy``."""
        return FLOATS.numbers(self._games.visits.array[self.task.seat])

    @cached_property
    def costs(self) -> FloatArray:
        """Expected payoff given away in each state, shape (state,); the costs sum to the regret."""
        require_few_states(self.task.game)
        costs = np.zeros(self.task.game.num_states)
        np.add.at(costs, self._every.costliest.states, self._every.costliest.costs)
        return frozen(costs)

    @cached_property
    def costliest_actions(self) -> IntArray:
        """The agent's costliest action in each state, shape (state,); -1 if no action costs."""
        require_few_states(self.task.game)
        every = self._every.costliest
        order = np.argsort(every.costs, kind="stable")  # the costliest is written last
        actions = np.full(self.task.game.num_states, -1)
        actions[every.states[order]] = every.actions[order]
        return frozen(actions)

    @cached_property
    def moves(self) -> float:
        """Expected number of the agent's moves, until it circles where nothing is paid."""
        games = vars(self).get("_games")  # the law of payoffs takes longer than the visits
        games = games or outcomes(self.agent, self.problem, law=False)
        return float(games.visits.total(self.task.seat))

    @cached_property
    def optimal_share(self) -> float:
        """Share of the agent's decisions that are optimal, weighted by occupancy."""
        return max(0.0, 1 - self._wrong / self.moves)

    @cached_property
    def flawless(self) -> float:
        """Probability that the agent plays a whole game without a mistake."""
        agent, seat, actions = self._played, self.task.seat, self.task.game.num_actions

        def until_first(stage: Stage, weights: Array) -> Array:
            if stage.seat != seat:
                return weights
            return np.where(self._mistakes.at(stage.states, actions), 0, weights)

        states, erring = np.flatnonzero(self._mistakes.bits.any(axis=1)), self.arithmetic.number(0)
        met = play(agent, self.problem, until_first).at(seat, states)
        for piece in pieces(len(states)):
            weights = agent.spread(states[piece], met[piece], self.arithmetic)
            erring += weights[self._mistakes.at(states[piece], actions)].sum()
        return max(0.0, float(1 - erring))

    @cached_property
    def exploitability_in_seat(self) -> float | None:
        """Value of the agent's seat in equilibrium minus the agent's value against a best response.

        ``exactdice.exploitability`` is the mean of this over both seats. None if the game is not
        zero-sum for two players, or the policy may act illegally.
        """
        game, seat = self.task.game, self.task.seat
        if not (game.num_players == 2 and game.zero_sum and self.masked):
            return None
        gain = float(gain_of_response(self.agent, self.problem, seat))
        return max(gain, 0.0)  # negative by rounding only

    @property
    def regrets(self) -> Mapping[str, Mapping[str, float]]:
        """The regret in parts, by division and then by part, in units of the payoff.

        The parts of each division, such as ``regrets["turn"]``, sum to the regret. The mapping is
        empty for games that define no parts.
        """
        return {}

    @property
    def counts(self) -> Mapping[str, Mapping[str, tuple[float, float]]]:
        """Expected numbers of the agent and of optimal play, by quantity and then by part."""
        return {}

    def blunders(self, count: int | None = 10) -> Blunders:
        """List the costliest decisions, costliest first.

        Args:
            count: largest number of decisions; None lists every suboptimal decision, and their
                costs sum to the regret.

        Raises:
            InputError: if the game has too many states for arrays, and the count is above ``KEPT``.
        """
        many = count is None or at_least("count", count, 0) > KEPT
        found = self._every if many or is_timeless(self.task.game) else self._mistakes
        return costliest(found.costliest, self._best, count, found.circling)

    @cached_property
    def _played(self) -> Policy:
        """A policy that agrees with the agent in every state that the agent visits."""
        return where_met(self.agent, self.problem)

    @cached_property
    def _mistakes(self) -> Mistakes:
        return mistakes(self._played, self._best, self._games.visits)

    @cached_property
    def _every(self) -> Mistakes:
        """All mistakes, which may be millions."""
        return mistakes(self._played, self._best, self._games.visits, None)

    @property
    def _wrong(self) -> float:
        """Expected number of suboptimal decisions in a game."""
        return self._mistakes.rate

    @property
    def _best(self) -> Solution:
        return optimum(self.problem)

    @property
    def _tie(self) -> float:
        """Difference up to which values of the task are equal."""
        return tie_of(self._best)

    @property
    def _law(self) -> dict[Any, Any] | None:
        return None if self.problem.pays_early else self._games.law

    @cached_property
    def _games(self) -> Outcomes:
        return outcomes(self.agent, self.problem)

    @property
    def title(self) -> str:
        """The policy and its task in words."""
        kind = "deterministic" if self.deterministic else "stochastic"
        held = "masked" if self.masked else "not masked"
        return f"{self.policy} ({kind}, {held}) in {self.task.words}"

    def __str__(self) -> str:
        return f"{self.title}: " + ", ".join(f"{name} {text}" for name, text in self._row())

    def _repr_html_(self) -> str:
        """Write the title and a table of the figures, for notebooks."""
        names, row = zip(*self._row(), strict=True)
        return Table(names, [row], self.title, len(row)).html()

    def _row(self) -> list[tuple[str, str]]:
        """Give the names and the texts of the figures that take no sentence."""
        shown = (figure for figure in FIGURES if figure.label and not figure.sentence)
        return [(figure.label, figure.text(self)) for figure in shown]

    def save(self, path: Path | str) -> None:
        """Write the certificate of the score, a file that ``exactdice.verify`` checks.

        Args:
            path: the file, which ends in .npz; it may be given as a policy, too.

        Raises:
            WriteError: if there is no room or no permission; a file that is there is whole.
            InputError: if the name has another ending; if the policy is not held to the legal
                actions or is too large to verify, or an opponent is not known by name.
        """
        file = Path(path)
        if file.suffix != ".npz":
            raise InputError(f"path must end in .npz, got {file}")
        write_file(file, certificate(self))

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the blunders, in JSON's types; None if the game is too large."""
        parts = {}
        with suppress(SizeError):
            parts = {"regrets": self.regrets, "counts": self.counts} if self.regrets else {}
        return {
            "policy": self.policy,
            "deterministic": self.deterministic,
            "masked": self.masked,
            "game": repr(self.task.game),
            "seat": self.task.seat,
            "opponents": {str(seat): name for seat, name in self.task.labels.items()},
            **{figure.name: figure.in_json(self) for figure in FIGURES},
            "outcomes": in_json(self.outcomes),
            **parts,
        }


class TouredScore(Score):
    """The score of a policy in a game with too many states for arrays: a tour has its figures."""

    @property
    def _tour(self) -> Tour:
        return tour_of(self.agent, self.problem)

    @cached_property
    @override
    def deviation(self) -> float:
        return super().deviation if self.agent.fold else sqrt(self._tour.variance)

    @property
    @override
    def moves(self) -> float:
        return self._tour.moves

    @property
    @override
    def _wrong(self) -> float:
        return self._tour.mistakes

    @property
    @override
    def flawless(self) -> float:
        return self._tour.flawless

    @property
    @override
    def regrets(self) -> Mapping[str, Mapping[str, float]]:
        return self._tour.regrets

    @property
    @override
    def counts(self) -> Mapping[str, Mapping[str, tuple[float, float]]]:
        best = tour_of(self._best.policy, self.problem).counts
        return {
            what: {name: (count, best[what][name]) for name, count in parts.items()}
            for what, parts in self._tour.counts.items()
        }

    @override
    def blunders(self, count: int | None = 10) -> Blunders:
        if count is None or at_least("count", count, 0) > KEPT:
            raise InputError(f"count must be at most {KEPT} in {self.task.game!r}, got {count}")
        return costliest(self._tour.costliest, self._best, count)


def in_json(law: Mapping[float, float] | None) -> dict[str, float] | None:
    """Return the probability of every payoff by the payoff as a text, as JSON has it."""
    return None if law is None else {str(payoff): chance for payoff, chance in law.items()}


def _why_impossible(agent: Policy, task: Task) -> str:
    """Return a sentence on the cause of a score above the optimum: the policy or this project."""
    law = agent.probabilities(states := states_of(task.game, task.seat))
    wrong = (law < 0).any(axis=1) | ~(np.abs(law.sum(axis=1) - 1) < SUM_TOLERANCE)
    if wrong.any():
        return f"its probabilities in state {states[np.argmax(wrong)]} are not a law"
    return "this is a bug of exactdice, please report it"


def score(
    policy: Any,
    env: Any,
    *,
    deterministic: bool = True,
    masked: bool = True,
    observations: Any = None,
    name: str | None = None,
    exact: bool = False,
) -> Score:
    """Score an agent or policy exactly, by computation over every state.

    Args:
        policy: whatever ``as_policy`` takes: a model, a name, a table, a callable, a path.
        env: an environment of this project, its id, or a ``Task``. Its opponents matter, its reward
            mode does not.
        deterministic: for models, whether they take their likeliest action or draw from their law.
        masked: whether it must act legally; if not, an illegal action gets the worst payoff.
        observations: changes observations before a model gets them (see ``as_policy``).
        name: name of the policy, for people.
        exact: whether to compute with fractions (see ``evaluate``).

    Raises:
        ValueError: if the policy does not fit the game or cannot be scored exactly.
    """
    problem = prepare(env, exact)
    reading = Reading(deterministic, masked, observations=observations, lazy=True)
    agent = read_agent(policy, problem, reading)
    problem = problem.bare
    value, error_bound = _value_of(agent, problem, masked)
    best: Any = optimum(problem).value
    return (TouredScore if is_toured(problem) else Score)(
        policy=name or label(policy),
        deterministic=agent.is_deterministic,
        masked=masked,
        problem=problem,
        value=value,
        optimum=best,
        random=value_of_random(problem)[0],
        agent=agent,
        error_bound=error_bound,
    )


def exact_evaluation(
    policy: Any,
    env: Any,
    *,
    deterministic: bool = True,
    masked: bool = True,
    observations: Any = None,
) -> dict[str, float]:
    """Give the exact figures of an agent that is learning, for a training loop to log.

    A call takes one pass through the network and one sweep over the game. Results that do not
    depend on the agent, such as the optimum, are computed at the first call and cached.

    Args:
        policy: whatever ``score`` takes, such as a model of stable-baselines3, or a torch module
            that gives a preference (a logit or an action value) for each action.
        env: as for ``score``. It is not played, so that training may go on in it.
        deterministic: see ``score``.
        masked: see ``score``. An agent that is trained without masks plays with ``masked=False``.
        observations: see ``score``.

    Returns:
        "value", "regret" and "normalized" (see ``Score``).

    Raises:
        ValueError: if the policy does not fit the game or cannot be scored exactly.
    """
    result = score(
        policy, env, deterministic=deterministic, masked=masked, observations=observations
    )
    return {name: getattr(result, name) for name in LOGGED}


def _value_of(agent: Policy, problem: Problem, masked: bool) -> tuple[Any, float]:
    """Compute the value of a policy and the bound of its error."""
    if isinstance(agent, UniformPolicy):  # as the normalised score needs it, too
        return _value_of_random(problem)
    if is_toured(problem.task) and agent.fold is None:
        tour = tour_of(agent, problem)
        return tour.mean, values_error(tour.roundings, tour.mean)  # no term is below 0
    found = value_of(where_met(agent, problem), problem, masked)
    return found.value, found.value_error


@cached
def _value_of_random(problem: Problem) -> tuple[Any, float]:
    found = value_of(UniformPolicy(problem.game), problem)
    return found.value, found.value_error


def tie_of(solution: Solution) -> float:
    """Give the difference up to which values of policies of a task are equal."""
    return float(np.max(solution.tie(solution.problem.in_floats.start.states)))


def random_value(task: Task) -> float:
    """Compute the value of the uniform policy; the optimum if they agree up to rounding."""
    return float(value_of_random(prepare(task))[0])


def value_of_random(problem: Problem) -> tuple[Any, float]:
    """Compute the value of the uniform policy; the optimum if they agree up to rounding.

    Where floats are not precise enough for random play, which may be very slow, fractions are, if
    the game is small. Beside the value, NaN if it is unknown, is the bound of its error.
    """
    best = optimum(problem)
    try:
        value, error = _value_of_random(problem)
    except SizeError:
        raise
    except InputError:
        if problem.game.num_states > FEW:
            return nan, inf
        value = float(_value_of_random(replace(problem, arithmetic=EXACT))[0])
        error = abs(value) * 2.0**-53
    return (value if abs(best.value - value) > tie_of(best) else best.value), error
