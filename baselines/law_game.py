"""Games whose law is given: ``P`` of an environment, or the matrices of a decision process."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from ..core.block_moves import sums
from ..core.errors import GameError, InputError
from ..core.presentation import Presentation, presents
from ..core.sizes import check_memory
from ..core.types import Array, FloatArray, IntArray
from .explicit import MOST_OFF, ExplicitGame, Lister, Listing, search

#: Bytes of an outcome while its law is read.
ENTRY = 300


class LawGame(ExplicitGame):
    """A game of one player that is given by its law.

    Args:
        counts: number of outcomes of each action, shape (state, action); 0 if it is illegal.
        successors: the state after each outcome, -1 if the game is over, shape (outcome,), sorted
            by state and action.
        chances: probability of each outcome, shape (outcome,).
        rewards: what each outcome pays, shape (outcome,).
        initial: probability of each state at the beginning, shape (state,).
        gamma: discount: the chance that the game goes on after a move.
        horizon: number of moves after which the game is over; None for no limit.
        title: the name of the game, for people.

    Raises:
        GameError: naming the state and the action whose outcomes are no law.
    """

    name: ClassVar[str] = "Law"

    def __init__(
        self,
        counts: IntArray,
        successors: IntArray,
        chances: FloatArray,
        rewards: FloatArray,
        initial: FloatArray,
        gamma: float = 1.0,
        horizon: int | None = None,
        title: str = "a law",
    ) -> None:
        self.counts, self.successors, self.chances = counts, successors, chances
        self.rewards, self.initial, self.gamma = rewards, initial, gamma
        self.horizon, self.title = horizon, title
        _require(self)
        longest = 1 / (1 - gamma) if gamma < 1 else None
        super().__init__(_list(self), ("state",), horizon, longest)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.title!r}, {self.rows} states{self.terms})"

    def without_limit(self) -> "LawGame":
        """Return the game that goes on until it ends."""
        law = self.counts, self.successors, self.chances, self.rewards, self.initial
        return LawGame(*law, self.gamma, None, self.title)

    @property
    def terms(self) -> str:
        """The horizon and the discount in words, with a comma before each."""
        limit = "" if not self.horizon else f", within {self.horizon:,} moves"
        return limit + ("" if self.gamma == 1 else f", gamma {self.gamma}")


@presents(LawGame)
class LawPresentation(Presentation[LawGame]):
    """The words of a game that is given by its law."""

    @property
    @override
    def title(self) -> str:
        return self.game.title

    @property
    @override
    def words(self) -> str:
        return self.heading

    @property
    @override
    def heading(self) -> str:
        limit = "" if self.game.horizon else ", without a limit of moves"
        return self.title + (self.game.terms if self.game.gamma < 1 else self.game.terms + limit)


def _require(game: LawGame) -> None:
    """Check what a law is given by, but for the sums of its chances."""
    shape = game.counts.shape
    if len(shape) != 2 or not game.counts.size:
        raise GameError(f"counts must be of shape (state, action), got {shape}")
    for name, given, low, high in (
        ("successors", game.successors, -1, shape[0] - 1),
        ("probabilities", game.chances, 0, 1 + 1 / MOST_OFF),
        ("rewards", game.rewards, -1e300, 1e300),
        ("initial", game.initial, 0, 1 + 1 / MOST_OFF),
    ):
        wrong = ~((np.ravel(given) >= low) & (np.ravel(given) <= high))
        if wrong.any():
            at, where = int(np.argmax(wrong)), ""
            if name != "initial":
                where = _cell_name(game, int(np.searchsorted(game.counts.cumsum(), at, "right")))
            raise GameError(
                f"{name} must be from {low} to {high:g}, got {np.ravel(given)[at]} {where}"
            )
    if not game.counts.any(axis=1).all():
        state = int(np.argmin(game.counts.any(axis=1)))
        raise GameError(f"a state must have an action with an outcome, got none in state {state}")
    if game.initial.shape != shape[:1] or abs(game.initial.sum() - 1) > 1 / MOST_OFF:
        raise GameError(
            f"initial must be {shape[0]} probabilities that sum to 1, got {game.initial.shape} "
            f"that sum to {game.initial.sum():.6g}"
        )


def _cell_name(game: LawGame, cell: int) -> str:
    state, action = divmod(cell, game.counts.shape[1])
    return f"for action {action} in state {state}"


def _list(game: LawGame) -> Listing:
    """List the moves of a game."""
    columns = game.chances, game.successors, game.rewards
    chances, after, paid = (column.tolist() for column in columns)
    lister, bounds = Lister(game.gamma), sums(game.counts.ravel()).tolist()
    for cell, (first, last) in enumerate(pairwise(bounds)):
        if first == last:
            lister.skip()
        else:
            own = slice(first, last)
            lister.add(chances[own], after[own], paid[own], _cell_name(game, cell))
    states = np.arange(len(game.counts))
    start = {state: game.initial[state] for state in np.flatnonzero(game.initial).tolist()}
    listing = lister.listing(np.zeros_like(states), states[:, None], start, game.counts.shape[1])
    return listing if game.horizon or game.gamma < 1 else _without_ends(listing)


def _without_ends(listing: Listing) -> Listing:
    """Have a game be over where it would only go on, and pay nothing any more.

    In a state with an illegal action it is not, as that action pays.
    """
    sources, end = listing.sources, len(listing.movers)
    after = np.where(listing.targets < 0, end, listing.targets)
    some = sources[listing.payoffs[listing.paid] != 0]
    some = np.append(some, np.flatnonzero(~listing.legal.all(axis=1)))
    idle = search(np.append(some, end), after, sources, end + 1) < 0
    return listing._replace(targets=np.where(idle[after] | idle[sources], -1, listing.targets))


def read_law(
    law: Any, initial: Any, rewards: Any = None, legal: Any = None
) -> tuple[IntArray, IntArray, FloatArray, FloatArray, FloatArray]:
    """Read a law (see ``envs.from_P``): the first arguments of ``LawGame``, down to ``initial``."""
    if isinstance(law, Mapping):
        if rewards is not None:
            raise InputError("rewards must be left out, as the dictionary P has them")
        counts, columns = _from_dictionary(law)
    else:
        counts, columns = _from_matrices(law, rewards)
    states = len(counts)
    start = np.zeros(states)
    if np.ndim(initial) == 0:
        if initial not in range(states):
            raise InputError(f"initial must be a state from 0 to {states - 1}, got {initial!r}")
        start[int(initial)] = 1.0
    else:
        start = np.asarray(initial, dtype=np.float64)
    if legal is not None:
        allowed = np.asarray(legal, dtype=bool)
        if allowed.shape != counts.shape:
            raise InputError(f"legal must be of shape {counts.shape}, got {allowed.shape}")
        kept = np.repeat(allowed.ravel(), counts.ravel())
        counts, columns = counts * allowed, tuple(column[kept] for column in columns)
    chances, after, paid = columns
    return counts, after, chances, paid, start


#: Of each outcome, sorted by state and action: its chance, the state that follows, what is paid.
_Columns = tuple[FloatArray, IntArray, FloatArray]


def _from_dictionary(law: Mapping[int, Any]) -> tuple[IntArray, _Columns]:
    """Read ``P[state][action] = [(probability, next state, reward, terminated), ...]``."""
    states = sorted(law)
    if states != list(range(len(states))):
        raise InputError(f"P must have the states 0 to {len(states) - 1}, got {states[:5]} ...")
    actions = len(law[0])
    counts, listed = np.zeros((len(states), actions), dtype=np.int64), []
    for state in states:
        if sorted(law[state]) != list(range(actions)):
            raise InputError(
                f"P must have the actions 0 to {actions - 1} in each state, got "
                f"{sorted(law[state])} in state {state}"
            )
        for action in range(actions):
            own = [way for way in law[state][action] if way[0] != 0]
            counts[state, action] = len(own)
            listed += own
            check_memory("outcomes of P", len(listed), ENTRY)
    wrong = next((way for way in listed if len(way) != 4 or not 0 <= way[1] < len(states)), None)
    if wrong is not None:
        raise InputError(
            "P must list (probability, next state, reward, terminated) with states from 0 to "
            f"{len(states) - 1}, got {wrong}"
        )
    after = [-1 if over else to for _, to, _, over in listed]
    chances, paid = (np.array([way[k] for way in listed], dtype=np.float64) for k in (0, 2))
    return counts, (chances, np.array(after, dtype=np.int64), paid)


def _from_matrices(law: Any, rewards: Any) -> tuple[IntArray, _Columns]:
    """Read a matrix (state, next state) for each action, and rewards.

    Rewards are of shape (state,), (state, action) or (action, state, next state).
    """
    if rewards is None:
        raise InputError(
            "rewards must be given with matrices, of shape (state,), (state, action) or (action, "
            "state, next state)"
        )
    counts, columns = [], []
    states, actions = law[0].shape[0], len(law)
    paid = rewards if isinstance(rewards, list | tuple) else np.asarray(rewards, dtype=np.float64)
    for action, matrix in enumerate(law):
        if matrix.shape != (states, states):
            raise InputError(
                f"P must be matrices of shape {(states, states)}, got {matrix.shape} of action "
                f"{action}"
            )
        rows, after = matrix.nonzero()
        chances = np.asarray(matrix[rows, after], dtype=np.float64).ravel()
        each: Array = np.asarray(paid)
        if isinstance(rewards, list | tuple) and hasattr(rewards[0], "nonzero"):
            own = np.asarray(rewards[action][rows, after], dtype=np.float64).ravel()
        elif each.shape == (states,):
            own = each[rows]
        elif each.shape == (states, actions):
            own = each[rows, action]
        elif each.shape == (actions, states, states):
            own = each[action, rows, after]
        else:
            raise InputError(
                f"rewards must be of shape {(states,)}, {(states, actions)} or "
                f"{(actions, states, states)}, got {each.shape}"
            )
        counts.append(np.bincount(rows, minlength=states))
        columns.append((rows * actions + action, chances, after, own))
    cells, *found = (np.concatenate(column) for column in zip(*columns, strict=True))
    in_order = np.argsort(cells, kind="stable")
    chances, after, own = (column[in_order] for column in found)
    return np.stack(counts, axis=1), (chances, after.astype(np.int64), own)
