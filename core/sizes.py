"""The limit to memory: sizes that would take more are refused before anything is built.

A game counts its states and the entries of its tables from its arguments, before it builds them
(``check_states``); listed moves are counted as they are listed (``check_memory``). The counts need
not be exact: the limit stops mistakes, and tells minutes from years.

The environment variable ``EXACTDICE_LIMIT`` changes the limit: 4 makes it four times as high, none
lifts it. It holds for every game that is made, also in worker processes, and games that are equal
without it are equal with it.
"""

import inspect
import os
from math import exp, inf, lgamma, log, log10, prod
from typing import Any

from .errors import SizeError

MEMORY = 8e9  # bytes
VARIABLE = "EXACTDICE_LIMIT"
PIECE = 2**17  # size of the arrays (state, action, context) by which a turn is swept
HELD = 2**20  # size of the arrays (state, context) that are held for a leg
LARGEST = 10**30  # larger sizes are replaced by this one, as floats hold it and no limit allows it
#: Bytes of a state while a game is solved, of the same without rounding, and of an entry of a table
#: while the table is made of lists.
STATE, EXACT_STATE, ENTRY = 64, 500, 50


def check_states(game: Any, states: float, entries: float = 0) -> None:
    """Raise a ``SizeError`` for a game that would take more memory than the limit.

    ``entries`` are those of its largest tables. The message names the argument, of those that are
    numbers and set as attributes, that is the largest multiple of its default.
    """
    states, entries = bounded(states, entries)
    taken = STATE * states + ENTRY * entries
    if taken <= MEMORY * limit_factor():
        return
    known = inspect.signature(type(game)).parameters
    sizes: dict[str, Any] = {name: getattr(game, name, None) for name in known}
    above = {
        name: bounded(size)[0] / max(known[name].default or 0, 1)
        for name, size in sizes.items()
        if isinstance(size, int) and not isinstance(size, bool)
    }
    name = max(above, key=lambda name: above[name])
    said = f"{name} must be lower, got {show(sizes[name])}: {_rough(states)} states"
    _require_memory(said, taken)


def bounded(*sizes: float) -> tuple[float, ...]:
    """Return sizes as floats for estimates, at most ``LARGEST`` each."""
    return tuple(float(min(size, LARGEST)) for size in sizes)


def check_exact(game: Any) -> None:
    """Raise a ``SizeError`` for a game that takes too much memory to be solved without rounding."""
    said = f"game must be smaller to be solved exactly, got {game!r}: {game.num_states:,} states"
    _require_memory(said, float(EXACT_STATE * game.num_states))


def check_memory(name: str, count: int, each: float) -> None:
    """Raise a ``SizeError`` for ``count`` entries of ``each`` bytes that take too much memory.

    The message says the largest count within the limit, and ``name``, the argument that gives it.
    """
    taken, limit = min(count, LARGEST) * each, MEMORY * limit_factor()
    if taken > limit:
        _require_memory(
            f"{name} must be at most {show(int(limit / each))}, got {show(count)}: that", taken
        )


def check_array(what: str, game: Any, *shape: int) -> None:
    """Raise a ``SizeError`` for an array of numbers of a game that takes too much memory."""
    said = f"{what} must be of a smaller game, got {game!r}: numbers of shape {shape}"
    _require_memory(said, 8.0 * prod(shape))


def _require_memory(said: str, taken: float) -> None:
    """Raise a ``SizeError``, which begins with a sentence, if bytes are more than the limit."""
    limit = MEMORY * limit_factor()
    if taken > limit:
        raise SizeError(
            f"{said} would take about {_memory(taken)}; the limit is {_memory(limit)} "
            f"({VARIABLE}=none lifts it)"
        )


def choose(total: float, chosen: float) -> float:
    """Return the binomial coefficient of floats, rounded, and 10^43 for all larger ones."""
    if total < 1e6:
        ordered = lgamma(total + 1) - lgamma(total - chosen + 1)
    else:  # the difference above would lose its digits; ``chosen`` is small here
        ordered = chosen * log(total)
    return exp(min(ordered - lgamma(chosen + 1), 100.0))


def show(number: int) -> str:
    """Write an integer; if it has more than 15 digits, as a power of ten."""
    if abs(number) < 10**15:
        return f"{number:,}"
    return f"{'-' * (number < 0)}10^{log10(abs(number)):.0f}"


def limit_factor() -> float:
    """Read the factor of the limit from ``EXACTDICE_LIMIT``; infinity stands for no limit."""
    text = os.environ.get(VARIABLE, "1")
    try:
        factor = inf if text.lower() == "none" else float(text)
    except ValueError:
        factor = 0.0
    if not factor > 0:
        raise SizeError(f"{VARIABLE} must be a number above 0 or none, got {text[:50]!r}")
    return factor


def _memory(number: float) -> str:
    units = [(1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")]
    size, name = next((unit for unit in units if number >= unit[0]), units[-1])
    return f"{_rough(number / size)} {name}"


def _rough(number: float) -> str:
    """Write a number with three significant digits."""
    rounded = float(f"{number:.3g}")
    return f"{rounded:.3g}" if rounded < 100 else show(int(rounded))
