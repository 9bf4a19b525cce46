"""Limits to memory and time, which are estimated from a game's sizes before anything is built.

The method ``cost`` of a game estimates, from its sizes, the number of states, and the memory and
time of building the game and solving it once, on one core, against its default opponents. The
memory is right within a factor of three (a test measures it), the time is less precise: the
estimates tell minutes from years.

The limits stop mistakes. The environment variable ``EXACTDICE_LIMIT`` changes them: 4 makes them
four times as high, none lifts them. It holds for every game that is made, also in worker
processes, and games that are equal without it are equal with it.
"""

import inspect
import os
from collections.abc import Callable
from math import exp, inf, lgamma, log, log10, prod
from typing import Any, NamedTuple

from .errors import SizeError

MEMORY = 8e9  # bytes
SECONDS = 3600.0
VARIABLE = "EXACTDICE_LIMIT"
PIECE = 2**17  # size of the arrays (state, action, context) by which a turn is swept
HELD = 2**20  # size of the arrays (state, context) that are held for a leg
LARGEST = 10**30  # larger sizes are replaced by this one, as floats hold it and no limit allows it


class Cost(NamedTuple):
    """The estimated cost of a game, as floats, since the states of absurd sizes overflow."""

    states: float
    memory: float  # bytes
    seconds: float


def check_sizes(game: Any, exact: bool = False) -> None:
    """Refuse a game whose estimated cost is above the limits.

    The message names the size whose default would lower the cost most, and the largest value of
    this size within the limits if the other sizes stay; if no size is a number, the first.

    Args:
        game: the game; its attributes have the names of the arguments of ``cost``. A game whose
            ``cost`` is None is not refused.
        exact: whether the game is to be solved without rounding.

    Raises:
        SizeError: if the memory or the time is above its limit.
    """
    if game.cost is None:
        return
    sizes = _sizes(game)

    def excess(**changed: Any) -> float:
        return _excess(cost_of(game, exact, **changed))

    if excess() <= 1:
        return
    defaults = {
        name: argument.default
        for name, argument in inspect.signature(type(game)).parameters.items()
        if name in sizes and _is_size(sizes[name])
    }
    if defaults:
        raised = [name for name, usual in defaults.items() if usual is None or sizes[name] > usual]
        name = min(raised or defaults, key=lambda name: excess(**{name: defaults[name]}))
        wanted, got = "lower, and others too", show(sizes[name])
        if excess(**{name: defaults[name]}) <= 1:
            usual = defaults[name] or 0
            most = _largest(lambda size: excess(**{name: size}) <= 1, usual, sizes[name])
            wanted = f"at most {show(most)}"
    else:  # a text, such as a list of names
        name, value = next(iter(sizes.items()))
        wanted, got = "fewer", repr(value)
    takes = cost_of(game, exact)
    raise SizeError(
        f"{name} must be {wanted}, got {got}: {_rough(takes.states)} states "
        f"would take about {_memory(takes.memory)} and {_time(takes.seconds)} to solve"
        f"{' exactly' if exact else ''}; {_limits()}"
    )


def cost_of(game: Any, exact: bool = False, **changed: Any) -> Cost:
    """Estimate the cost of a game, with its own sizes or with some of them changed."""
    sizes = {**_sizes(game), **changed}
    cost: Cost = game.cost(
        exact=exact,
        **{
            name: float(min(value, LARGEST)) if _is_size(value) else value
            for name, value in sizes.items()
        },
    )
    return cost


def check_memory(name: str, count: int, each: float) -> None:
    """Refuse a number of entries that would take more memory than the limit.

    Args:
        name: the argument that gives the number.
        count: the number.
        each: the bytes of an entry.

    Raises:
        SizeError: naming the argument and the largest number within the limit.
    """
    if min(count, LARGEST) * each <= MEMORY * limit_factor():
        return
    most = int(MEMORY * limit_factor() / each)
    raise SizeError(
        f"{name} must be at most {show(most)}, got {show(count)}: that would take about "
        f"{_memory(min(count, LARGEST) * each)}; {_limits()}"
    )


def check_sweeps(name: str, count: int, game: Any, sweeps: int) -> None:
    """Refuse a number of things for which a game would be swept longer than the limit.

    Args:
        name: the argument that gives the number.
        count: the number.
        game: the game; one whose ``cost`` is None is not refused.
        sweeps: how often the game is swept for this number.

    Raises:
        SizeError: if the estimated time is above the limit.
    """
    seconds = 0.0 if game.cost is None else sweeps * cost_of(game).seconds
    if seconds > SECONDS * limit_factor():
        raise SizeError(
            f"{name} must be fewer, got {show(count)} in {game!r}: {show(sweeps)} sweeps would "
            f"take about {_time(seconds)}; {_limits()}"
        )


def check_array(what: str, game: Any, *shape: int) -> None:
    """Refuse an array of numbers that would take more memory than the limit.

    Args:
        what: the name of the array, for the message.
        game: the game, for the message.
        shape: the shape of the array.

    Raises:
        SizeError: if the array would take more.
    """
    size = 8.0 * prod(shape)
    if size > MEMORY * limit_factor():
        raise SizeError(
            f"{what} must be of a smaller game, got {game!r}: numbers of shape {shape} would take "
            f"about {_memory(size)}; {_limits()}"
        )


def choose(total: float, chosen: float) -> float:
    """Return the binomial coefficient of floats, rounded, and 10^43 for all larger ones."""
    if total < 1e6:
        ordered = lgamma(total + 1) - lgamma(total - chosen + 1)
    else:  # the difference above would lose its digits; ``chosen`` is small here
        ordered = chosen * log(total)
    return exp(min(ordered - lgamma(chosen + 1), 100.0))


def turn_cost(
    *,
    exact: bool,
    players: float,
    states: float,
    actions: float,
    seen: float,
    turn_states: float,
    layer: tuple[float, float],
    afterstates: float,
    rolls: float,
    contexts: tuple[float, float],
    results: float,
    bits: float,
) -> Cost:
    """Estimate the cost of a game of turns (see ``TurnGame``) from the sizes of its tables.

    Args:
        exact: whether the game is solved without rounding.
        players: number of players.
        states: number of states.
        actions: number of actions.
        seen: number of components of an observation.
        turn_states: number of states of all turns.
        layer: numbers of afterstates and of states in the largest layer.
        afterstates: number of afterstates of all turns.
        rolls: number of outcomes of a roll.
        contexts: numbers of contexts of the largest leg, and of all legs.
        results: number of results of a turn.
        bits: length of the denominator of all exact values, in bits.
    """
    largest, every = contexts
    number = 28 + bits / 15 if exact else 0.0  # mean bytes of a Python integer in the sweep
    tables = turn_states * (16 * (actions + seen) + 180) + afterstates * rolls * 8
    payoffs = results * every * (26 * players + 40)
    together = players if players > 2 and not exact else 1.0  # swept side by side
    held = together * min(states, HELD) * (16 + number / 2)  # values of a part of a leg
    values = held + 2 * states * players  # and actions
    in_hand = max(min(largest * layer[1] * actions, PIECE), largest * actions)
    acting, rolling = in_hand * (36 + 0.6 * number), largest * layer[0] * rolls * (24 + number)
    sweep = together * max(acting, rolling)
    building = turn_states * (5e-6 + 5e-7 * actions) + results * every * (1e-6 + 3e-7 * players)
    solving = 8e-9 * states * (actions + 15) + 3e-8 * afterstates * rolls * every
    slower = 3 + bits / 100 if exact else 1.0
    return Cost(states, tables + payoffs + values + sweep, building + solving * slower)


def show(number: int) -> str:
    """Write an integer; if it has more than 15 digits, as a power of ten."""
    if abs(number) < 10**15:
        return f"{number:,}"
    return f"{'-' * (number < 0)}10^{log10(abs(number)):.0f}"


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _sizes(game: Any) -> dict[str, Any]:
    """Return the arguments of a game's ``cost``, which are attributes of the game."""
    names = inspect.signature(game.cost).parameters
    return {name: getattr(game, name) for name in names if name != "exact"}


def _excess(cost: Cost) -> float:
    """Return the ratio of a cost to its limit, the larger one of memory and time."""
    factor = limit_factor()
    return max(cost.memory / MEMORY, cost.seconds / SECONDS) / factor


def _largest(fits: Callable[[int], bool], low: int, high: int) -> int:
    """Find the largest number that fits, where ``low`` fits and ``high`` does not."""
    high = min(high, LARGEST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def limit_factor() -> float:
    """Read the factor of the limits from ``EXACTDICE_LIMIT``; infinity stands for no limits.

    Raises:
        SizeError: if the variable is neither a number above 0 nor "none".
    """
    text = os.environ.get(VARIABLE, "1")
    try:
        factor = inf if text.lower() == "none" else float(text)
    except ValueError:
        factor = 0.0
    if not factor > 0:
        raise SizeError(f"{VARIABLE} must be a number above 0 or none, got {text[:50]!r}")
    return factor


def _limits() -> str:
    factor = limit_factor()
    return (
        f"the limits are {_memory(MEMORY * factor)} and {_time(SECONDS * factor)} "
        f"({VARIABLE}=none lifts them)"
    )


def _memory(number: float) -> str:
    return _in_units(number, [(1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")])


def _time(seconds: float) -> str:
    units = [(31_557_600.0, "years"), (86_400.0, "days"), (60.0, "minutes"), (1.0, "seconds")]
    return _in_units(seconds, units)


def _in_units(number: float, units: list[tuple[float, str]]) -> str:
    size, name = next((unit for unit in units if number >= unit[0]), units[-1])
    return f"{_rough(number / size)} {name}"


def _rough(number: float) -> str:
    """Write a number with three significant digits."""
    rounded = float(f"{number:.3g}")
    return f"{rounded:.3g}" if rounded < 100 else show(int(rounded))
