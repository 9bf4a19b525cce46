"""Simulators that can be copied: every move is made once, in a copy of each state.

States are told apart by keys. What a simulator shows, and what its moves lead to and pay, must
follow from the key. So a state that is met again is compared with the first one, and in the end
random games of the simulator itself are compared with the law (``replay``).
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

#: Payments that differ by no more are equal.
CLOSE = 1e-9


class ConflictError(Exception):
    """The answers of a simulator do not follow from the keys of its states."""


@dataclass(slots=True, eq=False)
class State:
    """A state as it was met."""

    key: Hashable
    shown: Any  # the observation, and what else there is to know of it
    copy: Any  # of the simulator; None as soon as the moves are known
    number: int = -1  # in the order in which states are found; -1 if it is not one of them
    depth: int = 0  # fewest moves that lead to it
    rows: "Rows" = field(default_factory=dict)


class Way(NamedTuple):
    """An outcome of a move."""

    chance: Any
    reward: float
    after: State | None  # None if the game is over

    @property
    def key(self) -> Hashable:
        """The key of the next state."""
        return None if self.after is None else self.after.key


#: The outcomes of each action; illegal actions have none.
Rows: TypeAlias = dict[int, list[Way]]


class Simulator(ABC):
    """The states of a simulator, by number, which ``law.simple.search`` finds breadth first.

    Attributes:
        limit: number of moves after which a game is over.
        states: the states that were found; ``known`` has them by key.
        again: number of outcomes that have led to known states.
    """

    limit: float = np.inf

    def __init__(self) -> None:
        self.states: list[State] = []
        self.known: dict[Hashable, State] = {}
        self.again = 0
        self.rng = random.Random(0)  # noqa: S311  of samples

    @abstractmethod
    def begin(self) -> Iterable[tuple[Any, State]]:
        """Begin games: give the first states and their chances."""

    @abstractmethod
    def moves(self, state: State) -> Rows:
        """Make every move of a state."""

    @abstractmethod
    def compare(self, state: State, met: State, depth: int) -> None:
        """Require that a state that is met again, after some moves, is as it was."""

    @abstractmethod
    def tried(self, state: State) -> None:
        """Look at a state whose moves are known, before its copy is given up."""

    @abstractmethod
    def play(self, env: Any, action: int, moves: int) -> Way:
        """Move in a game, after so many moves."""

    def kept(self, env: Any) -> Any:
        """Return the form in which a copy is kept."""
        return env

    def player(self, number: int) -> int:
        """Return the player to move in a state."""
        return 0

    def start(self) -> list[tuple[Any, int]]:
        """Give the chance of each first state, and the state."""
        return [(chance, self._meet(met, 0).number) for chance, met in self.begin()]

    def actions(self, number: int) -> list[int]:
        """Make all moves of a state; give the legal ones."""
        state = self.states[number]
        rows, depth = self.moves(state), state.depth + 1
        for ways in rows.values():
            for place, (chance, reward, after) in enumerate(ways):
                if after is None:
                    continue
                if depth < self.limit or after.key in self.known:
                    ways[place] = Way(chance, reward, self._meet(after, depth))
                else:
                    after.copy = None
        state.rows = rows
        self.tried(state)
        state.copy = None
        return [action for action, ways in rows.items() if ways]

    def outcomes(self, number: int, action: int) -> list[tuple[Any, float, int | None]]:
        """Give chance, payment and next state of each outcome; beyond the limit is no state."""
        return [
            (chance, reward, None if after is None or after.number < 0 else after.number)
            for chance, reward, after in self.states[number].rows[action]
        ]

    def _meet(self, met: State, depth: int) -> State:
        state = self.known.setdefault(met.key, met)
        if state is not met:
            self.again += 1
            self.compare(state, met, depth)
        elif state.number < 0:
            state.number, state.depth, state.copy = len(self.states), depth, self.kept(met.copy)
            self.states.append(state)
        return state

    def replay(self, games: int, most: float) -> None:
        """Compare some games of the simulator itself, of so many moves at most, with the law."""
        begun: list[State] = []  # each is played once, as games change it
        for _ in range(games):
            begun = begun or [met for _, met in self.begin()]
            met: State | None = begun.pop(self.rng.randrange(len(begun)))
            for moves in range(int(min(self.limit, most))):
                if met is None:
                    break
                if met.key not in self.known:
                    raise ConflictError(
                        "env must begin by its seed, and begins elsewhere with the same one"
                    )
                state = self.known[met.key]
                self.compare(state, met, moves)
                action = self.rng.choice([each for each, ways in state.rows.items() if ways])
                made = self.play(met.copy, action, moves)
                if not any(same(self.paid(way, moves), made) for way in state.rows[action]):
                    raise ConflictError(
                        f"env must play by the law that was found, and action {action} in state "
                        f"{state.number} has paid {made.reward} after {moves} moves"
                    )
                met = made.after

    def paid(self, way: Way, moves: int) -> Way:
        """Return an outcome as a game shows it after some moves."""
        return way


def same(one: Way, other: Way) -> bool:
    """Say whether outcomes lead to the same state and pay the same, but for rounding."""
    return one.key == other.key and abs(one.reward - other.reward) <= CLOSE


def differs(first: Rows, again: Rows) -> int | None:
    """Return an action whose outcomes, or their chances, are not the same."""
    for action in {**first, **again}:
        own, other = first.get(action, []), again.get(action, [])
        if [way.chance for way in own] != [way.chance for way in other]:
            return action
        if not all(map(same, own, other)):
            return action
    return None
