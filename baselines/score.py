"""The exact score of a policy: how far it is from the optimum, and where it loses that.

The regret of a policy pi is V* - V(pi) = sum over states s and actions a of

    occupancy of s under pi  x  pi(a | s)  x  (V*(s) - Q*(s, a)),

the performance-difference identity (Kakade and Langford 2002, Lemma 6.1), whose terms are the
costs of single decisions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from ..games import FloatArray, Game, IntArray, Stage
from .conversion import label
from .induction import tie, with_illegal
from .policies import SUM_TOLERANCE, DeterministicPolicy, Policy
from .solver import as_policy, evaluate, occupancy, outcome_distribution, play, solve
from .task import Task, as_task


@dataclass(frozen=True)
class Blunder:
    """A decision that costs something.

    Attributes:
        observation: what the agent sees.
        action: what it does.
        best_action: the smallest optimal action.
        value: expected payoff after ``action`` if play is optimal from then on.
        best_value: the same after ``best_action``.
        occupancy: probability that a game meets this observation and the agent does ``action``.
        cost: what that takes from the expected payoff, ``occupancy * (best_value - value)``.
        words: all of it in a sentence.
    """

    observation: tuple[int, ...]
    action: int
    best_action: int
    value: float
    best_value: float
    occupancy: float
    cost: float
    words: str


class ImpossibleScoreError(ArithmeticError):
    """A score above the optimum: a bug, here or in a ``Policy`` that is no probability law."""


@dataclass(frozen=True)
class Score:
    """What exact computation says of a policy.

    Attributes:
        policy: name of the policy.
        deterministic: whether it always does the same in a state.
        masked: whether it is held to the legal actions; if not, an illegal one ends the game
            with the worst payoff.
        task: game, seat and opponents.
        value: expected payoff of the policy.
        optimum: that of the best response to the same opponents.
        random: that of the uniform policy over legal actions.
        agent: the policy itself.

    Raises:
        ImpossibleScoreError: if the value is above the optimum by more than rounding. Within
            rounding it is taken for the optimum, so that no regret is negative.
    """

    policy: str
    deterministic: bool
    masked: bool
    task: Task = field(repr=False)
    value: float
    optimum: float
    random: float
    agent: Policy = field(repr=False)

    def __post_init__(self) -> None:
        if not self.value - self.optimum <= tie(self.task.game):
            raise ImpossibleScoreError(
                f"{self.policy} scores {self.value!r}, the best possible {self.optimum!r}: "
                + _why_impossible(self.agent, self.task)
            )
        object.__setattr__(self, "value", min(self.value, self.optimum))

    @property
    def regret(self) -> float:
        """What the policy gives away: optimum - value."""
        return self.optimum - self.value

    @property
    def normalized(self) -> float:
        """(value - random) / (optimum - random); 1 if these two agree, as nothing can be lost."""
        span = self.optimum - self.random
        return (self.value - self.random) / span if span > tie(self.task.game) else 1.0

    @cached_property
    def outcomes(self) -> Mapping[float, float]:
        """Probability of every payoff, by payoff in growing order."""
        law = outcome_distribution(self.agent, self.task)
        return MappingProxyType({float(payoff): float(law[payoff]) for payoff in law})

    @cached_property
    def optimal_share(self) -> float:
        """Share of the agent's decisions that are optimal, each counted as often as it is met."""
        met = occupancy(self.agent, self.task)
        return max(0.0, 1 - float(self._mistakes.occupancy.sum() / met.sum()))

    @cached_property
    def flawless(self) -> float:
        """Probability that the agent plays a whole game without a mistake."""
        first_mistakes = [0.0]  # of each stage

        def until_first(stage: Stage, weights: FloatArray) -> FloatArray:
            if stage.seat == self.task.seat:
                wrong = self._mistakes.at(stage.states)
                first_mistakes.append(float(weights[wrong].sum()))
                weights[wrong] = 0.0
            return weights

        play(self.agent, self.task, until_first)
        return max(0.0, 1 - sum(first_mistakes))

    @cached_property
    def exploitability_in_seat(self) -> float | None:
        """What the agent earns less in its seat than an equilibrium if the other plays to beat it.

        ``exactdice.exploitability`` is the mean of this over both seats. None if the game is not
        zero-sum for two players, or the policy not held to legal actions.
        """
        game, seat = self.task.game, self.task.seat
        if not (game.num_players == 2 and game.zero_sum and self.masked):
            return None
        beaten = solve(Task(game, 1 - seat, {seat: self.agent})).value_before_play
        worth = solve(Task(game, 1 - seat, "optimal")).value_before_play
        return max(float(beaten - worth), 0.0)  # below it by rounding only

    def blunders(self, count: int | None = 10) -> list[Blunder]:
        """List the costliest decisions, costliest first.

        Args:
            count: how many at most; None lists every decision that costs anything, and their
                costs sum to the regret.
        """
        states, actions, values, met = (
            self._mistakes.states,
            self._mistakes.actions,
            self._mistakes.values,
            self._mistakes.occupancy,
        )
        solution, game = solve(self.task), self.task.game
        best = solution.values[self.task.seat, states]
        costs = met * (best - values)
        order = np.lexsort((actions, states, -costs))[:count]
        rows = zip(
            map(tuple, game.observe(states[order], self.task.seat).tolist()),
            actions[order].tolist(),
            solution.policy.actions[states[order]].tolist(),
            values[order].tolist(),
            best[order].tolist(),
            met[order].tolist(),
            costs[order].tolist(),
            strict=True,
        )
        return [Blunder(*entry) for entry in ((*row, _in_words(game, *row)) for row in rows)]

    @cached_property
    def _mistakes(self) -> "_Mistakes":
        """Every decision that costs something."""
        solution, game, seat = solve(self.task), self.task.game, self.task.seat
        met, equal = occupancy(self.agent, self.task), tie(game)
        mistakes = []

        def look(stage: Stage, expected: FloatArray) -> FloatArray:
            mover, states, _ = stage
            best: FloatArray = solution.values[mover, states]
            if mover == seat:
                values = with_illegal(game, stage, expected)
                weights = met[states][:, None] * self.agent.probabilities(states)
                losses = best[:, None] - values
                wrong = np.nonzero((weights > 0) & (losses > equal))  # as far as values differ
                mistakes.append((states[wrong[0]], wrong[1], values[wrong], weights[wrong]))
            return best

        game.backward(look, seat)
        return _Mistakes(*(np.concatenate(column) for column in zip(*mistakes, strict=True)))

    def as_dict(self) -> dict[str, Any]:
        """Give everything but the blunders in JSON's types."""
        return {
            "policy": self.policy,
            "deterministic": self.deterministic,
            "masked": self.masked,
            "game": repr(self.task.game),
            "seat": self.task.seat,
            "opponents": {str(seat): name for seat, name in self.task.labels.items()},
            "value": self.value,
            "optimum": self.optimum,
            "random": self.random,
            "regret": self.regret,
            "normalized": self.normalized,
            "outcomes": {str(payoff): chance for payoff, chance in self.outcomes.items()},
            "optimal_share": self.optimal_share,
            "flawless": self.flawless,
            "exploitability_in_seat": self.exploitability_in_seat,
        }


@dataclass(frozen=True)
class _Mistakes:
    """Decisions that cost something: in a state, an action; one entry each."""

    states: IntArray
    actions: IntArray
    values: FloatArray
    occupancy: FloatArray  # probability that a game meets the state and the agent does the action

    @cached_property
    def _order(self) -> IntArray:
        return np.argsort(self.states, kind="stable")

    def at(self, states: IntArray) -> tuple[IntArray, IntArray]:
        """List the mistakes in some states: each one's place in ``states``, and its action."""
        in_order = self.states[self._order]
        first = np.searchsorted(in_order, states)
        counts = np.searchsorted(in_order, states, side="right") - first
        places = np.repeat(np.arange(len(states)), counts)
        nth = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
        return places, self.actions[self._order[first[places] + nth]]


def _why_impossible(agent: Policy, task: Task) -> str:
    """Say whether a policy or this project is to blame for a score above the optimum."""
    states = task.game.states_of(task.seat)
    law = agent.probabilities(states)
    wrong = (law < 0).any(axis=1) | ~(np.abs(law.sum(axis=1) - 1) < SUM_TOLERANCE)
    if wrong.any():
        return f"its probabilities in state {states[np.argmax(wrong)]} are not a law"
    return "this is a bug of exactdice, please report it"


def _in_words(
    game: Game,
    observation: tuple[int, ...],
    action: int,
    best_action: int,
    value: float,
    best_value: float,
    occupancy: float,
    cost: float,
) -> str:
    does, best = game.describe_action(action), game.describe_action(best_action)
    return (
        f"at {game.describe(np.array(observation))}: {does} ({value:.4f}), "
        f"best {best} ({best_value:.4f}), met in {occupancy:.2%} of games, costs {cost:.6f}"
    )


def score(
    policy: Any,
    env: Any,
    *,
    deterministic: bool = True,
    masked: bool = True,
    observations: Any = None,
    name: str | None = None,
) -> Score:
    """Score an agent or policy exactly, by computation over every state.

    Args:
        policy: whatever ``as_policy`` takes: a model, a name, a table, a callable, a path.
        env: an environment of this project, or a ``Task``. Its opponents count, its reward mode
            does not.
        deterministic: for models, whether they take their likeliest action or draw from their law.
        masked: whether the policy is held to the legal actions; if not, an illegal action ends
            the game with the worst payoff.
        observations: what a model is given of what it is shown (see ``as_policy``).
        name: what to call the policy.

    Raises:
        ValueError: if the policy does not fit the game or cannot be scored exactly.
    """
    task = as_task(env).with_exact(False)
    chosen = as_policy(
        policy, env, deterministic=deterministic, masked=masked, observations=observations
    )
    return Score(
        policy=name or label(policy),
        deterministic=isinstance(chosen, DeterministicPolicy),
        masked=masked,
        task=task,
        value=float(evaluate(chosen, task).value),
        optimum=float(solve(task).value),
        random=random_value(task),
        agent=chosen,
    )


def random_value(task: Task) -> float:
    """Compute the value of the uniform policy over legal actions."""
    if "random" not in task.memo:
        task.memo["random"] = float(evaluate("random", task).value)
    value: float = task.memo["random"]
    return value
