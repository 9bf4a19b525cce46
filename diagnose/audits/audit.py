"""The audit of a record: the checks of its form, of its steps and of its statistics."""

import importlib
from itertools import chain
from typing import Any

import numpy as np

from ...baselines import Policy
from ...baselines.task import task_and_sight
from ...core import FloatArray, InputError
from ...core.presentation import present
from ...envs import RewardMode
from ..records import PolicyUpdate, Rollout, Targets, Transitions, ValueUpdate
from ..report import Finding, Report, told
from .catalogue import copied_lanes, explained
from .players import draw_mistakes, player_of
from .rewards import reward_mistakes
from .rollouts import check_critic, check_estimates, check_log_probs
from .seen import Seen
from .statistics import MOST_STATES, RATES, deviations, threshold
from .steps import Steps, Verdict
from .targets import check_targets


def audit(
    env: Any,
    record: Transitions | Rollout | Targets | PolicyUpdate | ValueUpdate,
    policy: Any = None,
    critic: Any = None,
) -> Report:
    """Check what an algorithm has recorded against the exact law of the environment.

    The checks of chance give a false alarm in one audit of 10,000 (see ``statistics``), all others
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
    task, sight = task_and_sight(env)
    mode: RewardMode = getattr(getattr(env, "unwrapped", env), "reward_mode", "outcome")
    report = Report()
    if isinstance(record, PolicyUpdate | ValueUpdate):
        _updates().check_update(report, record, task, Seen(task, sight))
        return report
    transitions = record.transitions if isinstance(record, Targets) else record
    if not isinstance(transitions, Transitions | Rollout):
        raise InputError(
            "record must be Transitions, a Rollout, Targets, a PolicyUpdate or a ValueUpdate, got "
            f"a {type(transitions).__name__}"
        )
    seen = Seen(task, sight)
    steps = Steps.of(transitions, task, seen)
    right = _check_steps(report, steps)
    payoffs = _check_rewards(report, right, mode)
    player = None if policy is None else player_of(policy, env)
    _check_chance(report, right, player, payoffs)
    if isinstance(record, Rollout):
        check_log_probs(report, record, right, policy, env)
        check_critic(report, record, critic)
        check_estimates(report, record, steps.states.shape)
    if isinstance(record, Targets):
        check_targets(report, record, task, steps)
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
    """Check observations, actions and transitions.

    Returns:
        The corrected steps, as far as the correction is known.
    """
    mistakes, right = explained(steps)
    if right.wrong.any():
        report.notes.append(
            "no known mistake explains the wrong steps: was the record made with other keywords of "
            "the environment, such as its size?"
        )
    for check, verdict in steps.verdicts.items():
        count, of = int(verdict.wrong.sum()), int(verdict.checked.sum())
        if not count:
            report.held[check] = of
            continue
        found = mistakes.get(check)
        mistake, cure = (found.mistake, found.cure) if found else (None, "")
        words = told(_example(steps, check, verdict), cure)
        report.findings.append(Finding(check, mistake, count, of, words))
    return right


def _example(steps: Steps, check: str, verdict: Verdict) -> str:
    """Return a description of the first wrong step."""
    time, lane = np.argwhere(verdict.wrong)[0].tolist()
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
        The payoffs of ended games, as ``Steps.payoffs`` gives them, if the rewards are right.
    """
    if steps.wrong.any():
        report.unchecked["rewards"] = "the steps that they belong to are wrong"
        return None
    factor, verdict = steps.rewards_by(mode)
    count, of = int(verdict.wrong.sum()), int(verdict.checked.sum())
    if not count:
        report.held["rewards"] = of
        if factor != 1:
            report.notes.append(f"rewards are those of the game times {factor:.6g}")
        return steps.payoffs(mode, factor)
    mistake, cure = next(reward_mistakes(steps, mode), (None, ""))
    time, lane = np.argwhere(verdict.wrong)[0].tolist()
    words = told(f"step {time} of lane {lane} is paid {steps.rewards[time, lane]:.6g}", cure)
    report.findings.append(Finding("rewards", mistake, count, of, words))
    return None


def _check_chance(
    report: Report, steps: Steps, policy: Policy | None, payoffs: FloatArray | None
) -> None:
    """Compare outcomes, first states and actions with their laws."""
    if steps.wrong.any():
        report.unchecked["chance"] = "impossible steps have no law"
        return
    if any(found.mistake == "illegal-action" for found in report.findings):
        report.unchecked["chance"] = "the legal actions alone do not follow the law"
        return
    if policy is not None and steps.follow and len(steps.task.initial) > MOST_STATES:
        report.unchecked["visits"] = f"the game has more than {MOST_STATES:,} states"
    found = list(deviations(steps, policy, payoffs))
    least = threshold(len(found))
    for check in dict.fromkeys(deviation.check for deviation in found):
        mine = [deviation for deviation in found if deviation.check == check]
        worst = max(mine, key=lambda deviation: deviation.evidence)
        if worst.evidence < least:
            report.held[check] = worst.steps
            continue
        drawn = draw_mistakes(steps, policy) if check == "policy" and policy is not None else ()
        mistake, cure = next(chain(copied_lanes(steps), drawn), (None, ""))
        tens = (worst.evidence - np.log(len(found) * len(RATES))) / np.log(10)
        example = (
            f"{worst.words} is {worst.mean:.4f} on average, scaled to the range from 0 to 1, and "
            f"must be about {worst.expected:.4f}: chance gives fewer than one such record in "
            f"10^{tens:.0f}"
        )
        words = told(example, cure)
        report.findings.append(Finding(check, mistake, worst.steps, worst.steps, words))
