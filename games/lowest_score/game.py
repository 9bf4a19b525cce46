"""The lowest-score game: keep dice one roll at a time; the lowest total wins the round.

Source: the notebook *Dice Game*. Each player in turn rolls all its dice, keeps at least one, rolls
the others, and so on until all are kept. A die is worth its face, but one face is worth zero. The
lowest total wins; players after the first know the best total so far.

Objectives:

* "win": every player with the lowest total wins 1, all others 0 (the notebook's rule). Who is
  beaten knows it at once, and who ties with the best so far still wins.
* "share": the players with the lowest total share 1 among them. How many hold the best total so
  far then matters to the mover, and is observed.
* "score": every player is paid minus its own total.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import log2
from types import MappingProxyType
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np

from ...core.board import Note, Row, dice_of
from ...core.checks import at_least, one_of
from ...core.dice import combinations, redundancy
from ...core.errors import InputError
from ...core.layout import Layout
from ...core.leg import Leg
from ...core.sizes import Cost, check_sizes, choose, turn_cost
from ...core.turn import Turn
from ...core.turn_game import TurnGame
from ...core.types import IntArray
from ...core.words import plural, spelled
from . import words
from .layout import layout

Objective = Literal["win", "share", "score"]
MANY = 1000  # dice, more than any limit allows


class LowestScore(TurnGame):
    """The rules of the lowest-score game.

    A state is (total kept, dice rolled, best total so far, players after), an action the number
    of dice to keep, less one: action a keeps the a + 1 dice of least worth. To keep others is
    never better.

    Args:
        dice: dice of each player, at least 1.
        faces: faces of each die, at least 2.
        zero_face: the face worth zero, from 1 to ``faces``.
        players: number of players, at least 1.
        objective: "win", "share" or "score".

    Attributes:
        worth: worth of each face in points, entry 0 that of face 1.
        max_score: largest total.
        afterstates: what a turn can be at before a roll: (dice left, total kept).

    Raises:
        ValueError: if an argument is not in its range.
    """

    name: ClassVar[str] = "LowestScore"
    made_for_two = MappingProxyType({"players": 2})
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
        self.zero_face = at_least("zero_face", zero_face, 1)
        if self.zero_face > self.faces:
            raise InputError(f"zero_face must be at most faces = {faces}, got {zero_face}")
        self.players = at_least("players", players, 1)
        self.objective: Objective = one_of("objective", objective, get_args(Objective))
        check_sizes(self)
        self.worth = [0 if face == zero_face else face for face in range(1, faces + 1)]
        self.max_score = self.dice * max(self.worth)
        turn = self._turn()
        known_before = [_Known(None, 0)]
        legs, first_context = [], 0
        for seat in range(players):
            first_context += len(known_before)
            known_after = self._known_after(seat)
            last = seat == players - 1
            legs.append(self._leg(seat, turn, known_before, known_after, first_context, last))
            known_before = known_after
        counts = [("players tied for it", players)] if objective == "share" else []
        observed = [
            ("total kept", int(turn.observations[:, 0].max()) + 1),
            *[(f"die {i + 1}", self.faces + 1) for i in range(self.dice)],
            ("best total so far", self.max_score + 2),
            *counts,
            ("players after", players),
        ]
        super().__init__(legs, players, observed)

    @staticmethod
    def cost(
        exact: bool, dice: float, faces: float, zero_face: float, players: float, objective: str
    ) -> Cost:
        """Estimate what solving takes (see ``sizes``)."""
        results = dice * (faces - (zero_face == faces)) + 1
        tied = players - 1 if objective == "share" else 1.0
        largest = results * tied if players > 1 else 1.0
        every = 1 + (players - 1) * results * (1 + tied) / 2
        return cost_of_turns(exact, dice, faces, zero_face, players, (largest, every))

    # ------------------------------------------------------------------ the turn

    def by_worth(self, roll: tuple[int, ...]) -> tuple[int, ...]:
        """Put the faces of a roll in order of worth."""
        return tuple(sorted(roll, key=lambda face: self.worth[face - 1]))

    def _turn(self) -> Turn:
        """Lay out the turn: afterstates are (dice left, total kept), results are totals."""
        left = range(self.dice, 0, -1)
        most = max(self.worth)
        self.afterstates = [
            (dice, total) for dice in left for total in range((self.dice - dice) * most + 1)
        ]
        numbers = {afterstate: number for number, afterstate in enumerate(self.afterstates)}
        for total in range(self.max_score + 1):
            numbers[0, total] = total  # the result
        casts = [combinations(dice, self.faces) for dice in left]  # law k: dice - k of them
        rolls = np.zeros((self.dice, max(map(len, casts))), dtype=object)
        for row, outcomes in enumerate(casts):
            rolls[row, : len(outcomes)] = [redundancy(cast) for cast in outcomes]
        law = np.array([self.dice - dice for dice, _ in self.afterstates])
        leads_to: list[list[int]] = []
        seen: list[list[int]] = []
        for dice, total in self.afterstates:
            for cast in casts[self.dice - dice]:
                ordered = self.by_worth(cast)
                kept = np.cumsum([self.worth[face - 1] for face in ordered])
                following = [numbers[dice - i - 1, total + int(kept[i])] for i in range(dice)]
                leads_to.append(following + [0] * (self.dice - dice))
                seen.append([total, *ordered, *[0] * (self.dice - dice)])
        observations = np.array(seen)
        rolled = (observations[:, 1:] > 0).sum(axis=1)[:, None]  # dice of each state
        kept_dice = 1 + np.arange(self.dice)
        return Turn(
            rolls,
            law,
            law,
            kept_dice <= rolled,
            kept_dice == rolled,
            np.array(leads_to),
            observations,
            self.max_score + 1,
        )

    # ------------------------------------------------------------------ the round

    def _known_after(self, seat: int) -> "list[_Known]":
        """List what may be known after a player's turn: best total, and how many hold it."""
        tied = range(1, seat + 2) if self.objective == "share" else [1]
        return [_Known(best, count) for best in range(self.max_score + 1) for count in tied]

    def _leg(
        self,
        seat: int,
        turn: Turn,
        before: "list[_Known]",
        after: "list[_Known]",
        first_context: int,
        last: bool,
    ) -> Leg:
        numbers = {known: first_context + number for number, known in enumerate(after)}
        shape = (turn.num_results, len(before))
        following = np.zeros(shape, dtype=np.int64)
        payoffs = np.full((*shape, self.players), Fraction(0), dtype=object)
        settled = np.full((*shape, self.players), last)
        for context, known in enumerate(before):
            for result in range(turn.num_results):
                now = known.after(result, self.objective == "share")
                if not last:
                    following[result, context] = numbers[now]
                for player, payoff in self._settle(seat, known, result, now, last):
                    payoffs[result, context, player] = payoff
                    settled[result, context, player] = True
        players_after = self.players - 1 - seat
        return Leg(seat, turn, self._contexts(before, players_after), following, payoffs, settled)

    def _settle(
        self, seat: int, known: "_Known", result: int, now: "_Known", last: bool
    ) -> Iterator[tuple[int, Fraction]]:
        """Pay whoever's payoff a finished turn settles."""
        if self.objective == "score":
            yield seat, Fraction(-result)
            return
        won = Fraction(1, now.tied) if self.objective == "share" else Fraction(1)
        for player in range(seat):  # if it still may win, it holds the best total so far
            if now.best != known.best:
                yield player, Fraction(0)
            elif last:
                yield player, won
        if now.best != result:
            yield seat, Fraction(0)
        elif last:
            yield seat, won

    def _contexts(self, known: "list[_Known]", players_after: int) -> IntArray:
        best = [self.max_score + 1 if entry.best is None else entry.best for entry in known]
        columns = [best, [players_after] * len(known)]
        if self.objective == "share":
            columns.insert(1, [entry.tied for entry in known])
        return np.array(columns).T

    # ------------------------------------------------------------------ words

    def describe(self, observation: IntArray) -> str:
        """Say the total kept, what was rolled, what is to beat and who is still to come."""
        turn = self.describe_turn(observation)
        if self.players == 1:
            return turn
        best, *tied, after = (int(number) for number in observation[1 + self.dice :])
        to_beat = "nothing to beat yet" if best > self.max_score else f"{best} to equal or beat"
        if self.objective == "score":  # where nobody is beaten
            to_beat = "no total yet" if best > self.max_score else f"{best} the lowest total so far"
        if tied and tied[0]:
            to_beat += f", which {spelled(tied[0])} {plural(tied[0], 'player has', 'players have')}"
        return f"{turn}, {to_beat}, {to_come(after)}"

    def describe_turn(self, observation: IntArray) -> str:
        """Say the total kept and what was rolled."""
        rolled = self._dice_of(observation)
        worth = f" (a {self.zero_face} counts 0)" if self.zero_face in rolled else ""
        return f"{observation[0]} so far, rolled {_faces(rolled)}{worth}"

    def describe_action(self, action: int) -> str:
        """Say how many dice are kept."""
        return f"keeps the {f'{spelled(action + 1)} lowest dice' if action else 'lowest die'}"

    def describe_move(self, observation: IntArray, action: int) -> str:
        """Say which dice are kept."""
        rolled = self._dice_of(observation)
        if action >= len(rolled):  # which is illegal
            return self.describe_action(action)
        return f"keeps {_faces(rolled[: action + 1])}"

    def tell(self, observation: IntArray, action: int, outcome: int) -> str:
        """Say the total, too, if no die is left."""
        move, rolled = self.describe_move(observation, action), self._dice_of(observation)
        if action + 1 < len(rolled):
            return move
        total = int(observation[0]) + sum(self.worth[face - 1] for face in rolled)
        return f"{move}: {total} in all"

    def _dice_of(self, observation: IntArray) -> list[int]:
        """Give the faces rolled, in order of worth."""
        return [int(face) for face in observation[1 : 1 + self.dice] if face]

    # -------------------------------------------------------------- the table

    def describe_rules(self) -> Iterable[str]:
        """Say how the game is played, a sentence at a time."""
        return words.round_rules(
            self.dice, self.faces, self.zero_face, self.players, self.objective
        )

    def layout(self, observations: IntArray) -> Layout:
        """Lay states out by the total kept and the number of dice rolled."""
        return layout(observations, self.dice)

    @property
    def title(self) -> str:
        """What people call the game."""
        return "The lowest score"

    def board(self, seat: int, observation: IntArray, names: Sequence[str]) -> tuple[Row, ...]:
        """Show the dice, the total so far, what is to beat and who is to come."""
        best, players_after = (int(observation[i]) for i in (1 + self.dice, -1))
        known = []
        if self.objective != "score" and self.players > 1:
            nothing = best > self.max_score
            known = [Row("to beat", (Note("nothing yet" if nothing else str(best)),))]
            known.append(Row("still to come", (Note(str(players_after)),)))
        return (*self.dice_on_table(seat, observation), *known)

    def dice_on_table(self, seat: int, observation: IntArray) -> tuple[Row, Row]:
        """Show the dice that were rolled, and the total of those kept before."""
        dice = dice_of(observation[1 : 1 + self.dice].tolist(), part=0, special=self.zero_face)
        return Row("rolled", dice, seat), Row("kept so far", (Note(f"{observation[0]}"),), seat)

    def parts(self, observation: IntArray, action: int) -> tuple[int, ...]:
        """Take the lowest dice."""
        return tuple(range(action + 1))


def to_come(players_after: int) -> str:
    """Say how many players are still to come, in words."""
    if not players_after:
        return "nobody to come"
    return f"{spelled(players_after)} {plural(players_after, 'player')} to come"


def _faces(faces: Sequence[int]) -> str:
    return " ".join(map(str, faces))


def cost_of_turns(
    exact: bool,
    dice: float,
    faces: float,
    zero_face: float,
    players: float,
    contexts: tuple[float, float],
    seen: float = 4,
    rounds: float = 1,
) -> Cost:
    """Estimate what solving a game of these turns takes (see ``sizes``).

    Args:
        exact: whether without rounding.
        dice: of each player.
        faces: of each die.
        zero_face: the face worth zero.
        players: number of players.
        contexts: of the largest leg, and of all legs.
        seen: components of an observation besides the dice.
        rounds: most rounds of the game.
    """
    most = faces - (zero_face == faces)
    rolled = range(int(min(dice, MANY)), 0, -1)
    afterstates = [(dice - left) * most + 1 for left in rolled]  # of each layer
    casts = [choose(left + faces - 1, left) for left in rolled]
    turn_states = [number * shown for number, shown in zip(afterstates, casts, strict=True)]
    return turn_cost(
        exact=exact,
        players=players,
        states=sum(turn_states) * contexts[1],
        actions=dice,
        seen=dice + seen,
        turn_states=sum(turn_states),
        layer=(afterstates[-1], max(turn_states)),
        afterstates=sum(afterstates),
        rolls=casts[0],
        contexts=contexts,
        results=dice * most + 1,
        bits=rounds * players * dice * (dice + 1) / 2 * log2(faces),
    )


class _Known(NamedTuple):
    """What is known of the turns before."""

    best: int | None  # lowest total so far; None: no turn yet
    tied: int  # players who hold it, 1 where that does not matter

    def after(self, result: int, counts: bool) -> "_Known":
        """Take another turn's result into account."""
        if self.best is None or result < self.best:
            return _Known(result, 1)
        return _Known(self.best, self.tied + int(counts and result == self.best))
