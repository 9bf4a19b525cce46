"""Numbers that a program computes, compared with a declared formula.

A ``Formula`` is a dataclass, and each field lists the known mistakes that are edits of it. Where
recorded numbers differ, ``named`` edits the formula in one place after the other, and the edit that
reproduces the numbers names the mistake. Edits of arrays that no field lists have names, too, such
as ``rewards-left-out``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import partial
from itertools import chain, combinations
from typing import Any

import numpy as np

from ...baselines.law.numbers import as_numbers
from ...core import BoolArray, FloatArray
from ..report import Mistake, Report, reproducing

#: Numbers of single precision agree with exact ones to this part of their largest or their span.
CLOSE = 1e-4
#: As ``CLOSE``, of numbers of half precision.
HALF_CLOSE = 1e-2
#: Fewest different numbers that show a precision.
FEW = 20
#: A mistake of steps, of estimates and of targets.
CUT_AS_END = "truncation-as-end: a game that was cut goes on: its last observation has a value"
#: A mistake of estimates and of targets.
GAMMA = "gamma-wrong: they were computed with gamma = {:.6g}"
#: Lanes beside a lane from which its numbers may have been taken.
NEIGHBOURS = 4
#: Edits of which one is in a pair, by each way in which it is told how near they are.
NEAREST = 5
#: Most steps of the fit of a constant, and fewest different numbers that must depend on it.
STEPS, FEWEST = 12, 3


def edited(word: str = "", /, default: Any = MISSING, **known: str) -> Any:
    """Return a field of a formula, with the mistakes that are edits of it.

    Args:
        word: names the field in edits that are not listed; "{check}" is the field ``check``.
        default: default of the field.
        known: the name of a mistake by its edit, or "name: cure" with its cure:

            - of a truth value ``added`` and ``left_out``;
            - of a word, each other word that it may be;
            - of a number ``negated`` and ``fitted``; the cure may show the number, by "{:.3g}";
            - of an array ``left_out``, ``negated``, ``inverted``, ``without_a_gradient``, moved by
              a row (``of_the_next_row``, ``of_the_row_before``, ``of_the_last_row_left_out``), or
              the name of another array of the formula, taken in its place.
    """
    return field(default=default, metadata={"word": word, "known": known})


@dataclass(frozen=True, kw_only=True)
class Formula(ABC):
    """A declared formula: its fields are the arguments, constants and variants of a computation."""

    #: Mistakes that take other numbers in place of arguments; computed only when they are needed.
    alike: Iterable[Mistake] = ()

    @abstractmethod
    def __call__(self) -> Any:
        """Compute the numbers."""


def known_as(kind: type[Formula], key: str, edit: str) -> Mistake:
    """Return the mistake that an edit of a field of a formula is."""
    return Mistake(kind.__dataclass_fields__[key].metadata["known"][edit])


def named(
    formula: Formula,
    given: FloatArray,  # the recorded numbers
    reproduces: Callable[[Any], bool],  # says whether a formula reproduces them
    compute: Callable[[Any], FloatArray] = lambda formula: formula(),  # gives its numbers
    further: Iterable[Mistake] = (),  # mistakes to be tried last
    axes: int = 1,  # 2 if arrays are of shape (time, lane, ...)
    off: Callable[[Any], Any] | None = None,  # measures how far from them a formula is, in ways
    single: bool = False,  # whether nothing is fitted, and no pair of edits is tried
) -> Iterator[Mistake]:
    """Yield the edit of a formula that reproduces recorded numbers; it names others that do so.

    Fitted constants are edits, too. If no edit does, pairs are tried; none of a pair moves or swaps
    arrays. Where it is told how far off numbers are, one of a pair is among the edits that bring
    them nearest.
    """
    variants = [*_variants(formula)]

    def pairs() -> Iterator[Mistake]:
        every = chain(_negated(formula), variants)
        small = [each for each in every if not each.name.endswith("-broadcast")]  # no squares
        best = set(range(len(small)))
        if off and small:
            far = np.array([off(replace(formula, **each.changes)) for each in small])
            best = set(far.argsort(axis=0)[:NEAREST].ravel().tolist())
        for (first, one), (second, two) in combinations(enumerate(small), 2):
            if best & {first, second} and not one.changes.keys() & two.changes.keys():
                cure = f"{one.cure}; {two.cure}"
                yield Mistake(f"{one.name}+{two.name}: {cure}", {**one.changes, **two.changes})

    edits = chain(_negated(formula), variants, _exchanged(formula), _moved(formula, axes))
    for mistakes in (edits, () if single else pairs(), further):
        found = list(reproducing(formula, mistakes, reproduces))
        found.sort(key=lambda mistake: ": " not in mistake.text)  # those with a cure first
        if mistakes is edits and not single:  # a constant whose sign is wrong is not fitted as well
            known = {key for mistake in found for key in mistake.changes}
            fitted = reproducing(formula, _fitted(formula, given, compute), reproduces)
            found += [mistake for mistake in fitted if not mistake.changes.keys() & known]
        if found:
            names = dict.fromkeys(other.name for other in found if other.name != found[0].name)
            yield replace(found[0], others=tuple(names))
            return


def _edit(formula: Formula, key: str, edit: str, value: Any, words: str = "") -> Iterator[Mistake]:
    """Yield an edit of a field under the name that the field lists, or one made of its word."""
    word, known = _metadata(formula)[key]
    made = (words or f"{word} {edit}").replace("_", "-").replace(" ", "-")
    if text := known.get(edit, word and made):
        yield Mistake(text.format(value), {key: value})


def _metadata(formula: Formula) -> dict[str, tuple[str, Mapping[str, str]]]:
    """Return word and known mistakes of each field that may be edited, by its name."""
    found = {each.name: each.metadata for each in fields(formula) if "known" in each.metadata}
    return {key: (of["word"].format_map(vars(formula)), of["known"]) for key, of in found.items()}


def _arrays(formula: Formula) -> dict[str, Any]:
    edited = _metadata(formula)
    return {
        key: each for key, each in vars(formula).items() if key in edited and hasattr(each, "shape")
    }


def _negated(formula: Formula) -> Iterator[Mistake]:
    for key, (_, known) in _metadata(formula).items():
        if "negated" in known and isinstance(value := getattr(formula, key), float):
            yield from _edit(formula, key, "negated", -value)


def _variants(formula: Formula) -> Iterator[Mistake]:
    """Take other values of truth values and words, then of arrays, and those that are alike."""
    edited, alike = _metadata(formula), [*formula.alike]
    for key in sorted(edited, key=lambda key: hasattr(getattr(formula, key), "shape")):
        for edit, other in _others(getattr(formula, key), edited[key][1]).items():
            yield from _edit(formula, key, edit, other)
        yield from (mistake for mistake in alike if next(iter(mistake.changes)) == key)


def _others(value: Any, known: Iterable[str]) -> dict[str, Any]:
    """Return what a field may have in place of its value, by edit; nothing for a number."""
    if isinstance(value, bool):
        return {"left_out" if value else "added": not value}
    if isinstance(value, str) or callable(value):  # a word, or a function in the place of one
        return {option: option for option in known if option != value}
    kind, edits = str(getattr(value, "dtype", "")), dict[str, Any]()
    if getattr(value, "requires_grad", False):
        edits["without_a_gradient"] = value.detach()
    if "float" in kind:
        edits |= {"left_out": value * 0, "negated": -value}
    elif "bool" in kind and value.any():  # nothing is cut, say, where nothing cuts
        edits |= {"left_out": value & ~value, "inverted": ~value}
    return edits


def _exchanged(formula: Formula) -> Iterator[Mistake]:
    """Take other arguments of the same shape and dtype."""
    edited, arrays = _metadata(formula), _arrays(formula)
    for key, array in arrays.items():
        for name, other in arrays.items():
            alike = other.shape == array.shape and other.dtype == array.dtype
            if name != key and alike and ("bool" not in str(array.dtype) or other.any()):
                words = f"{edited[name][0]} for {edited[key][0]}"
                yield from _edit(formula, key, name, other, words)


def _moved(formula: Formula, axes: int) -> Iterator[Mistake]:
    """Take rows and lanes of arrays from other places."""
    for key, array in _arrays(formula).items():
        for edit, other in _other_rows(array):
            yield from _edit(formula, key, edit, other)
        if axes == 2 and array.ndim >= 2:
            for words, other in other_lanes(array, NEIGHBOURS):
                yield Mistake(f"lanes-mixed: {_metadata(formula)[key][0]} {words}", {key: other})


def _other_rows(array: Any) -> Iterator[tuple[str, Any]]:
    """Yield the rows of an array in other places, after the name of the edit."""
    count, rows = len(array), np.arange(len(array))
    for edit, places in (("of_the_next_row", rows + 1), ("of_the_row_before", rows - 1)):
        inside = places.clip(0, count - 1)
        # Beyond the border a program may take the other border, the border, zeros, or more rows.
        yield edit, array[places % count]
        yield edit, array[inside]
        for beyond in (0.0, np.nan) if "float" in str(array.dtype) else (0,):
            moved = array[inside]
            moved[inside != places] = beyond
            yield edit, moved
            own = moved[rows]
            own[-1] = array[-1]  # which many programs treat apart
            yield edit, own
    if not getattr(array, "requires_grad", False):
        first = array[rows]
        first[-1] = 0
        yield "of_the_last_row_left_out", first


def other_lanes(array: Any, most: int) -> Iterator[tuple[str, Any]]:
    """Yield an array (time, lane, ...) with lanes taken from others up to ``most`` away."""
    time, lanes = array.shape[:2]
    swapped = "have time and lane swapped: transpose arrays, where a reshape mixes them"
    yield swapped, array.reshape(lanes, time, *array.shape[2:]).swapaxes(0, 1)
    yield swapped, array.swapaxes(0, 1).reshape(array.shape)
    for far in range(1, lanes):
        away = min(far, lanes - far)
        if away <= most:
            places = (np.arange(lanes) + far) % lanes
            yield f"are those of other lanes, {away} away: keep one order", array[:, places]


def _fitted(
    formula: Any, given: FloatArray, compute: Callable[[Any], FloatArray]
) -> Iterator[Mistake]:
    """Fit each constant to the recorded numbers by the method of Gauss and Newton."""
    for key, (_, known) in _metadata(formula).items():
        declared = getattr(formula, key)
        if "fitted" not in known:
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
            yield from _edit(formula, key, "fitted", at)


def closeness(*recorded: Any, single: float = CLOSE, half: float = HALF_CLOSE) -> float:
    """Return the part by which recorded numbers may be wrong: of half precision, or of others."""
    sizes = [getattr(getattr(array, "dtype", None), "itemsize", 8) for array in recorded]
    return half if min(sizes) <= 2 else single


def in_half(recorded: Any) -> bool:
    """Say whether numbers are those of half precision, whatever their dtype is.

    They are, of more than a few, if each has no more bits than float16 or bfloat16, though some
    have bits that the largest one can not have: multiples of one unit have not.
    """
    numbers = np.unique(np.abs(as_numbers(recorded, "numbers").astype(np.float64)))
    numbers = numbers[(numbers > 0) & np.isfinite(numbers)]
    if len(numbers) < FEW:
        return False
    parts, powers = np.frexp(numbers)
    for bits in (8, 11):
        units = parts * 2.0**bits
        if (units % 1 == 0).all() and (units * 2.0 ** (powers - powers.max()) % 1 != 0).any():
            return True
    return False


@dataclass(frozen=True, kw_only=True)
class Numbers(Formula):
    """The right numbers of a check, which a program may have moved, scaled or left out."""

    numbers: FloatArray = edited("{check}")
    check: str = ""
    line: tuple[float, float] = (1.0, 0.0)  # factor and summand

    def __call__(self) -> FloatArray:
        """Compute the numbers."""
        return self.line[0] * self.numbers + self.line[1]

    def rewritten(self, given: FloatArray) -> Iterator[Mistake]:
        """Fit an affine map and an order to recorded numbers."""
        ours, word = self.numbers, self.check.replace("_", "-")
        if not np.isfinite(ours).all() or not np.isfinite(given).all() or len(np.unique(ours)) < 3:
            return
        scale, offset = np.polyfit(ours.ravel(), given.ravel(), 1).tolist()
        told = f"{word}-scaled: the numbers are the right ones times {scale:.6g} plus {offset:.6g}"
        yield Mistake(told, {"line": (scale, offset)})
        ordered = np.zeros(ours.size)
        ordered[given.ravel().argsort()] = np.sort(ours.ravel())
        yield Mistake(f"{word}-in-another-order", {"numbers": ordered.reshape(ours.shape)})


def check_formula(
    report: Report,
    check: str,
    formula: Formula,
    given: FloatArray,  # the recorded numbers
    known: BoolArray | None = None,  # which numbers are compared; all by default
    *,
    size: float = 1e-6,  # the least size of the numbers, of which they may be wrong by a part
    close: float = CLOSE,  # this part
    said: str = "",  # what else the numbers have to do with the right ones
    groups: Mapping[str, BoolArray] | None = None,  # see ``Report.add``
) -> None:
    """Compare numbers with their formula, and name the mistake that reproduces them."""
    ours, known = formula(), np.ones(given.shape, dtype=bool) if known is None else known

    def right(found: FloatArray) -> BoolArray:
        finite = np.isfinite(found) & np.isfinite(given)
        largest = max(float(np.abs(found).max(initial=0, where=finite)), size)
        agree: BoolArray = found == given  # infinite ones, too
        agree[finite] = np.abs(found[finite] - given[finite]) <= close * largest
        return agree

    def reproduces(formula: Any) -> bool:
        found = formula()
        unknown = np.isnan(found[known])  # rows beyond the border of a moved array
        return bool((right(found)[known] | unknown).all() and 2 * unknown.sum() <= unknown.size)

    def search() -> Iterator[Mistake]:
        own = formula if isinstance(formula, Numbers) else Numbers(numbers=ours, check=check)
        edits = partial(
            named,
            given=given[known],
            reproduces=reproduces,
            compute=lambda formula: formula()[known],
            axes=given.ndim,
        )
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            if own is not formula:
                yield from edits(formula)
            yield from edits(own, further=own.rewritten(given))

    def example(*at: int) -> str:
        told = f"entry {', '.join(map(str, at))} is {given[at]:.6g} and must be {ours[at]:.6g}"
        return f"{told}{said and ', '}{said}"

    report.add(check, known & ~right(ours), example, search(), int(known.sum()), groups)
