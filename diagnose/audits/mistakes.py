"""Known mistakes of recorded steps: a mistake is named if undoing it makes all steps right.

The ``changes`` of a ``Mistake`` are the arrays of ``Steps`` as a right program would have recorded
them. A vector of L environments writes L rows of a replay buffer for each step, so an array that is
late by one step is L rows late there. L is not known, hence the distances from 1 to ``FARTHEST``.
Most of them are ruled out by a few sampled steps.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Any, get_args

import numpy as np

from ...baselines import Task, policy_names
from ...core import FloatArray, Game, InputError, IntArray, frozen
from ...core.positions import states_of
from ...envs import RewardMode
from ..report import Mistake
from .chance import deviations, threshold
from .steps import Steps

#: Largest distance that is tried.
FARTHEST = 1024
#: Numbers of sampled steps that rule a distance out, first a few, then more.
FEW, SAMPLE = 8, 128
#: Number of moves that rule a distance of actions or ends out.
MOVES = 2048
#: An array that is shifted makes more than this part of the steps wrong.
LEAST = 0.01
#: Rewards that must be paid before many distances are tried.
ENOUGH = 8
#: Arrays of ``Steps``.
ARRAYS = "states", "actions", "rewards", "terminated", "after", "knows_after", "used"
#: Name and cure of an array that was recorded too early or too late.
SHIFTED = {
    "actions": (
        "shifted-actions",
        "each action was recorded with the {} observation{}: record the two together",
    ),
    "terminated": (
        "shifted-ends",
        "ends were recorded with the {} observation{}: record the two together",
    ),
    "rewards": ("shifted-rewards", "each reward was recorded with the {} step{}"),
}
#: What is made of rewards so that an algorithm for other games may keep its learning rate.
CLIPPED: dict[str, Callable[[FloatArray], FloatArray]] = {
    "the signs of the rewards": np.sign,
    "the rewards clipped to the range from -1 to 1": lambda rewards: np.clip(rewards, -1, 1),
}


def explained(steps: Steps) -> tuple[dict[str, Mistake], Steps]:
    """Name the mistakes that explain all wrong steps; illegal actions may accompany another one.

    Returns:
        The mistake by the name of the check that has failed, nothing if none explains all; and the
        steps as a right program would have recorded them, as far as this is known.
    """
    failed = [check for check, verdict in steps.verdicts.items() if verdict.wrong.any()]
    illegal = Mistake("illegal-action", "hold the policy to the mask of legal actions")
    legal = steps.changed(used=steps.used & ~steps.verdicts["actions"].wrong)
    if failed == ["actions"]:
        return {"actions": illegal}, legal
    if failed and (found := _named(steps)):
        return dict.fromkeys(failed, found), steps.changed(**found.changes)
    if "actions" in failed and (found := _named(legal)):
        named = dict.fromkeys(failed, found) | {"actions": illegal}
        return named, legal.changed(**found.changes)
    return {}, steps


def _named(steps: Steps) -> Mistake | None:
    """Return the mistake that explains all wrong steps; None if none does."""
    least = sum(int(verdict.checked.sum()) for verdict in steps.verdicts.values()) // 3
    for mistake in _mistakes(steps):
        found = steps.changed(**mistake.changes)
        checked = sum(int(verdict.checked.sum()) for verdict in found.verdicts.values())
        if checked >= least and not found.wrong.any():
            return mistake
    return None


def _mistakes(steps: Steps) -> Iterator[Mistake]:
    """Yield the known mistakes that steps may have, the likeliest one first."""
    yield from _autoreset(steps)
    yield from _wrong_ends(steps)
    if steps.follow:
        yield _stale(steps, steps.states, 1)
    yield from (_shifted(steps, "actions", far) for far in (1, -1))
    if steps.follow:
        yield from _mixed_lanes(steps)
    yield from _other_tasks(steps)
    yield from _moved(steps)


# ------------------------------------------------------------------------ ends of games


def _autoreset(steps: Steps) -> Iterator[Mistake]:
    """Leave out the rows in which environments were reset: those after the ends of games."""
    first = (steps.task.initial[np.maximum(steps.after, 0)] > 0) & (steps.after >= 0)
    resets = ~steps.terminated & (steps.rewards == 0) & (first | ~steps.knows_after)
    wrong, ended = steps.wrong, steps.terminated
    for lanes in (1,) if steps.follow else range(1, _farthest(steps) + 1):
        # The games of the first rows may have ended before the record.
        after_end = np.concatenate([wrong[:lanes], ended[:-lanes]])
        if not steps.follow and 2 * wrong[lanes:].sum() < wrong.sum():
            return
        if not after_end.any() or (after_end & ~resets).any() or (wrong & ~after_end).any():
            continue
        where = "" if lanes == 1 else f"in each of the {lanes} environments, "
        row = f"{where}the row after the end of a game is no move: leave it out"
        if steps.follow:
            row = (
                "after the end of a game the environment ignores one action and resets: leave that "
                "row out"
            )
        cure = f"{row}, or make the environments with AutoresetMode.SAME_STEP"
        yield Mistake("autoreset", cure, {"used": steps.used & ~after_end})


def _wrong_ends(steps: Steps) -> Iterator[Mistake]:
    """Mark the ends of games that were not recorded, or not those of the last row."""
    if not steps.terminated.any():
        first = steps.task.initial[np.maximum(steps.after, 0)] > 0
        yield Mistake(
            "terminated-missing",
            "record whether a move has ended the game: here the first position of the next game is "
            "taken for the next position of this one",
            {"terminated": steps.verdicts["transitions"].wrong & first & (steps.after >= 0)},
        )
    if steps.follow and len(steps.terminated) > 1 and steps.terminated[-1].all():
        yield Mistake(
            "last-game-ended",
            "the games go on after the last row: its moves have ended none of them, only the "
            "rollout",
            {"terminated": np.append(steps.terminated[:-1], np.zeros_like(steps.used[:1]), axis=0)},
        )


# -------------------------------------------------------------- rows and lanes of arrays


def _stale(steps: Steps, before: IntArray, far: int) -> Mistake:
    """Take the states before the moves from rows that are ``far`` rows earlier."""
    return Mistake(
        "stale-observation",
        "the observation was overwritten by the next one before it was recorded: copy "
        f"it{_by(far)}",
        _rolled(steps, "states", before, far),
    )


def _shifted(steps: Steps, name: str, far: int) -> Mistake:
    """Take an array from rows that are ``far`` rows earlier, or later if ``far`` is negative."""
    mistake, cure = SHIFTED[name]
    words = cure.format("next" if far > 0 else "last", _by(far))
    return Mistake(mistake, words, _rolled(steps, name, getattr(steps, name), far))


def _rolled(steps: Steps, name: str, array: Any, far: int) -> dict[str, Any]:
    used = steps.used.copy()
    used[slice(far) if far > 0 else slice(far, None)] = False
    return {name: np.roll(array, far, axis=0), "used": used}


def _by(far: int) -> str:
    return "" if abs(far) == 1 else f" ({abs(far)} rows: one step of {abs(far)} environments)"


def _farthest(steps: Steps) -> int:
    """Return the largest distance that is tried in a replay buffer."""
    return min(FARTHEST, len(steps.states) // 3)


def _mixed_lanes(steps: Steps) -> Iterator[Mistake]:
    """Swap time and lane of arrays that were reshaped instead of transposed."""
    time, lanes = steps.states.shape
    every = "states", "actions", "rewards", "terminated"
    for mixed in (every, ("states",), ("actions",), ("terminated", "rewards")):
        yield Mistake(
            "lanes-mixed",
            f"{', '.join(mixed)}: time and lane are swapped: give arrays as (time, lane), by a "
            "transposition, not a reshape",
            {name: getattr(steps, name).reshape(lanes, time).T for name in mixed},
        )


def _other_lanes(steps: Steps, *names: str) -> Iterator[Mistake]:
    """Take arrays of a rollout from other lanes."""
    lanes = steps.states.shape[1]
    for far in range(1, min(lanes, FARTHEST)):
        for name in names:
            shown = "observations" if name == "states" else name
            yield Mistake(
                "lanes-mixed",
                f"{shown} are those of other lanes, {min(far, lanes - far)} away: keep one order",
                {name: np.roll(getattr(steps, name), far, axis=1)},
            )


def _other_rows(steps: Steps) -> Iterator[Mistake]:
    """Take arrays of a replay buffer from other rows."""
    stale = (steps.states == steps.after)[~steps.terminated].mean() > 0.9
    for far in range(1, _farthest(steps) + 1):
        if stale:
            yield _stale(steps, steps.after, far)
            yield Mistake(
                "stale-next-observation",
                "the next observation is the one before the move: read it after the "
                f"step{_by(far)}",
                _rolled(steps, "after", steps.states, -far),
            )
            continue
        for name in ("actions", "terminated"):
            yield from (_shifted(steps, name, sign * far) for sign in (1, -1))


def _moved(steps: Steps) -> Iterator[Mistake]:
    """Undo shifts of arrays along lanes, or along the rows of a replay buffer."""
    if steps.wrong.mean() < LEAST or steps.verdicts["observations"].wrong.any():
        return  # no shift makes an observation of nothing one of a state
    possible = _Possible(steps)
    ends = (_shifted(steps, "terminated", far) for far in (1, -1))
    lanes = _other_lanes(steps, "states", "actions", "terminated")
    for mistake in chain(ends, lanes) if steps.follow else _other_rows(steps):
        # Rows at the borders are left out; that alone must not explain the wrong ones.
        left = steps.wrong & mistake.changes.get("used", steps.used)
        if 2 * left.sum() < steps.wrong.sum():
            continue
        found = steps.changed(**mistake.changes)
        if mistake.changes.keys() <= {"actions", "terminated", "used"} and not possible.fit(found):
            continue
        if all(_fits(found, count) for count in (FEW, SAMPLE)):  # most distances fail soon
            yield mistake


class _Possible:
    """Which actions and ends are possible in a sample of steps, given what came before and after.

    Args:
        steps: the recorded steps, whose actions or ends may be wrong.
    """

    def __init__(self, steps: Steps) -> None:
        actions = steps.task.game.num_actions
        self._rows = _spread(steps.states.size, max(FEW, MOVES // actions))
        every: dict[str, Any] = {
            name: np.repeat(getattr(steps, name).ravel()[self._rows], 2 * actions)[:, None]
            for name in ARRAYS
        }
        each = np.indices((len(self._rows), actions, 2)).reshape(3, -1, 1)
        every |= {"actions": each[1], "terminated": each[2] == 1}
        every["used"][:] = True
        wrong = replace(steps, **every, follow=False).wrong
        self._wrong = wrong.reshape(len(self._rows), actions, 2)

    def fit(self, steps: Steps) -> bool:
        """Say whether steps that differ in their actions or ends alone are possible."""
        used, actions, ended = (
            array.ravel()[self._rows] for array in (steps.used, steps.actions, steps.terminated)
        )
        wrong = self._wrong[np.arange(len(used)), actions, ended.astype(int)]
        return not (wrong & used).any()


def _fits(steps: Steps, count: int) -> bool:
    """Say whether a sample of about ``count`` steps is right: lanes, or rows of a buffer."""
    lanes, rows = np.s_[:, : max(1, count // len(steps.states))], _spread(len(steps.states), count)
    part = replace(
        steps,
        **{name: getattr(steps, name)[lanes if steps.follow else rows] for name in ARRAYS},
    )
    return bool(part.used.any()) and not part.wrong.any()


@cache
def _spread(rows: int, count: int) -> IntArray:
    """Return the numbers of some rows, which do not recur with the number of environments."""
    places: IntArray = np.unique(np.random.default_rng(0).integers(rows, size=count))
    return frozen(places)


# -------------------------------------------------------------------------- other tasks


def _other_tasks(steps: Steps) -> Iterator[Mistake]:
    """Try other seats and opponents known by name, and take the likeliest that fit."""
    game, fitting = steps.task.game, []
    own = states_of(game, steps.task.seat)
    for seat in range(game.num_players):
        if not np.array_equal(states_of(game, seat), own):
            continue  # the observations would have to be read anew
        if not _possible(steps.changed(task=Task(game, seat, "random"))):
            continue  # no opponent makes moves that a random one never makes
        for opponent in _opponents(game):
            other = Task(game, seat, *opponent)
            changed = steps.changed(task=other)
            if other != steps.task and _follows(changed):
                fitting.append(changed)
    if fitting:
        best = max(fitting, key=lambda changed: changed.likelihood).task
        yield Mistake("wrong-task", f"the steps fit {best.words}", {"task": best})


def _possible(steps: Steps) -> bool:
    """Return whether all steps are possible in their task, if it can be audited."""
    try:
        return not steps.wrong.any()
    except InputError:  # such as a task without tables
        return False


def _follows(steps: Steps) -> bool:
    """Return whether steps, outcomes and the rewards of some mode agree with the law."""
    if not _possible(steps):
        return False
    if all(steps.rewards_by(mode)[1].wrong.any() for mode in get_args(RewardMode)):
        return False
    found = list(deviations(steps, None, None))
    return max(deviation.evidence for deviation in found) < threshold(len(found))


def _opponents(game: Game) -> list[tuple[str, ...]]:
    """List opponents that are known by name, or none for a game of one player."""
    if game.num_players == 1:
        return [()]
    single = [name for name in policy_names(game) if ":" not in name]
    return [(name,) for name in single if name != "best_response"]


# ------------------------------------------------------------------------------ rewards


def reward_mistakes(steps: Steps, mode: RewardMode) -> Iterator[Mistake]:
    """Yield the known mistakes that reproduce recorded rewards.

    Args:
        steps: the recorded steps, all of them possible.
        mode: the reward mode of the environment.
    """
    enough = (steps.rewards != 0).sum() >= ENOUGH
    rows = 1 if steps.follow or not enough else max(1, _farthest(steps))
    for far in (sign * row for row in range(1, rows + 1) for sign in (1, -1)):
        shifted = _shifted(steps, "rewards", far)
        if _are_paid(steps.changed(**shifted.changes), mode):
            yield shifted
    for mixed in _other_lanes(steps, "rewards") if enough else ():
        if _are_paid(steps.changed(**mixed.changes), mode):
            yield mixed
    if not steps.changed(rewards=-steps.rewards).rewards_by(mode)[1].wrong.any():
        yield Mistake("reward-scaled", "they have the opposite sign: the agent learns to lose")
    for words, change in CLIPPED.items():
        if not steps.rewards_by(mode, change)[1].wrong.any():
            cure = f"they are {words}, so different results are worth the same"
            yield Mistake("rewards-clipped", cure)
    for other in get_args(RewardMode):
        if other != mode and not steps.rewards_by(other)[1].wrong.any():
            cure = f"they are rewards of reward={other!r}, and env has {mode!r}"
            yield Mistake("reward-mode", cure)


def _are_paid(steps: Steps, mode: RewardMode) -> bool:
    """Say whether all rewards that count are right."""
    if mode == "outcome" and (steps.rewards[steps.used & ~steps.terminated] != 0).any():
        return False  # only the end of a game is paid: the quick way to rule a shift out
    return not steps.rewards_by(mode)[1].wrong.any()
