"""421: cast three dice up to three times, put aside what you like, make a high combination.

Source: Pierre Albarede, *Fate stochastic management and policy benchmark in 421* (2024); equation
and section numbers are its.

A player casts D dice with F faces up to J times. After every cast it accumulates any of the dice
just cast; the others are cast again. The round ends when all dice are accumulated, at the latest
by the last cast. A *combination* is a set of faces with repetition, in growing order here. The
first player may stop early (the round lasts J_1 <= J casts); next players cast exactly J_1 times
and may not complete their combination earlier (9, 10).

That makes three games (``four_two_one_rounds``): a first player or a next player alone, whom a
utility pays, and a set of two players.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from itertools import combinations as subsets
from math import log2
from types import MappingProxyType
from typing import ClassVar, get_args

import numpy as np

from ...core.board import Row, dice_of
from ...core.checks import at_least, one_of
from ...core.dice import combinations, redundancy
from ...core.errors import InputError
from ...core.layout import Layout
from ...core.positions import states_of
from ...core.ranking import Combination, hierarchy
from ...core.sizes import Cost, check_sizes, choose, turn_cost
from ...core.turn import Turn
from ...core.turn_game import TurnGame
from ...core.types import Array, IntArray
from ...core.words import listed, ordinal, plural, spelled
from . import words
from .layout import layout
from .rounds import FirstPlayer, NextPlayer, TheSet, Tie, Utility, digest

MANY = 100  # dice, more than any limit allows


class FourTwoOne(TurnGame):
    """The rules of 421.

    A state is (faces accumulated, faces cast, casts made) and, in a set, (casts imposed, rank of
    the result to beat). An action says which of the dice just cast, in growing order, are
    accumulated: ``subsets[action]``. Of dice that show the same face the first ones go. Smaller
    actions take fewer dice, and of as many dice the lexicographically smaller faces: the order in
    which section 5.2 breaks ties.

    Args:
        dice: D, at least 1.
        faces: F, at least 2.
        casts: J, the most casts of a round, at least 1.
        utility: "transfer" (Table 5; three dice with at least four faces), "sum" of the faces,
            "goal:123" (1 for a combination, else 0), "goals:123,224,345" (1 for each of several),
            a function of (combination, casts made), a table of shape (combination, casts) with
            combinations as in ``combinations``, or "set" (two players, three dice).
        duration: None for a first player; for a next player, the casts it has to make.
        tie: in a set, whether equal combinations pay "half" or are "lost" by the second player.

    Attributes:
        subsets: which dice each action accumulates, counted from 0.
        combinations: all results, faces in growing order, in lexicographic order.
        utilities: fractions, shape (combination, casts); None in a set.
        ranks: with three dice, the place of each combination in (54), 0 the lowest.

    Raises:
        ValueError: if an argument is not in its range.
    """

    name: ClassVar[str] = "FourTwoOne"
    made_for_two = MappingProxyType({"utility": "set"})

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
        rules: type[FirstPlayer | NextPlayer | TheSet]
        if isinstance(utility, str) and utility == "set":
            rules = TheSet
        else:
            rules = FirstPlayer if self.duration is None else NextPlayer
        self.num_players = rules.num_players
        check_sizes(self)
        every_size = (subsets(range(self.dice), size) for size in range(self.dice + 1))
        self.subsets = list(chain.from_iterable(every_size))
        self.combinations = combinations(self.dice, self.faces)
        self.ranks = hierarchy(self.faces) if self.dice == 3 else None
        self._utility = utility if isinstance(utility, str) else None
        played = rules(self, utility)
        self.utilities: Array | None = played.utilities
        self._shown = repr(self._utility) if self._utility else digest(self.utilities)
        faces_seen = self.faces + 1
        observed = [
            *[(f"accumulated {i + 1}", faces_seen) for i in range(self.dice - 1)],
            *[(f"cast {i + 1}", faces_seen) for i in range(self.dice)],
            ("casts made", self.casts + 1),
            *played.known,
        ]
        super().__init__(played.legs(), self.num_players, observed)

    @staticmethod
    def cost(
        exact: bool,
        dice: float,
        faces: float,
        casts: float,
        duration: float | None,
        num_players: float,
    ) -> Cost:
        """Estimate what solving takes (see ``sizes``)."""
        dice, rounds = min(dice, MANY), casts if duration is None else duration
        held = range(int(dice))  # dice accumulated before a cast
        parts = [choose(size + faces - 1, size) for size in held]
        cast = [choose(dice - size + faces - 1, dice - size) for size in held]
        layer = sum(part * shown for part, shown in zip(parts, cast, strict=True))
        first, results = layer * (rounds - 1) + cast[0], cast[0]  # states, combinations
        following = layer * casts * (casts - 1) / 2 + casts * results if num_players > 1 else 0.0
        contexts = results * casts if num_players > 1 else 0.0  # of the second player
        game = turn_cost(
            exact=exact,
            players=num_players,
            states=first + following * results,
            actions=2**dice,
            seen=2 * dice + 2 * num_players,
            turn_states=first + following,
            layer=(sum(parts), layer),
            afterstates=sum(parts) * (first + following) / layer,
            rolls=results,
            contexts=(results if contexts else 1.0, 1 + contexts),
            results=results,
            bits=num_players * rounds * dice * log2(faces),
        )
        utilities = 0.0 if contexts else results * casts
        return Cost(
            game.states,
            game.memory + 400 * results + 150 * utilities,
            game.seconds + 1.5e-6 * (results + utilities),
        )

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

    # ------------------------------------------------------------------ the turn

    def turn(self, casts: int, imposed: bool) -> Turn:
        """Lay out a round of at most, or exactly, some casts.

        Afterstates are (casts made, faces accumulated). Results are the combinations; if the player
        is free to stop, those after one cast, then those after two, and so on.
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
            ValueError: if it is no combination of this game.
        """
        faces = tuple(sorted(int(digit) for digit in goal if digit in "123456789"))
        if faces not in self.combinations or len(goal) != self.dice:
            raise InputError(
                f"goal must be {self.dice} digits from 1 to {self.faces}, got {goal!r}"
            )
        return faces

    # ------------------------------------------------------------------ words

    def describe(self, observation: IntArray) -> str:
        """Say what was put aside and cast, how many casts there are, and what is to beat."""
        aside, cast = self._faces(observation)
        made, *known = (int(number) for number in observation[2 * self.dice - 1 :])
        imposed = known[0] if known and known[0] else self.duration
        which = f"{ordinal(made)} cast of {'at most ' if imposed is None else ''}"
        which += spelled(imposed or self.casts)
        if made == (imposed or self.casts):
            which = f"{ordinal(made)} and last cast" if made > 1 else "only cast"
        to_beat = f", {self.describe_rank(known[1])} to beat" if known and known[0] else ""
        return f"{in_words(aside)} put aside, rolled {in_words(cast)} on the {which}{to_beat}"

    def describe_action(self, action: int) -> str:
        """Say which dice are put aside."""
        dice = [f"{ordinal(die + 1)} lowest" if die else "lowest" for die in self.subsets[action]]
        if not dice:
            return "puts aside nothing"
        return f"puts aside the {listed(dice)} {plural(len(dice), 'die', 'dice')}"

    def describe_move(self, observation: IntArray, action: int) -> str:
        """Say which faces are put aside."""
        return f"puts aside {in_words(self._taken(observation, action))}"

    def tell(self, observation: IntArray, action: int, outcome: int) -> str:
        """Say the combination, too, and in how many casts it came, if no die is left."""
        move = self.describe_move(observation, action)
        result = [*self._faces(observation)[0], *self._taken(observation, action)]
        if len(result) < self.dice:
            return move
        made = int(observation[2 * self.dice - 1])
        return f"{move}: {in_words(result)} in {spelled(made)} {plural(made, 'cast')}"

    def describe_rank(self, rank: int) -> str:
        """Write the combination of a rank (54)."""
        return in_words(self._combination(rank))

    def _combination(self, rank: int) -> Combination:
        """Give the combination of a rank (54)."""
        assert self.ranks is not None
        return self.combinations[int(np.flatnonzero(self.ranks == rank)[0])]

    def _faces(self, observation: IntArray) -> tuple[list[int], list[int]]:
        """Give the faces put aside and those cast."""
        split, end = self.dice - 1, 2 * self.dice - 1
        aside, cast = observation[:split], observation[split:end]
        return [int(face) for face in aside if face], [int(face) for face in cast if face]

    def _taken(self, observation: IntArray, action: int) -> list[int]:
        """Give the faces that an action takes; an illegal one may mean dice that are not there."""
        cast = self._faces(observation)[1]
        return [cast[die] for die in self.subsets[action] if die < len(cast)]

    # -------------------------------------------------------------- the table

    def describe_rules(self) -> Iterable[str]:
        """Say how the game is played, a sentence at a time."""
        return words.rules(
            self.dice, self.faces, self.casts, self._utility, self.duration, self.tie
        )

    def layout(self, observations: IntArray) -> Layout:
        """Lay states out by the faces put aside and the casts made."""
        known = self.observe(states_of(self, 0), 0)
        return layout(observations, known, self.dice, self.faces, self.casts)

    @property
    def title(self) -> str:
        """What people call the game."""
        return "421"

    def board(self, seat: int, observation: IntArray, names: Sequence[str]) -> tuple[Row, ...]:
        """Show the dice cast, those put aside, and the result to beat."""
        aside, cast = self._faces(observation)
        made, *known = observation[2 * self.dice - 1 :].tolist()
        casts = self.duration or (known[0] if known else 0) or self.casts
        rows = [
            Row(f"cast {made} of {casts}", dice_of(cast, part=0), seat),
            Row("put aside", dice_of(aside[::-1]), seat),
        ]
        if known and known[0]:
            rows.append(Row("to beat", dice_of(self._combination(known[1])[::-1])))
        return tuple(rows)

    def parts(self, observation: IntArray, action: int) -> tuple[int, ...]:
        """Take the dice that are put aside."""
        return self.subsets[action]


def in_words(faces: Sequence[int]) -> str:
    """Write faces as players name them, in falling order."""
    return " ".join(map(str, sorted(faces, reverse=True))) or "nothing"
