"""Shut the Box: close tiles that add up to the roll; the lowest sum left open wins.

Source: the notes *V(initial)*, one page on the two-player game as a pair of decision problems. A
player begins with all tiles open. It rolls and closes a set of open tiles whose sum is the roll;
this is compulsory if there is such a set, else its turn ends and its score is the sum of its open
tiles. A player with no tile left open has shut the box and ends its turn with 0. The second player
plays against the first one's score: lower wins 1, equal pays 1/2.

The notes have two rules for a first player who shuts the box. By their recursion for V_1 the first
player has won at once (``shut_wins``); by their first line, the second player may still tie by
shutting the box, too. In the recursion one die is rolled if the open sum is at most 6, else two.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, combinations
from typing import ClassVar, Literal, get_args

import numpy as np

from ...core import Array, InputError, Leg, Turn, TurnGame, at_least, one_of
from ...core.dice import sum_counts
from ...core.sizes import check_states

Objective = Literal["win", "sum", "shut"]
MAX_TILES = 12


class ShutTheBox(TurnGame):
    """The rules of Shut the Box.

    A state is (open tiles, roll, score to beat or none). An action is a set of tiles to close,
    ``sets[action]``. The empty set is legal if no open tiles add up to the roll, and ends the turn.

    Args:
        tiles: tiles 1, ..., ``tiles``, at least 1 and at most 12.
        dice: number of dice, at least 1.
        sides: sides of each die, at least 2.
        one_die: "sum<=6", or another number: a player rolls one die while its open tiles have at
            most this sum; "never": a player always rolls all dice.
        shut_wins: whether a first player who shuts the box has won; if not, the second player may
            still tie.
        objective: "win" (two players); for one player, "sum" pays minus the sum left open and
            "shut" pays 1 for shutting the box.

    Attributes:
        sets: the sets of tiles that an action may close, by growing sum, then lexicographically.
        max_score: sum of all tiles.

    Raises:
        ValueError: if an argument is not in its range.
    """

    name: ClassVar[str] = "ShutTheBox"

    def __init__(
        self,
        tiles: int = 9,
        dice: int = 2,
        sides: int = 6,
        one_die: str = "sum<=6",
        shut_wins: bool = True,
        objective: Objective = "win",
    ) -> None:
        self.tiles = at_least("tiles", tiles, 1, MAX_TILES)
        self.dice = at_least("dice", dice, 1)
        self.sides = at_least("sides", sides, 2)
        self.one_die = one_die
        found = re.fullmatch(r"sum<=(\d{1,9})", one_die) if isinstance(one_die, str) else None
        if found is None and one_die != "never":
            raise InputError(f"one_die must be 'never', or 'sum<=' and a number, got {one_die!r}")
        self.largest_one_die_sum = -1 if found is None else int(found[1])
        if not isinstance(shut_wins, bool):
            raise InputError(f"shut_wins must be True or False, got {shut_wins!r}")
        self.shut_wins = shut_wins
        self.objective: Objective = one_of("objective", objective, get_args(Objective))
        self.max_score = self.tiles * (self.tiles + 1) // 2
        sums, numbers = self.dice * self.sides, range(1, self.tiles + 1)
        every = chain.from_iterable(combinations(numbers, size) for size in numbers)
        closable = [chosen for chosen in every if sum(chosen) <= sums]
        self.sets = [(), *sorted(closable, key=lambda chosen: (sum(chosen), chosen))]
        states = 2**self.tiles * (sums + 1)
        contexts = 1 + (self.max_score + 1) * (self.objective == "win")
        check_states(self, states * contexts, states * len(self.sets) + sums * sums)
        turn = self._turn()
        observed = [
            *[(f"tile {tile} open?", 2) for tile in numbers],
            ("roll", sums + 1),
            ("score to beat", self.max_score + 2),
        ]
        legs = list(self._legs(turn))
        super().__init__(legs, len(legs), observed)

    def num_dice(self, open_sum: int) -> int:
        """Return the number of dice that a player rolls with a sum of open tiles."""
        return 1 if open_sum <= self.largest_one_die_sum else self.dice

    def _turn(self) -> Turn:
        """Return the tables of a turn: afterstates are sets of open tiles, results their sums."""
        tiles = np.arange(self.tiles)
        bits = np.arange(2**self.tiles)
        is_open = bits[:, None] >> tiles & 1  # (set, tile); bit i of a set's number is tile i + 1
        sums, sizes = (is_open * (tiles + 1)).sum(axis=1), is_open.sum(axis=1)
        afterstates = bits[np.argsort(-sizes, kind="stable")][:-1]  # all but the empty set
        number = np.empty(len(bits), dtype=np.int32)  # small, as tables of the turn are large
        number[afterstates] = np.arange(len(afterstates))
        number[0] = 0  # the result of a shut box
        one, many = sum_counts(1, self.sides), sum_counts(self.dice, self.sides)
        rolls = np.array([many, one + [0] * (len(many) - len(one))], dtype=object)
        single = np.array([self.num_dice(int(total)) == 1 for total in sums[afterstates]])
        law = np.where(single, int(self.dice > 1), 0)
        before, roll = np.nonzero((rolls > 0)[law])  # of each state
        chosen = np.array([sum(1 << tile - 1 for tile in tiles) for tiles in self.sets], np.int32)
        open_tiles = afterstates[before][:, None].astype(np.int32)
        left = open_tiles & ~chosen  # (state, action)
        legal = ((open_tiles & chosen) == chosen) & (sums[chosen] == roll[:, None])
        leads_to, ends = number[left] * legal, legal & (left == 0)
        stuck = ~legal.any(axis=1)
        legal[stuck, 0] = ends[stuck, 0] = True
        leads_to[stuck, 0] = sums[afterstates[before[stuck]]]
        seen = np.concatenate([open_tiles >> tiles & 1, roll[:, None]], axis=1)
        layers = self.tiles - sizes[afterstates]
        return Turn(rolls, layers, law, legal, ends, leads_to, seen, self.max_score + 1)

    def _legs(self, turn: Turn) -> Iterator[Leg]:
        """Yield the leg of each player; the second player's contexts are the scores to beat."""
        scores: Array = np.arange(self.max_score + 1)
        none = np.array([[self.max_score + 1]])
        ended = np.zeros((len(scores), 1), dtype=np.int64)
        settled = np.ones((len(scores), 1, 1), dtype=bool)
        if self.objective != "win":
            paid = (-scores if self.objective == "sum" else scores == 0) * Fraction(1)
            yield Leg(0, turn, none, ended, paid[:, None, None], settled)
            return
        following = 1 + scores[:, None]  # contexts of the second leg come after the only one here
        decided = np.zeros((len(scores), 1, 2), dtype=bool)
        decided[0] = self.shut_wins
        wins = decided * np.array([Fraction(1), Fraction(0)])
        yield Leg(0, turn, none, following, wins, decided)
        halves = 1 + np.sign(scores - scores[:, None])  # (own score, score to beat)
        amounts = np.array([Fraction(half, 2) for half in range(3)])
        payoffs = amounts[np.stack([2 - halves, halves], axis=-1)]
        everyone = np.ones(payoffs.shape, dtype=bool)
        yield Leg(1, turn, scores[:, None], np.zeros_like(halves), payoffs, everyone)
