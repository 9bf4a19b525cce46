"""Tabular Q-learning by self-play, with minimax targets.

One table serves both players: Q(s, a) is the expected payoff of action a to the player to move in
state s (Littman, "Markov Games as a Framework for Multi-Agent Reinforcement Learning", ICML 1994,
for games in which the players move in turn). The payoffs of both players add up to c, so that a
move with payoff r, after which player j is to move in state s', is worth to its player i

    r                               if the game is over,
    max over a' of Q(s', a')        if j = i,
    c - max over a' of Q(s', a')    if j is the other player.

The rates of learning and of random actions are those of ``QLearning``, and moves of both players
count. A table, like a network, knows the seat by the state only.
"""

from typing import Any

import numpy as np
import torch as th

from ...core import FloatArray, IntArray, InverseLaws
from ...core.sampling import draw
from ...core.sweeps import checked_advance
from .q_learning import QLearning
from .self_play import check_two_players
from .vec_env import GameVecEnv


class Positions(th.nn.Module):
    """The position of each game, saved with the model: who is to move, and the state.

    Before the first move of a game its player is -1.
    """

    seats: th.Tensor
    states: th.Tensor

    def __init__(self, num_games: int) -> None:
        super().__init__()
        self.register_buffer("seats", th.full((num_games,), -1))
        self.register_buffer("states", th.zeros(num_games, dtype=th.int64))


class MinimaxQLearning(QLearning):
    """Q-learning in which one table plays both seats of a zero-sum game for two players.

    The games are those of the task of ``env``, without its opponent; they have rewards
    "outcome", and end with the payoff of whoever moves last.

    Raises:
        ValueError: if the game is not zero-sum for two players; and as ``QLearning`` does.
    """

    def _setup_model(self) -> None:
        super()._setup_model()
        self.positions = Positions(self.n_envs)
        game = self.policy.game
        check_two_players(game)
        self._starts, chances = game.initial_law()
        self._start_law = InverseLaws(chances.astype(np.float64)[None])

    def _step(self) -> None:
        """Make one move in every game, whoever is to move, and learn from it."""
        assert isinstance(self.env, GameVecEnv)
        rng = self.env.rng
        seats, states = self.positions.seats.numpy(), self.positions.states.numpy()
        fresh = np.flatnonzero(seats < 0)
        seats[fresh] = 0
        states[fresh] = self._starts[self._start_law.draw(np.zeros(len(fresh), np.int64), rng)]
        self.exploration_rate = self.exploration(self._current_progress_remaining)
        actions = self._choose(states)
        targets, later, reached = self._play(seats, states, actions, rng)
        self._learn(states, actions, targets)
        seats[:], states[:] = later, reached

    def _play(
        self, seats: IntArray, states: IntArray, actions: IntArray, rng: np.random.Generator
    ) -> tuple[FloatArray, IntArray, IntArray]:
        """Make moves: their targets, who moves next (-1 if the game is over), and where."""
        game, rows = self.policy.game, np.arange(len(states))
        outcomes = draw(game, states, actions, rng)
        move = checked_advance(game, seats, states, actions, outcomes)
        over = move.over[rows, seats]
        best = self.policy.of(np.where(over, states, move.states)).max(axis=1)
        worth = np.where(move.seats == seats, best, sum(game.payoff_range) - best)
        targets: FloatArray = move.payoffs[rows, seats] + np.where(over, 0.0, worth)
        return targets, np.where(over, -1, move.seats), np.where(over, states, move.states)

    def _get_torch_save_params(self) -> tuple[list[str], list[str]]:
        return ["policy", "positions"], []

    def _excluded_save_params(self) -> list[Any]:
        return [*super()._excluded_save_params(), "_starts", "_start_law"]
