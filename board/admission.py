"""Admission of entries to the board: every certificate is verified, and copies are refused.

A refused entry does not affect the others. Entries are judged one by one, first the entries already
on the board and then the rest by name, so that a copy is refused and not its original.

Certificates are verified in separate processes. A crash, a time-out or too much memory ends one
process, which is replaced: it refuses the certificate that the process was verifying, and no other
one. The game and the keywords of a certificate are compared with those of the track before a game
is built, so that the checker solves no task but the track's own.
"""

import filecmp
import itertools
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..baselines import Task, make_task, occupancy, prepare, verify
from ..baselines.scoring.certificate import read
from ..core import FloatArray, InputError, IntArray
from ..core.positions import states_of
from ..core.words import first_line, printable
from .entry import Entry, names_of, read_entry
from .workers import processes

#: Seconds that a certificate may take; one of the largest game takes half a minute on one core.
SECONDS = 300.0
OPTIMAL = 1e-9  # largest regret of a policy that counts as optimal
#: The numbers of a score that the board shows, by their names in ``Score``.
NUMBERS = ("value", "optimum", "random", "regret", "normalized", "nines")
#: Largest share of its decisions in which a copy plays differently. Runs on the tracks with
#: different seeds differ in 0.2 % at least, but for those that always follow one simple rule.
ALIKE = 0.001
ALIKE_IF_OPTIMAL = 0.01  # largest share of all states in which copies of an optimal policy differ
MOST_MOVES = 30  # of a policy's games, on average; those on the tracks have up to 17


@dataclass(frozen=True, eq=False)
class Figures:
    """The score of a valid certificate, computed from its policy, and the policy."""

    game: str
    value: float  # see ``Score``, as for the next five
    optimum: float
    random: float
    regret: float
    normalized: float
    nines: float
    actions: IntArray = field(repr=False)  # the likeliest ones of the seat, (state,)

    @property
    def score(self) -> float:
        """The normalised score, by which entries are ranked."""
        return self.normalized

    @property
    def is_optimal(self) -> bool:
        """Whether the policy is optimal up to rounding."""
        return self.regret <= OPTIMAL


@dataclass(frozen=True)
class Verified(Entry):
    """An entry whose certificates are all valid, with their scores by game and seed."""

    figures: Mapping[tuple[str, int], Figures]

    def of_game(self, game: str) -> list[Figures]:
        """Return the figures of a game, one for each seed."""
        return [found for (name, _), found in self.figures.items() if name == game]

    @property
    def strata(self) -> list[list[Figures]]:
        """The figures of each game of the track."""
        return [self.of_game(game) for game in self.track.games]


@dataclass(frozen=True)
class Admission:
    """The valid entries of a folder, and the reason for each refused one, by printable name."""

    verified: list[Verified]
    refused: dict[str, str]


def admit(folder: Path, processes: int, accepted: Path | None = None) -> Admission:
    """Verify all entries of a folder, so many certificates at a time (see ``processes``).

    Entries with the names of those in ``accepted``, which are already on the board, come first, so
    that a copy of one is refused whatever its own name, and must be unchanged.
    """
    names = names_of(folder)
    if accepted is not None:
        if not accepted.is_dir():
            raise InputError(f"accepted must be a folder of entries, got {accepted}")
        names.sort(key=lambda name: (not (accepted / name).is_dir(), name))
    entries: dict[str, Entry | str] = {name: _read(folder / name, accepted) for name in names}
    whole = [entry for entry in entries.values() if isinstance(entry, Entry)]
    answers = verify_all(whole, processes)
    held: list[Verified] = []
    refused: dict[str, str] = {}
    for name, entry in entries.items():
        found = entry if isinstance(entry, str) else answers[name]
        if isinstance(found, Verified):
            found = _copied(found, held) or found
        if isinstance(found, Verified):
            held.append(found)
        else:
            refused[printable(name, 80)] = found
    return Admission(held, refused)


def _read(folder: Path, accepted: Path | None) -> Entry | str:
    try:
        entry = read_entry(folder)
    except InputError as error:
        return str(error)
    if accepted is not None and (before := accepted / folder.name).is_dir():
        names = {path.name for place in (folder, before) for path in place.iterdir()}
        same, _, _ = filecmp.cmpfiles(folder, before, names, shallow=False)
        if len(same) < len(names):
            return "must stay as it is on the board: a new version is an entry of another name"
    return entry


def verify_all(entries: Sequence[Entry], processes: int) -> dict[str, Verified | str]:
    """Return the verified figures of each entry, or the reason for its refusal, by its name."""
    certificates = {
        path: game for entry in entries for (game, _), path in entry.certificates.items()
    }
    answers = check_all(certificates, processes)
    return {entry.name: _verified(entry, answers) for entry in entries}


def _verified(entry: Entry, answers: Mapping[Path, Figures | str]) -> Verified | str:
    """Return the figures of an entry, or why it is refused: one reason for each game."""
    figures, reasons = dict[tuple[str, int], Figures](), dict[str, str]()
    for (game, seed), path in entry.certificates.items():
        answer = answers[path]
        if isinstance(answer, str):
            reasons.setdefault(game, answer)
        else:
            figures[game, seed] = answer
    done = Verified(**vars(entry), figures=figures)
    return "; ".join(reasons.values()) or _repeated(done) or done


def _repeated(found: Verified) -> str | None:
    """Return a reason if two seeds of an entry are the same run; None if all differ.

    Two seeds count as one run if they play alike, short of optimal play, in over half of all
    games: seeds of A2C, which often learns one simple rule, do so in half of them.
    """
    games = found.track.games
    for one, other in itertools.combinations(found.seeds, 2):
        pairs = [(found.figures[game, one], found.figures[game, other]) for game in games]
        same = sum(_alike(a, b) and not a.is_optimal for a, b in pairs)
        if 2 * same > len(games):
            return (
                f"seeds must be different runs, got the same policies for {one} and {other} in "
                f"{same} of {len(games)} games"
            )
    return None


def _copied(found: Verified, others: list[Verified]) -> str | None:
    """Return a reason if an entry copies earlier entries or its title is taken; else None.

    A copy has the policies of earlier entries, of all of them together, in half its certificates.
    """
    title = found.card.title
    for other in others:
        if other.track == found.track and _plain(other.card.title) == _plain(title):
            return f"title must be its own, got that of {other.name}: {title}"
    copied = {
        (game, seed): other.name
        for (game, seed), one in found.figures.items()
        for other in others
        if any(_alike(one, known) for known in other.of_game(game))
    }
    if 2 * len(copied) >= len(found.figures):
        return (
            "must be an entry of its own, got the policies of "
            f"{', '.join(sorted({*copied.values()}))} in {len(copied)} of {len(found.figures)} "
            f"certificates: at most {ALIKE:.1%} of the decisions are others, or "
            f"{ALIKE_IF_OPTIMAL:.0%} of all states if both are optimal"
        )
    return None


def _plain(title: str) -> str:
    """Return the letters and digits of a title, without case: all that a reader tells apart."""
    return "".join(filter(str.isalnum, title.lower()))


def _alike(one: Figures, other: Figures) -> bool:
    """Return whether a policy plays like another, so that it may be a copy.

    It does if it takes another action in at most ``ALIKE`` of the decisions in its own games. Many
    programs find optimal policies, which play alike; such two are alike in nearly all states, too.
    """
    differ = one.actions != other.actions
    if one.is_optimal and other.is_optimal:
        return bool(differ.mean() <= ALIKE_IF_OPTIMAL)
    task = make_task(one.game)
    states, first = states_of(task.game, task.seat), prepare(task).start
    if first.chances[differ[np.searchsorted(states, first.states)]].sum() > ALIKE * MOST_MOVES:
        return False  # which spares nearly all pairs the occupancy
    return bool(_shares(one)[differ].sum() <= ALIKE)


@lru_cache(maxsize=8)  # arrays of a large game have 38 MB
def _shares(one: Figures) -> FloatArray:
    """Return the share of each state of the seat in the decisions of a policy's games."""
    task = make_task(one.game)
    states = states_of(task.game, task.seat)
    actions = np.zeros(task.game.num_states, dtype=one.actions.dtype)
    actions[states] = one.actions
    met: FloatArray = occupancy(actions, task)[states]
    return met / float(met.sum())


def _check(path: Path, game: str) -> Figures:
    """Verify by computation that a certificate is of a game, with its default keywords."""
    keywords = _keywords_of(make_task(game))
    _, claims = read(path)
    if claims["game"] != game:
        raise InputError(f"must be of {game}, got one of {claims['game']}")
    _compare(game, claims["keywords"], keywords)
    result = verify(path)
    _compare(game, keywords, _keywords_of(result.task))
    plays = result.agent.likeliest(states_of(result.task.game, result.task.seat))
    actions = plays.astype(np.min_scalar_type(result.task.game.num_actions))
    numbers = {name: getattr(result, name) for name in NUMBERS}
    return Figures(game=game, **numbers, actions=actions)


def _keywords_of(task: Task) -> dict[str, Any]:
    """Return the keywords that the certificate of a task has, in JSON's types."""
    keywords = {**task.game.keywords, "seat": task.seat, **task.opponent_keywords}
    return json.loads(json.dumps(keywords))


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


def answer_of(path: Path, game: str) -> Figures | str:
    """Verify a certificate of a game; return its figures, or an error message of one line."""
    try:
        return _check(path, game)
    except InputError as error:
        reason = str(error).removeprefix(f"{printable(str(path))} ")
    except OSError as error:
        reason = f"must be a file that can be read, got: {error.strerror}"
    except Exception as error:  # an unforeseen error refuses this file alone
        reason = f"must be a certificate that can be verified, got: {first_line(error)}"
    return f"{path.name} {printable(reason)}"


def check_all(certificates: Mapping[Path, str], number: int) -> dict[Path, Figures | str]:
    """Verify certificates of games in processes; return figures or an error message of each."""
    # The largest first, so that no process is left with one at the end.
    largest_first = sorted(certificates, key=lambda path: -path.lstat().st_size)
    with processes(answer_of, number, SECONDS) as pool:
        running = {path: pool.start(path, certificates[path]) for path in largest_first}
        return {path: _answer(path, job) for path, job in running.items()}


def _answer(path: Path, job: "Future[Figures | str]") -> Figures | str:
    """Wait for the answer of a process; return an error message if it is lost."""
    try:
        return job.result()
    except TimeoutError:
        return f"{path.name} must be verified in {SECONDS:.0f} seconds, got no result"
    except Exception:  # pebble's ProcessExpired
        return (
            f"{path.name} must be verified, but the process that tried ended, perhaps for lack of "
            "memory"
        )
