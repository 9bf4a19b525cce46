"""The rules, states and moves of a match of 421 in words, and its board."""

from collections.abc import Iterator, Sequence

from typing_extensions import override

from ...core.board import Row, Tokens
from ...core.layout import Layout
from ...core.presentation import Presentation, presents
from ...core.types import IntArray
from ...core.words import ordinal, plural, spelled, up_to
from .match import FourTwoOneMatch
from .presentation import FourTwoOnePresentation, in_words, ranking_rule, turn_rules, worth_rule

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

    def __init__(self, game: FourTwoOneMatch) -> None:
        super().__init__(game)
        self.rounds = [FourTwoOnePresentation(phase.round) for phase in game.phases]

    @property
    @override
    def title(self) -> str:
        return "A match of 421"

    # ------------------------------------------------------------------ the rules

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
            yield from self._token_rules()
        else:
            yield "The lower combination loses the match."
        yield from self._tie_rules()
        if has_discharge:
            yield f"{STARTERS[self.game.starter]}."
            yield "The player who has no token once the pot is empty wins the match."
            yield worth_rule(self.game.faces, self.game.four_two_one)
        yield ranking_rule(self.game.faces)

    def _token_rules(self) -> Iterator[str]:
        """Yield the sentences about the tokens that change hands after a round."""
        yield (
            "The lower combination loses the round, and its player takes as many tokens as the "
            f"higher one is worth: from the pot, which has {self.game.tokens} at first, and once "
            "the pot is empty from the other player, who gives no more than all."
        )
        if self.game.short_pot == "spill":
            yield "If the pot has too few, the rest comes from the other player."
        else:
            yield "If the pot has too few, it gives what it has, and nobody gives the rest."

    def _tie_rules(self) -> Iterator[str]:
        """Yield the sentence about equal combinations."""
        if self.game.tie == "replay" and self.game.tokens == 1:
            yield "Of equal combinations none loses, and the same player begins again."
        elif self.game.tie == "replay":
            yield "Of equal combinations nobody takes tokens, and the same player begins again."
        else:
            yield "Of equal combinations the one that was cast last loses."

    # ------------------------------------------------------------------ states

    @override
    def describe(self, observation: IntArray) -> str:
        pot, own, other, *seen = (int(number) for number in observation)
        aside, cast = [face for face in seen[:2] if face], [face for face in seen[2:5] if face]
        made, imposed, rank = seen[5:]
        phase = f"charge, {pot} in the pot" if pot else "discharge"
        cast_now = f"{ordinal(made)} cast: {in_words(cast)} beside {in_words(aside)}"
        to_beat = ""
        if imposed:
            casts = f"{spelled(imposed)} {plural(imposed, 'cast')}"
            to_beat = f", {self.rounds[0].describe_rank(rank)} in {casts} to beat"
        return f"{phase}, {own} {plural(own, 'token')} to {other}, {cast_now}{to_beat}"

    # ------------------------------------------------------------------ moves

    @override
    def describe_action(self, action: int) -> str:
        return self.rounds[0].describe_action(action)

    @override
    def describe_move(self, observation: IntArray, action: int) -> str:
        return self.rounds[0].describe_move(observation[3:], action)

    @override
    def tell(self, observation: IntArray, action: int, outcome: int) -> str:
        return self.rounds[0].tell(observation[3:], action, outcome)

    # ------------------------------------------------------------------ the board and the maps

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
        pot, own, other = (int(tokens) for tokens in observation[:3])
        held = (own, other) if seat == 0 else (other, own)
        tokens = [Row("pot", (Tokens(pot, self.game.tokens),))]
        tokens += [
            Row(name, (Tokens(held[player], self.game.tokens),), player)
            for player, name in enumerate(names)
        ]
        return (*tokens, *self.rounds[0 if pot else 1].board(seat, observation[3:], names))

    @override
    def parts(self, observation: IntArray, action: int) -> tuple[int, ...]:
        return self.rounds[0].parts(observation[3:], action)
