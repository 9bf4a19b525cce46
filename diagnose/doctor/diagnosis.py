"""The findings of the doctor in a program: as a text, as tables, and as JSON."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from ...core import Table
from ...core.words import plural
from ..report import Report
from .program import WRONG

#: Checks that are made of many batches, each of which one mistake must explain.
SETTLED = ("targets", "transitions", "returns", "log_probs", "actions")
#: Entries of which a check must have failed.
LEAST = 8
#: Times that a failing check is made.
OFTEN = 5
#: The checks by name, and what holds if they do.
CHECKS = {
    "observations": "networks are given observations that the environment has shown",
    "actions": "the update has the actions that were taken at these observations",
    "draws": "actions are drawn from the law, and not always its likeliest ones",
    "moves": "no row of a batch is one in which the environment was reset in place of a move",
    "transitions": "moves of a replay buffer are moves that the environment has made",
    "log_probs": "old log-probabilities are those with which the actions were drawn",
    "rows": "what a network says of a row does not depend on the other rows of its batch",
    "law": "before the first step of an update the law is the one that drew the actions",
    "returns": "returns follow from rewards, ends and values, with one discount and one lambda",
    "targets": "targets of action values follow from rewards, ends and the target network",
    "gradient": "the gradient is that of the algorithm's loss, up to weights of its parts",
    "signs": "no part of the loss has a weight below 0",
    "form": "PPO's ratio has the new probability on top, and the smaller objective is taken",
    "gradients": "gradients are cleared between steps",
    "finite": "gradients are finite numbers",
    "parameters": "a step moves the parameters",
    "optimizer": "all parameters that get gradients are in an optimizer, or change in another way",
    "lanes": "no lane of a vector repeats another one",
    "critic": "in probes: the critic's values become the exact values of the present policy",
    "error": "in probes: the program does not end with an error",
}


@dataclass
class Symptom:
    """A finding, each time that it was met."""

    check: str
    mistake: str | None  # its name; None if no known mistake explains what was met
    words: str  # the error with one example, and the cure if the mistake is known
    where: str  # file and line of the program at which it was met first
    world: str  # the probe; "" of the program's own environment
    times: int = 1  # how often it was met
    count: int = 1  # number of wrong entries
    of: int = 1  # number of checked entries

    @property
    def names(self) -> set[str]:
        """The mistake, and others with the same numbers; none if it has no name."""
        others = re.findall(r"\(or ([^:()]*): the numbers are the same here\)", self.words)
        return {self.mistake, *", ".join(others).split(", ")} - {""} if self.mistake else set()


@dataclass
class Diagnosis:
    """The findings of the doctor in a program.

    Attributes:
        symptoms: the findings, each once for a world.
        held: the checks that held, with their number of entries.
        notes: what is no mistake, but good to know.
        unchecked: the checks that could not be made, and why.
        facts: the discount, lambda and weights of the loss that explain what the program computed.
        scores: exact scores as the agent learned: moves, value, optimum, normalized score, and the
            error of the critic. Empty if the law of the environment is not known.
        readings: the values of the critic in probes, beside exact ones.
        moves: number of moves of the environment.
        gradients: number of gradients.
        seconds: time that the program took, the doctor's own included.
        spent: the doctor's share of them, in seconds.
        ended: how the program ended: "" if it came to its end.
    """

    symptoms: list[Symptom] = field(default_factory=list)
    held: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unchecked: dict[str, str] = field(default_factory=dict)
    facts: dict[str, float] = field(default_factory=dict)
    scores: list[dict[str, float]] = field(default_factory=list)
    readings: list[dict[str, Any]] = field(default_factory=list)
    moves: int = 0
    gradients: int = 0
    seconds: float = 0.0
    spent: float = 0.0
    ended: str = ""

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.symptoms

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        if self.symptoms:
            names = dict.fromkeys(each.mistake or each.check for each in self.symptoms)
            return f"Wrong: {', '.join(names)}."
        if "doctor" in self.unchecked:
            return f"No verdict: {self.unchecked['doctor']}."
        if not (count := len(self.held)):
            return "No check was made."
        left = ", ".join(map(self._part, self.unchecked))
        left = f"; unchecked: {left}" if left else ""
        return f"Nothing wrong was found: {count} {plural(count, 'check')} held{left}."

    def _part(self, check: str) -> str:
        """Name a check that could not be made, or not each time."""
        made = check in self.held or any(each.check == check for each in self.symptoms)
        return f"{check}{' in part' * made}"

    def often(self, check: str) -> bool:
        """Whether a check has failed so often that it need not be made again."""
        return sum(each.times for each in self.symptoms if each.check == check) >= OFTEN

    def void(self, check: str, why: str) -> None:
        """Take back what a check has found, the constants included."""
        self.symptoms = [each for each in self.symptoms if each.check != check]
        self.held.pop(check, None)
        wrong = WRONG.values()
        self.notes = [note for note in self.notes if not any(name in note for name in wrong)]
        self.unchecked[check] = why

    def take(self, report: Report, where: str) -> None:
        """Take in the report of some checks."""
        for found in report.findings:
            for other in self.symptoms:
                if (other.check, other.mistake) == (found.check, found.mistake):
                    other.times += 1
                    other.count, other.of = other.count + found.count, other.of + found.of
                    break
            else:
                told = found.check, found.mistake, found.words, where, "", 1, found.count, found.of
                self.symptoms.append(Symptom(*told))
        self.unchecked |= report.unchecked
        self._add(report)

    def join(self, other: "Diagnosis") -> None:
        """Take in what was found in a probe."""
        self.symptoms += other.symptoms
        self.readings += other.readings
        self._add(other)

    def _add(self, other: "Diagnosis | Report") -> None:
        self.held = dict(Counter(self.held) + Counter(other.held))  # without those of no entry
        self.notes = [*dict.fromkeys([*self.notes, *other.notes])]

    def settle(self) -> None:
        """Keep the names that explain a check each time that it failed, if it failed often enough.

        One number of a few may be reproduced by chance.
        """
        for check in SETTLED:
            own = [each for each in self.symptoms if each.check == check]
            if not own:
                continue
            wrong, checked = sum(each.count for each in own), sum(each.of for each in own)
            if wrong < 2 or checked < LEAST:
                self.void(check, f"{wrong} of {checked} numbers are others, too few to say why")
                continue
            told = [each.names for each in own]
            common = set.intersection(*told)
            if common or not all(told):
                names: set[str | None] = {*common} or {None}
                first = max(own, key=lambda each: (each.mistake in names, each.times))
                first.times = sum(each.times for each in own)
                self.symptoms = [each for each in self.symptoms if each is first or each not in own]

    def as_dict(self) -> dict[str, Any]:
        """Return all of it, for JSON."""
        return {"ok": self.ok, "verdict": self.verdict, **asdict(self)}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "Diagnosis":
        """Return what ``as_dict`` has given."""
        own = {each.name: given[each.name] for each in fields(cls)}
        return cls(**own | {"symptoms": [Symptom(**each) for each in given["symptoms"]]})

    def _holding(self) -> Iterable[tuple[str, int]]:
        """Yield the checks that held each time."""
        failed = {each.check for each in self.symptoms}
        return ((check, count) for check, count in self.held.items() if check not in failed)

    def _figures(self) -> dict[str, str]:
        end = {"end of the program": self.ended} if self.ended else {}
        return {
            "moves": f"{self.moves:,}",
            "gradients": f"{self.gradients:,}",
            "seconds": f"{self.seconds:.1f}, of them {self.spent:.1f} for the doctor",
            **end,
            **{name: f"{value:.6g}" for name, value in self.facts.items()},
        }

    def __str__(self) -> str:
        lines = [f"doctor: {self.verdict}"]
        for each in self.symptoms:
            name = f" [{each.mistake}]" if each.mistake else ""
            world = f" in the probe {each.world}" if each.world else ""
            often = f", {each.times} times" if each.times > 1 else ""
            lines.append(f"  WRONG      {each.check}{name}{world}{often}")
            lines += [f"             {told}" for told in (each.words, each.where) if told]
        lines += [f"  holds      {check}: {count:,} checked" for check, count in self._holding()]
        lines += [f"  score      {_scored(each)}" for each in self.scores]
        lines += [f"  note       {note}" for note in self.notes]
        lines += [f"  unchecked  {self._part(each)}: {why}" for each, why in self.unchecked.items()]
        lines += [f"  {name:10} {told}" for name, told in self._figures().items()]
        return "\n".join(lines)

    def tables(self) -> Iterator[Table]:
        """Yield tables of all but the symptoms, for a page."""
        read = ["probe", "state", "said", "exact", "verdict"]
        scored = ["moves", "value", "normalized", "optimum", "critic_rmse"]
        tables: dict[str, tuple[list[str], Iterable[Iterable[Any]]]] = {
            "What held": (["check", "entries"], self._holding()),
            "Exact scores": (scored, ([row.get(key) for key in scored] for row in self.scores)),
            "Values in probes": (read, ([row[key] for key in read] for row in self.readings)),
            "Notes": (["note"], ([note] for note in self.notes)),
            "What was not checked": (["check", "reason"], self.unchecked.items()),
            "The program": (["figure", "value"], self._figures().items()),
        }
        for title, (header, content) in tables.items():
            if rows := [[_cell(each) for each in row] for row in content]:
                yield Table(header, rows, title)


def _scored(row: Mapping[str, float]) -> str:
    told = f"after {row['moves']:,} moves {row['value']:.4f}, normalised {row['normalized']:.4f}"
    error = f", error of the critic {row['critic_rmse']:.4f}" if "critic_rmse" in row else ""
    return f"{told}{error}; the optimum is {row['optimum']:.4f}"


def _cell(given: Any) -> Any:
    return f"{given:.4f}" if isinstance(given, float) else "" if given is None else given
