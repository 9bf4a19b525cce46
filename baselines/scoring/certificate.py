"""Policy certificates: a policy and what it scores, in one file that anybody can check.

A certificate is a compressed NumPy file (.npz) without pickled objects that holds

    policy    actions, integers of shape (state,), or probabilities, shape (state, action), in the
              states of the agent's seat in increasing order
    claims    JSON: the game with its keyword arguments, seat and opponents, the policy's name, and
              value, optimum, random, regret and normalized
    sha256    hash of both, which shows damage

``verify`` trusts no claim: it computes all of them anew from the policy. It is safe with a file of
unknown origin: it reads at most half a gigabyte, runs nothing in the file, accepts as opponents
only policies known by name, never tables or other files, and prints messages of one line.
"""

import hashlib
import inspect
import io
import json
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite, prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core import GAMES, BoolArray, Game, InputError, IntArray
from ...core.positions import states_of
from ..policies.checks import SUM_TOLERANCE
from ..policies.kinds import PolicyFunction
from ..policies.names import is_policy_name
from ..task import Task
from .exact import score
from .score import Score

FORMAT = "exactdice policy certificate 1"
MEMBERS = ("policy", "claims", "sha256")
CLAIMS = ("value", "optimum", "random", "regret", "normalized")
TOLERANCE = 1e-9  # share of the largest payoff: normalising again changes last digits
LARGEST = 2**29  # bytes of a file, and of the policy in memory
LONGEST = 2**24  # characters of the claims
DEEPEST = 6  # lists in lists in the claims; a utility's table is at 4


class CertificateError(InputError):
    """The file is no certificate, is damaged, or makes a false claim."""


def certificate(result: Score) -> bytes:
    """Write the certificate of a score.

    Args:
        result: score of a policy held to the legal actions, against opponents known by name.

    Raises:
        ValueError: if the policy or an opponent is another one, or the policy too large to verify.
    """
    task = result.task
    if not result.masked:
        raise InputError("a certificate must be of a policy held to the legal actions")
    game, states = task.game, states_of(task.game, task.seat)
    if result.agent.is_deterministic:
        smallest = np.min_scalar_type(game.num_actions)
        policy = result.agent.likeliest(states).astype(smallest)
    else:
        _check_size((len(states), game.num_actions))
        policy = result.agent.probabilities(states)
    claims = {
        "format": FORMAT,
        "game": game.name,
        "keywords": {**game.keywords, "seat": task.seat, **task.opponent_keywords},
        "policy": result.policy,
        **{name: getattr(result, name) for name in CLAIMS},
    }
    text = json.dumps(claims, indent=1)
    file = io.BytesIO()
    arrays: dict[str, Any] = {
        "policy": policy,
        "claims": np.array(text),
        "sha256": np.array(_digest(policy, text)),
    }
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def verify(path: Path | str) -> Score:
    """Compute anew all claims of a certificate.

    Returns:
        The score of its policy.

    Raises:
        CertificateError: if the file is no certificate, damaged, makes a false claim, or has
            opponents that are not known by name, such as a table.
        OSError: if there is no such file or it cannot be read.
    """
    policy, claims = read(path := Path(path))
    with _naming(path):
        task = _task(claims)
        play = _player(path, policy, task)
        try:
            result = score(play, task, name=claims["policy"])
        except InputError as error:
            raise InputError(f"must hold a policy of {task.game!r}: {error}") from None
        _compare(claims, result)
    return result


def read_policy(path: Path, game: Game) -> PolicyFunction:
    """Read the policy of a certificate, for the certificate's seat.

    Raises:
        CertificateError: if the file is no certificate, damaged, or of another game.
    """
    policy, claims = read(path)
    with _naming(path):
        task = _task(claims)
        if task.game == game:
            return _player(path, policy, task)
    raise CertificateError(f"{path} must be of {game!r}, got one of {task.game!r}")


def _player(path: Path, policy: npt.NDArray[Any], task: Task) -> PolicyFunction:
    """Make a function of a policy's rows, one for each state of the seat in increasing order."""
    states = states_of(task.game, task.seat)
    if len(policy) != len(states):
        raise InputError(f"must hold a policy for {len(states)} states, got {len(policy)}")

    def play(observations: IntArray, _masks: BoolArray) -> Any:
        wanted = task.game.encode(observations)
        rows = np.minimum(np.searchsorted(states, wanted), len(states) - 1)
        if (states[rows] != wanted).any():
            raise CertificateError(f"{path} must be of the seat that is played, got {task.seat}")
        return policy[rows]

    return play


def printable(text: str, longest: int = 600) -> str:
    """Escape characters that could move a terminal's cursor or forge a line; cut long text."""
    shown = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text[:longest])
    return shown if len(text) <= longest else f"{shown}..."


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Put the file's name before an error message, in one line."""
    try:
        yield
    except InputError as error:
        raise CertificateError(f"{printable(str(path))} {printable(str(error))}") from None


def _compare(claims: dict[str, Any], result: Score) -> None:
    """Compare claims with computed figures, within a tolerance for payoffs of that size."""
    size = max(abs(payoff) for payoff in result.task.game.payoff_range)
    span = result.optimum - result.random
    for name in CLAIMS:
        claimed, computed = claims[name], getattr(result, name)
        unit = size if name != "normalized" else size / span if span > 0 else 1.0
        if not abs(claimed - computed) <= TOLERANCE * unit:
            raise InputError(f"claims {name} = {claimed}, computed is {computed}")


def _task(claims: dict[str, Any]) -> Task:
    """Build the task that the claims name."""
    rules, keywords = GAMES[claims["game"]], dict(claims["keywords"])
    known = ["seat", rules.opponent_keyword, *inspect.signature(rules).parameters]
    unknown = [name for name in keywords if name not in known]
    if unknown:
        raise InputError(f"must have keywords out of {', '.join(known)}, got {', '.join(unknown)}")
    seat, opponents = keywords.pop("seat", 0), keywords.pop(rules.opponent_keyword, [])
    try:
        game = rules(**keywords)
        for opponent in opponents if isinstance(opponents, list) else [opponents]:
            if isinstance(opponent, list | int | float):
                raise InputError("opponents must be known by name, got an inline table")
            if not isinstance(opponent, str) or not is_policy_name(game, opponent):
                raise InputError(f"opponents must be known by name, got {opponent!r}")
        return Task(game, seat, opponents)
    except InputError as error:
        raise InputError(f"must name a game and its keywords: {error}") from None


def read(path: Path) -> tuple[npt.NDArray[Any], dict[str, Any]]:
    """Read the policy, as int64 or float64, and the claims, and check their hash.

    Raises:
        CertificateError: if the file is not a whole certificate.
        OSError: if there is no such file or it cannot be read.
    """
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    with _naming(path):
        try:
            return _parse(content)
        except InputError:
            raise
        except Exception as error:
            # Of damaged bytes zipfile, zlib, numpy and json raise nearly anything, RuntimeError
            # and MemoryError included. Nothing but reading happens here, so it is the file's fault.
            reason = str(error) or type(error).__name__
            raise InputError(f"must be a whole policy certificate: {reason}") from None


def _parse(content: bytes) -> tuple[npt.NDArray[Any], dict[str, Any]]:
    if len(content) > LARGEST:
        raise InputError(f"must be a file of at most {LARGEST:,} bytes")
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise ValueError("it is cut off, or no .npz file at all")
    if content.count(b"PK\x01\x02") > 100:  # each becomes an object when the file is opened
        raise InputError(f"must hold {', '.join(MEMBERS)} alone, got hundreds of members")
    with warnings.catch_warnings(), zipfile.ZipFile(io.BytesIO(content)) as archive:
        warnings.simplefilter("error")  # of numpy, about headers that it mends
        if sorted(archive.namelist()) != sorted(f"{name}.npy" for name in MEMBERS):
            raise InputError(f"must hold {', '.join(MEMBERS)} alone, got {archive.namelist()}")
        policy, text, digest = (_member(archive, name) for name in MEMBERS)
    if digest != (computed := _digest(policy, text)):
        raise InputError(f"must have the hash {digest} that it states, got {computed}")
    return _checked(policy), _claims(text)


def _member(archive: zipfile.ZipFile, name: str) -> Any:
    """Read an array or a text after comparing its header with the size of the data."""
    info = archive.getinfo(f"{name}.npy")
    if info.file_size > (LARGEST if name == "policy" else 4 * LONGEST):
        raise InputError(f"must be of a limited size, got {info.file_size:,} bytes of {name}")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"must be compressed as .npz files are, got type {info.compress_type}")
    with archive.open(info) as member:  # ``archive.read`` would unpack more than is promised
        file = io.BytesIO(member.read(info.file_size))
    if np.lib.format.read_magic(file) != (1, 0):
        raise InputError(f"must have {name} in version 1.0 of the format npy")
    shape, _, kind = np.lib.format.read_array_header_1_0(file)
    wanted = kind.kind in "uif" and len(shape) in (1, 2) if name == "policy" else kind.kind == "U"
    if not wanted or (name != "policy" and shape != ()):
        holds = "actions or probabilities" if name == "policy" else "a text"
        raise InputError(f"must hold {holds} as {name}, got {kind} of shape {shape}")
    promised, there = prod(shape) * kind.itemsize, len(file.getvalue()) - file.tell()
    if min(shape, default=0) < 0 or promised != there:
        raise InputError(f"must hold {name} of shape {shape} and {kind}, got {there:,} bytes of it")
    if name == "policy":
        _check_size(shape)
    file.seek(0)
    array = np.lib.format.read_array(file, allow_pickle=False)
    return array if name == "policy" else str(array)


def _check_size(shape: tuple[int, ...]) -> None:
    """Refuse policies that are too large to be read as numbers of eight bytes."""
    if 8 * prod(shape) > LARGEST:
        raise InputError(f"must hold at most {LARGEST // 8:,} numbers, got a policy of {shape}")


def _checked(policy: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Give actions as int64, and probabilities as float64: sums of shorter floats are wrong."""
    if policy.ndim == 1 and policy.dtype.kind in "ui":
        return policy.astype(np.int64)
    table = policy.astype(np.float64)
    if table.size and not (table.min() >= 0 and table.max() <= 1 + SUM_TOLERANCE):
        raise InputError("must hold probabilities from 0 to 1")
    return table


def _claims(text: str) -> dict[str, Any]:
    claims = json.loads(text, parse_constant=_no_number)
    if not isinstance(claims, dict) or claims.get("format") != FORMAT:
        raise InputError(f"must be of the format {FORMAT!r}")
    _check_depth(claims, DEEPEST)
    if not isinstance(game := claims.get("game"), str) or game not in GAMES:
        raise InputError(f"must name a game out of {', '.join(GAMES)}, got {game!r}")
    if not isinstance(claims.get("keywords"), dict) or not isinstance(claims.get("policy"), str):
        raise InputError("must name the keywords of its game and its policy")
    for name in CLAIMS:
        claimed: Any = claims.get(name)
        known = isinstance(claimed, int | float) and not isinstance(claimed, bool)
        if not known or not isfinite(claimed):
            raise InputError(f"must claim a finite number as {name}, got {claimed!r}")
    return claims


def _no_number(text: str) -> float:
    raise InputError(f"must claim finite numbers, got {text}")


def _check_depth(value: Any, levels: int) -> None:
    """Refuse lists in lists in lists, which no message could show."""
    if isinstance(value, dict | list):
        if not levels:
            raise InputError(f"must make claims of at most {DEEPEST} levels")
        for entry in value.values() if isinstance(value, dict) else value:
            _check_depth(entry, levels - 1)


def _digest(policy: npt.NDArray[Any], claims: str) -> str:
    shape = f"{policy.dtype.str} {policy.shape}\n"
    return hashlib.sha256(shape.encode() + policy.tobytes() + claims.encode()).hexdigest()
