"""Known mistakes in recorded steps: a mistake is named if undoing it makes all steps right."""

from collections.abc import Iterator
from typing import get_args

import numpy as np
import numpy.typing as npt

from ...baselines import Task, policy_names
from ...core import Game, InputError
from ...core.positions import states_of
from ...envs import RewardMode
from .shifts import Undone, autoreset_rows, moved
from .statistics import deviations, threshold
from .steps import Steps


def undone(steps: Steps) -> Iterator[Undone]:
    """Yield the steps with one known mistake undone, the likeliest mistake first."""
    yield from _autoreset(steps) if steps.follow else autoreset_rows(steps)
    yield from _missing_ends(steps)
    if steps.follow:
        yield from _last_ended(steps)
    yield from _stale(steps)
    yield from _shifted_actions(steps)
    if steps.follow:
        yield from _mixed_lanes(steps)
    yield from _other_tasks(steps)
    yield from moved(steps)


def explained(steps: Steps) -> tuple[dict[str, Undone], Steps]:
    """Name the mistakes that explain all wrong steps; illegal actions may accompany another one.

    Returns:
        The mistake by the name of the check that has failed, nothing if none explains all; and the
        steps as a right program would have recorded them, as far as this is known.
    """
    failed = [check for check, verdict in steps.verdicts.items() if verdict.wrong.any()]
    illegal = Undone(
        "illegal-action",
        "hold the policy to the mask of legal actions",
        steps.changed(used=steps.used & ~steps.verdicts["actions"].wrong),
    )
    if failed == ["actions"]:
        return {"actions": illegal}, illegal.steps
    if failed and (found := _named(steps)):
        return dict.fromkeys(failed, found), found.steps
    if "actions" in failed and (found := _named(illegal.steps)):
        return dict.fromkeys(failed, found) | {"actions": illegal}, found.steps
    return {}, steps


def _named(steps: Steps) -> Undone | None:
    """Return the mistake that explains all wrong steps; None if none does."""
    return next((found for found in undone(steps) if _is_right(found.steps, steps)), None)


def _is_right(found: Steps, before: Steps) -> bool:
    checked = sum(int(verdict.checked.sum()) for verdict in found.verdicts.values())
    least = sum(int(verdict.checked.sum()) for verdict in before.verdicts.values()) // 3
    return checked >= least and not found.wrong.any()


def _autoreset(steps: Steps) -> Iterator[Undone]:
    resets = np.zeros_like(steps.used)
    resets[1:] = steps.terminated[:-1]
    resets[0] = steps.wrong[0]  # its game may have ended in the rollout before
    first = steps.task.initial[np.maximum(steps.after, 0)] > 0
    begins = ~steps.terminated & (steps.rewards == 0) & (first | ~steps.knows_after)
    if (resets & ~begins).any():
        return
    used = steps.used & ~resets
    yield Undone(
        "autoreset",
        "after the end of a game the environment ignores one action and resets: leave that row "
        "out, or make the environments with AutoresetMode.SAME_STEP",
        steps.changed(used=used),
    )


def _missing_ends(steps: Steps) -> Iterator[Undone]:
    if steps.terminated.any():
        return
    first = steps.task.initial[np.maximum(steps.after, 0)] > 0
    ended = steps.verdicts["transitions"].wrong & first & (steps.after >= 0)
    yield Undone(
        "terminated-missing",
        "record whether a move has ended the game: here the first position of the next game is "
        "taken for the next position of this one",
        steps.changed(terminated=ended),
    )


def _last_ended(steps: Steps) -> Iterator[Undone]:
    if len(steps.terminated) < 2 or not steps.terminated[-1].all():
        return
    ended = steps.terminated.copy()
    ended[-1] = False
    yield Undone(
        "last-game-ended",
        "the games go on after the last row: its moves have ended none of them, only the rollout",
        steps.changed(terminated=ended),
    )


def _stale(steps: Steps) -> Iterator[Undone]:
    if not steps.follow:
        return
    states = np.concatenate([np.full_like(steps.states[:1], -1), steps.states[:-1]])
    used = steps.used.copy()
    used[0] = False
    yield Undone(
        "stale-observation",
        "the observation was overwritten by the next one before it was recorded: copy it",
        steps.changed(states=states, used=used),
    )


def _shifted_actions(steps: Steps) -> Iterator[Undone]:
    for shift, place in ((1, "next"), (-1, "last")):
        used = steps.used.copy()
        used[0 if shift == 1 else -1] = False
        yield Undone(
            "shifted-actions",
            f"each action was recorded with the {place} observation: record the two together",
            steps.changed(actions=np.roll(steps.actions, shift, axis=0), used=used),
        )


def _mixed_lanes(steps: Steps) -> Iterator[Undone]:
    each = {name: getattr(steps, name) for name in ("states", "actions", "rewards", "terminated")}
    for mixed in (tuple(each), ("states",), ("actions",), ("terminated", "rewards")):
        yield Undone(
            "lanes-mixed",
            f"{', '.join(mixed)}: time and lane are swapped: give arrays as (time, lane), by a "
            "transposition, not a reshape",
            steps.changed(**{name: _unmixed(each[name]) for name in mixed}),
        )


def copied_lanes(steps: Steps) -> Iterator[tuple[str, str]]:
    """Yield a mistake and its cure if most lanes of a rollout are copies of one another."""
    if steps.follow and steps.states.shape[1] > 1:
        lanes = np.concatenate([steps.states, steps.actions]).T
        if 2 * len(np.unique(lanes, axis=0)) <= len(lanes):
            yield "same-seeds", "environments play the same games: give each a seed of its own"


def _unmixed(array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    time, lanes = array.shape
    return array.reshape(lanes, time).T


def _other_tasks(steps: Steps) -> Iterator[Undone]:
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
        best = max(fitting, key=lambda changed: changed.likelihood)
        yield Undone("wrong-task", f"the steps fit {best.task.words}", best)


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
