"""What a program has stored and estimated, against what its environment has answered.

Rows of a batch are found among the rows of the trace by what networks were given. Returns and
targets then follow from the trace: rewards, ends and the critic's own values are known, and the
discount and lambda are those with which most rows agree.
"""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np

from ...core import BoolArray, FloatArray, IntArray
from ..audits.estimates import Bootstrap, Gae, LogProbs
from ..audits.formula import CLOSE, Numbers, check_formula
from ..report import Mistake, Report
from .rows import Move, Section, Story

#: Discounts and lambdas that are tried beside the numbers of the program.
USUAL = (0.99, 0.95, 1.0, 0.9, 0.98, 0.995, 0.97, 0.999, 0.0, 0.5, 0.8, 0.85, 0.92, 0.3)
#: Most numbers of the program that are tried.
MOST = 24
_AUTORESET = (
    "autoreset: the environment was reset in these rows and ignored the action: leave them out, or "
    "use AutoresetMode.SAME_STEP"
)
_NO_LAST = "gae-last-value-missing: add the critic's value after the last row, as its game goes on"
_CUT = "a game that is cut counts as ended: its last observation has a value (truncation-as-end)"


def constants(word: str, first: float | None = None) -> list[float]:
    """Return numbers from 0 to 1 that a constant may have.

    Those of the running program come first that have a word in their name, such as "gamma".
    """
    found: dict[float, bool] = {}
    frame = inspect.currentframe()
    while frame is not None:
        if not str(frame.f_globals.get("__name__", "")).startswith(("exactdice.", "torch")):
            spaces = [frame.f_locals, frame.f_globals]
            spaces += [vars_of(each) for space in spaces for each in tuple(space.values())]
            for name, each in [pair for space in spaces for pair in tuple(space.items())]:
                if isinstance(each, float) and 0.5 < each <= 1:
                    found[each] = found.get(each, False) or word in str(name).lower()
        frame = frame.f_back
    named = [number for number, fits in found.items() if fits]
    own = [*named, *list(found)[:MOST], *USUAL]
    return list(dict.fromkeys(own if first is None else [first, *own]))


def vars_of(given: Any) -> dict[str, Any]:
    """Return the attributes of an object of the program."""
    own = getattr(given, "__dict__", None)
    return own if isinstance(own, dict) and not isinstance(given, type | ModuleType) else {}


def agreeing(found: FloatArray, given: FloatArray, known: BoolArray) -> BoolArray:
    """Return which numbers agree, in single precision."""
    finite = known & np.isfinite(found)
    size = max(float(np.abs(found).max(initial=0, where=finite)), 1e-6)
    agree: BoolArray = np.zeros(found.shape, dtype=bool)
    agree[finite] = np.abs(found[finite] - given[finite]) <= CLOSE * size
    return agree


@dataclass(frozen=True)
class Stored:
    """What a program has stored of a rollout, arrays of shape (time, lane), NaN if unknown."""

    returns: FloatArray
    actions: FloatArray
    log_probs: FloatArray


def discounted(section: Section) -> FloatArray:
    """Return the discounted sums of rewards until the ends of games, (time, lane).

    The discount is the number of the program that has this name.
    """
    rewards, ended, cut = (section.stacked(name) for name in ("rewards", "terminated", "truncated"))
    none = np.zeros(rewards.shape)
    return Gae(
        rewards=rewards,
        terminated=ended | cut,
        truncated=cut,
        values=none,
        last_values=none[0],
        final_values=none,
        gamma=constants("gamma")[0],
        gae_lambda=1.0,
        returns=True,
    )()


def check_rollout(
    report: Report,
    section: Section,
    stored: Stored,
    critic: int | None,  # the number of the critic
    last: FloatArray | None,  # its values after the last row, (lane,)
    facts: Mapping[str, float],  # discount and lambda that are tried first
) -> dict[str, float]:
    """Check what was stored of a rollout; return the discount and lambda that explain it."""
    known = np.isfinite(stored.actions)
    used = section.stacked("used")
    _check_resets(report, known, used)
    taken = section.stacked("actions")[..., 0].astype(np.float64)
    check_formula(report, "actions", Numbers(numbers=taken, check="actions"), stored.actions, known)
    logits, logged = section.logits, np.isfinite(stored.log_probs)
    if logits is not None and logged.any():
        right = LogProbs(logs=logits, actions=taken.astype(np.int64))
        check_formula(report, "log_probs", right, stored.log_probs, logged, size=1.0)
    values = None if critic is None else section.outputs(critic)
    told = np.isfinite(stored.returns)
    if not told.any():
        return {}
    if values is None:
        report.unchecked["returns"] = "the critic was not called before every move"
        return {}
    rewards, ended, cut = (section.stacked(name) for name in ("rewards", "terminated", "truncated"))
    unknown = np.full(rewards.shape, np.nan)
    goes_on = last is None and not (ended | cut)[-1].all()  # beyond the rows that are known
    formula = Gae(
        rewards=rewards,
        terminated=ended,
        truncated=cut,
        values=values,
        last_values=unknown[-1] if last is None else last,
        final_values=np.where(cut, unknown, 0.0),
        gamma=0.99,
        gae_lambda=0.95,
        returns=True,
    )
    as_ends = replace(formula, terminated=ended | cut)
    discounts = constants("gamma", facts.get("gamma"))
    lambdas = constants("lam", facts.get("gae_lambda"))
    best = most_agreeing(
        (
            replace(each, gamma=gamma, gae_lambda=number)
            for gamma, number in product(discounts, lambdas)
            for each in (formula, as_ends)[: 1 + bool(cut.any())]
        ),
        stored.returns,
        told,
    )
    if (best.terminated != ended).any():
        report.notes.append(_CUT)
    if goes_on:  # without a value after the last row
        without = most_agreeing(
            (
                replace(formula, last_values=0 * values[-1], gamma=gamma, gae_lambda=number)
                for gamma, number in product(discounts[:4], lambdas[:4])
            ),
            stored.returns,
            told,
        )
        missing = agreeing(without(), stored.returns, told)[told].all()
        words = "the critic was not asked for a value after the last row"
        report.add("returns", np.array([missing]), words, [Mistake(_NO_LAST)], int(told.sum()))
        if missing:
            return {"gamma": without.gamma, "gae_lambda": without.gae_lambda}
    clear = told & np.isfinite(best())
    judge(report, "returns", best, stored.returns, clear)
    return {"gamma": best.gamma, "gae_lambda": best.gae_lambda}


def judge(report: Report, check: str, formula: Any, given: FloatArray, known: BoolArray) -> None:
    """Check numbers against their formula; numbers of which most are others need a name.

    A program may have an estimator that is not known here.
    """
    own = Report()
    check_formula(own, check, formula, given, known)
    few = 2 * int(agreeing(formula(), given, known).sum()) < int(known.sum())
    if few and own.findings and own.findings[0].mistake is None:
        report.unchecked[check] = "they are of a form that is not known here"
        return
    report.findings += own.findings
    report.held.update(own.held)


def most_agreeing(formulas: Iterable[Any], given: FloatArray, known: BoolArray) -> Any:
    """Return the formula with which most numbers agree; the first one if fewer than half do."""
    first, best, most = None, None, known.sum() / 2
    for formula in formulas:
        first = formula if first is None else first
        agree = int(agreeing(formula(), given, known).sum())
        if agree > most:
            best, most = formula, agree
        if agree == known.sum():
            break
    return first if best is None else best


def _check_resets(report: Report, known: BoolArray, used: BoolArray) -> None:
    report.add("moves", known & ~used, _reset_example, [Mistake(_AUTORESET)], int(known.sum()))


def _reset_example(*at: int) -> str:
    return f"row {at[0]} of a batch is no move: the environment was reset there"


def check_replay(
    report: Report,
    story: Story,
    late: bool,  # whether moves were made that are not known
    keys: list[bytes],  # of the observations of a batch
    actions: IntArray,  # (row,)
    later: list[bytes] | None,  # keys of the next observations
    targets: FloatArray,  # (row,)
    values: FloatArray | None,  # of the target network at the next observations, (row, action)
    online: FloatArray | None,  # likewise of the online network
    first: float | None = None,  # a discount that is tried first
) -> float | None:
    """Check transitions and targets of a batch from a replay buffer; return the discount."""
    known_keys = {key for key, _ in story.moves}
    stored = np.array([key in known_keys for key in keys])
    if 2 * stored.sum() < len(keys):
        report.unchecked["observations"] = "networks are not given what environments show"
        return None
    if not late:
        report.add("observations", ~stored, "the environment has not shown this observation")
    fitting = [
        _fitting(story.moves.get((key, action), ()), None if later is None else later[row])
        for row, (key, action) in enumerate(zip(keys, actions.tolist(), strict=True))
    ]
    moves = [options[0] if options else None for options in fitting]
    known = np.array([bool(options) for options in fitting])
    if not late:
        report.add("transitions", stored & ~known, _transition_example, of=int(stored.sum()))
    resets = np.array([move is not None and not move.used for move in moves])
    report.add("moves", resets, _reset_example, [Mistake(_AUTORESET)], int(known.sum()))
    if values is None:
        report.unchecked["targets"] = "no network was called with the next observations"
        return None

    def column(name: str) -> Any:
        return np.array([getattr(move, name, 0) for move in moves])

    ended, cut = column("terminated").astype(bool), column("truncated").astype(bool)
    every = np.ones(values.shape, dtype=bool)
    legal = _masks(story, later, every)
    cure = "take the maximum over the legal actions of the next state"
    stale = _masks(story, keys, every)
    alike = [
        Mistake(f"max-over-illegal: {cure}", {"mask": every}),
        Mistake(f"stale-mask: {cure}, not of the state before the move", {"mask": stale}),
    ]
    formula = Bootstrap(
        rewards=column("reward").astype(np.float64),
        terminated=ended,
        values=values,
        mask=every if story.illegal else legal,
        alike=alike[: 2 * (not story.illegal)],
        online=online,
        actions=actions,
        steps=np.ones(len(keys)),
        gamma=0.99,
        double=None if online is None else False,
    )
    ends = (ended, ended | cut) if cut.any() else (ended,)
    double = (None,) if online is None else (False, True)
    options = (
        replace(formula, gamma=gamma, double=chosen, terminated=over)
        for gamma, chosen, over in product(constants("gamma", first), double, ends)
    )
    clear = np.array([len({move[1:4] for move in options}) == 1 for options in fitting])
    best = most_agreeing(options, targets, clear)
    if (best.terminated != ended).any():
        report.notes.append(_CUT)
    judge(report, "targets", best, targets, clear)
    return float(best.gamma)


def _masks(story: Story, keys: list[bytes] | None, every: BoolArray) -> BoolArray:
    """Return the masks of legal actions at observations, (row, action)."""
    found = every.copy()
    for row, key in enumerate(keys or ()):
        found[row] = story.masks.get(key, every[row])
    return found


def _fitting(moves: Iterable[Move], after: bytes | None) -> list[Move]:
    """Return the moves that may lead to an observation; after the end of a game any may follow."""
    fitting = [move for move in moves if move.terminated or after in (None, move.after)]
    return sorted(fitting, key=lambda move: (move.after != after, not move.used))


def _transition_example(row: int) -> str:
    return f"row {row} of a batch is a move that the environment has never made"
