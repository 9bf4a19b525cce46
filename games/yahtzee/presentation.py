"""The rules, states and moves of Yahtzee in words, and its score sheet."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from typing_extensions import override

from ...core import (
    Die,
    Gauge,
    Group,
    IntArray,
    Layout,
    Note,
    Piece,
    Presentation,
    Row,
    Tile,
    presents,
)
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

    welcome = (
        "Keep dice, roll the others again, fill your boxes: an open box shows what it pays now."
    )
    groups = (
        Group("open", "{} open?", counts=True),
        Group("dice", "dice of face {}", counts=True, is_roll=True),
    )
    verbs = (("keeps", "keep"), ("takes", "take"))
    does = MappingProxyType({"keep": "roll again", "take": "fill a box"})
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
        if sum(MOST_POINTS[box] for box in boxes if box < FACES) >= ENOUGH:
            yield f"With {ENOUGH} points or more in the upper boxes, {UPPER_BONUS} more are paid."
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

    @override
    def worth_table(self) -> Sequence[tuple[str, str]]:
        return [
            (title_of(box), WORTH.get(BOXES[box], f"the sum of the {BOXES[box]}"))
            for box in self.game.chosen
        ]

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

    # ------------------------------------------------------------------ moves

    @override
    def describe_action(self, action: int) -> str:
        if action >= KEEPS:
            return f"takes {title_of(action - KEEPS)}"
        return f"keeps {' '.join(map(str, _faces(dice().counts[action]))) or 'nothing'}"

    @override
    def describe_move(self, observation: IntArray, action: int) -> str:
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
        is_open, worth = self._open(observation), self._points(observation)
        for label, boxes in (("above", range(FACES)), ("below", range(FACES, len(BOXES)))):
            pieces: list[Tile | Gauge] = [
                Tile(box, box in is_open, DICE + box, title_of(box), worth.get(box))
                for box in boxes
                if box in self.game.chosen
            ]
            if pieces and label == "above":
                pieces.append(Gauge(upper, ENOUGH, name=f"bonus {UPPER_BONUS}"))
            if pieces:
                rows.append(Row(label, tuple(pieces), seat))
        if holds:
            rows.append(Row("next Yahtzee", (Note(f"{self.game.bonus} more"),), seat))
        return tuple(rows)

    def _points(self, observation: IntArray) -> dict[int, int]:
        """Return what the dice score in each box that they may take, without any bonus."""
        (state,) = self.game.encode(observation[None])
        if state < 0:  # all boxes are filled
            return {}
        boxes = np.flatnonzero(self.game.mask(np.array([state]))[0, KEEPS:])
        context, _, roll = self.game.locate(state)
        taken = self.game.contexts.take(context, roll, boxes)
        is_further = observation[len(BOXES) + 1] and observation[-FACES:].max() == DICE
        scored = taken.points - taken.upper_bonus - (self.game.bonus if is_further else 0)
        return dict(zip(boxes.tolist(), scored.tolist(), strict=True))

    @override
    def recorded(
        self, rows: Sequence[Row], moves: Sequence[tuple[IntArray, int]]
    ) -> tuple[Row, ...]:
        scored: dict[int, int] = {}
        kept = [0] * DICE  # by place on the table: the face of a die that was kept there, else 0
        for seen, action in moves:
            lying, before, kept = _lying(dice_of(_faces(seen[-FACES:])), kept), kept, [0] * DICE
            if action >= KEEPS:
                scored[action - KEEPS] = self._points(seen)[action - KEEPS]
                continue
            left = dice().counts[action].tolist()
            for place in sorted(range(DICE), key=lambda place: not before[place]):
                face = lying[place].face
                if left[face - 1]:
                    left[face - 1] -= 1
                    kept[place] = face
        return tuple(
            replace(row, pieces=_lying(row.pieces, kept))
            if isinstance(row.pieces[0], Die)
            else replace(row, pieces=tuple(_filled(piece, scored) for piece in row.pieces))
            for row in rows
        )

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


def _lying(rolled: Sequence[Piece], kept: Sequence[int]) -> tuple[Die, ...]:
    """Lay dice on the table: of each face that was kept one on its place, the others between."""
    others = [die for die in rolled if isinstance(die, Die)]
    laid: list[Die | None] = []
    for face in kept:
        own = next((die for die in others if die.face == face), None)
        if own is not None:
            others.remove(own)
        laid.append(own and replace(own, kept=True))
    return tuple(die or others.pop(0) for die in laid)


def _filled(piece: Piece, scored: Mapping[int, int]) -> Piece:
    """Write on a box what it has scored, if it is filled."""
    if not isinstance(piece, Tile) or piece.is_open:
        return piece
    return replace(piece, points=scored.get(piece.number))
