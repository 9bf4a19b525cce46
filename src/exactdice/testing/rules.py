"""The rules that a game keeps by itself, before anything is computed of it."""

import copy

import numpy as np

from ..core import Game, GameError
from ..core.contract import CLOSE, order_of, require_observations
from ..core.effects import legal_moves
from ..envs.planners.transitions import LIMIT

__all__ = ["CLOSE", "check_rules", "opponents_of", "require_words", "words_of"]


def check_rules(game: Game) -> int:
    """Check all of them.

    Returns:
        The number of pairs of state and action.

    Raises:
        GameError: naming the rule that is broken.
    """
    _check_arguments(game)
    _ = order_of(game)  # which checks whatever needs no moves
    for seat in range(game.num_players):
        _check_observations(game, seat)
    _check_encode(game)
    _check_masks(game)
    for action in range(game.num_actions):
        require_words(f"describe_action({action})", game.describe_action(action))
    return game.num_states * game.num_actions


def _check_arguments(game: Game) -> None:
    again = copy.copy(game)  # as pickling does
    if again != game:
        raise GameError(f"keywords must build the same game, got {again!r} of {game!r}")


def _check_observations(game: Game, seat: int) -> None:
    states = game.states_of(seat)
    for row in require_observations(game, seat, states):
        require_words(f"describe({row})", game.describe(row))


def _check_encode(game: Game) -> None:
    """Check that other observations are those of no state: all, or some if they are many."""
    sizes = game.observation_sizes
    if np.prod(sizes, dtype=float) <= LIMIT:
        rows = np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes), axis=1)
    else:
        rows = np.random.default_rng(0).integers(0, sizes, (LIMIT, len(sizes)))
    states = game.encode(rows)
    known = np.zeros(len(rows), dtype=bool)
    for seat in range(game.num_players):
        own = np.isin(states, game.states_of(seat))
        known[own] |= (game.observe(states[own], seat) == rows[own]).all(axis=1)
    wrong = ~known & (states != -1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise GameError(
            f"encode must give -1 for what nobody sees, got state {states[row]} for {rows[row]}"
        )


def _check_masks(game: Game) -> None:
    """Check all states, of whomever: also numbers that stand for no state allow an action."""
    legal_moves(game, np.arange(game.num_states))


def require_words(what: str, words: object) -> None:
    """Check that words for people are one line that can be printed.

    Raises:
        GameError: if they are not.
    """
    if not isinstance(words, str) or not words.strip() or not words.isprintable():
        raise GameError(f"{what} must be one printable line, got {words!r}")


def opponents_of(game: Game) -> list[str]:
    """List the policies of other players to check against; those who are alone have none."""
    named = dict.fromkeys(("random", "optimal", game.default_opponent))
    return list(named) if game.num_players > 1 else ["random"]


def words_of(seat: int, state: int, action: int) -> str:
    """Name a move."""
    return f"action {action} of player {seat} in state {state}"
