"""What a game is: the contract of who writes one.

A *position* is a player to move and a *state*: an integer that stands for all that player sees.
A move is made of an action, a chance outcome drawn from a law with finitely many outcomes, and a
deterministic rule that says where that leads. Games are finite: the positions fall into stages,
and every move leads to a later stage or ends the game. A game with cycles has blocks of stages too,
and in a block moves may lead back to its cut (``block``).

The game is over for a player once its payoff is settled, whether or not others play on: who is
beaten in a round of four need not watch the rest. A state tells the player to move all it needs;
what has become of the others it does not hold, so that a value *to a player*, in a position where
another is to move, means: if the game is not over for the player.

How games are swept is another matter (``sweeps``): any game by listing its moves, one with
structure by a class of its own.
"""

import inspect
from abc import abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from .checks import range_of, require_numbers
from .errors import GameError
from .identity import Identity, Sealed, require_unchanged
from .presentation import Presentation
from .sizes import Cost
from .types import Array, BoolArray, FloatArray, IntArray, Move


class Game(Presentation, metaclass=Sealed):
    """A finite game of chance and perfect information.

    Once it is made a game does not change: attributes cannot be set, and arrays are read-only. Two
    games of a class are equal if their arguments have the same content (see ``identity``).

    Attributes:
        name: what the game is called in ids.
        opponent_keyword: what environments call the other players' policies.
        default_opponent: what they play unless told otherwise.
        num_players: number of seats; seat 0 moves first.
        num_states: states are 0, ..., num_states - 1, for every seat.
        num_actions: actions are 0, ..., num_actions - 1.
        observation_sizes: number of values of each component of an observation.
        payoff_range: smallest and largest payoff of a player.
        zero_sum: whether the payoffs of two players always add up to the same total, so that
            what one wins the other loses.
        has_cycles: whether moves may lead back; if so, ``block`` says where.
        laws: probabilities, shape (law, outcome); ``law`` says which row governs a move.
        cost: estimates what solving takes from the sizes (see ``sizes``), None if nothing does.
    """

    name: ClassVar[str]
    opponent_keyword: ClassVar[str] = "opponent"
    default_opponent: ClassVar[str] = "optimal"
    has_cycles: ClassVar[bool] = False
    num_players: int
    num_states: int
    num_actions: int
    observation_sizes: tuple[int, ...]
    observation_names: tuple[str, ...]
    payoff_range: tuple[float, float]
    zero_sum: bool
    laws: FloatArray
    _identity: Identity
    cost: ClassVar[Callable[..., Cost] | None] = None

    # ------------------------------------------------------------------ rules

    @abstractmethod
    def observe(self, states: IntArray, seat: int) -> IntArray:
        """Give the observation of each state, shape (state, component)."""

    @abstractmethod
    def encode(self, observations: IntArray) -> IntArray:
        """Invert ``observe``: the state of each observation, -1 if there is none."""

    @abstractmethod
    def mask(self, states: IntArray) -> BoolArray:
        """Say which actions are legal, shape (state, action).

        At least one is, also in numbers that stand for no state, where all may be.
        """

    @abstractmethod
    def initial_law(self) -> tuple[IntArray, Array]:
        """Give the states in which seat 0 may start, and their probabilities (fractions)."""

    @abstractmethod
    def exact_laws(self) -> Array:
        """Give ``laws`` as fractions, for exact computation by enumeration."""

    @abstractmethod
    def law(self, states: IntArray, actions: IntArray) -> IntArray:
        """Give the row of ``laws`` from which each move's outcome is drawn."""

    @abstractmethod
    def advance(
        self, seats: IntArray, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        """Apply the rules to a batch of legal moves whose chance outcomes are known."""

    def exact_advance(
        self, seats: IntArray, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        """Do as ``advance`` does, with payoffs as fractions; here, those that the floats are.

        A game whose payoffs are other fractions than its floats has to override it, and
        ``exact_range``.
        """
        move = self.advance(seats, states, actions, outcomes)
        require_numbers(self, seats, states, actions, move)
        exactly = np.vectorize(Fraction, otypes=[object])
        return move._replace(payoffs=exactly(move.payoffs))

    @property
    def exact_range(self) -> tuple[Fraction, Fraction]:
        """``payoff_range`` in fractions."""
        low, high = range_of(self)
        return Fraction(low), Fraction(high)

    @abstractmethod
    def stages(self) -> Sequence[tuple[int, IntArray]]:
        """List (seat, states) in an order such that every move leads to a later stage.

        In a game with cycles a move may lead back to the cut of its block.
        """

    def block(self, seat: int, states: IntArray) -> tuple[IntArray, BoolArray]:
        """Give the block of each position, and say whether the position is in its cut.

        Only games with cycles are asked. No move leads to an earlier block. In its own block a
        move leads to a later stage or to the cut, some positions that every cycle passes.

        Args:
            seat: who is to move.
            states: shape (state,).

        Raises:
            GameError: if the game has cycles and does not say it.
        """
        raise GameError(f"{type(self).__name__} must have the method block, as it has cycles")

    # --------------------------------------------------------------- identity

    @property
    def keywords(self) -> dict[str, Any]:
        """Arguments that build this game, in JSON's types."""
        return {name: getattr(self, name) for name in _arguments(type(self))}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments and not the tables made from them: models carry their game along."""
        return rebuild, (type(self), self.keywords)

    def __repr__(self) -> str:
        """Show the arguments."""
        shown = ", ".join(f"{name}={value!r}" for name, value in self.keywords.items())
        return f"{type(self).__name__}({shown})"

    def __eq__(self, other: object) -> bool:
        """Call two games equal if they are of one class and were made of equal arguments.

        Whether an argument has been changed since is seen when a game is hashed, as it is whenever
        it is asked about.
        """
        if self is other or type(self) is not type(other):
            return self is other
        assert isinstance(other, Game)
        return self._identity.contents == other._identity.contents

    def __hash__(self) -> int:
        """Hash class and arguments, once; those that can be changed in place are compared again."""
        identity = self._identity
        return (require_unchanged(self) if identity.changeable else identity).hashed

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute while the game is made."""
        self._require_unsealed(name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        """Delete an attribute while the game is made."""
        self._require_unsealed(name)
        super().__delattr__(name)

    def _require_unsealed(self, name: str) -> None:
        if "_identity" in vars(self):
            raise GameError(
                f"{name} must stay as it was when the game was made: make another game instead"
            )


#: Every game by name, to which ``exactdice.register`` adds; ``exactdice/<name>-v0`` is its
#: environment.
GAMES: dict[str, type[Game]] = {}


@lru_cache
def _arguments(rules: type[Game]) -> tuple[str, ...]:
    """Give the names of what a game is made from; every question about a game hashes them."""
    return tuple(inspect.signature(rules).parameters)


def rebuild(rules: type[Game], keywords: dict[str, Any]) -> Game:
    """Build a game again from its arguments."""
    return rules(**keywords)
