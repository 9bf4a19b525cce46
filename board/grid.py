"""The options of a benchmark, a grid of training runs, and of a search for hyperparameters."""

import itertools
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from ..agents.algorithms import ALGORITHMS, check_self_play
from ..agents.runs.config import TrainConfig
from ..agents.runs.options import (
    AlgorithmName,
    GameName,
    Jobs,
    OneAlgorithm,
    Place,
    Positive,
    TrackName,
    checked,
)
from ..core import GAMES, InputError, one_of
from ..core.positions import has_few_states
from ..core.words import either
from ..envs import RewardMode, find_game, full_place
from .ladders import Ladder, LadderWords, find_ladder
from .tracks import TRACKS, Track

#: The track on which the rungs of a ladder are trained, if no other is named.
TRACK_OF_LADDERS = "exactdice-100k"
SEEDS = 5
#: The algorithms that a benchmark runs by default.
BENCHMARKED = ("ppo", "dqn", "qlearning")


@checked
class BenchmarkConfig:
    """Train every game x algorithm x reward x seed, and write the leaderboard of the folder.

    Call it again to continue a benchmark that was stopped or killed, or to add runs to it.
    """

    games: tuple[GameName, ...] | None = None
    """Games to play. Default: those of the track, or all whose agents can be scored."""

    algorithms: tuple[AlgorithmName, ...] = BENCHMARKED
    """Learning algorithms, by default those whose hyperparameters are tuned."""

    rewards: tuple[RewardMode, ...] = ("outcome",)
    """Reward modes; a track has the reward outcome only."""

    track: TrackName | None = None
    """Track of the benchmark: so many moves, and exact scores at its marks."""

    ladder: LadderWords | None = None
    """Ladder of the benchmark: one game at growing sizes, on exactdice-100k or the track. A name,
    or a game, a keyword and its values: --ladder examples/pig.py:Pig target 10 20 50."""

    seeds: Positive | None = None
    """Number of seeds; the seeds are 0, 1, ... Default: those of the track, or 5."""

    steps: Positive | None = None
    """Moves to train for. Default: as tuned, or those of the track."""

    folder: Place | None = None
    """Folder of the runs and of the leaderboard, with one track. Default: runs/ and the name of the
    ladder or of the track, or else runs/benchmark."""

    jobs: Jobs = -1
    """Number of cells that run at the same time; -1 for the number of processors."""

    backend: Literal["local", "ray"] = "local"
    """local: processes of this machine. ray: a Ray cluster, at RAY_ADDRESS or else a local one; its
    machines must share the folder."""

    def __post_init__(self) -> None:
        """Check what can be checked at once, and find the defaults that depend on other options."""
        for name in ("games", "algorithms", "rewards"):
            if getattr(self, name) == ():
                raise InputError(f"{name} must be one at least, got none")
        games = [find_game(game).name for game in self.games or ()]
        if self._ladder is not None and self.games:
            raise InputError(
                f"games must be left to the ladder {self._ladder.name}, got {', '.join(self.games)}"
            )
        found: dict[str, Any] = {"track": self.track or (self._ladder and TRACK_OF_LADDERS)}
        track = found["track"] and TRACKS[found["track"]]
        for game in games if track else ():
            one_of("games", game, track.games)
        if self._ladder is None:  # which has the games
            scored = (name for name, game in GAMES.items() if has_few_states(game()))
            found["games"] = self.games or tuple(map(track.place, track.games) if track else scored)
        found["seeds"] = self.seeds or (track.seeds if track else SEEDS)
        name = self._ladder.name if self._ladder else self.track or "benchmark"
        folder = self.folder or Path("runs", name)
        # The machines of a cluster have working folders of their own.
        found["folder"] = folder.absolute() if self.backend == "ray" else folder
        for option, value in found.items():
            object.__setattr__(self, option, value)

    @cached_property
    def _ladder(self) -> Ladder | None:
        """The ladder, made once, as all its tasks are made to check it; None without one."""
        return None if self.ladder is None else find_ladder(self.ladder)

    @property
    def place(self) -> Path:
        """The folder of the runs and of the leaderboard."""
        assert self.folder is not None
        return self.folder

    def _tasks(self) -> list[tuple[str, str, Mapping[str, Any]]]:
        """List the tasks: the beginning of a cell's name, the game, keywords of the environment."""
        if self._ladder is not None:
            game = self._ladder.game
            name = find_game(game).name
            return [(f"{name}-{label}", game, keywords) for label, keywords in self._ladder.rungs]
        games = dict.fromkeys(map(full_place, self.games or ()))
        own: Mapping[str, Any] = {} if self.track is None else TRACKS[self.track].keywords
        names = [find_game(game).name for game in games]
        return [(name, game, own.get(name, {})) for name, game in zip(names, games, strict=True)]

    def cells(self) -> list[TrainConfig]:
        """List the training runs, each once; on a track of self-play, all learn by self-play.

        Algorithms that cannot are left out there if they are given by default.
        """
        self_play = self.track is not None and TRACKS[self.track].self_play
        algorithms = [
            name
            for name in dict.fromkeys(self.algorithms)
            if not self_play or self.algorithms != BENCHMARKED or ALGORITHMS[name].plays_itself
        ]
        grid = itertools.product(
            self._tasks(), algorithms, dict.fromkeys(self.rewards), range(self.seeds or 0)
        )
        return [
            TrainConfig(
                game=game,
                env=dict(keywords),
                algorithm=algorithm,
                track=self.track,
                reward=reward,
                seed=seed,
                steps=self.steps,
                self_play=self_play,
                run_folder=self.place / f"{name}-{algorithm}-{reward}-{seed}",
            )
            for (name, game, keywords), algorithm, reward, seed in grid
        ]


@checked
class TuneConfig:
    """Search for hyperparameters of an algorithm on a track: one set for all its games.

    Call it again to continue a search that was stopped or killed; call it several times at once,
    on other machines with --storage, to search faster.
    """

    track: TrackName = "exactdice-100k"
    """Track of the benchmark, which gives the moves and the games."""

    algorithm: OneAlgorithm = "ppo"
    """Learning algorithm, a name in ``ALGORITHMS``."""

    trials: Positive = 50
    """Number of sets of hyperparameters to try in all, those of earlier calls included."""

    games: tuple[GameName, ...] | None = None
    """Games that the hyperparameters are for. Default: all games of the track together."""

    begin_with: Place | None = None
    """File of hyperparameters that are the first trial, such as those set by hand, or found on a
    track of fewer moves. It is trained as it is, even if its values are not in the ranges."""

    seed: Annotated[int, Field(ge=0)] = 0
    """Seed of the search. With one job, the same seed gives the same trials."""

    folder: Place | None = None
    """Folder of the search and of what it finds. Default: runs/tune/<track>-<algorithm>."""

    storage: str | None = None
    """Address of a database that keeps the trials, such as postgresql://HOST/NAME, which machines
    can share. Default: search.db in the folder."""

    jobs: Jobs = -1
    """Number of trials that run at the same time; -1 for the number of processors."""

    backend: Literal["local", "ray"] = "local"
    """local: processes of this machine. ray: a Ray cluster, at RAY_ADDRESS or else a local one; its
    machines must share the storage."""

    def __post_init__(self) -> None:
        if self.rules.self_play:
            check_self_play(self.algorithm)
        if ALGORITHMS[self.algorithm].space is None:
            known = [name for name, each in ALGORITHMS.items() if each.space is not None]
            raise InputError(
                f"algorithm must have a search space, {either(known)}, got {self.algorithm}"
            )
        if self.games is not None and not self.games:
            raise InputError("games must be one at least, got none")
        if self.games is not None:
            games = tuple(find_game(game).name for game in self.games)
            object.__setattr__(self, "games", games)
            for game in games:
                one_of("games", game, self.rules.games)
        folder = self.folder or Path("runs", "tune", f"{self.track}-{self.algorithm}")
        object.__setattr__(self, "folder", folder.absolute())  # the same on every machine

    @property
    def rules(self) -> Track:
        """The track."""
        return TRACKS[self.track]

    @property
    def place(self) -> Path:
        """The folder."""
        assert self.folder is not None
        return self.folder

    @property
    def chosen_games(self) -> tuple[str, ...]:
        """The games of the search, each once, in the order of the track."""
        wanted = self.games or self.rules.games
        return tuple(game for game in self.rules.games if game in wanted)

    def identity(self) -> dict[str, Any]:
        """Return the options that determine the trials of a search: all but their number."""
        return {
            "track": self.track,
            "version": self.rules.version,
            "algorithm": self.algorithm,
            "games": ", ".join(self.chosen_games),
            "seed": self.seed,
        }
