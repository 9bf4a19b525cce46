"""A table at which a game is played: one person against policies, or persons alone.

A table knows the rules, the dice and the other players. What happens is a sequence of moments, each
of which it makes of the one before.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..baselines import Task
from ..core import Game, InverseLaws
from ..core.advance import checked_advance
from ..core.sampling import draw
from ..envs.api.encoding import Encoding
from ..envs.engine.lanes import Played
from ..envs.engine.rule_lanes import RuleLanes

ONLY = np.array([0])  # indices of lanes; a table has one lane


@dataclass(frozen=True)
class Moment:
    """A moment of the game: a person is to move, or the game is over.

    Attributes:
        seat: the person to move; after the end, the person who has moved last.
        state: the state in which this person is, or was, to move.
        played: the moves from a person's last move on.
        chance: state of the random number generator.
        paid: what each person was paid so far, by seat.
        over: whether the game is over.
    """

    seat: int
    state: int
    played: tuple[Played, ...]
    chance: Mapping[str, Any]
    paid: Mapping[int, float]
    over: bool


class Table(Protocol):
    """Where a game is played."""

    def start(self) -> Moment:
        """Begin a game, up to a person's first move."""

    def move(self, now: Moment, action: int) -> Moment:
        """Make a legal move of the person to move, and those of the policies after it."""

    def back_to(self, moment: Moment) -> None:
        """Go back to an earlier moment: the same move again gets the same dice."""


class AgainstPolicies:
    """One person against the policies of a task.

    Args:
        task: the person's decision process.
        seed: of all random draws.
    """

    def __init__(self, task: Task, seed: int) -> None:
        self._seat = task.seat
        self._lanes = RuleLanes(task, 1, Encoding(task.game.observation_sizes, "integer"))
        self._rng = np.random.default_rng(seed)

    def start(self) -> Moment:
        """Begin a game."""
        self._lanes.start(ONLY, self._rng)
        return self._moment(0.0, over=False)

    def move(self, now: Moment, action: int) -> Moment:
        """Make a move, and let the policies reply."""
        ends = self._lanes.move(ONLY, np.array([action]), self._rng)
        return self._moment(now.paid[self._seat] + float(ends.payoffs[0]), bool(ends.over[0]))

    def back_to(self, moment: Moment) -> None:
        """Go back to an earlier moment."""
        self._lanes.go_to(np.array([moment.state]))
        self._rng.bit_generator.state = moment.chance

    def _moment(self, paid: float, over: bool) -> Moment:
        state, chance = int(self._lanes.states()[0]), self._rng.bit_generator.state
        played = tuple(self._lanes.played)
        return Moment(self._seat, state, played, chance, {self._seat: paid}, over)


class PersonsAlone:
    """All players are persons.

    Args:
        game: the rules.
        seed: of all random draws.
    """

    def __init__(self, game: Game, seed: int) -> None:
        self._game, self._rng = game, np.random.default_rng(seed)

    def start(self) -> Moment:
        """Begin a game."""
        starts, chances = self._game.initial_law()
        law = InverseLaws(chances.astype(np.float64)[None])
        state = int(starts[law.draw(ONLY, self._rng)[0]])
        paid = dict.fromkeys(range(self._game.num_players), 0.0)
        return Moment(0, state, (), self._rng.bit_generator.state, paid, over=False)

    def move(self, now: Moment, action: int) -> Moment:
        """Make a move."""
        seats, states, actions = (np.array([number]) for number in (now.seat, now.state, action))
        outcomes = draw(self._game, states, actions, self._rng)
        move = checked_advance(self._game, seats, states, actions, outcomes)
        played = (Played(now.seat, now.state, action, int(outcomes[0])),)
        paid = {seat: so_far + float(move.payoffs[0, seat]) for seat, so_far in now.paid.items()}
        over = bool(move.over.all())
        seat, state = (now.seat, now.state) if over else (int(move.seats[0]), int(move.states[0]))
        return Moment(seat, state, played, self._rng.bit_generator.state, paid, over)

    def back_to(self, moment: Moment) -> None:
        """Go back to an earlier moment."""
        self._rng.bit_generator.state = moment.chance
