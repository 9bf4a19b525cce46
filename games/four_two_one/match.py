"""A match of 421: rounds for tokens, first from a pot, then from each other, until one has none.

Source: Pierre Albarede, *Fate stochastic management and policy benchmark in 421* (2024), appendix
A and section 2.3, which leave the whole match open; table, equation and note numbers are its.

A round is a set of 421 (``four_two_one``): one player begins and casts up to three times, the
other follows, casts exactly as often and knows the result to beat. The lower combination by (54)
loses the round, and its player gets as many tokens as the *higher* one is worth (Table 5): from
the pot while that has any, which is the *charge*, then from the winner of the round, the
*discharge*. Who has no token once the pot is empty has won the match, which pays 1.

With V(p, a, b) the chance to win of who begins a round with p tokens in the pot, a of its own and
b of the other player's, a round played by both leads to other such values, or to an end: in the
charge always to a smaller pot, unless rounds that are tied are replayed, in the discharge round
and round. So all token states of a pot are a block (see ``blocks``).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np

from ...core.board import Row, Tokens
from ...core.checks import at_least, one_of
from ...core.dice import combinations
from ...core.layout import Layout
from ...core.leg import Leg
from ...core.ranking import tokens as worth_of
from ...core.sizes import Cost, check_sizes
from ...core.turn_game import TurnGame
from ...core.types import Array, BoolArray, IntArray, frozen
from ...core.words import ordinal, plural, spelled
from . import words
from .game import FourTwoOne, in_words

Starter = Literal["loser", "winner", "alternate", "same"]
MatchTie = Literal["last", "replay"]
ShortPot = Literal["truncate", "spill"]


class Settlement(NamedTuple):
    """What rounds of a phase lead to: arrays of shape (token state, result, result to beat).

    Token states are those of who begins; the result is that of who follows.
    """

    over: BoolArray  # whether the match is
    follower_wins: BoolArray  # the match, if it is over
    follower_begins: BoolArray  # the next round, if it is not
    following: IntArray  # number of the next token state, of all; 0 if the match is over


class Phase(NamedTuple):
    """Charge or discharge."""

    round: FourTwoOne
    first_state: int
    first_tokens: int  # number of the first of its token states, of all
    settlement: Settlement


class FourTwoOneMatch(TurnGame):
    """The rules of a match.

    A state is a token state (pot, own, other's) and a state of the round, as in the set
    (``FourTwoOne`` with utility "set"); both players see alike. Actions are those of the set.

    Args:
        tokens: in the pot at first, at least 1.
        starter: who begins the next round: the "loser" or the "winner" of this one, who did not
            begin this one ("alternate"), or always the "same" player.
        tie: equal combinations are lost by who cast "last" (note 6), or the round is a "replay".
        charge_casts: most casts of a round in the charge, at least 1.
        discharge_casts: the same in the discharge.
        short_pot: a pot that has less than the round is worth gives what it has ("truncate"), or
            what is missing comes from the winner of the round ("spill").
        four_two_one: tokens that 421 is worth.
        faces: of each die, at least 2; those above 6 are worth what they show.

    Attributes:
        token_states: pot, own and other's tokens, shape (token state, 3), by falling pot.
        worths: tokens that each combination is worth, if it is the higher one, shape (result,).
        phases: the charge and, with two tokens or more, the discharge.

    Raises:
        ValueError: if an argument is not in its range.
    """

    name: ClassVar[str] = "FourTwoOneMatch"
    has_cycles: ClassVar[bool] = True

    def __init__(
        self,
        tokens: int = 11,
        starter: Starter = "loser",
        tie: MatchTie = "last",
        charge_casts: int = 3,
        discharge_casts: int = 3,
        short_pot: ShortPot = "truncate",
        four_two_one: int = 10,
        faces: int = 6,
    ) -> None:
        self.tokens = at_least("tokens", tokens, 1)
        self.starter: Starter = one_of("starter", starter, get_args(Starter))
        self.tie: MatchTie = one_of("tie", tie, get_args(MatchTie))
        self.charge_casts = at_least("charge_casts", charge_casts, 1)
        self.discharge_casts = at_least("discharge_casts", discharge_casts, 1)
        self.short_pot: ShortPot = one_of("short_pot", short_pot, get_args(ShortPot))
        self.four_two_one = at_least("four_two_one", four_two_one, 1)
        self.faces = at_least("faces", faces, 2)
        check_sizes(self)
        self.worths = frozen(
            np.array(
                [four_two_one if c == (1, 2, 4) else worth_of(c) for c in combinations(3, faces)]
            )
        )
        self.token_states = frozen(np.array(list(self._list_tokens())))  # (pot, own, other's)
        self._number = np.zeros((tokens + 1, tokens + 1), dtype=np.int64)  # by pot and own
        self._number[tuple(self.token_states[:, :2].T)] = np.arange(len(self.token_states))
        self.phases = self._lay_out()
        longest = max((phase.round for phase in self.phases), key=lambda game: game.casts)
        of_tokens = ("pot", tokens + 1), ("own tokens", tokens + 1), ("other's tokens", tokens + 1)
        of_round = zip(longest.observation_names, longest.observation_sizes, strict=True)
        super().__init__(list(self._legs()), 2, [*of_tokens, *of_round], first_seen=3)

    def _list_tokens(self) -> Iterator[tuple[int, int, int]]:
        for pot in range(self.tokens, -1, -1):
            held = self.tokens - pot
            for own in range(held + 1) if pot else range(1, held):
                yield pot, own, held - own

    def _lay_out(self) -> list[Phase]:
        phases, first_state = [], 0
        for casts, pots in ((self.charge_casts, slice(1, None)), (self.discharge_casts, slice(1))):
            known = np.arange(self.tokens + 1)[pots]
            inside = np.flatnonzero(np.isin(self.token_states[:, 0], known))
            if len(inside):
                game = FourTwoOne(faces=self.faces, casts=casts, utility="set", tie="lost")
                settlement = self._settle(game, self.token_states[inside])
                phases.append(Phase(game, first_state, int(inside[0]), settlement))
                first_state += len(inside) * game.num_states
        return phases

    def _settle(self, game: FourTwoOne, tokens: IntArray) -> Settlement:
        """Say what comes of every round of a phase."""
        assert game.ranks is not None
        ranks = game.ranks
        wins = self.follower_wins_round(game)
        handed = self.handed(game, tokens)
        replayed = (ranks[:, None] == ranks) & (self.tie == "replay")
        pot, own, other = tokens.T[..., None, None]  # of who begins
        gained = handed[0] + handed[1]
        pot = pot - handed[0]
        own = own + np.where(wins, gained, -handed[1])
        other = other + np.where(wins, -handed[1], gained)
        over = (pot == 0) & ((own == 0) | (other == 0))
        begins = {"loser": ~wins, "winner": wins, "alternate": ~replayed}.get(self.starter, False)
        follower_begins = begins & ~replayed & np.ones_like(gained, dtype=bool)
        following = self._number[pot, np.where(follower_begins, other, own)]
        return Settlement(
            over, over & (other == 0), follower_begins & ~over, np.where(over, 0, following)
        )

    @staticmethod
    def follower_wins_round(game: FourTwoOne) -> BoolArray:
        """Say which results beat which, shape (result, result to beat)."""
        assert game.ranks is not None
        wins: BoolArray = game.ranks[:, None] > game.ranks
        return wins

    def handed(self, game: FourTwoOne, tokens: IntArray) -> tuple[IntArray, IntArray]:
        """Give the tokens that the loser of a round gets.

        Args:
            game: the rounds of a phase.
            tokens: token states of who begins, shape (token state, 3).

        Returns:
            What comes from the pot, and what from the winner of the round, both of shape (token
            state, result, result to beat).
        """
        wins = self.follower_wins_round(game)
        pot, own, other = tokens.T[..., None, None]
        worth = np.where(wins, self.worths[:, None], self.worths)  # of the higher combination
        if self.tie == "replay":
            np.fill_diagonal(worth, 0)  # equal combinations
        from_pot = np.minimum(worth, pot)
        owed = np.where(pot > 0, (worth - from_pot) * (self.short_pot == "spill"), worth)
        return from_pot, np.minimum(owed, np.where(wins, other, own))

    def swapped(self, phase: Phase, tokens: IntArray) -> IntArray:
        """Give token states of a phase, counted in it, as the other player sees them."""
        pot, _, other = self.token_states[phase.first_tokens + tokens].T
        seen: IntArray = self._number[pot, other] - phase.first_tokens
        return seen

    def is_cyclic(self, pots: IntArray) -> BoolArray:
        """Say whether rounds may lead back to one with as many tokens in the pot."""
        cyclic: BoolArray = (pots == 0) | (self.tie == "replay")
        return cyclic

    # ------------------------------------------------------------------ legs

    def _legs(self) -> Iterator[Leg]:
        """Give the turns of both players in each phase, as the first one and as the second.

        A token state, as the player sees it, is a group of contexts: the results to beat.
        """
        counts = [
            len(phase.settlement.over) * len(leg.contexts)
            for phase in self.phases
            for leg in phase.round.legs
            for _ in (0, 1)
        ]
        numbers = iter(np.cumsum([0, *counts]).tolist())
        firsts = [  # first context by phase, leg of the round, and player
            [[next(numbers) for _ in (0, 1)] for _ in phase.round.legs] for phase in self.phases
        ]
        for number, phase in enumerate(self.phases):
            for place, played in enumerate(phase.round.legs):
                tokens = np.arange(len(phase.settlement.over))
                seen = self.token_states[phase.first_tokens + tokens]
                contexts = np.concatenate(
                    [
                        np.repeat(seen, len(played.contexts), axis=0),
                        np.tile(played.contexts, (len(tokens), 1)),
                    ],
                    axis=1,
                )
                first_state = (
                    phase.first_state + phase.round.bases[phase.round.first_contexts[place]]
                )
                starts = first_state + tokens * phase.round.num_states
                for player in (0, 1):
                    if place:
                        leads = self._second_turn(phase, player, [f[0] for f in firsts])
                    else:
                        second = [f[1 - player] for f in firsts[number][1:]]
                        leads = self._first_turn(phase, second)
                    blocks = self.tokens - contexts[:, 0]
                    yield Leg(player, played.turn, contexts, *leads, starts, blocks)

    def _first_turn(self, phase: Phase, second: list[int]) -> tuple[IntArray, Array, BoolArray]:
        """Say what the results of who begins lead to: a turn of the other, who has to beat them.

        Args:
            phase: the phase.
            second: first context of the other's turn, by number of casts - 1.
        """
        turn, to_beat = phase.round.legs[0].turn, len(phase.round.legs[1].contexts)
        tokens = np.arange(len(phase.settlement.over))
        casts, result = np.divmod(np.arange(turn.num_results)[:, None], to_beat)
        following = np.array(second)[casts] + self.swapped(phase, tokens) * to_beat + result
        unpaid = np.zeros((*following.shape, 2), dtype=np.int8)
        return following, unpaid, unpaid > 0

    def _second_turn(
        self, phase: Phase, player: int, firsts: list[list[int]]
    ) -> tuple[IntArray, Array, BoolArray]:
        """Say what the results of who follows lead to: the next round, or the end.

        Args:
            phase: the phase.
            player: who follows.
            firsts: first context of the turns with which rounds begin, by phase and player.
        """
        settled, tokens = phase.settlement, np.arange(len(phase.settlement.over))
        over, wins, begins, then = (
            np.moveaxis(table[self.swapped(phase, tokens)], 1, 0).reshape(table.shape[1], -1)
            for table in settled
        )
        first_tokens = np.array([each.first_tokens for each in self.phases])
        later = np.searchsorted(first_tokens, then, side="right") - 1
        following = np.array(firsts)[later, np.where(begins, player, 1 - player)]
        following = following + then - first_tokens[later]
        wins_match = over & np.stack([wins, ~wins] if player == 0 else [~wins, wins])
        payoffs = np.moveaxis(wins_match, 0, -1).astype(np.int8)
        return following, payoffs, np.stack([over, over], axis=-1)

    @staticmethod
    def cost(
        exact: bool, tokens: float, charge_casts: float, discharge_casts: float, faces: float
    ) -> Cost:
        """Estimate what solving takes (see ``sizes``): that of every token state's set, twice."""
        charge, discharge = (
            FourTwoOne.cost(exact, 3, faces, casts, None, 2)
            for casts in (charge_casts, discharge_casts)
        )
        pots = tokens * (tokens + 1) / 2
        states = pots * charge.states + tokens * discharge.states
        number = 250.0 if exact else 0.0
        seconds = 2 * (pots * charge.seconds + 20 * tokens * discharge.seconds)
        return Cost(states, states * (100 + number) + charge.memory + discharge.memory, seconds)

    # ------------------------------------------------------------------ words

    def describe(self, observation: IntArray) -> str:
        """Say phase, tokens, and what was cast."""
        pot, own, other, *seen = (int(number) for number in observation)
        aside, cast = [face for face in seen[:2] if face], [face for face in seen[2:5] if face]
        made, imposed, rank = seen[5:]
        phase = f"charge, {pot} in the pot" if pot else "discharge"
        cast_now = f"{ordinal(made)} cast: {in_words(cast)} beside {in_words(aside)}"
        to_beat = ""
        if imposed:
            casts = f"{spelled(imposed)} {plural(imposed, 'cast')}"
            to_beat = f", {self.phases[0].round.describe_rank(rank)} in {casts} to beat"
        return f"{phase}, {own} {plural(own, 'token')} to {other}, {cast_now}{to_beat}"

    def describe_action(self, action: int) -> str:
        """Say which dice are put aside."""
        return self.phases[0].round.describe_action(action)

    def describe_move(self, observation: IntArray, action: int) -> str:
        """Say which faces are put aside."""
        return self.phases[0].round.describe_move(observation[3:], action)

    def tell(self, observation: IntArray, action: int, outcome: int) -> str:
        """Say the combination, too, and in how many casts it came, if no die is left."""
        return self.phases[0].round.tell(observation[3:], action, outcome)

    # -------------------------------------------------------------- the table

    def describe_rules(self) -> Iterable[str]:
        """Say how the game is played, a sentence at a time."""
        return words.match_rules(
            tokens=self.tokens,
            starter=self.starter,
            tie=self.tie,
            charge_casts=self.charge_casts,
            discharge_casts=self.discharge_casts,
            short_pot=self.short_pot,
            four_two_one=self.four_two_one,
            faces=self.faces,
        )

    def layout(self, observations: IntArray) -> Layout:
        """Lay states out by the tokens of both players."""
        return Layout(
            x_label="own tokens",
            y_label="tokens of the other player",
            column=observations[:, 1],
            row=observations[:, 2],
        )

    @property
    def title(self) -> str:
        """What people call the game."""
        return "A match of 421"

    def board(self, seat: int, observation: IntArray, names: Sequence[str]) -> tuple[Row, ...]:
        """Show the tokens of the pot and of both players, and the round."""
        pot, own, other = (int(tokens) for tokens in observation[:3])
        held = (own, other) if seat == 0 else (other, own)
        tokens = [Row("pot", (Tokens(pot, self.tokens),))]
        tokens += [
            Row(name, (Tokens(held[player], self.tokens),), player)
            for player, name in enumerate(names)
        ]
        phase = self.phases[0 if pot else 1]
        return (*tokens, *phase.round.board(seat, observation[3:], names))

    def parts(self, observation: IntArray, action: int) -> tuple[int, ...]:
        """Take the dice that are put aside."""
        return self.phases[0].round.parts(observation[3:], action)
