"""The command line: ``exactdice train | score | verify | solve | reproduce | benchmark | ...``.

What a command needs is imported when it runs: most need gymnasium, numpy, tyro and rich alone.
"""

import contextlib
import io
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Union

from .core import InputError, sizes
from .exit_codes import BROKEN_PIPE, INTERRUPTED

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

    from .commands import COMMANDS

    options = [
        Annotated[command.options, tyro.conf.subcommand(name)] for name, command in COMMANDS.items()
    ]
    any_options: Any = Union[tuple(options)]  # noqa: UP007  of as many as there are
    names = [word.partition("=")[0].replace("_", "-") for word in words if word.startswith("--")]
    names = [name.replace("--no-", "--", 1) for name in names]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:  # of which tyro would take the last
        raise InputError(f"{twice[0]} must be given once, got it {names.count(twice[0])} times")
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(any_options, prog="exactdice", args=words)
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


def _run(options: Any) -> int:
    sizes.limit_factor()  # a variable that is no limit is refused whatever the command needs
    from .commands import COMMANDS

    (run,) = (command.run for command in COMMANDS.values() if command.options is type(options))
    return run(options)
