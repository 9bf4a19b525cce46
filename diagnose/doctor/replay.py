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
from .rows import Move, Section, Story
from .truth import STALE, Computed, check_moves, first_of

LATE = "the run has more moves than are kept"
#: Most moves that a target may be over.
STEPS = 32
_SAME = "stale-next-observation: the next observation is the one after the move, not before it"
_NEVER = "stale-observation: the observation is never renewed: obs = next_obs at the end of a step"
_SHIFTED = "shifted-actions: an action belongs to the observation that it was chosen for"
_AT_ENDS = "rewards-left-out-at-ends: the target of a move that ends the game is its reward"
_ILLEGAL = "max-over-illegal: take the maximum over the legal actions of the next state"
_STALE_MASK = (
    "stale-mask: take the maximum over the legal actions of the next state, not of the state before"
    " the move"
)
_CHOSEN = (
    "they have other values than the best ones of one network, as SARSA's and two critics' have"
)
#: In place of a move that is not known.
_NONE = Move(b"", 0.0, terminated=False, truncated=False, used=True)


@dataclass(frozen=True)
class Sample:
    """A batch from a replay buffer."""

    keys: list[bytes]  # of the observations
    actions: IntArray  # (row,)
    later: list[bytes] | None  # keys of the next observations
    targets: FloatArray  # (row,)
    values: FloatArray | None  # of the target network at the next observations, (row, action)
    online: FloatArray | None  # likewise of the online network
    said: Mapping[bytes, FloatArray]  # values at some of the next observations, if not at all
    tables: tuple[FloatArray, ...]  # values of all networks there, (row, action) each

    def check(self, report: Report, story: Story, declared: Declared, *, known: bool) -> None:
        """Check the moves against those of a story, and the targets, unless errors are known."""
        stored = np.array([key in story.moves for key in self.keys])
        fitting = [self._fitting(row, story) for row in range(len(self.keys))]
        moves = [options[0] if options else _NONE for options in fitting]
        fits = np.array([bool(options) for options in fitting])
        wrong = stored & ~fits
        story.several |= self._several(story, wrong)
        if story.several or known:
            return
        made = True
        if story.trace.late or story.changed:
            why = "networks are given other numbers than the environment shows"
            report.unchecked["transitions"] = why if story.changed else LATE
        else:
            example = "row {} of a batch is a move that the environment has never made".format
            mistakes = self._mistakes(story, wrong)
            made = report.add("transitions", wrong, example, mistakes, int(stored.sum()))
        check_moves(report, fits, np.array([move.used for move in moves]))
        if not made:
            return  # the targets of these moves are not known
        values, compared = self.values, slice(1, 4)  # reward, end and cut
        if self.said:
            none = np.full(len(next(iter(self.said.values()))), np.nan)
            values = np.array([self.said.get(move.after, none) for move in moves])
            compared = slice(4)
        if values is None:
            report.unchecked["targets"] = "no call with the next observations was found"
            return
        told: BoolArray = np.asarray(np.isfinite(values).all(axis=1))
        clear = np.array([len({move[compared] for move in options}) == 1 for options in fitting])
        clear &= told | np.array([move.terminated for move in moves])
        values = np.where(told[:, None], values, 0.0)
        replace(self, values=values)._check_targets(report, story, declared, moves, clear)

    def _fitting(self, row: int, story: Story) -> list[Move]:
        """Return the moves that a row may be: the observation after an end may be any other."""
        after = None if self.later is None else self.later[row]
        moves = story.made(self.keys[row], int(self.actions[row]))
        fitting = [move for move in moves if move.terminated or after in (None, move.after)]
        if self.said:  # values at other observations were not asked for
            said = [move for move in fitting if move.terminated or move.after in self.said]
            fitting = said or fitting
        return sorted(fitting, key=lambda move: (move.after != after, not move.used))

    def _several(self, story: Story, wrong: BoolArray) -> bool:
        """Whether moves that were never made lead where a game came some moves later."""
        later = self.later
        if story.several or later is None or not wrong.any():
            return False
        whole = Section(story, 0, len(story.trace.rows))
        taken = whole.stacked("actions")[..., 0].ravel()
        over = (whole.stacked("terminated") | whole.stacked("truncated")).ravel()

        def leads(row: int) -> bool:
            for place in whole.places.get(self.keys[row], ()):
                game = slice(place, place + STEPS * whole.lanes, whole.lanes)
                count = int(np.append(over[game], True).argmax()) + 1
                if taken[place] == self.actions[row] and later[row] in story.after[game][:count]:
                    return True
            return False

        return all(map(leads, np.flatnonzero(wrong).tolist()))

    def _check_targets(
        self,
        report: Report,
        story: Story,
        declared: Declared,
        moves: list[Move],
        clear: BoolArray,  # which rows are of one move
    ) -> None:
        assert self.values is not None
        _, rewards, ended, cut, _ = map(np.array, zip(*moves, strict=True))
        every = np.ones(self.values.shape, dtype=bool)

        def masks(keys: list[bytes]) -> BoolArray:
            return np.array([story.masks.get(key, every[0]) for key in keys])

        formula = Bootstrap(
            rewards=rewards,
            terminated=ended,
            values=self.values,
            mask=every if story.illegal or self.later is None else masks(self.later),
            online=self.online,
            actions=self.actions,
            steps=np.ones(len(self.keys)),
            gamma=0.99,
            double=None if self.online is None else False,
        )
        alike = []
        if rewards[~ended].any():
            alike.append(Mistake(_AT_ENDS, {"rewards": np.where(ended, 0.0, rewards)}))
        if not story.illegal:
            alike.append(Mistake(_ILLEGAL, {"mask": every}))
            alike.append(Mistake(_STALE_MASK, {"mask": masks(self.keys)}))

        def options(gammas: list[float], alike: Iterable[Mistake] = ()) -> Iterator[Bootstrap]:
            ends = (ended, ended | cut) if cut.any() else (ended,)
            double = (None,) if self.online is None else (False, True)
            for gamma, chosen, over in product(gammas, double, ends):
                yield replace(formula, gamma=gamma, double=chosen, terminated=over, alike=alike)

        def others() -> Iterator[Bootstrap]:
            further = [*alike, *self._shifted(story)]
            yield from options(declared.numbers("gamma", 0.99), further)

        computed = Computed(report, "targets", self.targets, clear, declared)
        best = computed.explaining(options(declared.options("gamma")))
        best = computed.judge(replace(best, alike=alike), others())
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
        every = zip(self.keys, self.actions.tolist(), self.later, strict=True)
        own = [move for move, of_these in zip(every, wrong, strict=True) if of_these]
        reached = {
            (move.after, action)
            for actions in story.moves.values()
            for action, moves in actions.items()
            for move in moves
        }
        before = {(key, last, after) for key, _, after, last, *_ in _pairs(story)}
        same = all(key == after for key, _, after in own)
        explains = {
            f"stale-observation: {STALE}": same and all(move[:2] in reached for move in own),
            _SAME: same and all(story.made(*move[:2]) for move in own),
            _SHIFTED: all(not before.isdisjoint({move, (*move[:2], None)}) for move in own),
        }
        yield from first_of(text for text, fits in explains.items() if fits)

    def _shifted(self, story: Story) -> Iterator[Mistake]:
        """Yield the mistakes of rewards and ends that are those of the row before."""
        if self.later is None:
            return
        before = {tuple(move): (reward, over) for *move, _, reward, over in _pairs(story)}
        found = [
            before.get((key, action, after)) or before.get((key, action, None)) or (0.0, False)
            for key, action, after in zip(self.keys, self.actions.tolist(), self.later, strict=True)
        ]
        rewards, over = map(np.array, zip(*found, strict=True))
        yield Mistake("shifted-rewards", {"rewards": rewards})
        yield Mistake("shifted-ends", {"terminated": over})


def _pairs(story: Story) -> Iterator[tuple[Any, ...]]:
    """Yield each move: key, action, key after it, None of an end; and the row before it.

    Of the row before come the action, the reward, and whether it has ended a game.
    """
    whole = Section(story, 0, len(story.trace.rows))
    names, lanes = ("actions", "rewards", "terminated"), whole.lanes
    columns = [whole.stacked(name).reshape(len(story.seen), -1)[:, 0].tolist() for name in names]
    actions, _, ended = (column[lanes:] for column in columns)
    rows = zip(story.seen[lanes:], actions, story.after[lanes:], ended, *columns, strict=False)
    for key, action, after, over, *before in rows:
        yield key, action, None if over else after, *before
