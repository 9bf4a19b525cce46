"""The command line: ``exactdice train | score | verify | audit | diagnose | solve | ...``.

A command imports its libraries when it runs; most commands need gymnasium, numpy, tyro and rich.
"""

import contextlib
import io
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from . import __version__
from .core import InputError, sizes
from .core.words import printable

#: Exit codes besides 0 (success), 1 (a finding, such as a false claim) and 2 (a user's mistake).
FAILED = 70  # an error of this package or of a library, with a traceback; EX_SOFTWARE of sysexits.h
INTERRUPTED = 130  # Ctrl-C ended the command
BROKEN_PIPE = 141  # the reader of the output closed it
#: The extra of the package that installs a library.
EXTRAS = {
    "flask": "web",
    **dict.fromkeys(("docstring_parser", "pydantic", "rich", "tyro"), "cli"),
    **dict.fromkeys(("jinja2", "matplotlib", "yaml"), "look"),
    **dict.fromkeys(
        ("filelock", "optuna", "sb3_contrib", "scipy", "stable_baselines3", "torch"), "agents"
    ),
    "pebble": "entries",
}
#: The extra of the commands that need it whatever they are asked; it has all of look and entries.
NEEDED = {"board": "entries", "submit": "entries"} | dict.fromkeys(
    ("benchmark", "diagnose", "doctor", "play", "train", "tune"), "agents"
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; a user's mistake prints one line on stderr, exit code 2.

    Any other error prints a traceback, exit code 70.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    _open_streams()
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # whose encoding may lack what is typed or printed
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            with _saying_what_to_install(words):
                command = _parse(words)
                sizes.limit_factor()  # refuses a wrong EXACTDICE_LIMIT for every command
                code = command()
        finally:
            sys.stdout.flush()  # so that the handlers below catch its errors
        sys.exit(code or 0)
    except (BrokenPipeError, SystemExit) as end:
        if isinstance(end, SystemExit) and not isinstance(end.__context__, BrokenPipeError):
            raise
        # The reader of the output has closed it; rich makes an exit of its own of the error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(BROKEN_PIPE)
    except (InputError, OSError) as error:
        said = str(error)
        if isinstance(error, OSError) and error.strerror:  # the path and the reason, no number
            place = "" if error.filename is None else f"{printable(str(error.filename))}: "
            said = f"{place}{error.strerror.lower()}"
        print(f"error: {said}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception:  # no finding, which Python's own exit code 1 would say
        traceback.print_exc()
        sys.exit(FAILED)


def _open_streams() -> None:
    """Open empty standard streams if the process has none, as a service may."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nothing = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115  stays open
            setattr(sys, name, nothing)


@contextlib.contextmanager
def _saying_what_to_install(words: list[str]) -> Iterator[None]:
    """Turn the error of a missing library into the name of the extra that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in EXTRAS:
            raise
        extra = EXTRAS[missing]
        if extra in ("look", "entries"):
            extra = NEEDED.get(words[0], extra)
        command = "the command line" if extra == "cli" or not words else words[0]
        line = f"pip install 'exactdice[{extra}]'"
        raise InputError(f"{command} needs more libraries: {line}") from None


def _parse(words: list[str]) -> Callable[[], int | None]:
    """Parse a command with its options; an ``InputError`` replaces the box that tyro prints."""
    if words == ["--version"]:  # which needs no libraries
        print(f"exactdice {__version__}")
        sys.exit(0)
    from .commands import parse

    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return parse(words)
    except SystemExit as end:
        cause: BaseException | None = end
        while cause is not None and not isinstance(cause, InputError):
            cause = cause.__context__
        if cause is not None:
            said.truncate(0)
            raise cause from None
        sys.exit(end.code or 0)
    finally:
        print(said.getvalue(), end="", file=sys.stderr)
