"""The rules, states and moves of a match of the lowest-score game in words, and its board."""

from collections.abc import Iterator, Sequence
from types import MappingProxyType

from typing_extensions import override

from ...core.presentation import Layout, Note, Presentation, Row, Tokens, presents
from ...core.types import IntArray
from ...core.words import listed, plural, said_of, sentence, spelled, whose
from .match import LowestScoreMatch
from .presentation import LowestScorePresentation, still_to_play, to_come

#: The player who begins the next round, by the value of the keyword ``starter``.
STARTERS = {
    "winner": "the winner of a round begins the next one",
    "next": "the players take turns to begin a round, in the order of their seats",
    "same": "the same player begins every round",
}


@presents(LowestScoreMatch)
class LowestScoreMatchPresentation(Presentation[LowestScoreMatch]):
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

    def __init__(self, game: LowestScoreMatch) -> None:
        super().__init__(game)
        self.round = LowestScorePresentation(game.round)

    @property
    @override
    def title(self) -> str:
        length = "one round" if self.game.wins == 1 else f"first to {self.game.wins} rounds"
        return f"The lowest score, {length}"

    @override
    def describe_rules(self) -> Iterator[str]:
        yield from self.round.turn_rules()
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
        known = [int(number) for number in observation[1 + self.game.dice :]]
        (own, *others), (best, holder, after, seat) = (
            known[: self.game.players],
            known[self.game.players :],
        )
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
        turn = self.round.describe_turn(observation)
        return f"{so_far}{turn}, {to_beat}, {to_come(after)}"

    @override
    def look_at(self, observation: IntArray) -> str:
        *_, best, _, _, _ = (int(number) for number in observation)
        turn = self.round.look_at_turn(int(observation[0]))
        if best == self.game.nothing:
            return turn
        beats = "equal or beat" if self.game.tie == "last" else "beat"
        return f"{turn} The total to {beats} is {best}."

    @override
    def describe_action(self, action: int) -> str:
        return self.round.describe_action(action)

    @override
    def describe_move(self, observation: IntArray, action: int) -> str:
        return self.round.describe_move(observation, action)

    @override
    def tell(self, observation: IntArray, action: int, outcome: int) -> str:
        return self.round.tell(observation, action, outcome)

    @override
    def decided(
        self, seat: int, observation: IntArray, action: int, outcome: int, names: Sequence[str]
    ) -> str:
        total = self.round.total_after(observation, action)
        *_, best, holder, after, _ = (int(number) for number in observation)
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
        return sentence(f"{said}: {who} {said_of(who, 'wins')} the round")

    def _takes_it(self, total: int, best: int) -> bool:
        """Say whether a total takes the lead from the best total so far."""
        return total < best or (total == best and self.game.tie == "last")

    @override
    def layout(self, observations: IntArray) -> Layout:
        return self.round.layout(observations)

    @override
    def board(self, seat: int, observation: IntArray, names: Sequence[str]) -> tuple[Row, ...]:
        *_, best, holder, players_after, _ = (int(number) for number in observation)
        won = self._rounds_won(self._wins(seat, observation), names)
        owner = whose(names[(seat + holder) % self.game.players])
        lowest = "none yet" if best == self.game.nothing else f"{best}, {owner}"
        known = Row("lowest so far", (Note(lowest),))
        after = Row("still to play", (Note(still_to_play(players_after)),))
        return (*won, *self.round.turn_board(seat, observation), known, after)

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
        total = self.round.total_after(observation, action)
        assert total is not None  # the last move ends a turn
        *_, best, holder, _, _ = (int(number) for number in observation)
        winner = (seat + holder) % self.game.players
        if best == self.game.nothing or self._takes_it(total, best):
            best, winner = total, seat
        wins = self._wins(seat, observation)
        wins[winner] += 1
        turn = self.round.settled_turn(seat, observation, total)
        lowest = Row("lowest total", (Note(f"{best}, {whose(names[winner])}"),))
        return (*self._rounds_won(wins, names), *turn, lowest)

    @override
    def parts(self, observation: IntArray, action: int) -> tuple[int, ...]:
        return self.round.parts(observation, action)
