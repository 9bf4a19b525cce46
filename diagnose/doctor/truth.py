"""What a program has stored and estimated, against what its environment has answered.

Rows of a batch are found among the rows of the trace by what networks were given. Returns and
targets then follow from the trace: rewards, ends and the critic's own values are known, and the
discount and lambda are those with which most rows agree.
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np

from ...core import BoolArray, FloatArray, IntArray
from ..audits.estimates import Bootstrap, Gae, LogProbs
from ..audits.formula import CLOSE, Numbers, check_formula, other_lanes
from ..report import Mistake, Report
from .rows import Move, Section, Story
from .tap import Row

#: Discounts and lambdas that are tried beside the numbers of the program.
USUAL = (0.99, 0.95, 1.0, 0.9, 0.98, 0.995, 0.97, 0.999, 0.0, 0.5, 0.8, 0.85, 0.92, 0.3)
#: Correlation of numbers that are alike up to a factor and a summand, and the least rows of them.
ALIKE, LEAST = 0.9999, 8
#: Most numbers of the program that are tried.
MOST = 24
_AUTORESET = (
    "autoreset: the environment was reset in these rows and ignored the action: leave them out, or "
    "use AutoresetMode.SAME_STEP"
)
_RUNS_ON = (
    "cut-games-run-on: the row after the end of a game that was cut is of the next game: stop the "
    "sum there, and take the value of the last observation of the game"
)
_STALE = (
    "stale-observation: Keep the observation that the action was drawn for, not the one after the "
    "move"
)
_RECOMPUTED = (
    "log-probs-recomputed: Keep the log-probabilities of the draw: those of the present law make "
    "every ratio 1"
)
_SAME = "stale-next-observation: the next observation is the one after the move, not before it"
_NEVER = "stale-observation: the observation is never renewed: obs = next_obs at the end of a step"
_SHIFTED = "shifted-actions: an action belongs to the observation that it was chosen for"
_AFTER = "shifted-values: a value belongs to the observation before the move of its row"
_REWARDS = "shifted-rewards"
_ENDS = "shifted-ends"
_CUT = "a game that is cut counts as ended: its last observation has a value (truncation-as-end)"


def settings() -> Iterator[tuple[str, float]]:
    """Yield the numbers from 0 to 1 among the variables of the running program, with their names.

    Attributes of its objects and entries of its dictionaries are among them.
    """
    frame = inspect.currentframe()
    while frame is not None:
        if not str(frame.f_globals.get("__name__", "")).startswith(("exactdice.diagnose", "torch")):
            for key, given in [*frame.f_locals.items(), *frame.f_globals.items()]:
                own = getattr(given, "__dict__", given)
                read = isinstance(own, dict) and not isinstance(given, type | ModuleType)
                for name, each in [(key, given), *(tuple(own.items()) if read else ())]:
                    if isinstance(each, float) and 0 <= each <= 1:
                        yield str(name).lower(), each
        frame = frame.f_back


#: Names that explain the least, and are given last.
LAST = [
    f"{check}-{how}" for check in ("returns", "targets") for how in ("scaled", "in-another-order")
]
#: Parts of the names that programs have for a discount, and for lambda.
WORDS = {"gamma": {"gamma", "discount"}, "gae_lambda": {"lambda", "lam"}}

#: What the program has called its constants when it was last asked: it may have ended since.
SAID: dict[str, list[float]] = {}


def other_constant(name: str, number: float) -> list[str]:
    """Return a note if no variable with the name of a constant has the number that fits."""
    own = declared(name)
    if not own or any(abs(each - number) < 1e-9 for each in own):
        return []
    told = ", ".join(f"{each:g}" for each in own)
    mistake = {"gamma": "gamma-wrong", "gae_lambda": "lambda-wrong"}[name]
    return [f"{name} = {number:g} explains the numbers, the program says {told} ({mistake})"]


def declared(name: str, usual: float | None = None) -> list[float]:
    """Return what the running program calls its discount or lambda, and a usual number."""
    words = WORDS[name]
    own = [number for word, number in settings() if {word, *word.split("_")} & words]
    numbers = SAID[name] = [*dict.fromkeys(own)][:3] or SAID.get(name, [])
    return numbers if usual is None or usual in numbers else [*numbers, usual]


def constants(name: str, first: float | None = None) -> list[float]:
    """Return numbers that the discount or lambda of the program may be, the likeliest first."""
    others = dict.fromkeys(number for _, number in settings() if number > 0.5)
    own = [] if first is None else [first]
    return [*dict.fromkeys([*own, *declared(name, 1.0), *[*others][:MOST], *USUAL])]


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
    recomputed: bool = False  # whether all old log-probabilities are those of the present law


def name_shifts(report: Report, recomputed: bool) -> None:
    """Name what several findings show together."""
    found = {each.check: each for each in report.findings}
    before = {
        check
        for check, each in found.items()
        if each.mistake == f"{check.replace('_', '-')}-of-the-row-before"
    }
    logs = found.get("log_probs")
    if "actions" in before and len(before) > 1 and found.keys() <= before | {"moves"}:
        words = f"an action belongs to the observation before it. {_STALE.partition(': ')[2]}."
        name = "stale-observation"
        own = replace(found["actions"], check="observations", mistake=name, words=words)
        report.findings = [each for each in report.findings if each.check not in before] + [own]
    elif recomputed and logs:
        told = f"{logs.words} {_RECOMPUTED.partition(': ')[2]}."
        at = report.findings.index(logs)
        report.findings[at] = replace(logs, mistake="log-probs-recomputed", words=told)


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
        gamma=declared("gamma", 0.99)[0],
        gae_lambda=1.0,
        returns=True,
    )()


def _check_draws(report: Report, section: Section, stored: Stored) -> None:
    """Check the actions of a rollout, and their log-probabilities."""
    known = np.isfinite(stored.actions)
    used = section.stacked("used")
    _check_resets(report, known, used)
    taken = section.stacked("actions")[..., 0].astype(np.float64)
    check_formula(report, "actions", Numbers(numbers=taken, check="actions"), stored.actions, known)
    logits, logged = section.logits, np.isfinite(stored.log_probs)
    if logits is not None and logged.any():
        right = LogProbs(logs=logits, actions=taken.astype(np.int64))
        check_formula(report, "log_probs", right, stored.log_probs, logged, size=1.0)


def check_rollout(
    report: Report,
    section: Section,
    stored: Stored,
    critic: int | None,  # the number of the critic
    last: FloatArray | None,  # its values after the last row, (lane,)
    facts: Mapping[str, float],  # discount and lambda that are tried first
) -> dict[str, float]:
    """Check what was stored of a rollout; return the discount and lambda that explain it."""
    _check_draws(report, section, stored)
    values = None if critic is None else section.outputs(critic)
    told = np.isfinite(stored.returns)
    if not told.any():
        return {}
    if values is None:
        report.unchecked["returns"] = "the critic was not called before every move"
        return {}
    unsaid = last is None
    if last is None:
        last = np.full(values.shape[1], np.nan)
    rewards, ended, cut = (section.stacked(name) for name in ("rewards", "terminated", "truncated"))
    unknown = np.full(rewards.shape, np.nan)
    formula = Gae(
        rewards=rewards,
        terminated=ended,
        truncated=cut,
        values=values,
        last_values=last,
        final_values=np.where(cut, unknown, 0.0),
        gamma=0.99,
        gae_lambda=0.95,
        returns=True,
    )
    as_ends = replace(formula, terminated=ended | cut)
    discounts, lambdas = (constants(name, facts.get(name)) for name in ("gamma", "gae_lambda"))
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
    pairs = product(declared("gamma", 0.99), declared("gae_lambda", 0.95))
    bases = (formula, as_ends)[: 1 + bool(cut.any())]
    others = [
        replace(each, gamma=gamma, gae_lambda=number, alike=[*_goes_on(each, ended), *_later(each)])
        for gamma, number in pairs
        for each in bases
    ]
    clear = told & np.isfinite(best())
    clipped = replace(best, rewards=np.sign(rewards))
    if (
        agreeing(clipped(), stored.returns, clear).sum()
        > agreeing(best(), stored.returns, clear).sum()
    ):
        best = clipped
        report.notes.append("the program takes the signs of rewards (rewards-clipped)")
    if unsaid and (found := _without_last(report, others, stored.returns, told, clear)):
        return {"gamma": found.gamma, "gae_lambda": found.gae_lambda}
    if not judge(report, "returns", best, stored.returns, clear, others, told):
        return {}
    own = {"gamma": best.gamma, "gae_lambda": best.gae_lambda}
    report.notes += [note for name in own for note in other_constant(name, own[name])]
    return own


def _without_last(
    report: Report, others: list[Gae], given: FloatArray, told: BoolArray, clear: BoolArray
) -> Gae | None:
    """Find the formula without values after the last row that gives all returns, a mistake."""
    for other in others if (told & ~clear).any() else ():  # games go on beyond the last row
        for mistake in _unsaid(other.values):
            if agreeing(replace(other, **mistake.changes)(), given, told)[told].all():
                words = "the critic was not asked for a value after the last row"
                report.add("returns", told & ~clear, words, [mistake], int(told.sum()))
                return other
    return None


def _unsaid(values: FloatArray) -> list[Mistake]:
    """Return the mistakes of rollouts after which the critic was not asked."""
    missing = "gae-last-value-missing: add the critic's value after the last row, if a game goes on"
    return [
        Mistake(missing, {"last_values": np.zeros(values.shape[1])}),
        Mistake("values-of-the-last-row-for-last-values", {"last_values": values[-1]}),
    ]


def _later(formula: Gae) -> list[Mistake]:
    """Return the mistake of values that are those after the move."""
    moved = np.concatenate([formula.values[1:], formula.last_values[None]])
    return [Mistake(_AFTER, {"values": moved})]


def _goes_on(formula: Gae, ended: BoolArray) -> list[Mistake]:
    """Return the mistake of a sum that goes on from a game that was cut into the next one."""
    cut = formula.truncated & ~ended
    return [Mistake(_RUNS_ON, {"truncated": cut & False, "terminated": ended})] * bool(cut.any())


def check_advantages(
    report: Report,
    returns: FloatArray,  # as the program has stored them, (time, lane)
    values: FloatArray,  # (time, lane)
    batches: Iterable[tuple[IntArray, FloatArray]],  # places of rows, and advantages in the loss
) -> None:
    """Check that advantages are returns less values, up to a factor and a summand in each batch.

    Others are WRONG only if a known mistake gives them: a program may have others.
    """
    right = returns - values
    batches = [(places, given) for places, given in batches if np.ptp(given) > 1e-9]

    def fit(numbers: FloatArray) -> bool:
        own = 0
        for places, given in batches:
            taken = numbers.ravel()[places]
            known = (places >= 0) & np.isfinite(taken)
            if known.sum() > LEAST and np.ptp(taken[known]) > 1e-9:
                if abs(np.corrcoef(taken[known], given[known])[0, 1]) < ALIKE:
                    return False
                own += 1
        return own > 0

    if fit(right):
        report.held["advantages"] = sum(len(given) for _, given in batches)
        return
    options = [("returns-for-advantages", returns), ("advantages-without-rewards", -values)]
    options += [(f"lanes-mixed: advantages {words}", each) for words, each in other_lanes(right, 4)]
    for words, step in (("next-row", -1), ("row-before", 1)):
        moved = np.roll(right, step, axis=0)
        moved[-1 if step < 0 else 0] = np.nan
        options.append((f"advantages-of-the-{words}", moved))
    for text, numbers in options:
        if fit(numbers):
            words = "the loss has other advantages than returns less values"
            report.add("advantages", np.ones(1, dtype=bool), words, [Mistake(text)])
            return
    report.unchecked["advantages"] = "they are of a form that is not known here"


def judge(
    report: Report,
    check: str,
    formula: Any,
    given: FloatArray,
    known: BoolArray,
    others: Iterable[Any] = (),
    told: BoolArray | None = None,
) -> bool:
    """Check numbers against their formula; return whether it or a known mistake explains most.

    Numbers of which most are others need a name: a program may have an estimator that is not known
    here. A mistake may hide the discount, so that ``others``, with the constants that the program
    declares, are searched before ``formula``, with those that fit best: in all numbers that are
    ``told``, where they give any.
    """
    own = Report()
    check_formula(own, check, formula, given, known)
    few = 2 * int(agreeing(formula(), given, known).sum()) < int(known.sum())
    if own.findings:
        named = []
        for other in others:
            further, every = Report(), known if told is None else told
            finite = every & np.isfinite(other())
            if 2 * finite.sum() >= every.sum():
                check_formula(further, check, other, given, finite)
                named += [each for each in further.findings if _explains(each.mistake)]
        if named:  # any numbers may be others times a factor, which says the least
            report.findings.append(min(named, key=lambda each: str(each.mistake) in LAST))
            return True
    if few and own.findings and own.findings[0].mistake is None:
        report.unchecked[check] = "they are of a form that is not known here"
        return False
    report.findings += own.findings
    report.held.update(own.held)
    return True


def _explains(name: str | None) -> bool:
    """Whether a name is one that the program's own constants do not speak against."""
    constant = {"gamma-wrong": "gamma", "lambda-wrong": "gae_lambda"}.get(name or "")
    return name is not None and (constant is None or bool(declared(constant)))


def most_agreeing(formulas: Iterable[Any], given: FloatArray, known: BoolArray) -> Any:
    """Return the formula with which most numbers agree."""
    best, most = None, -1
    for formula in formulas:
        agree = int(agreeing(formula(), given, known).sum())
        if agree > most:
            best, most = formula, agree
        if agree == known.sum():
            break
    return best


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
    rows: Sequence[Row] = (),  # of the trace
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
        wrong = stored & ~known
        mistakes = _other_moves(story, rows, keys, actions, later, wrong)
        report.add("transitions", wrong, _transition_example, mistakes, int(stored.sum()))
    resets = np.array([move is not None and not move.used for move in moves])
    report.add("moves", resets, _reset_example, [Mistake(_AUTORESET)], int(known.sum()))
    if any(each.check == "transitions" for each in report.findings):
        return None  # the targets of these moves are not known
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
        alike=RowBefore(story, rows, keys, actions, later, alike[: 2 * (not story.illegal)]),
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
    others = [
        replace(formula, gamma=gamma, double=chosen, terminated=over)
        for gamma, chosen, over in product(declared("gamma", 0.99), double, ends)
    ]
    if not judge(report, "targets", best, targets, clear, others):
        return None
    report.notes += other_constant("gamma", float(best.gamma))
    return float(best.gamma)


def _other_moves(
    story: Story,
    rows: Sequence[Row],
    keys: list[bytes],
    actions: IntArray,
    later: list[bytes] | None,
    wrong: BoolArray,
) -> Iterator[Mistake]:
    """Yield the mistake that explains moves that were never made."""
    if later is None or not wrong.any():
        return
    places = np.flatnonzero(wrong).tolist()
    if len(set(keys)) == 1 < len(keys) and len(story.moves) > len(keys):
        yield Mistake(_NEVER)
        return
    own = [(keys[row], int(actions[row]), later[row]) for row in places]
    found = []
    if all(key == after and story.reached.get((key, action)) for key, action, after in own):
        found.append(_STALE)
    if all(key == after and (key, action) in story.moves for key, action, after in own):
        found.append(_SAME)
    shifted = [
        any(
            time
            and int(rows[time - 1].actions[lane, 0]) == action
            and (rows[time].terminated[lane] or story.said[time].after[lane] == after)
            for time, lane in story.starts.get(key, ())
        )
        for key, action, after in own
    ]
    found += [_SHIFTED] * all(shifted)
    names = tuple(text.partition(": ")[0] for text in found)
    yield from (Mistake(text, others=names[1:]) for text in found[:1])


@dataclass(frozen=True)
class RowBefore:
    """The mistakes of rewards and ends that are those of the row before, found when asked for."""

    story: Story
    rows: Sequence[Row]
    keys: list[bytes]
    actions: IntArray
    later: list[bytes] | None
    others: list[Mistake]  # further mistakes

    def _place(self, key: bytes, action: int, after: bytes) -> tuple[Row | None, int]:
        """Return the row before a move, and its lane."""
        for time, lane in self.story.starts.get(key, ()):
            row = self.rows[time]
            if int(row.actions[lane, 0]) == action and (
                row.terminated[lane] or self.story.said[time].after[lane] == after
            ):
                return (self.rows[time - 1] if time else None), lane
        return None, 0

    def __iter__(self) -> Iterator[Mistake]:
        """Yield the mistakes."""
        yield from self.others
        if self.later is None:
            return
        moves = zip(self.keys, self.actions.tolist(), self.later, strict=True)
        before = [self._place(*move) for move in moves]
        old = [0.0 if row is None else float(row.rewards[lane]) for row, lane in before]
        over = [row is not None and bool(row.terminated[lane]) for row, lane in before]
        yield Mistake(_REWARDS, {"rewards": np.array(old)})
        yield Mistake(_ENDS, {"terminated": np.array(over)})


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
