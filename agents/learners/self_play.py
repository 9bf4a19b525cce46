"""Self-play: training against the agent's own present policy.

The policy changes between rollouts only, and so does its opponent. Before every rollout the agent
changes its seat, so that one network learns both seats. Moves of both seats count as moves of the
agent. An agent whose exploitability is zero plays an equilibrium.
"""

from collections.abc import Callable

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm

from ...baselines import Policy, Reading, Task
from ...baselines.operators.players import one_hot
from ...core import Array, Game, IntArray
from .adapter import ModelPolicy
from .q_learning import check_two_players
from .vec_env import games_of


class SelfPlayOpponent(Policy):
    """A network as opponent, evaluated in the states that a rollout reaches.

    A rollout reaches few states, and the network changes after it. A table of the policy in all
    states would take longer to compute than the rollout. ``count`` is called with the number of
    moves of each batch.
    """

    def __init__(
        self, network: ModelPolicy, game: Game, seat: int, count: Callable[[int], None]
    ) -> None:
        self._network, self._game, self._seat, self._count = network, game, seat, count
        self.shape = game.num_states, game.num_actions

    def probabilities(self, states: IntArray) -> Array:
        """Compute the probability of each action, shape (state, action)."""
        law: Array = self._network(self._game.observe(states, self._seat), self._game.mask(states))
        if law.ndim == 1:  # actions, as each of these states has only one legal action
            return one_hot(law, self._game.num_actions).astype(np.float64)
        return law

    def sample(self, states: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw an action in each state, shape (state,), and count the moves."""
        self._count(len(states))
        return super().sample(states, rng)


class SelfPlay(BaseCallback):
    """A callback by which an on-policy model plays against itself, in alternating seats.

    The opponent and the seat depend only on the weights and on the number of rollouts, so that a
    run that resumes with ``rollouts``, those so far, continues as the uninterrupted run would have.
    """

    def __init__(self, game: Game) -> None:
        super().__init__()
        check_two_players(game)
        self._game, self.rollouts = game, 0

    def _on_rollout_start(self) -> None:
        env = games_of(self.model)
        assert isinstance(self.model, OnPolicyAlgorithm)
        seat = self.rollouts % 2
        network = ModelPolicy(self.model, self._game, Reading(deterministic=False))
        opponent = SelfPlayOpponent(network, self._game, 1 - seat, self._count)
        self.model._last_obs = env.face(Task(self._game, seat, {1 - seat: opponent}))
        self.model._last_episode_starts = np.ones(env.num_envs, dtype=bool)
        self.rollouts += 1

    def _count(self, moves: int) -> None:
        self.model.num_timesteps += moves

    def _on_step(self) -> bool:
        return True
