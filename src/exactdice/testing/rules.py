"""Check the rules that a game must obey before anything is computed.

The result of a method for a state or a move must not depend on the batch around it: states and
moves, or a sample of them, are passed alone, some at a time in random order, and all at once.
"""

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..core import EXACT, BoolArray, FloatArray, Game, GameError, IntArray, Move, present
from ..core.checks import action_of
from ..core.contract import CLOSE, order_of, require_observations
from ..core.moves import list_moves
from ..core.positions import legal_moves, states_of
from ..envs.planners import LIMIT


def check_rules(game: Game) -> int:
    """Check all rules; return the number of pairs of state and action."""
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


def opponents_of(game: Game) -> list[str]:
    """List the opponents to check against; a game for one player has none."""
    named = dict.fromkeys(("random", "optimal", game.default_opponent))
    return list(named) if game.num_players > 1 else ["random"]


#: Sample sizes: states of each player, and moves of the game.
STATES, MOVES = 60, 200


def check_batches(game: Game) -> None:
    """Check that methods say the same of a state or a move alone, in batches, and in fractions."""
    rng = np.random.default_rng(5)
    for seat in range(game.num_players):
        own = states_of(game, seat)
        some = np.sort(rng.permutation(len(own))[:STATES])
        names = [f"state {state} of player {seat}" for state in own.tolist()]
        ask = partial(_check_method, rng=rng, kind="state", names=names, some=some)
        ask("observe", lambda states, seat=seat: game.observe(states, seat), (own,))
        ask("encode", game.encode, (game.observe(own, seat),))
        ask("mask", game.mask, (own,))
    moves = _moves(game)
    names = list(map(action_of, *(column.tolist() for column in moves[:3])))
    every, some = np.arange(len(names)), rng.permutation(len(names))[:MOVES]
    ask = partial(_check_method, rng=rng, kind="move", names=names)
    ask("law", game.law, moves[1:3], some=some)
    ask("exact_advance", game.exact_advance, moves, some=some)
    ask("advance", game.advance, moves, some=every)
    exact, floats = (_arrays(advance(*moves)) for advance in (game.exact_advance, game.advance))
    for wanted, got in zip(exact, floats, strict=True):
        wrong = _far(got, wanted, np.abs(wanted).max())
        if wrong.any():
            raise GameError(
                "advance must say the same as of exact_advance, got others of "
                f"{names[np.argmax(wrong)]}"
            )


def _moves(game: Game) -> tuple[IntArray, ...]:
    """List player, state, action and outcome of all ways of moves, after checking their words."""
    words, listed = present(game), []
    for seat, states in game.stages():
        rows, actions, ways = list_moves(game, seat, states, EXACT)
        seen = game.observe(states[rows], seat)
        for row, action in zip(seen, actions.tolist(), strict=True):
            require_words("describe_move", words.describe_move(row, action), row, action)
        columns = np.full(len(ways.moves), seat), states[rows][ways.moves], actions[ways.moves]
        listed.append((*columns, ways.outcomes))
        for row, action, outcome in zip(seen[ways.moves], *listed[-1][2:], strict=True):
            require_words("tell", words.tell(row, action, outcome), row, action, outcome)
    return tuple(map(np.concatenate, zip(*listed, strict=True)))


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
            wrong = _far(got, wanted[batch], np.abs(wanted).max())
            if wrong.any():
                raise GameError(
                    f"{name} must say the same of a {kind} in every batch, got others of "
                    f"{names[batch[np.argmax(wrong)]]} in a batch of {len(batch)}"
                )


def _far(got: FloatArray, wanted: FloatArray, size: float) -> BoolArray:
    """Say of each entry whether its numbers differ by more than ``CLOSE`` of a size."""
    far = (np.abs(got - wanted) > CLOSE * size).reshape(len(got), -1)
    return np.asarray(far.any(axis=1))


def _arrays(found: Any) -> list[FloatArray]:
    """Give a result as numbers; after the end of a game nobody moves next."""
    columns = [found]
    if isinstance(found, Move):
        on = ~found.over.all(axis=1)
        columns = [found.over, found.seats * on, found.states * on, found.payoffs]
    return [np.asarray(column).astype(np.float64) for column in columns]


def _batches(entries: IntArray, rng: np.random.Generator) -> Iterator[IntArray]:
    """Cut entries into batches of one, of some, and of nearly all in random order."""
    yield from entries[:, None]
    mixed = rng.permutation(entries)
    yield from np.array_split(mixed, 1 + min(len(mixed), MOVES) // 7)
    yield mixed[: max(1, len(mixed) - 1)]
