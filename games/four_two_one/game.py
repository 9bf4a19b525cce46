"""421: cast three dice up to three times, put aside what you like, make a high combination.

Source: Pierre Albarede, *Fate stochastic management and policy benchmark in 421* (2024), to which
the numbers of equations and sections belong.

A player casts D dice with F faces up to J times. After every cast it accumulates any of the dice
just cast; the others are cast again. The round ends when all dice are accumulated, at the latest
by the last cast. A *combination* is a set of faces with repetition, in growing order here. The
first player may stop early (the round lasts J_1 <= J casts); next players cast exactly J_1 times
and may not complete their combination earlier (9, 10).

There are three games of one round:

* of a first player, who may stop before the last cast, paid by a utility;
* of a next player, who must make a given number of casts, paid by a utility;
* the set, of two players. The first player may stop early. The second player must make as many
  casts and knows the result to beat; the higher combination by (54) wins.

A utility u_j(d) is a number for each result d and number of casts j (33).
"""

import hashlib
import re
import reprlib
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import chain
from itertools import combinations as subsets
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from ...core import Array, InputError, IntArray, Leg, Turn, TurnGame, at_least, frozen, one_of
from ...core.dice import combinations, redundancy
from ...core.sizes import bounded, check_states, choose

Combination: TypeAlias = tuple[int, ...]  # faces in growing order
#: A name, a function of (combination, casts made), or a table (combination, casts made - 1).
Utility: TypeAlias = str | Callable[[Combination, int], Any] | npt.ArrayLike
Tie = Literal["half", "lost"]
MANY = 100  # dice; every limit on sizes is lower


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
        self.duration = duration
        if duration is not None:
            self.duration = at_least("duration", duration, 1, self.casts, "casts = ")
        self.tie: Tie = one_of("tie", tie, get_args(Tie))
        self._utility = utility if isinstance(utility, str) else None
        in_set = self._utility == "set"
        self.num_players = 2 if in_set else 1
        check_states(self, *count_states(self.dice, self.faces, self.casts, in_set, duration))
        sizes = range(self.dice + 1)
        self.subsets = list(chain.from_iterable(subsets(range(self.dice), size) for size in sizes))
        self.combinations = combinations(self.dice, self.faces)
        self.ranks = hierarchy(self.faces) if self.dice == 3 else None
        known = []
        if in_set:
            if self.ranks is None:
                raise InputError(f"utility 'set' needs dice = 3, as (54) ranks three, got {dice}")
            if duration is not None:
                raise InputError(f"duration must be None in a set, got {duration}")
            known = [("casts imposed", self.casts + 1), ("rank to beat", len(self.ranks) + 1)]
        self.utilities = None if in_set else frozen(self._tabulated(utility))
        faces_seen = self.faces + 1
        observed = [
            *[(f"accumulated {i + 1}", faces_seen) for i in range(self.dice - 1)],
            *[(f"cast {i + 1}", faces_seen) for i in range(self.dice)],
            ("casts made", self.casts + 1),
            *known,
        ]
        super().__init__(list(self._legs()), self.num_players, observed)

    @property
    def utility(self) -> str | tuple[tuple[str, ...], ...]:
        """The name of the utility, or its table with fractions as texts."""
        if self._utility is not None:
            return self._utility
        assert self.utilities is not None
        return tuple(tuple(map(str, row)) for row in self.utilities.tolist())

    def __repr__(self) -> str:
        tie = f", tie={self.tie!r}" if self.utilities is None or self.tie != "half" else ""
        shown = repr(self._utility)
        if self._utility is None:  # the hash of a table
            text = repr(np.array(self.utilities).tolist())
            shown = f"<table {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
        return (
            f"FourTwoOne(dice={self.dice}, faces={self.faces}, casts={self.casts}, "
            f"utility={shown}, duration={self.duration}{tie})"
        )

    def options(self, cast: Combination) -> Iterator[tuple[int, Combination]]:
        """List the actions after a cast, and the faces that each accumulates."""
        listed = set()
        for action, dice in enumerate(self.subsets):
            if all(die < len(cast) for die in dice):
                taken = tuple(cast[die] for die in dice)
                if taken not in listed:
                    listed.add(taken)
                    yield action, taken

    def parse(self, goal: str) -> Combination:
        """Read a combination written as digits, such as 421."""
        faces = tuple(sorted(int(digit) for digit in goal if digit in "123456789"))
        if faces not in self.combinations or len(goal) != self.dice:
            raise InputError(
                f"goal must be {self.dice} digits from 1 to {self.faces}, got {goal!r}"
            )
        return faces

    def _turn(self, casts: int, imposed: bool) -> Turn:
        """Return the tables of a turn of at most ``casts`` casts, or of exactly these if imposed.

        Afterstates are (casts made, faces accumulated). Results are the combinations; if the player
        may stop early, the combinations after one cast, then those after two casts, and so on.
        """
        held = [part for size in range(self.dice) for part in combinations(size, self.faces)]
        afterstates: list[tuple[int, Combination]] = [(0, ())]
        afterstates += [(made, part) for made in range(1, casts) for part in held]
        numbers = {afterstate: number for number, afterstate in enumerate(afterstates)}
        results = {combination: number for number, combination in enumerate(self.combinations)}
        shown = [combinations(dice, self.faces) for dice in range(self.dice, 0, -1)]
        rolls = np.zeros((self.dice, len(shown[0])), dtype=object)
        for row, casts_shown in enumerate(shown):
            rolls[row, : len(casts_shown)] = [redundancy(cast) for cast in casts_shown]
        moves: list[tuple[int, int, bool, int]] = []  # state, action, whether it ends, where to
        seen: list[list[int]] = []
        for made, faces in afterstates:
            for cast in shown[len(faces)]:
                for action, taken in self.options(cast):
                    total = tuple(sorted(faces + taken))
                    if len(total) < self.dice and made + 1 < casts:
                        moves.append((len(seen), action, False, numbers[made + 1, total]))
                    elif len(total) == self.dice and (made + 1 == casts or not imposed):
                        stops = 0 if imposed else made * len(results)
                        moves.append((len(seen), action, True, stops + results[total]))
                padding = [0] * (self.dice - 1 - len(faces))
                seen.append([*faces, *padding, *cast, *[0] * len(faces), made + 1])
        state, action, *entries = np.array(moves).T
        legal, ends, leads_to = np.zeros((3, len(seen), len(self.subsets)), dtype=np.int64)
        for table, entry in zip((legal, ends, leads_to), (1, *entries), strict=True):
            table[state, action] = entry
        return Turn(
            rolls,
            np.array([made for made, _ in afterstates]),
            np.array([len(faces) for _, faces in afterstates]),
            legal.astype(bool),
            ends.astype(bool),
            leads_to,
            np.array(seen),
            len(results) * (1 if imposed else casts),
        )

    def _legs(self) -> Iterator[Leg]:
        """Yield the leg of the first player, and in a set the second's for each number of casts.

        The contexts of the second player are the results of the first player.
        """
        first = self._turn(self.duration or self.casts, imposed=self.duration is not None)
        results = first.num_results
        if self.utilities is not None:
            paid = self.utilities.T.ravel()
            if self.duration is not None:
                paid = self.utilities[:, self.duration - 1]
            nothing, ended = np.zeros((1, 0), np.int64), np.zeros((results, 1), np.int64)
            yield Leg(0, first, nothing, ended, paid[:, None, None], np.ones((results, 1, 1), bool))
            return
        assert self.ranks is not None
        ranks, number = self.ranks, len(self.ranks)
        following = 1 + np.arange(results)[:, None]
        unpaid = np.full((results, 1, 2), Fraction(0), dtype=object)
        yield Leg(0, first, np.array([[0, number]]), following, unpaid, unpaid != 0)
        halves = 1 + np.sign(ranks[:, None] - ranks)  # (own result, result to beat)
        tied = Fraction(1, 2) if self.tie == "half" else Fraction(0)
        second = np.array([Fraction(0), tied, Fraction(1)], dtype=object)[halves]
        payoffs = np.stack([1 - second, second], axis=-1)
        for casts in range(1, self.casts + 1):
            known = np.stack([np.full(number, casts), ranks], axis=1)
            ended, everyone = np.zeros_like(halves), np.ones(payoffs.shape, dtype=bool)
            yield Leg(1, self._turn(casts, imposed=True), known, ended, payoffs, everyone)

    def _tabulated(self, utility: Utility) -> Array:
        """Return a utility as fractions, shape (combination, casts)."""
        if isinstance(utility, str):
            values = [[value] * self.casts for value in self._named(utility)]
        elif callable(utility):
            made = range(1, self.casts + 1)
            values = [[utility(faces, casts) for casts in made] for faces in self.combinations]
        else:
            table = np.asarray(utility, dtype=object)
            shape = (len(self.combinations), self.casts)
            if table.shape != shape:
                raise InputError(
                    f"utility must be a table of shape {shape} (combination, casts), got "
                    f"{table.shape}"
                )
            values = table.tolist()
        return np.array([[_fraction(value) for value in row] for row in values], dtype=object)

    def _named(self, utility: str) -> list[int]:
        """Return the utility of each combination, for a utility with a name."""
        kind, _, goals = utility.partition(":")
        if utility == "sum":
            return [sum(faces) for faces in self.combinations]
        if utility == "transfer":
            if self.dice != 3:
                raise InputError(f"utility 'transfer' needs dice = 3, got {self.dice}")
            return [tokens(faces) for faces in self.combinations]
        if kind in ("goal", "goals") and goals:
            wanted = [self.parse(goal) for goal in goals.split(",")]
            if kind == "goals" or len(wanted) == 1:
                return [wanted.count(faces) for faces in self.combinations]
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


def count_states(
    dice: int, faces: int, casts: int, in_set: bool, duration: int | None = None
) -> tuple[float, float]:
    """Count the states of a round and the entries of its tables before they are made."""
    kinds, most, rounds = bounded(faces, casts, duration or casts)
    dice = min(dice, MANY)
    parts = [choose(size + kinds - 1, size) for size in range(dice + 1)]
    results = parts[-1]
    layer = sum(parts[size] * parts[dice - size] for size in range(dice))  # after a cast
    states = layer * (rounds - 1) + results
    following = layer * most * (most - 1) / 2 + most * results
    turns, contexts = states + following * in_set, results if in_set else 1
    tables = turns * 2**dice + results * most * contexts
    return states + following * results * in_set, tables


def kind_of(faces: Combination) -> int:
    """Return the kind of a combination of three dice, in the order of (54).

    Of 421 it is 5, of 111 it is 4, of two ones with another face and of three equal faces 3, of a
    sequence 2, and of all others 1.
    """
    if faces in ((1, 2, 4), (1, 1, 1)):
        return 5 if faces == (1, 2, 4) else 4
    if faces[:2] == (1, 1) or faces[0] == faces[2]:
        return 3
    return 2 if faces[0] + 2 == faces[1] + 1 == faces[2] else 1


def tokens(faces: Combination, four_two_one: int = 10) -> int:
    """Return the tokens that a combination of three dice is worth, by default those of Table 5."""
    return {5: four_two_one, 4: 7, 3: faces[2], 2: 2, 1: 1}[kind_of(faces)]


def hierarchy(faces: int) -> IntArray:
    """Return the rank by (54), 0 the lowest, of the combinations in lexicographic order.

    From the highest down the order is 421, 111, then f11 and fff by falling f, then the sequences,
    then all others; the last two by the number that their falling faces form.
    """

    def height(combination: Combination) -> tuple[int, Sequence[int]]:
        kind, paired = kind_of(combination), combination[:2] == (1, 1)
        return kind, (combination[2], paired) if kind == 3 else combination[::-1]

    order = sorted(combinations(3, faces), key=height)
    places = {combination: place for place, combination in enumerate(order)}
    return frozen(np.array([places[combination] for combination in combinations(3, faces)]))
