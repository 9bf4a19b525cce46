"""Occupancies and payoff laws: probabilities of states and of payoffs (Fokker-Planck)."""

from collections.abc import Iterator
from typing import Any

from ...core import Arithmetic, Array, Decide, IntArray, Stage
from ...core.contract import order_of
from ...core.sizes import PIECE
from ...core.sweeps import sweeps_of
from ..policies.kinds import Policy
from ..task import Task, first_law, policies_against
from .cycles import visits
from .players import spread


def play(policy: Policy, task: Task, arithmetic: Arithmetic, follow: Decide | None = None) -> Array:
    """Compute the probability that a game visits each state, by a sweep forward.

    Args:
        policy: the agent's policy.
        task: game, seat and opponents.
        arithmetic: arithmetic of the probabilities.
        follow: takes a stage and the weights of its moves, shape (state, action), and gives the
            weights with which the game goes on. It must be linear, and is called several times.
            None keeps all weights.

    Returns:
        Probabilities, or in a game with cycles expected visits, shape (player to move, state).
    """
    policies = {**policies_against(task, arithmetic), task.seat: policy}

    def decide(stage: Stage, met: Array) -> Array:
        weights = spread(policies[stage.seat], stage.states, met, arithmetic)
        if follow is not None:
            weights = follow(stage, weights)
        legal: Array = weights * task.game.mask(stage.states)  # illegal moves end the game
        return legal

    if sweeps_of(task.game).is_listed:
        _ = order_of(task.game)  # before the initial law is used
    start = arithmetic.zeros(task.game.num_players, task.game.num_states)
    start[task.seat] = first_law(task, arithmetic).chances
    met = visits(task.game, decide, start, task.seat, arithmetic).mass
    return arithmetic.numbers(met)


def outcomes(policy: Policy, task: Task, arithmetic: Arithmetic, met: Array) -> dict[Any, Any]:
    """Compute the probability of every payoff to the agent, in increasing order of payoffs.

    Args:
        policy: the agent's policy.
        task: game, seat and opponents.
        arithmetic: arithmetic of the probabilities.
        met: occupancy of each position, as ``play`` gives it.
    """
    game, policies = task.game, {**policies_against(task, arithmetic), task.seat: policy}
    worst = arithmetic.payoff_range(game)[0]
    law: dict[Any, Any] = {worst: 0}
    for seat, states in pieces(task):
        if not met[seat, states].any():
            continue
        weights = spread(policies[seat], states, met[seat, states], arithmetic)
        law[worst] += (weights * ~game.mask(states)).sum()
        pairs, actions, payoffs, chances = sweeps_of(game).settled(
            seat, states, task.seat, arithmetic
        )
        for payoff in sorted(set(payoffs.tolist())):
            paid = payoffs == payoff
            mass = (weights[pairs[paid], actions[paid]] * chances[paid]).sum()
            law[payoff] = law.get(payoff, 0) + mass
    number = arithmetic.number
    return {number(payoff): number(law[payoff]) for payoff in sorted(law) if law[payoff] > 0}


def pieces(task: Task) -> Iterator[tuple[int, IntArray]]:
    """Cut all stages, first to last, into batches of states that fit the memory: (seat, states)."""
    step = max(1, PIECE // task.game.num_actions)
    for seat, states in task.game.stages():
        for first in range(0, len(states), step):
            yield seat, states[first : first + step]
