"""The rules that a game keeps by itself, before anything is computed of it."""

import copy

import numpy as np

from ..envs.transitions import LIMIT
from ..games import Game, GameError
from ..games.checks import order_of, require_attributes, require_laws

#: Rounding of probabilities and payoffs, of the size of the largest.
CLOSE = 1e-12


def check_rules(game: Game) -> int:
    """Check all of them.

    Returns:
        The number of pairs of state and action.

    Raises:
        GameError: naming the rule that is broken.
    """
    _check_attributes(game)
    _check_arguments(game)
    _check_laws(game)
    _check_stages(game)
    for seat in range(game.num_players):
        _check_observations(game, seat)
    _check_encode(game)
    _check_masks(game)
    for action in range(game.num_actions):
        require_words(f"describe_action({action})", game.describe_action(action))
    return game.num_states * game.num_actions


def _check_attributes(game: Game) -> None:
    require_attributes(game)
    for name in ("num_players", "num_states", "num_actions"):
        number = getattr(game, name)
        if not isinstance(number, int | np.integer) or number < 1:
            raise GameError(f"{name} must be an integer of at least 1, got {number!r}")
    if len(game.observation_names) != len(game.observation_sizes):
        raise GameError(
            f"observation_names must be {len(game.observation_sizes)}, as observation_sizes are, "
            f"got {len(game.observation_names)}"
        )
    low, high = game.payoff_range
    exactly = tuple(map(float, game.exact_range))
    if not low <= high or not np.allclose(exactly, (low, high), rtol=CLOSE, atol=0):
        raise GameError(
            f"payoff_range must be the smallest and the largest payoff, as exact_range is, got "
            f"{low!r} to {high!r}, exactly {exactly[0]!r} to {exactly[1]!r}"
        )


def _check_arguments(game: Game) -> None:
    try:
        again = copy.copy(game)  # as pickling does
    except (AttributeError, TypeError) as error:
        raise GameError(
            f"each argument must be kept as an attribute of its name: {error}"
        ) from None
    if again != game:
        raise GameError(f"keywords must build the same game, got {again!r} of {game!r}")


def _check_laws(game: Game) -> None:
    exact = game.exact_laws()
    require_laws("laws", game.laws)
    require_laws("exact_laws", exact)
    if exact.shape != game.laws.shape or np.abs(exact.astype(float) - game.laws).max() > CLOSE:
        raise GameError("exact_laws must be laws in fractions, got others")


def _check_stages(game: Game) -> None:
    for seat, states in game.stages():
        if seat not in range(game.num_players):
            raise GameError(f"stages must have seats below {game.num_players}, got {seat}")
        if states.dtype.kind != "i" or not ((states >= 0) & (states < game.num_states)).all():
            raise GameError(f"stages must list states below {game.num_states}, got {states}")
    order_of(game)
    chances = game.initial_law()[1]
    if not all(isinstance(chance, int) or hasattr(chance, "numerator") for chance in chances):
        raise GameError(f"initial_law must have fractions, got {chances!r}")


def _check_observations(game: Game, seat: int) -> None:
    states = game.states_of(seat)
    seen, sizes = game.observe(states, seat), np.array(game.observation_sizes)
    if seen.shape != (len(states), len(sizes)) or seen.dtype.kind != "i":
        raise GameError(
            f"observe must give integers of shape {(len(states), len(sizes))}, got {seen.dtype} of "
            f"shape {seen.shape}"
        )
    for state, row, back in zip(states, seen, game.encode(seen), strict=True):
        if not ((row >= 0) & (row < sizes)).all():
            raise GameError(
                f"observe must give values below {sizes}, got {row} for state {state} of player "
                f"{seat}"
            )
        if back != state:
            raise GameError(
                f"encode must invert observe, got {back} for {row}, which player {seat} sees in "
                f"state {state}"
            )
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
    mask = game.mask(np.arange(game.num_states))
    if mask.dtype != bool or mask.shape != (game.num_states, game.num_actions):
        raise GameError(
            f"mask must be bool of shape {(game.num_states, game.num_actions)}, got {mask.dtype} "
            f"of shape {mask.shape}"
        )
    if not mask.any(axis=1).all():
        state = int(np.argmin(mask.any(axis=1)))
        raise GameError(f"mask must allow an action in each state, got none in state {state}")


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
