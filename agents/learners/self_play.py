"""Self-play: the opponent is the agent's own current policy.

The policy changes between rollouts only, and so does its opponent. Before every rollout the agent
changes its seat, so that one network learns both seats. An agent whose exploitability is zero plays
an equilibrium.
"""

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm

from ...baselines import Policy, Task
from ...baselines.solving.players import one_hot
from ...core import Array, Game, InputError, IntArray
from .adapter import ModelPolicy
from .vec_env import GameVecEnv


class SelfPlayOpponent(Policy):
    """A network's policy that is computed for the states of a rollout, as these are reached.

    A rollout reaches few states, and the network changes after it: the policy of all states, as a
    table, would take longer than the rollout.
    """

    def __init__(self, network: ModelPolicy, game: Game, seat: int) -> None:
        self._network, self._game, self._seat = network, game, seat
        self.shape = game.num_states, game.num_actions

    def probabilities(self, states: IntArray) -> Array:
        """Compute the probability of each action, shape (state, action)."""
        law: Array = self._network(self._game.observe(states, self._seat), self._game.mask(states))
        if law.ndim == 1:  # actions, as each of these states has only one legal action
            return one_hot(law, self._game.num_actions).astype(np.float64)
        return law


class SelfPlay(BaseCallback):
    """Has a model that learns on-policy play against itself, in alternate seats.

    The opponent depends on the weights alone, and the seat on the number of moves alone, so that a
    resumed run continues as the uninterrupted run would have.

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
        network = ModelPolicy(self.model, self._game, deterministic=False)
        opponent = SelfPlayOpponent(network, self._game, 1 - seat)
        self.model._last_obs = env.face(Task(self._game, seat, {1 - seat: opponent}))
        self.model._last_episode_starts = np.ones(env.num_envs, dtype=bool)

    def _on_step(self) -> bool:
        return True
