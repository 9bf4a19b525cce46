"""The exact score of a policy: how far it is from the optimum, and where it loses that.

The regret of a policy pi is V* - V(pi) = sum over states s and actions a of

    occupancy of s under pi  x  pi(a | s)  x  (V*(s) - Q*(s, a)),

the performance-difference identity (Kakade and Langford 2002, Lemma 6.1), whose terms are the
costs of single decisions.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..games import FloatArray, IntArray
from .induction import TIE, with_illegal
from .names import label
from .policies import DeterministicPolicy, Policy, PolicyLike
from .solver import agent_policy, evaluate, occupancy, solve
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
    """

    observation: tuple[int, ...]
    action: int
    best_action: int
    value: float
    best_value: float
    occupancy: float
    cost: float


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
    """

    policy: str
    deterministic: bool
    masked: bool
    task: Task = field(repr=False)
    value: float
    optimum: float
    random: float
    agent: Policy = field(repr=False)

    @property
    def regret(self) -> float:
        """What the policy gives away: optimum - value."""
        return self.optimum - self.value

    @property
    def normalized(self) -> float:
        """(value - random) / (optimum - random); 1 if these two agree, as nothing can be lost."""
        span = self.optimum - self.random
        return (self.value - self.random) / span if span > 0 else 1.0

    def blunders(self, count: int | None = 10) -> list[Blunder]:
        """List the costliest decisions, costliest first.

        Args:
            count: how many at most; None lists every decision that costs anything, and their
                costs sum to the regret.
        """
        states, actions, values, met = self._mistakes
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
        return [Blunder(*row) for row in rows]

    @cached_property
    def _mistakes(self) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """State, action, value and occupancy of every decision that costs something."""
        solution, game, seat = solve(self.task), self.task.game, self.task.seat
        met = occupancy(self.agent, self.task)
        mistakes = []
        for mover, states, expected in game.backward(solution.values, seat):
            if mover == seat:
                values = with_illegal(game, states, expected)
                weights = met[states][:, None] * self.agent.probabilities(states)
                losses = solution.values[seat, states][:, None] - values
                wrong = np.nonzero((weights > 0) & (losses > TIE))  # as far as values differ
                mistakes.append((states[wrong[0]], wrong[1], values[wrong], weights[wrong]))
        state, action, value, weight = (
            np.concatenate(column) for column in zip(*mistakes, strict=True)
        )
        return state, action, value, weight

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
        }


def score(policy: PolicyLike, env: Any, *, name: str | None = None, masked: bool = True) -> Score:
    """Score a policy exactly, by computation over every state.

    Args:
        policy: a name, a table (state, action), actions (state,), or a callable on
            (observations, masks). "optimal" is the best response to the opponents of ``env``.
        env: an environment of this project, or a ``Task``.
        name: what to call the policy.
        masked: whether the policy is held to the legal actions (see ``Score``).

    Raises:
        ValueError: if the policy does not fit the game.
    """
    task = as_task(env).with_exact(False)
    chosen = agent_policy(policy, task, masked)
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
