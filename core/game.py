"""The class ``Game``: the rules of a game, which its author writes.

A *position* is a player to move and a *state*, an integer that stands for all that this player
sees. In a move the player chooses an action, chance draws an outcome from a law with finitely many
outcomes, and the rules give the next position. Games are finite: the positions fall into stages,
and every move leads to a later stage or ends the game. In a game with cycles the stages fall into
blocks, and a move may also lead back to the cut of its block (``block``).

A player's payoff of a game is the sum of what the moves pay. Most games pay once, at their end.
Where points add up, each move may pay, so that no state has to hold the points so far.

The game is over for a player once its payoff is settled, though other players may play on: a player
who is beaten in a round of four has no further part in the round. A state does not say whether the
game is over for players other than the player to move. The value of a position *to another player*
is therefore the value under the condition that the game is not over for that player: what moves say
of a player after the end of its game does not count.

The class ``Sweeps`` computes values of any game by listing its moves. A game with more structure
may have a class of sweeps of its own (``sweeps_for``).
"""

import inspect
from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from .checks import range_of, require_numbers
from .errors import GameError
from .identity import Identity, Sealed, require_unchanged
from .types import Array, BoolArray, FloatArray, IntArray, Move


class Game(metaclass=Sealed):
    """A finite game of chance and perfect information.

    A game is immutable: its attributes cannot be set, and its arrays are read-only. Two games of a
    class are equal if their arguments have the same content (see ``identity``).

    Attributes:
        name: the name of the game in ids and on the command line.
        opponent_keyword: the keyword of environments for the policies of the other players.
        default_opponent: the default policy of the other players.
        num_players: number of seats; seat 0 moves first.
        num_states: states are 0, ..., num_states - 1, for every seat.
        num_actions: actions are 0, ..., num_actions - 1.
        observation_sizes: number of values of each component of an observation.
        observation_names: names of the components of an observation.
        payoff_range: smallest and largest payoff of a player, from any position on to the end: a
            range that holds all values. If moves pay before the end it may be wider than the range
            of totals of whole games.
        zero_sum: whether the payoffs of two players always add up to the same total, so that
            what one wins the other loses: to that total at the end, to 0 in any move before.
        has_cycles: whether moves may lead back; if so, the game has the method ``block``.
        laws: probabilities of outcomes, shape (law, outcome); ``law`` gives the row of a move.
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

    # ------------------------------------------------------------------ rules

    @abstractmethod
    def observe(self, states: IntArray, seat: int) -> IntArray:
        """Give the observation of each state, shape (state, component)."""

    @abstractmethod
    def encode(self, observations: IntArray) -> IntArray:
        """Invert ``observe``: give the state of each observation, -1 if no state has it.

        Integers below ``num_states`` may stand for no state: then their observations give -1, too.
        """

    @abstractmethod
    def mask(self, states: IntArray) -> BoolArray:
        """Say which actions are legal, shape (state, action): at least one in each state.

        Of integers below ``num_states`` that stand for no position, any actions may be legal.
        """

    @abstractmethod
    def initial_law(self) -> tuple[IntArray, Array]:
        """Give the states in which seat 0 may start, and their probabilities as fractions."""

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
        """Apply the rules to a batch of legal moves whose chance outcomes are known.

        In a game with cycles a move that stays in a block with a cut pays nothing before the end.
        """

    def exact_advance(
        self, seats: IntArray, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        """Apply the rules like ``advance``, but with payoffs as fractions.

        By default each payoff is the fraction that equals its float. A game whose payoffs are
        rounded in floats, such as 1/3, must override this method and ``exact_range``.
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
        """List the stages as (seat, states), such that every move leads to a later stage.

        In a game with cycles a move may also lead back to the cut of its block.
        """

    def block(self, seat: int, states: IntArray) -> tuple[IntArray, BoolArray]:
        """Give the block of each position, and whether the position is in the cut of its block.

        Only games with cycles have this method. No move leads to an earlier block. Within its block
        a move leads to a later stage or to the cut; every cycle passes a position of the cut.

        Args:
            seat: the player to move.
            states: shape (state,).

        Raises:
            GameError: if a game with cycles does not override this method.
        """
        raise GameError(f"{type(self).__name__} must have the method block, as it has cycles")

    # --------------------------------------------------------------- identity

    @property
    def keywords(self) -> dict[str, Any]:
        """The arguments that build this game."""
        return {name: getattr(self, name) for name in _arguments(type(self))}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments without the tables, since a saved model contains its game."""
        return rebuild, (type(self), self.keywords)

    def __repr__(self) -> str:
        """Show the arguments."""
        shown = ", ".join(f"{name}={value!r}" for name, value in self.keywords.items())
        return f"{type(self).__name__}({shown})"

    def __eq__(self, other: object) -> bool:
        """Compare the classes of two games and the contents that their arguments had at first.

        ``__hash__`` raises an error if an argument has been changed since; every look-up in the
        cache calls it.
        """
        if self is other or type(self) is not type(other):
            return self is other
        assert isinstance(other, Game)
        return self._identity.contents == other._identity.contents

    def __hash__(self) -> int:
        """Return the hash, after comparing the arguments that can be changed in place."""
        identity = self._identity
        return (require_unchanged(self) if identity.changeable else identity).hashed

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; only during construction."""
        self._require_unsealed(name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        """Delete an attribute; only during construction."""
        self._require_unsealed(name)
        super().__delattr__(name)

    def _require_unsealed(self, name: str) -> None:
        if "_identity" in vars(self):
            raise GameError(
                f"{name} must stay as it was when the game was made: make another game instead"
            )


#: All games by name; ``exactdice.register`` adds one. ``exactdice/<name>-v0`` is its environment.
GAMES: dict[str, type[Game]] = {}


@lru_cache
def _arguments(rules: type[Game]) -> tuple[str, ...]:
    """Return the names of a game's arguments; cached, as every hash of a game needs them."""
    return tuple(inspect.signature(rules).parameters)


def rebuild(rules: type[Game], keywords: dict[str, Any]) -> Game:
    """Build a game again from its arguments."""
    return rules(**keywords)
