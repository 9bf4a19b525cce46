"""The rules, states and moves of a turn or a set of 421 in words, and its board."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType

import numpy as np
from typing_extensions import override

from ...core import Group, IntArray, Layout, Presentation, Row, presents
from ...core.dice import combinations
from ...core.positions import states_of
from ...core.presentation import dice_of
from ...core.words import (
    dice_words,
    either,
    listed,
    ordinal,
    plural,
    sentence,
    spelled,
    times,
    up_to,
    whose,
)
from .game import Combination, FourTwoOne, hierarchy, kind_of, tokens

SOME = 6  # combinations in a row of a table
#: Kinds of combinations in words (see ``kind_of``).
KINDS = ["", "all others", "sequences", "two ones or three equal", "next", "highest"]
#: The result of equal combinations in a set, by the value of the keyword ``tie``.
TIES = {
    "half": "equal ones are half a win for both",
    "lost": "of equal ones the first player's wins",
}


@presents(FourTwoOne)
class FourTwoOnePresentation(Presentation[FourTwoOne]):
    """The words and the board of a turn or a set; ``FourTwoOne`` has the rules."""

    title = "421"
    welcome = "Cast the dice, put aside those that you like, and cast the others again."
    groups = (Group("accumulated", "accumulated {}"), Group("cast", "cast {}", is_roll=True))
    verbs = (("puts", "put"),)
    made_for_two = MappingProxyType({"utility": "set"})
    options = MappingProxyType(
        {
            "utility": {
                "transfer": "the tokens that the dice are worth",
                "sum": "the sum of the faces",
                "goal:421": "1 for 4 2 1, else nothing",
                "set": "two players: the higher combination wins",
            },
            "tie": TIES,
        }
    )

    @override
    def describe_rules(self) -> Iterator[str]:
        if self.game.duration is None:
            yield from turn_rules(self.game.dice, self.game.faces, self.game.casts)
        else:
            dice = dice_words(self.game.dice, self.game.faces)
            yield f"Cast {dice} exactly {times(self.game.duration)}."
            if self.game.duration > 1 and self.game.dice == 1:
                yield "Only the last cast counts."
            elif self.game.duration > 1:
                yield (
                    "After each cast put aside, for good, any of the dice just cast, but leave at "
                    "least one die for the next cast; the others are cast again."
                )
        yield from self._payoff_rules()

    def _payoff_rules(self) -> Iterator[str]:
        """Yield the sentences about payoffs."""
        kind, _, goals = (self.game._utility or "").partition(":")
        if kind == "set":
            if self.game.casts > 1:
                yield "The first player may stop earlier; the second has to cast exactly as often."
            yield f"The higher combination wins; {TIES[self.game.tie]}."
            yield ranking_rule(self.game.faces)
        elif kind == "transfer":
            yield f"You are paid what the dice are worth: {worth_rule(self.game.faces, 10)}"
        elif kind == "sum":
            yield f"You are paid the {'sum of the faces' if self.game.dice > 1 else 'face'}."
        elif goals:
            counts = Counter("".join(sorted(goal, reverse=True)) for goal in goals.split(","))
            paid: dict[int, list[str]] = {}  # goals by payoff; one that is listed twice pays 2
            for goal, payoff in counts.items():
                paid.setdefault(payoff, []).append(goal)
            each = (f"{payoff} for {either(paid[payoff])}" for payoff in sorted(paid))
            yield f"You are paid {listed(each)}, else nothing."
        elif self.game.duration is None and self.game.casts > 1:
            yield "What you are paid depends on the faces and on how often you have cast."
        else:
            yield f"What you are paid depends on the {plural(self.game.dice, 'face')}."

    @override
    def worth_table(self) -> Sequence[tuple[str, str]]:
        if self.game._utility == "transfer":
            return worth_table(self.game.faces, 10)
        if self.game._utility != "set":
            return ()
        by_kind = _from_the_best(self.game.faces, kind_of)
        return [(_some(found), KINDS[kind]) for kind, found in by_kind.items()]

    @override
    def describe(self, observation: IntArray) -> str:
        aside, cast = self._faces(observation)
        made, *known = observation[2 * self.game.dice - 1 :].tolist()
        imposed = known[0] if known and known[0] else self.game.duration
        which = f"{ordinal(made)} cast of {'at most ' if imposed is None else ''}"
        which += spelled(imposed or self.game.casts)
        if made == (imposed or self.game.casts):
            which = f"{ordinal(made)} and last cast" if made > 1 else "only cast"
        to_beat = f", {self.describe_rank(known[1])} to beat" if known and known[0] else ""
        return f"{in_words(aside)} put aside, rolled {in_words(cast)} on the {which}{to_beat}"

    def describe_rank(self, rank: int) -> str:
        """Write the combination of a rank (54)."""
        return in_words(self._combination(rank))

    def _combination(self, rank: int) -> Combination:
        """Return the combination of a rank (54)."""
        assert self.game.ranks is not None
        return self.game.combinations[int(np.flatnonzero(self.game.ranks == rank)[0])]

    def _faces(self, observation: IntArray) -> tuple[list[int], list[int]]:
        """Return the faces put aside and the faces just cast."""
        split, end = self.game.dice - 1, 2 * self.game.dice - 1
        aside, cast = observation[:split], observation[split:end]
        return [int(face) for face in aside if face], [int(face) for face in cast if face]

    @override
    def describe_action(self, action: int) -> str:
        dice = [
            f"{ordinal(die + 1)} lowest" if die else "lowest" for die in self.game.subsets[action]
        ]
        if not dice:
            return "puts aside nothing"
        return f"puts aside the {listed(dice)} {plural(len(dice), 'die', 'dice')}"

    @override
    def describe_move(self, observation: IntArray, action: int) -> str:
        return f"puts aside {in_words(self._taken(observation, action))}"

    @override
    def tell(self, observation: IntArray, action: int, outcome: int) -> str:
        move, result = self.describe_move(observation, action), self.result_of(observation, action)
        if result is None:
            return move
        made = int(observation[2 * self.game.dice - 1])
        return f"{move}: {in_words(result)} in {spelled(made)} {plural(made, 'cast')}"

    def result_of(self, observation: IntArray, action: int) -> Combination | None:
        """Return the combination of a turn after the move that ends it, None after any other."""
        result = [*self._faces(observation)[0], *self._taken(observation, action)]
        return tuple(sorted(result)) if len(result) == self.game.dice else None

    @override
    def decided(
        self, seat: int, observation: IntArray, action: int, outcome: int, names: Sequence[str]
    ) -> str:
        result = self.result_of(observation, action)
        if result is None:
            return ""
        if self.game.num_players == 1:
            numbers = seat, int(self.game.encode(observation[None])[0]), action, outcome
            move = self.game.advance(*(np.array([number]) for number in numbers))
            return sentence(f"{in_words(result)} pays {move.payoffs[0, 0]:g}")
        compared = self.compared(seat, observation, result, names)
        if " equals " in compared:
            compared = f"{compared}: {TIES[self.game.tie]}"
        return sentence(compared) if compared else ""

    def compared(
        self, seat: int, observation: IntArray, result: Combination, names: Sequence[str]
    ) -> str:
        """Compare the combinations of a set; empty if there is none to beat yet."""
        casts, rank = observation[-2:].tolist()
        if not casts:
            return ""
        assert self.game.ranks is not None
        above = int(self.game.ranks[self.game.combinations.index(result)]) - rank
        mine = f"{whose(names[seat])} {in_words(result)}"
        theirs = f"{whose(names[1 - seat])} {self.describe_rank(rank)}"
        if not above:
            return f"{mine} equals {theirs}"
        return f"{mine} beats {theirs}" if above > 0 else f"{theirs} beats {mine}"

    def _taken(self, observation: IntArray, action: int) -> list[int]:
        """Return the faces that an action takes; dice that were not cast are left out."""
        cast = self._faces(observation)[1]
        return [cast[die] for die in self.game.subsets[action] if die < len(cast)]

    @override
    def layout(self, observations: IntArray) -> Layout:
        dice, faces = self.game.dice, self.game.faces
        of_first = self.game.observe(states_of(self.game, 0), 0)
        aside = np.unique(of_first[:, : dice - 1], axis=0)  # (column, die), few faces first
        aside = aside[np.argsort((aside > 0).sum(axis=1), kind="stable")]
        places = (faces + 1) ** np.arange(dice - 1)  # faces as digits of a number
        column = np.full((faces + 1) ** (dice - 1), -1)
        column[(aside * places).sum(axis=1)] = np.arange(len(aside))
        names = ["".join(str(face) for face in put if face) for put in aside.tolist()]
        return Layout(
            x_label="faces put aside",
            y_label="casts made",
            column=column[(observations[:, : dice - 1] * places).sum(axis=1)],
            row=observations[:, 2 * dice - 1] - 1,
            columns=[name or "none" for name in names],
            rows=[str(number + 1) for number in range(self.game.casts)],
        )

    @override
    def board(self, seat: int, observation: IntArray, names: Sequence[str]) -> tuple[Row, ...]:
        aside, cast = self._faces(observation)
        made, *known = observation[2 * self.game.dice - 1 :].tolist()
        casts = self.game.duration or (known[0] if known else 0) or self.game.casts
        rows = [
            Row(f"cast {made} of {casts}", dice_of(cast, part=0), seat),
            Row("put aside", dice_of(aside[::-1]), seat),
        ]
        if known and known[0]:
            rows.append(Row("to beat", dice_of(self._combination(known[1])[::-1])))
        return tuple(rows)

    @override
    def settled(
        self, seat: int, observation: IntArray, action: int, outcome: int, names: Sequence[str]
    ) -> tuple[Row, ...]:
        result = self.result_of(observation, action)
        assert result is not None  # the last move ends a turn
        dice = dice_of(result[::-1])
        if self.game.num_players == 1:
            return (Row("put aside", dice, seat),)
        to_beat = dice_of(self._combination(int(observation[-1]))[::-1])
        return Row(names[seat], dice, seat), Row(names[1 - seat], to_beat, 1 - seat)

    @override
    def parts(self, observation: IntArray, action: int) -> tuple[int, ...]:
        return self.game.subsets[action]


def in_words(faces: Sequence[int]) -> str:
    """Write faces as players name them, in falling order: "4 2 1"."""
    return " ".join(map(str, sorted(faces, reverse=True))) or "nothing"


def turn_rules(dice: int, faces: int, casts: int) -> Iterator[str]:
    """Yield the sentences about a turn of at most ``casts`` casts."""
    yield f"Cast {dice_words(dice, faces)} {up_to(casts)}."
    if casts > 1 and dice == 1:
        yield "After each cast put the die aside, for good, or cast it again."
    elif casts > 1:
        yield (
            "After each cast put aside, for good, any of the dice just cast; the others are cast "
            "again."
        )


def ranking_rule(faces: int) -> str:
    """Write the order of combinations of three dice."""
    order = ["421"] * (faces >= 4) + ["111"]
    order += ["two ones with another face or three equal faces, by that face, the ones first"]
    order += ["sequences by their highest faces"] * (faces >= 3)
    order += ["all others by their highest faces"]
    return f"From high to low: {', then '.join(order)}."


def worth_rule(faces: int, four_two_one: int) -> str:
    """Write the worth of combinations of three dice in tokens."""
    parts = [f"421 is worth {four_two_one} {plural(four_two_one, 'token')}"] * (faces >= 4)
    parts += ["111 is worth 7 tokens"]
    parts += ["two ones with another face, or three equal faces, are worth that face"]
    parts += ["a sequence is worth 2"] * (faces >= 3)
    return f"{'; '.join(parts)}; all else is worth 1."


def worth_table(faces: int, four_two_one: int) -> list[tuple[str, str]]:
    """List combinations of three dice by their worth in tokens, the best first."""
    by_worth = _from_the_best(faces, lambda combination: tokens(combination, four_two_one))
    return [
        (_some(by_worth[many]) if many > 1 else "all others", f"{many} {plural(many, 'token')}")
        for many in sorted(by_worth, reverse=True)
    ]


def _from_the_best(
    faces: int, number: Callable[[Combination], int]
) -> dict[int, list[Combination]]:
    """Group the combinations of three dice by a number of each, from the highest down."""
    groups: dict[int, list[Combination]] = {}
    ranked = zip(hierarchy(faces).tolist(), combinations(3, faces), strict=True)
    for _, combination in sorted(ranked, reverse=True):
        groups.setdefault(number(combination), []).append(combination)
    return groups


def _some(found: Sequence[Combination]) -> str:
    """Write combinations one after the other, of many the first two and the last."""
    words = [in_words(combination) for combination in found]
    if len(words) > SOME:
        words = [*words[:2], "...", words[-1]]
    return ", ".join(words).replace(", ...,", " ...")
