"""The moves of any game as flat arrays: the one listing that sweeps, tables and planners read.

A *move* is a state and a legal action, a *way* a possible outcome of a move. The ways of a batch of
moves stand in a row, those of the first move first. Whatever the rules show while moves are listed
is checked (see ``contract``).
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

#: Ways that are listed at once, about: 25 MB.
BATCH = 2**17


class Outcomes(NamedTuple):
    """The possible outcomes of all laws of a game in a row, those of law 0 first.

    Attributes:
        firsts: first entry of each law and, last, the number of entries, shape (law + 1,).
        outcomes: the outcome of each entry, shape (entry,).
        chances: its probability, of the same shape.
    """

    firsts: IntArray
    outcomes: IntArray
    chances: Array


class Ways(NamedTuple):
    """What may come of a batch of moves.

    Attributes:
        laws: row of ``Game.laws`` that each move follows, shape (move,).
        moves: which move a way belongs to, growing, shape (way,).
        entries: its entry in the game's ``Outcomes``, shape (way,).
        outcomes: its outcome, shape (way,).
        chances: its probability, shape (way,).
        effect: where it leads and what it pays, one entry a way.
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
    """List what may come of some legal moves of one player.

    Args:
        game: the rules.
        seat: who moves.
        states: where, shape (move,).
        actions: how, shape (move,).
        arithmetic: of chances and payoffs.
        checked: whether to check the moves, which takes the order of all positions.

    Raises:
        GameError: if a move breaks a rule, naming it.
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
    """List all legal moves from some states: place in ``states`` and action of each, and its ways.

    Raises:
        GameError: as ``list_ways`` does, and if the mask is of another form.
    """
    _ = order_of(game)  # raises if the game is none, before its methods are asked
    rows, actions = legal_moves(game, states)
    return rows, actions, list_ways(game, seat, states[rows], actions, arithmetic)


def batches(game: Game, states: IntArray) -> Iterator[slice]:
    """Cut states into batches with about ``BATCH`` ways at most."""
    most = game.num_actions * int(np.count_nonzero(game.laws, axis=1).max())
    step = max(1, BATCH // most)
    for first in range(0, len(states), step):
        yield slice(first, first + step)


def transitions(game: Game, seat: int, state: int, action: int) -> tuple[FloatArray, Move]:
    """List one move, unchecked: the probabilities of its possible outcomes, and their effects."""
    ways = list_ways(game, seat, np.array([state]), np.array([action]), FLOATS, checked=False)
    return ways.chances, ways.effect


@once_a_game
def law_roundings(game: Game) -> int:
    """Count the roundings that take a probability of ``exact_laws`` to that of ``laws``."""
    return roundings_between(game.laws, exact_laws_of(game))


def move_roundings(game: Game) -> int:
    """Bound the roundings of the expected value of one action.

    They are those of a payoff, of its probability, of their product, and of each addition.
    """
    most = int(np.count_nonzero(game.laws, axis=1).max())
    return 1 + law_roundings(game) + most
