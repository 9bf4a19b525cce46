"""Checks of a game's attributes, laws, stages, initial law, masks and observations.

They run once for each game, before its moves are listed: for exact computation, if the game has no
sweep of its own, or for the tables of environments. The moves are checked as they are listed, batch
by batch (``effects``). A game that breaks the contract of ``Game`` raises a ``GameError``. These
checks are quick; ``exactdice.testing.check_game`` compares all methods in every state.
"""

from collections.abc import Sequence
from numbers import Rational
from typing import Any

import numpy as np

from .checks import kind_of, range_of, require_laws, require_size, show_numbers
from .errors import GameError
from .game import Game
from .identity import once_a_game
from .types import Array, BoolArray, IntArray, Order, frozen

#: Allowed rounding of probabilities, and of payoffs relative to the largest payoff.
CLOSE = 1e-12
#: The attributes of every game.
ATTRIBUTES = (
    *("num_players", "num_states", "num_actions", "observation_sizes", "observation_names"),
    *("payoff_range", "zero_sum", "laws"),
)
#: Tables of laws up to this number of probabilities are compared with the exact laws.
MOST_CHANCES = 2**18
#: The number of observations of each player, about, that are encoded again.
MOST_SEEN = 1000


def require_attributes(game: Game) -> None:
    """Check that a game has all attributes, without computing those that are properties.

    Raises:
        GameError: naming the missing attributes.
    """
    has = (vars(game), dir(type(game)))
    lacking = [name for name in ATTRIBUTES if not any(name in names for names in has)]
    if lacking:
        raise GameError(f"{type(game).__name__} must have the attributes {', '.join(lacking)}")


def require_contract(game: Game) -> list[tuple[int, IntArray]]:
    """Check attributes, laws, stages, the initial law, masks and some observations of a game.

    Returns:
        The stages, which are slow to list again.

    Raises:
        GameError: naming the attribute or method, its requirement and its value.
    """
    require_attributes(game)
    for name in ("num_players", "num_states", "num_actions"):
        number = getattr(game, name)
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
            raise GameError(f"{name} must be an integer of at least 1, got {number}")
    if len(game.observation_names) != len(game.observation_sizes):
        raise GameError(
            f"observation_names must be {len(game.observation_sizes)}, as observation_sizes are, "
            f"got {len(game.observation_names)}"
        )
    _require_range(game)
    _require_floats(game)
    stages = _require_stages(game)
    _require_start(game)
    for _, states in stages:
        checked_mask(game, states)
    for seat in range(game.num_players):
        own = [states for mover, states in stages if mover == seat]
        if own:
            states = np.concatenate(own)
            require_observations(game, seat, states[:: 1 + len(states) // MOST_SEEN])
    return stages


def _require_range(game: Game) -> None:
    """Check that ``payoff_range`` equals ``exact_range``, and that zero-sum games are for two."""
    low, high = range_of(game)
    exactly = tuple(map(float, game.exact_range))
    if not np.allclose(exactly, (low, high), rtol=CLOSE, atol=0):
        raise GameError(
            f"payoff_range must be the smallest and the largest payoff, as exact_range is, got "
            f"{low} to {high}, exactly {exactly[0]} to {exactly[1]}"
        )
    require_size(max(map(abs, game.exact_range)))
    if game.zero_sum and game.num_players != 2:
        raise GameError(f"zero_sum must be False but for two players, got {game.num_players}")


def _require_floats(game: Game) -> None:
    """Check ``laws``: their type, their sums, and that they are ``exact_laws`` in floats."""
    laws: Any = game.laws
    if not isinstance(laws, np.ndarray) or laws.ndim != 2 or laws.dtype.kind != "f":
        raise GameError(f"laws must be floats of shape (law, outcome), got {kind_of(laws)}")
    require_laws("laws", laws)
    if laws.size > MOST_CHANCES:
        return
    exact = exact_laws_of(game)
    if exact.shape != laws.shape:
        raise GameError(f"exact_laws must be of shape {laws.shape}, as laws are, got {exact.shape}")
    wrong = np.abs(exact.astype(float) - laws) > CLOSE
    if wrong.any():
        row, outcome = np.argwhere(wrong)[0].tolist()
        raise GameError(
            f"laws must be exact_laws in floats, got {float(laws[row, outcome])} for "
            f"{exact[row, outcome]} in row {row}, outcome {outcome}"
        )


@once_a_game
def exact_laws_of(game: Game) -> Array:
    """Return ``exact_laws``, computed and checked once.

    Raises:
        GameError: if ``exact_laws`` gives no table of fractions whose rows sum to one.
    """
    laws: Any = game.exact_laws()
    if not isinstance(laws, np.ndarray) or laws.ndim != 2:
        raise GameError(f"exact_laws must be of shape (law, outcome), got {kind_of(laws)}")
    require_laws("exact_laws", laws)
    require_exact("exact_laws", laws)
    return frozen(laws.view())


def require_exact(name: str, numbers: Array) -> None:
    """Check that probabilities or payoffs are integers and fractions.

    Raises:
        GameError: naming a number of another type.
    """
    if numbers.dtype.kind not in "iu":
        entries = numbers.ravel().tolist()
        if not all(issubclass(kind, Rational) for kind in set(map(type, entries))):
            wrong = next(entry for entry in entries if not isinstance(entry, Rational))
            raise GameError(f"{name} must have fractions, got {wrong}")


def _require_stages(game: Game) -> list[tuple[int, IntArray]]:
    """Return the stages after checking that each has a seat and an array of states."""
    stages = list(game.stages())
    if not stages:
        raise GameError("stages must list the positions of the game, got none")
    for seat, states in stages:
        if seat not in range(game.num_players):
            raise GameError(f"stages must have seats below {game.num_players}, got {seat}")
        if not _are_numbers(states, game.num_states) or states.ndim != 1:
            raise GameError(
                f"stages must list states below {game.num_states}, got {show_numbers(states)}"
            )
    return stages


def _require_start(game: Game) -> None:
    """Check the initial law."""
    starts, chances = map(np.asarray, game.initial_law())
    if starts.ndim != 1 or starts.shape != chances.shape:
        raise GameError(
            "initial_law must have a probability for each of its states, got states of shape "
            f"{starts.shape} and probabilities of shape {chances.shape}"
        )
    require_laws("initial_law", chances[None])
    require_exact("initial_law", chances)
    if not _are_numbers(starts, game.num_states):
        raise GameError(
            f"initial_law must give states below {game.num_states}, got {show_numbers(starts)}"
        )
    states, times = np.unique(starts, return_counts=True)
    if (times > 1).any():
        raise GameError(
            f"initial_law must give a state once, got state {states[np.argmax(times > 1)]} again"
        )


def checked_mask(game: Game, states: IntArray) -> BoolArray:
    """Return the mask of some states, shape (state, action), after checking it.

    Raises:
        GameError: if the mask has another shape or dtype, or a state has no legal action.
    """
    mask: Any = game.mask(states)
    shape = (len(states), game.num_actions)
    if not isinstance(mask, np.ndarray) or mask.dtype != bool or mask.shape != shape:
        raise GameError(f"mask must be bool of shape {shape}, got {kind_of(mask)}")
    some = mask.any(axis=1)
    if not some.all():
        state = states[np.argmin(some)]
        raise GameError(f"mask must allow an action in each state, got none in state {state}")
    return mask


def require_observations(game: Game, seat: int, states: IntArray) -> IntArray:
    """Return the observations of some states, after checking that ``encode`` inverts them.

    Raises:
        GameError: naming the first state whose observation is out of range or is not inverted.
    """
    seen, sizes = game.observe(states, seat), np.array(game.observation_sizes)
    shape = (len(states), len(sizes))
    if not isinstance(seen, np.ndarray) or seen.shape != shape or seen.dtype.kind not in "iu":
        raise GameError(f"observe must give integers of shape {shape}, got {kind_of(seen)}")
    beyond = ((seen < 0) | (seen >= sizes)).any(axis=1)
    if beyond.any():
        row = int(np.argmax(beyond))
        raise GameError(
            f"observe must give values below {show_numbers(sizes)}, got {show_numbers(seen[row])} "
            f"for state {states[row]} of player {seat}"
        )
    back = np.asarray(game.encode(seen))
    if back.shape != states.shape:
        raise GameError(f"encode must give states of shape {states.shape}, got {kind_of(back)}")
    if (back != states).any():
        row = int(np.argmax(back != states))
        raise GameError(
            f"encode must invert observe, got {back[row]} for {show_numbers(seen[row])}, which "
            f"player {seat} sees in state {states[row]}"
        )
    return seen


def _are_numbers(states: Any, count: int) -> bool:
    """Say whether ``states`` is an array of integers from 0 to ``count`` - 1."""
    if not isinstance(states, np.ndarray) or states.dtype.kind not in "iu":
        return False
    return bool(((states >= 0) & (states < count)).all())


@once_a_game
def order_of(game: Game) -> Order:
    """Return the stage and block of every position, after ``require_contract``.

    Raises:
        GameError: if a position is in two stages, if an initial state is in no stage, or as
            ``require_contract`` does.
    """
    stages = require_contract(game)
    listed = np.concatenate([seat * game.num_states + states for seat, states in stages])
    positions, times = np.unique(listed, return_counts=True)
    if (times > 1).any():
        seat, state = divmod(int(positions[np.argmax(times > 1)]), game.num_states)
        raise GameError(
            f"stages must list a position once, got state {state} of player {seat} again"
        )
    shape = game.num_players, game.num_states
    numbers: Any = np.full(shape, -1, dtype=np.int32)  # small, as there are many positions
    blocks: Any = numbers.copy()
    cut = np.zeros(shape, dtype=bool)
    of_stages: Sequence[IntArray] = [np.zeros(len(states), dtype=np.int64) for _, states in stages]
    if game.has_cycles:
        of_stages, in_cut = zip(*(game.block(*stage) for stage in stages), strict=True)
        for stage, points in zip(stages, in_cut, strict=True):
            cut[stage] = points
    known = np.unique(np.concatenate([np.unique(of_stage) for of_stage in of_stages]))
    for number, (stage, of_stage) in enumerate(zip(stages, of_stages, strict=True)):
        numbers[stage], blocks[stage] = number, np.searchsorted(known, of_stage)
    starts, _ = game.initial_law()
    if (numbers[0, starts] < 0).any():
        raise GameError("initial_law must give states of player 0 that stages lists")
    for table in (numbers, blocks, cut):
        table.setflags(write=False)  # as all sweeps of the game share them
    return Order(numbers, blocks, cut)
