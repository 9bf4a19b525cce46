"""Rollouts: what a program has stored of its moves and estimated, against the trace.

Rows of a batch are found among the rows of the trace by what networks were given. Returns then
follow from the trace: rewards, ends and the critic's own values are known, and the discount and
lambda are those with which most rows agree.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import torch as th

from ...core import BoolArray, FloatArray, IntArray
from ..audits.estimates import Gae, LogProbs
from ..audits.formula import CLOSE, check_formula, other_lanes
from ..audits.formula import Numbers as Right
from ..report import Mistake, Report
from .calls import numbers_of
from .losses import ILLEGAL, Batch
from .program import Declared
from .rows import Section
from .tap import Numbers
from .truth import STALE, UNKNOWN, Computed, check_moves, first_of, one_edit

#: Least rows of numbers that are alike up to a factor and a summand.
LEAST = 8
#: Losses that have some rows of a rollout, when none has others.
OFTEN = 4
#: Correlations from which the sign of advantages is known: of returns less values, and of sums.
LINEAR, ALIKE = 0.99, 0.9999
#: Share of a batch whose actions may be others than were taken.
FEW = 0.1
#: Largest difference of equal logarithms of probabilities, and of equal advantages in their span.
NEAR = 1e-3
_MASK = "mask-missing-in-update: hold the law to the legal actions, as when actions were drawn"
_MASK_LATE = (
    "mask-after-the-move: record the mask of the observation that the action is drawn for, not the "
    "one after the move"
)
_LAYERS = (
    "dropout-or-batch-norm: call eval() for such layers while the agent plays, or leave them out"
)
_RUNS_ON = (
    "cut-games-run-on: the row after the end of a game that was cut is of the next game: stop the "
    "sum there, and take the value of the last observation of the game"
)
_LEFT_OUT = (
    "losses have some rows of a rollout four times or more, and others never (rows-left-out, "
    "unless rows are drawn with replacement)"
)
_RECOMPUTED = "Keep the log-probabilities of the draw: those of the present law make every ratio 1"
_AFTER = "shifted-values: a value belongs to the observation before the move of its row"
_SCALED = (
    "the critic learns discounted sums of rewards times a factor plus a summand, as where they are "
    "normalised (returns-scaled)"
)
_LAST_ROW = "values-of-the-last-row-for-last-values"
_FIRST_ROW = "values-of-the-first-row-for-last-values"
_PAST = (
    "rewards-of-the-past: add up the rewards from the last move of a game to its first, so that "
    "each row has those that came after it"
)
_TURNED = "returns-in-another-order: the first return belongs to the first move of a game"
_NO_LAST = "gae-last-value-missing: add the critic's value after the last row, if a game goes on"


#: Rows whose values are tried beside those of a mistake, about.
MANY = 64


@dataclass
class Rollout:
    """The rows between two updates, and what losses have shown of them.

    Arrays are of shape (time, lane), NaN where nothing is known.
    """

    section: Section
    #: What modules have said after the rollout, of the last observations, (lane,)
    #: each or None, and of observations by their keys.
    heard: Mapping[th.nn.Module, tuple[FloatArray | None, Mapping[bytes, Numbers]]]
    critic: th.nn.Module | None = None
    last: FloatArray | None = None  # its values after the last row, (lane,)
    values: FloatArray | None = None  # its values before the moves
    whole: bool = True  # whether all losses so far were seen
    ones: list[bool] = field(default_factory=list)  # whether all ratios were 1, after a step
    #: Places of rows of batches, and their advantages as they stand in the losses.
    advantages: list[tuple[IntArray, FloatArray]] = field(default_factory=list)
    #: The same where their sign is not known yet, the weight of the objective, and a place.
    unsure: list[tuple[IntArray, FloatArray, float, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        shape = self.section.end - self.section.begin, self.section.lanes
        self.returns, self.actions, self.log_probs = np.full((3, *shape), np.nan)
        self._right: FloatArray | None = None  # advantages of a lambda of their own
        self._taken = np.zeros(shape, dtype=np.int64)  # how often losses of the law have a row

    def meet(self, critic: th.nn.Module | None) -> None:
        """Take in the values of the critic, when a loss has shown which module it is."""
        if self.critic is not None or critic is None:
            return
        self.critic, self.values = critic, self.section.outputs(critic)
        self.last, said = self.heard.get(critic, (None, {}))
        if self.values is None and all(key in said for key in self.section.keys):
            own = [said[key][0] for key in self.section.keys]
            self.values = np.array(own).reshape(self.returns.shape)
        keys = self.section.after
        if self.last is None and all(key in said for key in keys):
            self.last = np.array([said[key][0] for key in keys])

    def store(
        self,
        batch: Batch,
        places: IntArray,  # of its rows, -1 of those that are not known
        targets: th.Tensor | None,  # of the critic, (row,)
        advantages: th.Tensor | None,  # (row,)
        steps: int,  # number of steps of optimizers since the last move
    ) -> None:
        """Keep what stands in a batch at the places of its rows."""
        there = places >= 0
        if batch.ratio is None and batch.slopes is not None:  # a program may leave rows out
            there &= numbers_of(batch.slopes) != 0
        at = np.divmod(places[there], self.section.lanes)
        if batch.logits is not None:
            np.add.at(self._taken.ravel(), places[places >= 0], 1)
            self.actions[at] = numbers_of(batch.actions)[there]
        first = batch.logits is None or not steps  # else the critic may have changed since
        if self.values is None and batch.values is not None and first:  # it was not asked before
            own = np.full(self.returns.shape, np.nan)
            own[at] = numbers_of(batch.values)[there]
            self.values = own if np.isfinite(own).all() else None
        if targets is not None:  # the first ones: a program may estimate them anew in each epoch
            own, old = numbers_of(targets)[there], self.returns[at]
            self.returns[at] = np.where(np.isnan(old), own, old)
        if batch.ratio is not None and batch.old_log_probs is not None:
            self.log_probs[at] = numbers_of(batch.old_log_probs)[there]
            self.ones += [bool(th.all(batch.ratio[0] == 1))] * bool(steps)
        if advantages is not None:
            self.advantages.append((places, numbers_of(advantages).astype(np.float64)))

    def check_law(self, report: Report, keys: list[bytes], batch: Batch, layers: bool) -> None:
        """Check that the law that is trained is the one that drew the actions.

        If most actions of a batch are others than were taken at its ``keys``, its rows are wrong,
        and not its law. ``layers`` says whether a layer drops inputs, or normalises a batch.
        """
        section, drawn = self.section, self.section.logits
        if drawn is None or batch.logits is None or batch.entered is None:
            return
        places, own = section.asked(batch.entered), section.find(keys)
        taken = section.stacked("actions")[..., 0].ravel()[own[own >= 0]]
        others = (taken != numbers_of(batch.actions)[own >= 0]).sum()
        if (places < 0).any() or others > FEW * len(taken):
            return
        before, now = drawn.reshape(-1, drawn.shape[-1])[places], numbers_of(batch.logits)
        illegal, legal_now = before < ILLEGAL, now > ILLEGAL
        near = np.isclose(before, now, rtol=0, atol=NEAR)
        right: BoolArray = np.all(near | (illegal & ~legal_now), axis=1)
        unmasked = (illegal & legal_now).any() and legal_now.all()
        mistakes = [Mistake(_MASK)] if unmasked else [Mistake(_LAYERS)] * layers
        later, at = [*section.keys[section.lanes :], *section.after], section.place(keys)
        wrong = ~right & (at >= 0)
        masks = [section.story.masks.get(later[place], ()) for place in at[wrong].tolist()]
        if masks and all(map(np.array_equal, masks, legal_now[wrong])):
            mistakes = [Mistake(_MASK_LATE)]
        example = "row {} of the first batch has another law than when its action was drawn".format
        report.add("law", ~right, example, mistakes)

    def turned(
        self,
        places: IntArray,  # of the rows of the batch, or of others that look alike; -1 of none
        own: FloatArray,  # the advantages as they stand in the loss, (row,)
        declared: Declared,
        targets: th.Tensor | None = None,  # of the critic, (row,), if the loss has them
    ) -> tuple[bool, bool]:
        """Return whether a loss has minus the advantages, and whether this is sure."""
        if self.values is None:
            right = self._sums(declared.numbers("gamma", 0.99)[0])().ravel()[places]
        elif targets is not None:
            right = numbers_of(targets) - self.values.ravel()[places]
        else:
            right = self.returns - self.values if self._right is None else self._right
            right = right.ravel()[places]
        known = (places >= 0) & np.isfinite(right)
        if known.sum() < 3 or np.ptp(right[known]) < 1e-6 or np.ptp(own[known]) < 1e-9:
            return False, False
        cosine = float(np.corrcoef(own[known], right[known])[0, 1])
        return cosine < 0, abs(cosine) > (ALIKE if self.values is None else LINEAR)

    def _sums(self, gamma: float) -> Gae:
        """Return the formula of discounted sums of rewards until the ends of games."""
        none = np.zeros(self.returns.shape)
        formula = self._formula(none, none[0])
        ended = formula.terminated | formula.truncated
        return replace(formula, terminated=ended, final_values=none, gamma=gamma, gae_lambda=1.0)

    def _check_sums(
        self, report: Report, told: BoolArray, gammas: list[float], edits: Iterable[float] = ()
    ) -> bool:
        """Check whether returns are discounted sums of rewards, times a factor plus a summand.

        Known mistakes of such sums are looked for with the discounts ``edits``.
        """
        given = self.returns[told]

        def fits(formula: Gae) -> bool:
            right = formula()[told]
            if not np.isfinite(right).all() or min(np.ptp(right), np.ptp(given)) < 1e-6:
                return False
            (factor, summand), far = _line(right, given)
            other = abs(factor - 1) + abs(summand) > NEAR
            return bool(other and factor > 0 and far <= CLOSE and len(np.unique(right)) >= LEAST)

        if any(fits(self._sums(gamma)) for gamma in gammas):
            report.notes.append(_SCALED)
            report.held["returns"] = int(told.sum())
            return True
        mistakes = one_edit(map(self._sums, edits), self.returns, fits)
        if mistakes:
            report.add("returns", told, "they are wrong sums, whatever their scale is", mistakes)
        return bool(mistakes)

    def _formula(self, values: FloatArray, last: FloatArray) -> Gae:
        rewards, ended, cut = map(self.section.stacked, ("rewards", "terminated", "truncated"))
        return Gae(
            rewards=rewards,
            terminated=ended,
            truncated=cut,
            values=values,
            last_values=last,
            final_values=np.where(cut, np.nan, 0.0),
            gamma=0.99,
            gae_lambda=0.95,
            returns=True,
        )

    def check(self, report: Report, declared: Declared, *, known: bool) -> None:
        """Check what was shown, but for returns and advantages if their errors are known."""
        self._check_draws(report)
        taken = self._taken[self.section.stacked("used")]
        if self.whole and taken.max(initial=0) >= OFTEN and not taken.min():
            report.notes.append(_LEFT_OUT)
        told = np.isfinite(self.returns)
        if told.any() and not known:
            self._check_estimates(report, told, declared)
        elif self.advantages and not known:
            self._check_weights(report, declared)
        self._name_shifts(report)

    def _check_estimates(self, report: Report, told: BoolArray, declared: Declared) -> None:
        """Check returns and advantages."""
        formula, own = None, None
        if not self._check_sums(report, told, declared.numbers("gamma", 0.99)[:1]):
            if self.values is not None:
                formula = self._check_returns(report, told, declared)
                unknown = report.unchecked.get("returns") == UNKNOWN
            else:
                report.unchecked["returns"] = "the critic was not called before every move"
                unknown = True
            gammas = declared.options("gamma"), declared.numbers("gamma", 0.99)
            if unknown and self._check_sums(report, told, *gammas):
                del report.unchecked["returns"]
        if self.values is not None and self.advantages and "returns" in report.held:
            own = self._check_advantages(report, declared, formula)
            self._right = None if own is None else own() - self.values
        if formula is not None:
            report.notes += declared.explain("gamma", formula.gamma)
            report.notes += declared.explain("gae_lambda", (own or formula).gae_lambda)

    def _check_draws(self, report: Report) -> None:
        """Check the actions, and their log-probabilities."""
        known = np.isfinite(self.actions)
        check_moves(report, known, self.section.stacked("used"))
        taken = self.section.stacked("actions")[..., 0].astype(np.float64)
        right = Right(numbers=taken, check="actions")
        check_formula(report, "actions", right, self.actions, known)
        logits, logged = self.section.logits, np.isfinite(self.log_probs)
        if logits is not None and logged.any():
            logs = LogProbs(logs=logits, actions=taken.astype(np.int64))
            check_formula(report, "log_probs", logs, self.log_probs, logged, size=1.0)

    def _check_returns(self, report: Report, told: BoolArray, declared: Declared) -> Gae | None:
        """Find the formula that explains the returns: its discount and lambda."""
        assert self.values is not None
        unsaid = np.full(self.section.lanes, np.nan)
        formula = self._formula(self.values, unsaid if self.last is None else self.last)
        ended, cut = formula.terminated, formula.truncated
        forms = [formula] + [replace(formula, terminated=ended | cut)] * bool(cut.any())

        def estimates(
            gammas: list[float], lambdas: list[float], alike: Iterable[Mistake] = ()
        ) -> list[Gae]:
            every = product(gammas, lambdas, forms)
            return [replace(e, gamma=gamma, gae_lambda=lam, alike=alike) for gamma, lam, e in every]

        computed = Computed(report, "returns", self.returns, told, declared)
        options = estimates(declared.options("gamma"), declared.options("gae_lambda"))
        best = computed.explaining(options)
        signs = replace(best, rewards=np.sign(best.rewards))
        if computed.agreeing(signs).sum() > computed.agreeing(best).sum():
            best = signs
            report.notes.append("the program takes the signs of rewards (rewards-clipped)")
        moved = np.concatenate([self.values[1:], formula.last_values[None]])
        alike = [Mistake(_AFTER, {"values": moved})]
        alike.append(Mistake(_LAST_ROW, {"last_values": self.values[-1]}))
        if cut.any():
            alike.insert(0, Mistake(_RUNS_ON, {"truncated": cut & False, "terminated": ended}))
        gammas = declared.numbers("gamma", 0.99)
        others = estimates(gammas, declared.numbers("gae_lambda", 0.95), alike)
        sums = [*others, *estimates(gammas, [1.0])]
        goes_on = told & ~np.isfinite(best())  # beyond the last row
        if found := self._without_last(computed, sums, goes_on):
            return found
        best = computed.judge(best, others)
        if best is not None and "returns" in report.held:  # with rewards that the program makes
            self._without_last(computed, [best], goes_on)
        return best

    def _without_last(
        self, computed: Computed, others: list[Gae], goes_on: BoolArray
    ) -> Gae | None:
        """Find the formula without values after the last row that gives all returns, a mistake."""
        told = computed.told
        for other in others if self.last is None and goes_on.any() else ():
            options = {_NO_LAST: 0 * other.values[-1]}
            options |= {_LAST_ROW: other.values[-1], _FIRST_ROW: other.values[0]}

            def fits(last: FloatArray, other: Gae = other) -> bool:
                found = computed.agreeing(replace(other, last_values=last))
                return bool(found[told].all())

            some = other.values[1 : -1 : 1 + len(other.values) // MANY]
            for text, last in options.items():
                # Where values of other rows fit as well, the numbers do not tell them apart.
                if fits(last) and not any(map(fits, some)):
                    words = "the critic was not asked for a value after the last row"
                    mistakes = [Mistake(text)]
                    computed.report.add("returns", goes_on, words, mistakes, int(told.sum()))
                    return other
        return None

    def _fits(self, numbers: FloatArray) -> bool | None:
        """Whether advantages are some numbers up to a line in each batch; None if few differ."""
        alike = []
        for places, given in self.advantages:
            taken = numbers.ravel()[places]
            known = (places >= 0) & np.isfinite(taken)
            if known.sum() > LEAST and min(np.ptp(taken[known]), np.ptp(given)) > 1e-9:
                alike.append(_line(taken[known], given[known])[1] <= NEAR)
        return all(alike) if alike else None

    def _explain_advantages(
        self,
        report: Report,
        forms: Iterable[Any],  # formulas, and what is subtracted from their numbers
        less: FloatArray | float,
        others: Iterable[str],  # mistakes that fit
        edited: Iterable[Gae],
        words: str,
    ) -> Any | None:
        """Return the form that gives advantages; else they are WRONG if a known mistake does."""

        def fits(formula: Any) -> bool | None:
            return self._fits(formula() - less)

        if found := next(filter(fits, forms), None):
            report.held["advantages"] = sum(len(given) for _, given in self.advantages)
        elif mistakes := first_of(others) or one_edit(edited, self.returns, fits):
            report.add("advantages", np.ones(1, dtype=bool), words, mistakes)
        else:
            report.unchecked["advantages"] = UNKNOWN
        return found

    def _check_weights(self, report: Report, declared: Declared) -> None:
        """Check the advantages of a program without a critic: discounted sums of rewards."""
        right = self._sums(declared.numbers("gamma", 0.99)[0])
        if self._fits(right()) is None:
            return
        mirror = self._mirror()
        past = replace(right, rewards=right.rewards.ravel()[mirror])().ravel()[mirror]
        others = {_PAST: past, _TURNED: right().ravel()[mirror]}
        fitting = (text for text, given in others.items() if self._fits(given))
        forms = map(self._sums, declared.options("gamma"))
        words = "the loss has other weights than discounted sums of rewards"
        found = self._explain_advantages(report, forms, 0.0, fitting, [right], words)
        if found is not None:
            report.notes += declared.explain("gamma", found.gamma)

    def _mirror(self) -> IntArray:
        """Return for each row the place of that which is as far from the other end of its game."""
        places = np.arange(self.returns.size).reshape(self.returns.shape)
        ended = self.section.stacked("terminated") | self.section.stacked("truncated")
        for lane in range(self.section.lanes):
            games = np.split(places[:, lane], np.flatnonzero(ended[:, lane]) + 1)
            places[:, lane] = np.concatenate([game[::-1] for game in games])
        return places

    def _check_advantages(
        self, report: Report, declared: Declared, formula: Gae | None
    ) -> Gae | None:
        """Check that advantages are returns less values; return the formula of another lambda."""
        assert self.values is not None
        right = self.returns - self.values
        if self._fits(right) is None:
            return None

        def estimates(lambdas: list[float]) -> list[Gae]:
            return [replace(formula, gae_lambda=each) for each in lambdas if formula]

        forms = [Right(numbers=self.returns), *estimates(declared.options("gae_lambda"))]
        edited = estimates(declared.numbers("gae_lambda", 0.95))
        words = "the loss has other advantages than returns less values"
        given = forms, self.values, self._others(right), edited, words
        found = self._explain_advantages(report, *given)
        return found if isinstance(found, Gae) else None

    def _others(self, right: FloatArray) -> Iterator[str]:
        """Yield the known mistakes that give advantages, from the right ones."""
        beyond = np.full_like(right[:1], np.nan)
        others = [
            ("returns-for-advantages", self.returns),
            ("advantages-without-rewards", right - self.returns),
            *((f"lanes-mixed: advantages {words}", each) for words, each in other_lanes(right, 4)),
            ("advantages-of-the-next-row", np.concatenate([right[1:], beyond])),
            ("advantages-of-the-row-before", np.concatenate([beyond, right[:-1]])),
        ]
        yield from (text for text, numbers in others if self._fits(numbers))
        own = [given for _, given in self.advantages if np.ptp(given) > 1e-9]
        if right.size > max(map(len, own)) and all(_in_order(right, given) for given in own):
            yield "advantages-of-other-rows"

    def _name_shifts(self, report: Report) -> None:
        """Name what several findings show together."""
        found = {each.check: each for each in report.findings}
        shifted = {check: f"{check.replace('_', '-')}-of-the-row-before" for check in found}
        before = {check for check, each in found.items() if each.mistake == shifted[check]}
        if "actions" in before and len(before) > 1 and found.keys() <= before | {"moves"}:
            own = replace(found["actions"], check="observations", mistake="stale-observation")
            own = replace(own, words=f"an action belongs to the observation before it. {STALE}.")
            report.findings = [each for each in report.findings if each.check not in before] + [own]
        elif self.ones and all(self.ones) and (logs := found.get("log_probs")):
            named = replace(logs, mistake="log-probs-recomputed")
            named = replace(named, words=f"{logs.words} {_RECOMPUTED}.")
            report.findings[report.findings.index(logs)] = named


def _in_order(right: FloatArray, given: FloatArray) -> bool:
    """Whether a batch has the numbers of rows one after the other, in place of its own."""
    count = len(given)
    parts = right.ravel()[: right.size // count * count].reshape(-1, count)
    known = (each for each in parts if np.isfinite(each).all() and np.ptp(each) > 1e-9)
    return any(_line(each, given)[1] <= NEAR for each in known)


def _line(numbers: FloatArray, given: FloatArray) -> tuple[FloatArray, float]:
    """Return the line (factor, summand) nearest to given numbers, and its largest distance.

    The distance is in their span.
    """
    line: FloatArray = np.polyfit(numbers, given, 1)
    return line, float(np.abs(np.polyval(line, numbers) - given).max() / np.ptp(given))
