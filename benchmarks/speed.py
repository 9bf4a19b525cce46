"""Measure everything in one go, and write the tables of docs/speed.md: `make bench`.

Each table stands under the heading of its program, which may also be called alone. A program whose
libraries are not installed leaves its table as it is, and the page says from when it is.
"""

import platform
import re
import subprocess
import sys
from datetime import date
from importlib.metadata import version
from os import cpu_count
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs/speed.md"
#: The headings, and what is called for them.
PROGRAMS = {
    "Random play": "stepping",
    "Whole games": "room",
    "Scores": "scoring",
    "Solutions and processes": "solving",
    "Random play in JAX": "jax_stepping",
}


def machine() -> str:
    """Name the machine and the versions that matter."""
    cpu = platform.processor() or platform.machine()
    told = Path("/proc/cpuinfo")
    if told.exists():
        cpu = re.findall(r"model name\s*: (.*)", told.read_text(encoding="utf-8"))[0]
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "gymnasium", "torch"))
    where = f"{cpu}, {cpu_count()} cores, Python {platform.python_version()}, {libraries}"
    return f"Measured on {date.today():%Y-%m-%d}: {where}."


def main() -> None:
    """Call the programs one after the other; each leaves its table and the machine in the page."""
    for heading, program in PROGRAMS.items():
        print(f"{heading}: benchmarks/{program}.py", flush=True)
        command = [sys.executable, str(HERE / f"{program}.py")]
        told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if told.returncode:
            print(f"{program}.py failed; its table is left as it was")
            continue
        print(told.stdout)
        page = PAGE.read_text(encoding="utf-8")
        part = re.compile(rf"(?<=\n## {heading}\n\n).*?\n\n((\|[^\n]*\n)+)", re.S)
        old = part.search(page)
        assert old is not None, f"docs/speed.md must have a table under {heading!r}"
        new = f"{machine()}\n\n{told.stdout}"
        PAGE.write_text(page[: old.start()] + new + page[old.end() :], encoding="utf-8")


if __name__ == "__main__":
    main()
