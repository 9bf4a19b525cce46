"""Occupancies and payoff laws: probabilities of states and of payoffs (Fokker-Planck)."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ...core import Arithmetic, Array, Decide, IntArray, Stage, Values
from ...core.blocks import PayoffLaw
from ...core.positions import legal_in, require_few_states
from ..cache import cached
from ..operators.induction import sweep_forward
from ..policies.called import CalledPolicy
from ..policies.kinds import Policy
from ..policies.tabular import IncompletePolicy
from ..problem.problem import Problem


def play(
    policy: Policy,
    problem: Problem,
    # from a stage and its moves' weights, (state, action), to those that go on; linear
    follow: Decide | None = None,
    law: PayoffLaw | None = None,  # the agent's settled payoffs are added to it
    # states of illegal actions are added, by the first of their stage
    illegal: dict[int, IntArray] | None = None,
) -> Values:
    """Compute the probability that a game visits each position, by a sweep forward.

    In a game with cycles it is the expected number of visits. Too many states are a ``SizeError``.
    """
    game, seat = problem.game, problem.seat
    require_few_states(game)

    def keep(stage: Stage, weights: Array) -> Array:
        if follow is not None:
            weights = follow(stage, weights)
        if stage.seat != seat:  # the others are held to the legal actions
            return weights
        legal: Array = weights * legal_in(game, stage)  # illegal moves end the game
        if illegal is not None and (legal != weights).any():
            illegal[int(stage.states[0])] = stage.states
        return legal

    policies = problem.line_up(policy)
    return sweep_forward(problem.law, policies, keep, problem.start, problem.arithmetic, law)


class Outcomes(NamedTuple):
    """The distribution of an agent's games."""

    visits: Values  # probability that a game visits each position; with cycles, expected visits
    # Probability of every payoff to the agent, in increasing order of payoffs; None if it was not
    # asked for, or if moves pay before the end, since states do not contain the payoffs so far.
    law: dict[Any, Any] | None


def outcomes(policy: Policy, problem: Problem, law: bool = True) -> Outcomes:
    """Compute the probabilities of positions and, if asked for, of payoffs in an agent's games.

    An illegal action ends the game with the worst payoff.
    """
    return (_outcomes if policy.is_table else _outcomes_of_function)(policy, problem.bare, law)


def _outcomes(policy: Policy, problem: Problem, law: bool) -> Outcomes:
    illegal: dict[int, IntArray] = {}
    task, arithmetic = problem.task, problem.arithmetic
    ends = PayoffLaw() if law and not problem.pays_early else None
    played = policy.remembered if isinstance(policy, IncompletePolicy) else policy
    met = play(played, problem, law=ends, illegal=illegal)
    if played is not policy:
        policy.probabilities(np.flatnonzero(met.array[task.seat]))  # raises if a state is missing
    if ends is None:
        return Outcomes(met, None)
    worst = arithmetic.payoff_range(task.game)[0]
    for states in illegal.values():
        weights = played.spread(states, met.at(task.seat, states), arithmetic)
        beyond = weights[~task.game.mask(states)]
        ends.add(np.full(len(beyond), worst), beyond)
    number = arithmetic.number
    chances = sorted(ends.chances.items())
    return Outcomes(met, {number(paid): number(chance) for paid, chance in chances if chance})


_outcomes_of_function = cached(_outcomes)


def variance_of_law(law: dict[Any, Any], arithmetic: Arithmetic) -> float | Fraction:
    """Compute the variance of a law of payoffs."""
    payoffs, chances = (np.array(list(part), arithmetic.dtype) for part in (law, law.values()))
    away = payoffs - arithmetic.mean(chances, payoffs)
    return arithmetic.mean(chances, away * away)


def where_met(agent: Policy, problem: Problem) -> Policy:
    """Return a policy that agrees with the agent in every state that the agent's games visit.

    In this problem, and only in this one, it has the same score. A table is returned as it is. For
    a function that is called in a large game the games are played forward, the function is called
    where they lead, and the policy is the table of its results, with the first legal action in all
    other states.
    """
    if isinstance(agent, CalledPolicy | IncompletePolicy) and agent.remembers:
        outcomes(agent, problem.in_floats)
        return agent.remembered
    return agent
