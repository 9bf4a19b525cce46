"""The options of a training run."""

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import tyro

from ...core import InputError, at_least, one_of
from ...envs import RewardMode, find_game, full_place
from ...games import DEFAULT_GAME
from ..algorithms import ALGORITHMS
from ..tracks import TRACKS
from .hyperparameters import keywords, once, read_changes, read_file, shown, tuned
from .options import (
    ALGORITHMS_IN_WORDS,
    AlgorithmName,
    Changes,
    GameName,
    Keywords,
    TrackName,
    task_from_options,
)

if TYPE_CHECKING:
    from .arguments import Hyperparameters

# The commands import the options that they share from here.
__all__ = [
    "GameName",
    "Keywords",
    "RunError",
    "TrainConfig",
    "task_from_options",
]

#: Types of options that a damaged config.json may hold wrongly; dataclasses do not check them.
BOOLS = "self_play", "tensorboard", "diagnose"
TYPES = {"env": dict, "hyperparams": dict, "device": str, **dict.fromkeys(BOOLS, bool)}


class RunError(InputError):
    """A run folder cannot be used; the message says why."""


@dataclass(frozen=True)
class TrainConfig:
    """Train an agent and score it exactly against the optimum."""

    game: tyro.conf.Positional[GameName] = DEFAULT_GAME
    """Game to play: a name, or a class of your own, whose file is run."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the environment, as pairs: --env max_score 50 opponent random. The
    lowest-score game can have several opponents: --env opponents only3s,notebook,random."""

    algorithm: Annotated[
        AlgorithmName, tyro.conf.arg(help=f"Learning algorithm: {ALGORITHMS_IN_WORDS}.")
    ] = "ppo"
    """Learning algorithm, a name in ``ALGORITHMS``."""

    track: TrackName | None = None
    """Track of the benchmark. It gives the number of moves, the moves at which the agent is scored,
    and hyperparameters tuned for so many moves; no steps, eval-interval, stop-at or other reward
    may be given. Scores are compared where --env keeps the game's defaults."""

    steps: int | None = None
    """Agent moves to train for. Default: n_timesteps of the hyperparameters."""

    seed: int = 0
    """Seed of all randomness: network, exploration and dice."""

    num_envs: int | None = None
    """Games played at once. Default: n_envs of the hyperparameters."""

    reward: RewardMode | None = None
    """outcome: the game's result. regret: minus the regret of the move. shaped: the outcome plus
    the change of the optimal value. Default: the reward in --env or --conf, else outcome."""

    self_play: bool = False
    """Train the agent against itself (two players, ppo or qlearning); moves of both seats count as
    steps. It is scored against the opponent of --env as without this option, and by its
    exploitability."""

    conf: Path | None = None
    """YAML file of hyperparameters in the shape of rl_zoo3. Default: the tuned ones."""

    hyperparams: Changes = field(default_factory=dict)
    """Hyperparameters to change, as pairs: --hyperparams ent_coef 0.1 batch_size 1024."""

    device: str = "cpu"
    """Device of the network, as PyTorch names it; the networks are too small to gain from a GPU."""

    eval_interval: int | None = None
    """Steps between exact scores; the run is saved after each. Default: 1/40 of all steps, or more
    in games of more than 800,000 states, since a score evaluates every state. Games of more than 67
    million states are scored exactly at the end, and before by sample games."""

    stop_at: float | None = None
    """Stop early at this normalised score (1 is the optimum)."""

    tensorboard: bool = False
    """Write the algorithm's log and the exact scores for TensorBoard into the run folder."""

    wandb: str | None = None
    """Project of Weights & Biases that gets the same log."""

    diagnose: bool = False
    """Write exact figures of the critic, the advantages and the exploration into the run folder,
    and audit the buffer, in at most a tenth of the time."""

    run_folder: Path | None = None
    """Folder for the files of the run; it must not exist. Default: runs/<game>-<algorithm>-<n> with
    the first free number."""

    resume: Path | None = None
    """Run folder of an interrupted run to continue with its own options; give no other option."""

    def __post_init__(self) -> None:
        """Check what can be checked without building anything, and determine the reward.

        Raises:
            ValueError: naming the option, the requirement and the value.
        """
        for name in ("conf", "run_folder", "resume"):
            place = getattr(self, name)
            object.__setattr__(self, name, Path(place) if isinstance(place, str) else place)
        self._check_options()
        self._check_track()
        if self.resume is None:
            object.__setattr__(self, "reward", self._find_reward())
            _ = self.hyperparameters  # reading checks them
            return
        others = [
            entry.name
            for entry in dataclasses.fields(self)  # a field without a default is an empty mapping
            if entry.name != "resume"
            and getattr(self, entry.name) != getattr(TrainConfig, entry.name, {})
        ]
        if others:
            raise InputError(
                f"resume must be the only option, as the run keeps its own, got {', '.join(others)}"
            )

    def _check_options(self) -> None:
        find_game(self.game)
        object.__setattr__(self, "game", full_place(self.game))
        one_of("algorithm", self.algorithm, tuple(ALGORITHMS))
        for name in ("steps", "num_envs", "eval_interval"):
            if getattr(self, name) is not None:
                at_least(name, getattr(self, name), 1)
        if not at_least("seed", self.seed, 0) < 2**32:
            raise InputError(f"seed must be from 0 to 2**32 - 1, got {self.seed}")
        for name, kind in TYPES.items():
            if not isinstance(getattr(self, name), kind):
                raise InputError(
                    f"{name} must be of type {kind.__name__}, got {shown(getattr(self, name))}"
                )
        if self.wandb is not None and not (isinstance(self.wandb, str) and self.wandb):
            raise InputError(f"wandb must be the name of a project, got {shown(self.wandb)}")
        if self.self_play and not ALGORITHMS[self.algorithm].plays_itself:
            able = " or ".join(name for name, known in ALGORITHMS.items() if known.plays_itself)
            raise InputError(f"self_play needs the algorithm {able}, got {self.algorithm}")
        if self.diagnose and self.self_play:
            raise InputError("diagnose needs a run without self_play, whose opponents change")
        number = isinstance(self.stop_at, int | float) and not isinstance(self.stop_at, bool)
        if self.stop_at is not None and not (number and self.stop_at <= 1):
            raise InputError(f"stop_at must be at most 1, the optimum, got {shown(self.stop_at)}")

    def _check_track(self) -> None:
        """Check that no option contradicts the rules of the track."""
        if self.track is None:
            return
        one_of("track", self.track, tuple(TRACKS))
        fixed = {name: getattr(self, name) for name in ("steps", "eval_interval", "stop_at")}
        fixed["n_timesteps"] = self._changes.get("n_timesteps")
        for name, given in fixed.items():
            if given is not None:
                raise InputError(
                    f"{name} must be left to the track {self.track}, got {shown(given)}"
                )
        if self.self_play != TRACKS[self.track].self_play:
            wanted = "off" if self.self_play else "given"
            raise InputError(
                f"self_play must be {wanted} on the track {self.track}, got {self.self_play}"
            )

    def _find_reward(self) -> RewardMode:
        """Return the reward mode; options and files that name it must agree."""
        places = {
            "--reward": self.reward,
            "--env": self.env.get("reward"),
            "--hyperparams env_kwargs": keywords(self._changes).get("reward"),
            "--conf": self.conf and keywords(self._file).get("reward"),
        }
        given = once("reward", places)
        reward: RewardMode = one_of(
            "reward", "outcome" if given is None else given, get_args(RewardMode)
        )
        if self.self_play and reward != "outcome" and self.algorithm == "qlearning":
            raise InputError(f"reward must be outcome in self_play of qlearning, got {reward}")
        if self.track is not None and reward != "outcome":
            raise InputError(
                f"reward must be outcome on the track {self.track}, as the others are computed "
                f"from the optimum, got {reward}"
            )
        return reward

    @cached_property
    def _changes(self) -> dict[str, Any]:
        return read_changes(self.hyperparams)

    @cached_property
    def _file(self) -> dict[str, Any]:
        known = tuned(self.algorithm, self.reward or "outcome", self.track)
        return read_file(self.game_name, self.conf or known)

    @cached_property
    def hyperparameters(self) -> "Hyperparameters":
        """The hyperparameters from ``conf``, ``hyperparams``, ``env``, ``steps`` and ``num_envs``.

        Options override the file, except for the reward: a file is tuned for one reward. On a track
        n_timesteps is the largest whole number of rollouts that it allows, whatever a file says.
        """
        from .arguments import read_hyperparameters  # needs pydantic, of the extra "agents"

        file, changes = self._file, self._changes
        track = None if self.track is None else TRACKS[self.track]
        steps = self.steps if track is None else track.moves
        options = {"n_timesteps": steps, "n_envs": self.num_envs}
        given = {name: value for name, value in options.items() if value is not None}
        merged = {**dict.fromkeys(options), **file, **given, **changes}
        known = {**keywords(file), **keywords(changes), **self.env}
        merged["env_kwargs"] = {**known, "reward": self.reward}
        checked = read_hyperparameters(self.algorithm, merged)
        for name, option in (("n_timesteps", "--steps"), ("n_envs", "--num-envs")):
            change = getattr(checked, name) if name in changes else None
            once(name, {option: given.get(name), f"--hyperparams {name}": change})
        for name, value in self.env.items():
            place = "--hyperparams env_kwargs"
            once(name, {"--env": value, place: keywords(changes).get(name)})
        if track is not None:
            whole = track.whole(checked.rollout)
            checked.n_timesteps = track.moves if self.counts_others else whole
        return checked

    @property
    def counts_others(self) -> bool:
        """Whether moves of an opponent count, so that rollouts differ in the number of moves."""
        return self.self_play and ALGORITHMS[self.algorithm].learns_from == "rollouts"

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
