"""Moves from a replay buffer, and their targets, against the moves that were made."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from ...core import BoolArray, FloatArray, IntArray
from ..audits.estimates import Bootstrap
from ..audits.formula import CLOSE
from ..report import Mistake, Report
from .program import Declared
from .rows import Move, Story
from .tap import Row
from .truth import CUT, check_moves, explaining, judge

LATE = "the run has more moves than are kept"
#: Most moves that a target may be over.
STEPS = 32
_STALE = "Keep the observation that the action was drawn for, not the one after the move"
_SAME = "stale-next-observation: the next observation is the one after the move, not before it"
_NEVER = "stale-observation: the observation is never renewed: obs = next_obs at the end of a step"
_SHIFTED = "shifted-actions: an action belongs to the observation that it was chosen for"
_AT_ENDS = "rewards-left-out-at-ends: the target of a move that ends the game is its reward"
_CHOSEN = (
    "they have other values than the best ones of one network, as SARSA's and two critics' have"
)
_CURE = "take the maximum over the legal actions of the next state"


@dataclass(frozen=True)
class Sample:
    """A batch from a replay buffer."""

    keys: list[bytes]  # of the observations
    actions: IntArray  # (row,)
    later: list[bytes] | None  # keys of the next observations
    targets: FloatArray  # (row,)
    values: FloatArray | None  # of the target network at the next observations, (row, action)
    online: FloatArray | None  # likewise of the online network
    said: Mapping[bytes, FloatArray] | None = None  # values at some of the next observations
    tables: tuple[FloatArray, ...] = ()  # values of all networks there, (row, action) each

    def check(self, report: Report, story: Story, declared: Declared, *, known: bool) -> None:
        """Check the moves against those of a story, and the targets, unless errors are known."""
        stored = np.array([key in story.moves for key in self.keys])
        fitting = [self._fitting(row, story) for row in range(len(self.keys))]
        values, clear = self.values, np.ones(len(fitting), dtype=bool)
        if self.said:  # those of other rows were not asked for
            asked = [[e for e in own if e.terminated or e.after in self.said] for own in fitting]
            fitting = [known or own for known, own in zip(asked, fitting, strict=True)]
            none = np.full(len(next(iter(self.said.values()))), np.nan)
            of = [self.said.get(own[0].after, none) if own else none for own in fitting]
            clear = np.array([len({move.after for move in own}) == 1 for own in fitting])
            values = np.array(of)
        moves = [options[0] if options else None for options in fitting]
        fits = np.array([bool(options) for options in fitting])
        story.several |= self._several(story, stored & ~fits)
        if story.several or known:
            return
        if not (story.trace.late or story.changed):
            wrong = stored & ~fits
            example = "row {} of a batch is a move that the environment has never made".format
            mistakes = self._mistakes(story, wrong)
            report.add("transitions", wrong, example, mistakes, int(stored.sum()))
        else:
            why = "networks are given other numbers than the environment shows"
            report.unchecked["transitions"] = why if story.changed else LATE
        check_moves(report, fits, np.array([move is None or move.used for move in moves]))
        if any(each.check == "transitions" for each in report.findings):
            return  # the targets of these moves are not known
        if values is None:
            report.unchecked["targets"] = "no call with the next observations was found"
            return
        clear &= np.array([len({move[1:4] for move in options}) == 1 for options in fitting])
        told: BoolArray = np.asarray(np.isfinite(values).all(axis=1))
        clear &= told | np.array([move is not None and move.terminated for move in moves])
        values = np.where(told[:, None], values, 0.0)
        replace(self, values=values)._check_targets(report, story, declared, moves, clear)

    def _several(self, story: Story, wrong: BoolArray) -> bool:
        """Whether moves that were never made lead where a game came some moves later."""
        rows, later = story.trace.rows, self.later
        if story.several or later is None or not wrong.any():
            return False
        seen, after, lanes = story.seen, story.after, len(rows[0].used)

        def leads(row: int) -> bool:
            made = self.keys[row], int(self.actions[row])
            for place, key in enumerate(seen):
                time, lane = divmod(place, lanes)
                if (key, int(rows[time].actions[lane, 0])) == made:
                    for step in range(time, min(time + STEPS, len(rows))):
                        if after[step * lanes + lane] == later[row]:
                            return True
                        if rows[step].terminated[lane] or rows[step].truncated[lane]:
                            break
            return False

        return all(leads(row) for row in np.flatnonzero(wrong).tolist())

    def _fitting(self, row: int, story: Story) -> list[Move]:
        """Return the moves that a row may be: the observation after an end may be any other."""
        after = None if self.later is None else self.later[row]
        moves = story.made(self.keys[row], int(self.actions[row]))
        fitting = [move for move in moves if move.terminated or after in (None, move.after)]
        return sorted(fitting, key=lambda move: (move.after != after, not move.used))

    def _check_targets(
        self,
        report: Report,
        story: Story,
        declared: Declared,
        moves: list[Move | None],
        clear: BoolArray,  # which rows are of one move
    ) -> None:
        assert self.values is not None

        def column(name: str) -> Any:
            return np.array([getattr(move, name, 0) for move in moves])

        ended, cut = column("terminated").astype(bool), column("truncated").astype(bool)
        every = np.ones(self.values.shape, dtype=bool)

        def masks(keys: list[bytes] | None) -> BoolArray:
            found = every.copy()
            for row, key in enumerate(keys or ()):
                found[row] = story.masks.get(key, every[row])
            return found

        rewards = column("reward").astype(np.float64)
        stale = f"stale-mask: {_CURE}, not of the state before the move"
        alike = [
            Mistake(f"max-over-illegal: {_CURE}", {"mask": every}),
            Mistake(stale, {"mask": masks(self.keys)}),
        ]
        formula = Bootstrap(
            rewards=rewards,
            terminated=ended,
            values=self.values,
            mask=every if story.illegal else masks(self.later),
            online=self.online,
            actions=self.actions,
            steps=np.ones(len(self.keys)),
            gamma=0.99,
            double=None if self.online is None else False,
        )
        ends = (ended, ended | cut) if cut.any() else (ended,)
        double = (None,) if self.online is None else (False, True)

        def options(gammas: list[float], alike: Iterable[Mistake] = ()) -> Iterator[Bootstrap]:
            for gamma, chosen, over in product(gammas, double, ends):
                yield replace(formula, gamma=gamma, double=chosen, terminated=over, alike=alike)

        def others() -> Iterator[Bootstrap]:
            further = [*known, *self._shifted(story)]
            yield from options(declared.numbers("gamma", 0.99), further)

        best = explaining(options(declared.options("gamma")), self.targets, clear, ended)
        if (best.terminated != ended).any():
            report.notes.append(CUT)
        known = [] if story.illegal else alike
        if rewards[~ended].any():
            known = [Mistake(_AT_ENDS, {"rewards": np.where(ended, 0.0, rewards)}), *known]
        best = replace(best, alike=known)
        best = judge(report, "targets", best, self.targets, clear, declared, others, clear)
        if best is not None and self._are_known(report, best, clear):
            report.notes += declared.explain("gamma", float(best.gamma))

    def _are_known(self, report: Report, formula: Any, clear: BoolArray) -> bool:
        """Take back a finding if each target has the value of some action, of some network.

        Other programs take the action that was taken next, or the smaller value of two networks.
        """
        assert self.values is not None
        nameless = [e for e in report.findings if e.check == "targets" and e.mistake is None]
        if not nameless:
            return True
        rest, at = self.targets - formula.rewards, clear & ~formula.terminated
        told = np.concatenate([self.values, *self.tables], axis=1)
        far = np.abs(formula.gamma * told[at] - rest[at, None]).min(axis=1)
        near = CLOSE * float(np.abs(self.targets[clear]).max())
        if (far <= near).all() and (np.abs(rest[clear & ~at]) <= near).all():
            report.findings.remove(nameless[0])
            report.unchecked["targets"] = _CHOSEN
        return False

    def _mistakes(self, story: Story, wrong: BoolArray) -> Iterator[Mistake]:
        """Yield the mistake that explains moves that were never made."""
        if self.later is None:
            return
        if len(set(self.keys)) == 1 < len(self.keys) and len(story.moves) > 1:
            yield Mistake(_NEVER)
            return
        own = [
            (self.keys[row], int(self.actions[row]), self.later[row]) for row in wrong.nonzero()[0]
        ]
        reached = {
            (move.after, action)
            for actions in story.moves.values()
            for action, moves in actions.items()
            for move in moves
        }
        before = {
            (key, int(last.actions[lane, 0]), after) for key, _, after, last, lane in _pairs(story)
        }
        found = []
        if all(key == after for key, _, after in own):
            found += [f"stale-observation: {_STALE}"] * all(move[:2] in reached for move in own)
            found += [_SAME] * all(story.made(*move[:2]) for move in own)
        if all(move in before or (*move[:2], None) in before for move in own):
            found.append(_SHIFTED)
        if found:
            others = tuple(text.partition(": ")[0] for text in found[1:])
            yield Mistake(found[0], others=others)

    def _shifted(self, story: Story) -> Iterator[Mistake]:
        """Yield the mistakes of rewards and ends that are those of the row before."""
        if self.later is None:
            return
        before = {
            (key, action, after): (float(last.rewards[lane]), bool(last.terminated[lane]))
            for key, action, after, last, lane in _pairs(story)
        }
        found = [
            before.get((key, action, after)) or before.get((key, action, None)) or (0.0, False)
            for key, action, after in zip(self.keys, self.actions.tolist(), self.later, strict=True)
        ]
        rewards, over = zip(*found, strict=True)
        yield Mistake("shifted-rewards", {"rewards": np.array(rewards)})
        yield Mistake("shifted-ends", {"terminated": np.array(over)})


def _pairs(story: Story) -> Iterator[tuple[bytes, int, bytes | None, Row, int]]:
    """Yield each move, by key, action and key after it, None if a game ends; and the row before."""
    rows = story.trace.rows
    lanes = len(rows[0].used)
    moves = zip(story.seen[lanes:], story.after[lanes:], strict=True)
    for place, (key, after) in enumerate(moves):
        time, lane = divmod(place, lanes)
        row = rows[time + 1]
        then = None if row.terminated[lane] else after
        yield key, int(row.actions[lane, 0]), then, rows[time], lane
