"""The options of a training run."""

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from ..baselines import Task
from ..envs import RewardMode
from ..envs.engine import make_task
from ..games import GAMES

Algorithm = Literal["ppo", "dqn"]
#: A name in ``GAMES``, shown as a choice by the command line.
GameName = Annotated[str, tyro.conf.arg(metavar="{" + ",".join(GAMES) + "}")]


#: Values that the command line cannot write otherwise.
LITERALS = {"true": True, "false": False, "none": None}


class RunError(ValueError):
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
    """Learning algorithm: ppo (MaskablePPO) or dqn (DQN with masks)."""

    steps: int | None = None
    """Agent moves to train for. Default: 4 million; 1.5 million for ppo with the regret reward."""

    seed: int = 0
    """Seed of all randomness: network, exploration and dice."""

    num_envs: int | None = None
    """Games played at once. Default: 1024 for ppo, 256 for dqn."""

    reward: RewardMode = "outcome"
    """outcome: the game's result. regret: what the move gives away. shaped: the outcome plus the
    change of the optimal value."""

    device: str = "cpu"
    """Device of the network, as PyTorch names it; the networks are too small to gain from a GPU."""

    eval_interval: int = 100_000
    """Steps between exact scores."""

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
                raise ValueError(f"{name} must be at least 1, got {value}")
        if not 0 <= self.seed < 2**32:
            raise ValueError(f"seed must be from 0 to 2**32 - 1, got {self.seed}")
        if self.stop_at is not None and not self.stop_at <= 1:
            raise ValueError(f"stop_at must be at most 1, the optimum, got {self.stop_at}")
        if self.resume is not None:
            fresh = TrainConfig()
            names = [entry.name for entry in dataclasses.fields(self) if entry.name != "resume"]
            others = [name for name in names if getattr(self, name) != getattr(fresh, name)]
            if others:
                raise ValueError(
                    "resume must be the only option, as the run keeps its own, "
                    f"got {', '.join(others)}"
                )

    @property
    def total_steps(self) -> int:
        """Steps to train for, the default resolved."""
        if self.steps is not None:
            return self.steps
        return 1_500_000 if (self.algorithm, self.reward) == ("ppo", "regret") else 4_000_000

    @property
    def lanes(self) -> int:
        """Games at once, the default resolved."""
        return self.num_envs or {"ppo": 1024, "dqn": 256}[self.algorithm]

    def to_json(self) -> dict[str, Any]:
        """Give what a run folder keeps: all options but where the run is."""
        options = dataclasses.asdict(self)
        return {name: options[name] for name in options if name not in ("run_folder", "resume")}


def check_game(game: str) -> None:
    """Check the name of a game.

    Raises:
        ValueError: if there is no such game.
    """
    if game not in GAMES:
        raise ValueError(f"game must be one of {', '.join(GAMES)}, got {game!r}")


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
        raise ValueError(f"env must hold keywords of the game: {error}") from None
