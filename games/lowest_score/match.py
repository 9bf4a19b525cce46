"""A match of the lowest-score game: every round has one winner, and who wins enough has won.

Source: the notebook *Dice Game*, whose summary says that the winner of a round is to begin the
next one, "to keep it even". There all who tie win; here one of them does, so that one begins.

Turns are those of ``lowest_score``. Every round brings the match forward, so that it has no cycles:
it is a game of turns whose contexts hold the rounds won so far, too.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby, islice
from math import exp, log, sqrt
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np

from ...core.board import Note, Row, Tokens
from ...core.checks import at_least, one_of
from ...core.layout import Layout
from ...core.leg import Leg
from ...core.sizes import Cost, check_sizes
from ...core.turn_game import TurnGame
from ...core.types import IntArray
from ...core.words import listed, plural
from . import words
from .game import LowestScore, cost_of_turns, to_come
from .layout import layout

Starter = Literal["winner", "next", "same"]
Tie = Literal["first", "last"]
MANY = 200.0  # the logarithm of more tallies than any limit allows


class Standing(NamedTuple):
    """What a player knows before its turn."""

    wins: tuple[int, ...]  # rounds won by each seat
    turns: int  # played in this round
    seat: int  # whose turn it is
    best: int  # lowest total of this round, one above the largest if there is none
    holder: int  # seat that has it, one's own if there is none


class LowestScoreMatch(TurnGame):
    """The rules of a match.

    A state is (total kept, dice rolled, rounds won by oneself and by each player after, best total
    so far, who has it, players after in this round, own seat). Other players are counted in seats
    after one's own; 0 has the best total if nobody has. Actions are those of ``LowestScore``.

    Args:
        dice: dice of each player, at least 1.
        faces: faces of each die, at least 2.
        zero_face: the face worth zero, from 1 to ``faces``.
        players: number of players, at least 2; seat 0 begins the first round.
        wins: rounds that win the match, at least 1.
        starter: who begins the next round: the "winner" of this one, the player "next" to who
            began this one, or always the "same". The others follow in the order of their seats.
        tie: of those with the lowest total the "first" or the "last" to play wins the round.

    Attributes:
        round: one player's round of ``LowestScore``, whose turn all play.
        nothing: stands for the best total where there is none yet.
        standings: what is known in each context, over all legs.

    Raises:
        ValueError: if an argument is not in its range.
    """

    name: ClassVar[str] = "LowestScoreMatch"
    opponent_keyword = "opponents"
    default_opponent = "equilibrium"

    def __init__(
        self,
        dice: int = 5,
        faces: int = 6,
        zero_face: int = 3,
        players: int = 2,
        wins: int = 3,
        starter: Starter = "winner",
        tie: Tie = "last",
    ) -> None:
        self.players = at_least("players", players, 2)
        self.wins = at_least("wins", wins, 1)
        self.starter: Starter = one_of("starter", starter, get_args(Starter))
        self.tie: Tie = one_of("tie", tie, get_args(Tie))
        self.dice, self.faces = at_least("dice", dice, 1), at_least("faces", faces, 2)
        self.zero_face = at_least("zero_face", zero_face, 1)
        check_sizes(self)
        self.round = LowestScore(dice, faces, zero_face, players=1)
        self.nothing = self.round.max_score + 1
        self.standings = self._list_standings()
        numbers = {known: number for number, known in enumerate(self.standings)}
        legs = [self._leg(list(known), numbers) for _, known in groupby(self.standings, _order)]
        of_round = zip(self.round.observation_names, self.round.observation_sizes, strict=True)
        observed = [
            *islice(of_round, 1 + self.dice),
            ("rounds won", wins),
            *[(f"rounds won by player {i} after", wins) for i in range(1, players)],
            ("best total so far", self.nothing + 1),
            ("who has it", players),
            ("players after", players),
            ("own seat", players),
        ]
        super().__init__(legs, players, observed)

    @staticmethod
    def cost(
        exact: bool,
        dice: float,
        faces: float,
        zero_face: float,
        players: float,
        wins: float,
        starter: str,
    ) -> Cost:
        """Estimate what solving takes (see ``sizes``)."""
        tallies = exp(min(players * log(wins), MANY))
        before_rounds = tallies  # tallies, and who begins
        if starter == "winner":
            before_rounds = 1 + players * (wins - 1) * tallies / wins
        results = dice * (faces - (zero_face == faces)) + 1
        known = before_rounds * results  # before later turns, times who may have the best total
        every = before_rounds + known * players * (players - 1) / 2
        deviation = sqrt(players * (wins**2 - 1) / 12)  # of the rounds won in all
        legs = max(1, 2.5 * deviation) * (players if starter == "winner" else 1)
        contexts = known * (players - 1) / legs, every
        rounds = players * (wins - 1) + 1
        turns = (exact, dice, faces, zero_face, players)
        cost = cost_of_turns(*turns, contexts, players + 5, rounds)
        others = players - 2 if exact else 0.0  # whose values are kept as well, 40 bytes each
        return cost._replace(memory=cost.memory + 40 * others * cost.states)

    # ------------------------------------------------------------------ the match

    def after(self, known: Standing, result: int) -> Standing | int:
        """Give what the next player knows after a turn, or the seat that has won the match."""
        wins, turns, seat, best, holder = known
        if result < best or (result == best and self.tie == "last"):
            best, holder = result, seat
        following = (seat + 1) % self.players
        if turns + 1 < self.players:
            return Standing(wins, turns + 1, following, best, holder)
        wins = tuple(won + (player == holder) for player, won in enumerate(wins))
        if wins[holder] == self.wins:
            return holder
        next_one = (following + 1) % self.players  # ``following`` began this round
        begins = {"winner": holder, "next": next_one, "same": following}[self.starter]
        return Standing(wins, 0, begins, self.nothing, begins)

    def _list_standings(self) -> list[Standing]:
        start = Standing((0,) * self.players, 0, 0, self.nothing, 0)
        found, new = {start}, [start]
        results = range(self.nothing)
        while new:
            later = {self.after(known, result) for known in new for result in results}
            new = [known for known in later if isinstance(known, Standing)]
            found.update(new)
        return sorted(found, key=lambda known: (_order(known), known))

    def _leg(self, known: list[Standing], numbers: dict[Standing, int]) -> Leg:
        turn, seat = self.round.legs[0].turn, known[0].seat
        shape = (turn.num_results, len(known))
        following = np.zeros(shape, dtype=np.int64)
        payoffs = np.full((*shape, self.players), Fraction(0), dtype=object)
        settled = np.zeros((*shape, self.players), dtype=bool)
        for result, context in np.ndindex(shape):
            after = self.after(known[context], result)
            if isinstance(after, Standing):
                following[result, context] = numbers[after]
            else:
                payoffs[result, context, after] = Fraction(1)
                settled[result, context] = True
        contexts = np.array([self._seen(entry) for entry in known])
        return Leg(seat, turn, contexts, following, payoffs, settled)

    def _seen(self, known: Standing) -> list[int]:
        wins = [known.wins[(known.seat + i) % self.players] for i in range(self.players)]
        holder = (known.holder - known.seat) % self.players
        return [*wins, known.best, holder, self.players - 1 - known.turns, known.seat]

    # ------------------------------------------------------------------ words

    def describe(self, observation: IntArray) -> str:
        """Say how the match stands, what is kept, what was rolled and what is to beat."""
        known = [int(number) for number in observation[1 + self.dice :]]
        (own, *others), (best, holder, after, seat) = known[: self.players], known[self.players :]
        named = [f" of seat {(seat + i) % self.players}" for i in range(self.players)]
        if self.players == 2:  # there is one other player
            named = ["", ""]
        theirs = listed(f"{won}{whose}" for won, whose in zip(others, named[1:], strict=True))
        to_beat = "nothing to beat yet"
        if best != self.nothing:
            beats = "equal or beat" if self.tie == "last" else "beat"
            to_beat = f"{best}{named[holder]} to {beats}"
        turn = self.round.describe_turn(observation)
        return f"{own} {plural(own, 'round')} won to {theirs}, {turn}, {to_beat}, {to_come(after)}"

    def describe_action(self, action: int) -> str:
        """Say how many dice are kept."""
        return self.round.describe_action(action)

    def describe_move(self, observation: IntArray, action: int) -> str:
        """Say which dice are kept."""
        return self.round.describe_move(observation, action)

    def tell(self, observation: IntArray, action: int, outcome: int) -> str:
        """Say the total, too, if no die is left."""
        return self.round.tell(observation, action, outcome)

    # -------------------------------------------------------------- the table

    def describe_rules(self) -> Iterable[str]:
        """Say how the game is played, a sentence at a time."""
        return words.match_rules(
            self.dice,
            self.faces,
            self.zero_face,
            self.players,
            self.wins,
            self.starter,
            self.tie,
        )

    def layout(self, observations: IntArray) -> Layout:
        """Lay states out by the total kept and the number of dice rolled in the round."""
        return layout(observations, self.dice)

    @property
    def title(self) -> str:
        """What people call the game."""
        return f"The lowest score, first to {self.wins} rounds"

    def board(self, seat: int, observation: IntArray, names: Sequence[str]) -> tuple[Row, ...]:
        """Show the rounds won, the dice, the total so far, what is to beat and who is to come."""
        *_, best, holder, players_after, _ = (int(number) for number in observation)
        wins = [int(won) for won in observation[1 + self.dice : 1 + self.dice + self.players]]
        won = [
            Row(name, (Tokens(wins[(player - seat) % self.players], self.wins),), player)
            for player, name in enumerate(names)
        ]
        whose = names[(seat + holder) % self.players]
        to_beat = "nothing yet" if best == self.nothing else f"{best} of {whose}"
        known = Row("to beat", (Note(to_beat),)), Row("still to come", (Note(str(players_after)),))
        return (*won, *self.round.dice_on_table(seat, observation), *known)

    def parts(self, observation: IntArray, action: int) -> tuple[int, ...]:
        """Take the lowest dice."""
        return self.round.parts(observation, action)


def _order(known: Standing) -> tuple[int, int, int]:
    """Order turns as they are played: rounds so far, turns of this one, and by seat."""
    return sum(known.wins), known.turns, known.seat
