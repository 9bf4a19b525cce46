"""Self-play: the other player is the agent itself, as it plays at the moment.

Before every rollout the opponent becomes a copy of the network's law, and the agent changes its
seat, so that one network learns both. Whose exploitability goes to zero plays an equilibrium.
"""

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm

from ...baselines import Task
from ...games import Game, InputError
from .adapter import ModelPolicy
from .vec_env import GameVecEnv


class SelfPlay(BaseCallback):
    """Lets a model that learns on-policy play against itself, in both seats by turns.

    The opponent depends on the weights, the seat on the number of moves alone, so that a resumed
    run goes on as it would have.

    Raises:
        ValueError: if the game is not zero-sum for two players.
    """

    def __init__(self, game: Game) -> None:
        super().__init__()
        if game.num_players != 2 or not game.zero_sum:
            raise InputError(f"self_play needs a zero-sum game for two players, got {game!r}")
        self._game = game

    def _on_rollout_start(self) -> None:
        env = self.model.get_env()
        assert isinstance(env, GameVecEnv)
        assert isinstance(self.model, OnPolicyAlgorithm)
        rollouts = self.num_timesteps // (env.num_envs * self.model.n_steps)
        seat = rollouts % 2
        opponent = ModelPolicy(self.model, self._game, deterministic=False)
        self.model._last_obs = env.face(Task(self._game, seat, {1 - seat: opponent}))
        self.model._last_episode_starts = np.ones(env.num_envs, dtype=bool)

    def _on_step(self) -> bool:
        return True
