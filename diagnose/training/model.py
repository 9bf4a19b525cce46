"""The exact figures of a model in training, one number for each column.

A column that cannot be computed is left out, and the reason is given instead: nothing is skipped
silently. The models are those of stable-baselines3 and sb3-contrib, with the environment that they
train in. A diagnosis has two files in a run folder:

diagnosis.npz         an array (row,) for each of ``COLUMNS``, NaN where a number was not computed;
                      ``visited``, the states that training has visited, as packed bits; ``words``,
                      the reasons of missing columns, in JSON
diagnosis.csv         the columns, for spreadsheets
"""

import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch as th
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.preprocessing import preprocess_obs
from stable_baselines3.common.torch_layers import MlpExtractor
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from torch import nn

from ...agents.learners import q_learning
from ...agents.learners.adapter import ACTORS, GREEDY, ModelPolicy
from ...agents.learners.dqn import KeepsToLegal
from ...agents.learners.vec_env import GameVecEnv
from ...agents.runs.config import RunError
from ...agents.runs.folders import held, read_config, reading
from ...baselines import LawGame, Policy, Reading, as_policy, occupancy, task_and_sight
from ...core import BoolArray, FloatArray, Game, InputError, IntArray, Table, write_file
from ...core.sizes import check_array
from ..advantages import AgentMoves
from ..figures import critic, entropy, overestimation, unvisited
from ..gradients import gradient
from ..view import AgentView

NAME = "diagnosis.npz"
#: The columns, and what each of them is.
COLUMNS: Mapping[str, str] = {
    "timesteps": "moves of the agent so far",
    "critic_bias": "mean of the critic's values less the exact values of the present policy",
    "critic_rmse": "root of the mean squared error of these values",
    "critic_explained_variance": "1 less the variance of their errors divided by that of the "
    "exact values",
    "gae_bias": "root mean square of the exact bias of the advantage estimates, at the run's "
    "gae_lambda",
    "gae_bias_between_actions": "the same of the bias less its mean in each state, which is all of "
    "it that changes a gradient",
    "gae_std": "root mean square of their exact standard deviation",
    "overestimation_mean": "greedy action values less the exact ones of the greedy policy",
    "overestimation_largest": "the largest of these errors in a state that the policy meets",
    "overestimation_mean_optimal": "greedy action values less the exact ones under optimal play "
    "afterwards",
    "overestimation_largest_optimal": "the largest of these errors in a state that the policy "
    "meets",
    "entropy": "relative entropy of the policy: 1 if uniform, 0 if every action is certain",
    "entropy_by_regret": "the same, weighted by the regret of a uniform move: where the choice "
    "matters",
    "gradient_cosine": "cosine of the gradient of the actor's loss on the whole rollout buffer and "
    "the exact gradient of the return",
    "unvisited": "share of the occupancy of optimal play in states that training has never visited",
    "unmet": "share of it in states that the policy meets less than once in 10,000 games",
    "share": "share of the time of training that the diagnosis has taken so far",
}
CRITIC = ("critic_bias", "critic_rmse", "critic_explained_variance")
GAE = ("gae_bias", "gae_bias_between_actions", "gae_std")
OVERESTIMATION = tuple(name for name in COLUMNS if name.startswith("overestimation"))
ENTROPY = ("entropy", "entropy_by_regret")
GRADIENT = ("gradient_cosine",)
#: Reasons for missing columns.
NORMALISED = "rewards are normalised by VecNormalize"
UNMASKED = "the model is not held to the legal actions in training"
MOVES_NEEDED = "values with a discount need all moves of the game, and they were not listed"
#: A policy counts as meeting a state if it meets it at least once in this number of games.
GAMES = 10_000


@dataclass
class Columns:
    """Figures of a model by the names in ``COLUMNS``, and reasons for the missing ones."""

    numbers: dict[str, float] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def take(
        self,
        names: tuple[str, ...],
        compute: Callable[[], tuple[float, ...]],
        reason: str | None = None,
    ) -> None:
        """Compute some columns, or note the reason why they are not or cannot be computed."""
        if reason is not None:
            self.leave_out(names, reason)
            return
        try:
            found = compute()
        except InputError as error:  # also a ``SizeError``
            self.leave_out(names, str(error))
            return
        for name, number in zip(names, found, strict=True):
            if np.isfinite(number):
                self.numbers[name] = float(number)
            else:
                self.missing[name] = "no state that is met has such a number"

    def leave_out(self, names: tuple[str, ...], reason: str) -> None:
        """Note the reason why some columns are not computed."""
        self.missing.update(dict.fromkeys(names, reason))


def told_missing(missing: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return a line for each reason, once, with the columns of models that are missing for it."""
    told: dict[str, list[str]] = {}
    for which, reasons in missing.items():
        for name, reason in reasons.items():
            everywhere = all(reason == others.get(name) for others in missing.values())
            shown = name if everywhere else f"{name} of {which}"
            if shown not in told.setdefault(reason, []):
                told[reason].append(shown)
    return [f"no {', '.join(names)}: {reason}" for reason, names in told.items()]


@dataclass
class Diary:
    """The rows and the missing columns of a diagnosis."""

    #: Numbers by the names in ``COLUMNS``, in the order of training.
    rows: list[dict[str, float]] = field(default_factory=list)
    #: Why a column has no number in any row, by its name.
    missing: dict[str, str] = field(default_factory=dict)
    visited: BoolArray | None = None  # the states that training has visited; None if not known

    def column(self, name: str) -> FloatArray:
        """Return a column, NaN where it was not computed, shape (row,)."""
        return np.array([row.get(name, np.nan) for row in self.rows], dtype=np.float64)

    @property
    def known(self) -> list[str]:
        """Names of the columns that have a number."""
        return [name for name in COLUMNS if any(name in row for row in self.rows)]

    def add(self, row: dict[str, float], missing: Mapping[str, str]) -> None:
        """Add a row, and the reasons for columns that have no number so far."""
        self.rows.append(row)
        reasons = {**self.missing, **missing}
        self.missing = {key: reasons[key] for key in reasons if key not in self.known}

    def write(self, folder: Path) -> None:
        """Write the files of a run folder."""
        words = json.dumps({"missing": self.missing})
        content: dict[str, Any] = {name: self.column(name) for name in COLUMNS}
        content["words"] = np.array(words)
        if self.visited is not None:
            content |= {"visited": np.packbits(self.visited), "states": len(self.visited)}
        write_file(folder / NAME, lambda file: np.savez(file, **content))
        write_file(folder / "diagnosis.csv", to_csv(COLUMNS, self.rows))

    @classmethod
    def read(cls, folder: Path) -> "Diary":
        """Read the file of a run folder; raise a ``RunError`` if there is none, or no whole one."""
        path = held(folder, NAME, ": train with --diagnose")
        with (
            reading(path, "hold what was diagnosed in a run"),
            np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file,
        ):
            columns = {name: file[name].astype(np.float64).tolist() for name in COLUMNS}
            words = json.loads(str(file["words"]))
            found = zip(*columns.values(), strict=True)
            rows = [dict(zip(columns, row, strict=True)) for row in found]
            rows = [{key: one for key, one in row.items() if np.isfinite(one)} for row in rows]
            visited = None
            if "visited" in file:
                visited = np.unpackbits(file["visited"], count=int(file["states"])).astype(bool)
            return cls(rows, dict(words["missing"]), visited)


def to_csv(header: Iterable[str], rows: list[dict[str, Any]]) -> bytes:
    """Return rows as CSV; numbers that are missing are empty."""
    names = list(header)
    return Table(names, [[row.get(name) for name in names] for row in rows]).csv().encode()


def require_fixed_opponents(folder: Path) -> None:
    """Raise a ``RunError`` if a run was trained by self-play: its opponents changed."""
    if read_config(folder).self_play:
        raise RunError(f"a diagnosis needs a run without self-play, got {folder}")


class Diagnosed:
    """A model in training, with the data that all its figures share.

    It is a PPO, MaskablePPO, A2C, TRPO, DQN, QRDQN, of a subclass of one of these, or Q-learning.
    Its environment is one of this project, by default that of the model.
    """

    def __init__(self, model: BaseAlgorithm, env: Any = None) -> None:
        self.model: Any = model  # gamma and the buffers are of subclasses
        self.env = _inner_env(model) if env is None else env
        view = AgentView(self.env)
        self.task, self.states = view.task, view.states
        self._reading = Reading(sight=view.sight)
        held = MaskableActorCriticPolicy | q_learning.ValueTable
        self.masked = isinstance(model.policy, held) or isinstance(model, KeepsToLegal)
        self.is_actor = isinstance(model.policy, ACTORS)
        if not self.is_actor and not isinstance(model.policy, GREEDY):
            raise InputError(
                "model must have a critic or action values (PPO, MaskablePPO, A2C, TRPO, DQN, "
                f"QRDQN), got {type(model).__name__}"
            )
        self.gamma = float(getattr(model, "gamma", 1.0))  # Q-learning has none
        normaliser = model.get_vec_normalize_env()
        self.normalised = isinstance(normaliser, VecNormalize) and normaliser.norm_reward
        self._moves: AgentMoves | str | None = None
        self.player()

    def figures(self, listed: bool = True, in_training: bool = False) -> Columns:
        """Compute all columns but those of what training visits and of audits.

        Some need all moves listed, or a rollout buffer that is full and waits for an update.
        """
        columns, cosine = Columns(), "it needs the buffer of training"
        try:
            player = self.player() if self.is_actor else as_policy(self.model, self.env)
        except InputError as error:  # such as weights that are not finite
            columns.leave_out((*CRITIC, *OVERESTIMATION, *ENTROPY, *GAE, "unmet"), str(error))
            return columns
        reason = NORMALISED if self.normalised else None
        if self.gamma != 1 and not listed:
            reason = reason or MOVES_NEEDED
        if self.is_actor:
            columns.take(CRITIC, partial(self._critic, player), reason)
            columns.leave_out(OVERESTIMATION, "the model has no action values")
            columns.take(ENTROPY, partial(self._entropy, player))
        else:
            columns.take(OVERESTIMATION, self._overestimation, reason)
            columns.leave_out(CRITIC, "the model has no critic but its action values")
            columns.leave_out(ENTROPY, "the policy is greedy but for its exploration")
        if listed:
            columns.take(GAE, self._advantages, self.without_gae())
        met = partial(occupancy, player, self.env)
        columns.take(("unmet",), lambda: (unvisited(self.env, GAMES * met()),))
        columns.take(GRADIENT, self._cosine, self._without_cosine() if in_training else cosine)
        return columns

    @property
    def needs_moves(self) -> bool:
        """Whether a column needs all moves of the game."""
        return self.without_gae() is None or (self.gamma != 1 and not self.normalised)

    def without_gae(self) -> str | None:
        """Say why there are no figures of advantage estimates; None if there are."""
        if not self.is_actor:
            return "the model estimates no advantages"
        if self.normalised:
            return NORMALISED
        if not self.masked and not self.task.game.mask(self.states).all():
            return UNMASKED
        return None

    def moves(self) -> AgentMoves:
        """List the moves of the game, once; raise an ``InputError`` if they are too many."""
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
        critic = ModelPolicy(self.model, game, self._reading).critic
        values[own] = critic(game.observe(own, self.task.seat), game.mask(own))
        return values

    def action_values(self) -> FloatArray:
        """Return the model's action values in the agent's states, shape (state, action)."""
        game, own = self.task.game, self.states
        check_array("action values", game, 1, game.num_states, game.num_actions)
        values = np.zeros((game.num_states, game.num_actions))
        prefer = ModelPolicy(self.model, game, self._reading).prefer
        values[own] = prefer(game.observe(own, self.task.seat), game.num_actions)
        return values

    def player(self, masked: bool | None = None) -> Policy:
        """Return the policy that plays in training."""
        masked = self.masked if masked is None else masked
        return as_policy(self.model, self.env, deterministic=False, masked=masked)

    def _critic(self, player: Policy) -> tuple[float, ...]:
        moves = None if self.gamma == 1 else self.moves()
        found = critic(self.env, player, self.values(), self.gamma, moves)
        return found.bias, found.rmse, found.explained_variance

    def _overestimation(self) -> tuple[float, ...]:
        moves = None if self.gamma == 1 else self.moves()
        found = overestimation(self.env, self.action_values(), self.gamma, moves)
        own, best = found.against_own_policy, found.against_optimum
        return own.mean, own.largest, best.mean, best.largest

    def _entropy(self, player: Policy) -> tuple[float, ...]:
        found = entropy(self.env, player if self.masked else self.player(masked=True))
        return found.mean, found.by_regret

    def _advantages(self) -> tuple[float, ...]:
        model = self.model
        found = self.moves().gae(self.player(), self.values(), model.gamma, model.gae_lambda)
        return found.rms_bias, found.rms_bias_between_actions, found.rms_std

    def _cosine(self) -> tuple[float]:
        """Return the cosine of the gradient that the first update begins with, before the update.

        The loss is minus the mean over the buffer of r A, with the ratio r = 1 of the first step
        and the advantages A as the algorithm takes them, normalised or not. All parameters stay as
        they are, and no random number is drawn.
        """
        model = self.model
        buffer, policy, actor = model.rollout_buffer, model.policy, _Actor(model.policy)

        def flat(array: Any) -> th.Tensor:
            rows, lanes = buffer.rewards.shape
            return th.as_tensor(array.reshape(rows * lanes, -1), device=model.device)

        advantages = flat(buffer.advantages).ravel()
        if getattr(model, "normalize_advantage", False):
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        seen = flat(buffer.observations).reshape(-1, *policy.observation_space.shape)
        actions, masks = flat(buffer.actions).ravel().long(), flat(buffer.action_masks)
        with th.enable_grad():
            _, logs, _ = policy.evaluate_actions(seen, actions, action_masks=masks)
            loss = -(advantages * (logs - logs.detach()).exp()).mean()
            names, parameters = zip(*actor.named_parameters(), strict=True)
            found = th.autograd.grad(loss, parameters)
        given = dict(zip(names, found, strict=True))
        return (gradient(self.env, actor).compare(given).cosine,)

    def _without_cosine(self) -> str | None:
        """Say why there is no exact gradient; None if there is."""
        buffer = getattr(self.model, "rollout_buffer", None)
        layers = getattr(self.model.policy, "mlp_extractor", None)
        discounted = f"the exact gradient has no discount: gamma must be 1, got {self.gamma:g}"
        reasons = {
            "the model has no actor": not self.is_actor,
            NORMALISED: self.normalised,
            discounted: self.gamma != 1,
            UNMASKED: not self.masked,
            "the model has no rollout buffer": not isinstance(buffer, RolloutBuffer),
            "the policy has networks of its own": not isinstance(layers, MlpExtractor),
            "observations are dictionaries": isinstance(getattr(buffer, "observations", 0), dict),
        }
        return next((reason for reason, holds in reasons.items() if holds), None)


class _Actor(nn.Module):
    """The part of a policy that turns observations into logits."""

    def __init__(self, policy: ActorCriticPolicy) -> None:
        super().__init__()
        self._space = policy.observation_space
        self.features = policy.pi_features_extractor
        self.hidden, self.last = policy.mlp_extractor.policy_net, policy.action_net

    def forward(self, observations: th.Tensor) -> th.Tensor:
        """Return logits, shape (observation, action)."""
        seen = preprocess_obs(observations, self._space)
        return self.last(self.hidden(self.features(seen)))


def _inner_env(model: BaseAlgorithm) -> Any:
    """Return the environment of this project that a model trains in."""
    env: Any = getattr(model.get_env(), "unwrapped", None)
    if isinstance(env, DummyVecEnv):
        env = env.envs[0]
    try:
        task_and_sight(env)
    except TypeError:
        raise InputError(
            "env must be an environment of this project, as the model has none in this process, "
            f"got a {type(env).__name__}: pass one as env="
        ) from None
    return env


def states_of_games(env: Any, game: Game) -> IntArray | None:
    """Return the states of a vector's games, shape (lane,); None if they are not known."""
    env = env.unwrapped
    if isinstance(env, GameVecEnv):
        return env.engine.lanes.states()
    names, sizes = ["state"], np.array([game.num_states])
    if law := isinstance(game, LawGame) and env.has_attr("P"):  # of toy text, within TimeLimit
        sizes = np.array(game.observation_sizes)
        names = ["s", "_elapsed_steps"][: len(sizes)]
    try:
        found = np.array([env.get_attr(name) for name in names], dtype=np.int64).T
    except (AttributeError, TypeError, ValueError):
        return None
    if not ((found >= 0) & (found < sizes)).all():
        return None
    return game.encode(found) if law else found[:, 0]
