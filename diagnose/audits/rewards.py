"""Known mistakes of rewards."""

from collections.abc import Callable, Iterator
from typing import get_args

import numpy as np

from ...core import FloatArray
from ...envs import RewardMode
from .shifts import FARTHEST, farthest
from .steps import Steps

#: Rewards that must be paid before many distances are tried.
ENOUGH = 8
#: What is made of rewards so that an algorithm for other games may keep its learning rate.
CLIPPED: dict[str, Callable[[FloatArray], FloatArray]] = {
    "the signs of the rewards": np.sign,
    "the rewards clipped to the range from -1 to 1": lambda rewards: np.clip(rewards, -1, 1),
}


def reward_mistakes(steps: Steps, mode: RewardMode) -> Iterator[tuple[str, str]]:
    """List the known mistakes that reproduce recorded rewards, and what to say of each.

    Args:
        steps: the recorded steps, all of them possible.
        mode: the reward mode of the environment.
    """
    yield from _shifted(steps, mode)
    if not steps.changed(rewards=-steps.rewards).rewards_by(mode)[1].wrong.any():
        yield "reward-scaled", "they have the opposite sign: the agent learns to lose"
    for words, change in CLIPPED.items():
        if not steps.rewards_by(mode, change)[1].wrong.any():
            yield "rewards-clipped", f"they are {words}, so different results are worth the same"
    for other in get_args(RewardMode):
        if other != mode and not steps.rewards_by(other)[1].wrong.any():
            yield "reward-mode", f"they are rewards of reward={other!r}, and env has {mode!r}"


def _shifted(steps: Steps, mode: RewardMode) -> Iterator[tuple[str, str]]:
    """Shift rewards by rows, and those of a rollout by lanes."""
    count, lanes = steps.rewards.shape
    enough = (steps.rewards != 0).sum() >= ENOUGH
    rows = 1 if steps.follow or not enough else max(1, farthest(count))
    for far in (sign * row for row in range(1, rows + 1) for sign in (1, -1)):
        used = steps.used.copy()
        used[slice(far) if far > 0 else slice(far, None)] = False
        place = "next" if far > 0 else "last"
        by = "" if abs(far) == 1 else f" ({abs(far)} rows: one step of {abs(far)} environments)"
        moved = steps.changed(rewards=np.roll(steps.rewards, far, axis=0), used=used)
        if _fits(moved, mode):
            yield "shifted-rewards", f"each reward was recorded with the {place} step{by}"
    for far in range(1, min(lanes, FARTHEST) if enough else 1):
        moved = steps.changed(rewards=np.roll(steps.rewards, far, axis=1))
        if _fits(moved, mode):
            words = (
                f"rewards are those of other lanes, {min(far, lanes - far)} away: keep one order"
            )
            yield "lanes-mixed", words


def _fits(steps: Steps, mode: RewardMode) -> bool:
    """Say whether all rewards that count are right."""
    if mode == "outcome" and (steps.rewards[steps.used & ~steps.terminated] != 0).any():
        return False  # only the end of a game is paid: the quick way to rule a shift out
    return not steps.rewards_by(mode)[1].wrong.any()
