"""The words, the board and the maps of a game.

``Game`` has the rules alone. Words, boards and maps stand in a ``Presentation``, a class beside the
game: ``presents`` says whose presentation a class is, and ``present`` finds it. A game
without such a class is shown in numbers, with the names of the components of its observations.

The board of a position is data: rows of pieces, without places, colours or sizes.
``Presentation.board`` gives the rows; pictures, pages and the terminal draw them. A piece
that a move may take has a number, its ``part``; ``Presentation.parts`` gives the parts that an
action takes. A ``Layout`` gives the cells of states on maps.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from .errors import GameError
from .game import Game
from .types import IntArray

GameT = TypeVar("GameT", bound=Game)


@dataclass(frozen=True)
class Die:
    """A die."""

    face: int  # the face on top
    part: int | None = None  # its number among the pieces that a move may take; None if none does
    special: bool = False  # whether the face is drawn apart, because it does not count its number
    kept: bool = False  # whether the player kept it in the roll before


@dataclass(frozen=True)
class Tile:
    """A tile with a number or a name, open or closed; tiles with names are boxes of a card."""

    number: int
    is_open: bool
    part: int | None = None  # see ``Die.part``
    name: str = ""  # a word or a few, which stand on it instead of the number; empty for the number
    # The points that an open box scores if it is taken now, or that a closed one has scored; None
    # to show none.
    points: int | None = None


@dataclass(frozen=True)
class Gauge:
    """A number of points on a scale from 0 to a limit; ``beyond`` is a word on points above it."""

    points: int
    limit: int
    beyond: str = ""
    name: str = ""  # a word or two that stand with the bar on a card


@dataclass(frozen=True)
class Tokens:
    """A number of tokens, and the largest number there may be."""

    count: int
    limit: int


@dataclass(frozen=True)
class Note:
    """A text: a few words or a number."""

    words: str


Piece: TypeAlias = Die | Tile | Gauge | Tokens | Note


@dataclass(frozen=True)
class Row:
    """Pieces side by side, with a label."""

    label: str  # a word or two
    pieces: tuple[Piece, ...]  # from left to right
    seat: int | None = None  # the player who owns the pieces; None if no player does
    rolled: bool = False  # whether the dice that the player rolled last are drawn here


def dice_of(
    faces: Sequence[int], part: int | None = None, special: int | None = None
) -> tuple[Die, ...]:
    """Return a die for each face other than 0, which stands for no die.

    The parts are counted up from ``part``; ``special`` is the face that is drawn apart.
    """
    shown = [int(face) for face in faces if face]
    return tuple(
        Die(face, None if part is None else part + i, face == special)
        for i, face in enumerate(shown)
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Layout:
    """The cells of a batch of states; several states may share a cell."""

    x_label: str  # of the columns
    y_label: str  # of the rows
    column: IntArray  # (state,) from 0 on
    row: IntArray  # (state,) from 0 on
    panel: IntArray | None = None  # (state,) from 0 on; None if there is one panel
    panels: Sequence[str] = ("",)  # names of the panels
    columns: Sequence[str] | None = None  # names of the columns; None for numbers
    rows: Sequence[str] | None = None  # names of the rows; None for numbers


@dataclass(frozen=True)
class Group:
    """Components of an observation that a person gives together, in any order."""

    keyword: str  # by which the group is given: "dice"
    names: str  # names of the components, with {} for their marks: "die {}", "tile {} open?"
    # Whether a component says how many pieces have its mark, such as open tiles or dice of a face;
    # if not, it is the face of a die, or 0 for no die.
    counts: bool = False
    is_roll: bool = False  # whether these are all dice of a roll, which may have no keyword

    def places(self, game: Game) -> dict[str, int]:
        """Return the place of each component of the group in an observation, by its mark."""
        begin, end = self.names.split("{}")
        return {
            name.removeprefix(begin).removesuffix(end): place
            for place, name in enumerate(game.observation_names)
            if name.startswith(begin) and name.endswith(end)
        }


class Presentation(Generic[GameT]):
    """The words, the board and the maps of a game. All methods have defaults.

    Attributes:
        game: the game that is presented.
        groups: the components of an observation that a person gives together.
        verbs: the verbs of ``describe_action`` and ``tell``: each as it follows a player's name,
            and as it follows "you".
        does: the meaning of a verb as it follows "you", where the coach explains moves by it.
        made_for_two: keyword arguments for two players, if the default game is for one player.
        options: values of keyword arguments that a person may choose, with their meaning in words,
            by keyword.
        welcome: a sentence that a new player reads first; empty for none.
    """

    welcome: ClassVar[str] = ""
    groups: ClassVar[Sequence[Group]] = ()
    verbs: ClassVar[Sequence[tuple[str, str]]] = (("takes", "take"),)
    does: ClassVar[Mapping[str, str]] = MappingProxyType({})
    made_for_two: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    options: ClassVar[Mapping[str, Mapping[Any, str]]] = MappingProxyType({})

    def __init__(self, game: GameT) -> None:
        self.game = game

    @property
    def deviation(self) -> float | None:
        """Standard deviation of the payoff of optimal play; None, the default, to compute it.

        The coach measures losses by it in games that pay points.
        """
        return None

    def describe(self, observation: IntArray) -> str:
        """Describe an observation in words that need no legend: "57 points to 63".

        By default the names of the components and their values, or of the first ones.
        """
        seen = zip(self.game.observation_names, observation.tolist(), strict=False)
        return ", ".join(f"{name} {number}" for name, number in seen)

    def describe_action(self, action: int) -> str:
        """Describe an action in words that may follow a player's name: "rolls 12 dice".

        By default "takes action 12".
        """
        return f"takes action {action}"

    def describe_move(self, observation: IntArray, action: int) -> str:
        """Describe an action at an observation; by default like ``describe_action``."""
        return self.describe_action(action)

    def to_you(self, words: str) -> str:
        """Write the words of a move as they follow "you": "roll 2 dice" for "rolls 2 dice"."""
        forms, each = dict(self.verbs), [(word, word.rstrip(",:")) for word in words.split(" ")]
        return " ".join(forms.get(verb, verb) + word[len(verb) :] for word, verb in each)

    def tell(self, observation: IntArray, action: int, outcome: int) -> str:
        """Describe a move, with its outcome if the next position does not show it.

        By default the words are those of ``describe_move``, without the outcome.

        Args:
            observation: the observation of the player to move, shape (component,).
            action: a legal action.
            outcome: the outcome of chance, as ``advance`` takes it.
        """
        return self.describe_move(observation, action)

    def describe_rules(self) -> Iterable[str]:
        """Yield the rules as sentences, which may begin with a small letter.

        The sentences must follow the arguments of the game. By default the first two paragraphs of
        the module's docstring are one sentence.
        """
        module = inspect.getmodule(type(self.game))  # None for a class made by ``exec``
        said = (module and inspect.getdoc(module)) or f"{self.title}."
        return [" ".join(" ".join(said.split("\n\n")[:2]).split())]

    def worth_table(self) -> Sequence[tuple[str, str]]:
        """List combinations with their worth in words, the best first; by default none."""
        return ()

    def layout(self, observations: IntArray) -> Layout | None:
        """Give each state a cell of a map; by default None, and charts list states instead.

        Args:
            observations: observations of one player, shape (state, component).
        """
        return None

    @property
    def title(self) -> str:
        """The name of the game as words, for headings."""
        return re.sub("(?<=[a-z])(?=[A-Z])", " ", self.game.name)

    def board(self, seat: int, observation: IntArray, names: Sequence[str]) -> tuple[Row, ...]:
        """Return the board of a position as rows of pieces; by default all components as numbers.

        Args:
            seat: the player to move.
            observation: the observation of that player, shape (component,).
            names: names of the players, by seat.
        """
        seen = zip(self.game.observation_names, observation.tolist(), strict=True)
        return tuple(Row(name, (Note(str(number)),)) for name, number in seen)

    def settled(
        self, seat: int, observation: IntArray, action: int, outcome: int, names: Sequence[str]
    ) -> tuple[Row, ...]:
        """Return the board after the last move of a game; by default the board before the move.

        Args:
            seat: the player who made the move.
            observation: the observation of that player before the move, shape (component,).
            action: the move.
            outcome: the outcome of chance, as ``advance`` takes it.
            names: names of the players, by seat.
        """
        return self.board(seat, observation, names)

    def recorded(
        self, rows: Sequence[Row], moves: Sequence[tuple[IntArray, int]]
    ) -> tuple[Row, ...]:
        """Complete a board by what no position holds: by default the board is complete.

        Args:
            rows: the board of a position, as ``board`` or ``settled`` gives it.
            moves: all moves before it, the oldest first: the observation of the player to move,
                shape (component,), and the action.
        """
        return tuple(rows)

    def decided(
        self, seat: int, observation: IntArray, action: int, outcome: int, names: Sequence[str]
    ) -> str:
        """Say in a sentence what a move has decided, of a round or of the game, and why.

        The arguments are those of ``settled``. By default, and if a move decides nothing, the text
        is empty: "Opponent's 6 1 1 beats your 5 2 1: you take 6 tokens."
        """
        return ""

    def parts(self, observation: IntArray, action: int) -> tuple[int, ...]:
        """Return the numbers of the pieces on the board that an action takes; by default none."""
        return ()

    def shown(self, observation: IntArray, action: int, outcome: int) -> tuple[Die, ...]:
        """Return the dice of an outcome that the next position does not show; by default none."""
        return ()

    @property
    def words(self) -> str:
        """The name and, as on the command line, all arguments that differ from their defaults."""
        return self.game.name + self._arguments

    @property
    def heading(self) -> str:
        """The title and, as on the command line, all arguments that differ from their defaults."""
        return self.title + self._arguments

    @property
    def _arguments(self) -> str:
        defaults = inspect.signature(type(self.game)).parameters
        chosen = [
            f", {name} {_as_typed(value)}"
            for name, value in self.game.keywords.items()
            if value != defaults[name].default
        ]
        return "".join(chosen)


def _as_typed(value: Any) -> str:
    """Write an argument as on the command line; objects that cannot be typed are "as a table"."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else "as a table"


@singledispatch
def present(game: Game) -> Presentation[Any]:
    """Return the presentation of a game, which is found by the class of the game."""
    return Presentation(game)


PresentationT = TypeVar("PresentationT", bound=type[Presentation[Any]])


def presents(kind: type[Game]) -> Callable[[PresentationT], PresentationT]:
    """Make the decorated class the presentation of a class of games and of its subclasses."""

    def decorate(presented: PresentationT) -> PresentationT:
        if not isinstance(presented.made_for_two, Mapping):
            raise GameError(
                "made_for_two must be a dictionary of keyword arguments, got "
                f"{type(presented.made_for_two).__name__}"
            )
        present.register(kind, presented)
        return presented

    return decorate
