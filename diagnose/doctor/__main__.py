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
    world = next((World(each) for each in PROBES if each.name == options.get("probe")), None)
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
        trace = _of_script(error, script)
        if world is not None:
            calls = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(trace)]
            own = [f"{name}:{line}" for name, line in calls if is_of_program(name)]
            told = f"the program ended with {found.ended}", own[-1] if own else ""
            found.symptoms.append(Symptom("error", None, *told, world.probe.name))
        traceback.print_exception(error.with_traceback(trace))  # as without the doctor
        sys.exit(1)
    finally:
        if world is not None:
            _read(found, examination, world, options.get("gamma"))
        write_file(file, json.dumps(found.as_dict()).encode())


def _of_script(error: BaseException, script: str) -> Any:
    """Return the traceback of an error from the script on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != script:
        trace = trace.tb_next
    return trace or error.__traceback__


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
    early = story.trace.moves < (examination.stop or 0) or examination.rounds < 2 * PARTS
    early |= examination.habits.waits  # for new targets
    for each in readings(world, story, examination.network, gamma):
        if early and each.verdict == "wrong":
            each = each._replace(verdict="not yet")
        found.readings.append(each._asdict())
        numbers = f"the critic says {each.said:.3f}, the exact value is {each.exact:.3f}"
        words = f"{world.probe.words}: in state {each.state} {numbers}"
        if each.verdict == "wrong" and world.probe.cut:
            found.notes.append(f"{words}: a cut game counts as ended")
        elif each.verdict == "wrong":
            found.symptoms.append(Symptom("critic", None, words, "", world.probe.name))
    if not found.readings:
        found.unchecked["probes"] = "no network was seen that gives values"


if __name__ == "__main__":
    main()
