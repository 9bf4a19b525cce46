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

A game is identified by its class and the content of its arguments, which never change: the cache
of results (``baselines.cache``) has games as keys. So two games may be equal only if they have the
same rules, and a game may not change while results about it are cached.

* Arguments are compared by content: numbers and texts by type and value, arrays by shape, dtype
  and bytes, containers entry by entry, functions and classes as objects. Arguments of other types
  must have ``__eq__`` and ``__hash__`` of their own, or the game is refused.
* A game is *sealed* when its construction ends: its attributes can be neither set nor deleted, and
  its arrays are read-only. The arrays and containers among its arguments are copied first, so that
  the caller's stay writable. A list of a game that is nonetheless changed in place raises an error
  when the game is next hashed.
"""

import inspect
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from enum import Enum
from fractions import Fraction
from functools import lru_cache, wraps
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, ParamSpec, TypeVar

import numpy as np

from .. import registry
from ..registry import Places
from .checks import range_of, require_numbers
from .errors import GameError
from .types import Array, BoolArray, FloatArray, IntArray, Move

_PLAIN = (type(None), bool, int, str, bytes, Fraction)
_CHANGEABLE = (list, dict, set)

_Arguments = ParamSpec("_Arguments")
_Found = TypeVar("_Found")


def once_a_game(find: Callable[_Arguments, _Found]) -> Callable[_Arguments, _Found]:
    """Decorate a function of a game, or a method of its sweeps: results are kept there.

    Other arguments are hashable.
    """

    @wraps(find)
    def ask(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Found:
        known: dict[Any, _Found] = vars(args[0]).setdefault("_known", {})
        question = find, args[1:], tuple(kwargs.items())
        if question not in known:
            known[question] = find(*args, **kwargs)
        return known[question]

    return ask


class Identity(NamedTuple):
    """The content of a game's arguments, by which games of a class are compared."""

    contents: dict[str, Hashable]  # by name of the argument
    hashed: int  # the hash of the class and the contents
    changeable: tuple[str, ...]  # the names of the arguments that can be changed in place


class Sealed(ABCMeta):
    """Metaclass of games; it seals a game when its construction is complete."""

    if not TYPE_CHECKING:  # a call takes the arguments of ``__init__``, as type checkers know

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            """Make a game and seal it."""
            args, kwargs = own(args), own(kwargs)
            game = super().__call__(*args, **kwargs)
            identity = identify(game)
            _freeze((*args, *kwargs.values(), *game.keywords.values()))
            for owner in (game, *cls.__mro__):
                for value in vars(owner).values():
                    if isinstance(value, np.ndarray):
                        value.setflags(write=False)
            vars(game)["_identity"] = identity
            return game

    @property
    def __signature__(cls) -> inspect.Signature:
        """The arguments of ``__init__`` without ``self``."""
        if cls.__init__ is object.__init__:  # type: ignore[misc]  # as below
            return inspect.Signature()
        whole = inspect.signature(cls.__init__)  # type: ignore[misc]  # of the class, not of a game
        return whole.replace(parameters=[*whole.parameters.values()][1:])


class Game(metaclass=Sealed):
    """A finite game of chance and perfect information.

    A game is immutable: its attributes cannot be set, and its arrays are read-only. Two games of a
    class are equal if their arguments have the same content (see ``content``).

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
        is_process: whether the game is a listed decision process (see ``baselines.law.explicit``).
        laws: probabilities of outcomes, shape (law, outcome); ``law`` gives the row of a move.
    """

    name: ClassVar[str]
    opponent_keyword: ClassVar[str] = "opponent"
    default_opponent: ClassVar[str] = "optimal"
    has_cycles: ClassVar[bool] = False
    is_process: ClassVar[bool] = False
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
    def _read(self) -> dict[str, Any]:
        """All that a game reads, by name: games of a class are equal if it has the same content."""
        return self.keywords

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
        for name in identity.changeable:
            if content(name, self._read[name]) != identity.contents[name]:
                raise _changed(name)
        return identity.hashed

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; only during construction."""
        if "_identity" in vars(self):
            raise _changed(name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        """Delete an attribute; only during construction."""
        if "_identity" in vars(self):
            raise _changed(name)
        super().__delattr__(name)


class ListedGame(Game):
    """A game that lists its moves itself, and finds its payoffs from them (``law.explicit``).

    Attributes:
        ties: values of actions that differ by no more are equal, shape (state,) of the states at
            any time; None for one difference in all states (``Arithmetic.tie``).
        unbounded: whether policies may be paid less than an illegal action pays, so that all
            actions must be legal; a game that is cut says so, too.
        pays_early: of a decision process, whether a move may pay while the game goes on.
    """

    pays_early: bool
    ties: FloatArray | None = None
    unbounded: bool = False


#: All games by name; ``exactdice.register`` adds one. ``exactdice/<name>-v0`` is its environment.
GAMES = Places[type[Game]](registry.GAMES)


@lru_cache
def _arguments(rules: type[Game]) -> tuple[str, ...]:
    """Return the names of a game's arguments; cached, as every hash of a game needs them."""
    return tuple(inspect.signature(rules).parameters)


def rebuild(rules: type[Game], keywords: dict[str, Any]) -> Game:
    """Build a game again from its arguments."""
    return rules(**keywords)


def identify(game: Any) -> Identity:
    """Compute the identity of a game."""
    if type(game).__hash__ is None:
        raise GameError(f"{type(game).__name__} must keep the __eq__ and __hash__ of Game")
    try:
        arguments = game._read
    except AttributeError as error:
        raise GameError(
            f"each argument must be kept as an attribute of its name: {error}"
        ) from None
    contents = {name: content(name, value) for name, value in arguments.items()}
    changeable = tuple(name for name, value in arguments.items() if _can_change(value))
    return Identity(contents, hash((type(game), *contents.items())), changeable)


def _changed(name: str) -> GameError:
    """Make the error for a part of a game that has been changed."""
    return GameError(
        f"{name} must stay as it was when the game was made: make another game instead"
    )


def content(name: str, value: Any) -> Hashable:
    """Return the content of an argument or a part of it; alike arguments have equal contents."""
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if kind in (float, complex):
        return kind, repr(value)  # as NaN differs from itself
    if isinstance(value, np.generic) or (kind is np.ndarray and not value.dtype.hasobject):
        return kind, value.shape, value.dtype, value.tobytes()
    if kind is np.ndarray and value.dtype == object:
        return kind, value.shape, tuple(content(name, entry) for entry in value.flat)
    if kind is dict:
        return kind, tuple((content(name, key), content(name, value[key])) for key in value)
    if kind in (list, set, frozenset) or isinstance(value, tuple):
        entries = [content(name, entry) for entry in value]
        return kind, tuple(entries) if isinstance(value, list | tuple) else frozenset(entries)
    if _compares(value):
        return kind, value
    raise GameError(
        f"{name} must be made of numbers, texts, arrays, containers, functions or what has an "
        f"__eq__ and a __hash__ of its own, got a {kind.__name__}"
    )


def own(value: Any) -> Any:
    """Copy arrays that can be changed, and containers with the arrays in them."""
    kind = type(value)
    if kind is np.ndarray:
        if value.base is None and not value.flags.writeable and value.dtype != object:
            return value  # as nobody else can change it
        copied = value.copy()
        if value.dtype == object:
            for index in np.ndindex(value.shape):
                copied[index] = own(value[index])
        return copied
    if kind in (list, tuple):
        return kind(own(entry) for entry in value)
    if isinstance(value, tuple) and hasattr(kind, "_make"):  # a named tuple
        return kind._make(own(entry) for entry in value)
    if kind is dict:
        return {key: own(entry) for key, entry in value.items()}
    return value.copy() if kind is set else value


def _compares(value: Any) -> bool:
    """Say whether an object can be compared and hashed by content."""
    if isinstance(value, (FunctionType, BuiltinFunctionType, type, Enum)):  # equal if identical
        return True
    kind: Any = type(value)
    if kind.__eq__ is object.__eq__ or kind.__hash__ is object.__hash__:
        return False
    try:
        hash(value)
        return (value == value) is True
    except Exception:  # the object's own methods may raise anything
        return False


def _can_change(value: Any) -> bool:
    if isinstance(value, _CHANGEABLE):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(map(_can_change, value.flat))
    return isinstance(value, tuple) and any(map(_can_change, value))


def _freeze(value: Any) -> None:
    """Make the arrays in an argument read-only."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.ravel().tolist()
    if isinstance(value, list | tuple | dict):
        for entry in value.values() if isinstance(value, dict) else value:
            _freeze(entry)
