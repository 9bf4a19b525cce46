"""Checks of a game: attributes, laws, stages, initial law, masks, observations, and its moves.

All but the checks of moves run once for each game, before its moves are listed: for exact
computation, if the game has no sweep of its own, or for the tables of environments. The moves are
checked as they are listed, batch by batch (``require_rows``, ``require_moves``). A game that breaks
the contract of ``Game`` raises a ``GameError``, which names the attribute, method or first move,
the requirement and the value; one that needs too much memory raises a ``SizeError``. These checks
are quick; ``exactdice.testing.check_game`` compares all methods in every state.
"""

from math import inf
from typing import Any

import numpy as np

from .checks import (
    action_of,
    as_exact,
    entries,
    is_whole,
    kind_of,
    pair,
    range_of,
    require_array,
    require_below,
    require_count,
    require_laws,
    require_shapes,
    require_size,
    show_numbers,
)
from .errors import GameError, InputError
from .game import Game, ListedGame, once_a_game
from .sizes import check_memory
from .types import Array, BoolArray, IntArray, Move, Order, frozen

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
    """Check that a game has all attributes, and those that are numbers, names, or true or false."""
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
    """Check the sizes and the names of the components of observations."""
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

    The stages, which are slow to list again, are returned.
    """
    require_attributes(game)
    check_memory("num_states", game.num_states, POSITION * game.num_players)
    require_range(game)
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


def require_range(game: Game) -> None:
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
    far = np.abs(exact.astype(float) - laws) > CLOSE
    for row, outcome in np.argwhere(far)[:1].tolist():
        raise GameError(
            f"laws must be exact_laws in floats, got {float(laws[row, outcome])} for "
            f"{exact[row, outcome]} in row {row}, outcome {outcome}"
        )


@once_a_game
def exact_laws_of(game: Game) -> Array:
    """Return ``exact_laws``, computed and checked once."""
    laws: Any = game.exact_laws()
    require_array("exact_laws must be", laws, "fractions", "law", "outcome")
    laws = as_exact("exact_laws", laws)
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
    require_array("initial_law must give states as", starts, "integers", "state")
    require_array("initial_law must give probabilities as", chances, "fractions", len(starts))
    require_laws("initial_law", as_exact("initial_law", chances)[None], starts)
    require_below("initial_law must give states", starts, game.num_states)
    states, times = np.unique(starts, return_counts=True)
    for state in states[times > 1][:1]:
        raise GameError(f"initial_law must give a state once, got state {state} again")


def checked_mask(game: Game, states: IntArray) -> BoolArray:
    """Return the mask of some states, shape (state, action), after checking it."""
    mask = game.mask(states)
    require_array("mask must be", mask, "bool", len(states), int(game.num_actions))
    for state in states[~mask.any(axis=1)][:1]:
        raise GameError(f"mask must allow an action in each state, got none in state {state}")
    return mask


def require_observations(game: Game, seat: int, states: IntArray) -> IntArray:
    """Return the observations of some states, after checking that ``encode`` inverts them."""
    seen, sizes = game.observe(states, seat), np.array(game.observation_sizes)
    require_array("observe must give", seen, "integers", len(states), len(sizes))
    beyond = ((seen < 0) | (seen >= sizes)).any(axis=1)
    for row in np.flatnonzero(beyond)[:1]:
        raise GameError(
            f"observe must give values below {show_numbers(sizes)}, got {show_numbers(seen[row])} "
            f"for state {states[row]} of player {seat}"
        )
    back = game.encode(seen)
    require_array("encode must give", back, "integers", len(states))
    for row in np.flatnonzero(back != states)[:1]:
        raise GameError(
            f"encode must invert observe, got {back[row]} for {show_numbers(seen[row])}, which "
            f"player {seat} sees in state {states[row]}"
        )
    return seen


@once_a_game
def order_of(game: Game) -> Order:
    """Return the stage and block of every position, after ``require_contract``."""
    stages = require_contract(game)
    listed = np.concatenate([seat * game.num_states + states for seat, states in stages])
    positions, times = np.unique(listed, return_counts=True)
    for position in positions[times > 1][:1].tolist():
        seat, state = divmod(position, game.num_states)
        raise GameError(
            f"stages must list a position once, got state {state} of player {seat} again"
        )
    shape = game.num_players, game.num_states
    numbers: Any = np.full(shape, -1, dtype=np.int32)  # small, as there are many positions
    blocks: Any = numbers.copy()
    cut = np.zeros(shape, dtype=bool)
    of_stages = [np.zeros(len(states), dtype=np.int64) for _, states in stages]
    for number, (seat, states) in enumerate(stages if game.has_cycles else []):
        own, in_cut = pair("block must give a pair of blocks and cut", game.block(seat, states))
        require_array("block must give blocks as", own, "integers", len(states))
        require_array("block must give the cut as", in_cut, "bool", len(states))
        of_stages[number], cut[seat, states] = own, in_cut
    known = np.unique(np.concatenate([np.unique(of_stage) for of_stage in of_stages]))
    for number, (stage, of_stage) in enumerate(zip(stages, of_stages, strict=True)):
        numbers[stage], blocks[stage] = number, np.searchsorted(known, of_stage)
    starts, _ = game.initial_law()
    if (numbers[0, starts] < 0).any():
        raise GameError("initial_law must give states of player 0 that stages lists")
    return Order(*map(frozen, (numbers, blocks, cut)))  # as all sweeps of the game share them


def require_rows(game: Game, seat: int, states: IntArray, actions: IntArray, rows: Any) -> None:
    """Check the rows of ``laws`` that ``law`` gives for some moves."""
    require_array("law must give", rows, "integers", len(states))
    wrong = (rows < 0) | (rows >= len(game.laws))
    for first in np.flatnonzero(wrong)[:1]:
        raise GameError(
            f"law must give rows below {len(game.laws)}, got {rows[first]} for "
            f"{action_of(seat, states[first], actions[first])}"
        )


def _require_later(
    order: Order, seats: IntArray, states: IntArray, actions: IntArray, move: Move
) -> None:
    """Check that each move ends the game, leads to a later block, or stays in its block.

    In its block it must lead to a later stage or to the cut.
    """
    players, count = order.stages.shape
    stages, blocks, in_cut = (table.ravel() for table in order)
    known = (move.seats >= 0) & (move.seats < players)
    known &= (move.states >= 0) & (move.states < count)
    after = np.where(known, move.seats * count + move.states, 0)
    before = seats * count + states
    stage, later = stages.take(after), blocks.take(after) - blocks.take(before)
    known &= stage >= 0
    right = (later > 0) | ((later == 0) & (stage > stages.take(before)))
    wrong = np.flatnonzero(~(known & right))  # unless it leads to the cut, or the game is over
    wrong = wrong[~(known[wrong] & (later[wrong] == 0) & in_cut[after[wrong]])]
    wrong = wrong[~move.over[wrong].all(axis=1)]
    for row in wrong[:1]:
        allowed = "a later stage"
        if order.cut.any():
            allowed = "a later block, in its own to a later stage or to the cut,"
        raise GameError(
            f"a move must lead to {allowed} or end the game, got "
            f"{action_of(seats[row], states[row], actions[row])}, which leads to player "
            f"{move.seats[row]} in state {move.states[row]}"
        )


def require_moves(
    game: Game, seats: IntArray, states: IntArray, actions: IntArray, move: Move
) -> None:
    """Check the positions after some moves, (move,), and their payoffs, floats or fractions."""
    require_shapes(game, len(states), move)
    _require_later(order_of(game), seats, states, actions, move)
    wrong = _wrong_payoffs(game, seats, states, move)
    if wrong is not None:
        entries, said = wrong
        row = int(np.argmax(entries.any(axis=1)))
        raise GameError(
            f"payoffs {said}, got {show_numbers(move.payoffs[row][entries[row]].astype(float))} by "
            f"{action_of(seats[row], states[row], actions[row])}"
        )


def _wrong_payoffs(
    game: Game, seats: IntArray, states: IntArray, move: Move
) -> tuple[BoolArray, str] | None:
    """Find the wrong payoffs, (move, player), and the requirement they break; None if right."""
    payoffs, over = move.payoffs, move.over
    exact = payoffs.dtype == object
    ends: Any = game.exact_range if exact else range_of(game)
    low, high = ends
    close = 0 if exact else CLOSE * max(abs(low), abs(high))
    early = bool(payoffs[~over].any())  # NaN, too
    if early:  # the rest of the game is worth from low to high, before the move and after it
        span = high - low + 2 * close
        wrong = ~over & ~((payoffs >= -span) & (payoffs <= span))
        if wrong.any():
            said = f"must be at most {float(high - low)} in size, the span of payoff_range,"
            return wrong, f"{said} while the game goes on"
        if (wrong := _in_cycles(game, seats, states, move)).any():
            said = "must be zero where a move stays in a block with a cut, for a finite total"
            return wrong, said
    paid = payoffs[over]  # comparing fractions is slow
    if not ((paid >= low - close) & (paid <= high + close)).all():
        inside = (payoffs >= low - close) & (payoffs <= high + close)
        return over & ~inside, f"must be in payoff_range, {float(low)} to {float(high)}"
    if game.zero_sum and (early or len(paid)):
        rows = np.flatnonzero(over[:, 0] | over[:, 1]) if not early else np.arange(len(over))
        ends = over[rows, 0]
        sums = payoffs[rows, 0] + payoffs[rows, 1] - (low + high) * ends
        right = (ends == over[rows, 1]) & (np.abs(sums) <= 2 * close)
        if not right.all():
            wrong = np.zeros(over.shape, dtype=bool)
            wrong[rows[~right]] = True
            said = f"of a zero-sum game must add up to {float(low + high)} at once"
            return wrong, said + (", and to 0 before" if early else "")
    return None


def worst_payoff(game: Game) -> float:
    """Give what an illegal action pays; minus infinity if no payoff is below every value."""
    return -inf if getattr(game, "unbounded", False) else game.payoff_range[0]


def require_worst(game: Game) -> None:
    """Raise an ``InputError`` if an illegal action pays more than some policy's value."""
    if worst_payoff(game) == -inf:
        raise InputError(
            f"actions must be legal in {game!r}, where policies may be paid less than any illegal "
            "action: its games are cut, or may be as long and cost as much as they like, unless "
            "there is a horizon, or a gamma below 1"
        )


def _in_cycles(game: Game, seats: IntArray, states: IntArray, move: Move) -> BoolArray:
    """Find payoffs that a game can get again and again, as a cycle passes: (move, player)."""
    wrong = np.zeros(move.over.shape, dtype=bool)
    if game.has_cycles and not isinstance(game, ListedGame):
        order, early = order_of(game), ~move.over & (move.payoffs != 0)
        rows = np.flatnonzero(early.any(axis=1))
        before = order.blocks[seats[rows], states[rows]]
        stays = order.blocks[move.seats[rows], move.states[rows]] == before
        circles = rows[stays & np.isin(before, order.blocks[order.cut])]
        wrong[circles] = early[circles]
    return wrong
