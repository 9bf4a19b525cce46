"""``exactdice solve``: solve a game exactly."""

from dataclasses import dataclass, field

import numpy as np
import tyro

from ..agents.runs.options import GameName, Keywords, task_from_options
from ..baselines import solve
from ..baselines.task import first_law
from ..core import FLOATS
from ..core.presentation import present
from ..core.progress import shown_progress
from ..games import DEFAULT_GAME


@dataclass(frozen=True)
class SolveConfig:
    """Solve a game exactly and print its optimum."""

    game: tyro.conf.Positional[GameName] = DEFAULT_GAME
    """Game to solve, in upper or lower case."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the environment: --env max_score 50 sides 6 opponent random seat 1."""

    exact: bool = False
    """Print the value as a fraction, computed with integers."""


def run(options: SolveConfig) -> int:
    """Print the optimal value, and the optimal moves of the likeliest first position."""
    task = task_from_options(options.game, options.env)
    with shown_progress():
        solution = solve(task, exact=options.exact)
    within = f", right within {solution.error_bound:.1e}" if solution.error_bound else ""
    print(f"{task.words}: optimal value {solution.value}{within}")
    start = first_law(task, FLOATS).start
    likeliest = task.game.observe(start.states[[np.argmax(start.chances)]], task.seat)[0]
    actions = solution.optimal_actions(likeliest)
    words = present(task.game)
    moves = " or ".join(words.describe_move(likeliest, int(action)) for action in actions)
    print(f"likeliest first position: {words.describe(likeliest)}; optimal play {moves}")
    return 0
