"""The command line: ``exactdice train | score | verify | solve | reproduce | benchmark | ...``.

What a command needs is imported when it runs: most need gymnasium, numpy, tyro and rich alone.
"""

import contextlib
import io
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .baselines import CertificateError, solve, verify
from .baselines.scoring.certificate import printable
from .core import InputError, sizes
from .envs import find_game
from .sources.reproduce import SOURCES, reproduce

if TYPE_CHECKING:
    from .options import (
        PlayConfig,
        PlotConfig,
        ReportConfig,
        ScoreConfig,
        SolveConfig,
        VerifyConfig,
    )
    from .play.record import Record

INTERRUPTED = 130  # the exit code of a command that was ended by Ctrl-C
BROKEN_PIPE = 141  # and of one whose reader left
#: The extra of the package that brings a library.
EXTRAS = {
    "flask": "web",
    "matplotlib": "look",
    "plotly": "look",
    "rich": "cli",
    "tyro": "cli",
} | dict.fromkeys(
    (
        "filelock",
        "pydantic",
        "sb3_contrib",
        "scipy",
        "stable_baselines3",
        "torch",
        "yaml",
    ),
    "agents",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; a user's mistake is one line on stderr and exit code 2."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a console that has not every character
            stream.reconfigure(errors="backslashreplace")
    try:
        with _saying_what_to_install(words):
            code = _run(_parse(words))
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


def _open_streams() -> None:
    """Give a process that began without standard streams, as some services do, empty ones."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nothing = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115  for good
            setattr(sys, name, nothing)


@contextlib.contextmanager
def _saying_what_to_install(words: list[str]) -> Iterator[None]:
    """Name the extra that a command needs and that is not there."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in EXTRAS:
            raise
        extra = EXTRAS[missing]
        command = "the command line" if extra == "cli" or not words else words[0]
        raise InputError(
            f"{command} needs more libraries: pip install 'exactdice[{extra}]'"
        ) from None


def _parse(words: list[str]) -> Any:
    """Read the options; what ours refuse is said in one line, and not in tyro's box."""
    import tyro

    from .options import Command

    names = [word.partition("=")[0].replace("_", "-") for word in words if word.startswith("--")]
    names = [name.replace("--no-", "--", 1) for name in names]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:  # of which tyro would take the last
        raise InputError(f"{twice[0]} must be given once, got it {names.count(twice[0])} times")
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(Command, prog="exactdice", args=words)
    except SystemExit as end:
        cause: BaseException | None = end
        while cause is not None and not isinstance(cause, InputError):
            cause = cause.__context__
        if cause is not None:
            said.truncate(0)
            raise cause from None
        raise
    finally:
        print(said.getvalue(), end="", file=sys.stderr)


def _run(command: Any) -> int:
    sizes.limit_factor()  # a variable that is no limit is refused whatever the command needs
    from .agents.runs.config import BenchmarkConfig, TrainConfig
    from .options import (
        PlayConfig,
        PlotConfig,
        ReportConfig,
        ScoreConfig,
        SolveConfig,
        VerifyConfig,
    )

    if isinstance(command, TrainConfig):
        from .agents.runs.train import train

        return INTERRUPTED if train(command) is None else 0
    if isinstance(command, ScoreConfig):
        return _score(command)
    if isinstance(command, VerifyConfig):
        return _verify(command)
    if isinstance(command, SolveConfig):
        return _solve(command)
    if isinstance(command, BenchmarkConfig):
        from .agents.board.benchmark import benchmark
        from .look.board import write

        return 1 if benchmark(command, write=write) else 0
    if isinstance(command, PlotConfig):
        return _plot(command)
    if isinstance(command, ReportConfig):
        return _report(command)
    if isinstance(command, PlayConfig):
        return _play(command)
    return reproduce(list(SOURCES) if command.source is None else [command.source])


def _score(command: "ScoreConfig") -> int:
    """Score a model of a run folder, or a policy by its name or from a file."""
    from rich.console import Console

    from .agents.runs.asked import Asked
    from .agents.runs.report import report

    asked = Asked(command.policy, command.game, command.env, command.model, command.stochastic)
    if not asked.is_run:
        asked.refuse("a run folder", ceiling=command.ceiling)
    report(asked.score(), Console())
    if command.ceiling:
        from .agents.learners.ceiling import ceiling
        from .agents.runs.folders import load_model

        model, env = load_model(Path(command.policy), command.model or "final")
        highest = ceiling(model, env.task)
        print(
            "the ceiling, the same network fitted to the optimal policy: "
            f"regret {highest.regret:.6f}, normalised score {highest.normalized:.6f}"
        )
    return 0


def _plot(command: "PlotConfig") -> int:
    """Draw one picture, or the gallery."""
    from .look.charts import format_of
    from .look.names import NAMES, picture

    name, *others = command.what
    if name == "gallery":
        from .look.gallery import write_gallery

        folder = command.folder or Path("gallery")
        print(f"{len(write_gallery(folder, others))} pictures drawn in {folder}")
        return 0
    path = command.picture or Path(f"{name if name in NAMES else 'learning'}.png")
    format_of(path)  # before anything is computed
    shown = picture(command.what, command.game, command.env)
    from .look.drawing import draw

    draw(shown, path)
    print(f"{shown.says}\ndrawn in {path}")
    return 0


def _report(command: "ReportConfig") -> int:
    """Write the page of an agent."""
    from .agents.runs.asked import Asked
    from .look.report import write_report

    asked = Asked(command.policy, command.game, command.env, command.model, command.stochastic)
    score = write_report(asked, command.page)
    print(
        f"{score.policy}: normalised score {score.normalized:.6f}, regret {score.regret:.6f}\n"
        f"written in {command.page}; open it in a browser"
    )
    return 0


def _verify(command: "VerifyConfig") -> int:
    """Check every file, and go on after one that does not hold or is not there."""
    code = 0
    if command.game is not None:
        find_game(command.game)
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
                f"{printable(str(path))}: holds, value {score.value:.9f}, "
                f"optimum {score.optimum:.9f}, regret {score.regret:.9f}, "
                f"normalised score {score.normalized:.6f}: "
                f"{printable(score.policy)} in {printable(score.task.words)}"
            )
    return code


def _solve(command: "SolveConfig") -> int:
    from .agents.runs.config import task_from_options

    task = task_from_options(command.game, command.env)
    solution = solve(task, exact=command.exact)
    within = f", right within {solution.error_bound:.1e}" if solution.error_bound else ""
    print(f"{task.words}: optimal value {solution.value}{within}")
    likeliest = task.game.observe(np.argmax(task.initial, keepdims=True), task.seat)[0]
    actions = solution.optimal_actions(likeliest)
    moves = " or ".join(task.game.describe_move(likeliest, int(action)) for action in actions)
    print(f"likeliest first position: {task.game.describe(likeliest)}; optimal play {moves}")
    return 0


def _play(command: "PlayConfig") -> int:
    record = _record(command)
    if command.web:
        from .play.web import serve

        serve(record, command.port)
        return 0
    from .play.terminal import play

    return 0 if play(record, command.save or command.resume) else INTERRUPTED


def _record(command: "PlayConfig") -> "Record":
    """Give the game that is to be played."""
    from .play.record import Record, new_seed, options_of_run, read_record

    if command.resume is not None:
        return read_record(command.resume, coach=command.coach)
    seed = new_seed() if command.seed is None else command.seed
    game, env = "Greed" if command.game is None else command.game, command.env
    if command.game is None and command.against and Path(command.against, "config.json").is_file():
        game, sizes = options_of_run(Path(command.against))
        env = sizes | env
    return Record(game, env, command.against, seed, command.coach)
