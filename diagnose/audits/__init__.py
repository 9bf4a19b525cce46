"""The audit of a record: the checks of its form, of its steps and of its statistics.

A record may come in a file of NumPy (.npz): an array for each field, by the name of the field. The
fields decide the kind of the record: ``targets`` makes it ``Targets``, ``next_observations`` makes
it ``Transitions``, and all others are a ``Rollout``. A file holds no functions: the networks of
``Targets`` are arrays of the action values at ``next_observations``, shape (transition, action).
"""

import zipfile
from dataclasses import MISSING, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...baselines.policies.tables import as_numbers
from ...core import FloatArray, InputError
from ...core.errors import needing
from ...core.presentation import present
from ...core.sizes import check_memory
from ...core.words import printable
from ...envs import RewardMode
from ..records import PolicyUpdate, Record, Rollout, Targets, Transitions, ValueUpdate
from ..report import Report
from ..view import AgentView
from .chance import check_chance, player_of
from .estimates import check_rollout, check_targets
from .mistakes import explained, reward_mistakes
from .steps import Payment, Steps

#: Fields that are one number; all others are arrays.
SINGLE = {"gamma": float, "gae_lambda": float, "double": bool}


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
        with needing("audits of updates", "torch"):
            from .updates import check_update
        check_update(report, record, view)
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


# -------------------------------------------------------------------------------- files


def audit_file(env: Any, path: Path | str) -> Report:
    """Audit the record in a file (see ``audit``).

    Args:
        env: an environment of this project, a vector of them, or a ``Task``.
        path: an ``.npz`` file, as ``read_record`` reads it.

    Returns:
        The report; checks that need a policy or a critic are among ``unchecked``.

    Raises:
        InputError: as ``read_record`` and ``audit`` do.
    """
    record = read_record(path)
    report = audit(env, record)
    report.unchecked["policy"] = "a file holds no policy"
    if isinstance(record, Rollout):
        if record.log_probs is not None:
            report.unchecked["log_probs"] = "a file holds no policy"
        if record.values is not None:
            report.unchecked["values"] = "a file holds no critic"
    return report


def read_record(path: Path | str) -> Record:
    """Read a record from an ``.npz`` file.

    Raises:
        InputError: if the file cannot be read, holds pickled objects, lacks an array or holds one
            that is no field of the record.
        SizeError: if the arrays take more memory than the limit.
    """
    path = Path(path)
    given = _arrays(path)
    if "targets" in given:
        kind: type[Record] = Targets
    else:
        kind = Transitions if "next_observations" in given else Rollout
    own, inner = _fields(kind), _fields(Transitions) if kind is Targets else {}
    known = {**inner, **own}
    known.pop("transitions", None)
    missing = [name for name, required in known.items() if required and name not in given]
    unknown = [name for name in given if name not in known]
    if missing or unknown:
        optional = [name for name, required in known.items() if not required]
        may = f" and may hold {', '.join(optional)}" if optional else ""
        told = [f"no {', '.join(missing)}"] if missing else []
        told += [f"the unknown {', '.join(map(printable, unknown))}"] if unknown else []
        raise InputError(
            f"{_shown(path)} must hold the arrays "
            f"{', '.join(name for name, required in known.items() if required)}{may}, as "
            f"{kind.__name__} has them, got {' and '.join(told)}"
        )
    if kind is not Targets:
        return kind(**given)
    transitions = Transitions(**{name: given.pop(name) for name in inner})
    for name in ("network", "online"):
        if name in given:
            given[name] = _constant(given[name])
    return Targets(transitions, **given)


def _fields(kind: type[Record]) -> dict[str, bool]:
    """List the fields of a record, and whether each is required."""
    return {field.name: field.default is MISSING for field in fields(kind)}


def _constant(values: npt.NDArray[Any]) -> Any:
    """Make a network of its recorded values."""
    return lambda _observations: values


def _arrays(path: Path) -> dict[str, Any]:
    """Read all arrays of a file, and the fields that are single numbers."""
    try:
        if not zipfile.is_zipfile(path):
            path.open("rb").close()  # which tells why it cannot be read
            raise InputError(f"{_shown(path)} must be an .npz file, as numpy.savez writes it")
        with zipfile.ZipFile(path) as archive:
            check_memory("bytes of the file", sum(i.file_size for i in archive.infolist()), 1.0)
        with np.load(path, allow_pickle=False) as file:
            return {name: _read(path, file, name) for name in file.files}
    except InputError:
        raise
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{_shown(path)} must be a file that can be read: {reason}") from None
    except Exception as error:  # zipfile, zlib and numpy raise nearly anything of damaged bytes
        reason = printable(str(error) or type(error).__name__)
        raise InputError(f"{_shown(path)} must be a whole .npz file: {reason}") from None


def _read(path: Path, file: Any, name: str) -> Any:
    """Read one array."""
    try:
        array = file[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise InputError(
            f"{_shown(path)} must hold arrays of numbers, got pickled objects as {printable(name)}"
        ) from None
    if name not in SINGLE:
        return array
    number = as_numbers(array, name)
    if number.size != 1:
        raise InputError(f"{name} must be one number, got {number.size}")
    return SINGLE[name](number.item())


def _shown(path: Path) -> str:
    return printable(str(path))
