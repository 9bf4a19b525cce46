"""Entries of the public board: folders of certificates, which anyone may submit.

An entry is a folder with

    card.json           the author's statements about it
    <game>-<seed>.npz   the certificate of each run: of every game of its track, and of at least as
                        many seeds as the track has, the same seeds in every game

and nothing else. An entry comes from strangers: before a certificate is opened, this module checks
names, kinds and sizes of all files. Of a card only the track is proven, since the certificates are
for its games. Its texts appear on web pages, in Markdown and in CSV files. So they consist of
letters, digits and a few signs without a special meaning there, all ASCII, so that no letter of
another alphabet looks like one of these.
"""

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from ..agents.runs.options import STRICT, read
from ..baselines.scoring.certificate import once
from ..core import InputError, one_of
from ..core.words import printable, shown
from .tracks import OPEN, Track

CARD = "card.json"
#: Largest size in bytes of a card, of a certificate, and of all files of an entry together.
MOST_OF_CARD, MOST_OF_CERTIFICATE, MOST_OF_ENTRY = 10_000, 8 * 2**20, 64 * 2**20
MOST_SEEDS = 20
MOST_MOVES = 2**53
LONGEST = 80  # largest number of characters in a text
#: Names in a folder of entries that are no entries; names that begin with a dot are ignored too.
OTHERS = ("README.md",)


def _matching(pattern: str, requirement: str) -> AfterValidator:
    """Make the check that a whole text matches a pattern."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text, re.ASCII):
            raise PydanticCustomError("text", requirement)
        return text

    return AfterValidator(check)


Words = Annotated[
    str,
    _matching(
        rf"(?!.*[wW]{{3}}\.)[^\W_][\w .,:+()'-]{{0,{LONGEST - 1}}}",
        f"1 to {LONGEST} letters, digits, spaces and signs out of . , : + - ( ) ' _, all "
        "ASCII, the first a letter or a digit, and no address",
    ),
]
Link = Annotated[
    str,
    _matching(
        r"(?=.{0,200}$)https://[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:[0-9]+)?(/[A-Za-z0-9._~/?#=&%+,-]*)?",
        "an address that begins with https://, of at most 200 characters",
    ),
]


class Card(BaseModel):
    """The card of an entry: its title, its algorithm and the claims of its author."""

    model_config = STRICT

    title: Words
    """Name of the entry, which no other entry of its track has."""
    algorithm: Words
    """The learning algorithm; entries of one algorithm have one colour."""
    track: str
    """Name of the track."""
    version: int
    """Version of the track's rules."""
    moves: Annotated[int, Field(ge=1, le=MOST_MOVES)]
    """A claim: largest number of moves of a run."""
    seconds: Annotated[float, Field(ge=0)]
    """A claim: mean seconds of a run."""
    hardware: Words
    """A claim: what the runs were trained on."""
    link: Link
    """Where the code or the paper is."""
    exactdice: Annotated[str, _matching(r"[0-9A-Za-z.+]{1,30}", "a version such as 1.0.0")]
    """The version of exactdice that made the entry."""


@dataclass(frozen=True)
class Entry:
    """An entry whose files are complete; its certificates are not verified yet."""

    folder: Path
    card: Card
    certificates: Mapping[tuple[str, int], Path]  # by game and seed

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


def make_card(values: dict[str, Any]) -> Card:
    """Return a card of checked values."""
    card = read(Card, values, "fields of a card")
    track = OPEN[one_of("track", card.track, tuple(OPEN))]
    if card.version not in track.versions:
        raise InputError(
            f"version must be {track.version} on the track {track.name}, got {card.version}"
        )
    if card.moves > track.moves:
        raise InputError(
            f"moves must be at most {track.moves:,} on the track {track.name}, got {card.moves:,}"
        )
    return card


def _read_card(path: Path) -> Card:
    """Read a card of unknown origin."""
    with path.open("rb") as file:
        content = file.read(MOST_OF_CARD + 1)
    if len(content) > MOST_OF_CARD:
        raise InputError(f"{CARD} must have at most {MOST_OF_CARD:,} bytes")
    try:
        values = json.loads(content.decode(), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{CARD} must be the card of an entry, got: {error}") from None
    if not isinstance(values, dict):
        raise InputError(f"{CARD} must be a mapping with the fields of a card, got {shown(values)}")
    try:
        return make_card(values)
    except InputError as error:
        raise InputError(f"{CARD}: {error}") from None


def names_of(folder: Path) -> list[str]:
    """List the names in a folder that should be entries."""
    if not folder.is_dir():
        raise InputError(f"folder must be a folder that has entries, got {folder}")
    found = sorted(path.name for path in folder.iterdir())
    names = [name for name in found if name[0] != "." and name not in OTHERS]
    if not names:
        raise InputError(f"folder must hold entries, got none in {folder}")
    return names


def read_entry(folder: Path) -> Entry:
    """Check the files of an entry, and read its card."""
    try:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", folder.name):
            raise InputError(
                "must be named with 1 to 80 letters, digits and signs out of . _ -, the first a "
                "letter or a digit"
            )
        if not stat.S_ISDIR(folder.lstat().st_mode):
            raise InputError("must be a folder, and no link or archive")
        names = list(_files(folder))
        if CARD not in names:
            raise InputError(f"must have a {CARD}, got none")
        card = _read_card(folder / CARD)
        cells = {cell: folder / name for name in names if (cell := cell_of(name)) is not None}
        _check_cells(cells, OPEN[card.track])
        return Entry(folder, card, MappingProxyType(dict(sorted(cells.items()))))
    except InputError as error:
        raise InputError(printable(str(error))) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"must be a folder that can be read, got: {reason}") from None


def _files(folder: Path) -> Iterator[str]:
    """Yield the names of the files of an entry, after a check of their names, kinds and sizes."""
    total = 0
    with os.scandir(folder) as found:
        for count, file in enumerate(found):
            if count > MOST_SEEDS * 100:
                raise InputError("must have fewer files")
            if file.name != CARD and cell_of(file.name) is None:
                raise InputError(
                    f"must have {CARD} and certificates such as Greed-0.npz alone, got {file.name}"
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
            yield file.name
    if total > MOST_OF_ENTRY:
        raise InputError(f"must have at most {MOST_OF_ENTRY:,} bytes in all, got {total:,}")


def cell_of(name: str) -> tuple[str, int] | None:
    """Return the game and the seed that the name of a certificate gives; None for other names."""
    match = re.fullmatch(r"([A-Za-z0-9]+)-(0|[1-9][0-9]{0,9})\.npz", name)
    return None if match is None else (match[1], int(match[2]))


def _check_cells(cells: Mapping[tuple[str, int], Any], track: Track) -> None:
    """Check that there are all games of a track, each with the same seeds, and enough seeds."""
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
