"""Self-play: the other player is the agent itself, as it plays at the moment.

Before every rollout the opponent becomes a copy of the agent's current policy, and the agent
changes its seat, so that one network learns both seats. If its exploitability goes to zero, the
agent plays an equilibrium.
"""

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm

from ...baselines import Policy, Task
from ...baselines.solving.players import one_hot
from ...core import Array, Game, InputError, IntArray
from .adapter import ModelPolicy
from .vec_env import GameVecEnv


class AskedPolicy(Policy):
    """A policy on observations that is asked anew about each state that is met.

    It is for a rollout: to ask it about all states first would take longer than to play.
    """

    def __init__(self, ask: ModelPolicy, game: Game, seat: int) -> None:
        self._ask, self._game, self._seat = ask, game, seat
        self.shape = game.num_states, game.num_actions

    def probabilities(self, states: IntArray) -> Array:
        """Ask for the probability of each action, shape (state, action)."""
        law: Array = self._ask(self._game.observe(states, self._seat), self._game.mask(states))
        if law.ndim == 1:  # the only legal actions, where nobody has a choice
            return one_hot(law, self._game.num_actions).astype(np.float64)
        return law


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
        asked = ModelPolicy(self.model, self._game, deterministic=False)
        opponent = AskedPolicy(asked, self._game, 1 - seat)
        self.model._last_obs = env.face(Task(self._game, seat, {1 - seat: opponent}))
        self.model._last_episode_starts = np.ones(env.num_envs, dtype=bool)

    def _on_step(self) -> bool:
        return True
