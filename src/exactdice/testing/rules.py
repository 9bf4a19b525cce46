"""Check the rules that a game must obey before anything is computed.

The result of a method for a state or a move must not depend on the batch around it: samples of
states and moves are passed alone, a few at a time in reverse order, and all at once.
"""

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..core import FloatArray, Game, GameError, IntArray, Move
from ..core.contract import CLOSE, order_of, require_observations
from ..core.positions import legal_moves, states_of
from ..core.presentation import present
from ..envs.planners import LIMIT

__all__ = ["CLOSE", "check_rules", "largest_payoff", "opponents_of", "require_words", "words_of"]


def check_rules(game: Game) -> int:
    """Check all rules.

    Returns:
        The number of pairs of state and action.

    Raises:
        GameError: naming the rule that is broken.
    """
    again = copy.copy(game)  # makes a game from its keywords, as pickling does
    if again != game:
        raise GameError(f"keywords must build the same game, got {again!r} of {game!r}")
    _ = order_of(game)  # checks everything that needs no moves
    words = present(game)
    for seat in range(game.num_players):
        for row in require_observations(game, seat, states_of(game, seat)):
            require_words("describe", words.describe(row), row)
    _check_encode(game)
    legal_moves(game, np.arange(game.num_states))  # checks the numbers too that are no state
    for action in range(game.num_actions):
        require_words("describe_action", words.describe_action(action), action)
    for number, sentence in enumerate(words.describe_rules(), start=1):
        require_words(f"sentence {number} of describe_rules", sentence)
    return game.num_states * game.num_actions


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


def require_words(name: str, words: object, *arguments: object) -> None:
    """Check that a text for people, of a method with arguments, is a single printable line."""
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


#: Sample sizes: states of each player, and moves of the game.
STATES, MOVES = 60, 200


def check_batches(game: Game) -> None:
    """Check that results do not depend on the batch.

    Raises:
        GameError: naming the method.
    """
    rng = np.random.default_rng(5)
    for seat in range(game.num_players):
        if len(states_of(game, seat)):
            _check_states(game, seat, rng)
    columns = []
    for seat in range(game.num_players):
        own = states_of(game, seat)
        pairs, actions = np.nonzero(game.mask(own))
        columns.append((np.full(len(pairs), seat), own[pairs], actions))
    every = [np.concatenate(column) for column in zip(*columns, strict=True)]
    some = rng.permutation(len(every[0]))[:MOVES]
    seats, states, actions = (column[some] for column in every)
    rows = game.law(states, actions)
    outcomes = np.array([rng.choice(np.flatnonzero(game.laws[row] > 0)) for row in rows.tolist()])
    names = list(map(words_of, seats.tolist(), states.tolist(), actions.tolist()))
    method = partial(_check_method, rng=rng, kind="move", names=names, some=np.arange(len(some)))
    for name in ("advance", "exact_advance"):
        method(name, getattr(game, name), (seats, states, actions, outcomes))
    method("law", game.law, (states, actions))


def _check_states(game: Game, seat: int, rng: np.random.Generator) -> None:
    """Check the methods that take states."""
    own = states_of(game, seat)
    some = np.sort(rng.permutation(len(own))[:STATES])
    names = [f"state {state} of player {seat}" for state in own.tolist()]
    method = partial(_check_method, rng=rng, kind="state", names=names, some=some)
    method("observe", lambda states: game.observe(states, seat), (own,))
    method("encode", game.encode, (game.observe(own, seat),))
    method("mask", game.mask, (own,))


def _check_method(
    name: str,
    ask: Callable[..., Any],  # the method
    columns: tuple[IntArray, ...],  # its arguments, each of shape (entry, ...)
    kind: str,  # state or move
    names: list[str],  # of the entries
    some: IntArray,  # entries of which the other batches consist
    rng: np.random.Generator,
) -> None:
    """Ask for all states or moves at once, and for some in other batches."""
    every = _arrays(ask(*columns))
    for batch in _batches(some, rng):
        for got, wanted in zip(_arrays(ask(*(c[batch] for c in columns))), every, strict=True):
            if got.shape != wanted[batch].shape:
                raise GameError(
                    f"{name} must give {wanted[batch].shape} for {len(batch)} {kind}s, as for "
                    f"many, got {got.shape}"
                )
            far = np.abs(got - wanted[batch]) > CLOSE * np.abs(wanted).max()
            wrong = far.reshape(len(batch), -1).any(axis=1)
            if wrong.any():
                raise GameError(
                    f"{name} must say the same of a {kind} in every batch, got others of "
                    f"{names[batch[np.argmax(wrong)]]} in a batch of {len(batch)}"
                )


def _arrays(found: Any) -> list[FloatArray]:
    """Give a result as numbers; after the end of a game nobody moves next."""
    columns = [found]
    if isinstance(found, Move):
        on = ~found.over.all(axis=1)
        columns = [found.over, found.seats * on, found.states * on, found.payoffs]
    return [np.asarray(column).astype(np.float64) for column in columns]


def _batches(entries: IntArray, rng: np.random.Generator) -> Iterator[IntArray]:
    """Cut entries into batches of one, of a few, and of nearly all in random order."""
    yield from entries[:, None]
    mixed = rng.permutation(entries)
    yield from np.array_split(mixed, 1 + len(mixed) // 7)
    yield mixed[: max(1, len(mixed) - 1)]
