"""The options of a benchmark: a grid of training runs."""

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ...core import GAMES, InputError, at_least, one_of
from ...envs import RewardMode, find_game, full_place
from ..algorithms import ALGORITHMS
from ..runs.config import TrainConfig
from ..runs.options import AlgorithmName, GameName


@dataclass(frozen=True)
class BenchmarkConfig:
    """Train every game x algorithm x reward x seed, and write the leaderboard of the folder.

    Call it again to continue a benchmark that was stopped or killed, or to add runs to it.
    """

    games: tuple[GameName, ...] = tuple(GAMES)
    """Games to play, by default all."""

    algorithms: tuple[AlgorithmName, ...] = tuple(
        name for name, known in ALGORITHMS.items() if known.benchmarked
    )
    """Learning algorithms, by default those whose hyperparameters are tuned."""

    rewards: tuple[RewardMode, ...] = ("outcome",)
    """Reward modes."""

    seeds: int = 5
    """Number of seeds; the seeds are 0, 1, ..."""

    steps: int | None = None
    """Moves to train for. Default: as tuned."""

    folder: Path = Path("runs/benchmark")
    """Folder of the runs and of the leaderboard."""

    jobs: int = -1
    """Number of cells that run at the same time; -1 for the number of processors."""

    backend: Literal["local", "ray"] = "local"
    """local: processes of this machine. ray: a Ray cluster, at RAY_ADDRESS or else a local one."""

    def __post_init__(self) -> None:
        """Check what can be checked at once."""
        for name in ("games", "algorithms", "rewards"):
            if not getattr(self, name):
                raise InputError(f"{name} must be one at least, got none")
        for game in self.games:
            find_game(game)
        for algorithm in self.algorithms:
            one_of("algorithms", algorithm, tuple(ALGORITHMS))
        at_least("seeds", self.seeds, 1)
        if self.jobs != -1:
            at_least("jobs", self.jobs, 1)

    def cells(self) -> list[TrainConfig]:
        """List the training runs, each once."""
        grid = itertools.product(
            dict.fromkeys(map(full_place, self.games)),
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
                run_folder=self.folder / f"{find_game(game).name}-{algorithm}-{reward}-{seed}",
            )
            for game, algorithm, reward, seed in grid
        ]
