"""Checks of a game's attributes, laws, stages, initial law, masks and observations.

They run once for each game, before its moves are listed: for exact computation, if the game has no
sweep of its own, or for the tables of environments. The moves are checked as they are listed, batch
by batch (``effects``). A game that breaks the contract of ``Game`` raises a ``GameError``. These
checks are quick; ``exactdice.testing.check_game`` compares all methods in every state.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .checks import (
    entries,
    is_whole,
    kind_of,
    pair,
    range_of,
    require_array,
    require_below,
    require_count,
    require_exact,
    require_laws,
    require_size,
    show_numbers,
)
from .errors import GameError, InputError
from .game import Game
from .identity import once_a_game
from .sizes import check_memory
from .types import Array, BoolArray, IntArray, Order, frozen

#: Allowed rounding of probabilities, and of payoffs relative to the largest payoff.
CLOSE = 1e-12
#: The attributes of every game.
ATTRIBUTES = (
    *("num_players", "num_states", "num_actions", "observation_sizes", "observation_names"),
    *("payoff_range", "zero_sum", "laws"),
)
#: Bytes that a player, a state and an action take at least: a policy, a choice, and a number and a
#: flag of a state. Of a game whose moves are listed, bytes of a position.
BYTES = {"num_players": 100.0, "num_states": 1.0, "num_actions": 9.0}
POSITION = 17.0
#: Tables of laws up to this number of probabilities are compared with the exact laws.
MOST_CHANCES = 2**18
#: The number of observations of each player, about, that are encoded again.
MOST_SEEN = 1000


def require_attributes(game: Any) -> None:
    """Check that a game has all attributes, and those that are numbers, names, or true or false.

    Raises:
        InputError: if it is no game.
        GameError: naming the missing attributes, or a wrong one.
        SizeError: if a number needs more memory than the limit.
    """
    if not isinstance(game, Game):
        shown = f"the class {game.__name__}: call it" if isinstance(game, type) else kind_of(game)
        raise InputError(f"game must be a Game, got {shown}")
    has = (vars(game), dir(type(game)))
    lacking = [name for name in ATTRIBUTES if not any(name in names for names in has)]
    if lacking:
        raise GameError(f"{type(game).__name__} must have the attributes {', '.join(lacking)}")
    for name, each in BYTES.items():
        require_count(name, getattr(game, name))
        check_memory(name, getattr(game, name), each)
    require_components(game.observation_sizes, game.observation_names)
    for name in ("zero_sum", "has_cycles"):
        if not isinstance(getattr(game, name), bool | np.bool_):
            raise GameError(f"{name} must be True or False, got {getattr(game, name)!r}")


def require_components(sizes: Any, names: Any) -> None:
    """Check the sizes and the names of the components of observations.

    Raises:
        GameError: if they are no integers of at least 1, or not as many texts.
        SizeError: if a one-hot code of an observation needs more memory than the limit.
    """
    listed, texts = (np.asarray(given, dtype=object) for given in (sizes, names))
    if listed.ndim != 1 or not len(listed) or not all(is_whole(n) and n >= 1 for n in listed):
        raise GameError(f"observation_sizes must be integers of at least 1, got {sizes!r}")
    check_memory("the sum of observation_sizes", int(listed.sum()), 8.0)
    if texts.shape != listed.shape or not all(isinstance(text, str) for text in texts):
        raise GameError(
            f"observation_names must be {len(listed)} texts, one for each of observation_sizes, "
            f"got {names!r}"
        )


def require_contract(game: Game) -> list[tuple[int, IntArray]]:
    """Check attributes, laws, stages, the initial law, masks and some observations of a game.

    Returns:
        The stages, which are slow to list again.

    Raises:
        GameError: naming the attribute or method, its requirement and its value.
    """
    require_attributes(game)
    check_memory("num_states", game.num_states, POSITION * game.num_players)
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
    require_array("laws must be", laws, "floats", "law", "outcome")
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
    require_array("exact_laws must be", laws, "fractions", "law", "outcome")
    require_exact("exact_laws", laws)
    require_laws("exact_laws", laws)
    return frozen(laws.view())


def _require_stages(game: Game) -> list[tuple[int, IntArray]]:
    """Return the stages after checking that each has a seat and an array of states."""
    given = entries("stages must list the positions of the game", game.stages())
    stages = [pair("stages must list pairs of a seat and its states", stage) for stage in given]
    for seat, states in stages:
        if not is_whole(seat) or seat not in range(game.num_players):
            raise GameError(f"stages must have seats below {game.num_players}, got {seat!r}")
        require_array("stages must list states as", states, "integers", "state")
        require_below("stages must list states", states, game.num_states)
    return stages


def _require_start(game: Game) -> None:
    """Check the initial law."""
    given = pair("initial_law must be a pair of states and probabilities", game.initial_law())
    starts, chances = map(np.asarray, given)
    if starts.ndim != 1 or starts.shape != chances.shape:
        raise GameError(
            "initial_law must have a probability for each of its states, got states of shape "
            f"{starts.shape} and probabilities of shape {chances.shape}"
        )
    require_exact("initial_law", chances)
    require_laws("initial_law", chances[None], starts)
    require_array("initial_law must give states as", starts, "integers", "state")
    require_below("initial_law must give states", starts, game.num_states)
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
    mask = game.mask(states)
    require_array("mask must be", mask, "bool", len(states), int(game.num_actions))
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
    require_array("observe must give", seen, "integers", len(states), len(sizes))
    beyond = ((seen < 0) | (seen >= sizes)).any(axis=1)
    if beyond.any():
        row = int(np.argmax(beyond))
        raise GameError(
            f"observe must give values below {show_numbers(sizes)}, got {show_numbers(seen[row])} "
            f"for state {states[row]} of player {seat}"
        )
    back = game.encode(seen)
    require_array("encode must give", back, "integers", len(states))
    if (back != states).any():
        row = int(np.argmax(back != states))
        raise GameError(
            f"encode must invert observe, got {back[row]} for {show_numbers(seen[row])}, which "
            f"player {seat} sees in state {states[row]}"
        )
    return seen


def _blocks_of(game: Game, seat: int, states: IntArray) -> tuple[IntArray, BoolArray]:
    """Return the block of each position and whether it is in the cut, after checking both."""
    blocks, in_cut = pair("block must give a pair of blocks and cut", game.block(seat, states))
    require_array("block must give blocks as", blocks, "integers", len(states))
    require_array("block must give the cut as", in_cut, "bool", len(states))
    return blocks, in_cut


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
        of_stages, in_cut = zip(*(_blocks_of(game, *stage) for stage in stages), strict=True)
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
