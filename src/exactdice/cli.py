"""The command line: ``exactdice train | score | verify | solve | reproduce | benchmark | plot``."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

try:
    import tyro
except ModuleNotFoundError:
    sys.exit("error: the command line needs more libraries: pip install 'exactdice[agents]'")

from .agents.config import BenchmarkConfig, GameName, TrainConfig, task_from_options
from .baselines import CertificateError, is_policy_name, policy_names, solve, verify
from .baselines.certificate import printable
from .baselines.reproduce import SOURCES, reproduce
from .games import InputError

INTERRUPTED = 130  # the exit code of a command that was ended by Ctrl-C
BROKEN_PIPE = 141  # and of one whose reader left


@dataclass(frozen=True)
class ScoreConfig:
    """Score a trained run, or a policy by name, exactly."""

    policy: tyro.conf.Positional[str]
    """Run folder, or the name of a policy of --game, such as random."""

    game: GameName = "Greed"
    """Game of a policy given by name."""

    env: dict[str, int | str] = field(default_factory=dict)
    """Keyword arguments of the environment for a policy given by name: --env max_score 50."""

    model: Literal["final", "best"] = "final"
    """Which model of a run."""

    stochastic: bool = False
    """Let a model draw from its law rather than take its likeliest action."""

    ceiling: bool = False
    """Also fit a run's network, from new weights, to the optimal policy, and score that: the most
    that learning could make of it. Takes a quarter of a minute."""


@dataclass(frozen=True)
class SolveConfig:
    """Solve a game exactly and print its optimum."""

    game: GameName = "Greed"
    """Game to solve."""

    env: dict[str, int | str] = field(default_factory=dict)
    """Keyword arguments of the environment: --env max_score 50 sides 6 opponent random seat 1."""

    exact: bool = False
    """Print the value as a fraction, computed with integers."""


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

    def __post_init__(self) -> None:
        """Check that there is something to verify."""
        if not self.certificates:
            raise InputError("certificates must be one file at least, got none")


@dataclass(frozen=True)
class PlotConfig:
    """Draw the exact learning curves of runs into one picture."""

    runs: tyro.conf.Positional[tuple[Path, ...]]
    """Run folders."""

    picture: Path = Path("learning.png")
    """File to write; its ending says the format, such as .png or .svg."""

    def __post_init__(self) -> None:
        """Check that there is something to draw."""
        if not self.runs:
            raise InputError("runs must be one run folder at least, got none")


Command = (
    Annotated[TrainConfig, tyro.conf.subcommand("train")]
    | Annotated[ScoreConfig, tyro.conf.subcommand("score")]
    | Annotated[VerifyConfig, tyro.conf.subcommand("verify")]
    | Annotated[SolveConfig, tyro.conf.subcommand("solve")]
    | Annotated[ReproduceConfig, tyro.conf.subcommand("reproduce")]
    | Annotated[BenchmarkConfig, tyro.conf.subcommand("benchmark")]
    | Annotated[PlotConfig, tyro.conf.subcommand("plot")]
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; a user's mistake is one line on stderr and exit code 2."""
    try:
        command = tyro.cli(Command, prog="exactdice", args=arguments)
        code = _run(command)
        sys.stdout.flush()  # within reach of the handlers below
        sys.exit(code)
    except BrokenPipeError:  # whoever reads the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(BROKEN_PIPE)
    except (InputError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _run(command: Any) -> int:
    if isinstance(command, TrainConfig):
        from .agents.train import train

        return INTERRUPTED if train(command) is None else 0
    if isinstance(command, ScoreConfig):
        return _score(command)
    if isinstance(command, VerifyConfig):
        return _verify(command)
    if isinstance(command, SolveConfig):
        return _solve(command)
    if isinstance(command, BenchmarkConfig):
        from .agents.benchmark import benchmark

        return 1 if benchmark(command) else 0
    if isinstance(command, PlotConfig):
        from .agents.plot import plot_runs

        plot_runs(command.runs, command.picture)
        print(f"drawn in {command.picture}")
        return 0
    return reproduce(list(SOURCES) if command.source is None else [command.source])


def _score(command: ScoreConfig) -> int:
    from rich.console import Console

    from . import score
    from .agents.train import report

    if Path(command.policy).is_dir():
        import torch

        from .agents.runs import load_model

        torch.set_num_threads(1)  # small networks only lose time with more
        model, env = load_model(Path(command.policy), command.model)
        result = score(model, env, deterministic=not command.stochastic)
        report(result, Console())
        if command.ceiling:
            from .agents.ceiling import ceiling

            highest = ceiling(model, env.task)
            print(
                "the ceiling, the same network fitted to the optimal policy: "
                f"regret {highest.regret:.6f}, normalised score {highest.normalized:.6f}"
            )
    else:
        if command.ceiling:
            raise InputError("ceiling needs a run folder, as a policy by name has no network")
        task = task_from_options(command.game, command.env)
        if not is_policy_name(task.game, command.policy):
            known = ", ".join(policy_names(task.game))
            raise InputError(
                f"policy must be a run folder or one of {known}, got {command.policy!r}"
            )
        report(score(command.policy, task), Console())
    return 0


def _verify(command: VerifyConfig) -> int:
    """Check every file, and go on after one that does not hold or is not there."""
    code = 0
    for path in command.certificates:
        try:
            score = verify(path)
        except CertificateError as error:
            code = max(code, 1)
            print(f"error: {error}", file=sys.stderr)
        except OSError as error:
            code = 2
            print(f"error: {printable(str(error))}", file=sys.stderr)
        else:
            print(
                f"{printable(str(path))}: holds. {printable(repr(score.policy))} in "
                f"{printable(repr(score.task))}: value {score.value:.9f}, "
                f"optimum {score.optimum:.9f}, regret {score.regret:.9f}, "
                f"normalised score {score.normalized:.6f}"
            )
    return code


def _solve(command: SolveConfig) -> int:
    task = task_from_options(command.game, command.env)
    solution = solve(task, exact=command.exact)
    print(f"{task!r}: optimal value {solution.value}")
    likeliest = task.game.observe(np.argmax(task.initial, keepdims=True), task.seat)[0]
    actions = solution.optimal_actions(likeliest)
    words = " or ".join(task.game.describe_action(int(action)) for action in actions)
    print(f"at {task.game.describe(likeliest)}: {words}")
    return 0
