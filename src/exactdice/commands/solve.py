"""``exactdice solve``: solve a game exactly."""

from dataclasses import dataclass, field

import numpy as np

from ..agents.runs.config import GameName, Keywords, task_from_options
from ..baselines import solve
from ..core.presentation import present
from ..games import DEFAULT_GAME


@dataclass(frozen=True)
class SolveConfig:
    """Solve a game exactly and print its optimum."""

    game: GameName = DEFAULT_GAME
    """Game to solve."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the environment: --env max_score 50 sides 6 opponent random seat 1."""

    exact: bool = False
    """Print the value as a fraction, computed with integers."""


def run(options: SolveConfig) -> int:
    """Print the optimal value, and the optimal moves of the likeliest first position."""
    task = task_from_options(options.game, options.env)
    solution = solve(task, exact=options.exact)
    within = f", right within {solution.error_bound:.1e}" if solution.error_bound else ""
    print(f"{task.words}: optimal value {solution.value}{within}")
    likeliest = task.game.observe(np.argmax(task.initial, keepdims=True), task.seat)[0]
    actions = solution.optimal_actions(likeliest)
    words = present(task.game)
    moves = " or ".join(words.describe_move(likeliest, int(action)) for action in actions)
    print(f"likeliest first position: {words.describe(likeliest)}; optimal play {moves}")
    return 0
