"""Verification of certificates from unknown authors, in separate processes.

Each game of an entry is verified in a new process, so that a crash, a time-out or too much memory
ends this process alone. The game and the keywords of a certificate are compared with those of the
track before a game is built, so that the checker solves no task but the track's own.
"""

import json
import multiprocessing
import signal
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...baselines import Task, verify
from ...baselines.scoring.certificate_file import printable, read
from ...core import InputError, IntArray
from ...core.positions import states_of
from ...core.words import first_line

#: Seconds that a certificate may take; one of the largest game takes half a minute on one core.
SECONDS = 300.0
OPTIMAL = 1e-9  # largest regret of a policy that counts as optimal
#: The numbers of a score that the board shows, by their names in ``Score``.
NUMBERS = ("value", "optimum", "random", "regret", "normalized", "nines")


class Job(NamedTuple):
    """The certificates of one entry for one game.

    Attributes:
        game: name of the game.
        keywords: the keywords of their task (see ``keywords_of``).
        paths: the certificates.
    """

    game: str
    keywords: dict[str, Any]
    paths: Sequence[Path]


@dataclass(frozen=True, eq=False)
class Figures:
    """The score of a valid certificate, computed from its policy, and the policy.

    Attributes:
        value: see ``Score``, as for the next five.
        optimum: see ``Score``.
        random: see ``Score``.
        regret: see ``Score``.
        normalized: see ``Score``.
        nines: see ``Score``.
        actions: the likeliest action in each state of the seat, shape (state,).
    """

    value: float
    optimum: float
    random: float
    regret: float
    normalized: float
    nines: float
    actions: IntArray = field(repr=False)

    @property
    def is_optimal(self) -> bool:
        """Whether the policy is optimal up to rounding."""
        return self.regret <= OPTIMAL


def check(path: Path, game: str, keywords: dict[str, Any]) -> Figures:
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
    found = {name: getattr(result, name) for name in NUMBERS}
    return Figures(**found, actions=plays.astype(np.min_scalar_type(result.task.game.num_actions)))


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


def check_all(jobs: Sequence[Job], processes: int) -> list[list[Figures] | str]:
    """Verify certificates in processes; return the figures of each job, or its first error."""
    # The largest games first, so that no process is left with one at the end.
    order = sorted(range(len(jobs)), key=lambda number: -_size(jobs[number]))
    pool = ThreadPoolExecutor(processes)
    try:
        found = list(pool.map(_in_process, [jobs[number] for number in order]))
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C, too
    by_number = dict(zip(order, found, strict=True))
    return [by_number[number] for number in range(len(jobs))]


def _size(job: Job) -> int:
    return sum(path.lstat().st_size for path in job.paths)


def _in_process(job: Job) -> list[Figures] | str:
    """Verify the certificates of a job in a new process, which ends after the last one."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(job, theirs), daemon=True)
    process.start()
    theirs.close()
    found = []
    try:
        for path in job.paths:
            answer = _answer(ours, path)
            if isinstance(answer, str):
                return answer
            found.append(answer)
        return found
    finally:
        process.kill()
        process.join()
        ours.close()


def _answer(connection: Connection, path: Path) -> Figures | str:
    """Wait for the process's result for a certificate: its figures, or an error message."""
    if not connection.poll(SECONDS):
        return f"{path.name} must be verified in {SECONDS:.0f} seconds, got no result"
    try:
        answer: Figures | str = connection.recv()
    except (EOFError, OSError):  # OSError: the process ended in the middle of its answer
        return (
            f"{path.name} must be verified, but the process that tried ended, perhaps for lack of "
            "memory"
        )
    return answer


def _work(job: Job, connection: Connection) -> None:
    """Verify certificates up to the first invalid one; the main function of a process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a traceback
    for path in job.paths:
        answer = answer_of(path, job)
        connection.send(answer)
        if isinstance(answer, str):
            return


def answer_of(path: Path, job: Job) -> Figures | str:
    """Verify a certificate; return its figures, or an error message of one line."""
    try:
        return check(path, job.game, job.keywords)
    except InputError as error:
        reason = str(error).removeprefix(f"{printable(str(path))} ")
    except OSError as error:
        reason = f"must be a file that can be read, got: {error.strerror}"
    except Exception as error:  # an unforeseen error refuses this file alone
        reason = f"must be a certificate that can be verified, got: {first_line(error)}"
    return f"{path.name} {printable(reason)}"
