"""The lowest-score game: keep dice one roll at a time; the lowest total wins the round.

Source: the notebook *Dice Game*. Each player in turn rolls all its dice, keeps at least one, rolls
the others, and so on until all are kept. A die is worth its face, but one face is worth zero. The
lowest total wins; players after the first know the best total so far.

Objectives:

* "win": every player with the lowest total is paid 1, every other player 0 (the notebook's rule). A
  player is paid 0 as soon as a later player has a lower total.
* "share": the players with the lowest total share 1 among them. The number of players who hold the
  best total so far then matters to the player to move, and is observed.
* "score": every player is paid minus its own total.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar, Literal, get_args

import numpy as np

from ...core import Leg, Turn, TurnGame, at_least, one_of
from ...core.dice import combinations, redundancy
from ...core.sizes import bounded, check_states, choose

Objective = Literal["win", "share", "score"]
MANY = 1000  # dice; every limit on sizes is lower


class LowestScore(TurnGame):
    """The rules of the lowest-score game.

    A state is (total kept, dice rolled, best total so far, players after). An action is the number
    of dice to keep, less one: action a keeps the a + 1 dice of least worth. Keeping other dice is
    never better.

    Args:
        dice: dice of each player, at least 1.
        faces: faces of each die, at least 2.
        zero_face: the face worth zero, from 1 to ``faces``.
        players: number of players, at least 1.
        objective: "win", "share" or "score".

    Attributes:
        worth: worth of each face in points, from face 1 on.
        max_score: largest total.
        afterstates: (dice left to roll, total kept) before each roll of a turn.

    Raises:
        ValueError: if an argument is not in its range.
    """

    name: ClassVar[str] = "LowestScore"
    opponent_keyword = "opponents"
    default_opponent = "notebook"

    def __init__(
        self,
        dice: int = 5,
        faces: int = 6,
        zero_face: int = 3,
        players: int = 4,
        objective: Objective = "win",
    ) -> None:
        self.dice = at_least("dice", dice, 1)
        self.faces = at_least("faces", faces, 2)
        self.zero_face = at_least("zero_face", zero_face, 1, self.faces, "faces = ")
        self.players = at_least("players", players, 1)
        self.objective: Objective = one_of("objective", objective, get_args(Objective))
        size, many = bounded(self.dice, self.faces, self.zero_face), bounded(self.players)[0]
        states, results = count_turn(*size)
        tied = many if self.objective == "share" else 1
        contexts = 1 + (many - 1) * results * (1 + tied) / 2
        check_states(self, states * contexts, states * 2 * size[0] + results * contexts * many)
        self.worth = [0 if n == self.zero_face else n for n in range(1, self.faces + 1)]
        most = max(self.worth)
        self.max_score = self.dice * most
        self.afterstates = [
            (left, total)
            for left in range(self.dice, 0, -1)
            for total in range((self.dice - left) * most + 1)
        ]
        turn = self._turn()
        counts = [("players tied for it", players)] if objective == "share" else []
        observed = [
            ("total kept", int(turn.observations[:, 0].max()) + 1),
            *[(f"die {i + 1}", self.faces + 1) for i in range(self.dice)],
            ("best total so far", self.max_score + 2),
            *counts,
            ("players after", players),
        ]
        super().__init__(list(self._legs(turn)), players, observed)

    def by_worth(self, roll: tuple[int, ...]) -> tuple[int, ...]:
        """Sort the faces of a roll by worth."""
        return tuple(sorted(roll, key=lambda face: self.worth[face - 1]))

    def _turn(self) -> Turn:
        """Make the tables of a turn; its results are totals."""
        dice = self.dice
        numbers = {afterstate: number for number, afterstate in enumerate(self.afterstates)}
        for total in range(self.max_score + 1):
            numbers[0, total] = total  # the result
        casts = [combinations(left, self.faces) for left in range(dice, 0, -1)]  # by law
        rolls = np.zeros((dice, max(map(len, casts))), dtype=object)
        for row, outcomes in enumerate(casts):
            rolls[row, : len(outcomes)] = [redundancy(cast) for cast in outcomes]
        law = np.array([dice - left for left, _ in self.afterstates])  # law k: k dice fewer
        leads_to: list[list[int]] = []
        seen: list[list[int]] = []
        for left, total in self.afterstates:
            for cast in casts[dice - left]:
                ordered = self.by_worth(cast)
                kept = np.cumsum([self.worth[face - 1] for face in ordered])
                following = [numbers[left - i - 1, total + int(kept[i])] for i in range(left)]
                leads_to.append(following + [0] * (dice - left))
                seen.append([total, *ordered, *[0] * (dice - left)])
        observations = np.array(seen)
        rolled = (observations[:, 1:] > 0).sum(axis=1)[:, None]  # dice rolled, (state, 1)
        number = 1 + np.arange(dice)  # of dice kept
        tables = number <= rolled, number == rolled, np.array(leads_to), observations
        return Turn(rolls, law, law, *tables, self.max_score + 1)

    def _legs(self, turn: Turn) -> Iterator[Leg]:
        """Yield the leg of each player; its contexts are the best total and how many hold it."""
        shares, players = self.objective == "share", np.arange(self.players)
        totals = np.arange(self.max_score + 1)[:, None]  # (result, 1)
        shared = [Fraction(0), *(Fraction(1, number) for number in range(1, self.players + 1))]
        minus_total = [Fraction(-total) for total in range(self.max_score + 1)]
        amounts = np.array(minus_total if self.objective == "score" else shared)
        best, tied, first = np.array([self.max_score + 1]), np.array([0]), 0  # no turn yet
        for seat in range(self.players):
            last, holders = seat == self.players - 1, seat + 1 if shares else 1
            first += len(best)  # the first context of the next player
            now = np.minimum(totals, best)  # (result, context)
            holding = np.where(totals < best, 1, tied + (shares & (totals == best)))
            following = np.zeros_like(now) if last else first + now * holders + holding - 1
            if self.objective == "score":
                settled, paid = players == seat, (players == seat) * totals[..., None]
            else:  # those before who may still win hold the best total so far
                wins = np.where(players == seat, totals[..., None], best[:, None]) == now[..., None]
                settled, paid = ~wins & (players <= seat), (wins & last) * holding[..., None]
            shape = *now.shape, self.players
            payoffs = amounts[np.broadcast_to(paid, shape)]
            settled = np.broadcast_to(settled | last, shape).copy()
            known = [best, *[tied] * shares, np.full_like(best, self.players - 1 - seat)]
            yield Leg(seat, turn, np.stack(known, axis=1), following, payoffs, settled)
            best = np.repeat(totals, holders)
            tied = np.tile(np.arange(1, holders + 1), len(totals))


def count_turn(dice: float, faces: float, zero_face: float) -> tuple[float, float]:
    """Count the states and the results of a turn before it is made."""
    most = faces - (zero_face == faces)
    rolled = range(1, int(min(dice, MANY)) + 1)
    states = sum(((dice - left) * most + 1) * choose(left + faces - 1, left) for left in rolled)
    return states, dice * most + 1
