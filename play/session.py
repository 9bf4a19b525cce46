"""A person's game, move by move, with undo, advice and an account of skill and luck.

A payoff is the expected payoff of optimal play, minus the losses by the player's moves, plus luck.
With V* the value of optimal play, Q* the value of a move, and s_0, a_0, s_1, ... the states and
actions of the game, the payoff is

    V* of the task + [V*(s_0) - V* of the task]
                   + sum over k of [Q*(s_k, a_k) - V*(s_k)] + [V*(s_{k+1}) - Q*(s_k, a_k)],

where V* of a position includes what was paid before it, and after the end is the payoff. The first
bracket of the sum is at most zero: the loss by a move. The other brackets have mean zero: luck with
the dice and with the other players' moves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import sub
from typing import Any

import numpy as np

from ..baselines import Task, score, solve
from ..core import InputError, IntArray, at_least
from ..core.presentation import present
from ..core.sizes import show
from ..core.words import YOU, to_you
from ..envs.api.encoding import Encoding
from ..envs.drawing.scene import Event, Scene, ending, event_of, film, names_of
from ..envs.engine.lanes import Played
from ..envs.engine.rule_lanes import RuleLanes

ONLY = np.array([0])  # indices of lanes; a session has one lane


@dataclass(frozen=True)
class Choice:
    """A legal move.

    Attributes:
        action: its number.
        words: the move in words.
        parts: numbers of the pieces on the table that the move takes.
    """

    action: int
    words: str
    parts: tuple[int, ...]


@dataclass(frozen=True)
class Advice:
    """The value of a legal move.

    Attributes:
        choice: the move.
        value: expected payoff if play is optimal afterwards.
        cost: the value of the best move minus this value; 0 if the move is optimal.
        share: the cost as a share of a win, or of the spread of the payoffs (``Session.spread``).
    """

    choice: Choice
    value: float
    cost: float
    share: float


@dataclass(frozen=True)
class Account:
    """The parts of a payoff: ``payoff = expected - given_away + luck`` (see the module).

    Attributes:
        expected: expected payoff of optimal play before the first roll.
        given_away: sum of the losses by the player's moves, at least 0.
        luck: gain by dice and by other players' moves.
        payoff: payoff of the game; before its end, what was paid and the value of optimal play
            from here on.
    """

    expected: float
    given_away: float
    luck: float
    payoff: float


@dataclass(frozen=True)
class _Moment:
    """A moment of the game: the person is to move, or the game is over."""

    state: int
    played: tuple[Played, ...]  # from the person's last move on
    chance: Mapping[str, Any]  # state of the random number generator
    paid: float  # what the person was paid so far
    over: bool

    @property
    def payoff(self) -> float | None:
        """The payoff of the game, None while it goes on."""
        return self.paid if self.over else None


class Session:
    """A game of one person against the other players' policies.

    After ``undo``, the same move gets the same dice.

    Args:
        task: the person's decision process.
        seed: of all random draws; the same moves with the same seed give the same game.

    Raises:
        ValueError: if the seed is negative.
    """

    def __init__(self, task: Task, seed: int) -> None:
        if seed < 0:
            raise InputError(f"seed must be at least 0, got {seed}")
        self.task, self.seed = task, seed
        self.names = names_of(task, YOU)
        self.actions: list[int] = []
        self._lanes = RuleLanes(task, 1, Encoding(task.game.observation_sizes, "integer"))
        self._rng = np.random.default_rng(seed)
        self._lanes.start(ONLY, self._rng)
        self._moments = [self._moment(0.0, over=False)]
        self._known: dict[int, Any] = {}  # action values by state

    def _moment(self, paid: float, over: bool) -> _Moment:
        state = int(self._lanes.states()[0])
        return _Moment(state, tuple(self._lanes.played), self._rng.bit_generator.state, paid, over)

    @property
    def payoff(self) -> float | None:
        """The person's payoff, None while the game goes on."""
        return self._moments[-1].payoff

    @property
    def observation(self) -> IntArray:
        """The person's observation, shape (component,)."""
        state = np.array([self._moments[-1].state])
        seen: IntArray = self.task.game.observe(state, self.task.seat)[0]
        return seen

    @property
    def choices(self) -> list[Choice]:
        """The legal moves; none at the end."""
        return self._choices(self._moments[-1].state) if self.payoff is None else []

    def _choices(self, state: int) -> list[Choice]:
        game, where = self.task.game, np.array([state])
        seen, legal = game.observe(where, self.task.seat)[0], np.flatnonzero(game.mask(where)[0])
        shown = present(game)
        return [
            Choice(action, to_you(shown.describe_move(seen, action)), shown.parts(seen, action))
            for action in legal.tolist()
        ]

    def move(self, action: int) -> None:
        """Make a move, and have the other players move until it is the person's turn again.

        Raises:
            ValueError: if the move is not legal, or the game is over.
        """
        action = at_least("action", action, 0)
        legal = [choice.action for choice in self.choices]
        if action not in legal:
            each = ", ".join(map(str, legal))
            allowed = f"one of {each}" if legal else "left, as the game is over"
            raise InputError(f"action must be {allowed}, got {show(action)}")
        ends = self._lanes.move(ONLY, np.array([action]), self._rng)
        self.actions.append(action)
        paid = self._moments[-1].paid + float(ends.payoffs[0])
        self._moments.append(self._moment(paid, bool(ends.over[0])))

    def undo(self) -> None:
        """Take the last move back.

        Raises:
            ValueError: if there is no move to undo.
        """
        if not self.actions:
            raise InputError("undo must follow a move, got none")
        self.actions.pop()
        self._moments.pop()
        self._lanes.go_to(np.array([self._moments[-1].state]))
        self._rng.bit_generator.state = self._moments[-1].chance

    @property
    def scene(self) -> Scene:
        """The table now, with all moves from the person's last one on."""
        return self.film[-1]

    @property
    def film(self) -> list[Scene]:
        """The table at each move from the person's last one on, then the table now."""
        now, task = self._moments[-1], self.task
        ended = "" if now.payoff is None else ending(task, now.payoff, self.names)
        return film(task.game, now.played, task.seat, now.state, self.names, ended)

    @property
    def reason(self) -> str:
        """What the last move has decided, in a sentence; empty if it has decided nothing."""
        events = self.scene.events
        return events[-1].decided if events else ""

    @property
    def story(self) -> list[Event]:
        """All moves from the beginning."""
        played = [move for moment in self._moments for move in moment.played]
        return [event_of(self.task.game, move, self.names) for move in played]

    # ------------------------------------------------------------------- coach

    def advice(self, before: int = 0) -> list[Advice]:
        """Return the value of every legal move, in the order of ``choices``.

        Args:
            before: how many moves ago; 1 is the choice that led here.
        """
        values = self._values(len(self._moments) - 1 - before)
        choices = self._choices(self._moments[-1 - before].state)
        worth = [float(values[choice.action]) for choice in choices]
        return [
            Advice(choice, value, max(worth) - value, (max(worth) - value) / self.spread)
            for choice, value in zip(choices, worth, strict=True)
        ]

    @cached_property
    def spread(self) -> float:
        """What a loss is measured by: 1 in games for a win, else twice the standard deviation."""
        if self.task.game.payoff_range == (0.0, 1.0):
            return 1.0
        known = present(self.task.game).deviation
        return 2 * (known or score("optimal", self.task).deviation) or 1.0

    @property
    def course(self) -> list[float]:
        """The expected payoff of optimal play from each moment on, with what was paid before.

        First before the first roll, then before and after each move, at last now: ``1 + 2 moves +
        1`` numbers. Moves change it by their losses, and all else changes it by luck.
        """
        line = [float(solve(self.task).value)]
        for number, action in enumerate(self.actions):
            values, paid = self._values(number), self._moments[number].paid
            line += [paid + float(values.max()), paid + float(values[action])]
        now = self._moments[-1]
        left = 0.0 if now.over else float(self._values(len(self.actions)).max())
        return [*line, now.paid + left]

    @property
    def account(self) -> Account:
        """The parts of the payoff so far."""
        expected, *moves, payoff = self.course
        given_away = sum(map(sub, moves[::2], moves[1::2]), 0.0)
        return Account(expected, given_away, payoff - expected + given_away, payoff)

    def _values(self, number: int) -> Any:
        """Return action values, shape (action,), before a move; -inf if illegal."""
        state = self._moments[number].state
        if state not in self._known:
            seen = self.task.game.observe(np.array([state]), self.task.seat)[0]
            self._known[state] = solve(self.task).action_values(seen)
        return self._known[state]


def replay(task: Task, seed: int, actions: Sequence[int]) -> Session:
    """Return a session in which these moves have been made.

    Raises:
        ValueError: if a move is not legal.
    """
    session = Session(task, seed)
    for action in actions:
        session.move(action)
    return session
