"""421: cast three dice up to three times, put aside what you like, make a high combination.

Source: Pierre Albarede, *Fate stochastic management and policy benchmark in 421* (2024), to which
the numbers of equations and sections belong.

A player casts D dice with F faces up to J times. After every cast it accumulates any of the dice
just cast; the others are cast again. The round ends when all dice are accumulated, at the latest
by the last cast. A *combination* is a set of faces with repetition, in growing order here. The
first player may stop early (the round lasts J_1 <= J casts); next players cast exactly J_1 times
and may not complete their combination earlier (9, 10).

There are three games of one round (``rounds``): a first player alone and a next player alone, paid
by a utility, and a set of two players.
"""

from collections.abc import Iterator
from typing import ClassVar, get_args

from ...core.checks import at_least, one_of
from ...core.errors import InputError
from ...core.sizes import check_states
from ...core.turn import Turn
from ...core.turn_game import TurnGame
from .ranking import Combination
from .rounds import Tie, Utility, digest, is_set, round_of
from .turn import Casting


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
