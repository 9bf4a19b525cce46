"""421: cast three dice up to three times, put aside what you like, make a high combination.

Source: Pierre Albarede, *Fate stochastic management and policy benchmark in 421* (2024), to which
the numbers of equations and sections belong.

A player casts D dice with F faces up to J times. After every cast it accumulates any of the dice
just cast; the others are cast again. The round ends when all dice are accumulated, at the latest
by the last cast. A *combination* is a set of faces with repetition, in growing order here. The
first player may stop early (the round lasts J_1 <= J casts); next players cast exactly J_1 times
and may not complete their combination earlier (9, 10).

There are three games of one round:

* ``FirstPlayer``: one player, who may stop before the last cast, paid by a utility.
* ``NextPlayer``: one player, who must make a given number of casts, paid by a utility.
* ``TheSet``: two players. The first player may stop early. The second player must make as many
  casts and knows the result to beat; the higher combination by (54) wins.

A utility u_j(d) is a number for each result d and number of casts j (33).
"""

import hashlib
import re
import reprlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from ...core.checks import at_least, one_of
from ...core.errors import InputError
from ...core.leg import Leg
from ...core.sizes import check_states
from ...core.turn import Turn
from ...core.turn_game import TurnGame
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


class FourTwoOne(TurnGame):
    """The rules of 421.

    A state is (faces accumulated, faces cast, casts made) and, in a set, (casts imposed, rank of
    the result to beat). An action says which of the dice just cast, in growing order, are
    accumulated: ``subsets[action]``. Of equal dice an action takes the first. Smaller actions take
    fewer dice or, of the same number of dice, lexicographically smaller faces: section 5.2 breaks
    ties in this order.

    Args:
        dice: number of dice D, at least 1.
        faces: faces F of each die, at least 2.
        casts: the largest number J of casts of a round, at least 1.
        utility: "transfer" (Table 5; three dice), "sum" of the faces, "goal:123" (1 for a
            combination, else 0), "goals:123,224,345" (1 for any of several combinations), a
            function of (combination, casts made), a table of shape (combination, casts) in the
            order of ``combinations``, or "set" (two players, three dice).
        duration: None for a first player; for a next player, the number of casts that it must make.
        tie: in a set, equal combinations pay both players "half", or are "lost" by the second.

    Attributes:
        subsets: the dice that each action accumulates, counted from 0.
        combinations: all results, as faces in growing order, in lexicographic order.
        utilities: the utility as fractions, shape (combination, casts); None in a set.
        ranks: with three dice, the rank of each combination by (54), 0 the lowest.

    Raises:
        ValueError: if an argument is not in its range.
    """

    name: ClassVar[str] = "FourTwoOne"

    def __init__(
        self,
        dice: int = 3,
        faces: int = 6,
        casts: int = 3,
        utility: Utility = "transfer",
        duration: int | None = None,
        tie: Tie = "half",
    ) -> None:
        self.dice = at_least("dice", dice, 1)
        self.faces = at_least("faces", faces, 2)
        self.casts = at_least("casts", casts, 1)
        self.duration = duration if duration is None else at_least("duration", duration, 1)
        if self.duration is not None and self.duration > self.casts:
            raise InputError(f"duration must be at most casts = {casts}, got {duration}")
        self.tie: Tie = one_of("tie", tie, get_args(Tie))
        self.num_players = 2 if is_set(utility) else 1
        self._casting = Casting(self.dice, self.faces, self.casts)
        check_states(self, *self._casting.count(self.num_players == 2, self.duration))
        self.subsets = self._casting.subsets
        self.combinations = self._casting.combinations
        self.ranks = self._casting.ranks
        self._utility = utility if isinstance(utility, str) else None
        played = round_of(self._casting, utility, self.duration, self.tie)
        self.utilities = played.utilities
        self._shown = repr(self._utility) if self._utility else digest(self.utilities)
        faces_seen = self.faces + 1
        observed = [
            *[(f"accumulated {i + 1}", faces_seen) for i in range(self.dice - 1)],
            *[(f"cast {i + 1}", faces_seen) for i in range(self.dice)],
            ("casts made", self.casts + 1),
            *played.known,
        ]
        super().__init__(played.legs(), self.num_players, observed)

    @property
    def utility(self) -> str | tuple[tuple[str, ...], ...]:
        """The name of the utility, or its table with fractions as texts."""
        if self._utility is not None:
            return self._utility
        assert self.utilities is not None
        return tuple(tuple(map(str, row)) for row in self.utilities.tolist())

    def __repr__(self) -> str:
        tie = f", tie={self.tie!r}" if self.utilities is None or self.tie != "half" else ""
        return (
            f"FourTwoOne(dice={self.dice}, faces={self.faces}, casts={self.casts}, "
            f"utility={self._shown}, duration={self.duration}{tie})"
        )

    def turn(self, casts: int, imposed: bool) -> Turn:
        """Return the tables of a turn (see ``Casting.turn``)."""
        return self._casting.turn(casts, imposed)

    def options(self, cast: Combination) -> Iterator[tuple[int, Combination]]:
        """List the actions after a cast, and the faces that each accumulates."""
        return self._casting.options(cast)

    def parse(self, goal: str) -> Combination:
        """Read a combination written as digits, such as 421.

        Raises:
            InputError: if the text is no combination of this game.
        """
        return self._casting.parse(goal)
