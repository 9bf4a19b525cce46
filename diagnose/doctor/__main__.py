"""The process of a script that the doctor examines (see ``runs``)."""

import contextlib
import json
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

from ...core import write_file
from .diagnosis import Diagnosis, Symptom
from .examination import Examination
from .probes import PARTS, PROBES, World, readings
from .program import is_of_program
from .tap import Enough

#: Seconds that imports of the doctor take beside those of a script.
START = 0.4


def main() -> None:
    """Run a script in this process, and write what was found; ``runs`` gives the words."""
    file, options, script = Path(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]
    sys.argv = sys.argv[3:]
    sys.path[0] = str(Path(script).resolve().parent)
    probe = next((each for each in PROBES if each.name == options.get("probe")), None)
    world = None if probe is None else World(probe)
    budget, declared = options.get("budget", 1.0), options.get("declare")
    started = START + options.get("started", 0.0)
    examination = Examination(budget, options.get("moves"), world, declared, started)
    found = examination.diagnosis
    try:
        with examination.watching(), contextlib.suppress(Enough):
            runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code not in (0, None):
            found.ended = f"SystemExit: {end.code}"
        raise
    except BaseException as error:
        found.ended = f"{type(error).__name__}: {error}"
        frames = _of_script(error, script)
        if world is not None:
            words = f"the program ended with {found.ended}"
            found.symptoms.append(Symptom("error", None, words, frames[-1], world.probe.name))
        traceback.print_exception(error.with_traceback(frames[0]))  # as without the doctor
        sys.exit(1)
    finally:
        if world is not None:
            _read(found, examination, world, options.get("gamma"))
        write_file(file, json.dumps(found.as_dict()).encode())


def _of_script(error: BaseException, script: str) -> tuple[Any, str]:
    """Return the traceback of an error from the script on, and the last line of the program."""
    trace, begin, last = error.__traceback__, None, ""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        begin = trace if begin is None and name == script else begin
        if begin is not None and is_of_program(name):
            last = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return begin or error.__traceback__, last


def _read(found: Diagnosis, examination: Examination, world: World, gamma: float | None) -> None:
    """Add the values of the critic in a probe to what was found."""
    story = examination.story
    if story is None:
        found.unchecked["probes"] = "the program made no move"
        return
    if world.shown is None:
        found.unchecked["probes"] = "the program's vector has no environments in this process"
        return
    # A program that has come to its end may have let its learning rate fall to 0 before it learned.
    moves = 0 if examination.tap.trace is None else examination.tap.trace.moves
    early = moves < (examination.stop or 0) or examination.rounds < 2 * PARTS
    early |= examination.habits.waits  # for new targets
    wrong = []
    for each in readings(world, story, examination.network, gamma):
        if early and each.verdict == "wrong":
            each = each._replace(verdict="not yet")
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


if __name__ == "__main__":
    main()
