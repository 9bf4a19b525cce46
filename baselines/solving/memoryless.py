"""The best policy without a memory, where several states look alike to an agent.

A deterministic policy of observations takes the same action in all states that look alike, and at
any time. To find the best one is hard in general (Littman, "Memoryless policies: theoretical
limitations and practical results", 1994); here it is a search by branch and bound. If the actions
of some observations are fixed, the optimum of an agent that sees the state is an upper bound for
all policies with these actions, and attained if it takes one action at each observation.
"""

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import Any

import numpy as np

from ...core import FloatArray, InputError, IntArray, at_least
from ...core.progress import tell
from ..law.law_game import LawGame
from ..problem.problem import as_task
from ..problem.task import Task
from .solver import evaluate, occupancy, solve

#: By how much a policy must be better to be better.
CLOSE = 1e-9


@dataclass(frozen=True)
class Memoryless:
    """The best deterministic policy of observations that was found.

    Attributes:
        value: its exact value.
        bound: no such policy has a larger value. If it is ``value``, this policy is the best.
        actions: its action in each state of the law, shape (state,), which ``score`` takes.
        optimum: the value of the best policy that sees the state.
    """

    value: float
    bound: float
    actions: IntArray
    optimum: float


def memoryless(env: Any, nodes: int = 1000) -> Memoryless:
    """Find the best deterministic policy of the observations of an explored environment.

    Args:
        env: the task that ``explore`` has given, or what it is made of.
        nodes: most problems that the search may solve; after these, ``bound`` may be larger.

    Raises:
        InputError: if the task does not know what is seen in a state.
    """
    task, nodes = as_task(env), at_least("nodes", nodes, 1)
    game = task.game
    if not isinstance(game, LawGame) or game.view is None or game.view.shown is None:
        raise InputError(f"env must be a task of explore that shows arrays, got {game!r}")
    shown = game.view.shown.reshape(game.rows, -1)
    alike = np.unique(shown, axis=0, return_inverse=True)[1].ravel()
    groups = range(alike.max() + 1)
    legal = np.array([(game.counts[alike == group] > 0).all(axis=0) for group in groups])
    first, optimum = legal.argmax(axis=1), float(solve(task).value)
    actions: IntArray = np.zeros(game.rows, dtype=np.int64)
    best, number = -float("inf"), count()
    nothing: dict[int, int] = {}
    open_ = [(-optimum, next(number), nothing)]
    for done in range(nodes):
        if not open_ or -open_[0][0] <= best + CLOSE:
            break
        tell(done, nodes, "policies without a memory")
        bound, _, fixed = heappop(open_)
        held = _held(game, alike, fixed)
        votes = _votes(held, alike)
        upper = min(-bound, float(solve(held).value))
        found = np.where(votes.any(axis=1), votes.argmax(axis=1), first)[alike]
        value = float(evaluate(found, task).value)
        if value > best:
            best, actions = value, found
        several = np.flatnonzero((votes > 0).sum(axis=1) > 1)
        if upper <= best + CLOSE or not len(several):
            continue
        # The observation at which most moves are others than the most frequent one.
        rest = votes[several].sum(axis=1) - votes[several].max(axis=1)
        group = int(several[rest.argmax()])
        for action in np.flatnonzero(legal[group]).tolist():
            heappush(open_, (-upper, next(number), {**fixed, group: action}))
    left = max((-bound for bound, *_ in open_), default=best)
    return Memoryless(best, max(best, left), actions, optimum)


def _held(game: LawGame, alike: IntArray, fixed: dict[int, int]) -> Task:
    """Return the task in which some observations have one action."""
    legal = game.counts > 0
    for group, action in fixed.items():
        legal[alike == group] = np.arange(game.num_actions) == action
    kept = np.repeat(legal.ravel(), game.counts.ravel())
    law = game.successors[kept], game.chances[kept], game.rewards[kept]
    return Task(LawGame(game.counts * legal, *law, game.initial, game.gamma, game.horizon or None))


def _votes(task: Task, alike: IntArray) -> FloatArray:
    """Return how often an optimal policy takes each action at each observation, (group, action)."""
    game, solution = task.game, solve(task)
    assert isinstance(game, LawGame)
    met = occupancy("optimal", task)
    rows = np.repeat(np.arange(game.rows), game.counts.sum(axis=1))
    stays = np.bincount(rows, game.successors != rows, game.rows) == 0  # where all actions are one
    states = np.flatnonzero((met > 0) & ~stays[np.arange(len(met)) % game.rows])
    votes = np.zeros((alike.max() + 1, game.num_actions))
    chosen = solution.policy.likeliest(states)
    np.add.at(votes, (alike[states % game.rows], chosen), met[states])
    return votes
