"""The options of a training run."""

import dataclasses
from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, get_args

import tyro
from pydantic import Field

from ...core import InputError, one_of
from ...envs import RewardMode, find_game
from ...games import DEFAULT_GAME
from ..algorithms import ALGORITHMS, check_self_play
from .hyperparameters import Hyperparameters, read_changes, read_file, read_hyperparameters, tuned
from .options import (
    TRACKS,
    Changes,
    GameName,
    Keywords,
    OneAlgorithm,
    Place,
    Positive,
    TrackName,
    checked,
)

#: Hyperparameters that options of their own give.
ELSEWHERE = {"n_envs": "--num-envs", "n_timesteps": "--steps", "env_kwargs": "--env"}


class RunError(InputError):
    """A run folder cannot be used; the message says why."""


@checked
class TrainConfig:
    """Train an agent and score it exactly against the optimum."""

    game: tyro.conf.Positional[GameName] = DEFAULT_GAME
    """Game to play: a name, or a class of your own, whose file is run."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the environment, as pairs: --env max_score 50 opponent random. The
    lowest-score game can have several opponents: --env opponents only3s,notebook,random."""

    algorithm: OneAlgorithm = "ppo"
    """Learning algorithm, a name in ``ALGORITHMS``."""

    track: TrackName | None = None
    """Track of the benchmark. It gives the number of moves, the moves at which the agent is scored,
    and hyperparameters tuned for so many moves; no steps, eval-interval, stop-at or other reward
    may be given. Scores are compared where --env keeps the game's defaults."""

    steps: Positive | None = None
    """Agent moves to train for. Default: n_timesteps of the hyperparameters."""

    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    """Seed of all randomness: network, exploration and dice."""

    num_envs: Positive | None = None
    """Games played at once. Default: n_envs of the hyperparameters."""

    reward: RewardMode | None = None
    """outcome: the game's result. regret: minus the regret of the move. shaped: the outcome plus
    the change of the optimal value. Default: the reward in --conf, else outcome."""

    self_play: bool = False
    """Train the agent against itself (two players, ppo or qlearning); moves of both seats count as
    steps. It is scored against the opponent of --env as without this option, and by its
    exploitability."""

    conf: Place | None = None
    """YAML file of hyperparameters in the shape of rl_zoo3. Default: the tuned ones."""

    hyperparams: Changes = field(default_factory=dict)
    """Hyperparameters to change, as pairs: --hyperparams ent_coef 0.1 batch_size 1024."""

    device: str = "cpu"
    """Device of the network, as PyTorch names it; the networks are too small to gain from a GPU."""

    eval_interval: Positive | None = None
    """Steps between exact scores; the run is saved after each. Default: 1/40 of all steps, or more
    in games of more than 800,000 states, since a score evaluates every state. Games of more than 67
    million states are scored exactly at the end, and before by sample games."""

    stop_at: Annotated[float, Field(le=1)] | None = None
    """Stop early at this normalised score (1 is the optimum)."""

    tensorboard: bool = False
    """Write the algorithm's log and the exact scores for TensorBoard into the run folder."""

    wandb: Annotated[str, Field(min_length=1)] | None = None
    """Project of Weights & Biases that gets the same log."""

    diagnose: bool = False
    """Write exact figures of the critic, the advantages and the exploration into the run folder, in
    at most a tenth of the time."""

    run_folder: Place | None = None
    """Folder for the files of the run; it must not exist. Default: runs/<game>-<algorithm>-<n> with
    the first free number."""

    resume: Place | None = None
    """Run folder of an interrupted run to continue with its own options; give no other option."""

    def __post_init__(self) -> None:
        if self.resume is not None:
            others = [
                entry.name
                for entry in dataclasses.fields(self)  # without a default it is an empty mapping
                if entry.name != "resume"
                and getattr(self, entry.name) != getattr(TrainConfig, entry.name, {})
            ]
            if others:
                raise InputError(
                    "resume must be the only option, as the run keeps its own, got "
                    f"{', '.join(others)}"
                )
            return
        if self.self_play:
            check_self_play(self.algorithm)
        if self.diagnose and self.self_play:
            raise InputError("diagnose needs a run without self_play, whose opponents change")
        if self.rules is not None:
            self._check_track(self.rules)
        for name, option in ELSEWHERE.items():
            if name in self.hyperparams:
                raise InputError(f"{name} must be given by {option}, got it in hyperparams")
        object.__setattr__(self, "reward", self._find_reward())
        _ = self.hyperparameters  # reading checks them

    def _check_track(self, track: Any) -> None:
        for name in ("steps", "eval_interval", "stop_at"):
            given = getattr(self, name)
            if given is not None:
                raise InputError(f"{name} must be left to the track {track.name}, got {given}")
        if self.self_play != track.self_play:
            wanted = "off" if self.self_play else "given"
            raise InputError(
                f"self_play must be {wanted} on the track {track.name}, got {self.self_play}"
            )

    def _find_reward(self) -> RewardMode:
        """Return the reward mode; a file is tuned for one reward, so the option must agree."""
        if "reward" in self.env:
            raise InputError("reward must be given by --reward, got it in env")
        of_file = self._file.get("env_kwargs", {}).get("reward") if self.conf else None
        if of_file is not None and self.reward not in (None, of_file):
            raise InputError(
                f"reward must be {of_file}, as in the file of --conf, got {self.reward}"
            )
        reward: RewardMode = one_of(
            "reward", self.reward or of_file or "outcome", get_args(RewardMode)
        )
        if reward != "outcome" and self.self_play and self.algorithm == "qlearning":
            raise InputError(f"reward must be outcome in self_play of qlearning, got {reward}")
        if reward != "outcome" and self.track is not None:
            raise InputError(
                f"reward must be outcome on the track {self.track}, as the others are computed "
                f"from the optimum, got {reward}"
            )
        return reward

    @cached_property
    def _file(self) -> dict[str, Any]:
        known = tuned(self.algorithm, self.reward or "outcome", self.track)
        return read_file(self.game_name, self.conf or known)

    @cached_property
    def hyperparameters(self) -> Hyperparameters:
        """The hyperparameters from ``conf``, ``hyperparams``, ``env``, ``steps`` and ``num_envs``.

        Options override the file, except for the reward. On a track n_timesteps is the largest
        whole number of rollouts that it allows, whatever a file says.
        """
        track = self.rules
        options = {"n_envs": self.num_envs, "n_timesteps": track.moves if track else self.steps}
        given = {name: value for name, value in options.items() if value is not None}
        known = {**self._file.get("env_kwargs", {}), **self.env, "reward": self.reward}
        merged = {**self._file, **given, **read_changes(self.hyperparams), "env_kwargs": known}
        checked = read_hyperparameters(self.algorithm, merged)
        if track is not None:
            whole = track.whole(checked.rollout)
            checked.n_timesteps = track.moves if self.rollouts_vary else whole
        return checked

    @property
    def rules(self) -> Any:
        """The track, if any."""
        return None if self.track is None else TRACKS[self.track]

    @property
    def rollouts_vary(self) -> bool:
        """Whether rollouts differ in the number of moves: of whole games, or of two players."""
        learns_from = ALGORITHMS[self.algorithm].learns_from
        return learns_from == "games" or (self.self_play and learns_from == "rollouts")

    @property
    def game_name(self) -> str:
        """Name of the game, also if ``game`` is the place of its class."""
        return find_game(self.game).name

    @property
    def total_steps(self) -> int:
        """Moves to train for."""
        return self.hyperparameters.n_timesteps

    def to_json(self) -> dict[str, Any]:
        """Return the options for ``config.json``: all but paths and hyperparameters."""
        options = dataclasses.asdict(self)
        others = ("run_folder", "resume", "conf", "hyperparams")
        return {name: options[name] for name in options if name not in others}
