"""Bootstrap targets of action values: r + gamma max Q(s', a') over the legal a', r at the end."""

from typing import Any

import numpy as np

from ...baselines import Task
from ...baselines.policies.tables import as_numbers
from ...core import BoolArray, FloatArray, InputError
from ..arrays import factor, flags, numbers
from ..records import Targets
from ..report import Finding, Report, told
from .estimates import agree
from .steps import Steps


def check_targets(report: Report, record: Targets, task: Task, steps: Steps) -> None:
    """Add to a report whether targets are those of the target network.

    Args:
        report: of the audit.
        record: the targets.
        task: the agent's decision problem.
        steps: the transitions of the record.

    Raises:
        InputError: if a network gives another shape than (transition, action).
    """
    shape = steps.states.shape[:1]
    given = numbers(record.targets, "targets", shape)
    after = np.maximum(steps.after[:, 0], 0)
    legal = task.game.mask(after)
    target = _values(record.network, record.transitions.next_observations, legal.shape, "network")
    online = None
    if record.online is not None:
        online = _values(record.online, record.transitions.next_observations, legal.shape, "online")
    discount = factor(record.gamma, "gamma")
    rewards = numbers(record.transitions.rewards, "rewards", shape)
    ended = flags(record.transitions.terminated, "terminated", shape)

    def targets(
        values: FloatArray = target,
        mask: BoolArray = legal,
        ends: BoolArray = ended,
        chosen_by: FloatArray | None = None,
        gamma: float = discount,
    ) -> FloatArray:
        by = np.where(mask, values if chosen_by is None else chosen_by, -np.inf)
        best: FloatArray = values[np.arange(len(values)), by.argmax(axis=1)]
        return rewards + gamma * np.where(ends, 0.0, best)

    double: dict[str, Any] = {"chosen_by": online} if record.double else {}
    if record.double and online is None:
        raise InputError("online must be the online network where double is True, got None")
    known = ended | (steps.after[:, 0] >= 0)  # elsewhere the next state and its mask are not known
    wanted = np.where(known, targets(**double), given)
    right = agree(wanted, given)
    if right.all():
        report.held["targets"] = len(given)
        return
    everything = np.ones_like(legal)
    options: list[tuple[str, str, dict[str, Any]]] = [
        (
            "target-ignores-ends",
            "the target of a move that ends the game is its reward alone",
            {"ends": np.zeros_like(ended)},
        ),
        (
            "max-over-illegal",
            "take the maximum over the legal actions of the next state",
            {"mask": everything},
        ),
        (
            "stale-mask",
            "the mask must be that of the next state, not of the state before the move",
            {"mask": task.game.mask(np.maximum(steps.states[:, 0], 0))},
        ),
    ]
    if online is not None:
        options += [
            (
                "target-from-online-network",
                "the values must be the target network's",
                {"values": online},
            ),
            (
                "double-dqn",
                "the action is the online network's: say so by double=True",
                {"chosen_by": online},
            ),
        ]
    best = (targets(**double) - rewards)[known & ~ended] / (record.gamma or 1.0)
    gamma = _gamma((given - rewards)[known & ~ended], best)
    options.append(
        ("gamma-wrong", f"the targets were computed with gamma = {gamma:.6g}", {"gamma": gamma})
    )
    found = [
        (name, words)
        for name, words, changes in options
        if agree(targets(**{**double, **changes}), given)[known].all()
    ]
    mistake, cure = found[0] if found else (None, "")
    if len(found) > 1:
        cure += f" (or {', '.join(name for name, _ in found[1:])}: the numbers are the same here)"
    row = int(np.argmin(right))
    example = f"transition {row} has the target {given[row]:.6g} and must have {wanted[row]:.6g}"
    count = int((~right).sum())
    report.findings.append(Finding("targets", mistake, count, len(given), told(example, cure)))


def _gamma(later: FloatArray, best: FloatArray) -> float:
    """Return the factor of the next values."""
    large = np.abs(best) > 1e-3
    return float(np.median(later[large] / best[large])) if large.any() else 1.0


def _values(network: Any, observations: Any, shape: tuple[int, ...], name: str) -> FloatArray:
    """Call a network with a batch of observations."""
    values = as_numbers(network(observations), name).astype(np.float64)
    if values.shape != shape:
        raise InputError(f"{name} must give values of shape {shape}, got {values.shape}")
    return values
