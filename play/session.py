"""A person's game, move by move, with undo, advice and an account of skill and luck.

A payoff is the expected payoff of optimal play, minus the losses by the player's moves, plus luck.
With V* the value of optimal play, Q* the value of a move, and s_0, a_0, s_1, ... the states and
actions of the game, the payoff is

    V* of the task + [V*(s_0) - V* of the task]
                   + sum over k of [Q*(s_k, a_k) - V*(s_k)] + [V*(s_{k+1}) - Q*(s_k, a_k)],

where V* of a position includes what was paid before it, and after the end is the payoff. The first
bracket of the sum is at most zero: the loss by a move. The other brackets have mean zero: luck with
the dice and with the other players' moves.

Where all players are persons, a player's values are those against perfect players, and what another
person gives away is luck as well.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from operator import sub
from typing import Any

from ..baselines import Task, solve
from ..core import FloatArray, InputError, IntArray, at_least
from ..core.sizes import show
from ..core.words import YOU, listed
from ..envs.drawing.scene import Event, Scene, ending, event_of, film, names_of
from .advice import Advice, Choice, advice_at, choices_at, seen_at, spread_of, values_at
from .table import AgainstPolicies, Moment, PersonsAlone, Table


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


class Session:
    """A game of one person against the other players' policies, or of persons alone.

    After ``undo``, the same move gets the same dice.

    Args:
        task: the person's decision process.
        seed: of all random draws; the same moves with the same seed give the same game.
        together: whether all players are persons, who move in turn.
        called: what the person is called; an agent that is watched has a name.

    Attributes:
        persons: the seats of persons.
        names: names of the players, by seat.
        actions: the persons' moves so far.

    Raises:
        ValueError: if the seed is negative, or a game for one player is to be played together.
    """

    def __init__(self, task: Task, seed: int, *, together: bool = False, called: str = YOU) -> None:
        if seed < 0:
            raise InputError(f"seed must be at least 0, got {seed}")
        players = task.game.num_players
        if together and players == 1:
            raise InputError("a game of several persons must have several players, got 1")
        self.task, self.seed, self.together = task, seed, together
        self.persons = range(players) if together else [task.seat]
        self.names = names_of(task, called)
        if together:
            self.names = [f"player {seat + 1}" for seat in self.persons]
        self._called = called
        self.actions: list[int] = []
        self._table: Table = (
            PersonsAlone(task.game, seed) if together else AgainstPolicies(task, seed)
        )
        self._moments = [self._table.start()]
        self._known: dict[tuple[int, int], FloatArray] = {}  # action values by seat and state

    def again(self, seed: int, actions: Iterable[int] = ()) -> "Session":
        """Start another session of the same players, in which these moves have been made."""
        return replay(self.task, seed, actions, together=self.together, called=self._called)

    @property
    def now(self) -> Moment:
        """The moment that the game has reached."""
        return self._moments[-1]

    @property
    def seat(self) -> int:
        """The seat of the person to move; after the end, of the person who moved last."""
        return self.now.seat

    @property
    def payoff(self) -> float | None:
        """The person's payoff, None while the game goes on."""
        return self.now.paid[self.task.seat] if self.now.over else None

    @property
    def observation(self) -> IntArray:
        """The observation of the person to move, shape (component,)."""
        return seen_at(self.task.game, self.seat, self.now.state)

    @property
    def choices(self) -> list[Choice]:
        """The legal moves; none at the end."""
        if self.now.over:
            return []
        return choices_at(self.task.game, self.seat, self.now.state)

    def move(self, action: int) -> None:
        """Make a move, and have policies move until it is a person's turn again.

        Raises:
            ValueError: if the move is not legal, or the game is over.
        """
        action = at_least("action", action, 0)
        legal = [choice.action for choice in self.choices]
        if action not in legal:
            each = ", ".join(map(str, legal))
            allowed = f"one of {each}" if legal else "left, as the game is over"
            raise InputError(f"action must be {allowed}, got {show(action)}")
        self._moments.append(self._table.move(self.now, action))
        self.actions.append(action)

    def undo(self) -> None:
        """Take the last move back.

        Raises:
            ValueError: if there is no move to undo.
        """
        if not self.actions:
            raise InputError("undo must follow a move, got none")
        self.actions.pop()
        self._moments.pop()
        self._table.back_to(self.now)

    @property
    def scene(self) -> Scene:
        """The table now, with all moves from the person's last one on."""
        return self.film[-1]

    @property
    def film(self) -> list[Scene]:
        """The table at each move from the person's last one on, then the table now."""
        now = self.now
        return film(self.task.game, now.played, now.seat, now.state, self.names, self.ended)

    @property
    def ended(self) -> str:
        """The result in words, "you win" or "player 2 wins"; empty while the game goes on."""
        if self.payoff is None:
            return ""
        if not self.together:
            return ending(self.task, self.payoff, self.names)
        paid = {self.names[seat]: payoff for seat, payoff in self.now.paid.items()}
        if self.task.game.payoff_range != (0.0, 1.0):
            return listed(f"{name} gets {payoff:g}" for name, payoff in paid.items())
        best = [name for name, payoff in paid.items() if payoff > 0]
        several = "win" if max(paid.values()) == 1 else "share the win"
        return f"{listed(best)} {'wins' if len(best) == 1 else several}"

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

    def moment(self, number: int) -> Moment:
        """Return the moment after a number of moves."""
        return self._moments[number]

    def advice(self, before: int = 0) -> list[Advice]:
        """Return the value of every legal move, in the order of ``choices``.

        Args:
            before: how many moves ago; 1 is the choice that led here.
        """
        number = len(self.actions) - before
        moment = self._moments[number]
        return advice_at(self._tasks[moment.seat], moment.state, self._values(number))

    @property
    def spread(self) -> float:
        """What a loss is measured by (see ``spread_of``)."""
        return spread_of(self.task)

    @property
    def course(self) -> list[float]:
        """The course of the first person (see ``course_of``)."""
        return self.course_of(self.task.seat)

    def course_of(self, seat: int) -> list[float]:
        """The expected payoff of optimal play from each moment on, with what was paid before.

        First before the first roll, then before and after each move of the person, at last now:
        ``1 + 2 moves + 1`` numbers. Moves change it by their losses, and all else changes it by
        luck. While another person is to move, the last number is that after the person's last move.
        """
        line = [float(solve(self._tasks[seat]).value)]
        for number, action in enumerate(self.actions):
            if self.moment(number).seat == seat:
                values, paid = self._values(number), self._moments[number].paid[seat]
                line += [paid + float(values.max()), paid + float(values[action])]
        if self.now.over:
            return [*line, self.now.paid[seat]]
        if self.seat != seat:
            return [*line, line[-1]]
        return [*line, self.now.paid[seat] + float(self._values(len(self.actions)).max())]

    @property
    def account(self) -> Account:
        """The parts of the first person's payoff so far."""
        return self.account_of(self.task.seat)

    def account_of(self, seat: int) -> Account:
        """The parts of a person's payoff so far."""
        expected, *moves, payoff = self.course_of(seat)
        given_away = sum(map(sub, moves[::2], moves[1::2]), 0.0)
        return Account(expected, given_away, payoff - expected + given_away, payoff)

    @cached_property
    def _tasks(self) -> dict[int, Task]:
        """The decision process of each person, by seat."""
        if not self.together:
            return {self.task.seat: self.task}
        return {seat: Task(self.task.game, seat) for seat in self.persons}

    def _values(self, number: int) -> FloatArray:
        """Return action values, shape (action,), before a move; -inf if illegal."""
        seat, state = self._moments[number].seat, self._moments[number].state
        if (seat, state) not in self._known:
            self._known[seat, state] = values_at(self._tasks[seat], state)
        return self._known[seat, state]


def replay(task: Task, seed: int, actions: Iterable[int], **options: Any) -> Session:
    """Return a session in which these moves have been made.

    Args:
        task: as of ``Session``.
        seed: as of ``Session``.
        actions: the moves.
        **options: as of ``Session``.

    Raises:
        ValueError: if a move is not legal.
    """
    session = Session(task, seed, **options)
    for action in actions:
        session.move(action)
    return session
