"""The turn of 421: its casts, its actions, and both as tables."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from itertools import combinations as subsets

import numpy as np

from ...core.dice import combinations, redundancy
from ...core.errors import InputError
from ...core.sizes import bounded, choose
from ...core.turn import Turn
from ...core.types import IntArray
from .ranking import Combination, hierarchy

MANY = 100  # dice; every limit on sizes is lower


@dataclass(frozen=True)
class Casting:
    """Dice that are cast a number of times.

    Attributes:
        dice: number of dice.
        faces: faces of each die.
        casts: the largest number of casts.
    """

    dice: int
    faces: int
    casts: int

    def count(self, in_set: bool, duration: int | None = None) -> tuple[float, float]:
        """Count the states of a round and the entries of its tables before they are made.

        Args:
            in_set: whether two players play, as in a set.
            duration: the number of casts that the only player must make; None for up to ``casts``.
        """
        faces, casts, rounds = bounded(self.faces, self.casts, duration or self.casts)
        dice = min(self.dice, MANY)
        parts = [choose(size + faces - 1, size) for size in range(dice + 1)]
        results = parts[-1]
        layer = sum(parts[size] * parts[dice - size] for size in range(dice))  # after a cast
        states = layer * (rounds - 1) + results
        following = layer * casts * (casts - 1) / 2 + casts * results
        turns, contexts = states + following * in_set, results if in_set else 1
        tables = turns * 2**dice + results * casts * contexts
        return states + following * results * in_set, tables

    @cached_property
    def subsets(self) -> list[tuple[int, ...]]:
        """The dice that each action accumulates, counted from 0."""
        sizes = range(self.dice + 1)
        return list(chain.from_iterable(subsets(range(self.dice), size) for size in sizes))

    @cached_property
    def combinations(self) -> list[Combination]:
        """All results, as faces in growing order, in lexicographic order."""
        return combinations(self.dice, self.faces)

    @cached_property
    def ranks(self) -> IntArray | None:
        """The rank of each combination of three dice by (54), 0 the lowest; else None."""
        return hierarchy(self.faces) if self.dice == 3 else None

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
        """Read a combination written as digits, such as 421.

        Raises:
            InputError: if the text is no combination of these dice.
        """
        faces = tuple(sorted(int(digit) for digit in goal if digit in "123456789"))
        if faces not in self.combinations or len(goal) != self.dice:
            raise InputError(
                f"goal must be {self.dice} digits from 1 to {self.faces}, got {goal!r}"
            )
        return faces

    def turn(self, casts: int, imposed: bool) -> Turn:
        """Return the tables of a turn.

        Afterstates are (casts made, faces accumulated). Results are the combinations; if the player
        may stop early, the combinations after one cast, then those after two casts, and so on.

        Args:
            casts: the largest number of casts.
            imposed: whether the player must make all casts.
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
