"""What the buffers of a model would take, before they are made."""

from typing import Any

import numpy as np

from ...games.sizes import check_array, check_memory
from ..learners.vec_env import GameVecEnv
from .ranges import Algorithm


def check_buffers(algorithm: Algorithm, options: dict[str, Any], env: GameVecEnv) -> None:
    """Refuse buffers and tables that would take more memory than the limit.

    Args:
        algorithm: which model is to be built.
        options: its hyperparameters, checked one by one; those left out are small.
        env: what it is to learn on.

    Raises:
        SizeError: naming the hyperparameter that has to be lower.
    """
    game, space = env.task.game, env.observation_space
    components = int(np.prod(space.shape or 1))
    if algorithm == "qlearning":  # values and visits
        check_array("Q-learning's tables", game, 2, game.num_states, game.num_actions)
    elif algorithm == "dqn":  # two observations, action, reward, end and time-out
        each = 2.0 * components * np.dtype(space.dtype).itemsize + 20
        check_memory("buffer_size", options.get("buffer_size", 1), each)
        check_memory("batch_size", options.get("batch_size", 1), each)
    else:  # single-precision numbers; some are copied when they are put in another order
        numbers = 2 * components + 8 + 2 * game.num_actions
        check_memory("n_steps", options.get("n_steps", 1), 4.0 * numbers * env.num_envs)
