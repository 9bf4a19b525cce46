"""Tabular Q-learning, the classical reference: a table of action values instead of a network.

Watkins and Dayan, "Q-learning", Machine Learning 8 (1992):

    Q(s, a) <- Q(s, a) + alpha (r + max over a' of Q(s', a') - Q(s, a))

with alpha = 1 / n(s, a)^omega at the n-th visit (Even-Dar and Mansour, "Learning Rates for
Q-learning", JMLR 5 (2003), recommend an omega near 0.77). Games are finite and the discount factor
is 1. Many games are played at once: if k of them take the same action in the same state, the value
is updated k times, each time with the mean of the k targets.

In self-play one table serves both players: Q(s, a) is the expected payoff of action a to the player
to move in state s (Littman, "Markov Games as a Framework for Multi-Agent Reinforcement Learning",
ICML 1994, for games in which the players move in turn). The payoffs of both players add up to c, so
that a move with payoff r, after which player j is to move in state s', is worth to its player i

    r                               if the game is over,
    max over a' of Q(s', a')        if j = i,
    c - max over a' of Q(s', a')    if j is the other player.

The rates of learning and of random actions are the same, and moves of both players count. A table,
like a network, knows the seat by the state only.
"""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import torch as th
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.type_aliases import MaybeCallback, PyTorchObs
from stable_baselines3.common.utils import LinearSchedule

from ...core import FloatArray, Game, InputError, IntArray
from ...core.playing import begin, make
from ...envs import encoding_for
from .vec_env import GameVecEnv, games_of


def power(bases: IntArray, exponent: float) -> FloatArray:
    """Raise positive integers to a power from 0 to 1, with the same bits on every machine.

    The last bit of a library's ``pow`` depends on library and processor; that of a product or a
    square root does not (IEEE 754). If 0.b1 b2 b3... is the exponent in binary digits, then

        n ** 0.b1 b2 b3... = sqrt(n ** b1 * sqrt(n ** b2 * sqrt(n ** b3 * ...))).

    Each root halves the relative error so far, so that the error of the result is at most three
    units in the last place.
    """
    digits, scale = float(exponent).as_integer_ratio()  # the scale is a power of two
    numbers = bases.astype(np.float64)
    result = np.ones_like(numbers)
    for place in range(scale.bit_length() - 1):
        if digits >> place & 1:
            result *= numbers
        np.sqrt(result, out=result)
    return result * numbers if digits == scale else result


def whole_power(bases: FloatArray, exponents: IntArray) -> FloatArray:
    """Raise each number to an integer power of its own, by products alone (see ``power``)."""
    result = np.ones_like(bases)
    while exponents.any():
        result = np.where(exponents & 1, result * bases, result)
        bases, exponents = bases * bases, exponents >> 1
    return result


class ValueTable(BasePolicy):
    """A policy of action values, by state, without a network; the game gives its legal actions."""

    def __init__(self, observation_space: Any, action_space: Any, game: Game) -> None:
        super().__init__(observation_space, action_space)
        self.game = game
        self.encoding = encoding_for(observation_space, game.observation_sizes)

    @abstractmethod
    def rows(self, states: IntArray) -> FloatArray:
        """Return the value of each action, shape (state, action)."""

    def of(self, states: IntArray) -> FloatArray:
        """Return the value of each action, -inf if illegal, shape (state, action)."""
        return np.where(self.game.mask(states), self.rows(states), -np.inf)

    def q_net(self, obs: th.Tensor) -> th.Tensor:
        """Return the value of each action, -inf if illegal, shape (observation, action)."""
        states = self.game.encode(self.encoding.decode(obs.cpu().numpy()))
        return th.as_tensor(self.of(states))

    def _predict(self, observation: PyTorchObs, deterministic: bool = False) -> th.Tensor:
        assert isinstance(observation, th.Tensor)
        return self.q_net(observation).argmax(dim=1)


class QTable(ValueTable):
    """The table: value and number of visits of each action in each state.

    Its ``state_dict`` has the rows that are no longer as they were made, since short training
    visits few states of a large game, and what is needed to make the others.
    """

    def __init__(
        self, observation_space: Any, action_space: Any, game: Game, initial_value: float = 0.0
    ) -> None:
        super().__init__(observation_space, action_space, game)
        self.initial_value = initial_value
        shape = (game.num_states, game.num_actions)
        self.values: th.Tensor
        self.visits: th.Tensor
        self.register_buffer("values", th.full(shape, initial_value, dtype=th.float64))
        self.register_buffer("visits", th.zeros(shape, dtype=th.int64))

    def _save_to_state_dict(
        self, destination: dict[str, Any], prefix: str, keep_vars: bool
    ) -> None:
        changed = (self.values != self.initial_value) | (self.visits > 0)
        states = changed.any(dim=1).nonzero()[:, 0]
        destination[prefix + "shape"] = th.tensor(self.values.shape)
        destination[prefix + "initial_value"] = th.tensor(self.initial_value, dtype=th.float64)
        destination[prefix + "states"] = states
        destination[prefix + "values"] = self.values[states]
        destination[prefix + "visits"] = self.visits[states]

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        shape, states = state_dict[prefix + "shape"].tolist(), state_dict[prefix + "states"]
        if shape != list(self.values.shape):
            raise InputError(f"table must be of shape {list(self.values.shape)}, got {shape}")
        self.initial_value = float(state_dict[prefix + "initial_value"])
        self.values.fill_(self.initial_value)[states] = state_dict[prefix + "values"]
        self.visits.zero_()[states] = state_dict[prefix + "visits"]

    def rows(self, states: IntArray) -> FloatArray:
        """Return the value of each action, shape (state, action)."""
        return self.values.numpy()[states]


class QLearning(BaseAlgorithm):
    """Q-learning on a ``GameVecEnv``."""

    policy_aliases: ClassVar[dict[str, type[BasePolicy]]] = {"QTable": QTable}
    policy: QTable

    def __init__(
        self,
        policy: type[QTable] | str,
        env: GameVecEnv | None,
        omega: float = 0.77,  # exponent of the learning rate, from 0 to 1
        initial_value: float = 0.0,  # of every action before its first visit
        exploration_fraction: float = 0.5,  # part of training in which the rate falls
        exploration_initial_eps: float = 1.0,  # rate of random actions at the start
        exploration_final_eps: float = 0.05,  # this rate at the end of that part
        n_steps: int = 16,  # moves of each game between two calls of the callbacks
        seed: int | None = None,  # of all randomness
        device: str = "cpu",  # ignored; the table is on the processor
        _init_setup_model: bool = True,
    ) -> None:
        if exploration_fraction <= 0:
            raise InputError(f"exploration_fraction must be above 0, got {exploration_fraction}")
        if not 0 <= omega <= 1:
            raise InputError(f"omega must be from 0 to 1, got {omega}")
        super().__init__(
            policy, env, learning_rate=1.0, seed=seed, device="cpu", support_multi_env=True
        )
        self.omega, self.initial_value, self.n_steps = omega, initial_value, n_steps
        self.exploration = LinearSchedule(
            exploration_initial_eps, exploration_final_eps, exploration_fraction
        )
        self.exploration_rate = exploration_initial_eps
        if _init_setup_model:
            self._setup_model()

    def _setup_model(self) -> None:
        self.set_random_seed(self.seed)
        if self.env is not None:  # without one, a loaded model has the arguments of its table
            self.policy_kwargs = self._arguments(games_of(self))
        table: Any = self.policy_class
        self.policy = table(self.observation_space, self.action_space, **self.policy_kwargs)

    def _arguments(self, games: GameVecEnv) -> dict[str, Any]:
        """Return the arguments of the table."""
        return {"game": games.task.game, "initial_value": self.initial_value}

    def learn(
        self,
        total_timesteps: int,
        callback: MaybeCallback = None,
        log_interval: int = 100,
        tb_log_name: str = "QLearning",
        reset_num_timesteps: bool = True,
        progress_bar: bool = False,
    ) -> "QLearning":
        """Play and learn for a number of moves, as in stable-baselines3."""
        total_timesteps, callback = self._setup_learn(
            total_timesteps, callback, reset_num_timesteps, tb_log_name, progress_bar
        )
        callback.on_training_start(locals(), globals())
        goes_on = True
        while self.num_timesteps < total_timesteps and goes_on:
            callback.on_rollout_start()
            for _ in range(self.n_steps):
                self._update_current_progress_remaining(self.num_timesteps, total_timesteps)
                self._step()
                self.num_timesteps += self.n_envs
                if not (goes_on := callback.on_step()):
                    break
            callback.on_rollout_end()
        callback.on_training_end()
        return self

    def _step(self) -> None:
        """Make one move in every game and learn from it."""
        games = games_of(self)
        states = games.engine.lanes.states()
        self.exploration_rate = self.exploration(self._current_progress_remaining)
        actions = self._choose(states)
        self._last_obs, rewards, over, _ = games.step(actions)  # type: ignore[assignment]
        self._take_in(states, actions, rewards, np.where(over, -1, games.engine.lanes.states()))

    def _choose(self, states: IntArray) -> IntArray:
        """Choose the best action, or with the exploration rate any legal action."""
        values = self.policy.of(states)
        rng = self.action_space.np_random
        explores = rng.random(len(states)) < self.exploration_rate
        noise = np.where(np.isfinite(values), rng.random(values.shape), -1.0)
        return np.where(explores[:, None], noise, values).argmax(axis=1)

    def _take_in(
        self, states: IntArray, actions: IntArray, rewards: FloatArray, reached: IntArray
    ) -> None:
        """Learn from moves, arrays (move,); the state reached is -1 if the game was over."""
        later = self.policy.of(np.maximum(reached, 0)).max(axis=1)
        self._learn(states, actions, rewards + np.where(reached < 0, 0.0, later))

    def _learn(self, states: IntArray, actions: IntArray, targets: FloatArray) -> None:
        """Move the value of each (state, action) towards the mean of its targets."""
        values, visits = (
            table.numpy().reshape(-1) for table in (self.policy.values, self.policy.visits)
        )
        pairs, which, counts = np.unique(
            states * self.policy.game.num_actions + actions, return_inverse=True, return_counts=True
        )
        visits[pairs] += counts
        rates = 1 - whole_power(1 - 1 / power(visits[pairs], self.omega), counts)
        means = np.bincount(which, targets) / counts
        values[pairs] += rates * (means - values[pairs])


def check_two_players(game: Game) -> None:
    """Check that a game can be learned by self-play."""
    if game.num_players != 2 or not game.zero_sum:
        raise InputError(f"self_play needs a zero-sum game for two players, got {game!r}")


class MinimaxQLearning(QLearning):
    """Q-learning in which one table plays both seats of a zero-sum game for two players.

    The games are those of the task of ``env``, without its opponent; they have rewards
    "outcome", and end with the payoff of whoever moves last.
    """

    def _setup_model(self) -> None:
        super()._setup_model()
        self.positions: Any = th.nn.Module()  # of each game, saved with the model
        self.positions.register_buffer("seats", th.full((self.n_envs,), -1))  # to move; -1 at first
        self.positions.register_buffer("states", th.zeros(self.n_envs, dtype=th.int64))
        check_two_players(self.policy.game)

    def _step(self) -> None:
        """Make one move in every game, whoever is to move, and learn from it."""
        rng = games_of(self).rng
        seats, states = self.positions.seats.numpy(), self.positions.states.numpy()
        fresh = np.flatnonzero(seats < 0)
        seats[fresh] = 0
        states[fresh] = begin(self.policy.game, len(fresh), rng)
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
        move = make(game, seats, states, actions, rng)
        over = move.over[rows, seats]
        best = self.policy.of(np.where(over, states, move.states)).max(axis=1)
        worth = np.where(move.seats == seats, best, sum(game.payoff_range) - best)
        targets: FloatArray = move.payoffs[rows, seats] + np.where(over, 0.0, worth)
        return targets, np.where(over, -1, move.seats), np.where(over, states, move.states)

    def _get_torch_save_params(self) -> tuple[list[str], list[str]]:
        return ["policy", "positions"], []
