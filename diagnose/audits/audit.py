"""The audit of a record: the checks of its form, of its steps and of its statistics."""

import importlib
from functools import partial
from typing import Any

import numpy as np

from ...core import FloatArray, InputError
from ...core.presentation import present
from ...envs import RewardMode
from ..records import PolicyUpdate, Rollout, Targets, Transitions, ValueUpdate
from ..report import Report
from ..view import AgentView
from .chance import check_chance, player_of
from .estimates import check_rollout, check_targets
from .mistakes import explained, reward_mistakes
from .steps import Payment, Steps


def audit(
    env: Any,
    record: Transitions | Rollout | Targets | PolicyUpdate | ValueUpdate,
    policy: Any = None,
    critic: Any = None,
) -> Report:
    """Check what an algorithm has recorded against the exact law of the environment.

    The checks of chance give a false alarm in one audit of 10,000 (see ``chance``), all others
    never. When a check fails, the known mistakes are undone one by one; the mistake that explains
    all wrong entries is named, with its cure.

    Args:
        env: an environment of this project, a vector of them, or a ``Task``.
        record: plain arrays of any library.
        policy: the policy that drew the actions: ``EpsilonGreedy``, or any policy that
            ``as_policy`` accepts. Models draw from their law.
        critic: the critic that gave the values of a rollout: a function of a batch of observations,
            as they were recorded, to values of shape (observation,).

    Raises:
        InputError: if an array has another shape, or the game is too large to be audited.
    """
    view, report = AgentView(env), Report()
    if isinstance(record, PolicyUpdate | ValueUpdate):
        _updates().check_update(report, record, view)
        return report
    transitions = record.transitions if isinstance(record, Targets) else record
    if not isinstance(transitions, Transitions | Rollout):
        raise InputError(
            "record must be Transitions, a Rollout, Targets, a PolicyUpdate or a ValueUpdate, got "
            f"a {type(transitions).__name__}"
        )
    steps = Steps.of(transitions, view)
    right = _check_steps(report, steps)
    payoffs = _check_rewards(report, right, view.mode)
    check_chance(report, right, None if policy is None else player_of(policy, env), payoffs)
    if isinstance(record, Rollout):
        check_rollout(report, record, steps, right, policy, critic, env)
    if isinstance(record, Targets):
        check_targets(report, record, steps)
    return report


def _updates() -> Any:
    """Import the checks that need torch."""
    try:
        return importlib.import_module(".updates", __package__)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "audits of updates must have PyTorch: pip install torch"
        ) from error


def _check_steps(report: Report, steps: Steps) -> Steps:
    """Check observations, actions and transitions; return the steps, corrected as far as known."""
    mistakes, right = explained(steps)
    if right.wrong.any():
        report.notes.append(
            "no known mistake explains the wrong steps: was the record made with other keywords of "
            "the environment, such as its size?"
        )
    for check, (checked, wrong) in steps.verdicts.items():
        named = [mistakes[check]] if check in mistakes else []
        report.add(check, wrong, partial(_example, steps, check), named, int(checked.sum()))
    return right


def _example(steps: Steps, check: str, time: int, lane: int) -> str:
    """Return a description of a wrong step."""
    where = f"step {time} of lane {lane}" if steps.follow else f"transition {time}"
    state = int(steps.states[time, lane])
    if state < 0:
        return f"{where}: the agent never sees this observation before a move"
    game, seat = steps.task.game, steps.task.seat
    seen = game.observe(np.array([state]), seat)[0]
    told = f"{where}: {present(game).describe(seen)}"
    if check == "first states":
        return f"{told} cannot be the first position of a game"
    action = int(steps.actions[time, lane])
    if check == "actions":
        return f"{told}: action {action} is illegal"
    does = f"{told}: {present(game).describe_move(seen, action)}"
    after = int(steps.after[time, lane])
    if steps.terminated[time, lane]:
        return f"{does} cannot end the game"
    if after < 0:
        return f"{does}; the next observation is none that the agent sees before a move"
    led = present(game).describe(game.observe(np.array([after]), seat)[0])
    return f"{does} cannot lead to {led}"


def _check_rewards(report: Report, steps: Steps, mode: RewardMode) -> FloatArray | None:
    """Check rewards in a reward mode, up to a constant factor.

    Returns:
        The payoffs of ended games, as ``Payment.payoffs`` gives them, if the rewards are right.
    """
    if steps.wrong.any():
        report.unchecked["rewards"] = "the steps that they belong to are wrong"
        return None
    payment = Payment(steps, mode)
    factor, wrong = payment.fit

    def example(time: int, lane: int) -> str:
        return f"step {time} of lane {lane} is paid {steps.rewards[time, lane]:.6g}"

    checked = int(payment.checked.sum())
    if not report.add("rewards", wrong, example, reward_mistakes(payment), checked):
        return None
    if factor != 1:
        report.notes.append(f"rewards are those of the game times {factor:.6g}")
    return payment.payoffs
