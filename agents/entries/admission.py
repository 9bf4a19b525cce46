"""Admission of entries to the board: every certificate is verified, and copies are refused.

A refused entry does not affect the others. Entries are judged one by one, first the entries already
on the board and then the rest by name, so that a copy is refused and not its original.
"""

import filecmp
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ...baselines import make_task, occupancy
from ...baselines.scoring.certificate_file import printable
from ...baselines.task import first_law
from ...core import FLOATS, FloatArray, InputError
from ...core.positions import states_of
from .checking import Figures, Job, check_all, keywords_of
from .entry import Entry, names_of, read_entry

#: Largest share of its decisions in which a copy plays differently. Runs on the tracks with
#: different seeds differ in 0.2 % at least, but for those that always follow one simple rule.
ALIKE = 0.001
ALIKE_IF_OPTIMAL = 0.01  # largest share of all states in which copies of an optimal policy differ
MOST_MOVES = 30  # of a policy's games, on average; those on the tracks have up to 17


@dataclass(frozen=True)
class Verified:
    """An entry whose certificates are all valid, with their scores by game and seed."""

    entry: Entry
    figures: Mapping[tuple[str, int], Figures]

    def of_game(self, game: str) -> list[Figures]:
        """Return the figures of a game, one for each seed."""
        return [found for (name, _), found in self.figures.items() if name == game]

    @property
    def strata(self) -> list[list[Figures]]:
        """The figures of each game of the track."""
        return [self.of_game(game) for game in self.entry.track.games]


@dataclass(frozen=True)
class Admission:
    """The valid entries of a folder, and the reason for each refused one, by printable name."""

    verified: list[Verified]
    refused: dict[str, str]


def admit(folder: Path, processes: int, accepted: Path | None = None) -> Admission:
    """Verify all entries of a folder.

    Args:
        folder: the folder of the entries.
        processes: number of certificates that are verified at the same time.
        accepted: a folder of the entries already on the board. Entries with these names come first,
            so that a copy of one is refused whatever its own name, and must be unchanged.

    Raises:
        InputError: if the folder holds no entries.
    """
    names = names_of(folder)
    if accepted is not None:
        if not accepted.is_dir():
            raise InputError(f"accepted must be a folder of entries, got {accepted}")
        names.sort(key=lambda name: (not (accepted / name).is_dir(), name))
    read: dict[str, Entry | str] = {name: _read(folder / name, accepted) for name in names}
    whole = [entry for entry in read.values() if isinstance(entry, Entry)]
    answers = dict(zip((entry.name for entry in whole), verify_all(whole, processes), strict=True))
    verified: list[Verified] = []
    refused: dict[str, str] = {}
    for name, entry in read.items():
        found = entry if isinstance(entry, str) else answers[name]
        reason = found if isinstance(found, str) else _copied(found, verified)
        if reason is not None:
            refused[printable(name, 80)] = reason
        elif not isinstance(found, str):
            verified.append(found)
    return Admission(verified, refused)


def _read(folder: Path, accepted: Path | None) -> Entry | str:
    try:
        entry = read_entry(folder)
    except InputError as error:
        return str(error)
    if accepted is not None and _differs(folder, accepted / folder.name):
        return "must stay as it is on the board: a new version is an entry of another name"
    return entry


def _differs(folder: Path, before: Path) -> bool:
    """Return whether an entry is on the board with other files."""
    if not before.is_dir():
        return False
    names = {path.name for place in (folder, before) for path in place.iterdir()}
    same, _, _ = filecmp.cmpfiles(folder, before, names, shallow=False)
    return len(same) < len(names)


def verify_all(entries: Sequence[Entry], processes: int) -> list[Verified | str]:
    """Return, for each entry, its verified figures or the reason for its refusal."""
    games = dict.fromkeys(game for entry in entries for game, _ in entry.certificates)
    keywords = {game: keywords_of(make_task(game)) for game in games}
    jobs = [
        Job(path, game, keywords[game])
        for entry in entries
        for (game, _), path in entry.certificates.items()
    ]
    answers = dict(zip((job.path for job in jobs), check_all(jobs, processes), strict=True))
    return [_verified(entry, answers) for entry in entries]


def _verified(entry: Entry, answers: Mapping[Path, Figures | str]) -> Verified | str:
    """Return the figures of an entry, or why it is refused: one reason for each game."""
    figures, reasons = dict[tuple[str, int], Figures](), dict[str, str]()
    for (game, seed), path in entry.certificates.items():
        answer = answers[path]
        if isinstance(answer, str):
            reasons.setdefault(game, answer)
        else:
            figures[game, seed] = answer
    done = Verified(entry, figures)
    return "; ".join(reasons.values()) or _repeated(done) or done


def _repeated(found: Verified) -> str | None:
    """Return a reason if two seeds of an entry are the same run; None if all differ.

    Two seeds count as one run if they play alike, short of optimal play, in over half of all
    games: seeds of A2C, which often learns one simple rule, do so in half of them.
    """
    games = found.entry.track.games
    for one, other in itertools.combinations(found.entry.seeds, 2):
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
    card = found.entry.card
    for other in others:
        taken = other.entry.card
        if card.track == taken.track and _plain(card.title) == _plain(taken.title):
            return f"title must be its own, got that of {other.entry.name}: {card.title}"
    copied = {
        (game, seed): other.entry.name
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
    states, first = states_of(task.game, task.seat), first_law(task, FLOATS).start
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
