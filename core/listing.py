"""The moves of any game as flat arrays, from which sweeps, tables and planners are made.

A *move* is a state and a legal action, a *way* a possible outcome of a move. The ways of a batch of
moves form one array, sorted by move. The results of the rules are checked as moves are listed (see
``contract`` and ``effects``).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .arithmetic import FLOATS, Arithmetic
from .checks import roundings_between
from .contract import exact_laws_of, order_of
from .effects import require_moves, require_rows
from .game import Game
from .identity import once_a_game
from .positions import legal_moves
from .types import Array, FloatArray, IntArray, Move, frozen
from .values import Values

#: Number of ways that are listed at once, about 25 MB.
BATCH = 2**17


class Outcomes(NamedTuple):
    """The possible outcomes of all laws of a game as one array, sorted by law (CSR).

    Attributes:
        firsts: first entry of each law and, last, the number of entries, shape (law + 1,).
        outcomes: the outcome of each entry, shape (entry,).
        chances: the probability of that outcome, shape (entry,).
    """

    firsts: IntArray
    outcomes: IntArray
    chances: Array


class Ways(NamedTuple):
    """The ways of a batch of moves.

    Attributes:
        laws: row of ``Game.laws`` of each move, shape (move,).
        moves: the move of each way, in growing order, shape (way,).
        entries: the entry of each way in the game's ``Outcomes``, shape (way,).
        outcomes: the outcome of each way, shape (way,).
        chances: the probability of that outcome, shape (way,).
        effect: the next position and the payoffs of each way.
    """

    laws: IntArray
    moves: IntArray
    entries: IntArray
    outcomes: IntArray
    chances: Array
    effect: Move


@once_a_game
def possible_outcomes(game: Game, arithmetic: Arithmetic) -> Outcomes:
    """List the possible outcomes of all laws."""
    laws = arithmetic.laws(game)
    rows, outcomes = np.nonzero(laws > 0)
    firsts = np.searchsorted(rows, np.arange(len(laws) + 1))
    return Outcomes(*map(frozen, (firsts, outcomes, laws[rows, outcomes])))


def list_ways(
    game: Game,
    seat: int,
    states: IntArray,
    actions: IntArray,
    arithmetic: Arithmetic,
    checked: bool = True,
) -> Ways:
    """List the ways of some legal moves of one player.

    Args:
        game: the rules.
        seat: the player to move.
        states: the state of each move, shape (move,).
        actions: the action of each move, shape (move,).
        arithmetic: of chances and payoffs.
        checked: whether to check the moves, which needs the order of all positions.

    Raises:
        GameError: naming the first move that breaks the contract.
    """
    laws = game.law(states, actions)
    require_rows(game, seat, states, actions, laws)
    possible = possible_outcomes(game, arithmetic)
    counts = np.diff(possible.firsts)[laws]
    moves = np.repeat(np.arange(len(states)), counts)
    entries = np.arange(len(moves)) - np.repeat(np.cumsum(counts) - counts, counts)
    entries += possible.firsts[laws[moves]]
    outcomes = possible.outcomes[entries]
    seats, before, chosen = np.full(len(moves), seat), states[moves], actions[moves]
    effect = arithmetic.rules(game)(seats, before, chosen, outcomes)
    if checked:
        require_moves(game, seats, before, chosen, effect)
    return Ways(laws, moves, entries, outcomes, possible.chances[entries], effect)


def list_moves(
    game: Game, seat: int, states: IntArray, arithmetic: Arithmetic
) -> tuple[IntArray, IntArray, Ways]:
    """List all legal moves from some states: index into ``states``, action, and ways of the moves.

    Raises:
        GameError: as ``list_ways`` does, or if the mask has another shape or dtype.
    """
    _ = order_of(game)  # checks the game before its other methods are called
    rows, actions = legal_moves(game, states)
    return rows, actions, list_ways(game, seat, states[rows], actions, arithmetic)


def batches(game: Game, states: IntArray) -> Iterator[slice]:
    """Divide states into batches of about ``BATCH`` ways at most."""
    most = game.num_actions * int(np.count_nonzero(game.laws, axis=1).max())
    step = max(1, BATCH // most)
    for first in range(0, len(states), step):
        yield slice(first, first + step)


def transitions(game: Game, seat: int, state: int, action: int) -> tuple[FloatArray, Move]:
    """Return probability and effect of each possible outcome of one move, without checks."""
    ways = list_ways(game, seat, np.array([state]), np.array([action]), FLOATS, checked=False)
    return ways.chances, ways.effect


@once_a_game
def law_roundings(game: Game) -> int:
    """Return the largest error of a probability in ``laws``, in roundings, rounded up."""
    return roundings_between(game.laws, exact_laws_of(game))


def worth_of(ways: Ways, seat: int, values: Values) -> Array:
    """Give what ways pay a player and lead to: shape (way,).

    Args:
        ways: the ways.
        seat: the player.
        values: of later positions to it.
    """
    goes_on = ~ways.effect.over[:, seat]
    worth: Array = ways.effect.payoffs[:, seat].astype(ways.chances.dtype)  # they may be integers
    worth[goes_on] += values.at(ways.effect.seats[goes_on], ways.effect.states[goes_on])
    return worth


def expected_worth(
    ways: Ways, count: int, seat: int, values: Values, arithmetic: Arithmetic
) -> Array:
    """Give the mean worth of the ways of each move, shape (move,).

    Args:
        ways: the ways of some moves.
        count: number of the moves.
        seat: the player.
        values: of later positions to it.
        arithmetic: of the values.
    """
    expected = arithmetic.zeros(count)
    np.add.at(expected, ways.moves, ways.chances * worth_of(ways, seat, values))
    return expected


def move_roundings(game: Game, pays_early: bool) -> int:
    """Bound the number of roundings in the expected value of an action.

    A payoff, its probability, their product and each addition are rounded. If moves pay while the
    game goes on, payoffs and what follows are added up one by one.
    """
    most = int(np.count_nonzero(game.laws, axis=1).max())
    return 1 + law_roundings(game) + most * (2 if pays_early else 1)
