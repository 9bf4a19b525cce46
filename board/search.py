"""The options of ``exactdice tune``."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from ..agents.algorithms import ALGORITHMS, check_self_play
from ..agents.runs.options import GameName, Jobs, OneAlgorithm, Place, Positive, TrackName, checked
from ..agents.tracks import TRACKS, Track
from ..core import InputError, one_of
from ..core.words import either


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
        for game in self.games or ():
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
