"""A game on a console: the board as text, its moves in words, and the replies of a person.

The board has 80 columns and no colour, and is in ASCII where the console has no Unicode. A reply
chooses a move. If moves take pieces, the list labels moves with letters, so that a number always
means a piece: "1 8" closes the tiles 1 and 8. A piece with a name is meant by the name or by its
beginning, if no other name begins so. Otherwise the list labels moves with numbers: "3" rolls three
dice.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, count, islice, product
from textwrap import wrap

from rich.columns import Columns
from rich.console import Console
from rich.text import Text

from ..baselines.advice import TIE, Advice, Choice
from ..core import Die, FloatArray, Game, Gauge, InputError, Piece, Row, Tile, Tokens, present
from ..core.words import printable
from ..envs.drawing.scene import Event, Scene
from .coach import Unit, given_away
from .session import Session

BAR = 30  # characters of a gauge
LABEL = 16  # characters of a label at most
WIDTH = 80
BEST = 5  # moves in a ranking
MANY = 40  # up to this number of places for tokens, each is drawn
LIST = 12  # a short list has at most this number of lines
COLUMN = 6  # a longer list of moves is laid out in columns
LETTERS = "abcdefgijklmnoprstvwxyz"  # h, q and u are commands
LONGEST = 200  # further characters of a reply are ignored
NOTHING = ("0", "-", "none", "nothing")


#: The characters of boards, where the console has no others.
IN_ASCII = str.maketrans("┌┐└┘─│╔╗╚╝═║█░●·", "++++-|####=##.o.")


def rules(game: Game) -> str:
    """Write the rules of a game as one paragraph, for a person who is about to play."""
    sentences = present(game).describe_rules()
    return " ".join(sentence[:1].upper() + sentence[1:] for sentence in sentences)


def board(rows: Sequence[Row]) -> list[str]:
    """Draw rows of pieces as lines of text, without empty rows."""
    rows = [row for row in rows if row.pieces]
    width = min(LABEL, max((len(row.label) for row in rows), default=0)) + 2
    lines = []
    for row in rows:
        drawn = _row(row.pieces, WIDTH - width)
        middle = 1 if isinstance(row.pieces[0], Die) else 0
        for number, line in enumerate(drawn):
            label = row.label if number == middle else ""
            lines.append(f"{label:<{width}}{line}".rstrip())
    return lines


def _row(pieces: Sequence[Piece], room: int) -> list[str]:
    """Draw pieces side by side, and wrap them at the width ``room``."""
    blocks = [_piece(piece) for piece in pieces]
    height = max(map(len, blocks))
    blocks = [block + [" " * len(block[0])] * (height - len(block)) for block in blocks]
    lines: list[str] = []
    while blocks:
        ends = accumulate(len(block[0]) + 1 for block in blocks)
        fitting = max(1, sum(end <= room + 1 for end in ends))
        lines += [" ".join(line) for line in zip(*blocks[:fitting], strict=True)]
        blocks = blocks[fitting:]
    return lines


def _piece(piece: Piece) -> list[str]:
    """Draw a piece as lines of equal length: a die as a box of three, another piece as one."""
    if isinstance(piece, Die):
        face = f" {piece.face} "
        a, b, c, d, edge, side = "╔╗╚╝═║" if piece.special else "┌┐└┘─│"
        edges = edge * len(face)
        return [f"{a}{edges}{b}", f"{side}{face}{side}", f"{c}{edges}{d}"]
    if isinstance(piece, Tile):
        if piece.name:
            words = piece.name if piece.points is None else f"{piece.name} {piece.points}"
            return [f"[{words}]" if piece.is_open else f"·{words}·"]
        number = str(piece.number)
        return [f"[{number}]" if piece.is_open else f" {'·' * len(number)} "]
    if isinstance(piece, Gauge):
        full = min(BAR, round(BAR * piece.points / max(1, piece.limit)))
        bar = f"{'█' * full}{'░' * (BAR - full)} {piece.points} of {piece.limit}"
        return [f"{piece.name} {bar}" if piece.name else bar]
    if isinstance(piece, Tokens):
        if piece.limit > MANY:
            return [f"{piece.count} of {piece.limit}"]
        return [f"{'●' * piece.count}{'·' * (piece.limit - piece.count)} {piece.count}"]
    return [piece.words]


def told(event: Event, scene: Scene, *, own: bool) -> str:
    """Describe a move and its dice; a person has seen the position of an own move.

    In a game with dice on the board, as any scene of it shows, the player has rolled before the
    move; in other games the move rolls the dice.
    """
    on_board = any(isinstance(piece, Die) for row in scene.rows for piece in row.pieces)
    rolled = " ".join(str(die.face) for die in event.dice)
    after = f" (rolled {rolled})" if rolled and not on_board else ""
    decided = f". {event.decided}" if event.decided else ""
    if own:
        return f"{event.who.capitalize()} {event.words}{after}{decided}"
    before = f", rolled {rolled}" if rolled else f", {event.position}"
    return f"{event.who}{'' if after else before}: {event.words}{after}{decided}"


def told_moves(session: Session) -> list[str]:
    """Describe the moves from the person's last one on."""
    return [
        told(event, session.scene, own=bool(session.actions) and number == 0)
        for number, event in enumerate(session.scene.events)
    ]


def labels(choices: Sequence[Choice]) -> list[str]:
    """Return the label of each move in the list."""
    if not _take_pieces(choices):
        return [str(choice.action) for choice in choices]
    words = ("".join(letters) for size in count(1) for letters in product(LETTERS, repeat=size))
    return list(islice(words, len(choices)))


def understand(reply: str, choices: Sequence[Choice], on: Mapping[int, int | str]) -> Choice:
    """Find the move that a reply means: a label, its words, or the ``signs`` of pieces."""
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
    if len(found := [choice for choice in choices if _says(said, choice.words)]) == 1:
        return found[0]
    verb, _, rest = said.partition(" ")
    if rest and verb in {"score", *(choice.words.casefold().split()[0] for choice in choices)}:
        with suppress(InputError):
            return understand(rest, choices, on)
    shown = printable(reply.strip(), 40)
    raise InputError(f"There is no move {shown}: {possible(choices, on)}; ? says more.")


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


def _says(reply: str, move: str) -> bool:
    """Whether a reply has exactly a move's numbers, and its verb or no words of others.

    Of a move without numbers it must have all words.
    """
    words, own = (re.findall(r"[^\W\d]+", each) for each in (reply, move.casefold()))
    said, numbers = (sorted(re.findall(r"-?\d+", each)) for each in (reply, move))
    if said != numbers:
        return False
    return {*own[: 1 if numbers else None]} <= {*words} or (bool(numbers) and {*words} <= {*own})


class Screen:
    """Prints on the terminal, or into a pipe, and asks there."""

    def __init__(self) -> None:
        self.console = Console(highlight=False)

    def ask(self, prompt: str) -> str:
        """Return the reply to a question; of a pipe, it is printed behind the question."""
        if sys.stdin.isatty():
            return input(prompt)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        self.draw(prompt + printable(line.strip()))
        return line

    def say(self, words: str, style: str | None = None) -> None:
        """Print a sentence, wrapped with an indent."""
        width = self.console.width
        for line in wrap(words, width, subsequent_indent="    ") if words.strip() else [words]:
            self.draw(line, style)

    def draw(self, line: str, style: str | None = None) -> None:
        """Print a line without wrapping, such as a command to copy."""
        self.console.print(line, style=style, markup=False, emoji=False, soft_wrap=True)

    def rules(self, game: Game) -> None:
        """Print the rules of a game, and what combinations are worth."""
        self.say(rules(game))
        worth = present(game).worth_table()
        width = max((len(words) for words, _ in worth), default=0)
        for words, each in worth:
            self.draw(f"  {words:<{width}}  {each}")

    def board(self, rows: Sequence[Row]) -> None:
        """Draw a board."""
        lines = "\n".join(board(rows))
        self.draw(lines.translate(IN_ASCII) if self.console.options.ascii_only else lines)

    def moves(self, choices: Sequence[Choice], *, short: bool) -> None:
        """List legal moves with their labels; a short list leaves out many numbers."""
        names = labels(choices)
        lines = [f"  {name}  {one.words}" for name, one in zip(names, choices, strict=True)]
        if short and len(lines) > LIST and not _take_pieces(choices):
            lines = [*lines[: LIST - 2], "  ...", lines[-1]]
        if len(lines) > COLUMN:
            self.console.print(Columns(map(Text, lines), padding=(0, 2), column_first=True))
        else:
            self.draw("\n".join(lines))

    def ranking(self, advice: Sequence[Advice], unit: Unit, law: FloatArray | None = None) -> None:
        """List the best moves with their probabilities in a law (action,), values and losses."""
        names = dict(zip(advice, labels([one.choice for one in advice]), strict=True))
        best = sorted(advice, key=lambda one: one.cost)[:BEST]
        width = max(len(one.choice.words) for one in best)
        for one in best:
            action = one.choice.action
            often = "" if law is None else f"  {law[action]:>6.1%} of the time"
            lost = unit.lost(given_away(advice, action, unit))
            value = f"{one.choice.words:<{width}}  {unit.shown(unit.rounded(one.value))}"
            cost = "the best" if one.cost < TIE else f"gives away {lost}"
            self.draw(f"{often}  {names[one]:>2}  {value}  {cost}")
