"""Policy certificates: a policy and what it scores, in one file that anybody can check.

A file is a compressed NumPy file (.npz) without pickled objects that holds

    policy    actions, integers of shape (state,), or probabilities, shape (state, action), in the
              states of the agent's seat in increasing order; or the numbers of a network
    claims    JSON: the game with its keyword arguments, seat and opponents, the policy's name,
              value, optimum, random, regret and normalized; and the layers of a network
    sha256    hash of both, which reveals damage

In games with too many states for tables the policy is a network in fixed point, whose actions are
the same on every machine.

``verify`` trusts no claim: it computes all of them anew from the policy. It is safe with a file of
unknown origin: at most half a gigabyte is read, and nothing in the file is run; opponents are
policies known by name, never tables or other files; messages have one line.
"""

import errno
import hashlib
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

from ...core import GAMES, BoolArray, Game, InputError, IntArray, present
from ...core.positions import has_few_states, places_in, states_of
from ...core.words import printable
from ..policies.called import CalledPolicy
from ..policies.door import Reading, converted, label
from ..policies.kinds import PolicyLike
from ..policies.names import is_policy_name
from ..policies.networks import FixedPointNetwork, NetworkPolicy
from ..policies.tabular import SUM_TOLERANCE
from ..problem.problem import task_and_sight
from ..problem.task import Task, make_game

FORMAT = "exactdice policy certificate 1"
MEMBERS = ("policy", "claims", "sha256")
NAMES = ("format", "game", "keywords", "policy", "network")
CLAIMS = ("value", "optimum", "random", "regret", "normalized")
LARGEST = 2**29  # bytes of a file, and of the policy in memory
LONGEST = 2**24  # characters of the claims
DEEPEST = 6  # lists in lists in the claims; a utility's table is at 4
MOST_LAYERS, MOST_UNITS = 16, 4096  # of a network


class CertificateError(InputError):
    """The file is no certificate, is damaged, or makes a false claim."""


class UnreadableError(CertificateError):
    """The file is no whole certificate, so that it holds no claim to check."""


@contextmanager
def naming(path: Path, kind: type[CertificateError] = CertificateError) -> Iterator[None]:
    """Put the file's name before an error message, in one line; make its class ``kind``."""
    try:
        yield
    except InputError as error:
        kind = CertificateError if isinstance(error, CertificateError) else kind
        raise kind(f"{printable(str(path))} {printable(str(error))}") from None


def read(path: Path) -> tuple[npt.NDArray[Any], dict[str, Any]]:
    """Read the policy, as int64 or float64, and the claims, and check their hash.

    An ``UnreadableError`` is of a file that is no complete certificate, a ``CertificateError`` of
    another hash, an ``OSError`` of a file that is missing or cannot be read.
    """
    with naming(path, UnreadableError):
        content = content_of(path)
        with _whole():
            return _parse(content)


@contextmanager
def _whole(*passed: type[Exception]) -> Iterator[None]:
    """Turn errors of the block, which reads a certificate, into ``InputError``, but those passed.

    Of damaged bytes zipfile, zlib, numpy and json raise nearly anything, RuntimeError and
    MemoryError included. Nothing but reading happens here, so it is the file's fault.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, (InputError, *passed)):
            raise
        reason = str(error) or type(error).__name__
        raise InputError(f"must be a whole policy certificate: {reason}") from None


def is_certificate(path: Path) -> bool:
    """Return whether a path is of a certificate: a file, or a member of an archive."""
    return path.suffix == ".npz" and (path.is_file() or path.parent.is_file())


def content_of(path: Path) -> bytes:
    """Read the bytes of a certificate: a file, or a member of a zip archive as if of a folder.

    At most ``LARGEST`` + 1 bytes are read, however many an archive promises. A missing or
    unreadable file is an ``OSError``.
    """
    if not path.parent.is_file():
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    with _whole(OSError), zipfile.ZipFile(path.parent) as archive:
        if path.name not in archive.namelist():
            raise FileNotFoundError(errno.ENOENT, "there is no such member", str(path))
        with archive.open(path.name) as member:
            return member.read(LARGEST + 1)


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
            held = ", ".join(name.removesuffix(".npy") for name in archive.namelist())
            raise InputError(
                f"must hold {', '.join(MEMBERS)} alone, got {held} (exactdice audit takes records)"
            )
        policy, text, stated = (_member(archive, name) for name in MEMBERS)
    if stated != (computed := digest_of(policy, text)):
        raise CertificateError(f"must have the hash {stated} that it states, got {computed}")
    return _checked(policy), _claims(text)


def _member(archive: zipfile.ZipFile, name: str) -> Any:
    """Read an array or a text of a limited size; objects are not unpickled."""
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
    wanted = {"policy": {1: "ui", 2: "uif"}}.get(name, {0: "U"}).get(len(shape), "")
    if kind.kind not in wanted or (name == "policy" and kind.itemsize > 8):
        holds = "actions or probabilities" if name == "policy" else "a text"
        raise InputError(f"must hold {holds} as {name}, got {kind} of shape {shape}")
    promised, there = prod(shape) * kind.itemsize, len(file.getvalue()) - file.tell()
    if min(shape, default=0) < 0 or promised != there:
        raise InputError(f"must hold {name} of shape {shape} and {kind}, got {there:,} bytes of it")
    if name == "policy":
        check_size(shape)
    file.seek(0)
    array = np.lib.format.read_array(file, allow_pickle=False)
    return array if name == "policy" else str(array)


def check_size(shape: tuple[int, ...]) -> None:
    """Raise an error if a policy is too large to be read as numbers of eight bytes."""
    if 8 * prod(shape) > LARGEST:
        raise InputError(f"must hold at most {LARGEST // 8:,} numbers, got a policy of {shape}")


def _checked(policy: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return actions as int64 and probabilities as float64: shorter floats sum inexactly."""
    if policy.ndim == 1:
        largest = int(policy.max(initial=0))
        if largest > np.iinfo(np.int64).max:
            raise InputError(f"must hold integers below 2^63, got {largest}")
        return policy.astype(np.int64)
    table = policy.astype(np.float64)
    if table.size and not (table.min() >= 0 and table.max() <= 1 + SUM_TOLERANCE):
        raise InputError("must hold probabilities from 0 to 1")
    return table


def _claims(text: str) -> dict[str, Any]:
    claims = json.loads(text, parse_constant=_no_number, object_pairs_hook=once)
    if not isinstance(claims, dict) or claims.get("format") != FORMAT:
        raise InputError(f"must be of the format {FORMAT!r}")
    _check_depth(claims, DEEPEST)
    if not isinstance(game := claims.get("game"), str) or game not in GAMES:
        raise InputError(
            f"must name a game out of {', '.join(GAMES)}, got {game!r}: on the command "
            "line the place of another game follows, FILE.py:CLASS or gym:ID"
        )
    if not isinstance(claims.get("keywords"), dict) or not isinstance(claims.get("policy"), str):
        raise InputError("must name the keywords of its game and its policy")
    match claims.get("network", {"units": [1], "activation": ""}):
        case {"units": list() as units, "activation": str(), **rest} if not rest:
            few = 1 <= len(units) <= MOST_LAYERS
            if not few or not all(type(n) is int and 1 <= n <= MOST_UNITS for n in units):
                raise InputError(f"must name the units of 1 to {MOST_LAYERS} layers of its network")
        case _:
            raise InputError("must name units and activation of its network")
    for name in CLAIMS:
        claimed: Any = claims.get(name)
        known = isinstance(claimed, int | float) and not isinstance(claimed, bool)
        if not known or not isfinite(claimed):
            raise InputError(f"must claim a finite number as {name}, got {claimed!r}")
    if unknown := claims.keys() - {*NAMES, *CLAIMS}:
        raise InputError(f"must claim {', '.join((*NAMES, *CLAIMS))} alone, got {min(unknown)}")
    return claims


def _no_number(text: str) -> float:
    raise InputError(f"must claim finite numbers, got {text}")


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a mapping; a name that occurs twice is an error, since readers differ on it."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name that is given twice")
    return dict(pairs)


def _check_depth(value: Any, levels: int) -> None:
    """Raise an error if claims are nested deeper than ``levels``: no message could show them."""
    if isinstance(value, dict | list):
        if not levels:
            raise InputError(f"must make claims of at most {DEEPEST} levels")
        for entry in value.values() if isinstance(value, dict) else value:
            _check_depth(entry, levels - 1)


def digest_of(policy: npt.NDArray[Any], claims: str) -> str:
    """Return the SHA-256 hash of a policy and the text of its claims."""
    shape = f"{policy.dtype.str} {policy.shape}\n"
    return hashlib.sha256(shape.encode() + policy.tobytes() + claims.encode()).hexdigest()


def certificate(result: Any) -> bytes:
    """Write the certificate of a ``Score`` that is masked, against opponents known by name."""
    task, game = result.task, result.task.game
    if not result.masked:
        raise InputError("a certificate must be of a policy held to the legal actions")
    policy, layers = _numbers(result)
    claims = {
        "format": FORMAT,
        "game": game.name,
        "keywords": {**game.keywords, "seat": task.seat, **task.opponent_keywords},
        "policy": result.policy,
        **layers,
        **{name: float(getattr(result, name)) for name in CLAIMS},
    }
    if unknown := next((name for name in CLAIMS if not isfinite(claims[name])), None):
        raise InputError(f"a certificate must claim finite numbers, and {unknown} is not known")
    try:
        text = json.dumps(claims, indent=1)
    except TypeError:
        raise InputError(
            "a certificate must be of a game with a name and keywords of numbers and texts, by "
            f"which others find its law, got {present(game).words}"
        ) from None
    file = io.BytesIO()
    np.savez_compressed(file, policy=policy, claims=text, sha256=digest_of(policy, text))
    return file.getvalue()


def _numbers(result: Any) -> tuple[npt.NDArray[Any], dict[str, Any]]:
    """Give the numbers of a policy, and the layers that claims name of a network."""
    agent, game = result.agent, result.task.game
    if isinstance(agent, CalledPolicy) and not has_few_states(game):
        network = agent.function
        if not isinstance(network, FixedPointNetwork):
            raise InputError(
                f"a certificate in {game!r} must be of a network in fixed point, got "
                f"{result.policy}: score exactdice.in_fixed_point(model, env)"
            )
        layers = {"units": list(network.units), "activation": network.activation}
        return network.numbers.astype(np.int32), {"network": layers}
    states = states_of(game, result.task.seat)
    if agent.is_deterministic:
        return agent.likeliest(states).astype(np.min_scalar_type(game.num_actions)), {}
    check_size((len(states), game.num_actions))
    return agent.probabilities(states), {}


def in_fixed_point(model: Any, env: Any) -> NetworkPolicy:
    """Round a network to fixed point, as certificates of games with too many states hold it.

    Its actions are the same on every machine. It may be scored in place of the model, from which it
    differs where two preferences are nearly equal.

    Args:
        model: a model of stable-baselines3 or a torch module with layers of ReLU or of Tanh, or
            the path of a saved model or run.
        env: an environment of this project, its id, or a ``Task``.

    Raises:
        ValueError: if the model has other layers, or a first layer that is no sum over the
            components of an observation.
    """
    task, sight = task_and_sight(env)
    known = Path(model) if isinstance(model, str) else model
    network, _ = converted(known, task.game, Reading(sight=sight))
    if not isinstance(network, NetworkPolicy):
        raise InputError(f"policy must be a network, got {label(model)}")
    return network.in_fixed_point(task.game)


def read_policy(path: Path, game: Game) -> PolicyLike:
    """Read the policy of a certificate, for the certificate's seat."""
    task, player, _ = opened(path)
    if task.game == game:
        return player
    wanted, got = present(game).words, present(task.game).words
    with naming(path):
        raise InputError(f"must be of {wanted}, got one of {got}")


def task_of(path: Path) -> Task:
    """Read the task of a certificate."""
    return opened(path)[0]


def opened(path: Path) -> tuple[Task, PolicyLike, dict[str, Any]]:
    """Read the task of a certificate, its policy, and its claims."""
    policy, claims = read(path)
    with naming(path):
        task = _task(claims)
        return task, _player(path, policy, claims, task), claims


def _player(path: Path, policy: npt.NDArray[Any], claims: dict[str, Any], task: Task) -> PolicyLike:
    """Make a policy of its rows, one for each state of the seat, or of a network."""
    if "network" in claims:
        layers = claims["network"]
        return FixedPointNetwork(
            task.game, layers["units"], layers["activation"], policy, claims["policy"]
        )
    states = states_of(task.game, task.seat)
    if len(policy) != len(states):
        raise InputError(f"must hold a policy for {len(states)} states, got {len(policy)}")
    if len(states) == task.game.num_states:
        return policy

    def play(observations: IntArray, _masks: BoolArray) -> Any:
        rows = places_in(states, task.game.encode(observations))
        if (rows < 0).any():
            raise CertificateError(
                f"{path} must be of the seat that is played, got one of seat {task.seat} alone"
            )
        return policy[rows]

    return play


def _task(claims: dict[str, Any]) -> Task:
    """Build the task that the claims name; its opponents are known by name."""
    keyword = GAMES[claims["game"]].opponent_keyword
    keywords = {**claims["keywords"]}
    seat, opponents = keywords.pop("seat", 0), keywords.pop(keyword, [])
    try:
        game = make_game(claims["game"], ("seat", keyword), **keywords)
        if game.num_players == 1 and keyword in claims["keywords"]:
            raise InputError(f"{keyword} must be left out, as there is one player")
        for opponent in opponents if isinstance(opponents, list) else [opponents]:
            if not isinstance(opponent, str) or not is_policy_name(game, opponent):
                inline = isinstance(opponent, list | int | float)
                got = "an inline table" if inline else repr(opponent)
                raise InputError(f"opponents must be known by name, got {got}")
        return Task(game, seat, opponents)
    except InputError as error:
        raise InputError(f"must name a game and its keywords: {error}") from None
