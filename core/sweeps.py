"""How games are swept: expectation in both directions, and moves as flat tables.

Exact computation needs two operators of blocks of positions, each the adjoint of the other:

* ``backward`` visits the stages last to first and turns values of later positions into the
  expected value of every action (the Kolmogorov equation);
* ``forward`` visits them first to last and turns weights on (position, action) into the
  probability mass of later positions (the Fokker-Planck equation).

Both are for one player, and hold one number a position. At each stage they call ``decide``, which
turns what is expected of the actions into values of the states, or the mass of the states into
weights of the actions; numbers for (state, action) live no longer than that call. They count in the
``arithmetic`` that they are given. Without rounding, ``backward`` computes with integers, those of
a stage multiplied by its ``scale``, and so does ``decide``; what it leaves are ``Values``, from
which fractions are taken. Mass is always in fractions then.

``Sweeps`` lists every move, which serves any game. A game with structure has a class of its own,
faster and equal to it, which is registered for the class of its rules.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from .arithmetic import FLOATS, Arithmetic, Values
from .blocks import Blocks
from .contract import require_moves
from .game import Game, ListedGame, once_a_game
from .listed import listed_blocks
from .moves import Moves, list_ways, tabulate_moves, worth_of
from .positions import legal_moves, places_in, states_of
from .tour import Choose, Tour
from .types import Array, BoolArray, Decide, Fold, IntArray, Move, Start

#: Bytes of a table of values that is made for play, at most.
TABLE = 2**29


class Sweeps:
    """The sweeps and tables of a game; here, of any game, whose moves are listed one by one.

    Args:
        game: the rules.

    Attributes:
        is_listed: whether the moves are listed one by one, and checked then (see ``contract``).
    """

    is_listed: ClassVar[bool] = True

    def __init__(self, game: Game) -> None:
        self.game = game

    # ------------------------------------------------------------------ tables

    def moves(self, seat: int, player: int) -> Moves:
        """List all moves of a seat, and what they lead to for a player, as flat tables."""
        return tabulate_moves(self.game, seat, player)

    # ------------------------------------------------------------------ blocks

    def blocks(self, seat: int, arithmetic: Arithmetic = FLOATS) -> Blocks:
        """Give the blocks of the game, first to last, for sweeps to one player."""
        listed = listed_blocks(self.game, (seat,), arithmetic)
        return Blocks(listed.count, listed.make)

    @once_a_game
    def pays_early(self, seat: int) -> bool:
        """Say whether a move may pay a player for whom the game goes on."""
        if isinstance(self.game, ListedGame) and self.game.is_process:
            return self.game.pays_early
        return any(block.pays_early for block in self.blocks(seat))

    def values(self, seat: int, decide: Decide, arithmetic: Arithmetic = FLOATS) -> Values:
        """Make room for the values of all positions to a player, which blocks fill in.

        Values that are computed again when they are asked for follow ``decide``, what all do.
        """
        return arithmetic.values(self.game.num_players, self.game.num_states)

    def mass(
        self, decide: Decide, starts: Sequence[Start], arithmetic: Arithmetic = FLOATS
    ) -> Values:
        """Make room for the mass of all positions, which blocks move along (see ``values``).

        No move has brought the mass of ``starts`` where it is.
        """
        mass = arithmetic.zeros(self.game.num_players, self.game.num_states)
        for seat, states, chances in starts:
            mass[seat, states] = chances
        return Values(mass)

    # ------------------------------------------------------------------ values

    def backward_together(
        self, decide: Decide, values: Mapping[int, Values], arithmetic: Arithmetic = FLOATS
    ) -> None:
        """Visit the stages last to first with the expected values to several players side by side.

        Only for games without cycles.

        Args:
            decide: takes expected values, shape (seat, state, action), and gives values, shape
                (seat, state), in the order of ``values``.
            values: by seat, of ``Sweeps.values``; they are filled in.
            arithmetic: of the values.
        """
        listed_blocks(self.game, tuple(values), arithmetic).make(0).backward_together(
            decide, list(values.values())
        )

    def backward_mirrored(self, decide: Decide, arithmetic: Arithmetic = FLOATS) -> Values | None:
        """Compute the values to player 0 if player 1 decides the same in the same states.

        Only the stages of player 0 are decided. The result is None if it would be no faster, or the
        game is not zero-sum for two to whom a state means the same.
        """
        return None

    def folded(self, fold: Fold, around: Values | None = None) -> Values | None:
        """Compute, in floats, the values of an only player that decides by a fold everywhere.

        A fold turns the values of the legal actions of a state into the value of the state: the
        maximum for optimal play, the mean for uniformly random play. The sweep makes no call for a
        decision, and stores neither action values (``expected`` computes them) nor choices.

        Args:
            fold: the function of the values of the legal actions.
            around: if these values of the fold are given, the mean squared deviations from them
                are computed instead (see ``Block.deviations``).

        Returns:
            The values of all positions; None if the game has no such sweep.
        """
        return None

    def tour(self, choose: Choose | None, values: Values, decision: int) -> Tour | None:
        """Follow the only player through all games in one pass forward (see ``tour``).

        Args:
            choose: the player's decisions; None for the best play.
            values: of the best play.
            decision: roundings of the chances of decisions.

        Returns:
            The figures; None if the game is scored by sweeps over all states.
        """
        return None

    def expected(
        self, seat: int, states: IntArray, values: Values, arithmetic: Arithmetic = FLOATS
    ) -> Array:
        """Compute the expected value of every action in states, (state,), to the player to move.

        Given are the values of later positions to ``seat``. The expected values are floats or
        fractions, shape (state, action); illegal ones are -inf.
        """
        rows, actions = legal_moves(self.game, states)
        found: Array = np.full((len(states), self.game.num_actions), -np.inf, arithmetic.dtype)
        worth = self.worth(seat, states[rows], actions, values, arithmetic)
        found[rows, actions] = arithmetic.numbers(worth)
        return found

    def worth(
        self,
        seat: int,
        states: IntArray,
        actions: IntArray,
        values: Values,
        arithmetic: Arithmetic = FLOATS,
    ) -> Array:
        """Compute the expected value of legal moves to the player who makes them, shape (move,).

        States and actions are of this shape, too; ``values`` are those of later positions.
        """
        ways = list_ways(
            self.game, seat, states, actions, arithmetic, sweeps_of(self.game).is_listed
        )
        expected = arithmetic.zeros(len(states))
        np.add.at(expected, ways.moves, ways.chances * worth_of(ways, seat, values))
        return expected

    def in_play(self, values: Values, lanes: int) -> Values:
        """Give values in floats for play of ``lanes`` games, which asks for a few at each move."""
        return Values(values.array) if 8 * self.game.num_states <= TABLE else values

    def may_move(self, seat: int, states: IntArray) -> BoolArray:
        """Say in which states a player may be to move, shape (state,)."""
        return places_in(states_of(self.game, seat), states) >= 0


#: What sweeps take for granted: a class that changes one of these has other rules.
_RULES = (
    *("mask", "initial_law", "law", "advance", "stages", "block"),
    *("exact_laws", "exact_advance", "exact_range"),
)
_SWEEPS: dict[type[Game], type[Sweeps]] = {}
_Kind = TypeVar("_Kind", bound=type[Sweeps])


def sweeps_for(rules: Any) -> Callable[[_Kind], _Kind]:
    """Register a class of sweeps for the class of a game, and those that inherit from it."""

    def register(kind: _Kind) -> _Kind:
        _SWEEPS[rules] = kind
        return kind

    return register


@once_a_game
def sweeps_of(game: Game) -> Sweeps:
    """Give the sweeps of a game: those of the nearest class that it inherits all its rules from.

    The moves of a game that inherits from such a class and changes its rules are listed.
    """
    own = type(game)
    for kind in own.__mro__:
        if kind in _SWEEPS:
            same = all(getattr(own, name) is getattr(kind, name) for name in _RULES)
            return (_SWEEPS[kind] if same else Sweeps)(game)
    return Sweeps(game)


def checked_advance(
    game: Game, seats: IntArray, states: IntArray, actions: IntArray, outcomes: IntArray
) -> Move:
    """Apply ``Game.advance``, and check the moves of a game whose moves would be listed.

    Games that list their moves themselves were checked when they were made.
    """
    move = game.advance(seats, states, actions, outcomes)
    if sweeps_of(game).is_listed:
        require_moves(game, seats, states, actions, move)
    return move
