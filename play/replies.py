"""The replies by which a person chooses a move.

If moves take pieces, the list labels moves with letters, so that a number always means a piece:
"1 8" closes the tiles 1 and 8. A piece with a name is meant by the name or by its beginning, if no
other name begins so. Otherwise the list labels moves with numbers: "3" rolls three dice.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import count, islice, product

from ..baselines.scoring.certificate_file import printable
from ..core import Die, InputError, Row, Tile
from .advice import Choice

LETTERS = "abcdefgijklmnoprstvwxyz"  # h, q and u are commands
LONGEST = 200  # further characters of a reply are ignored
NOTHING = ("0", "-", "none", "nothing")


def labels(choices: Sequence[Choice]) -> list[str]:
    """Return the label of each move in the list."""
    if not _take_pieces(choices):
        return [str(choice.action) for choice in choices]
    words = ("".join(letters) for size in count(1) for letters in product(LETTERS, repeat=size))
    return list(islice(words, len(choices)))


def written(rows: Sequence[Row]) -> dict[int, int | str]:
    """Return what is on each die or tile that moves can take, by the ``part`` of the piece."""
    pieces = [piece for row in rows for piece in row.pieces]
    dice = {die.part: die.face for die in pieces if isinstance(die, Die)}
    tiles = {tile.part: tile.name or tile.number for tile in pieces if isinstance(tile, Tile)}
    return {part: sign for part, sign in (dice | tiles).items() if part is not None}


def understand(reply: str, choices: Sequence[Choice], on: Mapping[int, int | str]) -> Choice:
    """Find the move that a reply means.

    Args:
        reply: a label, the move in words, or what is on its pieces.
        choices: the legal moves.
        on: the signs on pieces, as ``written`` returns them.

    Raises:
        InputError: if no move or more than one matches; the message says what can be typed.
    """
    said = " ".join(reply[:LONGEST].casefold().split())
    named = dict(zip(labels(choices), choices, strict=True))
    named |= {choice.words.casefold(): choice for choice in choices}
    if said in named:
        return named[said]
    if _take_pieces(choices):
        found = _by_pieces(said, choices, on)
        if len(found) == 1:
            return found[0]
        if found:
            each = " or ".join(name for name, choice in named.items() if choice in found)
            raise InputError(f"That can be {each}.")
    raise InputError(f"There is no move {printable(reply.strip(), 40)}: {possible(choices, on)}.")


def possible(choices: Sequence[Choice], on: Mapping[int, int | str]) -> str:
    """Say what can be typed."""
    names = labels(choices)
    if len(names) == 1:
        return f"there is one, {choices[0].words}; type {names[0]}"
    some = f"{names[0]} to {names[-1]}"
    if not _take_pieces(choices):
        return f"type a number of the list, {some}"
    named = [choice for choice in choices if _name(choice, on)]
    numbered = [choice for choice in choices if choice.parts and choice not in named]
    both = [each[-1] for each in (numbered, named) if each]
    examples = " or ".join(" ".join(str(on[part]) for part in choice.parts) for choice in both)
    signs = "numbers" if not named else "names" if not numbered else "numbers or the name"
    nothing = ", 0 for none" if any(not choice.parts for choice in choices) else ""
    return f"type the {signs} on the pieces, such as {examples}{nothing}, or a letter, {some}"


def _take_pieces(choices: Sequence[Choice]) -> bool:
    return any(choice.parts for choice in choices)


def _name(choice: Choice, on: Mapping[int, int | str]) -> str:
    """Give the name on the only piece that a move takes; empty if there is none."""
    signs = [on[part] for part in choice.parts]
    return signs[0].casefold() if len(signs) == 1 and isinstance(signs[0], str) else ""


def _by_pieces(said: str, choices: Sequence[Choice], on: Mapping[int, int | str]) -> list[Choice]:
    """Find the moves that take pieces with these signs; "421" may mean 4, 2 and 1."""
    if said in NOTHING:
        return [choice for choice in choices if not choice.parts]
    if not re.fullmatch(r"[\s,+]*\d[\d\s,+]*", said):
        named = [choice for choice in choices if said and _name(choice, on).startswith(said)]
        return [choice for choice in named if _name(choice, on) == said] or named
    together = re.findall(r"\d+", said)
    for numbers in (together, re.findall(r"\d", said)):
        wanted = sorted(str(int(number)) for number in numbers)
        found = [
            choice for choice in choices if sorted(str(on[part]) for part in choice.parts) == wanted
        ]
        if found:
            return found
    return []
