"""The law of a task, as ``exact_score`` sweeps it, in one of two forms.

A game of turns has a ``TurnLaw``, which keeps one number for each context between turns. Any other
game has a ``MoveLaw``, which keeps one number for each state. Both read the tables of the
environments (see ``Process``).
"""

from typing import TypeAlias

from ...baselines import Task
from ...core.sweeps import sweeps_of
from ..api.encoding import EncodingName
from .move_law import MoveLaw, move_law
from .tables import tables_of
from .turn_law import TurnLaw, turn_law

ExactLaw: TypeAlias = MoveLaw | TurnLaw


def exact_law(task: Task, encoding: EncodingName) -> ExactLaw:
    """List the law of a task in the order of a sweep.

    Raises:
        InputError: if the game is too large.
    """
    process = tables_of(task)
    is_of_turns = sweeps_of(task.game).turn_game is not None
    return (turn_law if is_of_turns else move_law)(task, process, encoding)
