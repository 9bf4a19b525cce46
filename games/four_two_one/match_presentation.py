"""The rules, states and moves of a match of 421 in words, and its board."""

from collections.abc import Iterator, Sequence
from types import MappingProxyType

import numpy as np
from typing_extensions import override

from ...core import IntArray, Layout, Presentation, Row, Tokens, presents
from ...core.words import ordinal, plural, said_of, sentence, spelled, up_to
from .game import Combination
from .match import FourTwoOneMatch
from .presentation import (
    FourTwoOnePresentation,
    in_words,
    ranking_rule,
    turn_rules,
    worth_rule,
    worth_table,
)

#: The player who begins the next round, by the value of the keyword ``starter``.
STARTERS = {
    "loser": "the loser of a round begins the next one",
    "winner": "the winner of a round begins the next one",
    "alternate": "the players take turns to begin a round",
    "same": "the same player begins every round",
}


@presents(FourTwoOneMatch)
class FourTwoOneMatchPresentation(Presentation[FourTwoOneMatch]):
    """The words and the board of a match; ``FourTwoOneMatch`` has the rules."""

    title = "A match of 421"
    welcome = "Put dice aside and cast the others again: the lower combination takes the tokens."
    groups = FourTwoOnePresentation.groups
    verbs = FourTwoOnePresentation.verbs
    options = MappingProxyType(
        {
            "starter": STARTERS,
            "tie": {
                "last": "of equal combinations the one that was cast last loses",
                "replay": "after equal combinations the round is played again",
            },
            "short_pot": {
                "truncate": "a pot that has too few gives what it has",
                "spill": "of a pot that has too few the winner gives the rest",
            },
        }
    )

    def __init__(self, game: FourTwoOneMatch) -> None:
        super().__init__(game)
        self.rounds = [FourTwoOnePresentation(phase.round) for phase in game.phases]

    @override
    def describe_rules(self) -> Iterator[str]:
        has_discharge = self.game.tokens > 1
        casts = max(self.game.charge_casts, self.game.discharge_casts * has_discharge)
        yield from turn_rules(3, self.game.faces, casts)
        if has_discharge and self.game.charge_casts != self.game.discharge_casts:
            yield (
                f"That is {up_to(self.game.charge_casts)} while the pot has tokens, "
                f"{up_to(self.game.discharge_casts)} afterwards."
            )
        if casts > 1:
            yield (
                "The player who begins a round may stop earlier; the other player has to cast "
                "exactly as often."
            )
        if has_discharge:
            yield (
                "The lower combination loses the round, and its player takes as many tokens as "
                "the higher one is worth: from the pot, which has "
                f"{self.game.tokens} at first, and once the pot is empty from the other player, "
                "who gives no more than all."
            )
            if self.game.short_pot == "spill":
                yield "If the pot has too few, the rest comes from the other player."
            else:
                yield "If the pot has too few, it gives what it has, and nobody gives the rest."
        else:
            yield "The lower combination loses the match."
        if self.game.tie == "last":
            yield "Of equal combinations the one that was cast last loses."
        elif has_discharge:
            yield "Of equal combinations nobody takes tokens, and the same player begins again."
        else:
            yield "Of equal combinations none loses, and the same player begins again."
        if has_discharge:
            yield f"{STARTERS[self.game.starter]}."
            yield "The player who has no token once the pot is empty wins the match."
            yield worth_rule(self.game.faces, self.game.four_two_one)
        yield ranking_rule(self.game.faces)

    @override
    def worth_table(self) -> Sequence[tuple[str, str]]:
        return worth_table(self.game.faces, self.game.four_two_one)

    @override
    def describe(self, observation: IntArray) -> str:
        pot, own, other, *seen = observation.tolist()
        aside, cast = [face for face in seen[:2] if face], [face for face in seen[2:5] if face]
        made, imposed, rank = seen[5:]
        phase = f"charge, {pot} in the pot" if pot else "discharge"
        cast_now = f"{ordinal(made)} cast: {in_words(cast)} beside {in_words(aside)}"
        to_beat = ""
        if imposed:
            casts = f"{spelled(imposed)} {plural(imposed, 'cast')}"
            to_beat = f", {self.rounds[0].describe_rank(rank)} in {casts} to beat"
        return f"{phase}, {own} {plural(own, 'token')} to {other}, {cast_now}{to_beat}"

    @override
    def describe_action(self, action: int) -> str:
        return self.rounds[0].describe_action(action)

    @override
    def describe_move(self, observation: IntArray, action: int) -> str:
        return self.rounds[0].describe_move(observation[3:], action)

    @override
    def tell(self, observation: IntArray, action: int, outcome: int) -> str:
        return self.rounds[0].tell(observation[3:], action, outcome)

    @override
    def decided(
        self, seat: int, observation: IntArray, action: int, outcome: int, names: Sequence[str]
    ) -> str:
        turn, result = self.rounds[0], self.rounds[0].result_of(observation[3:], action)
        if result is None or not int(observation[-2]):
            return ""
        said = turn.compared(seat, observation[3:], result, names)
        gained, lost = self._handed(observation, result)
        if not gained.any():
            return sentence(f"{said}: the round is played again")
        if " equals " in said:
            said += ", which was cast first"
        taker = int(gained.argmax())
        who, tokens = names[(seat + taker) % 2], int(gained[taker])
        whence = f" from {names[(seat + 1 - taker) % 2]}" if lost.sum() == tokens else ""
        many = f"{tokens} {plural(tokens, 'token')}{whence}"
        return sentence(f"{said}: {who} {said_of(who, 'take', 'takes')} {many}")

    def _handed(self, observation: IntArray, result: Combination) -> tuple[IntArray, IntArray]:
        """Return the tokens that the player who casts last and the other player get, and give."""
        pot, own, other = observation[:3].tolist()
        game = self.game.phases[0 if pot else 1].round
        assert game.ranks is not None
        place = game.combinations.index(result), int(np.argmax(game.ranks == observation[-1]))
        of_first = np.array([[pot, other, own]])
        from_pot, from_winner = (int(each[0][place]) for each in self.game.handed(game, of_first))
        wins = int(self.game.follower_wins_round(game)[place])
        gained, given = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)
        gained[wins], given[1 - wins] = from_pot + from_winner, from_winner
        return gained, given

    @override
    def layout(self, observations: IntArray) -> Layout:
        return Layout(
            x_label="own tokens",
            y_label="tokens of the other player",
            column=observations[:, 1],
            row=observations[:, 2],
        )

    @override
    def board(self, seat: int, observation: IntArray, names: Sequence[str]) -> tuple[Row, ...]:
        pot, own, other = observation[:3].tolist()
        tokens = self._token_rows(seat, pot, (own, other), names)
        return (*tokens, *self.rounds[0 if pot else 1].board(seat, observation[3:], names))

    def _token_rows(
        self, seat: int, pot: int, held: Sequence[int], names: Sequence[str]
    ) -> list[Row]:
        """Return the rows of the pot and of the tokens of the player to move and the other."""
        most = self.game.tokens
        players = [
            Row(name, (Tokens(held[(player - seat) % 2], most),), player)
            for player, name in enumerate(names)
        ]
        return [Row("pot", (Tokens(pot, most),)), *players]

    @override
    def settled(
        self, seat: int, observation: IntArray, action: int, outcome: int, names: Sequence[str]
    ) -> tuple[Row, ...]:
        result = self.rounds[0].result_of(observation[3:], action)
        assert result is not None  # the last move ends a round
        gained, given = self._handed(observation, result)
        held = observation[1:3] + gained - given
        pot = int(observation[:3].sum() - held.sum())
        tokens = self._token_rows(seat, pot, held.tolist(), names)
        return (*tokens, *self.rounds[0].settled(seat, observation[3:], action, outcome, names))

    @override
    def parts(self, observation: IntArray, action: int) -> tuple[int, ...]:
        return self.rounds[0].parts(observation[3:], action)
