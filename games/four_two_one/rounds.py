"""The three games that are played with rounds of 421 (see ``four_two_one``).

* ``FirstPlayer``: one player, who may stop before the last cast, paid by a utility.
* ``NextPlayer``: one player, who has to make a given number of casts, paid by a utility.
* ``TheSet``: two players. The first is free, the second has to make as many casts and knows the
  result to beat; the higher combination by (54) wins.

A utility u_j(d) is a number for each result d and number of casts j (33).
"""

import hashlib
import re
import reprlib
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ...core.errors import InputError
from ...core.leg import Leg
from ...core.ranking import Combination, tokens
from ...core.turn import Turn
from ...core.types import Array, frozen

if TYPE_CHECKING:
    from .game import FourTwoOne

#: A name, a function of (combination, casts made), or a table (combination, casts made - 1).
Utility: TypeAlias = str | Callable[[Combination, int], Any] | npt.ArrayLike
Tie = Literal["half", "lost"]


class FirstPlayer:
    """One player, who may stop before the last cast.

    Args:
        game: dice, faces and casts.
        utility: what pays.

    Attributes:
        known: name and number of values of what a player sees of the turns before.
        utilities: fractions, shape (combination, casts).

    Raises:
        InputError: if the utility is none of this game.
    """

    num_players: ClassVar[int] = 1

    def __init__(self, game: "FourTwoOne", utility: Utility) -> None:
        self._game = game
        self.known: list[tuple[str, int]] = []
        self.utilities = frozen(_tabulated(game, utility))

    def legs(self) -> list[Leg]:
        """Give the player's turn, with a result for each combination and number of casts."""
        turn = self._game.turn(self._game.casts, imposed=False)
        return [_alone(turn, self.utilities.T.ravel())]


class NextPlayer(FirstPlayer):
    """One player, who has to make ``duration`` casts."""

    def legs(self) -> list[Leg]:
        """Give the player's turn, with a result for each combination."""
        duration = self._game.duration
        assert duration is not None
        return [_alone(self._game.turn(duration, imposed=True), self.utilities[:, duration - 1])]


class TheSet:
    """Two players: the second one's turn depends on the casts, its context on the result.

    Args:
        game: dice, faces and casts, and what equal combinations pay.
        utility: "set", which says no more.

    Attributes:
        known: name and number of values of what a player sees of the turns before.
        utilities: None, as results are compared.

    Raises:
        InputError: if there are not three dice, or casts are imposed on the first player.
    """

    num_players: ClassVar[int] = 2
    utilities: ClassVar[None] = None

    def __init__(self, game: "FourTwoOne", utility: Utility) -> None:
        if game.ranks is None:
            raise InputError(
                f"utility {utility!r} needs dice = 3, as (54) ranks three, got {game.dice}"
            )
        if game.duration is not None:
            raise InputError(f"duration must be None in a set, got {game.duration}")
        self._game, self._ranks = game, game.ranks
        self.known = [("casts imposed", game.casts + 1), ("rank to beat", len(game.ranks) + 1)]

    def legs(self) -> list[Leg]:
        """Give the first player's turn, and the second one's for each number of casts."""
        game, ranks, number = self._game, self._ranks, len(self._ranks)
        free = game.turn(game.casts, imposed=False)
        following = 1 + np.arange(free.num_results)[:, None]
        unpaid = np.full((free.num_results, 1, 2), Fraction(0), dtype=object)
        none = np.array([[0, number]])
        legs = [Leg(0, free, none, following, unpaid, np.zeros(unpaid.shape, dtype=bool))]
        halves = 1 + np.sign(ranks[:, None] - ranks)  # (own result, result to beat)
        tied = Fraction(1, 2) if game.tie == "half" else Fraction(0)
        second = np.array([Fraction(0), tied, Fraction(1)], dtype=object)[halves]
        payoffs = np.stack([1 - second, second], axis=-1)
        for casts in range(1, game.casts + 1):
            known = np.stack([np.full(number, casts), ranks], axis=1)
            ended, everyone = np.zeros_like(halves), np.ones(payoffs.shape, dtype=bool)
            legs.append(Leg(1, game.turn(casts, imposed=True), known, ended, payoffs, everyone))
        return legs


def _alone(turn: Turn, paid: Array) -> Leg:
    """Pay one player for each result, shape (result,), which ends the game."""
    payoffs = paid[:, None, None]
    settled = np.ones(payoffs.shape, dtype=bool)
    nothing = np.zeros((1, 0), dtype=np.int64)
    return Leg(0, turn, nothing, np.zeros((len(paid), 1), dtype=np.int64), payoffs, settled)


def _tabulated(game: "FourTwoOne", utility: Utility) -> Array:
    """Give a utility as fractions, shape (combination, casts)."""
    if isinstance(utility, str):
        values = [[value] * game.casts for value in _named(game, utility)]
    elif callable(utility):
        made = range(1, game.casts + 1)
        values = [[utility(faces, casts) for casts in made] for faces in game.combinations]
    else:
        table = np.asarray(utility, dtype=object)
        shape = (len(game.combinations), game.casts)
        if table.shape != shape:
            raise InputError(
                f"utility must be a table of shape {shape} (combination, casts), got {table.shape}"
            )
        values = table.tolist()
    return np.array([[_fraction(value) for value in row] for row in values], dtype=object)


def _named(game: "FourTwoOne", utility: str) -> list[int]:
    """Give the utility of each combination by name."""
    kind, _, goals = utility.partition(":")
    if utility == "sum":
        return [sum(faces) for faces in game.combinations]
    if utility == "transfer":
        if game.dice != 3:
            raise InputError(f"utility 'transfer' needs dice = 3, got {game.dice}")
        return [tokens(faces) for faces in game.combinations]
    if kind in ("goal", "goals") and goals:
        wanted = [game.parse(goal) for goal in goals.split(",")]
        if kind == "goals" or len(wanted) == 1:
            return [wanted.count(faces) for faces in game.combinations]
    raise InputError(
        "utility must be 'transfer', 'sum', 'goal:<faces>', 'goals:<faces>,<faces>', 'set', a "
        f"function or a table, got {utility!r}"
    )


def _fraction(value: Any) -> Fraction:
    """Read a finite number exactly; a text without an exponent, which could be of any size."""
    try:
        if isinstance(value, str) and re.fullmatch(r"-?\d+([/.]\d+)?", value) is None:
            raise ValueError
        number = Fraction(value.item() if isinstance(value, np.generic) else value)
        float(number)  # which payoffs become: those too large for it overflow
        return number
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise InputError(f"utility must be finite numbers, got {reprlib.repr(value)}") from None


def digest(utilities: Array | None) -> str:
    """Name a utility by its numbers."""
    text = repr([] if utilities is None else utilities.tolist())
    return f"<table {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
