"""The states that an agent visits, found while its network is called in these states alone.

A network is slow and a large game has millions of states, of which the games of one agent visit
few. From the first states on, the contexts of a game of turns are visited round by round: a round
plays the turns in the contexts that are new, forward, with the actions of the agent and the moves
of the other players, and finds the contexts that follow. The network is called in the states that
come up. All other states are visited with probability 0 and change no figure of the agent.
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
from ..task import Task, first_law, policies_against
from .players import one_hot, spread


def where_met(agent: Policy, task: Task) -> Policy:
    """Return a policy that agrees with the agent in every state that the agent visits.

    It has every figure of the agent in this task, and in no other. Elsewhere it takes the first
    legal action, if the agent is a network and the game is large and made of turns; in other cases
    it is the agent itself.

    Args:
        agent: the agent's policy.
        task: game, seat and opponents.

    Raises:
        ValueError: if the network gives no actions or is no function of the state.
    """
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
    known = _round(game, table, task, new, mass)  # of games that begin inside these turns
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
    """Play the turns in some contexts, and say which contexts follow, shape (context,).

    Args:
        game: the rules.
        table: the agent's actions.
        task: seat and opponents.
        contexts: whether turns are played in a context, shape (context,), counted over all legs.
        begun: where in these turns games begin; None if turns begin with their first roll.
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
