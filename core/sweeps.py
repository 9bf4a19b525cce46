"""How games are swept: expectation in both directions, and moves as flat tables.

Exact computation needs two operators, each the adjoint of the other:

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

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from .arithmetic import FLOATS, Arithmetic
from .blocks import Blocks
from .effects import require_moves
from .errors import SizeError
from .game import Game
from .identity import once_a_game
from .listed_blocks import listed_blocks
from .listing import batches, expected_values, list_moves
from .moves import Moves
from .positions import states_of
from .turn_game import TurnGame
from .types import Array, Decide, IntArray, Move, Stage
from .values import Values

#: Outcomes of moves that are listed one by one: 256 MB.
MOST = 2**25


class Sweeps:
    """The sweeps and tables of a game; here, of any game, whose moves are listed one by one.

    Args:
        game: the rules.
    """

    def __init__(self, game: Game) -> None:
        self.game = game

    @property
    def is_listed(self) -> bool:
        """Whether the moves are listed one by one, and checked then (see ``contract``)."""
        kind = type(self)
        return kind.moves is Sweeps.moves and kind.turn_game is Sweeps.turn_game

    # ------------------------------------------------------------------ tables

    def moves(self, seat: int, player: int) -> Moves:
        """List all moves of a seat, and what they lead to for a player, as flat tables.

        Raises:
            GameError: if a move leads back or breaks another rule.
            SizeError: if there are too many.
        """
        return _flat_moves(self.game, seat, player)

    @property
    def turn_game(self) -> TurnGame | None:
        """The game if it is made of turns, whose legs are its tables; else ``moves`` gives them."""
        return None

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
        columns = []
        for batch in batches(self.game, states):
            rows, actions, ways = list_moves(self.game, seat, states[batch], arithmetic)
            over = ways.effect.over[:, player]
            moves, payoffs = ways.moves[over], ways.effect.payoffs[over, player]
            columns.append((batch.start + rows[moves], actions[moves], payoffs, ways.chances[over]))
        rows, actions, payoffs, chances = (
            np.concatenate(column) for column in zip(*columns, strict=True)
        )
        return rows, actions, payoffs, chances

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
        self._require_one_pass()
        return listed_blocks(self.game, tuple(seats), arithmetic).make(0).backward_together(decide)

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
        return expected_values(self.game, seat, states, actions, values, arithmetic, self.is_listed)

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
        mass = start.copy()
        self.move_on(decide, mass, seat, arithmetic)
        return mass

    def move_on(
        self, decide: Decide, mass: Array, seat: int, arithmetic: Arithmetic = FLOATS
    ) -> None:
        """Add to some mass, (player to move, state), all that comes from it (see ``forward``)."""
        self._require_one_pass()
        block = listed_blocks(self.game, (seat,), arithmetic).make(0)
        block.forward(decide, mass, arithmetic.zeros(0))

    def _require_one_pass(self) -> None:
        if self.game.has_cycles:
            raise TypeError(
                f"{self.game.name} has cycles, so that one pass is not enough: see blocks"
            )

    def blocks(self, seat: int, arithmetic: Arithmetic = FLOATS) -> Blocks:
        """Give the blocks of the game, first to last, for sweeps to one player."""
        listed = listed_blocks(self.game, (seat,), arithmetic)
        return Blocks(listed.count, listed.make)


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
    game: Game,
    seats: IntArray,
    states: IntArray,
    actions: IntArray,
    outcomes: IntArray,
) -> Move:
    """Do as ``advance`` does, and check the moves of a game whose moves would be listed.

    Games that list their moves themselves were checked when they were made.

    Raises:
        GameError: naming the first move that breaks a rule.
    """
    move = game.advance(seats, states, actions, outcomes)
    if sweeps_of(game).is_listed:
        require_moves(game, seats, states, actions, move)
    return move


def _flat_moves(game: Game, seat: int, player: int) -> Moves:
    """List the moves of a seat one by one, and check them.

    Raises:
        GameError: if a move leads back or breaks another rule.
        SizeError: if there are too many.
    """
    own = states_of(game, seat)
    sizes = game.laws.shape[1] - np.argmax(game.laws[:, ::-1] > 0, axis=1)  # up to the last one
    laws, firsts = np.full((2, game.num_states, game.num_actions), -1)
    listed, count = [(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=bool))], 0
    for batch in batches(game, own):
        rows, actions, ways = list_moves(game, seat, own[batch], FLOATS)
        states = own[batch][rows]
        begins = np.cumsum(sizes[ways.laws]) - sizes[ways.laws]
        laws[states, actions], firsts[states, actions] = ways.laws, count + begins
        size = int(sizes[ways.laws].sum())
        count += size
        if count > MOST:
            raise SizeError(f"moves must have at most {MOST} outcomes to be listed, got {count}")
        leads_to, paid, over = np.zeros(size, dtype=np.int64), np.zeros(size), np.zeros(size, bool)
        entries, effect = begins[ways.moves] + ways.outcomes, ways.effect
        leads_to[entries] = effect.seats * game.num_states + effect.states
        over[entries], paid[entries] = effect.over[:, player], effect.payoffs[:, player]
        listed.append((leads_to, paid, over))
    leads_to, paid, over = (np.concatenate(column) for column in zip(*listed, strict=True))
    payoffs, numbers = np.unique(paid[over], return_inverse=True)
    leads_to[over] = -1 - numbers
    return Moves(laws, firsts, leads_to, payoffs)
