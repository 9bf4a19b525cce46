"""The report of an audit, for programs and for people, and how mistakes are named in it.

Recorded numbers are compared with a declared ``Formula``. Where they differ, ``named`` edits the
formula in one place after the other, and the edit that reproduces the numbers names the mistake. So
mistakes that nobody has listed have names, too, such as ``rewards-left-out`` and
``values-for-returns``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import chain, combinations
from typing import Any, ClassVar

import numpy as np

from ..core import BoolArray, FloatArray

#: Statistical checks, in which no single entry is wrong.
CHANCE = ("outcomes", "beginnings", "policy", "visits", "coincidences")


@dataclass(frozen=True)
class Finding:
    """A failed check.

    Attributes:
        check: the name of the check.
        mistake: the name of the known mistake that reproduces the recorded numbers; None if no
            known mistake does. ``docs/mutants.md`` has the names.
        count: number of wrong entries.
        of: number of checked entries.
        words: a description of the error with one example, and the cure if the mistake is known.
    """

    check: str
    mistake: str | None
    count: int
    of: int
    words: str


#: Names in ``CURES`` of edits of right numbers.
RENAMED = dict.fromkeys(("values-of-the-next-row", "values-of-the-row-before"), "shifted-values")
RENAMED["recomputed-log-probs-for-log-probs"] = "log-probs-recomputed"
#: What is done to arrays whose lanes are mixed.
LANES, SWAPPED = "of another lane", "with time and lane swapped"
#: Lanes beside a lane from which its numbers may have been taken.
NEIGHBOURS = 4
#: Most steps of the fit of a constant, and fewest different numbers that must depend on it.
STEPS, FEWEST = 12, 3
#: What to do about each known mistake, in words that the fields of ``Mistake`` complete.
CURES = {
    # Steps.
    "illegal-action": "hold the policy to the mask of legal actions",
    "autoreset": "{row}, or make the environments with AutoresetMode.SAME_STEP",
    "terminated-missing": "record whether a move has ended the game: here the first position of "
    "the next game is taken for the next position of this one",
    "last-game-ended": "the games go on after the last row: only the rollout has ended there",
    "stale-observation": "the observation was overwritten by the next one before it was "
    "recorded: copy it{by}",
    "stale-next-observation": "the next observation is the one before the move: read it after "
    "the step{by}",
    "shifted-actions": "each action was recorded with the {neighbour} observation{by}: record "
    "the two together",
    "shifted-ends": "ends were recorded with the {neighbour} observation{by}: record both together",
    "lanes-mixed": "{arrays}",
    "wrong-task": "the steps fit {problem.task.words}",
    "seats-mixed": "rows are moves of both players in turn: record those of the agent alone",
    # Rewards.
    "shifted-rewards": "each reward was recorded with the {neighbour} step{by}",
    "reward-scaled": "they have the opposite sign: the agent learns to lose",
    "rewards-clipped": "they are {made}, so different results are worth the same",
    "rewards-affine": "they are {map} for what the game has paid, which is no mistake if it is "
    "meant: say so by rewards=lambda paid: {map}",
    "rewards-normalised": "they are those of the game times a factor that moves from {range}: "
    "record the rewards of the game, before they are normalised",
    "reward-mode": "they are rewards of reward={mode!r}, and env has {declared!r}",
    # Chance.
    "same-seeds": "environments play the same games: give each a seed of its own",
    "epsilon-wrong": "they fit epsilon = {epsilon:.3g}",
    "greedy-actions": "draw from the law of the policy, instead of its likeliest action",
    "random-actions": "they fit uniform draws from the legal actions, not this policy",
    # Log-probabilities and values.
    "log-probs-without-log": "take the logarithm of the probabilities",
    "log-probs-sign": "the logarithm of a probability is not above 0",
    "log-probs-of-likeliest": "they are those of the action that was taken",
    "log-probs-unmasked": "take the softmax over the legal actions alone",
    "log-probs-temperature": "they are those of the logits divided by {temperature:.4g}",
    "log-probs-recomputed": "they are those of the module before this step, not of the rollout",
    "shifted-values": "a value belongs to the observation before the move of its row",
    # Advantages, returns and targets of action values.
    "returns-without-values": "returns are advantages plus values",
    "gae-ignores-ends": "multiply gamma by 1 - terminated in the recursion",
    "gae-ends-late": "the end of row t stops the recursion from row t + 1 to row t, and no other",
    "truncation-as-end": "a game that was cut goes on: its last observation has a value",
    "gae-last-value-missing": "add the critic's value after the last row, where d is 0",
    "gamma-wrong": "they were computed with gamma = {gamma:.6g}",
    "lambda-wrong": "the advantages were computed with lambda = {gae_lambda:.6g}",
    "advantages-normalised": "normalised advantages are for the actor (a PolicyUpdate declares "
    "them by normalised=True): returns need the advantages themselves",
    "target-ignores-ends": "the target of a move that ends the game is its reward alone",
    "max-over-illegal": "take the maximum over the legal actions of the next state",
    "stale-mask": "the mask must be that of the next state, not of the state before the move",
    "target-from-online-network": "the values must be the target network's",
    "double-dqn-missing": "the action is the target network's: say so by double=False",
    "double-dqn": "the action is the online network's: say so by double=True",
    # Losses.
    "entropy-sign": "the loss has minus the entropy",
    "policy-sign": "the actor's loss is minus the objective",
    "value-sign": "the critic's errors are minimised",
    "loss-sign": "the loss is minimised: the optimizer goes down its gradient",
    "ratio-inverted": "the new probability is divided by the old one",
    "ratio-without-exp": "the difference of log-probabilities is the logarithm of the ratio",
    "ratio-always-one": "the old log-probabilities are those of the draw, not of this policy",
    "clip-without-minimum": "take the smaller one of the objectives with and without clipping: the "
    "clipped one alone has no gradient where the policy has moved too far the wrong way",
    "clip-missing": "clip the ratio in one of the two objectives",
    "maximum-for-minimum": "take the smaller one of the two objectives",
    "advantages-not-detached": "advantages are constants of the actor's loss: detach them",
    "advantages-recomputed": "advantages are the rollout's, not returns less the present values",
    "returns-for-advantages": "the actor's loss has the advantages, the critic's the returns",
    "advantages-not-normalised": "this is no mistake if it is meant: say so by normalised=False",
    "mask-missing-in-update": "hold the law to the legal actions, as when actions were drawn",
    "entropy-unmasked": "the entropy is that of the law over the legal actions",
    "values-not-clipped": "this is no mistake if it is meant: leave old_values out",
    "advantages-broadcast": "ratios (move, 1) times advantages (move,) are a square: squeeze them",
    "values-broadcast": "values (move, 1) less numbers (move,) are a square: squeeze them",
    "ent-coef-wrong": "the loss has ent_coef = {ent_coef:.3g}: declare it, if meant",
    "vf-coef-wrong": "the loss has vf_coef = {vf_coef:.3g}: declare it, if meant",
    "clip-wrong": "the ratio is clipped at 1 - and + {clip:.3g}: declare it, if meant",
    "targets-not-detached": "targets are constants of the loss: detach them",
    "value-of-best-action": "the target is that of the action that was taken: gather its value",
    "other-loss": "this is no mistake if it is meant: say so by loss, or value_loss of a critic",
    # Rows and parameters of steps.
    "rows-left-out": "a permutation of all moves, cut into minibatches, leaves none out",
    "rows-repeated": "a permutation of all moves, cut into minibatches, repeats none",
    "learning-rate-zero": "its learning rate is 0, or too small to count",
    "learning-rate-wrong": "the step has the learning rate {learning_rate:.4g}",
    "gradients-not-clipped": "clip the gradients between loss.backward() and optimizer.step()",
    "gradients-clipped-late": "clip the gradients before optimizer.step(), not after it",
    "parameters-left-out": "give the optimizer all parameters",
    "target-always-updated": "it has been updated, and this was not due",
    "target-never-updated": "an update was due and has not taken place",
    "tau-wrong": "it has been updated with tau = {tau:.3g}",
}


@dataclass(frozen=True)
class Mistake:
    """A known mistake, as an edit of a declared formula or of a record.

    ``changes`` are the fields of a formula that the mistake changes, or the recorded arrays as a
    right program would have recorded them.
    """

    name: str  # as ``CURES`` and docs/mutants.md list it
    changes: Mapping[str, Any] = field(default_factory=dict)
    told: Mapping[str, str] = field(default_factory=dict)  # words of the cure that are no changes
    others: tuple[str, ...] = ()  # names of further mistakes that give the same numbers

    def of(self, check: str) -> "Mistake":
        """Return an edit of ``numbers`` as an edit of those of a check."""
        name = self.name.replace("numbers", check.replace("_", "-"))
        told = {key: words.replace("numbers", check) for key, words in self.told.items()}
        return replace(self, name=RENAMED.get(name, name), told=told)

    @property
    def cure(self) -> str:
        """Advice for the user."""
        cure = CURES.get(self.name, "the numbers are reproduced with {edit}")
        same = f" (or {', '.join(self.others)}: the numbers are the same here)"
        return cure.format(**self.changes, **self.told) + same * bool(self.others)


def options(**words: str) -> Any:
    """Return a field whose first option is the default, with the words of each (see ``named``)."""
    return field(default=next(iter(words)), metadata={"options": words})


def reproducing(
    formula: Any, mistakes: Iterable[Mistake], reproduces: Callable[[Any], bool]
) -> Iterator[Mistake]:
    """Yield the mistakes whose changes make a formula, a dataclass, reproduce what was recorded."""
    for mistake in mistakes:
        if reproduces(replace(formula, **mistake.changes)):
            yield mistake


# ----------------------------------------------------------------- edits of a formula


@dataclass(frozen=True, kw_only=True)
class Formula(ABC):
    """A declared formula: its fields are the arguments, constants and variants of a computation."""

    #: Gives arrays that programs take in place of an argument, by words, by the argument's name.
    alike: Callable[[], Mapping[str, Mapping[str, Any]]] = dict
    #: Names in ``CURES`` of edits.
    names: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def __call__(self) -> Any:
        """Compute the numbers."""


def named(
    formula: Formula,
    given: FloatArray,  # the recorded numbers
    reproduces: Callable[[Any], bool],  # says whether a formula reproduces them
    compute: Callable[[Any], FloatArray] = lambda formula: formula(),  # gives its numbers
    several: Iterable[Mistake] = (),  # mistakes that change several fields
    axes: int = 1,  # 2 if arrays are of shape (time, lane, ...)
) -> Iterator[Mistake]:
    """Yield the edit of a formula that reproduces recorded numbers; it names others that do so.

    The type of a field decides how it is edited: numbers are fitted; truth values inverted; words
    exchanged for the ``options`` of the field's metadata; arrays of NumPy or torch left out,
    negated, detached, exchanged for arrays of the same shape, moved by some rows and taken from
    other lanes. If no edit reproduces the numbers, pairs of edits are tried; none of
    a pair moves or swaps arrays.
    """
    arrays = {key: each for key, each in vars(formula).items() if hasattr(each, "shape")}
    variants = [*_variants(formula), *_exchanged(formula, arrays)]
    moved = [
        _edit(formula, key, f"{key} {done}", array)
        for key in arrays
        for done, array in _moved(arrays[key], axes)
    ]
    pairs = (
        Mistake(
            f"{one.name}+{two.name}",
            {**one.changes, **two.changes},
            {"edit": f"{one.told['edit']} and {two.told['edit']}"},
        )
        for one, two in combinations(variants, 2)
        if one.changes.keys() != two.changes.keys()
    )
    rounds: tuple[Iterable[Mistake], ...] = (
        chain(several, variants, _swapped(formula, arrays), moved),
        _constants(formula, given, compute),
        pairs,
    )
    for mistakes in rounds:
        found = list(reproducing(formula, mistakes, reproduces))
        found.sort(key=lambda mistake: mistake.name not in CURES)  # listed ones first
        if found:
            names = dict.fromkeys(other.name for other in found if other.name != found[0].name)
            yield replace(found[0], others=tuple(names))
            return


def _edit(formula: Formula, key: str, words: str, value: Any) -> Mistake:
    """Return an edit of a field, with the words that make its name."""
    name = words.replace("_", "-").replace(" ", "-")
    lanes = "" if LANES not in words and SWAPPED not in words else "lanes-mixed"
    told = {"edit": words, "arrays": words}
    return Mistake(lanes or formula.names.get(name, name), {key: value}, told)


def _variants(formula: Formula) -> Iterator[Mistake]:
    """Invert truth values, and exchange words."""
    for each in fields(formula):
        key, value = each.name, getattr(formula, each.name)
        if isinstance(value, bool):
            yield _edit(formula, key, f"{key} {'left out' if value else 'added'}", not value)
        for option, words in each.metadata.get("options", {}).items():
            if option != value:
                yield _edit(formula, key, words, option)


def _exchanged(formula: Formula, arrays: Mapping[str, Any]) -> Iterator[Mistake]:
    """Leave arrays out, negate and detach them, and take those that are ``alike``."""
    alike = formula.alike()
    for key, array in arrays.items():
        kind = str(array.dtype)
        if getattr(array, "requires_grad", False):
            yield _edit(formula, key, f"{key} without a gradient", array.detach())
        if "float" in kind:
            yield _edit(formula, key, f"{key} left out", array * 0)
            yield _edit(formula, key, f"{key} negated", -array)
        elif "bool" in kind:
            yield _edit(formula, key, f"{key} left out", array & ~array)
            yield _edit(formula, key, f"{key} inverted", ~array)
        for words, other in alike.get(key, {}).items():
            yield _edit(formula, key, f"{words} for {key}", other)


def _swapped(formula: Formula, arrays: Mapping[str, Any]) -> Iterator[Mistake]:
    """Take other arguments of the same shape and dtype."""
    for key, array in arrays.items():
        for name, other in arrays.items():
            if name != key and other.shape == array.shape and other.dtype == array.dtype:
                yield _edit(formula, key, f"{name} for {key}", other)


def _moved(array: Any, axes: int) -> Iterator[tuple[str, Any]]:
    """Yield the rows and lanes of an array in other places, each after its words."""
    count, rows = len(array), np.arange(len(array))
    for words, places in (("of the next row", rows + 1), ("of the row before", rows - 1)):
        inside = places.clip(0, count - 1)
        # Beyond the border a program may take the other border, the border, zeros, or more rows.
        yield words, array[places % count]
        yield words, array[inside]
        for beyond in (0.0, np.nan) if "float" in str(array.dtype) else (0,):
            moved = array[inside]
            moved[inside != places] = beyond
            yield words, moved
            own = moved[rows]
            own[-1] = array[-1]  # which many programs treat apart
            yield words, own
    if str(array.dtype).endswith("bool"):
        first = array[rows]
        first[-1] = 0
        yield "of the last row left out", first
    if axes == 2 and array.ndim >= 2:
        lanes = array.shape[1]
        for away in range(1, min(lanes, NEIGHBOURS + 1)):
            yield LANES, array[:, (np.arange(lanes) + away) % lanes]
            yield LANES, array[:, (np.arange(lanes) - away) % lanes]
        swapped = array.reshape(lanes, count, *array.shape[2:]).swapaxes(0, 1)
        yield SWAPPED, swapped
        yield SWAPPED, array.swapaxes(0, 1).reshape(array.shape)


def _constants(
    formula: Any, given: FloatArray, compute: Callable[[Any], FloatArray]
) -> Iterator[Mistake]:
    """Fit each constant to the recorded numbers by the method of Gauss and Newton."""
    for key, declared in vars(formula).items():
        if not isinstance(declared, float):
            continue
        at = declared
        for _ in range(STEPS):
            size = 1e-4 * max(1.0, abs(at))
            here = compute(replace(formula, **{key: at}))
            slope = (compute(replace(formula, **{key: at + size})) - here) / size
            moves = np.isfinite(here) & np.isfinite(slope) & np.isfinite(given) & (slope != 0)
            # A constant on which hardly a number depends fits whatever is recorded.
            if len(np.unique(given[moves])) < FEWEST:
                break
            step = float((slope * (given - here))[moves].sum() / (slope[moves] ** 2).sum())
            at += step
            if abs(step) <= 1e-7 * max(1.0, abs(at)):
                break
        if at != declared and np.isfinite(at):
            mistake = _edit(formula, key, f"{key} wrong", at)
            yield replace(mistake, told={"edit": f"{key} = {at:.6g}"})


@dataclass
class Report:
    """The result of an audit.

    Attributes:
        findings: the failed checks.
        held: the passed checks: the name of each, and its number of entries.
        notes: remarks that are no mistakes, such as a constant factor of the rewards.
        unchecked: the checks that could not be made, and the reason for each.
    """

    findings: list[Finding] = field(default_factory=list)
    held: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unchecked: dict[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether all checks passed."""
        return not self.findings

    def add(
        self,
        check: str,
        wrong: BoolArray,
        example: str | Callable[..., str],
        mistakes: Iterable[Mistake] = (),
        of: int | None = None,
        groups: Mapping[str, BoolArray] | None = None,
    ) -> bool:
        """Add a check: passed, or failed with the first of the mistakes that explain it.

        Args:
            check: the name of the check.
            wrong: which entries are wrong.
            example: describes what is wrong; a function gets the place of the first wrong entry.
            mistakes: known mistakes that explain all wrong entries; asked for if there are any.
            of: number of checked entries; all entries by default.
            groups: entries that have something in common, by words such as "ends of games". If no
                mistake explains the wrong entries, the smallest group that has all is named.

        Returns:
            Whether the check passed.
        """
        of = wrong.size if of is None else of
        if not wrong.any():
            self.held[check] = of
            return True
        found = next(iter(mistakes), None)
        told = example if isinstance(example, str) else example(*np.argwhere(wrong)[0].tolist())
        said = found.cure if found else _in_common(wrong, groups or {})
        words = f"{told}. {said[:1].upper()}{said[1:]}." if said else f"{told}."
        name, count = found.name if found else None, int(wrong.sum())
        self.findings.append(Finding(check, name, count, of, words))
        return False

    def add_finite(self, name: str, array: Any, read: Any = True, axes: int = 1) -> BoolArray:
        """Add a finding if an array is not finite where it is read; return the rows, (row, ...)."""
        wrong = ~np.isfinite(array) & read
        rows: BoolArray = wrong.reshape(*wrong.shape[:axes], -1).any(axis=-1)

        def example(*at: int) -> str:
            number = array[at].ravel()[~np.isfinite(array[at]).ravel()][0]
            return f"{name} has {number} in row {', '.join(map(str, at))}"

        if rows.any():
            self.add("finite", rows, example)
        return rows

    def __str__(self) -> str:
        rows = [f"  holds      {check}: {count:,} checked" for check, count in self.held.items()]
        for found in self.findings:
            name = f" [{found.mistake}]" if found.mistake else ""
            count = f"{found.count:,} of {found.of:,}"
            if found.check in CHANCE:
                count = f"{found.of:,} together"
            rows.append(f"  WRONG      {found.check}: {count}{name}")
            rows.append(f"             {found.words}")
        rows += [f"  note       {note}" for note in self.notes]
        rows += [f"  unchecked  {check}: {why}" for check, why in self.unchecked.items()]
        held = "all that was checked holds" if self.unchecked else "all holds"
        return "\n".join([f"audit: {held if self.ok else 'not all holds'}", *rows])


def _in_common(wrong: BoolArray, groups: Mapping[str, BoolArray]) -> str:
    """Say which group has all of two or more wrong entries, if it is no more than half of all."""
    holding = {
        words: int(group.sum())
        for words, group in groups.items()
        if not (wrong & ~group).any() and 2 * group.sum() <= group.size
    }
    if not holding or wrong.sum() < 2:
        return ""
    return f"what they have in common: {min(holding, key=lambda words: holding[words])}"
