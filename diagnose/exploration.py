"""The exploration of a policy, and the states of optimal play that training has never visited.

Let d(s) be the occupancy of the policy, H(s) the entropy of its law over n(s) legal actions, and

    m(s) = V*(s) - mean over the legal a of Q*(s, a)

the regret of a move drawn uniformly: how much the choice in s matters. The relative entropy
h(s) = H(s) / log n(s) is 1 for the uniform law, and 0 if one action is certain. The figures are
means of h over the states with two legal actions or more: weighted by d(s), and by d(s) m(s).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..baselines import as_policy, solve
from ..core import FLOATS, FloatArray, IntArray
from .view import AgentView, numbers


@dataclass(frozen=True)
class EntropyFigures:
    """The relative entropy of a policy: 1 for the uniform law, 0 if every action is certain.

    Attributes:
        mean: weighted by the occupancy of the policy; NaN if the agent never has a choice.
        by_regret: weighted by occupancy times the regret of a uniform move: how much the policy
            still tries where the choice matters; NaN if it matters in no state that is met.
    """

    mean: float
    by_regret: float


def entropy(env: Any, policy: Any) -> EntropyFigures:
    """Compute the relative entropy of a policy (the module's docstring has the equations).

    Args:
        env: an environment of this project, a vector of them, or a ``Task``.
        policy: any policy that ``as_policy`` accepts. Models draw from their law, masked to legal
            actions.

    Raises:
        InputError: if the policy does not fit.
    """
    view = AgentView(env)
    game = view.task.game
    player = as_policy(policy, env, deterministic=False)
    occupancy = view.occupancy(player)
    sums = np.zeros((2, 2))  # (weighted by occupancy or by regret, of h or of 1)

    def visit(states: IntArray, expected: FloatArray) -> None:
        met = occupancy[np.searchsorted(view.states, states)]
        legal = game.mask(states)
        count = legal.sum(axis=1)
        which = (met > 0) & (count > 1)
        if not which.any():
            return
        legal, count, met = legal[which], count[which], met[which]
        law = player.probabilities(states[which])
        logs = np.log(law, where=law > 0, out=np.zeros_like(law))
        relative = -(law * logs).sum(axis=1) / np.log(count)
        values = np.where(legal, expected[which], 0.0)
        best = np.where(legal, expected[which], -np.inf).max(axis=1)
        regret = best - values.sum(axis=1) / count
        regret = np.where(regret > FLOATS.tie(game), regret, 0.0)  # the rest is rounding
        for row, weights in enumerate((met, met * regret)):
            sums[row] += (weights * relative).sum(), weights.sum()

    view.visit(solve(view.task).found, visit)
    mean, by_regret = (float(of / whole) if whole > 0 else np.nan for of, whole in sums)
    return EntropyFigures(mean, by_regret)


def unvisited(env: Any, visits: Any) -> float:
    """Return the share of the occupancy of optimal play in states with less than one visit.

    Optimal play is that of ``solve``, which takes the smallest of equally good actions.

    Args:
        env: an environment of this project, a vector of them, or a ``Task``.
        visits: how often each state was visited, or truth values, shape (game.num_states,). For
            what a policy would visit in n games, give n times its ``exactdice.occupancy``.

    Raises:
        InputError: if ``visits`` has another shape.
    """
    view = AgentView(env)
    seen = numbers(visits, "visits", (view.task.game.num_states,))[view.states]
    occupancy = view.occupancy(solve(view.task).policy)
    return float(occupancy[seen < 1].sum() / occupancy.sum())
