"""Scripts, run in processes of their own under the eyes of the doctor.

The process of a script writes what was found into a file when the script has ended, in whatever
way; its standard streams and its exit code are the script's own.
"""

import contextlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...core import InputError
from ...core.words import printable
from .diagnosis import Diagnosis, Symptom
from .examination import Examination
from .probes import PROBES, World, readings
from .tap import Enough

#: Most seconds that a script may take in a probe.
LONGEST = 120


def examine(script: Path, arguments: Sequence[str], budget: float = 0.1) -> tuple[Diagnosis, int]:
    """Run a script as it stands; return what was found, and its exit code.

    Raises:
        InputError: if there is no such file.
    """
    _require(script)
    found, code = _run(script, arguments, {"budget": budget})
    if found is None:
        found = Diagnosis(ended=f"exit code {code}")
        found.unchecked["everything"] = (
            "the process of the script ended before the doctor could write"
        )
    return found, code


def examine_in_probes(
    script: Path, arguments: Sequence[str], moves: int, gamma: float | None
) -> Iterator[tuple[str, Diagnosis]]:
    """Run a script once in each probe, for a number of moves; yield what was found in each.

    Args:
        script: the file.
        arguments: of the script.
        moves: after which it is stopped.
        gamma: the discount of the script; None if it is not known: the probe "later" tells it.
    """
    _require(script)
    for probe in PROBES:
        options = {"probe": probe.name, "moves": moves, "gamma": gamma}
        found, code = _run(script, arguments, options)
        if found is None:
            found = Diagnosis(ended=f"exit code {code}")
        yield probe.name, found


def _require(script: Path) -> None:
    if not script.is_file():
        raise InputError(f"the script must be a file, got {printable(str(script))}")


def _run(
    script: Path, arguments: Sequence[str], options: dict[str, Any]
) -> tuple[Diagnosis | None, int]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "found.json"
        words = [sys.executable, "-m", __package__, str(file), json.dumps(options), str(script)]
        quiet: dict[str, Any] = {}
        if "probe" in options:
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            quiet |= {"env": os.environ | {"OMP_NUM_THREADS": "1"}, "timeout": LONGEST}
        try:
            done = subprocess.run([*words, *arguments], check=False, **quiet)  # noqa: S603  the user's
            code = done.returncode
        except subprocess.TimeoutExpired:
            code = 0
        if not file.is_file():
            return None, code
        return Diagnosis.from_dict(json.loads(file.read_text(encoding="utf-8"))), code


def main() -> None:
    """Run a script in this process, and write what was found; ``_run`` gives the words."""
    file, options, script = Path(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]
    sys.argv = sys.argv[3:]
    sys.path[0] = str(Path(script).resolve().parent)
    probe = next((each for each in PROBES if each.name == options.get("probe")), None)
    world = None if probe is None else World(probe)
    examination = Examination(options.get("budget", 1.0), options.get("moves"), world)
    found = examination.diagnosis
    try:
        with examination.open(), contextlib.suppress(Enough):
            runpy.run_path(script, run_name="__main__")
    except BaseException as error:
        if not (isinstance(error, SystemExit) and error.code in (0, None)):
            found.ended = f"{type(error).__name__}: {error}"
        if world is not None and isinstance(error, Exception):
            words = f"the program ended with {type(error).__name__}: {error}"
            found.symptoms.append(Symptom("error", None, words, _line(error), world.probe.name))
        raise
    finally:
        if world is not None:
            _read(found, examination, world, options.get("gamma"))
        file.write_text(json.dumps(found.as_dict()), encoding="utf-8")


def _line(error: BaseException) -> str:
    """Return the file and the line of the program at which an error was raised."""
    trace, found = error.__traceback__, ""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if "/exactdice/" not in name and "site-packages" not in name and not name.startswith("<"):
            found = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found


def _read(found: Diagnosis, examination: Examination, world: World, gamma: float | None) -> None:
    """Add the values of the critic in a probe to what was found."""
    story = examination.story
    if story is None:
        found.unchecked["probes"] = "the program made no move"
        return
    wrong = []
    for each in readings(world, story, examination.critic, gamma):
        found.readings.append(each._asdict())
        wrong += [each] * (each.verdict == "wrong")
    if not found.readings:
        found.unchecked["probes"] = "no network was seen that gives values"
    for each in wrong:
        numbers = f"the critic says {each.said:.3f}, the exact value is {each.exact:.3f}"
        words = f"{world.probe.words}: in state {each.state} {numbers}"
        if world.probe.cut:
            found.notes.append(f"{words}: a cut game counts as ended")
        else:
            found.symptoms.append(Symptom("critic", None, words, "", world.probe.name))
