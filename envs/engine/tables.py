"""The flat tables of a task, and its observations by place and context."""

import numpy as np

from ...baselines import Task
from ...baselines.cache import cached
from ...baselines.task import first_law
from ...core import FLOATS, SizeError, frozen
from ...core.contract import order_of
from ...core.sweeps import sweeps_of
from ..api.encoding import Encoding, EncodingName, Features
from .move_tables import process_of_moves
from .process import Process
from .turn_tables import process_of_turns


@cached
def process_of(task: Task) -> Process | None:
    """Make the tables of a task.

    Returns:
        The tables; None if they would take more than ``builder.LIMIT`` bytes, or if the policy of
        another player is not a table.

    Raises:
        ValueError: if the agent never gets to move.
    """
    if not all(policy.is_table for policy in task.policies.values()):
        return None
    if sweeps_of(task.game).is_listed:
        _ = order_of(task.game)  # checks the game before its initial law is used
    _ = first_law(task, FLOATS)  # raises ValueError
    try:
        turns = sweeps_of(task.game).turn_game
        return process_of_moves(task) if turns is None else process_of_turns(task, turns)
    except SizeError:
        return None


@cached
def features_of(task: Task, encoding: EncodingName) -> tuple[Features, Features | None]:
    """Split encoded observations into features of the place and features of the context.

    The task must have a ``Process``.

    Returns:
        Features of each place, shape (place, feature), and of each context, (context, feature);
        their sum is the observation. The second is None if there is one context.
    """
    process = process_of(task)
    assert process is not None
    game, groups, coded = task.game, process.groups, Encoding(task.game.observation_sizes, encoding)
    in_order = np.argsort(groups.contexts)
    first_places = np.repeat(groups.places[in_order], groups.widths[in_order])  # (context,)
    first = groups.bases + groups.strides * first_places
    places = np.arange(len(process.legal))
    turns, some = np.unique(groups.places, return_index=True)
    contexts = groups.contexts[some][np.searchsorted(turns, places, side="right") - 1]
    in_places, in_contexts = (
        np.ascontiguousarray(coded.encode(game.observe(states, task.seat)))
        for states in (groups.states(places, contexts), first)
    )
    if process.num_contexts == 1:
        return frozen(in_places), None
    by_place = np.zeros(len(game.observation_sizes), dtype=bool)
    by_place[process.seen] = True
    in_places[:, ~by_place[coded.components]] = 0
    in_contexts[:, by_place[coded.components]] = 0
    return frozen(in_places), frozen(in_contexts)
