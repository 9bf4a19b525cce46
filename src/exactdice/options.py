"""The options of the commands; those of ``train`` and ``benchmark`` are in ``agents/runs``."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import tyro

from .agents.runs.config import BenchmarkConfig, GameName, Keywords, TrainConfig
from .core import GAMES, InputError
from .sources.reproduce import SOURCES


@dataclass(frozen=True)
class AskedConfig:
    """An agent that a command is about."""

    policy: tyro.conf.Positional[str]
    """Run folder; or, for --game, the name of a policy such as random, a certificate, or a model
    that stable-baselines3 saved."""

    game: GameName | None = None
    """Game of a policy that is no run. Default: Greed."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the environment for a policy that is no run: --env max_score 50."""

    model: Literal["final", "best"] | None = None
    """Which model of a run. Default: final."""

    stochastic: bool = False
    """Let a model draw from its law rather than take its likeliest action."""


@dataclass(frozen=True)
class ScoreConfig(AskedConfig):
    """Score a trained run, or a policy by name, exactly."""

    ceiling: bool = False
    """Also fit a run's network, from new weights, to the optimal policy, and score that: the most
    that learning could make of it. Takes a quarter of a minute."""


@dataclass(frozen=True)
class SolveConfig:
    """Solve a game exactly and print its optimum."""

    game: GameName = "Greed"
    """Game to solve."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the environment: --env max_score 50 sides 6 opponent random seat 1."""

    exact: bool = False
    """Print the value as a fraction, computed with integers."""


#: Words that say what to draw.
What = Annotated[tuple[str, ...], tyro.conf.arg(metavar="[WHAT ...]")]
#: A name in ``SOURCES``, shown as a choice.
SourceName = Annotated[str | None, tyro.conf.arg(metavar="{" + ",".join(SOURCES) + "}")]


@dataclass(frozen=True)
class ReproduceConfig:
    """Print every number and claim of a source beside the exact one, with a verdict, as Markdown.

    The exit code is 0 if every verdict is as recorded, else 1.
    """

    source: tyro.conf.Positional[SourceName] = None
    """Which source."""

    all: tyro.conf.FlagCreatePairsOff[bool] = False
    """Every source, one after the other."""

    def __post_init__(self) -> None:
        """Check that there is one thing to do."""
        if (self.source is None) != self.all:
            raise InputError(f"source must be one of {', '.join(SOURCES)}, or left out with --all")


@dataclass(frozen=True)
class VerifyConfig:
    """Check policy certificates: compute value, optimum and regret anew from their policies.

    The exit code is 0 if all hold, 1 if one does not, 2 if one is missing or cannot be read.
    """

    certificates: tyro.conf.Positional[tuple[Path, ...]]
    """Files; every run folder holds one, certificate.npz."""

    game: GameName | None = None
    """Class of the game if it is one of your own; a certificate holds only its name."""

    def __post_init__(self) -> None:
        """Check that there is something to verify."""
        if not self.certificates:
            raise InputError("certificates must be one file at least, got none")


@dataclass(frozen=True)
class PlotConfig:
    """Draw a chart of a game, of an agent or of training runs into a picture.

    An unknown name gets a list of all charts.
    """

    what: tyro.conf.Positional[What]
    """Run folders, whose exact learning curves are drawn; or the name of a chart, such as
    greed-policy, and what it is of: mistakes RUN, mistakes POLICY, outcomes POLICY, rolls POLICY
    of Greed, critic RUN, leaderboard FOLDER; or gallery, which draws everything, and what is in
    folders that follow."""

    picture: Path | None = None
    """File to write; its ending says the format, such as .png or .svg. Default: learning.png, or
    the name of the chart."""

    game: GameName | None = None
    """Game of an agent that is no run. Default: Greed."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the game: --env max_score 50."""

    folder: Path | None = None
    """Folder for the pictures of the gallery; beside it comes a page that shows them. Default:
    gallery."""

    def __post_init__(self) -> None:
        """Check that there is something to draw, and where."""
        if not self.what:
            raise InputError("what must be run folders, gallery or the name of a chart, got none")
        gallery = self.what[0] == "gallery"
        useless = ("picture", "game", "env") if gallery else ("folder",)
        for option in useless:
            if getattr(self, option):
                kind = "the gallery" if gallery else "a single picture"
                raise InputError(f"{option} must be left out, as it is not for {kind}")


@dataclass(frozen=True)
class ReportConfig(AskedConfig):
    """Write a web page about an agent that needs nothing else: score, mistakes, learning curve."""

    page: Path = Path("report.html")
    """File to write, which ends in .html."""


#: As ``GameName``, of which None is left to be found out.
GameToPlay = Annotated[
    str | None,
    tyro.conf.arg(metavar="{" + ",".join([*GAMES, "FILE.py:CLASS", "MODULE:CLASS"]) + "}"),
]


@dataclass(frozen=True)
class PlayConfig:
    """Play a game against any policy, in the terminal or in the browser."""

    game: tyro.conf.Positional[GameToPlay] = None
    """Game to play. Default: that of the run to play against, else Greed."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the environment: --env max_score 50 seat 1, for moving second."""

    against: str | None = None
    """Policy of the other players: a name such as random, a run folder, a certificate or a saved
    model; several with commas where the game has opponents. Default: the game's own."""

    seed: int | None = None
    """Seed of all dice: the same moves with the same seed are the same game. Default: a new one,
    which is printed."""

    coach: bool = False
    """Say after each move what it was worth, which was the best and what it gave away; at the end,
    what was skill and what was luck."""

    save: Path | None = None
    """File to save in; it must not exist, and goes when the game is over. Default:
    exactdice-<game>.json here."""

    resume: Path | None = None
    """Saved game to go on with, with its own options."""

    web: bool = False
    """Play in the browser, served to this machine alone."""

    port: int = 8421
    """Port for the browser."""

    def __post_init__(self) -> None:
        """Check that the options go together."""
        if self.resume is not None:
            for name in ("game", "env", "against", "seed"):
                if getattr(self, name) not in (None, {}):
                    raise InputError(f"{name} must be left out, as a saved game has its own")
        if self.save is not None and os.path.lexists(self.save):
            raise InputError(f"save must be a file that does not exist, got {self.save}")
        if self.save is not None and not self.save.parent.is_dir():
            raise InputError(f"save must be in a folder that exists, got {self.save}")
        if self.web and self.save is not None:
            raise InputError("save must be left out, as the browser keeps its games")
        if not 0 < self.port < 2**16:
            raise InputError(f"port must be from 1 to {2**16 - 1}, got {self.port}")


Command = (
    Annotated[TrainConfig, tyro.conf.subcommand("train")]
    | Annotated[ScoreConfig, tyro.conf.subcommand("score")]
    | Annotated[VerifyConfig, tyro.conf.subcommand("verify")]
    | Annotated[SolveConfig, tyro.conf.subcommand("solve")]
    | Annotated[ReproduceConfig, tyro.conf.subcommand("reproduce")]
    | Annotated[BenchmarkConfig, tyro.conf.subcommand("benchmark")]
    | Annotated[PlotConfig, tyro.conf.subcommand("plot")]
    | Annotated[ReportConfig, tyro.conf.subcommand("report")]
    | Annotated[PlayConfig, tyro.conf.subcommand("play")]
)
