"""Policy certificates: a policy and what it scores, in one file that anybody can check.

A certificate is a compressed NumPy file (.npz) without pickled objects that holds

    policy    actions, integers of shape (state,), or probabilities, shape (state, action), in the
              states of the agent's seat in growing order
    claims    JSON: the game with its keyword arguments, seat and opponents, the policy's name, and
              value, optimum, random, regret and normalized
    sha256    of both, against damage

Who checks it trusts none of the claims: all are computed anew from the policy.
"""

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..games import BoolArray, Game, InputError, IntArray
from .policies import DeterministicPolicy, PolicyFunction
from .score import Score, score
from .task import make_task

FORMAT = "exactdice policy certificate 1"
CLAIMS = ("value", "optimum", "random", "regret", "normalized")
TOLERANCE = 1e-9  # between machines, which may sum in another order


class CertificateError(InputError):
    """A certificate that does not hold, and why."""


def certificate(result: Score) -> bytes:
    """Write the certificate of a score.

    Args:
        result: of a policy held to the legal actions, against opponents known by name.

    Raises:
        ValueError: if it is of another kind, so that nobody else could check it.
    """
    task = result.task
    if not result.masked:
        raise InputError("a certificate must be of a policy held to the legal actions")
    game, states = task.game, task.game.states_of(task.seat)
    policy = result.agent.probabilities(states)
    if isinstance(result.agent, DeterministicPolicy):
        smallest = np.min_scalar_type(game.num_actions)
        policy = result.agent.actions[states].astype(smallest)
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
    """Compute anew all that a certificate claims.

    Returns:
        The score of its policy.

    Raises:
        CertificateError: if the file is no certificate, damaged, or claims what is not so.
    """
    policy, claims = _read(Path(path))
    try:
        task = make_task(claims["game"], **claims["keywords"])
    except (KeyError, TypeError, ValueError) as error:
        raise CertificateError(f"{path} must name a game and its keywords: {error}") from None
    states = task.game.states_of(task.seat)
    if len(policy) != len(states):
        raise CertificateError(
            f"{path} must hold a policy for {len(states)} states, got {len(policy)}"
        )
    try:
        result = score(lambda *_: policy, task, name=str(claims.get("policy")))
    except ValueError as error:
        raise CertificateError(f"{path} must hold a policy of {task.game!r}: {error}") from None
    for name in CLAIMS:
        claimed, computed = claims.get(name), getattr(result, name)
        known = isinstance(claimed, int | float)
        if not known or not abs(claimed - computed) <= TOLERANCE:
            raise CertificateError(f"{path} claims {name} = {claimed}, computed is {computed}")
    return result


def read_policy(path: Path, game: Game) -> PolicyFunction:
    """Read the policy of a certificate, for the seat that it was made in.

    Raises:
        CertificateError: if the file is no certificate, damaged, or of another game.
    """
    policy, claims = _read(path)
    task = make_task(claims["game"], **claims["keywords"])
    if task.game != game:
        raise CertificateError(f"{path} must be of {game!r}, got one of {task.game!r}")
    states = game.states_of(task.seat)

    def play(observations: IntArray, _masks: BoolArray) -> npt.NDArray[Any]:
        if not np.array_equal(observations, game.observe(states, task.seat)):
            raise CertificateError(f"{path} must be of the seat that is played, got {task.seat}")
        return policy

    return play


def _read(path: Path) -> tuple[npt.NDArray[Any], dict[str, Any]]:
    """Read policy and claims, whose hash fits them."""
    try:
        if path.is_file() and not zipfile.is_zipfile(path):
            raise InputError("it is cut off, or no .npz file at all")
        with np.load(path, allow_pickle=False) as file:
            policy, text, digest = file["policy"], str(file["claims"]), str(file["sha256"])
        claims = json.loads(text)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise CertificateError(f"{path} must be a whole policy certificate: {error}") from None
    if not isinstance(claims, dict) or claims.get("format") != FORMAT:
        raise CertificateError(f"{path} must be of the format {FORMAT!r}")
    if digest != _digest(policy, text):
        raise CertificateError(
            f"{path} must have the hash {digest} that it states, got {_digest(policy, text)}"
        )
    if policy.ndim not in (1, 2) or policy.dtype.kind not in "uif":
        raise CertificateError(
            f"{path} must hold actions or probabilities, got {policy.dtype} of shape {policy.shape}"
        )
    return policy, claims


def _digest(policy: npt.NDArray[Any], claims: str) -> str:
    shape = f"{policy.dtype.str} {policy.shape}\n"
    return hashlib.sha256(shape.encode() + policy.tobytes() + claims.encode()).hexdigest()
