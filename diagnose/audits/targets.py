"""Bootstrap targets of action values: r + gamma max Q(s', a') over the legal a', r at the end."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...core import BoolArray, FloatArray, InputError
from ..arrays import agree, called, factor, numbers
from ..records import Targets
from ..report import Mistake, Report, reproducing
from .steps import Steps


@dataclass(frozen=True)
class Bootstrap:
    """The declared targets, arrays of shape (transition, ...)."""

    rewards: FloatArray
    ends: BoolArray
    values: FloatArray  # of the next actions, (transition, action)
    mask: BoolArray  # of the next actions, (transition, action)
    chosen_by: FloatArray | None  # values whose maximum is the next action; None for ``values``
    gamma: float

    def __call__(self) -> FloatArray:
        """Compute the targets, shape (transition,)."""
        by = np.where(self.mask, self.values if self.chosen_by is None else self.chosen_by, -np.inf)
        best: FloatArray = self.values[np.arange(len(by)), by.argmax(axis=1)]
        return self.rewards + self.gamma * np.where(self.ends, 0.0, best)


def check_targets(report: Report, record: Targets, steps: Steps) -> None:
    """Add to a report whether targets are those of the target network.

    Args:
        report: of the audit.
        record: the targets.
        steps: the transitions of the record.

    Raises:
        InputError: if a network gives another shape than (transition, action).
    """
    after, ended, rewards = steps.after[:, 0], steps.terminated[:, 0], steps.rewards[:, 0]
    given = numbers(record.targets, "targets", after.shape)
    legal, seen = steps.task.game.mask(np.maximum(after, 0)), record.transitions.next_observations
    target, online = called(record.network, "network", seen, legal.shape), None
    if record.online is not None:
        online = called(record.online, "online", seen, legal.shape)
    if record.double and online is None:
        raise InputError("online must be the online network where double is True, got None")
    gamma = factor(record.gamma, "gamma")
    chosen_by = online if record.double else None
    right = Bootstrap(rewards, ended, target, legal, chosen_by, gamma)
    known = ended | (after >= 0)  # elsewhere the next state and its mask are not known
    wanted = np.where(known, right(), given)
    wrong = ~agree(wanted, given)

    def example() -> str:
        row = int(wrong.argmax())
        return f"transition {row} has the target {given[row]:.6g} and must have {wanted[row]:.6g}"

    def search() -> Iterator[Mistake]:
        before = steps.task.game.mask(np.maximum(steps.states[:, 0], 0))
        later = (given - rewards)[known & ~ended], (right() - rewards)[known & ~ended]
        changes = _changes(right, online, before, *later)
        found = list(reproducing(right, changes, lambda it: bool(agree(it(), given)[known].all())))
        if found:
            others = ", ".join(other.name for other in found[1:])
            tie = f" (or {others}: the numbers are the same here)" if others else ""
            yield Mistake(found[0].name, found[0].cure + tie)

    report.add("targets", int(wrong.sum()), len(given), example, search())


def _changes(
    right: Bootstrap,
    online: FloatArray | None,
    before: BoolArray,
    given: FloatArray,
    ours: FloatArray,
) -> Iterator[Mistake]:
    """List what known mistakes change in the targets.

    Args:
        right: the declared targets.
        online: action values of the online network, if it is known.
        before: legal actions of the states before the moves.
        given: recorded targets less rewards, where the game goes on.
        ours: declared targets less rewards, where the game goes on.
    """
    yield Mistake(
        "target-ignores-ends",
        "the target of a move that ends the game is its reward alone",
        {"ends": np.zeros_like(right.ends)},
    )
    yield Mistake(
        "max-over-illegal",
        "take the maximum over the legal actions of the next state",
        {"mask": np.ones_like(right.mask)},
    )
    yield Mistake(
        "stale-mask",
        "the mask must be that of the next state, not of the state before the move",
        {"mask": before},
    )
    if online is not None:
        yield Mistake(
            "target-from-online-network",
            "the values must be the target network's",
            {"values": online},
        )
        yield Mistake(
            "double-dqn",
            "the action is the online network's: say so by double=True",
            {"chosen_by": online},
        )
    best = ours / (right.gamma or 1.0)
    large = np.abs(best) > 1e-3
    gamma = float(np.median(given[large] / best[large])) if large.any() else 1.0
    yield Mistake(
        "gamma-wrong", f"the targets were computed with gamma = {gamma:.6g}", {"gamma": gamma}
    )
