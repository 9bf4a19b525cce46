"""A model in training with its environment, and its exact figures."""

from typing import Any

import numpy as np
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnvWrapper, VecNormalize

from ...agents.learners.adapter import ModelPolicy
from ...agents.learners.dqn import KeepsToLegal
from ...agents.learners.kinds import ACTORS, GREEDY
from ...agents.learners.q_learning import QTable
from ...agents.learners.vec_env import GameVecEnv
from ...baselines import Policy, as_policy, occupancy
from ...baselines.task import task_and_sight
from ...core import FloatArray, InputError, IntArray
from ...core.positions import states_of
from ...core.sizes import check_array
from ..figures.advantages import AgentMoves
from ..figures.critics import critic, overestimation
from ..figures.exploration import entropy, unvisited
from .columns import CRITIC, ENTROPY, GAE, MOVES_NEEDED, NORMALISED, OVERESTIMATION, Columns

#: A policy counts as meeting a state if it meets it at least once in this number of games.
GAMES = 10_000


class Diagnosed:
    """A model in training, with the data that all its figures share.

    Args:
        model: PPO, MaskablePPO, A2C, TRPO, DQN, QRDQN, a subclass of one of these, or Q-learning.
        env: an environment of this project, as the model trains in it. By default the training
            environment of the model.

    Raises:
        InputError: if the model is of another kind, or was trained under a wrapper that is not
            followed, or if ``env`` is needed.
    """

    def __init__(self, model: BaseAlgorithm, env: Any = None) -> None:
        self.model: Any = model  # gamma and the buffers are of subclasses
        self.env = inner_env(model) if env is None else env
        self.task, _ = task_and_sight(self.env)
        self.states = states_of(self.task.game, self.task.seat)
        self.masked = is_masked(model)
        self.is_actor = isinstance(model.policy, ACTORS)
        if not self.is_actor and not isinstance(model.policy, GREEDY):
            raise InputError(
                "model must have a critic or action values (PPO, MaskablePPO, A2C, TRPO, DQN, "
                f"QRDQN), got {type(model).__name__}"
            )
        self._moves: AgentMoves | str | None = None
        self.normalised = _normalised_rewards(model)
        self.player()

    def figures(self) -> Columns:
        """Compute all columns but those that need all moves, or what training visits."""
        columns = Columns()
        try:
            player = self.player() if self.is_actor else as_policy(self.model, self.env)
        except InputError as error:  # such as weights that are not finite
            columns.leave_out((*CRITIC, *OVERESTIMATION, *ENTROPY, "unmet"), str(error))
            return columns
        if self.is_actor:
            if self.gamma == 1:
                self._add_critic(columns, player)
            else:
                columns.leave_out(CRITIC, MOVES_NEEDED)
            columns.leave_out(OVERESTIMATION, "the model has no action values")
            held = player if self.masked else self.player(masked=True)
            columns.take(ENTROPY, lambda: _both(entropy(self.env, held)))
        else:
            if self.gamma == 1:
                self._add_overestimation(columns)
            else:
                columns.leave_out(OVERESTIMATION, MOVES_NEEDED)
            columns.leave_out(CRITIC, "the model has no critic but its action values")
            columns.leave_out(ENTROPY, "the policy is greedy but for its exploration")
        met = occupancy(player, self.env)
        columns.take(("unmet",), lambda: (unvisited(self.env, GAMES * met),))
        return columns

    @property
    def gamma(self) -> float:
        """The discount of the model."""
        return float(getattr(self.model, "gamma", 1.0))  # Q-learning has none

    @property
    def needs_moves(self) -> bool:
        """Whether a column needs all moves of the game."""
        return self.without_gae() is None or (self.gamma != 1 and not self.normalised)

    def by_moves(self) -> Columns:
        """Compute the columns that need all moves of the game: of advantages, or of a discount."""
        columns = self._gae()
        if self.gamma != 1 and self.is_actor:
            self._add_critic(columns, self.player())
        elif self.gamma != 1:
            self._add_overestimation(columns)
        return columns

    def _gae(self) -> Columns:
        """Compute bias and noise of advantage estimates, at the gamma and lambda of the model."""
        columns, reason = Columns(), self.without_gae()
        if reason is not None:
            columns.leave_out(GAE, reason)
            return columns

        def compute() -> tuple[float, ...]:
            figures = self.moves().gae(
                self.player(), self.values(), self.model.gamma, self.model.gae_lambda
            )
            return figures.rms_bias, figures.rms_bias_between_actions, figures.rms_std

        columns.take(GAE, compute)
        return columns

    def without_gae(self) -> str | None:
        """Say why there are no figures of advantage estimates; None if there are."""
        if not self.is_actor:
            return "the model estimates no advantages"
        if self.normalised:
            return NORMALISED
        if not self.masked and not self._all_legal():
            return "the model is not held to the legal actions in training"
        return None

    def moves(self) -> AgentMoves:
        """List the moves of the game, once.

        Raises:
            InputError: if they are too many to be listed.
        """
        if self._moves is None:
            try:
                self._moves = AgentMoves(self.env)
            except InputError as error:
                self._moves = str(error)
        if isinstance(self._moves, str):
            raise InputError(self._moves)
        return self._moves

    def values(self) -> FloatArray:
        """Return the critic's values of the agent's states, zeros elsewhere, shape (state,)."""
        game, own = self.task.game, self.states
        values = np.zeros(game.num_states)
        critic = ModelPolicy(self.model, game).critic
        values[own] = critic(game.observe(own, self.task.seat), game.mask(own))
        return values

    def action_values(self) -> FloatArray:
        """Return the model's action values in the agent's states, shape (state, action).

        Raises:
            SizeError: if they would take too much memory.
        """
        game, own = self.task.game, self.states
        check_array("action values", game, 1, game.num_states, game.num_actions)
        values = np.zeros((game.num_states, game.num_actions))
        prefer = ModelPolicy(self.model, game).prefer
        values[own] = prefer(game.observe(own, self.task.seat), game.num_actions)
        return values

    def player(self, masked: bool | None = None) -> Policy:
        """Return the policy that plays in training."""
        masked = self.masked if masked is None else masked
        return as_policy(self.model, self.env, deterministic=False, masked=masked)

    def _add_critic(self, columns: Columns, player: Policy) -> None:
        if self.normalised:
            columns.leave_out(CRITIC, NORMALISED)
            return

        def compute() -> tuple[float, ...]:
            moves = None if self.gamma == 1 else self.moves()
            found = critic(self.env, player, self.values(), self.gamma, moves)
            return found.bias, found.rmse, found.explained_variance

        columns.take(CRITIC, compute)

    def _add_overestimation(self, columns: Columns) -> None:
        if self.normalised:
            columns.leave_out(OVERESTIMATION, NORMALISED)
            return

        def compute() -> tuple[float, ...]:
            moves = None if self.gamma == 1 else self.moves()
            found = overestimation(self.env, self.action_values(), self.gamma, moves)
            own, best = found.against_own_policy, found.against_optimum
            return own.mean, own.largest, best.mean, best.largest

        columns.take(OVERESTIMATION, compute)

    def _all_legal(self) -> bool:
        return bool(self.task.game.mask(self.states).all())


def inner_env(model: BaseAlgorithm) -> Any:
    """Return the environment of this project that a model trains in.

    Raises:
        InputError: if the model has none in this process.
    """
    env = model.get_env()
    while isinstance(env, VecEnvWrapper):
        env = env.venv
    if isinstance(env, DummyVecEnv):
        env = env.envs[0]  # type: ignore[assignment]
    try:
        task_and_sight(env)
    except TypeError:
        raise InputError(
            "env must be an environment of this project, as the model has none in this process, "
            f"got a {type(env).__name__}: pass one as env="
        ) from None
    return env


def is_masked(model: BaseAlgorithm) -> bool:
    """Say whether a model is held to the legal actions in training."""
    held = isinstance(model.policy, MaskableActorCriticPolicy) or isinstance(model, KeepsToLegal)
    return held or isinstance(model.policy, QTable)


def _normalised_rewards(model: BaseAlgorithm) -> bool:
    normaliser = model.get_vec_normalize_env()
    return isinstance(normaliser, VecNormalize) and normaliser.norm_reward


def _both(found: Any) -> tuple[float, float]:
    return found.mean, found.by_regret


def states_of_games(env: Any) -> IntArray | None:
    """Return the states of a vector's games, shape (lane,); None if they are not known."""
    while isinstance(env, VecEnvWrapper):
        env = env.venv
    if isinstance(env, GameVecEnv):
        return env.engine.states
    try:
        return np.array(env.get_attr("state"), dtype=np.int64)
    except (AttributeError, TypeError, ValueError):
        return None
