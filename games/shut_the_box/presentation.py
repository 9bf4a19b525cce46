"""The rules, states and moves of Shut the Box in words, and its board."""

from collections.abc import Iterator, Sequence
from types import MappingProxyType

import numpy as np
from typing_extensions import override

from ...core import Group, IntArray, Layout, Note, Presentation, Row, Tile, presents
from ...core.dice import dice_with_sum
from ...core.words import dice_words, said_of, sentence
from .game import ShutTheBox


@presents(ShutTheBox)
class ShutTheBoxPresentation(Presentation[ShutTheBox]):
    """The words and the board of Shut the Box; ``ShutTheBox`` has the rules."""

    title = "Shut the Box"
    welcome = "Close tiles that add up to your roll: the fewer points stay open, the better."
    groups = (Group("open", "tile {} open?", counts=True),)
    verbs = (("closes", "close"), ("ends", "end"))
    made_for_two = MappingProxyType({"objective": "win"})
    options = MappingProxyType(
        {
            "one_die": {
                "sum<=6": "one die once the open tiles add up to 6 or less",
                "never": "all dice always",
            },
            "shut_wins": {
                True: "a first player who closes all tiles has won",
                False: "the second player may still close all tiles, too",
            },
            "objective": {
                "win": "two players: the lower sum left open wins",
                "sum": "alone: leave a low sum open",
                "shut": "alone: close all tiles",
            },
        }
    )

    @override
    def describe_rules(self) -> Iterator[str]:
        shown = "The tile 1 is" if self.game.tiles == 1 else f"The tiles 1 to {self.game.tiles} are"
        dice = dice_words(self.game.dice, self.game.sides)
        yield (
            f"{shown} open. Roll {dice}, and close open tiles that add up to "
            "the roll, as long as that is possible."
        )
        if self.game.largest_one_die_sum > 0 and self.game.dice > 1:
            yield (
                f"While the open tiles add up to at most {self.game.largest_one_die_sum}, only one "
                "die is rolled."
            )
        if self.game.objective == "sum":
            yield "You are paid minus the sum left open."
        elif self.game.objective == "shut":
            yield "You win if you close all tiles."
        else:
            yield (
                "Two players have one turn each; the lower sum left open wins, equal sums are "
                "half a win for both."
            )
            if self.game.shut_wins:
                yield "A first player who closes all tiles has won at once."
            else:
                yield "If the first player closes all tiles, the second may still do the same."

    @override
    def describe(self, observation: IntArray) -> str:
        *tiles, roll, target = observation.tolist()
        is_open = " ".join(str(i + 1) for i, flag in enumerate(tiles) if flag)
        to_beat = "" if target > self.game.max_score else f", the other left {target} open"
        return f"open {is_open}, rolled {roll}{to_beat}"

    @override
    def describe_action(self, action: int) -> str:
        if not self.game.sets[action]:
            return "closes nothing and ends the turn"
        return f"closes {' '.join(map(str, self.game.sets[action]))}"

    @override
    def tell(self, observation: IntArray, action: int, outcome: int) -> str:
        left = self._left(observation, action)
        if self.game.sets[action] and left:
            return self.describe_action(action)
        result = f"a sum of {left} is left open" if left else "the box is shut"
        return f"{self.describe_action(action)}: {result}"

    def _left(self, observation: IntArray, action: int) -> int:
        """Return the sum of the tiles that a move leaves open."""
        is_open = 1 + np.flatnonzero(observation[: self.game.tiles])
        return int(is_open.sum()) - sum(self.game.sets[action])

    @override
    def decided(
        self, seat: int, observation: IntArray, action: int, outcome: int, names: Sequence[str]
    ) -> str:
        left, target = self._left(observation, action), int(observation[-1])
        if self.game.sets[action] and left:
            return ""
        who = names[seat]
        if target <= self.game.max_score:
            other = names[1 - seat]
            rule = "a tie" if left == target else "the lower sum wins"
            return sentence(f"{who} left {left} open, {other} {target}: {rule}")
        if not left:
            return sentence(f"{who} {said_of(who, 'shut', 'shuts')} the box")
        return "" if self.game.num_players > 1 else sentence(f"{who} left {left} open")

    @override
    def layout(self, observations: IntArray) -> Layout:
        numbers = np.arange(1, self.game.tiles + 1)
        return Layout(
            x_label="sum of the open tiles",
            y_label="roll",
            column=(observations[:, : self.game.tiles] * numbers).sum(axis=1),
            row=observations[:, -2],
        )

    @override
    def board(self, seat: int, observation: IntArray, names: Sequence[str]) -> tuple[Row, ...]:
        return self._rows(seat, observation, (), names)

    @override
    def settled(
        self, seat: int, observation: IntArray, action: int, outcome: int, names: Sequence[str]
    ) -> tuple[Row, ...]:
        return self._rows(seat, observation, self.parts(observation, action), names)

    def _rows(
        self, seat: int, observation: IntArray, closed: Sequence[int], names: Sequence[str]
    ) -> tuple[Row, ...]:
        """Return the board, with the dice of the last roll, after some tiles have been closed."""
        *tiles, roll, target = observation.tolist()
        before = sum(i + 1 for i, flag in enumerate(tiles) if flag)
        box = tuple(Tile(i + 1, bool(flag) and i not in closed, i) for i, flag in enumerate(tiles))
        left = sum(tile.number for tile in box if tile.is_open)
        dice = dice_with_sum(roll, self.game.num_dice(before), self.game.sides, *tiles)
        known = [Row("sum left open", (Note(str(left)),), seat)]
        if target <= self.game.max_score:
            known.append(Row(f"{names[1 - seat]} left", (Note(str(target)),), 1 - seat))
        return (Row("tiles", box, seat), Row("rolled", dice, seat), *known)

    @override
    def parts(self, observation: IntArray, action: int) -> tuple[int, ...]:
        return tuple(tile - 1 for tile in self.game.sets[action])
