"""Verification of certificates from unknown authors, in separate processes.

A crash, a time-out or too much memory ends one process, which is replaced: it refuses the
certificate that the process was verifying, and no other one. The game and the keywords of a
certificate are compared with those of the track before a game is built, so that the checker solves
no task but the track's own.
"""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...baselines import Task, verify
from ...baselines.scoring.certificate_file import printable, read
from ...core import InputError, IntArray
from ...core.positions import states_of
from ...core.words import first_line
from ..board.pool import processes

#: Seconds that a certificate may take; one of the largest game takes half a minute on one core.
SECONDS = 300.0
OPTIMAL = 1e-9  # largest regret of a policy that counts as optimal
#: The numbers of a score that the board shows, by their names in ``Score``.
NUMBERS = ("value", "optimum", "random", "regret", "normalized", "nines")


class Job(NamedTuple):
    """A certificate that should be of a game.

    Attributes:
        path: the file.
        game: name of the game.
        keywords: the keywords of its task (see ``keywords_of``).
    """

    path: Path
    game: str
    keywords: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Figures:
    """The score of a valid certificate, computed from its policy, and the policy.

    Attributes:
        game: name of its game.
        value: see ``Score``, as for the next five.
        optimum: see ``Score``.
        random: see ``Score``.
        regret: see ``Score``.
        normalized: see ``Score``.
        nines: see ``Score``.
        actions: the likeliest action in each state of the seat, shape (state,).
    """

    game: str
    value: float
    optimum: float
    random: float
    regret: float
    normalized: float
    nines: float
    actions: IntArray = field(repr=False)

    @property
    def score(self) -> float:
        """The normalised score, by which entries are ranked."""
        return self.normalized

    @property
    def is_optimal(self) -> bool:
        """Whether the policy is optimal up to rounding."""
        return self.regret <= OPTIMAL


def _check(path: Path, game: str, keywords: dict[str, Any]) -> Figures:
    """Verify a certificate by computation.

    Raises:
        InputError: if the file is no certificate, is damaged, is for another task, or makes a false
            claim.
        OSError: if the file cannot be read.
    """
    _, claims = read(path)
    if claims["game"] != game:
        raise InputError(f"must be of {game}, got one of {claims['game']}")
    _compare(game, claims["keywords"], keywords)
    result = verify(path)
    _compare(game, keywords, keywords_of(result.task))
    plays = result.agent.likeliest(states_of(result.task.game, result.task.seat))
    actions = plays.astype(np.min_scalar_type(result.task.game.num_actions))
    numbers = {name: getattr(result, name) for name in NUMBERS}
    return Figures(game=game, **numbers, actions=actions)


def keywords_of(task: Task) -> dict[str, Any]:
    """Return the keywords that the certificate of a task has, in JSON's types."""
    keywords = {**task.game.keywords, "seat": task.seat, **task.opponent_keywords}
    found: dict[str, Any] = json.loads(json.dumps(keywords))
    return found


def _compare(game: str, given: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise an error unless keywords are the track's; a missing keyword has its default.

    A certificate of an earlier version of exactdice lacks the keywords that came later.
    """
    for name, got in sorted(given.items()):
        must = wanted.get(name, "none")
        if type(got) is not type(must) or got != must:
            raise InputError(
                f"must be of {game} with its default keywords, {name} {must}, got {name} {got}"
            )


def answer_of(job: Job) -> Figures | str:
    """Verify a certificate; return its figures, or an error message of one line."""
    try:
        return _check(*job)
    except InputError as error:
        reason = str(error).removeprefix(f"{printable(str(job.path))} ")
    except OSError as error:
        reason = f"must be a file that can be read, got: {error.strerror}"
    except Exception as error:  # an unforeseen error refuses this file alone
        reason = f"must be a certificate that can be verified, got: {first_line(error)}"
    return f"{job.path.name} {printable(reason)}"


def check_all(jobs: Sequence[Job], number: int) -> list[Figures | str]:
    """Verify certificates in processes; return the figures of each, or an error message.

    Args:
        jobs: the certificates.
        number: number of processes.
    """
    # The largest first, so that no process is left with one at the end.
    largest_first = sorted(jobs, key=lambda job: -job.path.lstat().st_size)
    with processes(answer_of, number, seconds=SECONDS) as pool:
        running = {job.path: pool.start(job) for job in largest_first}
        return [_wait(job, running[job.path]) for job in jobs]


def _wait(job: Job, running: "Future[Figures | str]") -> Figures | str:
    """Wait for the answer of a process; return an error message if it is lost."""
    try:
        return running.result()
    except TimeoutError:
        return f"{job.path.name} must be verified in {SECONDS:.0f} seconds, got no result"
    except Exception:  # pebble's ProcessExpired
        return (
            f"{job.path.name} must be verified, but the process that tried ended, perhaps for lack "
            "of memory"
        )
