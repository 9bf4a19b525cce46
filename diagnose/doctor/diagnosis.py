"""The findings of the doctor in a program: as a text, as tables, and as JSON."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
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
    """A finding, each time that it was met.

    Attributes:
        check: the name of the check.
        mistake: the name of the mistake; None if no known mistake explains what was met.
        words: the error with one example, and the cure if the mistake is known.
        where: file and line of the program at which it was met first.
        world: the environment, or the probe.
        times: how often it was met.
        count: number of wrong entries.
        of: number of checked entries.
    """

    check: str
    mistake: str | None
    words: str
    where: str
    world: str
    times: int = 1
    count: int = 1
    of: int = 1

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
        if self.ok and "doctor" in self.unchecked:
            return f"No verdict: {self.unchecked['doctor']}."
        if self.ok:
            if not (count := len(self.held)):
                return "No check was made."
            left = f"; unchecked: {', '.join(map(self._part, self.unchecked))}" * bool(
                self.unchecked
            )
            return f"Nothing wrong was found: {count} {plural(count, 'check')} held{left}."
        names = dict.fromkeys(each.mistake or each.check for each in self.symptoms)
        return f"Wrong: {', '.join(names)}."

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

    def take(self, report: Report, where: str, world: str = "") -> None:
        """Take in the report of some checks."""
        for finding in report.findings:
            known = (finding.check, finding.mistake, world)
            for other in self.symptoms:
                if (other.check, other.mistake, other.world) == known:
                    other.times += 1
                    other.count, other.of = other.count + finding.count, other.of + finding.of
                    break
            else:
                told = finding.check, finding.mistake, finding.words, where, world
                self.symptoms.append(Symptom(*told, 1, finding.count, finding.of))
        for check, count in report.held.items():
            if count:
                self.held[check] = self.held.get(check, 0) + count
        self.notes += [note for note in report.notes if note not in self.notes]
        self.unchecked.update(report.unchecked)

    def settle(self) -> None:
        """Keep the names that explain a check each time that it failed, if it failed often enough.

        One number of a few may be reproduced by chance.
        """
        for check in SETTLED:
            own = [each for each in self.symptoms if each.check == check]
            wrong, checked = (sum(getattr(e, name) for e in own) for name in ("count", "of"))
            if own and (wrong < 2 or checked < LEAST):
                self.void(check, f"{wrong} of {checked} numbers are others, too few to say why")
                continue
            told = [each.names for each in own]
            common = set.intersection(*told) if told else set()
            if len(own) < 2 or (not common and all(told)):
                continue
            first = max(own, key=lambda each: (each.mistake in common, each.times))
            if not common:
                first = next(each for each in own if not each.names)
            first.times = sum(each.times for each in own)
            self.symptoms = [each for each in self.symptoms if each is first or each not in own]

    def join(self, other: "Diagnosis") -> None:
        """Take in what was found in a probe."""
        self.symptoms += other.symptoms
        self.notes += [note for note in other.notes if note not in self.notes]
        self.readings += other.readings
        for check, count in other.held.items():
            self.held[check] = self.held.get(check, 0) + count

    def as_dict(self) -> dict[str, Any]:
        """Return all of it, for JSON."""
        return {
            "ok": self.ok,
            "verdict": self.verdict,
            **{key: value for key, value in vars(self).items() if key != "symptoms"},
            "symptoms": [dict(vars(each)) for each in self.symptoms],
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "Diagnosis":
        """Return what ``as_dict`` has given."""
        own = {key: value for key, value in given.items() if key not in ("ok", "verdict")}
        return cls(**own | {"symptoms": [Symptom(**each) for each in given["symptoms"]]})

    def _holding(self) -> Iterable[tuple[str, int]]:
        """Yield the checks that held each time."""
        failed = {each.check for each in self.symptoms}
        return ((check, count) for check, count in self.held.items() if check not in failed)

    def _figures(self) -> Iterable[tuple[str, str]]:
        yield "moves", f"{self.moves:,}"
        yield "gradients", f"{self.gradients:,}"
        yield "seconds", f"{self.seconds:.1f}, of them {self.spent:.1f} for the doctor"
        if self.ended:
            yield "end of the program", self.ended
        for name, value in self.facts.items():
            yield name, f"{value:.6g}"

    def __str__(self) -> str:
        lines = [f"doctor: {self.verdict}"]
        for each in self.symptoms:
            name = f" [{each.mistake}]" if each.mistake else ""
            world = f" in the probe {each.world}" if each.world else ""
            often = f", {each.times} times" if each.times > 1 else ""
            lines += [
                f"  WRONG      {each.check}{name}{world}{often}",
                f"             {each.words}",
            ]
            lines += [f"             {each.where}"] * bool(each.where)
        lines += [f"  holds      {check}: {count:,} checked" for check, count in self._holding()]
        lines += [f"  score      {_scored(each)}" for each in self.scores]
        lines += [f"  note       {note}" for note in self.notes]
        lines += [f"  unchecked  {self._part(each)}: {why}" for each, why in self.unchecked.items()]
        lines += [f"  {name:10} {told}" for name, told in self._figures()]
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
            "The program": (["figure", "value"], self._figures()),
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
