"""The replies by which a person chooses a move.

If moves take pieces, the list labels moves with letters, so that a number always means a piece:
"1 8" closes the tiles 1 and 8. Otherwise it labels them with numbers: "3" rolls three dice.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import count, islice, product

from ..baselines.scoring.certificate import printable
from ..core import Die, InputError, Row, Tile
from .session import Choice

LETTERS = "abcdefgijklmnoprstvwxyz"  # h, q and u are commands
LONGEST = 200  # further characters of a reply are ignored
NOTHING = ("0", "-", "none", "nothing")


def labels(choices: Sequence[Choice]) -> list[str]:
    """Return the label of each move in the list."""
    if not _take_pieces(choices):
        return [str(choice.action) for choice in choices]
    words = ("".join(letters) for size in count(1) for letters in product(LETTERS, repeat=size))
    return list(islice(words, len(choices)))


def written(rows: Sequence[Row]) -> dict[int, int]:
    """Return the number on each die or tile that moves can take, by the ``part`` of the piece."""
    pieces = [piece for row in rows for piece in row.pieces]
    dice = {die.part: die.face for die in pieces if isinstance(die, Die)}
    tiles = {tile.part: tile.number for tile in pieces if isinstance(tile, Tile)}
    return {part: number for part, number in (dice | tiles).items() if part is not None}


def understand(reply: str, choices: Sequence[Choice], on: Mapping[int, int]) -> Choice:
    """Find the move that a reply means.

    Args:
        reply: a label, the move in words, or the numbers on its pieces.
        choices: the legal moves.
        on: the numbers on pieces, as ``written`` returns them.

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


def possible(choices: Sequence[Choice], on: Mapping[int, int]) -> str:
    """Say what can be typed."""
    names = labels(choices)
    if len(names) == 1:
        return f"there is one, {choices[0].words}; type {names[0]}"
    some = f"{names[0]} to {names[-1]}"
    if not _take_pieces(choices):
        return f"type a number of the list, {some}"
    example = next((choice for choice in reversed(choices) if choice.parts), choices[-1])
    numbers = " ".join(str(on[part]) for part in example.parts)
    nothing = ", 0 for none" if any(not choice.parts for choice in choices) else ""
    return f"type the numbers on the pieces, such as {numbers}{nothing}, or a letter, {some}"


def _take_pieces(choices: Sequence[Choice]) -> bool:
    return any(choice.parts for choice in choices)


def _by_pieces(said: str, choices: Sequence[Choice], on: Mapping[int, int]) -> list[Choice]:
    """Find the moves that take pieces with these numbers; "421" may mean 4, 2 and 1."""
    if said in NOTHING:
        return [choice for choice in choices if not choice.parts]
    if not re.fullmatch(r"[\d\s,+]+", said):
        return []
    together = re.findall(r"\d+", said)
    for numbers in (together, re.findall(r"\d", said)):
        wanted = sorted(map(int, numbers))
        found = [
            choice for choice in choices if sorted(on[part] for part in choice.parts) == wanted
        ]
        if found:
            return found
    return []
