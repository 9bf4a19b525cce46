"""Check the rules that a game must obey before anything is computed."""

import copy

import numpy as np

from ..core import Game, GameError
from ..core.contract import CLOSE, order_of, require_observations
from ..core.positions import legal_moves, states_of
from ..core.presentation import present
from ..envs.planners.transitions import LIMIT

__all__ = ["CLOSE", "check_rules", "largest_payoff", "opponents_of", "require_words", "words_of"]


def check_rules(game: Game) -> int:
    """Check all rules.

    Returns:
        The number of pairs of state and action.

    Raises:
        GameError: naming the rule that is broken.
    """
    _check_arguments(game)
    _ = order_of(game)  # checks everything that needs no moves
    for seat in range(game.num_players):
        _check_observations(game, seat)
    _check_encode(game)
    _check_masks(game)
    for action in range(game.num_actions):
        require_words("describe_action", present(game).describe_action(action), action)
    for number, sentence in enumerate(present(game).describe_rules(), start=1):
        require_words(f"sentence {number} of describe_rules", sentence)
    return game.num_states * game.num_actions


def _check_arguments(game: Game) -> None:
    again = copy.copy(game)  # makes a game from its keywords, as pickling does
    if again != game:
        raise GameError(f"keywords must build the same game, got {again!r} of {game!r}")


def _check_observations(game: Game, seat: int) -> None:
    states = states_of(game, seat)
    for row in require_observations(game, seat, states):
        require_words("describe", present(game).describe(row), row)


def _check_encode(game: Game) -> None:
    """Check that ``encode`` gives -1 for impossible observations: all, or a large sample."""
    sizes = game.observation_sizes
    if np.prod(sizes, dtype=float) <= LIMIT:
        rows = np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes), axis=1)
    else:
        rows = np.random.default_rng(0).integers(0, sizes, (LIMIT, len(sizes)))
    states = game.encode(rows)
    known = np.zeros(len(rows), dtype=bool)
    for seat in range(game.num_players):
        own = np.isin(states, states_of(game, seat))
        known[own] |= (game.observe(states[own], seat) == rows[own]).all(axis=1)
    wrong = ~known & (states != -1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise GameError(
            f"encode must give -1 for what nobody sees, got state {states[row]} for {rows[row]}"
        )


def _check_masks(game: Game) -> None:
    """Check that every number below ``num_states`` has a legal action, even if it is no state."""
    legal_moves(game, np.arange(game.num_states))


def require_words(name: str, words: object, *arguments: object) -> None:
    """Check that a text for people is a single printable line.

    Args:
        name: the method that returned the text.
        words: the text.
        arguments: those of the method.

    Raises:
        GameError: if the text is not.
    """
    if not isinstance(words, str) or not words.strip() or not words.isprintable():
        call = f"{name}({', '.join(map(str, arguments))})"
        raise GameError(f"{call} must be one printable line, got {words!r}")


def largest_payoff(game: Game) -> float:
    """Return the largest absolute payoff."""
    return float(max(map(abs, game.payoff_range)))


def opponents_of(game: Game) -> list[str]:
    """List the opponents to check against; a game for one player has none."""
    named = dict.fromkeys(("random", "optimal", game.default_opponent))
    return list(named) if game.num_players > 1 else ["random"]


def words_of(seat: int, state: int, action: int) -> str:
    """Name a move."""
    return f"action {action} of player {seat} in state {state}"
