"""The audit of a record: the checks of its form, of its steps and of its statistics.

A record may come in a file of NumPy (.npz): an array for each field, by the name of the field. The
fields decide the kind of the record: ``targets`` makes it ``Targets``, ``next_observations`` makes
it ``Transitions``, and all others are a ``Rollout``. A file holds no functions: the networks of
``Targets`` are arrays of the action values at ``next_observations``, shape (transition, action).
"""

import zipfile
from collections.abc import Sequence
from dataclasses import MISSING, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...baselines.law.numbers import as_numbers
from ...core import FloatArray, InputError, SizeError, present
from ...core.errors import needing
from ...core.sizes import check_memory
from ...core.words import printable
from ...envs import RewardMode
from ..records import PolicyUpdate, Record, Rollout, Targets, Transitions, ValueUpdate
from ..report import Report
from ..view import AgentView, shape_of
from .chance import check_chance
from .estimates import check_estimates, check_log_probs, check_targets, check_values
from .mistakes import explained, reward_mistakes
from .steps import Payment, Steps, finite

#: Fields that are one number, and fields that are functions; all others are arrays.
SINGLE, NETWORKS = (
    {"gamma", "gae_lambda", "double", "drawn", "estimator", "half"},
    {"network", "online"},
)


def audit(
    env: Any,
    record: Record | PolicyUpdate | ValueUpdate | Sequence[PolicyUpdate],
    policy: Any = None,
    critic: Any = None,
    *,
    observations: Any = None,
    rewards: Any = None,
) -> Report:
    """Check what an algorithm has recorded against the exact law of the environment.

    The checks of chance give a false alarm in one audit of 10,000 (see ``chance``), all others
    never. When a check fails, the known mistakes are undone one by one; the mistake that explains
    all wrong entries is named, with its cure.

    Args:
        env: an environment of this project, a vector of them, or a ``Task``.
        record: plain arrays of any library; or all updates of an epoch, one after the other.
        policy: the policy that drew the actions: ``EpsilonGreedy``, or any policy that
            ``as_policy`` accepts. Models draw from their law.
        critic: the critic that gave the values of a rollout: a function of a batch of observations,
            as they were recorded, to values of shape (observation,).
        observations: what changes the observations of ``env`` before they are recorded: a
            ``VecNormalize`` of stable-baselines3, or a function of a batch.
        rewards: what changes the rewards of ``env`` before they are recorded: a factor, or a
            function of an array.

    Raises:
        InputError: if an array has another shape, or the game is too large to be audited.
    """
    first: Any = record[0] if isinstance(record, list | tuple) and record else record
    seen = getattr(getattr(first, "transitions", first), "observations", ())
    axes = shape_of(seen, "observations")[1 + isinstance(first, Rollout) :]
    view, report = AgentView(env, observations, axes), Report()
    if isinstance(record, PolicyUpdate | ValueUpdate | list | tuple):
        with needing("audits of updates", "torch"):
            from .updates import check_epoch, check_update
        if isinstance(record, PolicyUpdate | ValueUpdate):
            check_update(report, record, view)
        elif record and all(isinstance(each, PolicyUpdate) for each in record):
            check_epoch(report, record, view)
        else:
            raise InputError("a list of records must be one or more of PolicyUpdate, got others")
        return report
    if not isinstance(record, Transitions | Rollout | Targets):
        raise InputError(
            "record must be Transitions, a Rollout, Targets, a PolicyUpdate or a ValueUpdate, got "
            f"a {type(record).__name__}"
        )
    record, left_out = finite(report, record)
    moves: Any = record
    if isinstance(record, Targets):  # one discount for rewards and values
        moves = replace(record.transitions, gamma=record.gamma)
    steps = Steps.of(moves, view)
    steps = replace(steps, used=steps.used & ~left_out.reshape(steps.used.shape))
    right = _check_steps(report, steps)
    paid = _check_rewards(report, right, view.mode, rewards)
    drawn = getattr(moves, "drawn", False)
    if isinstance(record, Targets) if drawn is None else drawn:
        report.unchecked["chance"] = "rows that were drawn from a buffer follow no law (drawn=True)"
    elif right.counts is not None:
        report.unchecked["chance"] = "the results of several moves together have no law here"
    else:
        check_chance(report, right, policy, view, paid)
    if isinstance(record, Rollout):
        check_log_probs(report, record, right, policy, view)
        check_values(report, record, critic, steps)
        check_estimates(report, record, steps)
    if isinstance(record, Targets):
        check_targets(report, record, steps)
    return report


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
        example = partial(_example, steps, check)
        report.add(check, wrong, example, named, int(checked.sum()), steps.groups)
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


def _check_rewards(
    report: Report, steps: Steps, mode: RewardMode, declared: Any
) -> FloatArray | None:
    """Check rewards in a mode, up to a factor; return ``Payment.paid`` if they are right."""
    if steps.wrong.any():
        report.unchecked["rewards"] = "the steps that they belong to are wrong"
        return None
    known = declared is None or callable(declared)
    payment = Payment(steps, mode, declared if known else partial(np.multiply, declared))
    factor, wrong = payment.fit

    def example(time: int, lane: int) -> str:
        return f"step {time} of lane {lane} is paid {steps.rewards[time, lane]:.6g}"

    checked = int(payment.checked.sum())
    mistakes = reward_mistakes(payment)
    if not report.add("rewards", wrong, example, mistakes, checked, steps.groups):
        return None
    if factor != 1:
        report.notes.append(f"rewards are those of the game times {factor:.6g}")
    return payment.paid


def audit_file(env: Any, path: Path | str) -> Report:
    """Audit the record in a file (see ``audit``).

    Args:
        env: an environment of this project, a vector of them, or a ``Task``.
        path: an ``.npz`` file, as ``read_record`` reads it.

    Returns:
        The report; checks that need a policy or a critic are among ``unchecked``.

    Raises:
        InputError: if the file is no record (an array is missing, unknown or pickled), and as
            ``audit`` does.
        SizeError: if the arrays take more memory than the limit.
    """
    record = read_record(path)
    report = audit(env, record)
    for check, missing in (("policy", "policy"), ("log_probs", "policy"), ("values", "critic")):
        if check == "policy" or getattr(record, check, None) is not None:
            report.unchecked[check] = f"a file holds no {missing}"
    report.unchecked["update"] = "a file holds no gradient step: give the audit its PolicyUpdate"
    return report


def read_record(path: Path | str) -> Record:
    """Read a record from an ``.npz`` file."""
    given, shown = _arrays(path), printable(str(path))
    if "targets" in given:
        kind: type[Record] = Targets
    else:
        kind = Transitions if "next_observations" in given else Rollout
    inner = list(fields(Transitions)) if kind is Targets else []
    own = inner + [field for field in fields(kind) if field.name != "transitions"]
    required = [field.name for field in own if field.default is MISSING]
    optional = list(dict.fromkeys(each.name for each in own if each.default is not MISSING))
    missing = [name for name in required if name not in given]
    unknown = [printable(name) for name in given if name not in required + optional]
    if missing or unknown:
        may = f" and may hold {', '.join(optional)}" if optional else ""
        told = [f"no {', '.join(missing)}"] if missing else []
        told += [f"the unknown {', '.join(unknown)}"] if unknown else []
        raise InputError(
            f"{shown} must hold the arrays {', '.join(required)}{may}, as {kind.__name__} has "
            f"them, got {' and '.join(told)}"
        )
    for name in SINGLE & given.keys():
        number = as_numbers(given[name], name)
        if number.size != 1:
            raise InputError(f"{name} must be one number, got {number.size}")
        given[name] = number.item()
    for name in NETWORKS & given.keys():
        given[name] = lambda _, recorded=given[name]: recorded
    if kind is Targets:
        names = [field.name for field in inner if field.name in given and field.name != "gamma"]
        given["transitions"] = Transitions(**{name: given.pop(name) for name in names})
    return kind(**given)


def _arrays(path: Path | str) -> dict[str, Any]:
    """Read all arrays of a file."""
    given, shown, name = {}, printable(str(path)), ""
    try:
        with zipfile.ZipFile(path) as archive:
            check_memory("bytes of the file", sum(i.file_size for i in archive.infolist()), 1.0)
        with np.load(path, allow_pickle=False) as file:
            for name in file.files:
                given[name] = file[name]
    except SizeError:
        raise
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{shown} must be a file that can be read: {reason}") from None
    except Exception as error:  # zipfile, zlib and numpy raise nearly anything of damaged bytes
        reason = printable(f"{name}: {error}" if name else str(error) or type(error).__name__)
        raise InputError(
            f"{shown} must be a whole .npz file of arrays of numbers, got {reason}"
        ) from None
    return given
