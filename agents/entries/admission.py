"""Admission of entries to the board: every certificate is verified, and copies are refused.

A refused entry does not affect the others. Entries are judged one by one, first the entries already
on the board and then the rest by name, so that a copy is refused and not its original.
"""

import filecmp
import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...baselines import make_task
from ...baselines.scoring.certificate_file import printable
from ...core import InputError
from .checking import Figures, Job, check_all, keywords_of
from .layout import Entry, EntryError, names_of, read_entry


@dataclass(frozen=True)
class Verified:
    """An entry whose certificates are all valid, with their scores by game and seed."""

    entry: Entry
    figures: Mapping[tuple[str, int], Figures]

    def of_game(self, game: str) -> list[Figures]:
        """Return the figures of a game, one for each seed."""
        return [found for (name, _), found in self.figures.items() if name == game]


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
    except EntryError as error:
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


def verify_all(entries: list[Entry], processes: int) -> list[Verified | str]:
    """Return, for each entry, its verified figures or the reason for its refusal."""
    games = dict.fromkeys(game for entry in entries for game, _ in entry.certificates)
    keywords = {game: keywords_of(make_task(game)) for game in games}
    jobs = [
        (entry, Job(game, keywords[game], [entry.certificates[game, seed] for seed in entry.seeds]))
        for entry in entries
        for game in entry.track.games
    ]
    answers = check_all([job for _, job in jobs], processes)
    found: dict[str, dict[str, list[Figures] | str]] = {entry.name: {} for entry in entries}
    for (entry, job), answer in zip(jobs, answers, strict=True):
        found[entry.name][job.game] = answer
    return [_verified(entry, found[entry.name]) for entry in entries]


def _verified(entry: Entry, answers: Mapping[str, list[Figures] | str]) -> Verified | str:
    reasons = [answer for answer in answers.values() if isinstance(answer, str)]
    if reasons:
        return "; ".join(reasons)
    figures = {
        (game, seed): found
        for game, answer in answers.items()
        for seed, found in zip(entry.seeds, answer, strict=True)
        if isinstance(found, Figures)
    }
    done = Verified(entry, figures)
    return _repeated(done) or done


def _repeated(found: Verified) -> str | None:
    """Return a reason if two seeds of an entry are the same run; None if all differ.

    Two seeds count as one run if they agree, short of optimal play, in over half of all games.
    """
    for one, other in itertools.combinations(found.entry.seeds, 2):
        pairs = [
            (found.figures[game, one], found.figures[game, other])
            for game in found.entry.track.games
        ]
        same = sum(a.key == b.key and not a.is_optimal for a, b in pairs)
        if 2 * same > len(pairs):
            return (
                f"seeds must be different runs, got the same policies for {one} and {other} in "
                f"{same} of {len(pairs)} games"
            )
    return None


def _copied(found: Verified, others: list[Verified]) -> str | None:
    """Return a reason if an entry copies an earlier entry or its title is taken; else None."""
    for other in others:
        same = sum((_keys(found) & _keys(other)).values())
        if 2 * same > len(found.figures):
            return (
                f"must be an entry of its own, got the policies of {other.entry.name} in {same} of "
                f"{len(found.figures)} certificates"
            )
        one, taken = found.entry.card, other.entry.card
        if one.track == taken.track and _plain(one.title) == _plain(taken.title):
            return f"title must be its own, got that of {other.entry.name}: {one.title}"
    return None


def _plain(title: str) -> str:
    """Return a title without differences of case and spaces, which a reader overlooks."""
    return " ".join(title.casefold().split())


def _keys(found: Verified) -> Counter[tuple[str, str]]:
    return Counter((game, figures.key) for (game, _), figures in found.figures.items())
