"""The rules, states and moves of the lowest-score game and of its match in words, and boards."""

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import TypeVar

from typing_extensions import override

from ...core import Group, IntArray, Layout, Note, Presentation, Row, Tokens, presents
from ...core.presentation import dice_of
from ...core.words import dice_words, listed, plural, said_of, sentence, spelled, whose
from .game import LowestScore
from .match import LowestScoreMatch

RulesT = TypeVar("RulesT", LowestScore, LowestScoreMatch)
#: The player who begins the next round, by the value of the keyword ``starter``.
STARTERS = {
    "winner": "the winner of a round begins the next one",
    "next": "the players take turns to begin a round, in the order of their seats",
    "same": "the same player begins every round",
}


class _OfTurns(Presentation[RulesT]):
    """The words and the board of one turn, in a round or in a match."""

    welcome = "Keep your lowest dice and roll the others again: the lowest total is the best."
    groups = (Group("dice", "die {}", is_roll=True),)
    verbs = (("keeps", "keep"),)

    @property
    def round(self) -> LowestScore:
        """A round, which has the turn."""
        return self.game if isinstance(self.game, LowestScore) else self.game.round

    def turn_rules(self) -> Iterator[str]:
        """Yield the sentences about one turn."""
        if self.game.dice == 1:
            yield f"Roll {dice_words(1, self.game.faces)} and keep it."
        else:
            yield (
                f"Roll {dice_words(self.game.dice, self.game.faces)}, keep one or more, always the "
                "lowest; roll the others again, until all are kept."
            )
        yield f"A die counts its face, but {_with_article(self.game.zero_face)} counts 0."

    def describe_turn(self, observation: IntArray) -> str:
        """Write the total kept and the dice rolled: "3 so far, rolled 3 1 (a 3 counts 0)"."""
        rolled = self._dice_of(observation)
        words = f"{observation[0]} so far, rolled {_faces(rolled)}"
        zero = self.game.zero_face
        return f"{words} ({_with_article(zero)} counts 0)" if zero in rolled else words

    def _dice_of(self, observation: IntArray) -> list[int]:
        """Return the faces rolled, in order of worth."""
        return [int(face) for face in observation[1 : 1 + self.game.dice] if face]

    @override
    def describe_action(self, action: int) -> str:
        return f"keeps the {f'{spelled(action + 1)} lowest dice' if action else 'lowest die'}"

    @override
    def describe_move(self, observation: IntArray, action: int) -> str:
        rolled = self._dice_of(observation)
        if action >= len(rolled):  # an illegal action
            return self.describe_action(action)
        return f"keeps {_faces(rolled[: action + 1])}"

    @override
    def tell(self, observation: IntArray, action: int, outcome: int) -> str:
        move, total = self.describe_move(observation, action), self.total_after(observation, action)
        return move if total is None else f"{move}: {total} in all"

    def total_after(self, observation: IntArray, action: int) -> int | None:
        """Return the total of a turn after the move that ends it, None after any other move."""
        rolled = self._dice_of(observation)
        if action + 1 < len(rolled):
            return None
        return int(observation[0]) + sum(self.round.worth[face - 1] for face in rolled)

    @override
    def layout(self, observations: IntArray) -> Layout:
        return Layout(
            x_label="total kept so far",
            y_label="dice just rolled",
            column=observations[:, 0],
            row=(observations[:, 1 : 1 + self.game.dice] > 0).sum(axis=1) - 1,
            rows=[str(number + 1) for number in range(self.game.dice)],
        )

    def settled_turn(self, seat: int, observation: IntArray, total: int) -> tuple[Row, Row]:
        """Return two rows of the board after a turn: the dice kept last, and the total."""
        dice = dice_of(self._dice_of(observation), special=self.game.zero_face)
        return Row("kept last", dice, seat), Row("total", (Note(str(total)),), seat)

    def turn_board(self, seat: int, observation: IntArray) -> tuple[Row, Row]:
        """Return two rows of the board: the dice rolled, and the total of the dice kept before."""
        dice = dice_of(self._dice_of(observation), part=0, special=self.game.zero_face)
        return Row("rolled", dice, seat), Row("kept so far", (Note(f"{observation[0]}"),), seat)

    def round_board(self, lowest: str, players_after: int) -> tuple[Row, Row]:
        """Return two rows of the board: the lowest total so far, and how many players follow."""
        after = f"{players_after} {plural(players_after, 'player')}" if players_after else "nobody"
        return Row("lowest so far", (Note(lowest),)), Row("still to play", (Note(after),))

    @override
    def parts(self, observation: IntArray, action: int) -> tuple[int, ...]:
        return tuple(range(action + 1))


@presents(LowestScore)
class LowestScorePresentation(_OfTurns[LowestScore]):
    """The words and the board of a round; ``LowestScore`` has the rules."""

    title = "The lowest score"
    made_for_two = MappingProxyType({"players": 2})
    options = MappingProxyType(
        {
            "objective": {
                "win": "win: everyone tied for lowest wins",
                "share": "win: everyone tied for lowest shares the win",
                "score": "a low total, whatever the others have",
            }
        }
    )

    @override
    def describe_rules(self) -> Iterator[str]:
        yield from self.turn_rules()
        alone = self.game.players == 1
        if not alone:
            yield f"{spelled(self.game.players)} players have one turn each."
        if self.game.objective == "score":
            yield "You are paid minus your total."
        elif alone:
            yield "You play alone, so that every total wins."
        elif self.game.objective == "win":
            yield "The lowest total wins; everyone tied for lowest wins."
        else:
            yield "The lowest total wins; everyone tied for lowest shares the win."

    @override
    def describe(self, observation: IntArray) -> str:
        turn = self.describe_turn(observation)
        if self.game.players == 1:
            return turn
        best, *tied, after = observation[1 + self.game.dice :].tolist()
        nothing, role = "nothing to beat yet", "to equal or beat"
        if self.game.objective == "score":  # no total beats another one
            nothing, role = "no total yet", "the lowest total so far"
        to_beat = nothing if best > self.game.max_score else f"{best} {role}"
        if tied and tied[0]:
            to_beat += f", which {spelled(tied[0])} {plural(tied[0], 'player has', 'players have')}"
        return f"{turn}, {to_beat}, {to_come(after)}"

    @override
    def decided(
        self, seat: int, observation: IntArray, action: int, outcome: int, names: Sequence[str]
    ) -> str:
        total, best = self.total_after(observation, action), int(observation[1 + self.game.dice])
        if total is None or best > self.game.max_score or self.game.objective == "score":
            return ""
        mine, lowest = f"{whose(names[seat])} {total}", "the lowest total so far"
        if total == best:
            return sentence(f"{mine} equals {lowest}")
        return sentence(f"{mine} {'beats' if total < best else 'does not beat'} {best}, {lowest}")

    @override
    def board(self, seat: int, observation: IntArray, names: Sequence[str]) -> tuple[Row, ...]:
        turn, best = self.turn_board(seat, observation), int(observation[1 + self.game.dice])
        if self.game.objective == "score" or self.game.players == 1:
            return turn
        lowest = "none yet" if best > self.game.max_score else str(best)
        return (*turn, *self.round_board(lowest, int(observation[-1])))

    @override
    def settled(
        self, seat: int, observation: IntArray, action: int, outcome: int, names: Sequence[str]
    ) -> tuple[Row, ...]:
        total, best = self.total_after(observation, action), int(observation[1 + self.game.dice])
        assert total is not None  # the last move ends a turn
        rows = self.settled_turn(seat, observation, total)
        if self.game.objective == "score" or self.game.players == 1:
            return rows
        return (*rows, Row("lowest total", (Note(str(min(total, best))),)))


@presents(LowestScoreMatch)
class LowestScoreMatchPresentation(_OfTurns[LowestScoreMatch]):
    """The words and the board of a match; ``LowestScoreMatch`` has the rules."""

    options = MappingProxyType(
        {
            "starter": STARTERS,
            "tie": {
                "first": "of equal totals the first to be rolled wins",
                "last": "of equal totals the last to be rolled wins",
            },
        }
    )

    @property
    @override
    def title(self) -> str:
        length = "one round" if self.game.wins == 1 else f"first to {self.game.wins} rounds"
        return f"The lowest score, {length}"

    @override
    def describe_rules(self) -> Iterator[str]:
        yield from self.turn_rules()
        yield f"{spelled(self.game.players)} players have one turn each in a round."
        won = f"The lowest total wins it; of equal totals the {self.game.tie} to be rolled wins"
        if self.game.wins == 1:
            yield f"{won}."
            yield "The winner of the round wins the match."
        else:
            yield f"{won}, and {STARTERS[self.game.starter]}."
            yield f"The first player who has won {spelled(self.game.wins)} rounds wins the match."

    @override
    def describe(self, observation: IntArray) -> str:
        known = observation[1 + self.game.dice :].tolist()
        own, *others = known[: self.game.players]
        best, holder, after, seat = known[self.game.players :]
        named = [f" of seat {(seat + i) % self.game.players}" for i in range(self.game.players)]
        if self.game.players == 2:  # there is one other player
            named = ["", ""]
        so_far = ""
        if self.game.wins > 1:
            theirs = listed(f"{won}{whose}" for won, whose in zip(others, named[1:], strict=True))
            so_far = f"{own} {plural(own, 'round')} won to {theirs}, "
        to_beat = "nothing to beat yet"
        if best != self.game.nothing:
            beats = "equal or beat" if self.game.tie == "last" else "beat"
            to_beat = f"{best}{named[holder]} to {beats}"
        turn = self.describe_turn(observation)
        return f"{so_far}{turn}, {to_beat}, {to_come(after)}"

    @override
    def decided(
        self, seat: int, observation: IntArray, action: int, outcome: int, names: Sequence[str]
    ) -> str:
        total = self.total_after(observation, action)
        *_, best, holder, after, _ = observation.tolist()
        if total is None or best == self.game.nothing:
            return ""
        other = (seat + holder) % self.game.players
        mine, theirs = f"{whose(names[seat])} {total}", f"{whose(names[other])} {best}"
        takes_it = self._takes_it(total, best)
        said = f"{mine} beats {theirs}" if takes_it else f"{mine} does not beat {theirs}"
        if total == best:
            said = f"{mine} equals {theirs}, and the {self.game.tie} to be rolled counts"
        if after:
            return sentence(said)
        who = names[seat if takes_it else other]
        return sentence(f"{said}: {who} {said_of(who, 'win', 'wins')} the round")

    def _takes_it(self, total: int, best: int) -> bool:
        """Say whether a total takes the lead from the best total so far."""
        return total < best or (total == best and self.game.tie == "last")

    @override
    def board(self, seat: int, observation: IntArray, names: Sequence[str]) -> tuple[Row, ...]:
        *_, best, holder, players_after, _ = observation.tolist()
        won = self._rounds_won(self._wins(seat, observation), names)
        owner = whose(names[(seat + holder) % self.game.players])
        lowest = "none yet" if best == self.game.nothing else f"{best}, {owner}"
        turn = self.turn_board(seat, observation)
        return (*won, *turn, *self.round_board(lowest, players_after))

    def _wins(self, seat: int, observation: IntArray) -> list[int]:
        """Return the rounds that each player has won, by seat."""
        players, first = self.game.players, 1 + self.game.dice
        return [int(observation[first + (player - seat) % players]) for player in range(players)]

    def _rounds_won(self, wins: Sequence[int], names: Sequence[str]) -> list[Row]:
        """Return a row for the rounds that each player has won."""
        if self.game.wins == 1:
            return []
        return [
            Row(name, (Tokens(wins[player], self.game.wins),), player)
            for player, name in enumerate(names)
        ]

    @override
    def settled(
        self, seat: int, observation: IntArray, action: int, outcome: int, names: Sequence[str]
    ) -> tuple[Row, ...]:
        total = self.total_after(observation, action)
        assert total is not None  # the last move ends a turn
        *_, best, holder, _, _ = observation.tolist()
        winner = (seat + holder) % self.game.players
        if best == self.game.nothing or self._takes_it(total, best):
            best, winner = total, seat
        wins = self._wins(seat, observation)
        wins[winner] += 1
        turn = self.settled_turn(seat, observation, total)
        lowest = Row("lowest total", (Note(f"{best}, {whose(names[winner])}"),))
        return (*self._rounds_won(wins, names), *turn, lowest)


def to_come(players_after: int) -> str:
    """Write the number of players still to come: "two players to come"."""
    if not players_after:
        return "nobody to come"
    return f"{spelled(players_after)} {plural(players_after, 'player')} to come"


def _with_article(face: int) -> str:
    """Write a face with its article: "a 3", "an 8", "an 11"."""
    return f"{'an' if str(face)[0] == '8' or face in (11, 18) else 'a'} {face}"


def _faces(faces: Sequence[int]) -> str:
    return " ".join(map(str, faces))
