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
    budget: float = 0.1,  # largest share of the time that the doctor may take
    declare: Mapping[str, str] | None = None,  # see ``program.Declared``
) -> tuple[Diagnosis, int]:
    """Run a script as it stands; return what was found, and its exit code.

    Raises:
        InputError: if there is no such file, or something else is declared.
    """
    if not script.is_file():
        raise InputError(f"the script must be a file, got {printable(str(script))}")
    Declared(declare)
    options = {"budget": budget, "declare": declare, "started": time.process_time()}
    return _run(script, arguments, options)


def examine_in_probes(
    script: Path, arguments: Sequence[str], moves: int, gamma: float | None
) -> Iterator[tuple[str, Diagnosis]]:
    """Run a script once in each probe, for a number of moves; yield what was found in each.

    The probe "later" tells the discount if it is not known.
    """
    from .probes import PROBES  # which need torch, as nothing else of this process does

    for probe in PROBES:
        options = {"probe": probe.name, "moves": moves, "gamma": gamma}
        yield probe.name, _run(script, arguments, options)[0]


def _run(script: Path, arguments: Sequence[str], options: dict[str, Any]) -> tuple[Diagnosis, int]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "found.json"
        words = [sys.executable, "-m", __package__, str(file), json.dumps(options), str(script)]
        quiet: dict[str, Any] = {}
        if "probe" in options:
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            quiet |= {"env": os.environ | {"OMP_NUM_THREADS": "1"}, "timeout": LONGEST}
        try:
            code = subprocess.run([*words, *arguments], check=False, **quiet).returncode  # noqa: S603  the user's
        except subprocess.TimeoutExpired:
            code = 0
        code = code if code >= 0 else 128 - code  # of a signal, as a shell gives it
        if file.is_file():
            return Diagnosis.from_dict(json.loads(file.read_text(encoding="utf-8"))), code
    why = "the process of the script ended before the doctor could write"
    return Diagnosis(ended=f"exit code {code}", unchecked={"everything": why}), code
