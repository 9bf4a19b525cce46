"""Estimates of the memory of a model's buffers and tables, checked before these are made."""

import numpy as np

from ...core.sizes import check_array, check_memory
from ..algorithms import Algorithm
from ..learners.vec_env import GameVecEnv
from .arguments import Hyperparameters


def check_buffers(algorithm: Algorithm, options: Hyperparameters, env: GameVecEnv) -> None:
    """Refuse buffers and tables that would take more memory than the limit.

    Args:
        algorithm: the learning algorithm.
        options: the hyperparameters of the model.
        env: the training environment.

    Raises:
        SizeError: naming the hyperparameter that has to be lower.
    """
    game, space = env.task.game, env.observation_space
    components = int(np.prod(space.shape or 1))
    if algorithm.learns_from == "rollouts":  # single precision; some arrays twice
        numbers = 2 * components + 8 + 2 * game.num_actions
        check_memory("n_steps", options.n_steps, 4.0 * numbers * env.num_envs)
    elif algorithm.learns_from == "replay":  # a move: two observations and four numbers
        each = 2.0 * components * np.dtype(space.dtype).itemsize + 20
        check_memory("buffer_size", options.buffer_size, each)
        check_memory("batch_size", options.batch_size, each)
        if options.n_steps > 1:  # indices, rewards and ends of the n_steps of each move of a batch
            check_memory("n_steps", options.n_steps, 28.0 * options.batch_size)
    else:  # values and visits
        check_array("Q-learning's tables", game, 2, game.num_states, game.num_actions)
