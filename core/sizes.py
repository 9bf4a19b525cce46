"""What sizes would take, estimated by formulas before anything is built, and the limits to that.

A game says by its ``cost`` how many states its sizes make, and the memory and time of building it
and solving it once, on one core, against its default opponents. Memory is right to a factor of
three (a test measures it), time less so: both are there to tell minutes from years.

The limits are for mistakes. Who means it sets the environment variable ``EXACTDICE_LIMIT``: to 4
for limits four times as high, to none for no limits. It serves every way of making a game, in
worker processes too, and is no part of what the game is.
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
PIECE = 2**17  # numbers for (state, action, context) that a sweep of a turn has in hand at once
HELD = 2**20  # numbers for (state, context) that it holds at once
LARGEST = 10**30  # sizes are taken to be no larger: floats hold them, and no limit allows them


class Cost(NamedTuple):
    """What a game takes; floats, as sizes may be absurd."""

    states: float
    memory: float  # bytes
    seconds: float


def check_sizes(game: Any, exact: bool = False) -> None:
    """Refuse a game that would take more than the limits.

    The message names the size that is furthest above its default in what it adds to the cost, and
    how large it may be if the others stay.

    Args:
        game: has its sizes as attributes, by the names of the arguments of its ``cost``; one
            whose ``cost`` is None passes.
        exact: whether it is to be solved without rounding.

    Raises:
        SizeError: if it takes too much.
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
    raised = [name for name, usual in defaults.items() if usual is None or sizes[name] > usual]
    name = min(raised or defaults, key=lambda name: excess(**{name: defaults[name]}))
    wanted = "lower, and others too"
    if excess(**{name: defaults[name]}) <= 1:
        usual = defaults[name] or 0
        most = _largest(lambda size: excess(**{name: size}) <= 1, usual, sizes[name])
        wanted = f"at most {show(most)}"
    takes = cost_of(game, exact)
    raise SizeError(
        f"{name} must be {wanted}, got {show(sizes[name])}: {_rough(takes.states)} states "
        f"would take about {_memory(takes.memory)} and {_time(takes.seconds)} to solve"
        f"{' exactly' if exact else ''}; {_limits()}"
    )


def cost_of(game: Any, exact: bool = False, **changed: Any) -> Cost:
    """Estimate what a game takes, or would take if some of its sizes were changed."""
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
    """Refuse a number of things that would take more memory than the limit.

    Args:
        name: what the number is called.
        count: how many.
        each: bytes of each.

    Raises:
        SizeError: if they take too much.
    """
    if min(count, LARGEST) * each <= MEMORY * limit_factor():
        return
    most = int(MEMORY * limit_factor() / each)
    raise SizeError(
        f"{name} must be at most {show(most)}, got {show(count)}: that would take about "
        f"{_memory(min(count, LARGEST) * each)}; {_limits()}"
    )


def check_array(what: str, game: Any, *shape: int) -> None:
    """Refuse an array of numbers that would take more memory than the limit.

    Args:
        what: what needs it.
        game: whose numbers they are.
        shape: of the array.

    Raises:
        SizeError: if it takes too much.
    """
    size = 8.0 * prod(shape)
    if size > MEMORY * limit_factor():
        raise SizeError(
            f"{what} must be of a smaller game, got {game!r}: numbers of shape {shape} would take "
            f"about {_memory(size)}; {_limits()}"
        )


def choose(total: float, chosen: float) -> float:
    """Give the binomial coefficient of floats, nearly, or 10^43 if it is larger."""
    if total < 1e6:
        ordered = lgamma(total + 1) - lgamma(total - chosen + 1)
    else:  # a few of many, where that difference would lose its digits
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
    """Estimate the cost of a game of turns (see ``TurnGame``) from what it is made of.

    Args:
        exact: whether it is solved without rounding.
        players: number of players.
        states: number of states.
        actions: number of actions.
        seen: components of an observation.
        turn_states: states of all its turns.
        layer: afterstates and states of the largest layer.
        afterstates: afterstates of all its turns.
        rolls: outcomes of a roll.
        contexts: contexts of the largest leg, and of all legs.
        results: results of a turn.
        bits: of the denominator of the whole game, for exact values.
    """
    largest, every = contexts
    number = 28 + bits / 15 if exact else 0.0  # bytes of an integer object, half way through
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
    """Write a whole number, one with many digits as a power of ten."""
    if abs(number) < 10**15:
        return f"{number:,}"
    return f"{'-' * (number < 0)}10^{log10(abs(number)):.0f}"


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _sizes(game: Any) -> dict[str, Any]:
    """Give the arguments of a game's ``cost``."""
    names = inspect.signature(game.cost).parameters
    return {name: getattr(game, name) for name in names if name != "exact"}


def _excess(cost: Cost) -> float:
    """Say how many times the limits a cost is."""
    factor = limit_factor()
    return max(cost.memory / MEMORY, cost.seconds / SECONDS) / factor


def _largest(fits: Callable[[int], bool], low: int, high: int) -> int:
    """Find the largest number that fits, from one that does to one that does not."""
    high = min(high, LARGEST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def limit_factor() -> float:
    """Read from the environment how many times the limits are multiplied, infinity for none.

    Raises:
        SizeError: if the variable is no number above 0.
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
    """Write a number with three digits that count."""
    rounded = float(f"{number:.3g}")
    return f"{rounded:.3g}" if rounded < 100 else show(int(rounded))
