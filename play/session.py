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

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import count, zip_longest
from operator import sub
from typing import Any

import numpy as np

from ..baselines import Policy, Task, prepare, solve
from ..baselines.advice import Advice, Choice, advice_at, choices_at, made_of, seen_at
from ..core import FloatArray, InputError, IntArray, Note, Row, at_least, present
from ..core.playing import Played, begin, make, play_on
from ..core.sizes import show
from ..core.words import YOU, listed
from ..envs.drawing.scene import Event, Scene, ending, event_of, film, names_of

#: Number of games in a row that end before a person's move, after which it is checked whether a
#: person ever gets to move.
PATIENCE = 100


@dataclass(frozen=True)
class Moment:
    """A moment of the game: a person is to move, or the game is over."""

    seat: int  # the person to move; after the end, the person who has moved last
    state: int  # the state in which this person is, or was, to move
    played: tuple[Played, ...]  # the moves from a person's last move on
    chance: Mapping[str, Any]  # state of the random number generator
    paid: FloatArray  # (player,) what each player was paid from a person's first move on
    over: bool  # whether the game is over


@dataclass(frozen=True)
class Account:
    """The parts of a payoff: ``payoff = expected - given_away + luck`` (see the module)."""

    expected: float  # expected payoff of optimal play before the first roll
    given_away: float  # sum of the losses by the player's moves, at least 0
    luck: float  # gain by dice and by other players' moves
    # Payoff of the game; before its end, what was paid and the value of optimal play from here on.
    payoff: float


class Session:
    """A game of one person against the other players' policies, or of persons alone.

    After ``undo``, the same move gets the same dice.
    """

    def __init__(
        self,
        task: Task,  # the person's decision process
        seed: int,  # of all random draws; the same moves with the same seed give the same game
        actions: Iterable[int] = (),  # moves that have been made
        *,
        together: bool = False,  # whether all players are persons, who move in turn
        called: str = YOU,  # what the person is called; an agent that is watched has a name
    ) -> None:
        players = task.game.num_players
        if together and players == 1:
            raise InputError("a game of several persons must have several players, got 1")
        self.task, self.seed, self.together = task, at_least("seed", seed, 0), together
        self.persons = list(range(players)) if together else [task.seat]  # their seats
        self.names = names_of(task, called)  # by seat
        if together:
            self.names = [f"player {seat + 1}" for seat in self.persons]
        self._called = called
        self.actions: list[int] = []  # the persons' moves so far
        self._rng = np.random.default_rng(seed)
        self.moments = [self._start()]  # the beginning, and the moment after each of these moves
        self._advice = cache(lambda seat, state: advice_at(self._tasks[seat], state))
        for action in actions:
            self.move(action)

    def again(self, seed: int, actions: Iterable[int] = ()) -> "Session":
        """Start another session of the same players, in which these moves have been made."""
        return Session(self.task, seed, actions, together=self.together, called=self._called)

    @property
    def now(self) -> Moment:
        """The moment that the game has reached."""
        return self.moments[-1]

    @property
    def payoff(self) -> float | None:
        """The person's payoff, None while the game goes on."""
        return float(self.now.paid[self.task.seat]) if self.now.over else None

    @property
    def observation(self) -> IntArray:
        """The observation of the person to move, shape (component,)."""
        return seen_at(self.task.game, self.now.seat, self.now.state)

    @property
    def choices(self) -> list[Choice]:
        """The legal moves; none at the end."""
        if self.now.over:
            return []
        return choices_at(self.task.game, self.now.seat, self.now.state)

    def move(self, action: int) -> None:
        """Make a move, and have policies move until it is a person's turn again."""
        action = at_least("action", action, 0)
        legal = [choice.action for choice in self.choices]
        if action not in legal:
            each = ", ".join(map(str, legal))
            allowed = f"one of {each}" if legal else "left, as the game is over"
            raise InputError(f"action must be {allowed}, got {show(action)}")
        self.moments.append(self._play(self.now.seat, self.now.state, self.now.paid, action))
        self.actions.append(action)

    def undo(self) -> None:
        """Take the last move back."""
        if not self.actions:
            raise InputError("undo must follow a move, got none")
        self.actions.pop()
        self.moments.pop()
        self._rng.bit_generator.state = self.now.chance

    def _start(self) -> Moment:
        """Begin a game; one that ends before a person's first move begins again."""
        unpaid = np.zeros(self.task.game.num_players)
        for replay in count():
            if replay == PATIENCE:
                _ = prepare(self.task).first  # raises if the person never gets to move
            state = int(begin(self.task.game, 1, self._rng)[0])
            moment = self._play(0, state, unpaid)
            if not moment.over:
                break
        return replace(moment, paid=unpaid)

    def _play(self, seat: int, state: int, paid: FloatArray, action: int | None = None) -> Moment:
        """Make a person's move, if one is given, and those of policies up to a person's turn."""
        game, seats, states = self.task.game, np.array([seat]), np.array([state])
        played: list[Played] = []
        over = False
        if action is not None:
            move = make(game, seats, states, np.array([action]), self._rng, played)
            seats, states, paid = move.seats, move.states, paid + move.payoffs[0]
            over = bool(move.over[0, self.persons].all())
        if not over:
            found = play_on(game, self.persons, self._choose, seats, states, self._rng, played)
            seats, states, paid = found.seats, found.states, paid + found.payoffs[0]
            over = bool(found.over[0])
        if not over:
            seat, state = int(seats[0]), int(states[0])
        return Moment(seat, state, tuple(played), self._rng.bit_generator.state, paid, over)

    def _choose(self, seat: int, states: IntArray, rng: np.random.Generator) -> IntArray:
        return self._policies[seat].sample(states, rng)

    @property
    def scene(self) -> Scene:
        """The table now, with all moves from the person's last one on."""
        return self.film[-1]

    @property
    def film(self) -> list[Scene]:
        """The table at each move from the person's last one on, then the table now."""
        now, game = self.now, self.task.game
        scenes, moves = film(game, now.played, now.seat, now.state, self.names, self.ended), []
        for moment in self.moments:
            moves += [(seen_at(game, one.seat, one.state), one.action) for one in moment.played]
        before = len(moves) - len(now.played)
        scenes = [
            replace(scene, rows=present(game).recorded(scene.rows, moves[: before + number]))
            for number, scene in enumerate(scenes)
        ]
        if not prepare(self.task).pays_early:
            return scenes
        # Positions leave out points that add up.
        row = Row("points", (Note(f"{now.paid[self.task.seat]:g}"),), self.task.seat)
        return [replace(scene, rows=(*scene.rows, row)) for scene in scenes]

    @property
    def ended(self) -> str:
        """The result in words, "you win" or "player 2 wins"; empty while the game goes on."""
        if self.payoff is None:
            return ""
        if not self.together:
            return ending(self.task, self.payoff, self.names)
        paid = dict(zip(self.names, self.now.paid.tolist(), strict=True))
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
        played = [move for moment in self.moments for move in moment.played]
        return [event_of(self.task.game, move, self.names) for move in played]

    def advice(self, before: int = 0) -> list[Advice]:
        """Return the value of each of ``choices``, now or some moves before; 1 led here."""
        moment = self.moments[len(self.actions) - before]
        return self._advice(moment.seat, moment.state)

    def course_of(self, seat: int) -> list[float]:
        """The expected payoff of optimal play from each moment on, with what was paid before.

        First before the first roll, then before and after each move of the person, at last now:
        ``1 + 2 moves + 1`` numbers. Moves change it by their losses, and all else changes it by
        luck. While another person is to move, the last number is that after the person's last move.
        """
        line = [float(solve(self._tasks[seat]).value)]
        for moment, action in zip_longest(self.moments, self.actions):
            if moment.seat == seat and not moment.over:
                advice, paid = self._advice(seat, moment.state), float(moment.paid[seat])
                line.append(paid + max(one.value for one in advice))
                if action is not None:
                    line.append(paid + made_of(advice, action).value)
        if self.now.over:
            return [*line, float(self.now.paid[seat])]
        return line if self.now.seat == seat else [*line, line[-1]]

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
    def _policies(self) -> Mapping[int, Policy]:
        """The policies by seat, when one of them is to move: the game may have to be solved."""
        return prepare(self.task).policies

    @cached_property
    def _tasks(self) -> dict[int, Task]:
        """The decision process of each person, by seat."""
        if not self.together:
            return {self.task.seat: self.task}
        return {seat: Task(self.task.game, seat) for seat in self.persons}
