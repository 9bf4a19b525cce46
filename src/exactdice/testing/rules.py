"""Check the rules that a game must obey before anything is computed.

The result of a method for a state or a move must not depend on the batch around it: samples of
states and moves are passed alone, a few at a time in reverse order, and all at once.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import Game, GameError, IntArray, Move
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


#: Sample sizes: states of each player, and moves of the game.
STATES, MOVES = 60, 200


def check_batches(game: Game) -> None:
    """Check that results do not depend on the batch.

    Raises:
        GameError: naming the method.
    """
    rng = np.random.default_rng(5)
    for seat in range(game.num_players):
        own = states_of(game, seat)
        if len(own):
            _check_states(game, seat, own, rng)
    seats, states, actions = _moves(game)
    some = rng.permutation(len(seats))[:MOVES]
    _check_moves(game, seats[some], states[some], actions[some], rng)


def _moves(game: Game) -> tuple[IntArray, IntArray, IntArray]:
    """List all legal moves: player, state, action."""
    columns = []
    for seat in range(game.num_players):
        own = states_of(game, seat)
        pairs, actions = np.nonzero(game.mask(own))
        columns.append((np.full(len(pairs), seat), own[pairs], actions))
    seats, states, actions = (np.concatenate(column) for column in zip(*columns, strict=True))
    return seats, states, actions


def _batches(count: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Cut ``count`` entries into batches of one, of a few, and of nearly all in random order."""
    yield from np.arange(count)[:, None]
    mixed = rng.permutation(count)
    yield from np.array_split(mixed, 1 + count // 7)
    yield mixed[: max(1, count - 1)]


def _check_states(game: Game, seat: int, own: IntArray, rng: np.random.Generator) -> None:
    """Check the methods that take states."""
    some = np.sort(rng.permutation(len(own))[:STATES])
    seen = game.observe(own, seat)
    asked: list[tuple[str, Callable[[Any], Any], Any]] = [
        ("observe", lambda states: game.observe(states, seat), own),
        ("encode", game.encode, seen),
        ("mask", game.mask, own),
    ]
    for name, ask, entries in asked:
        every = np.asarray(ask(entries))
        for batch in _batches(len(some), rng):
            of = some[batch]
            _require_same(name, np.asarray(ask(entries[of])), every[of], own[of], seat)


def _require_same(name: str, got: Any, wanted: Any, states: IntArray, seat: int) -> None:
    if got.shape != wanted.shape:
        raise GameError(
            f"{name} must give {wanted.shape} for {len(states)} states, as for many, got "
            f"{got.shape}"
        )
    wrong = (got != wanted).reshape(len(states), -1).any(axis=1)
    if wrong.any():
        state = states[np.argmax(wrong)]
        raise GameError(
            f"{name} must say the same of a state in every batch, got others of state {state} of "
            f"player {seat} in a batch of {len(states)}"
        )


def _check_moves(
    game: Game, seats: IntArray, states: IntArray, actions: IntArray, rng: np.random.Generator
) -> None:
    """Check the methods that take moves, with the moves of all players in one batch."""
    rows = game.law(states, actions)
    outcomes = np.array([rng.choice(np.flatnonzero(game.laws[row] > 0)) for row in rows.tolist()])
    columns = (seats, states, actions, outcomes)
    for name, apply in (("advance", game.advance), ("exact_advance", game.exact_advance)):
        every = apply(*columns)
        for batch in _batches(len(seats), rng):
            move = apply(*(column[batch] for column in columns))
            _require_same_moves(name, game, move, _part(every, batch), columns, batch)
    for batch in _batches(len(seats), rng):
        wrong = np.asarray(game.law(states[batch], actions[batch])) != rows[batch]
        if wrong.any():
            raise GameError(_words("law", columns, int(batch[np.argmax(wrong)]), len(batch)))


def _part(move: Move, batch: IntArray) -> Move:
    return Move(move.seats[batch], move.states[batch], move.payoffs[batch], move.over[batch])


def _require_same_moves(
    name: str, game: Game, got: Move, wanted: Move, columns: tuple[IntArray, ...], batch: IntArray
) -> None:
    on = ~wanted.over.all(axis=1)  # elsewhere nobody moves next
    wrong = (got.over != wanted.over).any(axis=1)
    wrong |= on & ((got.seats != wanted.seats) | (got.states != wanted.states))
    close = CLOSE * largest_payoff(game)
    wrong |= (np.abs(got.payoffs - wanted.payoffs) > close).any(axis=1)
    if wrong.any():
        raise GameError(_words(name, columns, int(batch[np.argmax(wrong)]), len(batch)))


def _words(name: str, columns: tuple[IntArray, ...], row: int, size: int) -> str:
    seat, state, action = (int(column[row]) for column in columns[:3])
    return (
        f"{name} must say the same of a move in every batch, got others of "
        f"{words_of(seat, state, action)} in a batch of {size}"
    )
