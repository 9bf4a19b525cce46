"""The words, the board and the maps of a game."""

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from .board import Die, Note, Row
from .layout import Layout
from .types import IntArray


class Presentation(ABC):
    """The part of ``Game`` that gives words, boards and maps. A game must write two methods of it.

    Attributes:
        name: the name of the game in ids and on the command line.
        made_for_two: keyword arguments for two players, if the default game is for one player.
        observation_names: names of the components of an observation.
    """

    name: ClassVar[str]
    made_for_two: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    observation_names: tuple[str, ...]

    @abstractmethod
    def describe(self, observation: IntArray) -> str:
        """Describe an observation in words that need no legend: "57 points to 63"."""

    @abstractmethod
    def describe_action(self, action: int) -> str:
        """Describe an action in words that may follow a player's name: "rolls 12 dice"."""

    def describe_move(self, observation: IntArray, action: int) -> str:
        """Describe an action at an observation; by default like ``describe_action``."""
        return self.describe_action(action)

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
        module = inspect.getmodule(type(self))  # None for a class made by ``exec``
        said = (module and inspect.getdoc(module)) or f"{self.title}."
        return [" ".join(" ".join(said.split("\n\n")[:2]).split())]

    def layout(self, observations: IntArray) -> Layout | None:
        """Give each state a cell of a map; by default None, and charts list states instead.

        Args:
            observations: observations of one player, shape (state, component).
        """
        return None

    @property
    def title(self) -> str:
        """The name of the game as words, for headings."""
        return re.sub("(?<=[a-z])(?=[A-Z])", " ", self.name)

    def board(self, seat: int, observation: IntArray, names: Sequence[str]) -> tuple[Row, ...]:
        """Return the board of a position as rows of pieces; by default all components as numbers.

        Args:
            seat: the player to move.
            observation: the observation of that player, shape (component,).
            names: names of the players, by seat.
        """
        seen = zip(self.observation_names, observation.tolist(), strict=True)
        return tuple(Row(name, (Note(str(number)),)) for name, number in seen)

    def parts(self, observation: IntArray, action: int) -> tuple[int, ...]:
        """Return the numbers of the pieces on the board that an action takes; by default none."""
        return ()

    def shown(self, observation: IntArray, action: int, outcome: int) -> tuple[Die, ...]:
        """Return the dice of an outcome that the next position does not show; by default none."""
        return ()

    @property
    @abstractmethod
    def keywords(self) -> dict[str, Any]:
        """The arguments that build this game."""

    @property
    def words(self) -> str:
        """The name and, as on the command line, all arguments that differ from their defaults."""
        defaults = inspect.signature(type(self)).parameters
        chosen = [
            f", {name} {_as_typed(value)}"
            for name, value in self.keywords.items()
            if value != defaults[name].default
        ]
        return self.name + "".join(chosen)


def _as_typed(value: Any) -> str:
    """Write an argument as on the command line; objects that cannot be typed are "as a table"."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else "as a table"
