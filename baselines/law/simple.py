"""The class ``SimpleGame``: a game that is written state by state, in plain Python.

Its author says where a game begins, which actions a state has, and what each leads to. The states
are found from there by search, numbered and listed once; from then on it is a game as any other.
The contract of ``Game`` takes arrays of states instead, for games that are too large to list so.
"""

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from typing_extensions import override

from ...core import Array, GameError, IntArray, Note, Presentation, Row, presents
from ...core.block_moves import in_a_row, sums
from ...core.checks import is_whole
from ...core.progress import tell
from ...core.sizes import check_memory
from .explicit import ExplicitGame
from .graphs import levels_of
from .listing import Listing, read_start
from .numbers import NUMBERS, as_list, column, plain, plain_law, rational

#: Bytes of a state, its actions and their outcomes while they are found, about.
STATE = 1000
#: Tuples with larger numbers are observed as the numbers of the states.
LARGEST = 10**6


class FoundGame(ExplicitGame):
    """A game whose states were found by search, with the attributes of ``SimpleGame``."""

    gamma: float = 1.0
    horizon: int | None = None

    def __init__(self, found: "Found") -> None:
        self.states, met = list(found.states), list(found.actions)
        self.choices = sorted(met) if all(map(is_whole, met)) else met
        if (known := plain(self.gamma)) is None:
            raise GameError(f"gamma must be a number from 0 to 1, got {self.gamma!r}")
        if (self.horizon or known != 1) and any(isinstance(s, Waits) for s in self.states):
            raise GameError(
                "player 0 must make the first move within a horizon or with a gamma below 1, and "
                "start gives states of player 1"
            )
        names, seen = _observed(self.states)
        listing = Listing(
            np.array(found.movers),
            seen,
            np.arange(len(found.start)),
            read_start(found.start),
            *found.law(self.choices),
            rational(known),
        )
        super().__init__(listing, names, self.horizon)

    @override
    def _name_cell(self, cell: int) -> str:
        state, action = divmod(cell, len(self.choices))
        return f"for action {self.choices[action]!r} in state {self.states[state]!r}"


class SimpleGame(FoundGame):
    """A game of one player, or of two whose payoffs add up to 0, that is written state by state.

    A subclass has the methods ``start``, ``actions`` and ``outcomes``; of two players ``player``,
    too. States and actions are any hashable objects. States that are tuples of as many whole
    numbers, from 0 to below a million, are observed as these numbers, all others as their number in
    the order of the search; the fields of a ``NamedTuple`` name the components of an observation.
    A subclass with arguments keeps each as an attribute and then calls ``super().__init__()``. If
    player 1 moves first, player 0 waits before, which is a state with one action.

    Args:
        gamma: discount, read as the chance that the game goes on after a move; by default that of
            the class, an attribute.
        horizon: number of moves after which a game is over, by default that of the class; None
            there for no limit.

    Attributes:
        name: the name of the game, by default that of the class.
        states: the states by number.
        choices: the actions by number: whole numbers in growing order, others as they are met.

    Raises:
        GameError: naming the state, and the action, that breaks a rule.
        SizeError: if there are too many states.
    """

    def __init_subclass__(cls) -> None:
        if "name" not in vars(cls):
            cls.name = cls.__name__

    def __init__(self, gamma: float | None = None, horizon: int | None = None) -> None:
        self.gamma = self.gamma if gamma is None else gamma  # that of the class may change later
        self.horizon = self.horizon if horizon is None else horizon
        super().__init__(search(self))

    @abstractmethod
    def start(self) -> Iterable[tuple[Any, Hashable]]:
        """Give the probability of each first state: ``[(probability, state), ...]``."""

    @abstractmethod
    def actions(self, state: Any) -> Iterable[Hashable]:
        """Give the legal actions in a state, at least one."""

    @abstractmethod
    def outcomes(self, state: Any, action: Any) -> Iterable[tuple[Any, Any, Hashable | None]]:
        """Give what an action leads to: ``[(probability, reward, next state), ...]``.

        The next state is None if the game is over. The reward is that of the player who moves.
        Probabilities and rewards are floats, whole numbers or fractions.
        """

    def player(self, state: Any) -> int:
        """Say who is to move, 0 or 1; by default there is one player."""
        return 0


class Waits(NamedTuple):
    """The state in which player 0 waits for the first move of player 1."""

    state: Any  # that of player 1


class Found(NamedTuple):
    """The outcomes that a search has found, in flat lists: many small objects are slow to keep."""

    start: list[Any]  # the probability of each first state, which come first
    states: dict[Any, int]  # the number of each state
    movers: list[int]  # the player to move in each state
    actions: dict[Any, int]  # that of each action, as they are met
    widths: list[int]  # number of actions of each state
    taken: list[int]  # those actions, (cell,)
    lengths: list[int]  # number of their outcomes, (cell,)
    chances: list[Any]  # of each outcome, as the next two
    paid: list[Any]
    targets: list[int]  # number of the next state, -1 if the game is over

    def longest(self) -> float:
        """Return the number of moves of the longest game; infinity if moves lead back."""
        ways = np.add.reduceat(self.lengths, sums(np.array(self.widths))[:-1])
        levels, done = levels_of(sums(ways), np.array(self.targets))
        return 1 + float(levels.max()) if done else np.inf

    def law(self, choices: Sequence[Any]) -> tuple[IntArray, IntArray, Array, Array]:
        """List the moves by state and number of the action: counts, targets, chances, payments."""
        places = {action: place for place, action in enumerate(choices)}
        numbers = np.array([places[action] for action in self.actions])
        counts = np.zeros((len(self.states), len(choices)), dtype=np.int64)
        rows = np.repeat(np.arange(len(counts)), self.widths)
        cells = rows * len(choices) + numbers[self.taken]
        counts.ravel()[cells] = self.lengths
        ways = in_a_row(sums(np.array(self.lengths)), np.argsort(cells))
        targets = np.array(self.targets)[ways]
        return counts, targets, column(self.chances)[ways], column(self.paid)[ways]


def search(game: Any, size: float = STATE) -> Found:
    """Find the states of a game from its start, actions and outcomes (see ``SimpleGame``).

    ``size`` is the number of bytes that a state takes while it is found.
    """
    start: dict[Any, Any] = {}
    for chance, state in _rows(game.start(), 2, "start must give (probability, state)", ""):
        if state is None:
            raise GameError("start must give states, got None, which says that the game is over")
        first = Waits(state) if _player(game, state) else state
        start[first] = start.get(first, 0) + chance
    states, numbers = list(start), {state: number for number, state in enumerate(start)}
    found = Found([*start.values()], numbers, [], {}, [], [], [], [], [], [])
    for number, state in enumerate(states):  # which grow as the search goes on
        if number % 64 == 0:
            check_memory("states", len(states), size)
            tell(number, len(states), "states")
        waits = isinstance(state, Waits)
        found.movers.append(0 if waits else _player(game, state))
        if waits:
            own = {action: [(1, 0, state.state)] for action in _actions(game, state.state)[:1]}
        else:
            own = {action: _outcomes(game, state, action) for action in _actions(game, state)}
        found.widths.append(len(own))
        for action, ways in own.items():
            found.taken.append(found.actions.setdefault(action, len(found.actions)))
            found.lengths.append(len(ways))
            for chance, paid, after in ways:
                place = -1 if after is None else numbers.setdefault(after, len(states))
                if place == len(states):
                    states.append(after)
                found.chances.append(chance)
                found.paid.append(paid)
                found.targets.append(place)
    return found


def _actions(game: Any, state: Any) -> list[Any]:
    """Give the actions of a state after checking their form."""
    actions, where = game.actions(state), f" in state {state!r}"
    if isinstance(actions, str) or not isinstance(actions, Iterable):
        raise GameError(f"actions must give a list, got {actions!r}{where}")
    found = [_hashable("actions", action, where) for action in as_list(actions)]
    if not found:
        raise GameError(f"actions must give an action at least, got none{where}")
    return found


def _outcomes(game: Any, state: Any, action: Any) -> list[Any]:
    """Give the outcomes of an action after checking their form."""
    where = f" for action {action!r} in state {state!r}"
    wanted = "outcomes must give (probability, reward, next state)"
    ways = []
    for chance, paid, after in _rows(game.outcomes(state, action), 3, wanted, where):
        if chance != 0:
            ways.append((chance, plain(paid), after))
            if ways[-1][1] is None:
                raise GameError(f"rewards must be {NUMBERS}, got {paid!r}{where}")
    if not ways:
        raise GameError(f"{wanted}, got probabilities of 0 alone{where}")
    return ways


def _rows(given: Any, length: int, wanted: str, where: str) -> list[tuple[Any, ...]]:
    """Read tuples of a probability, which becomes a plain number, to a state, which is hashable."""
    rows = as_list(given)
    for row in rows:
        if not isinstance(row, tuple | list) or len(row) != length or plain(row[0]) is None:
            raise GameError(f"{wanted}, in a list, got {row!r}{where}")
        _hashable("states", row[-1], where)
    if not rows:
        raise GameError(f"{wanted}, got none{where}")
    chances = plain_law(row[0] for row in rows)
    return [(chance, *row[1:]) for chance, row in zip(chances, rows, strict=True)]


def _hashable(name: str, value: Any, where: str) -> Any:
    """Return a state or an action if it can be looked up."""
    try:
        hash(value)
    except TypeError:
        raise GameError(
            f"{name} must be hashable, such as numbers and tuples, got {value!r}{where}"
        ) from None
    return value


def _player(game: Any, state: Any) -> int:
    """Say who is to move."""
    mover = game.player(state)
    if plain(mover) not in (0, 1):
        raise GameError(f"player must be 0 or 1, got {mover!r} in state {state!r}")
    return int(mover)


def _observed(states: Sequence[Any]) -> tuple[Sequence[str], IntArray]:
    """Give the components of observations, and those of each state, shape (state, component)."""
    first = states[0]
    if not isinstance(first, tuple) or not first:
        return ["state"], np.arange(len(states))[:, None]
    for each in states:
        alike = isinstance(each, tuple) and len(each) == len(first)
        if not alike or not all(is_whole(n) and 0 <= n < LARGEST for n in each):
            return ["state"], np.arange(len(states))[:, None]
    names = getattr(first, "_fields", [f"component {number + 1}" for number in range(len(first))])
    return list(names), np.array(states, dtype=np.int64)


@presents(FoundGame)
class SimplePresentation(Presentation[FoundGame]):
    """The words of a game that was found by search: its states and actions as texts."""

    verbs = (("chooses", "choose"),)

    def _state(self, observation: IntArray) -> Any:
        (number,) = self.game.encode(observation[None]) % self.game.rows
        return self.game.states[number]

    @override
    def board(self, seat: int, observation: IntArray, names: Sequence[str]) -> tuple[Row, ...]:
        return (Row("state", (Note(str(self._state(observation))),)),)

    @override
    def describe(self, observation: IntArray) -> str:
        moves = f", after {observation[-1]} moves" if self.game.horizon else ""
        return f"{self._state(observation)}{moves}"

    @override
    def describe_action(self, action: int) -> str:
        return f"chooses {self.game.choices[action]}"
