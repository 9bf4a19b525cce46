"""The rules, states and moves of Greed in words, and its board."""

from collections.abc import Iterator, Sequence
from types import MappingProxyType

from typing_extensions import override

from ...core import Die, Gauge, IntArray, Layout, Note, Presentation, Row, presents
from ...core.dice import dice_with_sum
from ...core.words import dice_words, plural, said_of, sentence, whose
from .game import BUST, HIGHER, TIES, Greed

SHOWN = 30  # the largest number of dice that are drawn


@presents(Greed)
class GreedPresentation(Presentation[Greed]):
    """The words and the board of Greed; ``Greed`` has the rules."""

    welcome = "Roll as many dice as you dare: the higher score wins, unless it is above the limit."
    verbs = (("rolls", "roll"), ("stops", "stop"))
    options = MappingProxyType({"tie": {tie: ending.words for tie, ending in TIES.items()}})

    @override
    def describe_rules(self) -> Iterator[str]:
        most, sides = self.game.max_dice, self.game.sides
        if most == 0:
            yield "No dice may be rolled."
        elif most == 1:
            yield f"Roll {dice_words(1, sides)}, and add its number to your score."
        else:
            many = f"as many dice with {sides} {plural(sides, 'face')} as you like"
            many = many if most is None else f"up to {dice_words(most, sides)}"
            yield f"Roll {many}, all at once, and add the sum to your score."
        if most != 0:
            yield f"Above {self.game.max_score} you are bust and {BUST.words}."
        yield (
            f"Roll none, and the other player has one last turn; then {HIGHER.words}, and "
            f"{TIES[self.game.tie].words}."
        )

    @override
    def describe(self, observation: IntArray) -> str:
        own, other, last = observation.tolist()
        turn = ", the last turn as the other has stopped" if last else ""
        return f"{own} {plural(own, 'point')} to {other}{turn}"

    @override
    def describe_action(self, action: int) -> str:
        return f"rolls {action} {plural(action, 'die', 'dice')}" if action else "stops"

    @override
    def tell(self, observation: IntArray, action: int, outcome: int) -> str:
        if action == 0:
            return self.describe_action(action)
        total = int(observation[0]) + outcome
        bust = f", bust with {total}" if total > self.game.max_score else ""
        return f"{self.describe_action(action)}: {outcome}{bust}"

    @override
    def layout(self, observations: IntArray) -> Layout:
        column, row, panel = observations.T
        return Layout(
            x_label="own score",
            y_label="other's score",
            column=column,
            row=row,
            panel=panel,
            panels=("Normal turns", "Last turns"),
        )

    @override
    def board(self, seat: int, observation: IntArray, names: Sequence[str]) -> tuple[Row, ...]:
        own, other, last = observation.tolist()
        scores, who = self._scores(seat, own, other, names), names[1 - seat]
        if not last:
            return scores
        return (*scores, Row("last turn", (Note(f"{who} {said_of(who, 'have', 'has')} stopped"),)))

    def _scores(self, seat: int, own: int, other: int, names: Sequence[str]) -> tuple[Row, ...]:
        """Return a row for each player's score, and one for the player's dice."""
        points = (own, other) if seat == 0 else (other, own)
        limit = self.game.max_score
        one, two = (Gauge(own, limit, "bust") for own in points)
        first, second = Row(names[0], (one,), 0), Row(names[1], (two,), 1)
        return first, Row("", (), 0, rolled=True), second, Row("", (), 1, rolled=True)

    @override
    def settled(
        self, seat: int, observation: IntArray, action: int, outcome: int, names: Sequence[str]
    ) -> tuple[Row, ...]:
        own, other, _ = observation.tolist()
        return self._scores(seat, own + outcome, other, names)

    @override
    def decided(
        self, seat: int, observation: IntArray, action: int, outcome: int, names: Sequence[str]
    ) -> str:
        own, other, last = observation.tolist()
        total, them, limit = own + outcome, names[1 - seat], self.game.max_score
        mine, theirs = f"{whose(names[seat])} {total}", f"{whose(them)} {other}"
        if total > limit:
            return sentence(
                f"{mine} is above {limit}: {names[seat]} {said_of(names[seat], 'are', 'is')} bust"
            )
        if not last:
            return ""
        if total == other:
            return sentence(f"{mine} equals {theirs}: {TIES[self.game.tie].words}")
        return sentence(f"{mine} beats {theirs}" if total > other else f"{theirs} beats {mine}")

    @override
    def shown(self, observation: IntArray, action: int, outcome: int) -> tuple[Die, ...]:
        if action > SHOWN:
            return ()
        return dice_with_sum(outcome, action, self.game.sides, *observation.tolist())
