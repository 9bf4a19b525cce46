"""The three games of one round of 421.

* ``FirstPlayer``: one player, who may stop before the last cast, paid by a utility.
* ``NextPlayer``: one player, who must make a given number of casts, paid by a utility.
* ``TheSet``: two players. The first player may stop early. The second player must make as many
  casts and knows the result to beat; the higher combination by (54) wins.

A utility u_j(d) is a number for each result d and number of casts j (33).
"""

import hashlib
import re
import reprlib
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from ...core.errors import InputError
from ...core.leg import Leg
from ...core.turn import Turn
from ...core.types import Array, frozen
from .ranking import Combination, tokens
from .turn import Casting

#: A name, a function of (combination, casts made), or a table (combination, casts made - 1).
Utility: TypeAlias = str | Callable[[Combination, int], Any] | npt.ArrayLike
Tie = Literal["half", "lost"]


class FirstPlayer:
    """One player, who may stop before the last cast.

    Args:
        casting: dice, faces and casts.
        utility: the payoff of each result.

    Attributes:
        known: name and number of values of each component of the context.
        utilities: the utility as fractions, shape (combination, casts).

    Raises:
        InputError: if the utility does not fit the dice, or is unknown.
    """

    def __init__(self, casting: Casting, utility: Utility) -> None:
        self._casting = casting
        self.known: list[tuple[str, int]] = []
        self.utilities = frozen(_tabulated(casting, utility))

    def legs(self) -> list[Leg]:
        """Return the player's leg, with a result for each combination and number of casts."""
        turn = self._casting.turn(self._casting.casts, imposed=False)
        return [_alone(turn, self.utilities.T.ravel())]


class NextPlayer(FirstPlayer):
    """One player, who must make ``duration`` casts."""

    def __init__(self, casting: Casting, utility: Utility, duration: int) -> None:
        super().__init__(casting, utility)
        self._duration = duration

    @override
    def legs(self) -> list[Leg]:
        turn = self._casting.turn(self._duration, imposed=True)
        return [_alone(turn, self.utilities[:, self._duration - 1])]


class TheSet:
    """Two players; the first player's number of casts chooses the second player's leg.

    The contexts of the second leg are the results of the first player.

    Args:
        casting: dice, faces and casts.
        tie: "half" or "lost", for the second player with an equal combination.

    Attributes:
        known: name and number of values of each component of the context.
        utilities: None, since results are compared.

    Raises:
        InputError: if there are not three dice.
    """

    utilities: ClassVar[None] = None

    def __init__(self, casting: Casting, tie: Tie) -> None:
        ranks = casting.ranks
        if ranks is None:
            raise InputError(
                f"utility 'set' needs dice = 3, as (54) ranks three, got {casting.dice}"
            )
        self._casting, self._ranks, self._tie = casting, ranks, tie
        self.known = [("casts imposed", casting.casts + 1), ("rank to beat", len(ranks) + 1)]

    def legs(self) -> list[Leg]:
        """Return the first player's leg, and the second player's for each number of casts."""
        casting, ranks, number = self._casting, self._ranks, len(self._ranks)
        free = casting.turn(casting.casts, imposed=False)
        following = 1 + np.arange(free.num_results)[:, None]
        unpaid = np.full((free.num_results, 1, 2), Fraction(0), dtype=object)
        none = np.array([[0, number]])
        legs = [Leg(0, free, none, following, unpaid, np.zeros(unpaid.shape, dtype=bool))]
        halves = 1 + np.sign(ranks[:, None] - ranks)  # (own result, result to beat)
        tied = Fraction(1, 2) if self._tie == "half" else Fraction(0)
        second = np.array([Fraction(0), tied, Fraction(1)], dtype=object)[halves]
        payoffs = np.stack([1 - second, second], axis=-1)
        for casts in range(1, casting.casts + 1):
            known = np.stack([np.full(number, casts), ranks], axis=1)
            ended, everyone = np.zeros_like(halves), np.ones(payoffs.shape, dtype=bool)
            legs.append(Leg(1, casting.turn(casts, imposed=True), known, ended, payoffs, everyone))
        return legs


def is_set(utility: Utility) -> bool:
    """Say whether a utility is the name of the set."""
    return isinstance(utility, str) and utility == "set"


def round_of(
    casting: Casting, utility: Utility, duration: int | None, tie: Tie
) -> FirstPlayer | TheSet:
    """Return the game of one round for the arguments of ``FourTwoOne``.

    Raises:
        InputError: if the arguments do not go together.
    """
    if not is_set(utility):
        if duration is None:
            return FirstPlayer(casting, utility)
        return NextPlayer(casting, utility, duration)
    the_set = TheSet(casting, tie)
    if duration is not None:
        raise InputError(f"duration must be None in a set, got {duration}")
    return the_set


def _alone(turn: Turn, paid: Array) -> Leg:
    """Make a leg of a turn whose results end the game and pay ``paid``, shape (result,)."""
    payoffs = paid[:, None, None]
    settled = np.ones(payoffs.shape, dtype=bool)
    nothing = np.zeros((1, 0), dtype=np.int64)
    return Leg(0, turn, nothing, np.zeros((len(paid), 1), dtype=np.int64), payoffs, settled)


def _tabulated(casting: Casting, utility: Utility) -> Array:
    """Return a utility as fractions, shape (combination, casts)."""
    if isinstance(utility, str):
        values = [[value] * casting.casts for value in _named(casting, utility)]
    elif callable(utility):
        made = range(1, casting.casts + 1)
        values = [[utility(faces, casts) for casts in made] for faces in casting.combinations]
    else:
        table = np.asarray(utility, dtype=object)
        shape = (len(casting.combinations), casting.casts)
        if table.shape != shape:
            raise InputError(
                f"utility must be a table of shape {shape} (combination, casts), got {table.shape}"
            )
        values = table.tolist()
    return np.array([[_fraction(value) for value in row] for row in values], dtype=object)


def _named(casting: Casting, utility: str) -> list[int]:
    """Return the utility of each combination, for a utility with a name."""
    kind, _, goals = utility.partition(":")
    if utility == "sum":
        return [sum(faces) for faces in casting.combinations]
    if utility == "transfer":
        if casting.dice != 3:
            raise InputError(f"utility 'transfer' needs dice = 3, got {casting.dice}")
        return [tokens(faces) for faces in casting.combinations]
    if kind in ("goal", "goals") and goals:
        wanted = [casting.parse(goal) for goal in goals.split(",")]
        if kind == "goals" or len(wanted) == 1:
            return [wanted.count(faces) for faces in casting.combinations]
    raise InputError(
        "utility must be 'transfer', 'sum', 'goal:<faces>', 'goals:<faces>,<faces>', 'set', a "
        f"function or a table, got {utility!r}"
    )


def _fraction(value: Any) -> Fraction:
    """Read a finite number exactly; a text may have no exponent, as it could be too large."""
    try:
        if isinstance(value, str) and re.fullmatch(r"-?\d+([/.]\d+)?", value) is None:
            raise ValueError
        number = Fraction(value.item() if isinstance(value, np.generic) else value)
        float(number)  # payoffs become floats, too; numbers too large for a float overflow
        return number
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise InputError(f"utility must be finite numbers, got {reprlib.repr(value)}") from None


def digest(utilities: Array | None) -> str:
    """Return a name for a table of utilities: a hash of its numbers."""
    text = repr([] if utilities is None else utilities.tolist())
    return f"<table {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
