"""``exactdice doctor``: a training script is examined while it runs."""

import sys
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import tyro

from ..agents.runs.pairs import pairs_of
from ..core import InputError, Table, at_least, write_file
from ..core.words import plural
from .printing import InJson, print_json


@dataclass(frozen=True)
class DoctorConfig(InJson):
    """Examine any training script while it runs, not a line of it edited, and say what is wrong.

    The exit code is 1 if something is wrong, 2 if there is no such file, else the script's own.
    """

    script: tyro.conf.Positional[Path | None] = None
    """The script, a file that ends in .py. All words that follow go to the script."""

    probes: bool = False
    """Also run the script in small worlds in the shape of its own environment, whose exact values
    are known. Takes some minutes."""

    moves: int = 10_000
    """Moves after which the script is stopped in each small world."""

    budget: float = 0.1
    """Largest share of the script's time that the doctor may take."""

    declare: Annotated[dict[str, str], pairs_of("declare", str, "an expression")] = field(
        default_factory=dict
    )
    """Numbers that the doctor cannot find, gamma and gae_lambda, or arrays, returns and advantages,
    as expressions of the script's own variables: --declare returns "b_returns[rows]"."""

    page: Path | None = None
    """File for a web page of what was found."""

    list: bool = False
    """List the checks instead."""

    arguments: tyro.conf.Suppress[tuple[str, ...]] = ()
    """The words that go to the script."""

    def __post_init__(self) -> None:
        if self.script is None and not self.list:
            raise InputError("script must be given, a file that ends in .py, got none")
        if not 0 < self.budget <= 1:
            raise InputError(f"budget must be above 0 and at most 1, got {self.budget}")
        at_least("moves", self.moves, 100)


def run_doctor(options: DoctorConfig) -> int:
    """Run the script, and print what was found."""
    if find_spec("torch") is None:  # say so before the script runs
        import_module("torch")
    from ..diagnose.doctor.diagnosis import CHECKS
    from ..diagnose.doctor.runs import examine, examine_in_probes

    if options.script is None:
        print(Table(["check", "holds if"], [list(row) for row in CHECKS.items()]))
        return 0
    found, code = examine(options.script, options.arguments, options.budget, options.declare)
    if options.probes:
        gamma = found.facts.get("gamma")
        for name, other in examine_in_probes(
            options.script, options.arguments, options.moves, gamma
        ):
            verdict = "wrong" if other.symptoms else "nothing wrong"
            print(f"probe {name}: {verdict}", file=sys.stderr)
            found.join(other)
    if options.page is not None:
        from ..look import page

        parts = [page.paragraph(found.verdict)]
        for each in found.symptoms:
            title = f"{each.check}: {each.mistake}" if each.mistake else each.check
            often = f"{each.where or 'the whole run'}, {each.times:,} {plural(each.times, 'time')}"
            place = f"Probe {each.world}, {often}" if each.world else often
            parts += [page.heading(title), page.paragraph(each.words), page.paragraph(place)]
        for table in found.tables():
            parts += [page.heading(table.title), page.table(table)]
        write_file(options.page, page.to_html(f"exactdice doctor {options.script}", parts).encode())
    # The last line of the script may have no end.
    print_json(found.as_dict()) if options.json else print(f"\n{found}")
    return code if found.ok else 1
