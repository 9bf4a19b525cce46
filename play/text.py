"""A board as text for 80 columns, without colour, in ASCII where the console has no Unicode."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..core import Die, Game, Gauge, Piece, Row, Tile, Tokens
from ..core.presentation import present
from ..envs.drawing.scene import Event, Scene
from .advice import Advice, Choice
from .coach import Unit, ranked
from .replies import labels

BAR = 30  # characters of a gauge
LABEL = 16  # characters of a label at most
WIDTH = 80
BEST = 5  # moves in a ranking
MANY = 40  # up to this number of places for tokens, each is drawn
LIST = 12  # a short list has at most this number of lines


@dataclass(frozen=True)
class Signs:
    """The characters that a board is made of.

    Attributes:
        die: the box of a die: corners from top left to bottom right, edge, side.
        special: the box of a die whose face has a special worth.
        full: a reached part of a gauge.
        empty: a part of a gauge that is not reached.
        token: a token.
        place: an empty place for a token, or a closed tile.
    """

    die: str
    special: str
    full: str
    empty: str
    token: str
    place: str


UNICODE = Signs("┌┐└┘─│", "╔╗╚╝═║", "█", "░", "●", "·")
ASCII = Signs("++++-|", "####=#", "#", ".", "o", ".")


def rules(game: Game) -> str:
    """Write the rules of a game as one paragraph, for a person who is about to play."""
    sentences = present(game).describe_rules()
    return " ".join(sentence[:1].upper() + sentence[1:] for sentence in sentences)


def board(rows: Sequence[Row], signs: Signs = UNICODE) -> list[str]:
    """Draw rows of pieces as lines of text, without empty rows."""
    rows = [row for row in rows if row.pieces]
    width = min(LABEL, max((len(row.label) for row in rows), default=0)) + 2
    lines = []
    for row in rows:
        drawn = _row(row.pieces, signs, WIDTH - width)
        middle = 1 if isinstance(row.pieces[0], Die) else 0
        for number, line in enumerate(drawn):
            label = row.label if number == middle else ""
            lines.append(f"{label:<{width}}{line}".rstrip())
    return lines


def _row(pieces: Sequence[Piece], signs: Signs, room: int) -> list[str]:
    """Draw pieces side by side, and wrap them at the width ``room``."""
    blocks = [_piece(piece, signs) for piece in pieces]
    height = max(map(len, blocks))
    blocks = [block + [" " * len(block[0])] * (height - len(block)) for block in blocks]
    lines: list[str] = []
    while blocks:
        fitting, used = 1, len(blocks[0][0])
        while fitting < len(blocks) and used + 1 + len(blocks[fitting][0]) <= room:
            used += 1 + len(blocks[fitting][0])
            fitting += 1
        lines += [" ".join(line) for line in zip(*blocks[:fitting], strict=True)]
        blocks = blocks[fitting:]
    return lines


def _piece(piece: Piece, signs: Signs) -> list[str]:
    """Draw a piece as lines of equal length."""
    if isinstance(piece, Die):
        return _die(piece, signs)
    if isinstance(piece, Tile):
        if piece.name:
            return [
                f"[{piece.name}]" if piece.is_open else f"{signs.place}{piece.name}{signs.place}"
            ]
        number = str(piece.number)
        return [f"[{number}]" if piece.is_open else f" {signs.place * len(number)} "]
    if isinstance(piece, Gauge):
        full = min(BAR, round(BAR * piece.points / max(1, piece.limit)))
        return [f"{signs.full * full}{signs.empty * (BAR - full)} {piece.points} of {piece.limit}"]
    if isinstance(piece, Tokens):
        if piece.limit > MANY:
            return [f"{piece.count} of {piece.limit}"]
        row = signs.token * piece.count + signs.place * (piece.limit - piece.count)
        return [f"{row} {piece.count}"]
    return [piece.words]


def _die(die: Die, signs: Signs) -> list[str]:
    """Draw a die as a box of three lines."""
    box, face = signs.special if die.special else signs.die, f" {die.face} "
    edges, side = box[4] * len(face), box[5]
    return [f"{box[0]}{edges}{box[1]}", f"{side}{face}{side}", f"{box[2]}{edges}{box[3]}"]


def listing(choices: Sequence[Choice], *, short: bool) -> list[str]:
    """List legal moves with their labels; a short list leaves out the middle of many numbers."""
    names = labels(choices)
    lines = [f"  {name}  {one.words}" for name, one in zip(names, choices, strict=True)]
    if short and len(lines) > LIST and not any(choice.parts for choice in choices):
        lines = [*lines[: LIST - 2], "  ...", lines[-1]]
    return lines


def told(event: Event, scene: Scene, *, own: bool) -> str:
    """Describe a move and its dice.

    In a game with dice on the board, the player has rolled before the move; in other games the
    move rolls the dice.

    Args:
        event: the move.
        scene: any scene of the game; its board shows whether dice lie on it.
        own: whether the move is the person's, who has seen the position.
    """
    on_board = any(isinstance(piece, Die) for row in scene.rows for piece in row.pieces)
    rolled = " ".join(str(die.face) for die in event.dice)
    after = f" (rolled {rolled})" if rolled and not on_board else ""
    if own:
        return _with_result(f"{event.who.capitalize()} {event.words}{after}", event)
    before = f", rolled {rolled}" if rolled else f", {event.position}"
    return _with_result(f"{event.who}{'' if after else before}: {event.words}{after}", event)


def _with_result(words: str, event: Event) -> str:
    """Add the sentence on what a move has decided, if there is one."""
    return f"{words}. {event.decided}" if event.decided else words


def ranking(advice: Sequence[Advice], unit: Unit) -> list[str]:
    """Write the best moves with their labels, values and losses, a line each."""
    names = dict(zip(advice, labels([one.choice for one in advice]), strict=True))
    best = ranked(advice, unit)[:BEST]
    width = max(len(one.choice.words) for one, *_ in best)
    return [
        f"  {names[one]:>2}  {one.choice.words:<{width}}  {value}  {cost}"
        for one, value, cost in best
    ]
