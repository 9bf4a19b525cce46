"""The rules, states and moves of Yahtzee in words, and its score sheet."""

from collections.abc import Iterator, Sequence
from types import MappingProxyType

import numpy as np
from typing_extensions import override

from ...core import Gauge, Group, IntArray, Layout, Note, Presentation, Row, Tile, presents
from ...core.presentation import dice_of
from ...core.words import listed, plural, spelled
from .card import BOXES, ENOUGH, MOST_POINTS, UPPER_BONUS, YAHTZEE
from .dice import DICE, FACES, KEEPS, dice
from .game import MORE, Yahtzee

#: Standard deviation of the points of optimal play with all boxes; computing it takes minutes.
DEVIATION = 59.6

#: Up to this number of open boxes, a description names the open boxes instead of the filled ones.
MANY = 3

#: What a box scores, in words.
WORTH = {
    "three_of_a_kind": "all dice, if three are of a kind",
    "four_of_a_kind": "all dice, if four are of a kind",
    "full_house": "25 for three of a kind and a pair",
    "small_straight": "30 for four in a row",
    "large_straight": "40 for five in a row",
    "yahtzee": "50 for five of a kind",
    "chance": "all dice",
}


def title_of(box: int) -> str:
    """Write the name of a box: "Full house"."""
    return BOXES[box].replace("_", " ").capitalize()


@presents(Yahtzee)
class YahtzeePresentation(Presentation[Yahtzee]):
    """The words and the score sheet; ``Yahtzee`` has the rules."""

    welcome = "Roll, keep the dice that you like, roll the others again, and fill your boxes."
    groups = (
        Group("open", "{} open?", counts=True),
        Group("dice", "dice of face {}", counts=True, is_roll=True),
    )
    verbs = (("keeps", "keep"), ("takes", "take"))
    options = MappingProxyType(
        {
            "joker": {
                "forced": "a joker must take its upper box if it is open",
                "free": "a joker may take any open box",
            }
        }
    )

    @property
    @override
    def deviation(self) -> float | None:
        return DEVIATION if len(self.game.chosen) == len(BOXES) else None

    # ------------------------------------------------------------------ the rules

    @override
    def describe_rules(self) -> Iterator[str]:
        boxes = self.game.chosen
        turns = f"{spelled(len(boxes))} {plural(len(boxes), 'turn')}"
        yield (
            f"You have {turns}. In a turn roll five dice, keep any and roll the others again, up "
            "to twice; then take a box that is open, or take it earlier."
        )
        above = [box for box in boxes if box < FACES]
        if above:
            names = listed(title_of(box) for box in above)
            yield f"{names} {plural(len(above), 'scores', 'score')} the sum of that face."
        if sum(MOST_POINTS[box] for box in above) >= ENOUGH:
            yield f"With {ENOUGH} points or more there, {UPPER_BONUS} more are paid."
        below = [f"{title_of(box)} scores {WORTH[BOXES[box]]}" for box in boxes if box >= FACES]
        if below:
            yield f"{'; '.join(below)}."
        if not self.game.bonus:
            yield "Five of a kind are no full house and no straight."
            return
        if YAHTZEE in self.game.chosen and len(self.game.chosen) > 1:
            yield (
                f"Each further Yahtzee is worth {self.game.bonus} more, if the box for it has 50."
            )
        yield (
            "Five of a kind are a joker once the box for a Yahtzee is filled: a full house or a "
            "straight if the upper box of their face is filled."
        )
        if self.game.joker == "forced":
            yield (
                "A joker must take that upper box if it is open, else a lower box, else any for 0."
            )
        else:
            yield "A joker may take any box."
        if len(self.game.chosen) < len(BOXES):
            yield "Boxes that are not played count as filled."

    # ------------------------------------------------------------------ states

    @override
    def describe(self, observation: IntArray) -> str:
        upper, holds, left = (int(number) for number in observation[len(BOXES) : -FACES])
        is_open = self._open(observation)
        turn = len(self.game.chosen) - len(is_open) + 1
        rolled = " ".join(map(str, _faces(observation[-FACES:])))
        words = f"rolled {rolled} in turn {turn} with {self._open_in_words(observation)} open"
        words += f", {spelled(left)} {plural(left, 'roll')} left"
        if any(box < FACES for box in self.game.chosen):
            words += f", {upper} upper {plural(upper, 'point')}"
        return f"{words}, a further Yahtzee paid" if holds else words

    def _open(self, observation: IntArray) -> list[int]:
        """List the open boxes."""
        return np.flatnonzero(observation[: len(BOXES)]).tolist()

    def _open_in_words(self, observation: IntArray) -> str:
        """Name the open boxes, or the others if these are fewer."""
        is_open = self._open(observation)
        filled = [box for box in self.game.chosen if box not in is_open]
        if len(is_open) <= max(len(filled), MANY):
            return listed(map(title_of, is_open))
        return f"all boxes but {listed(map(title_of, filled))}" if filled else "all boxes"

    @override
    def look_at(self, observation: IntArray) -> str:
        upper, _, left = (int(number) for number in observation[len(BOXES) : -FACES])
        rolls = f"{spelled(left).capitalize()} {plural(left, 'roll')} left"
        points = f"{upper} of {ENOUGH} upper points for the bonus"
        return f"Open: {self._open_in_words(observation)}. {rolls}; {points}."

    # ------------------------------------------------------------------ moves

    @override
    def describe_action(self, action: int) -> str:
        if action >= KEEPS:
            return f"takes {title_of(action - KEEPS)}"
        return f"keeps {' '.join(map(str, _faces(dice().counts[action]))) or 'nothing'}"

    @override
    def tell(self, observation: IntArray, action: int, outcome: int) -> str:
        words = self.describe_action(action)
        if action < KEEPS:
            return words
        states = self.game.encode(observation[None])
        zero = np.zeros(1, dtype=np.int64)
        move = self.game.advance(zero, states, np.array([action]), zero)
        paid = int(move.payoffs[0, 0])
        return f"{words} for {paid} {plural(paid, 'point')}"

    # ----------------------------------------------------------------- the score sheet and maps

    @override
    def layout(self, observations: IntArray) -> Layout:
        turns = len(self.game.chosen)
        return Layout(
            x_label="turn",
            y_label="roll",
            column=turns - observations[:, : len(BOXES)].sum(axis=1),
            row=observations[:, len(BOXES) + 2],
            columns=[str(turn + 1) for turn in range(turns)],
            rows=[str(MORE + 1 - left) for left in range(MORE + 1)],
        )

    @override
    def board(self, seat: int, observation: IntArray, names: Sequence[str]) -> tuple[Row, ...]:
        upper, holds, left = (int(number) for number in observation[len(BOXES) : -FACES])
        rows = [
            Row(f"roll {MORE + 1 - left} of {MORE + 1}", dice_of(_faces(observation[-FACES:]), 0))
        ]
        is_open = self._open(observation)
        for label, boxes in (("above", range(FACES)), ("below", range(FACES, len(BOXES)))):
            tiles = [
                Tile(box, box in is_open, DICE + box, title_of(box))
                for box in boxes
                if box in self.game.chosen
            ]
            if tiles:
                rows.append(Row(label, tuple(tiles), seat))
        if any(box < FACES for box in self.game.chosen):
            rows.append(Row("upper points", (Gauge(upper, ENOUGH),), seat))
        if holds:
            rows.append(Row("next Yahtzee", (Note(f"{self.game.bonus} more"),), seat))
        return tuple(rows)

    @override
    def settled(
        self, seat: int, observation: IntArray, action: int, outcome: int, names: Sequence[str]
    ) -> tuple[Row, ...]:
        after, box = observation.copy(), action - KEEPS
        after[box] = 0
        if box < FACES:
            counted = int(observation[-FACES + box]) * (box + 1)
            after[len(BOXES)] = min(ENOUGH, int(observation[len(BOXES)]) + counted)
        return tuple(row for row in self.board(seat, after, names) if row.pieces)

    @override
    def parts(self, observation: IntArray, action: int) -> tuple[int, ...]:
        if action >= KEEPS:
            return (DICE + action - KEEPS,)
        rolled = observation[-FACES:]
        kept = np.minimum(dice().counts[action], rolled)  # illegal actions keep others, too
        firsts = zip((np.cumsum(rolled) - rolled).tolist(), kept.tolist(), strict=True)
        return tuple(first + i for first, count in firsts for i in range(count))


def _faces(counts: IntArray) -> list[int]:
    """List the faces of dice in growing order from the count of each face."""
    return np.repeat(np.arange(1, FACES + 1), counts).tolist()
