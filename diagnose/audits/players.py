"""Policies that draw actions: epsilon-greedy ones, and known mistakes of draws."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...baselines import Policy, as_policy, from_network
from ...baselines.task import task_and_sight
from ...core import BoolArray, FloatArray, Game, IntArray
from ..arrays import factor
from ..records import EpsilonGreedy
from .statistics import of_actions, threshold
from .steps import Steps


class EpsilonGreedyPolicy(Policy):
    """The law that takes a random legal action with probability epsilon, else the greedy one.

    Args:
        greedy: the policy without random actions.
        game: the game.
        epsilon: probability of a random action.
    """

    def __init__(self, greedy: Policy, game: Game, epsilon: float) -> None:
        self._greedy, self._game, self.epsilon = greedy, game, epsilon
        self.shape = greedy.shape

    def probabilities(self, states: IntArray) -> FloatArray:
        """Return the probability of each action, shape (state, action)."""
        masks = self._game.mask(states)
        random = masks / masks.sum(axis=1, keepdims=True)
        law: FloatArray = self.epsilon * random + (1 - self.epsilon) * self.greedy(states)
        return law

    def greedy(self, states: IntArray) -> FloatArray:
        """Return 1 for the greedy action of each state, shape (state, action)."""
        return np.asarray(self._greedy.probabilities(states), dtype=np.float64)

    def fitting(self, states: IntArray, actions: IntArray) -> "EpsilonGreedyPolicy":
        """Return the policy of the epsilon that explains how often actions are not greedy."""
        others = 1 - self.greedy(states)[np.arange(len(states)), actions]
        expected = 1 - 1 / self._game.mask(states).sum(axis=1)  # of random actions
        found = min(float(others.sum()) / max(float(expected.sum()), 1e-12), 1.0)
        return EpsilonGreedyPolicy(self._greedy, self._game, found)


def player_of(policy: Any, env: Any) -> Policy:
    """Return the policy that has drawn the actions.

    Raises:
        InputError: if it is none of the environment, or epsilon is no probability.
    """
    if not isinstance(policy, EpsilonGreedy):
        return as_policy(policy, env, deterministic=False)
    factor(policy.epsilon, "epsilon")
    network, (task, _) = policy.network, task_and_sight(env)
    if not hasattr(network, "named_parameters"):  # a function of observations alone
        network = from_network(network, env)
    return EpsilonGreedyPolicy(as_policy(network, env), task.game, float(policy.epsilon))


def draw_mistakes(steps: Steps, policy: Policy) -> Iterator[tuple[str, str]]:
    """List the known mistakes that reproduce how often actions were taken."""
    which = steps.verdicts["actions"].checked & ~steps.verdicts["actions"].wrong
    states, actions = steps.states[which], steps.actions[which]
    if isinstance(policy, EpsilonGreedyPolicy):
        fitting = policy.fitting(states, actions)
        if _explains(steps, fitting):
            yield "epsilon-wrong", f"they fit epsilon = {fitting.epsilon:.3g}"
    distinct, rows = np.unique(states, return_inverse=True)
    law = policy.probabilities(distinct)
    clear: BoolArray = (law == law.max(axis=1, keepdims=True)).sum(axis=1) == 1
    if clear[rows].sum() >= 20 and (law.argmax(axis=1)[rows] == actions)[clear[rows]].all():
        yield "greedy-actions", "draw from the law of the policy, instead of its likeliest action"
    random = EpsilonGreedyPolicy(policy, steps.task.game, 1.0)
    if _explains(steps, random):
        yield "random-actions", "they fit uniform draws from the legal actions, not this policy"


def _explains(steps: Steps, policy: Policy) -> bool:
    """Say whether the actions are such as a policy draws."""
    found = list(of_actions(steps, policy))
    return max(deviation.evidence for deviation in found) < threshold(len(found))
