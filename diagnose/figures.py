"""Exact figures of a policy: errors of its critic, of action values, and its exploration.

With the occupancy d(s) of a policy as weights, the mean of an error e is sum d(s) e(s) / sum d(s).
All values are sums of the environment's rewards, in its reward mode, without a discount unless one
is given. The action value of a greedy policy at its own action is its value: Q(s, pi(s)) = V(s).

Let H(s) be the entropy of the policy's law over n(s) legal actions, and

    m(s) = V*(s) - mean over the legal a of Q*(s, a)

the regret of a move drawn uniformly: how much the choice in s matters. The relative entropy
h(s) = H(s) / log n(s) is 1 for the uniform law, and 0 if one action is certain. The figures are
means of h over the states with two legal actions or more: weighted by d(s), and by d(s) m(s).
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..baselines import Policy, Task, as_policy, evaluate, solve
from ..core import FLOATS, FloatArray, IntArray, present
from ..core.checks import at_most
from ..core.positions import pieces
from .advantages import AgentMoves
from .view import BATCH, AgentView, factor, numbers


@dataclass(frozen=True)
class Estimate:
    """An estimate in one state.

    Attributes:
        observation: the agent's observation, in integers.
        action: the action whose value is estimated; None if it is the value of the state.
        given: the estimate.
        exact: the exact value.
        occupancy: probability that a game meets the state; with cycles, expected visits.
        words: the estimate in a sentence.
    """

    observation: tuple[int, ...]
    action: int | None
    given: float
    exact: float
    occupancy: float
    words: str


@dataclass(frozen=True)
class Estimates:
    """Estimates in all states that a policy visits, arrays of shape (state,)."""

    task: Task  # the agent's decision problem
    states: IntArray = field(repr=False)  # the agent's, of positive occupancy, in growing order
    given: FloatArray = field(repr=False)  # the estimates
    exact: FloatArray = field(repr=False)  # the exact values
    occupancy: FloatArray = field(repr=False)  # probability of a visit; with cycles, visits
    actions: IntArray | None = field(default=None, repr=False)  # None for values of states

    shown: ClassVar[tuple[str, ...]] = ()  # the figures of a subclass that are printed

    @property
    def errors(self) -> FloatArray:
        """Estimates less exact values, shape (state,)."""
        return self.given - self.exact

    def __str__(self) -> str:
        named = (f"{name.replace('_', ' ')} {getattr(self, name):.6f}" for name in self.shown)
        return f"{self.task.words}: {', '.join(named)}"

    def _mean(self, of: FloatArray) -> float:
        return float((self.occupancy * of).sum() / self.occupancy.sum())

    def worst(self, count: int = 5) -> list[Estimate]:
        """List the states that contribute most, largest contribution first.

        They contribute their weighted error to the mean, of a critic its square to the rmse.
        """
        of = self.errors if self.actions is not None else self.errors**2
        order = np.argsort(-self.occupancy * of, kind="stable")
        return [self._record(place) for place in order[: at_most(count)].tolist()]

    def _record(self, place: int) -> Estimate:
        game = self.task.game
        seen = game.observe(self.states[place : place + 1], self.task.seat)[0]
        action = None if self.actions is None else int(self.actions[place])
        given, exact = float(self.given[place]), float(self.exact[place])
        met = float(self.occupancy[place])
        where = present(game).describe(seen)
        if action is not None:
            where += f": {present(game).describe_move(seen, action)}"
        cycles = game.has_cycles or met > 1
        often = f"{met:.4f} times a game" if cycles else f"in {met:.2%} of games"
        words = f"{where}; estimate {given:.4f}, exact value {exact:.4f}, met {often}"
        return Estimate(tuple(seen.tolist()), action, given, exact, met, words)


@dataclass(frozen=True)
class CriticFigures(Estimates):
    """A critic against the exact values of a policy; the weights are the policy's occupancy.

    Attributes:
        equal: values that differ by at most this number count as equal.
    """

    equal: float = field(kw_only=True, repr=False)
    shown = ("rmse", "bias", "explained_variance")

    @cached_property
    def bias(self) -> float:
        """Weighted mean of the critic's values less the exact values."""
        return self._mean(self.errors)

    @cached_property
    def rmse(self) -> float:
        """Root of the weighted mean of squared errors."""
        return float(np.sqrt(self._mean(self.errors**2)))

    @cached_property
    def explained_variance(self) -> float:
        """1 less the weighted variance of the errors divided by that of the exact values.

        If all exact values are equal, it is 1 for a critic whose errors are all equal, else 0.
        """
        left, whole = (self._mean((of - self._mean(of)) ** 2) for of in (self.errors, self.exact))
        if whole <= self.equal**2:
            return float(left <= self.equal**2)
        return 1 - left / whole


@dataclass(frozen=True)
class Overestimation(Estimates):
    """Greedy action values against exact ones; the weights are the greedy policy's occupancy."""

    shown = ("mean", "largest")

    @cached_property
    def mean(self) -> float:
        """Weighted mean of the estimates less the exact action values."""
        return self._mean(self.errors)

    @cached_property
    def largest(self) -> float:
        """Largest difference estimate - exact action value over all visited states."""
        return float(self.errors.max())


@dataclass(frozen=True)
class Overestimations:
    """Greedy action values against the exact ones of two policies.

    Attributes:
        against_own_policy: the policy that is greedy for the estimates is followed afterwards.
        against_optimum: an optimal policy is followed afterwards.
    """

    against_own_policy: Overestimation
    against_optimum: Overestimation


def critic(
    env: Any, policy: Any, values: Any, gamma: float = 1.0, moves: AgentMoves | None = None
) -> CriticFigures:
    """Compare a critic with the exact values of a policy.

    Args:
        env: an environment of this project, a vector of them, or a ``Task``.
        policy: a policy in any form that ``as_policy`` accepts. Models draw from their law.
        values: an array of shape (game.num_states,), or a function from a batch of observations,
            as ``env`` shows them, to values of shape (observation,) or (observation, 1). Torch
            modules get a tensor of the dtype of their parameters.
        gamma: discount of each of the agent's moves. With one, the moves of the game are listed.
        moves: the moves of ``env``, if they have been listed before.

    Raises:
        InputError: if ``values`` has another shape, or is not finite in a state that is met, or
            ``gamma`` is not from 0 to 1.
        SizeError: if there is a discount, and the moves are too many to be listed.
    """
    gamma = factor(gamma, "gamma")
    view = AgentView(env)
    player = as_policy(policy, env, deterministic=False)
    occupancy = view.occupancy(player)
    met = occupancy > 0
    states = view.states[met]
    given = view.estimates(values, states, "values", (view.task.game.num_states,))
    listed = None if gamma == 1 else moves or AgentMoves(env)
    exact = _values(view, player, gamma, listed)[met]
    equal = FLOATS.tie(view.task.game) * abs(view.scale)
    return CriticFigures(view.task, states, given, exact, occupancy[met], equal=equal)


def overestimation(
    env: Any, q: Any, gamma: float = 1.0, moves: AgentMoves | None = None
) -> Overestimations:
    """Compare the greedy action values of an estimate with exact ones.

    The greedy policy takes the legal action of the largest estimate, the smallest of equal ones.

    Args:
        env: an environment of this project, a vector of them, or a ``Task``.
        q: an array of shape (state, action), or a function from a batch of observations, as ``env``
            shows them, to action values of shape (observation, action). Torch modules get a tensor
            of the dtype of their parameters.
        gamma: discount of each of the agent's moves. With one, the moves of the game are listed.
        moves: the moves of ``env``, if they have been listed before.

    Raises:
        InputError: if ``q`` has another shape, or is not finite at a legal action, or ``gamma`` is
            not from 0 to 1.
        SizeError: if there is a discount, and the moves are too many to be listed.
    """
    gamma = factor(gamma, "gamma")
    view = AgentView(env)
    task, game = view.task, view.task.game
    actions, given = _greedy(view, q)
    table = np.zeros(game.num_states, dtype=np.int64)
    table[view.states] = actions
    greedy = as_policy(table, task)
    optimal = np.zeros(game.num_states)

    def visit(states: IntArray, expected: FloatArray) -> None:
        optimal[states] = expected[np.arange(len(states)), table[states]]

    occupancy = view.occupancy(greedy)
    met = occupancy > 0
    states, actions, given, occupancy = view.states[met], actions[met], given[met], occupancy[met]
    listed = None if gamma == 1 else moves or AgentMoves(env)
    own = _values(view, greedy, gamma, listed)[met]
    if listed is None:
        view.visit(solve(task).found, visit)
        best = view.rewards(states, optimal[states])
    else:
        best = listed.optimal_action_values(gamma)[:-1][met, actions]
    against_own, against_optimum = (
        Overestimation(task, states, given, exact, occupancy, actions) for exact in (own, best)
    )
    return Overestimations(against_own, against_optimum)


def _values(view: AgentView, player: Policy, gamma: float, moves: AgentMoves | None) -> FloatArray:
    """Return the value of a policy in each of the agent's states, in rewards of the environment."""
    if moves is not None:
        return moves.values(player, gamma)
    payoffs = evaluate(player, view.task).found.at(view.task.seat, view.states)
    return view.rewards(view.states, payoffs)


def _greedy(view: AgentView, q: Any) -> tuple[IntArray, FloatArray]:
    """Return the greedy action and its estimate in each of the agent's states."""
    game = view.task.game
    actions, given = np.empty(len(view.states), dtype=np.int64), np.empty(len(view.states))
    for piece in pieces(len(view.states), BATCH):
        states = view.states[piece]
        mask = game.mask(states)
        rows = view.estimates(q, states, "q", (game.num_states, game.num_actions), mask)
        rows = np.where(mask, rows, -np.inf)
        actions[piece], given[piece] = rows.argmax(axis=1), rows.max(axis=1)
    return actions, given


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
        equal = np.broadcast_to(solve(view.task).tie(states), len(states))[which]
        regret = np.where(regret > equal, regret, 0.0)  # the rest is rounding
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
