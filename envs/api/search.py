"""Simulators that can be copied: every move is made once, in a copy of each state.

States are told apart by keys. What a simulator shows, and what its moves lead to and pay, must
follow from the key. So a state that is met again is compared with the first one, and in the end
random games of the simulator itself are compared with the law (``replay``).
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from itertools import chain, cycle, islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...core import InputError

#: Payments that differ by no more are equal.
CLOSE = 1e-9


class ConflictError(InputError):
    """The answers of a simulator do not follow from the keys of its states."""


@dataclass(slots=True, eq=False)
class State:
    """A state as it was met."""

    key: Hashable
    shown: Any  # the observation, and what else there is to know of it
    copy: Any  # of the simulator; None as soon as the moves are known
    player: int = 0  # who moves
    number: int = -1  # in the order in which states are found; -1 if it is not one of them
    depth: int = 0  # moves before it: of a state that is found, the fewest
    rows: "Rows" = field(default_factory=dict)

    def __repr__(self) -> str:
        return str(self.number)


class Way(NamedTuple):
    """An outcome of a move."""

    chance: Any
    reward: float
    after: State | None  # None if the game is over

    @property
    def key(self) -> Hashable:
        """The key of the next state."""
        return None if self.after is None else self.after.key

    def same(self, other: "Way") -> bool:
        """Say whether another one leads to the same state and pays the same, but for rounding."""
        return self.key == other.key and abs(self.reward - other.reward) <= CLOSE


#: The outcomes of each legal action.
Rows: TypeAlias = dict[int, list[Way]]


class Simulator(ABC):
    """The states of a simulator, which ``law.simple.search`` finds breadth first.

    Attributes:
        limit: number of moves after which a game is over.
        kept: gives the form in which a copy is kept.
        known: the states that were found, by key.
        again: number of outcomes that have led to known states.
        starts: the keys of the first states, one for each beginning, as a search has met them.
    """

    limit: float = np.inf
    kept: Callable[[Any], Any] = staticmethod(lambda copy: copy)

    def __init__(self) -> None:
        self.known: dict[Hashable, State] = {}
        self.again = 0
        self.starts: list[Hashable] = []
        self.rng = random.Random(0)  # noqa: S311  of samples

    @abstractmethod
    def begin(self) -> Iterable[tuple[Any, State]]:
        """Begin games: give the first states and their chances."""

    @abstractmethod
    def moves(self, state: State) -> Rows:
        """Make every move of a state."""

    @abstractmethod
    def compare(self, state: State, met: State) -> None:
        """Require that a state that is met again is as it was."""

    @abstractmethod
    def play(self, met: State, action: int) -> Way:
        """Move in a game."""

    def paid(self, way: Way, moves: int) -> Way:
        """Return an outcome as a game shows it after some moves."""
        return way

    def start(self) -> list[tuple[Any, State]]:
        """Give the chance of each first state, and the state."""
        begun = [(chance, self._meet(met, 0)) for chance, met in self.begin()]
        self.starts = [state.key for _, state in begun]
        return begun

    def player(self, state: State) -> int:
        """Return the player to move in a state."""
        return state.player

    def rows(self, state: State) -> Rows:
        """Return what the moves of a state lead to; they are made once."""
        state.rows = state.rows or self.moves(state)
        return state.rows

    def actions(self, state: State) -> list[int]:
        """Make all moves of a state; give the legal ones."""
        depth = state.depth + 1
        for ways in self.rows(state).values():
            for place, (chance, reward, after) in enumerate(ways):
                if after is None:
                    continue
                if depth < self.limit or after.key in self.known:
                    ways[place] = Way(chance, reward, self._meet(after, depth))
                else:
                    after.copy = None
        state.copy = None
        return [*state.rows]

    def outcomes(self, state: State, action: int) -> list[tuple[Any, float, State | None]]:
        """Give chance, payment and next state of each outcome; beyond the limit is no state."""
        return [(way.chance, way.reward, self.known.get(way.key)) for way in state.rows[action]]

    def _meet(self, met: State, depth: int) -> State:
        met.depth = depth
        state = self.known.setdefault(met.key, met)
        if state is met:
            state.number, state.copy = len(self.known) - 1, self.kept(met.copy)
        else:
            self.again += 1
            self.compare(state, met)
        return state

    def replay(self, games: int, most: float) -> None:
        """Compare some games of the simulator itself, of so many moves at most, with the law."""
        begun = chain.from_iterable(iter(self.begin, None))  # again and again, as games change it
        for first, (_, met) in islice(zip(cycle(self.starts), begun, strict=False), games):
            if met.key != first:
                raise ConflictError(
                    "env must begin by its seed, and begins elsewhere with the same one"
                )
            for moves in range(int(min(self.limit, most))):
                state, met.depth = self.known[met.key], moves
                self.compare(state, met)
                action = self.rng.choice([*state.rows])
                made = self.play(met, action)
                if not any(self.paid(way, moves).same(made) for way in state.rows[action]):
                    raise ConflictError(
                        f"env must play by the law that was found, and action {action} in state "
                        f"{state} has paid {made.reward} after {moves} moves"
                    )
                if made.after is None:
                    break
                met = made.after
