"""The search for arrays that were recorded some rows or lanes too early or too late.

A vector of L environments writes L rows of a replay buffer for each step, so an array that is late
by one step is L rows late there. L is not known, hence the distances from 1 to ``FARTHEST``. Most
of them are ruled out by a few sampled steps.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...core import IntArray, frozen
from ...core.positions import are_legal
from .steps import Steps

#: Largest distance that is tried.
FARTHEST = 1024
#: Numbers of sampled steps that rule a distance out, first a few, then more.
FEW, SAMPLE = 8, 128
#: Number of moves that rule a distance of actions out.
MOVES = 2048
#: An array that is shifted makes more than this part of the steps wrong.
LEAST = 0.01
#: Arrays of ``Steps``.
ARRAYS = "states", "actions", "rewards", "terminated", "after", "knows_after", "used"


class Undone(NamedTuple):
    """The steps that a right program would have recorded, assuming one particular mistake.

    Attributes:
        mistake: the name of the mistake.
        cure: advice for the user.
        steps: the corrected steps.
        array: the name of the corrected array, if it is the only one; else "".
    """

    mistake: str
    cure: str
    steps: Steps
    array: str = ""


def moved(steps: Steps) -> Iterator[Undone]:
    """Undo shifts of arrays along lanes, or along the rows of a replay buffer."""
    if steps.wrong.mean() < LEAST or steps.verdicts["observations"].wrong.any():
        return  # no shift makes an observation of nothing one of a state
    ends, actions = _Ends(steps), _Actions(steps)
    for found in _lanes(steps) if steps.follow else _rows(steps):
        # Rows at the borders are left out; that alone must not explain the wrong ones.
        explained = steps.wrong & found.steps.used
        if 2 * explained.sum() < steps.wrong.sum():
            continue
        if found.array == "terminated":
            fits = ends.fit(found.steps)
        else:
            fits = found.array != "actions" or actions.fit(found.steps)
            fits = fits and _fits(found.steps)
        if fits:
            yield found


class _Actions:
    """Which actions are possible in some steps, given what has followed.

    Args:
        steps: the recorded steps, whose actions may be wrong.
    """

    def __init__(self, steps: Steps) -> None:
        actions = steps.task.game.num_actions
        self._rows = _spread(steps.states.size, max(FEW, MOVES // actions))
        repeated: dict[str, Any] = {
            name: np.repeat(getattr(steps, name).ravel()[self._rows], actions)[:, None]
            for name in ARRAYS
        }
        repeated["actions"] = np.tile(np.arange(actions), len(self._rows))[:, None]
        repeated["used"][:] = True
        every = replace(steps, **repeated, follow=False)
        self._wrong = every.wrong.reshape(len(self._rows), actions)

    def fit(self, steps: Steps) -> bool:
        """Say whether steps that differ in their actions alone are possible, by the sample."""
        used = steps.used.ravel()[self._rows]
        wrong = self._wrong[np.arange(len(used)), steps.actions.ravel()[self._rows]]
        return not (wrong & used).any()


class _Ends:
    """Which steps can end the game, and which can lead to the next observation.

    Args:
        steps: the recorded steps.
    """

    def __init__(self, steps: Steps) -> None:
        every = np.ones_like(steps.used)
        kept = steps.changed(used=every)
        moves = kept.verdicts["observations"].wrong | kept.verdicts["actions"].wrong
        self._readable = not moves.any()
        self._cannot_end = kept.changed(terminated=every).verdicts["transitions"].wrong
        self._cannot_go_on = kept.changed(terminated=~every).verdicts["transitions"].wrong

    def fit(self, steps: Steps) -> bool:
        """Say whether steps that differ in their ends alone are possible."""
        wrong = np.where(steps.terminated, self._cannot_end, self._cannot_go_on)
        return self._readable and not (wrong & steps.used).any()


def autoreset_rows(steps: Steps) -> Iterator[Undone]:
    """Leave out the rows of a replay buffer in which environments were reset."""
    wrong, ended = steps.wrong[:, 0], steps.terminated[:, 0]
    first = (steps.task.initial[np.maximum(steps.after[:, 0], 0)] > 0) & (steps.after[:, 0] >= 0)
    resets = first & ~ended & (steps.rewards[:, 0] == 0)
    for lanes in range(1, farthest(len(wrong)) + 1):
        after_end = np.concatenate([wrong[:lanes], ended[:-lanes]])
        if 2 * wrong[lanes:].sum() < wrong.sum():
            return
        where = "" if lanes == 1 else f"in each of the {lanes} environments, "
        if after_end.any() and not (after_end & ~resets).any() and not (wrong & ~after_end).any():
            yield Undone(
                "autoreset",
                f"{where}the row after the end of a game is no move: leave it out, or make the "
                "environments with AutoresetMode.SAME_STEP",
                steps.changed(used=steps.used & ~after_end[:, None]),
            )


def farthest(rows: int) -> int:
    """Return the largest distance that is tried in a replay buffer."""
    return min(FARTHEST, rows // 3)


def _rows(steps: Steps) -> Iterator[Undone]:
    """Shift the rows of a replay buffer."""
    count = len(steps.states)
    stale = (steps.states == steps.after)[~steps.terminated].mean() > 0.9
    place = np.arange(count)[:, None]
    for far in range(1, farthest(count) + 1):
        late, early = steps.used & (place >= far), steps.used & (place < count - far)
        by = "" if far == 1 else f" ({far} rows: one step of {far} environments)"
        if stale:
            yield Undone(
                "stale-observation",
                "the observation was overwritten by the next one before it was recorded: copy "
                f"it{by}",
                steps.changed(states=_rolled(steps.after, far), used=late),
            )
            yield Undone(
                "stale-next-observation",
                f"the next observation is the one before the move: read it after the step{by}",
                steps.changed(after=_rolled(steps.states, -far), used=early),
            )
            continue
        for name in ("actions", "terminated"):
            mistake = "shifted-actions" if name == "actions" else "shifted-ends"
            array = getattr(steps, name)
            for shift, used, which in ((far, late, "next"), (-far, early, "last")):
                yield Undone(
                    mistake,
                    f"{name} were recorded with the {which} observation{by}: record the two "
                    "together",
                    steps.changed(**{name: _rolled(array, shift)}, used=used),
                    name,
                )


def _lanes(steps: Steps) -> Iterator[Undone]:
    """Shift lanes of a rollout, and ends by a row."""
    for shift, which in ((1, "next"), (-1, "last")):
        used = steps.used.copy()
        used[0 if shift == 1 else -1] = False
        yield Undone(
            "shifted-ends",
            f"ends were recorded with the {which} observation: record the two together",
            steps.changed(terminated=_rolled(steps.terminated, shift), used=used),
            "terminated",
        )
    lanes = steps.states.shape[1]
    for far in range(1, min(lanes, FARTHEST)):
        for name in ("states", "actions", "terminated"):
            shown = "observations" if name == "states" else name
            yield Undone(
                "lanes-mixed",
                f"{shown} are those of other lanes, {min(far, lanes - far)} away: keep one order",
                steps.changed(**{name: np.roll(getattr(steps, name), far, axis=1)}),
                name,
            )


def _rolled(array: Any, far: int) -> Any:
    return np.roll(array, far, axis=0)


def _fits(steps: Steps) -> bool:
    """Say whether a sample of steps is right: first a few, as most distances fail there."""
    return all(_is_right(steps, count) for count in (FEW, SAMPLE))


def _is_right(steps: Steps, count: int) -> bool:
    """Return whether a sample of about ``count`` steps is right: lanes, or rows of a buffer."""
    part = replace(steps, **{name: _sample(steps, name, count) for name in ARRAYS})
    states, actions = part.states[part.used], part.actions[part.used]
    if not len(states) or (states < 0).any():
        return False
    return bool(are_legal(steps.task.game, states, actions).all()) and not part.wrong.any()


def _sample(steps: Steps, name: str, count: int) -> Any:
    array = getattr(steps, name)
    if steps.follow:
        return array[:, : max(1, count // len(array))]
    return array[_spread(len(array), count)]


@cache
def _spread(rows: int, count: int) -> IntArray:
    """Return the numbers of some rows, which do not recur with the number of environments."""
    places: IntArray = np.unique(np.random.default_rng(0).integers(rows, size=count))
    return frozen(places)
