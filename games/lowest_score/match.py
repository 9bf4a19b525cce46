"""A match of the lowest-score game: the first player who wins enough rounds wins the match.

Source: the notebook *Dice Game*, whose summary says that the winner of a round is to begin the
next one, "to keep it even". In the notebook all players who tie win a round. Here one of them wins
it, so that one player begins the next round.

The turns are the turns of ``LowestScore``. Every round has a winner, so that the match has no
cycles. A context is a ``Standing``: the rounds won so far and the best total of this round.
"""

from fractions import Fraction
from itertools import groupby, islice
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np

from ...core import Leg, TurnGame, at_least, one_of
from ...core.sizes import bounded, check_states
from .game import LowestScore, count_turn

Starter = Literal["winner", "next", "same"]
Tie = Literal["first", "last"]
MANY = 100  # players, and digits of a number of tallies; every limit on sizes is lower


class Standing(NamedTuple):
    """The rounds won and the round so far, as known to a player before its turn."""

    wins: tuple[int, ...]  # rounds won by each seat
    turns: int  # number of turns played in this round
    seat: int  # the player to move
    best: int  # lowest total of this round; before the first total, one above the largest total
    holder: int  # seat with the lowest total; before the first total, ``seat``


class LowestScoreMatch(TurnGame):
    """The rules of a match.

    A state is (total kept, dice rolled, rounds won by the player to move and by each player after
    it, best total so far, holder of the best total, players after in this round, own seat). Other
    players are numbered by their distance in seats from the player to move; the holder is 0 if
    there is no total yet. Actions are those of ``LowestScore``.

    Args:
        dice: dice of each player, at least 1.
        faces: faces of each die, at least 2.
        zero_face: the face worth zero, from 1 to ``faces``.
        players: number of players, at least 2; seat 0 begins the first round.
        wins: rounds that win the match, at least 1.
        starter: the player who begins the next round: the "winner" of this round, the player
            "next" to the player who began this round, or always the "same" player. The others
            follow in the order of their seats.
        tie: of the players with the lowest total the "first" or the "last" to play wins the round.

    Attributes:
        round: ``LowestScore`` for one player, which has the turn of every player.
        nothing: the number that stands for no best total.
        standings: the standing in each context, counted over all legs.

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
        many, most, *size = bounded(players, wins, dice, faces, zero_face)
        states, results = count_turn(*size)
        rounds = tallies = float(min(int(most) ** int(min(many, MANY)), 10**MANY))
        if self.starter == "winner":
            rounds = 1 + many * (most - 1) * tallies / most
        # Standings are tallies, who begins, and the results so far.
        standings = rounds * (1 + results * many * (many - 1) / 2)
        check_states(self, states * standings, results * standings * many)
        self.round = LowestScore(dice, faces, zero_face, players=1)
        self.nothing = self.round.max_score + 1
        new = [Standing((0,) * self.players, 0, 0, self.nothing, 0)]
        found = set(new)  # the standings that a match may come to
        while new:
            later = {self.after(known, result) for known in new for result in range(self.nothing)}
            new = [known for known in later if isinstance(known, Standing)]
            found.update(new)
        self.standings = sorted(found, key=lambda known: (_order(known), known))
        numbers = {known: number for number, known in enumerate(self.standings)}
        legs = [self._leg(list(known), numbers) for _, known in groupby(self.standings, _order)]
        of_round = zip(self.round.observation_names, self.round.observation_sizes, strict=True)
        observed = [
            *islice(of_round, 1 + self.dice),
            ("rounds won", wins),
            *[(f"rounds won by the player {i} seats after", wins) for i in range(1, players)],
            ("best total so far", self.nothing + 1),
            ("holder of the best total", players),
            ("players after", players),
            ("own seat", players),
        ]
        super().__init__(legs, players, observed)

    def after(self, known: Standing, result: int) -> Standing | int:
        """Return the standing after a turn, or the seat of the winner if the match is over."""
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

    def _leg(self, known: list[Standing], numbers: dict[Standing, int]) -> Leg:
        """Give the turn of one player in known standings; ``numbers`` are the contexts of all."""
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
        """Give the components of an observation that tell a standing."""
        wins = [known.wins[(known.seat + i) % self.players] for i in range(self.players)]
        holder = (known.holder - known.seat) % self.players
        return [*wins, known.best, holder, self.players - 1 - known.turns, known.seat]


def _order(known: Standing) -> tuple[int, int, int]:
    """Order standings as they are played: by rounds so far, turns of this round, and seat."""
    return sum(known.wins), known.turns, known.seat
