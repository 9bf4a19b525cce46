"""How a game is put before people: in words, on a table, and on maps."""

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
    """What people read and see of a game. All but two methods have a default.

    Attributes:
        name: what the game is called in ids.
        made_for_two: keyword arguments that make it a game of two, if others make it one player's.
        observation_names: of the components of an observation.
    """

    name: ClassVar[str]
    made_for_two: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    observation_names: tuple[str, ...]

    @abstractmethod
    def describe(self, observation: IntArray) -> str:
        """Put an observation into words that need no legend: "57 points to 63"."""

    @abstractmethod
    def describe_action(self, action: int) -> str:
        """Put an action into words that may follow the name of a player: "rolls 12 dice"."""

    def describe_move(self, observation: IntArray, action: int) -> str:
        """Put an action at an observation into such words; here, those of the action."""
        return self.describe_action(action)

    def tell(self, observation: IntArray, action: int, outcome: int) -> str:
        """Put a whole move into words: what was done, and what came of it if no position shows it.

        Here, what was done.

        Args:
            observation: what the player who moves sees.
            action: legal there.
            outcome: that chance answered, as ``advance`` takes it.
        """
        return self.describe_move(observation, action)

    def describe_rules(self) -> Iterable[str]:
        """Say how the game is played, a sentence at a time; here, as its module's docstring says.

        The sentences follow the arguments. Their first letters may be small.
        """
        module = inspect.getmodule(type(self))  # None for a class made by ``exec``
        said = (module and inspect.getdoc(module)) or f"{self.title}."
        return [" ".join(" ".join(said.split("\n\n")[:2]).split())]

    def layout(self, observations: IntArray) -> Layout | None:
        """Lay states out as cells of maps; here, None: charts list states instead.

        Args:
            observations: of states in which one player is to move, shape (state, component).
        """
        return None

    @property
    def title(self) -> str:
        """What people call the game."""
        return re.sub("(?<=[a-z])(?=[A-Z])", " ", self.name)

    def board(self, seat: int, observation: IntArray, names: Sequence[str]) -> tuple[Row, ...]:
        """Give what lies on the table where a player is to move; here, all that it sees.

        Args:
            seat: who is to move.
            observation: shape (component,).
            names: of the players, by seat.
        """
        seen = zip(self.observation_names, observation.tolist(), strict=True)
        return tuple(Row(name, (Note(str(number)),)) for name, number in seen)

    def parts(self, observation: IntArray, action: int) -> tuple[int, ...]:
        """Give the numbers of the pieces on the table that an action takes; here, none."""
        return ()

    def shown(self, observation: IntArray, action: int, outcome: int) -> tuple[Die, ...]:
        """Give dice of the outcome of a move that no later position shows; here, none."""
        return ()

    @property
    @abstractmethod
    def keywords(self) -> dict[str, Any]:
        """Arguments that build this game, in JSON's types."""

    @property
    def words(self) -> str:
        """The name and, as the command line takes them, the arguments that are not the default."""
        defaults = inspect.signature(type(self)).parameters
        chosen = [
            f", {name} {_as_typed(value)}"
            for name, value in self.keywords.items()
            if value != defaults[name].default
        ]
        return self.name + "".join(chosen)


def _as_typed(value: Any) -> str:
    """Write an argument as one types it; what nobody types, such as a table, is only called so."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else "as a table"
