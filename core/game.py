"""What every game is: positions, moves, chance, and expectation in both directions.

A *position* is a player to move and a *state*: an integer that stands for all that player sees.
A move is made of an action, a chance outcome drawn from a law with finitely many outcomes, and a
deterministic rule that says where that leads. Games are finite: the positions fall into stages,
and every move leads to a later stage or ends the game. A game with cycles has blocks of stages too,
and in a block moves may lead back to its cut (``block``).

The game is over for a player once its payoff is settled, whether or not others play on: who is
beaten in a round of four need not watch the rest. A state tells the player to move all it needs;
what has become of the others it does not hold, so that a value *to a player*, in a position where
another is to move, means: if the game is not over for the player. That is why both operators
below are for one player.

Exact computation needs two operators, each the adjoint of the other:

* ``backward`` visits the stages last to first and turns values of later positions into the
  expected value of every action (the Kolmogorov equation);
* ``forward`` visits them first to last and turns weights on (position, action) into the
  probability mass of later positions (the Fokker-Planck equation).

Both hold one number a position. At each stage they call ``decide``, which turns what is expected
of the actions into values of the states, or the mass of the states into weights of the actions;
numbers for (state, action) live no longer than that call. They count in the ``arithmetic`` that
they are given. Without rounding, ``backward`` computes with integers, those of a stage multiplied
by its ``scale``, and so does ``decide``; what it leaves are ``Values``, from which fractions are
taken. Mass is always in fractions then.

By default they enumerate every outcome (``enumeration``), which serves any game; a game with
structure overrides them with something faster that must agree.
"""

import inspect
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from . import enumeration
from .arithmetic import FLOATS, Arithmetic, Array, Values
from .board import Die, Note, Row
from .checks import Order, order_of, require_laws, roundings_between
from .contract import exact_laws_of, range_of, require_contract
from .effects import require_numbers
from .errors import GameError
from .identity import Identity, Sealed, require_unchanged
from .layout import Layout
from .moves import Moves, SeatTurn, list_moves
from .sampling import InverseLaws
from .sizes import Cost

if TYPE_CHECKING:
    from .blocks import Blocks

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


class Move(NamedTuple):
    """Where a batch of moves leads, one entry a move."""

    seats: IntArray  # (move,) player to move next
    states: IntArray  # (move,) state next; meaningless where the game is over
    payoffs: Array  # (move, player), floats or fractions, zero until it is over for the player
    over: BoolArray  # (move, player), whether the player's payoff is settled


class Stage(NamedTuple):
    """Positions of one player that no move connects."""

    seat: int  # player to move
    states: IntArray  # (state,)
    scale: Array  # (state,), what the numbers here are multiplied by: integers, 1 in floats

    @property
    def positions(self) -> tuple[int, IntArray]:
        """Index of the positions in arrays of shape (player to move, state)."""
        return self.seat, self.states


#: What a sweep asks at each stage, giving it numbers and taking others back: backward the expected
#: values of all actions, (state, action), for the value of each state, (state,); forward the mass
#: of each state, (state,), for the weights of all its actions, (state, action). Expected values
#: and values are multiplied by the scale of the stage. What a sweep gives it may overwrite later.
Decide: TypeAlias = Callable[[Stage, Array], Array]


class Game(metaclass=Sealed):
    """A finite game of chance and perfect information.

    Once it is made a game does not change: attributes cannot be set, and arrays are read-only. Two
    games of a class are equal if their arguments have the same content (see ``identity``).

    Attributes:
        name: what the game is called in ids.
        opponent_keyword: what environments call the other players' policies.
        default_opponent: what they play unless told otherwise.
        made_for_two: keyword arguments that make it a game of two, if others make it one player's.
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
    made_for_two: ClassVar[Mapping[str, Any]] = MappingProxyType({})
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

    def allows(self, states: IntArray, actions: IntArray) -> BoolArray:
        """Say whether an action is legal in each of many states, shape (state,)."""
        pieces = [np.empty(0, dtype=bool)]
        for piece in _pieces(len(states)):
            chosen = actions[piece]
            pieces.append(self.mask(states[piece])[np.arange(len(chosen)), chosen])
        return np.concatenate(pieces)

    def first_actions(self, states: IntArray) -> IntArray:
        """Give the smallest legal action of each of many states, shape (state,)."""
        pieces = [self.mask(states[piece]).argmax(axis=1) for piece in _pieces(len(states))]
        return np.concatenate([np.empty(0, dtype=np.int64), *pieces])

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

    def unscaled_stages(self, arithmetic: Arithmetic) -> list[Stage]:
        """Give the stages in that order, of scale 1."""
        return [
            Stage(seat, states, np.ones(len(states), dtype=arithmetic.dtype))
            for seat, states in self.stages()
        ]

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

    def states_of(self, seat: int) -> IntArray:
        """List the states in which a player may be to move, in growing order."""
        own = [states for mover, states in self.stages() if mover == seat]
        return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *own]))

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

    # -------------------------------------------------------------- the table

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
    def keywords(self) -> dict[str, Any]:
        """Arguments that build this game, in JSON's types."""
        return {name: getattr(self, name) for name in _arguments(type(self))}

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

    # ------------------------------------------------------- chance, one way

    def sample(
        self, seats: IntArray, states: IntArray, actions: IntArray, rng: np.random.Generator
    ) -> Move:
        """Draw the outcome of each move with one uniform number a move, and apply the rules."""
        return self.advance(seats, states, actions, self.draw(states, actions, rng))

    def draw(self, states: IntArray, actions: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw the outcome of each move, shape (move,), with one uniform number a move."""
        return self._inverse_laws.draw(self.law(states, actions), rng)

    def settled(
        self, seat: int, states: IntArray, player: int, arithmetic: Arithmetic = FLOATS
    ) -> tuple[IntArray, IntArray, Array, Array]:
        """List how legal moves of one stage can end the game for a player.

        Args:
            seat: who is to move.
            states: states of one stage.
            player: whose payoff is meant.
            arithmetic: of payoffs and probabilities.

        Returns:
            For each way its place in ``states``, the action, the payoff and its probability; what
            is missing to one is the probability that the game goes on.
        """
        return enumeration.settled(self, seat, states, player, arithmetic)

    def moves(self, seat: int, player: int) -> Moves:
        """List all moves of a seat, and what they lead to for a player, as flat tables."""
        return list_moves(self, seat, player)

    @property
    def is_listed(self) -> bool:
        """Whether the moves are listed one by one, and checked then (see ``contract``)."""
        return type(self).moves is Game.moves and type(self).turns is Game.turns

    def turns(self, player: int) -> "list[SeatTurn]":
        """List the turns of which a game is made, and what they lead to for a player.

        The game begins with the first context of the first one. There are none unless a game is
        made of turns; ``moves`` serves it then.
        """
        return []

    def transitions(self, seat: int, state: int, action: int) -> tuple[FloatArray, Move]:
        """Enumerate one move: the probabilities of its possible outcomes, and their effects."""
        row = int(self.law(np.array([state]), np.array([action]))[0])
        outcomes = np.flatnonzero(self.laws[row])
        seats, states, actions = (np.full(len(outcomes), entry) for entry in (seat, state, action))
        return self.laws[row, outcomes], self.advance(seats, states, actions, outcomes)

    @cached_property
    def _inverse_laws(self) -> InverseLaws:
        require_laws("laws", self.laws)
        return InverseLaws(self.laws)

    # ------------------------------------------------ expectation, both ways

    def backward(self, decide: Decide, seat: int, arithmetic: Arithmetic = FLOATS) -> Values:
        """Visit the stages last to first with the expected value of every action to a player.

        Args:
            decide: takes a stage and its expected values, shape (state, action), meaningless for
                illegal actions; gives the value of each state, shape (state,).
            seat: whose payoffs are meant.
            arithmetic: of the values.

        Returns:
            What was decided, the value *to ``seat``*, shape (player to move, state); zero where
            no stage is.
        """

        def decide_alone(stage: Stage, expected: Array) -> Array:
            return decide(stage, expected[0])[None]

        return self.backward_together(decide_alone, [seat], arithmetic).row(0)

    def backward_together(
        self, decide: Decide, seats: Sequence[int], arithmetic: Arithmetic = FLOATS
    ) -> Values:
        """Do as ``backward`` does for several players side by side.

        Args:
            decide: takes expected values, shape (seat, state, action), and gives values, shape
                (seat, state), where row i is for the player ``seats[i]``.
            seats: whose payoffs are meant.
            arithmetic: of the values.

        Returns:
            Values, shape (seat, player to move, state).
        """
        return enumeration.backward(self, decide, seats, arithmetic)

    def backward_mirrored(self, decide: Decide, arithmetic: Arithmetic = FLOATS) -> Values | None:
        """Do as ``backward`` does for player 0 if player 1 does the same in the same states.

        Args:
            decide: as of ``backward``, with the values to player 0, whose stages alone are asked
                about.
            arithmetic: of the values.

        Returns:
            As ``backward``. None if it would be no faster, or the game is not zero-sum for two to
            whom a state means the same.
        """
        return None

    def expect(
        self,
        seat: int,
        states: IntArray,
        actions: IntArray,
        values: Values,
        arithmetic: Arithmetic = FLOATS,
    ) -> Array:
        """Give the expected value of some legal moves to the player who makes them.

        Args:
            seat: who moves.
            states: where, shape (move,).
            actions: how, shape (move,).
            values: of later positions to ``seat``, as ``backward`` gives them.
            arithmetic: of the values.

        Returns:
            Expected values, shape (move,).
        """
        expected = arithmetic.zeros(len(states))
        for where, chance, move in enumeration.outcomes(self, seat, states, actions, arithmetic):
            over = move.over[:, seat]
            later = values[move.seats, np.where(over, 0, move.states)]
            expected[where] += chance * np.where(over, move.payoffs[:, seat], later)
        return expected

    def forward(
        self, decide: Decide, start: Array, seat: int, arithmetic: Arithmetic = FLOATS
    ) -> Array:
        """Visit the stages first to last, moving probability mass along.

        Args:
            decide: takes a stage and the mass of its states, shape (state,); gives the weight of
                every action, shape (state, action), usually the mass times a policy, and 0 for
                illegal ones.
            start: mass that does not come from earlier stages, shape (player to move, state).
            seat: for whom the game is not over where mass goes on.
            arithmetic: of the mass.

        Returns:
            All mass, shape (player to move, state).
        """
        return enumeration.forward(self, decide, start, seat, arithmetic)

    # ------------------------------------------------------------- rounding

    @cached_property
    def law_roundings(self) -> int:
        """Most roundings that take a probability of ``exact_laws`` to that of ``laws``."""
        return roundings_between(self.laws, self.checked_exact_laws)

    def backward_roundings(self, decision: int) -> float:
        """Bound how many roundings are between a position and the end, on average.

        That is the number of means that a value is made of, on the longest way on average whatever
        the players do, times the roundings of each. Those of one more move, listed outcome by
        outcome, are included: its expected value is computed from the values that a pass leaves
        (``expect``). In a game with cycles blocks have such bounds.

        Args:
            decision: roundings of a decision, which turns the values of actions into that of a
                state.
        """
        move = enumeration.move_roundings(self)
        return self._longest_play * (move + decision) + move

    @cached_property
    def _longest_play(self) -> float:
        return enumeration.longest_play(self)

    def forward_roundings(self, decision: int, seat: int) -> int:
        """Bound how many roundings mass goes through, in one pass, on any way to a position.

        Args:
            decision: roundings of a decision, which turns the mass of a state into the weights of
                its actions.
            seat: for whom the game is not over where mass goes on.
        """
        if self.has_cycles:
            return max(block.forward_roundings(decision) for block in self.blocks(seat))
        return enumeration.forward_roundings(self, decision, seat)

    def blocks(self, seat: int, arithmetic: Arithmetic = FLOATS) -> "Blocks":
        """Give the blocks of a game with cycles, first to last, for sweeps to one player."""
        from .listed import listed_blocks

        return listed_blocks(self, seat, arithmetic)

    @cached_property
    def checked_exact_laws(self) -> Array:
        """``exact_laws``, computed and checked once."""
        return frozen(exact_laws_of(self).view())

    @cached_property
    def checked_order(self) -> Order:
        """Where all positions stand, found and checked once, with all that needs no moves."""
        return order_of(self, require_contract(self))


#: Every game by name, to which ``exactdice.register`` adds; ``exactdice/<name>-v0`` is its
#: environment.
GAMES: dict[str, type[Game]] = {}


def _pieces(count: int) -> Iterator[slice]:
    """Cut a number of states into slices whose masks fit the cache."""
    for first in range(0, count, 4096):
        yield slice(first, first + 4096)


@lru_cache
def _arguments(rules: type[Game]) -> tuple[str, ...]:
    """Give the names of what a game is made from; every question about a game hashes them."""
    return tuple(inspect.signature(rules).parameters)


def _as_typed(value: Any) -> str:
    """Write an argument as one types it; what nobody types, such as a table, is only called so."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else "as a table"


def rebuild(rules: type[Game], keywords: dict[str, Any]) -> Game:
    """Build a game again from its arguments."""
    return rules(**keywords)


_AnyArray = TypeVar("_AnyArray", bound=npt.NDArray[Any])


def frozen(array: _AnyArray) -> _AnyArray:
    """Make an array read-only, which many share: who wrote into it would change all answers."""
    array.setflags(write=False)
    return array
