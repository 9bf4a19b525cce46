"""Scripts, run in processes of their own under the eyes of the doctor.

The process of a script writes what was found into a file when the script has ended, in whatever
way; its standard streams and its exit code are the script's own.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...core import InputError
from ...core.words import printable
from .diagnosis import Diagnosis
from .program import Declared

#: Most seconds that a script may take in a probe.
LONGEST = 120


def examine(
    script: Path,
    arguments: Sequence[str],
    budget: float = 0.1,
    declare: Mapping[str, str] | None = None,
) -> tuple[Diagnosis, int]:
    """Run a script as it stands; return what was found, and its exit code.

    Args:
        script: the file.
        arguments: of the script.
        budget: largest share of the time that the doctor may take.
        declare: what the doctor does not find by itself (see ``program.Declared``).

    Raises:
        InputError: if there is no such file, or something else is declared.
    """
    _require(script)
    Declared(declare)
    options = {"budget": budget, "declare": declare, "started": time.process_time()}
    found, code = _run(script, arguments, options)
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
    from .probes import PROBES  # which need torch, as nothing else of this process does

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
            code = done.returncode if done.returncode >= 0 else 128 - done.returncode
        except subprocess.TimeoutExpired:
            code = 0
        if not file.is_file():
            return None, code
        return Diagnosis.from_dict(json.loads(file.read_text(encoding="utf-8"))), code
