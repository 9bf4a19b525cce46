"""The card of an entry: the author's statements about it, in card.json.

Only the track is proven, since the certificates are for its games. The texts of a card appear on
web pages, in Markdown and in CSV files. So they consist of letters, digits and a few signs without
a special meaning there, all ASCII, so that no letter of another alphabet looks like one of these.
"""

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from ...baselines.scoring.certificate_file import once
from ...core import InputError, one_of, write_file
from ...core.words import shown
from ..runs.reading import STRICT, read
from ..tracks import OPEN

LARGEST = 10_000  # largest size of a card in bytes
LONGEST = 80  # largest number of characters in a text
NAME = "card.json"

_WORDS = re.compile(rf"[^\W_][\w .,:+()'-]{{0,{LONGEST - 1}}}", re.ASCII)
_LINK = re.compile(r"https://[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:[0-9]+)?(/[A-Za-z0-9._~/?#=&%+,-]*)?")
_VERSION = re.compile(r"[0-9A-Za-z.+]{1,30}")


def _words(text: str) -> str:
    """Return a text after checking that it is short and no formula, link or markup."""
    if not _WORDS.fullmatch(text) or "www." in text.lower():
        raise PydanticCustomError(
            "text",
            f"1 to {LONGEST} letters, digits, spaces and signs out of . , : + - ( ) ' _, all "
            "ASCII, the first a letter or a digit, and no address",
        )
    return text


def _link(text: str) -> str:
    if len(text) > 200 or not _LINK.fullmatch(text):
        raise PydanticCustomError("link", "an address that begins with https://, of 200 characters")
    return text


def _version(text: str) -> str:
    if not _VERSION.fullmatch(text):
        raise PydanticCustomError("version", "a version such as 1.0.0")
    return text


Words = Annotated[str, AfterValidator(_words)]
MOST_MOVES = 2**53


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
    link: Annotated[str, AfterValidator(_link)]
    """Where the code or the paper is."""
    exactdice: Annotated[str, AfterValidator(_version)]
    """The version of exactdice that made the entry."""


def make_card(values: dict[str, Any]) -> Card:
    """Return a card of checked values; a missing version of exactdice is filled in.

    Raises:
        InputError: naming the field, the requirement and the value.
    """
    values = {"exactdice": version("exactdice"), **values}
    for name in Card.model_fields:
        if name not in values:
            raise InputError(f"{name} must be given on the card, got none")
    card = read(Card, values, "fields of a card")
    one_of("track", card.track, tuple(OPEN))
    track = OPEN[card.track]
    if card.version != track.version:
        raise InputError(
            f"version must be {track.version} on the track {track.name}, got {card.version}"
        )
    if card.moves > track.moves:
        raise InputError(
            f"moves must be at most {track.moves:,} on the track {track.name}, got {card.moves:,}"
        )
    return card


def read_card(path: Path) -> Card:
    """Read a card of unknown origin.

    Raises:
        InputError: if the file is no valid card.
    """
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise InputError(f"{NAME} must have at most {LARGEST:,} bytes")
    try:
        values = json.loads(content.decode(), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{NAME} must be the card of an entry, got: {error}") from None
    if not isinstance(values, dict) or "exactdice" not in values:
        raise InputError(
            f"{NAME} must be a mapping with exactdice and the other fields of a card, got "
            f"{shown(values)}"
        )
    try:
        return make_card(values)
    except InputError as error:
        raise InputError(f"{NAME}: {error}") from None


def write_card(path: Path, card: Card) -> None:
    """Write a card."""
    write_file(path, (json.dumps(card.model_dump(), indent=2) + "\n").encode())
