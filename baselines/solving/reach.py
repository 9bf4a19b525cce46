"""A search for the states that an agent visits, which calls the agent's network in no other state.

A network is slow, and of the millions of states of a large game an agent visits few. In a game of
turns the search goes round by round from the first states. A round plays the turns in all new
contexts with the actions of the agent and the moves of the other players, and collects the contexts
that follow. It calls the network in the states that it reaches. Games visit all other states with
probability 0, so these states do not change the agent's score.
"""

import numpy as np

from ...core import FLOATS, Array, BoolArray, FloatArray, Stage
from ...core.leg_part import parts_of
from ...core.sweeps import sweeps_of
from ...core.turn_game import TurnGame
from ...core.turn_values import TurnMass
from ..cache import cached
from ..policies.functions import LazyPolicy, PartialTable
from ..policies.kinds import Policy
from ..policies.tables import IncompletePolicy
from ..task import Task, first_law, policies_against
from .occupancy import play
from .players import one_hot, spread


def where_met(agent: Policy, task: Task) -> Policy:
    """Return a policy that agrees with the agent in every state that the agent visits.

    In this task, and only in this one, it has the same score as the agent. If the agent is a
    network and the game is large and made of turns, or if it is an ``IncompletePolicy``, the policy
    takes the first legal action in all other states; in any other case it is the agent itself.

    Args:
        agent: the agent's policy.
        task: game, seat and opponents.

    Raises:
        ValueError: if the network returns no actions, or depends on more than the state; if an
            ``IncompletePolicy`` lacks a state that the agent visits.
    """
    if isinstance(agent, IncompletePolicy):
        visits = play(agent.filled, task, FLOATS).array[task.seat]
        agent.probabilities(np.flatnonzero(visits))  # raises an error if one is missing
        return agent.filled
    if isinstance(agent, LazyPolicy) and sweeps_of(task.game).turn_game is not None:
        return _where_met(agent, task)
    return agent


@cached
def _where_met(agent: LazyPolicy, task: Task) -> Policy:
    game, table = sweeps_of(task.game).turn_game, agent.begin()
    assert game is not None
    start = first_law(task, FLOATS).start
    mass = TurnMass(game, FLOATS, _never, [start])
    seats = np.full_like(start.states, start.seat)
    new = np.zeros(game.first_contexts[-1], dtype=bool)
    for leg, _, _, contexts in game.locate(start.states, seats):
        new[game.first_contexts[leg] + contexts] = True
    known = _round(game, table, task, new, mass)  # games that begin inside a turn
    new = known.copy()
    while new.any():
        new = _round(game, table, task, new) & ~known
        known |= new
    return table.policy()


def _round(
    game: TurnGame,
    table: PartialTable,
    task: Task,
    contexts: BoolArray,
    begun: TurnMass | None = None,
) -> BoolArray:
    """Play the turns in some contexts; return whether each context may follow, shape (context,).

    Args:
        game: the rules.
        table: the agent's actions.
        task: seat and opponents.
        contexts: whether to play the turn in each context, shape (context,), over all legs.
        begun: the mass of games that begin inside these turns; None if every turn begins with its
            first roll.
    """
    policies, follows = policies_against(task, FLOATS), np.zeros_like(contexts)

    def decide(stage: Stage, met: Array) -> Array:
        weights: FloatArray = np.zeros((len(met), game.num_actions))
        on = np.flatnonzero(met)
        states = stage.states[on]
        if stage.seat == task.seat:
            weights[on] = met[on, None] * one_hot(table.actions(states), game.num_actions)
        else:
            weights[on] = spread(policies[stage.seat], states, met[on], FLOATS)
        return weights

    for number, own in enumerate(np.split(contexts, game.first_contexts[1:-1])):
        for part in parts_of(game, number, own):
            first = part.nothing(FLOATS) if begun is None else begun.begun(part)
            entering = np.full(len(part.own), float(begun is None))
            _, ended = part.forward(decide, first, entering, FLOATS)
            results, columns, targets = part.leads_on(task.seat)
            follows[targets[ended[results, columns] > 0]] = True
    return follows


def _never(_stage: Stage, _met: Array) -> Array:
    raise AssertionError("mass is only asked where games begin")
