"""Records in files of NumPy (.npz): an array for each field of a record, by the name of the field.

The fields decide the kind of the record: ``targets`` makes it ``Targets``, ``next_observations``
makes it ``Transitions``, and all others are a ``Rollout``. A file holds no functions: the networks
of ``Targets`` are arrays of the action values at ``next_observations``, shape (transition, action).
"""

import zipfile
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...baselines.policies.tables import as_numbers
from ...baselines.scoring.certificate_file import printable
from ...core import InputError
from ...core.sizes import check_memory
from ..records import Record, Rollout, Targets, Transitions
from ..report import Report
from .audit import audit

#: Fields that are one number; all others are arrays.
SINGLE = {"gamma": float, "gae_lambda": float, "double": bool}


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
