"""The options of a training run."""

import dataclasses
import itertools
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import tyro

from ..baselines import Task, make_task
from ..envs import RewardMode
from ..games import GAMES, InputError, at_least
from .hyperparameters import Algorithm, read_changes, read_hyperparameters

#: A name in ``GAMES``, shown as a choice by the command line.
GameName = Annotated[str, tyro.conf.arg(metavar="{" + ",".join(GAMES) + "}")]


#: Values that the command line cannot write otherwise.
LITERALS = {"true": True, "false": False, "none": None}


class RunError(InputError):
    """A run folder that cannot be used, and why."""


@dataclass(frozen=True)
class TrainConfig:
    """Train an agent and score it exactly against the optimum."""

    game: GameName = "Greed"
    """Game to play."""

    env: dict[str, int | str] = field(default_factory=dict)
    """Keyword arguments of the environment, as pairs: --env max_score 50 opponent random. In the
    lowest-score game opponents may be several: --env opponents only3s,notebook,random."""

    algorithm: Algorithm = "ppo"
    """Learning algorithm: ppo (MaskablePPO), dqn (DQN with masks) or qlearning (a table)."""

    steps: int | None = None
    """Agent moves to train for. Default: n_timesteps of the hyperparameters."""

    seed: int = 0
    """Seed of all randomness: network, exploration and dice."""

    num_envs: int | None = None
    """Games played at once. Default: n_envs of the hyperparameters."""

    reward: RewardMode = "outcome"
    """outcome: the game's result. regret: what the move gives away. shaped: the outcome plus the
    change of the optimal value."""

    self_play: bool = False
    """Have the agent play against itself, in both seats by turns (two players, ppo); it is scored
    against the opponents of --env all the same, and by its exploitability."""

    conf: Path | None = None
    """YAML file of hyperparameters in the shape of rl_zoo3. Default: the tuned ones."""

    hyperparams: dict[str, str] = field(default_factory=dict)
    """Hyperparameters to change, as pairs: --hyperparams ent_coef 0.1 batch_size 1024."""

    device: str = "cpu"
    """Device of the network, as PyTorch names it; the networks are too small to gain from a GPU."""

    eval_interval: int | None = None
    """Steps between exact scores, at each of which the run is saved. Default: 1/40 of all."""

    stop_at: float | None = None
    """Stop early at this normalised score (1 is the optimum)."""

    run_folder: Path | None = None
    """Folder for everything that is saved; it must not exist. Default: runs/<game>-<algorithm>-<n>
    with the first free number."""

    resume: Path | None = None
    """Run folder of an interrupted run to continue, with its own options and no others."""

    def __post_init__(self) -> None:
        """Check what can be checked without building anything.

        Raises:
            ValueError: naming the option, the requirement and the value.
        """
        check_game(self.game)
        for name in ("steps", "num_envs", "eval_interval"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} must be at least 1, got {value}")
        if not 0 <= self.seed < 2**32:
            raise InputError(f"seed must be from 0 to 2**32 - 1, got {self.seed}")
        if self.self_play and self.algorithm != "ppo":
            raise InputError(f"self_play needs the algorithm ppo, got {self.algorithm}")
        if self.stop_at is not None and not self.stop_at <= 1:
            raise InputError(f"stop_at must be at most 1, the optimum, got {self.stop_at}")
        if self.resume is None:
            _ = self.hyperparameters  # which are checked as they are read
        else:
            fresh = TrainConfig()
            names = [entry.name for entry in dataclasses.fields(self) if entry.name != "resume"]
            others = [name for name in names if getattr(self, name) != getattr(fresh, name)]
            if others:
                raise InputError(
                    "resume must be the only option, as the run keeps its own, "
                    f"got {', '.join(others)}"
                )

    @cached_property
    def hyperparameters(self) -> dict[str, Any]:
        """What ``conf``, ``hyperparams``, ``steps`` and ``num_envs`` amount to."""
        known = read_hyperparameters(self.game, self.algorithm, self.reward, self.conf)
        changed = read_changes(self.hyperparams)
        given = {"n_timesteps": self.steps, "n_envs": self.num_envs}
        merged = {**known, **changed, **{name: n for name, n in given.items() if n is not None}}
        for name in given:
            number = merged.get(name)
            if isinstance(number, bool) or not isinstance(number, int | float) or number < 1:
                raise InputError(f"{name} must be at least 1, got {number!r}")
            merged[name] = int(number)
        env_kwargs = merged.get("env_kwargs", {})
        if not isinstance(env_kwargs, dict):
            raise InputError(f"env_kwargs must be a mapping, got {env_kwargs!r}")
        merged["env_kwargs"] = {**env_kwargs, **self.env, "reward": self.reward}
        return merged

    @property
    def total_steps(self) -> int:
        """Moves to train for."""
        return int(self.hyperparameters["n_timesteps"])

    @property
    def interval(self) -> int:
        """Moves between exact scores."""
        return self.eval_interval or max(1, self.total_steps // 40)

    def to_json(self) -> dict[str, Any]:
        """Give what ``config.json`` keeps: all options but those of the place and of a file."""
        options = dataclasses.asdict(self)
        others = ("run_folder", "resume", "conf", "hyperparams")
        return {name: options[name] for name in options if name not in others}


@dataclass(frozen=True)
class BenchmarkConfig:
    """Train every game x algorithm x reward x seed, and write the leaderboard of the folder.

    Call it again to go on with a benchmark that was stopped or killed, or to add to one.
    """

    games: tuple[GameName, ...] = tuple(GAMES)
    """Games to play, by default all."""

    algorithms: tuple[Algorithm, ...] = get_args(Algorithm)
    """Learning algorithms, by default all."""

    rewards: tuple[RewardMode, ...] = ("outcome",)
    """Reward modes."""

    seeds: int = 5
    """Number of seeds: 0, 1, ..."""

    steps: int | None = None
    """Moves to train for. Default: as tuned."""

    folder: Path = Path("runs/benchmark")
    """Folder of the runs and of the leaderboard."""

    jobs: int = -1
    """Cells at once; -1 for as many as there are processors."""

    backend: Literal["local", "ray"] = "local"
    """local: processes of this machine. ray: a Ray cluster, at RAY_ADDRESS or else a local one."""

    def __post_init__(self) -> None:
        """Check what can be checked at once.

        Raises:
            ValueError: naming the option, the requirement and the value.
        """
        for name in ("games", "algorithms", "rewards"):
            if not getattr(self, name):
                raise InputError(f"{name} must be one at least, got none")
        for game in self.games:
            check_game(game)
        at_least("seeds", self.seeds, 1)
        if self.jobs != -1:
            at_least("jobs", self.jobs, 1)

    def cells(self) -> list[TrainConfig]:
        """List the training runs, each once, whatever was named twice."""
        grid = itertools.product(
            dict.fromkeys(self.games),
            dict.fromkeys(self.algorithms),
            dict.fromkeys(self.rewards),
            range(self.seeds),
        )
        return [
            TrainConfig(
                game=game,
                algorithm=algorithm,
                reward=reward,
                seed=seed,
                steps=self.steps,
                run_folder=self.folder / f"{game}-{algorithm}-{reward}-{seed}",
            )
            for game, algorithm, reward, seed in grid
        ]


def check_game(game: str) -> None:
    """Check the name of a game.

    Raises:
        ValueError: if there is no such game.
    """
    if game not in GAMES:
        raise InputError(f"game must be one of {', '.join(GAMES)}, got {game!r}")


def task_from_options(game: str, env: dict[str, int | str]) -> Task:
    """Build a task from a game's name and keyword arguments as the command line gives them.

    Raises:
        ValueError: if the game or a keyword is unknown or a value out of range.
    """
    check_game(game)
    keywords: dict[str, Any] = {
        name: LITERALS.get(value.lower(), value) if isinstance(value, str) else value
        for name, value in env.items()
    }
    try:
        return make_task(game, **keywords)
    except TypeError as error:
        raise InputError(f"env must hold keywords of the game: {error}") from None
