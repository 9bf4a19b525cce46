"""Entries of the public board: folders of certificates, which anyone may submit.

An entry is a folder with

    card.json           the author's statements about it (see ``card``)
    <game>-<seed>.npz   the certificate of each run: of every game of its track, and of at least as
                        many seeds as the track has, the same seeds in every game

and nothing else. An entry comes from strangers: before a certificate is opened, this module checks
names, kinds and sizes of all files. Certificates must be of the games of the track with their
default keywords, which ``checking`` compares before it builds a game.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...baselines.scoring.certificate_file import printable
from ...core import InputError
from ..tracks import OPEN, Track
from . import card as cards
from .card import Card

#: Largest size in bytes of a certificate, and of all files of an entry together.
MOST_OF_CERTIFICATE = 8 * 2**20
MOST_OF_ENTRY = 64 * 2**20
MOST_SEEDS = 20
#: Names in a folder of entries that are no entries; names that begin with a dot are ignored too.
OTHERS = ("README.md",)

_ENTRY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
CERTIFICATE = re.compile(r"([A-Za-z0-9]+)-(0|[1-9][0-9]{0,9})\.npz")


class EntryError(InputError):
    """An entry is invalid; the message says why."""


@dataclass(frozen=True)
class Entry:
    """An entry whose files are complete; its certificates are not verified yet.

    Attributes:
        folder: its folder, whose name is its name.
        card: its card.
        certificates: the certificates by game and seed.
    """

    folder: Path
    card: Card
    certificates: Mapping[tuple[str, int], Path]

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @property
    def track(self) -> Track:
        """Its track."""
        return OPEN[self.card.track]

    @property
    def seeds(self) -> list[int]:
        """The seeds of every game, in increasing order."""
        return sorted({seed for _, seed in self.certificates})


def names_of(folder: Path) -> list[str]:
    """List the names in a folder that should be entries.

    Raises:
        InputError: if ``folder`` is no folder, or holds no such names.
    """
    if not folder.is_dir():
        raise InputError(f"folder must be one of entries, got {folder}")
    found = sorted(path.name for path in folder.iterdir())
    names = [name for name in found if name[0] != "." and name not in OTHERS]
    if not names:
        raise InputError(f"folder must hold entries, got none in {folder}")
    return names


def read_entry(folder: Path) -> Entry:
    """Check the files of an entry, and read its card.

    Raises:
        EntryError: if the folder is no complete entry.
    """
    try:
        if not _ENTRY.fullmatch(folder.name):
            raise InputError(
                "must be named with 1 to 80 letters, digits and signs out of . _ -, the first a "
                "letter or a digit"
            )
        if not stat.S_ISDIR(folder.lstat().st_mode):
            raise InputError("must be a folder, and no link or archive")
        found = dict(_files(folder))
        if cards.NAME not in found:
            raise InputError(f"must have a {cards.NAME}, got none")
        card = cards.read_card(folder / cards.NAME)
        paths = {cell: folder / name for name, cell in found.items() if cell is not None}
        check_cells(paths, OPEN[card.track])
        return Entry(folder, card, MappingProxyType(dict(sorted(paths.items()))))
    except InputError as error:
        raise EntryError(printable(str(error))) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise EntryError(f"must be a folder that can be read, got: {reason}") from None


def _files(folder: Path) -> Iterator[tuple[str, tuple[str, int] | None]]:
    """Yield the name of each file of an entry, and its (game, seed); None for the card."""
    total = 0
    with os.scandir(folder) as found:
        for count, file in enumerate(found):
            if count > MOST_SEEDS * 100:
                raise InputError("must have fewer files")
            match = CERTIFICATE.fullmatch(file.name)
            if match is None and file.name != cards.NAME:
                raise InputError(
                    f"must have {cards.NAME} and certificates such as Greed-0.npz alone, got "
                    f"{file.name}"
                )
            facts = file.stat(follow_symlinks=False)
            if not stat.S_ISREG(facts.st_mode):
                raise InputError(f"{file.name} must be a file, and no link or folder")
            if facts.st_size > MOST_OF_CERTIFICATE:
                raise InputError(
                    f"{file.name} must have at most {MOST_OF_CERTIFICATE:,} bytes, got "
                    f"{facts.st_size:,}"
                )
            total += facts.st_size
            yield file.name, None if match is None else (match[1], int(match[2]))
    if total > MOST_OF_ENTRY:
        raise InputError(f"must have at most {MOST_OF_ENTRY:,} bytes in all, got {total:,}")


def check_cells(cells: Mapping[tuple[str, int], Any], track: Track) -> None:
    """Check that there are all games of a track, each with the same seeds, and enough seeds.

    Raises:
        InputError: naming the cells that are missing or not of the track.
    """
    others = sorted({game for game, _ in cells} - set(track.games))
    if others:
        raise InputError(
            f"games must be those of {track.name}, {', '.join(track.games)}, got "
            f"{', '.join(others)}"
        )
    seeds = sorted({seed for _, seed in cells})
    absent = [
        f"{game}-{seed}" for game in track.games for seed in seeds if (game, seed) not in cells
    ]
    if absent:
        more = f" and {len(absent) - 20} more" if len(absent) > 20 else ""
        raise InputError(
            f"every game must have the seeds of the others, missing: {', '.join(absent[:20])}{more}"
        )
    if not track.seeds <= len(seeds) <= MOST_SEEDS:
        raise InputError(
            f"every game must have {track.seeds} to {MOST_SEEDS} seeds, got {len(seeds)}"
        )
