"""Games whose law is given: ``P`` of an environment, or the matrices of a decision process."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from ...core import Array, FloatArray, GameError, InputError, IntArray, Presentation, presents
from ...core.block_moves import index_type, sums
from ...core.checks import require_count, show_numbers
from ...core.sizes import check_memory
from ...core.words import plural
from .explicit import ExplicitGame, View, cell_name
from .graphs import search
from .listing import MOST_OFF, Listing, read_start
from .numbers import (
    COARSE,
    LARGEST,
    NUMBERS,
    as_list,
    as_numbers,
    column,
    plain,
    plain_law,
    rational,
    rounding,
)

#: Bytes of an outcome while its law is read.
ENTRY = 300


class LawGame(ExplicitGame):
    """A game of one player that is given by its law."""

    name: ClassVar[str] = "Law"

    def __init__(
        self,
        counts: IntArray,  # outcomes of each action, shape (state, action); 0 if it is illegal
        # state after each outcome, -1 at the end, (outcome,), by state and action
        successors: IntArray,
        chances: FloatArray,  # probability of each outcome, shape (outcome,)
        rewards: FloatArray,  # what each outcome pays, shape (outcome,)
        initial: FloatArray,  # probability of each state at the beginning, shape (state,)
        gamma: float = 1.0,  # discount: the chance that the game goes on after a move
        horizon: int | None = None,  # number of moves after which the game is over
        title: str = "a law",  # the name of the game, for people
        view: View | None = None,  # what is shown in a state, and names; None for its number
    ) -> None:
        self.view = view
        self.counts, self.successors, self.chances = counts, successors, chances
        self.rewards, self.initial, self.gamma = rewards, initial, gamma
        self.horizon, self.title = horizon, title
        _require(self)
        super().__init__(_list(self), ("state",), horizon)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.title!r}, {self.rows} states{self.terms})"

    def without_limit(self) -> "LawGame":
        """Return the game that goes on until it ends."""
        law = self.counts, self.successors, self.chances, self.rewards, self.initial
        return LawGame(*law, self.gamma, None, self.title, self.view)

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

    @override
    def describe(self, observation: IntArray) -> str:
        names = self.game.view.states if self.game.view else ()
        words = super().describe(observation)
        return names[observation[0]] + words[len(f"state {observation[0]}") :] if names else words

    @override
    def describe_action(self, action: int) -> str:
        names = self.game.view.actions if self.game.view else ()
        return names[action] if names else super().describe_action(action)

    @property
    @override
    def heading(self) -> str:
        limit = "" if self.game.horizon else ", without a limit of moves"
        terms = self.game.terms + limit * (self.game.gamma == 1)
        view, alike = self.game.view, ""
        if view is not None and 0 < view.different < self.game.rows:
            count = view.different
            alike = f", {self.game.rows:,} states that show {count:,} "
            alike += plural(count, "observation")
        return self.title + terms + alike

    words = heading


def _require(game: LawGame) -> None:
    """Check what a law is given by, but for the sums of its chances."""
    shape = game.counts.shape
    if game.horizon is not None:
        require_count("horizon", game.horizon)
    if plain(game.gamma) is None:
        raise GameError(f"gamma must be a number from 0 to 1, got {game.gamma!r}")
    if len(shape) != 2 or not game.counts.size:
        raise GameError(f"counts must be of shape (state, action), got {shape}")
    for name, given, low, high in (
        ("successors", game.successors, -1, shape[0] - 1),
        ("probabilities", game.chances, 0, 1 + 1 / MOST_OFF),
        ("rewards", game.rewards, -LARGEST, LARGEST),
        ("initial", game.initial, 0, 1 + 1 / MOST_OFF),
    ):
        wrong = ~((np.ravel(given) >= low) & (np.ravel(given) <= high))
        if wrong.any():
            at, where = int(np.argmax(wrong)), ""
            if name != "initial":
                cell = int(np.searchsorted(game.counts.cumsum(), at, "right"))
                where = cell_name(cell, shape[1])
            raise GameError(
                f"{name} must be from {low} to {high:g}, got {np.ravel(given)[at]} {where}"
            )
    if not game.counts.any(axis=1).all():
        state = int(np.argmin(game.counts.any(axis=1)))
        raise GameError(f"a state must have an action with an outcome, got none in state {state}")
    if game.initial.shape != shape[:1] or abs(game.initial.sum() - 1) > 1 / MOST_OFF:
        raise GameError(
            f"initial must be {shape[0]} probabilities that sum to 1, got {game.initial.shape} "
            f"that sum to {float(game.initial.sum()):.6g}"
        )


def _list(game: LawGame) -> Listing:
    """List the moves of a game."""
    states = np.arange(len(game.counts))
    first = np.flatnonzero(game.initial)
    start = read_start(game.initial[first].tolist())
    law = game.counts, game.successors, game.chances, game.rewards
    gamma = rational(game.gamma)
    listing = Listing(np.zeros_like(states), states[:, None], first, start, *law, gamma)
    return listing if game.horizon or game.gamma < 1 else _without_ends(listing)


def _without_ends(listing: Listing) -> Listing:
    """Have a game be over where it would only go on, and pay nothing any more.

    In a state with an illegal action it is not, as that action pays.
    """
    sources, end = listing.sources, len(listing.movers)
    after = np.where(listing.targets < 0, end, listing.targets)
    pays: Any = ~listing.legal.all(axis=1)
    pays[sources[listing.paid != 0]] = True
    idle = search(np.append(np.flatnonzero(pays), end), after, sources, end + 1) < 0
    return replace(listing, targets=np.where(idle[after] | idle[sources], -1, listing.targets))


def read_law(
    law: Any, initial: Any, rewards: Any = None, legal: Any = None
) -> tuple[IntArray, IntArray, Array, Array, Array]:
    """Read a law (see ``envs.from_P``): the first arguments of ``LawGame``, down to ``initial``."""
    if isinstance(law, Mapping):
        if rewards is not None:
            raise InputError("rewards must be left out, as the dictionary P has them")
        counts, (chances, after, paid) = _from_dictionary(law)
    else:
        counts, (chances, after, paid) = _from_matrices(law, rewards)
    states = len(counts)
    if (first := plain(initial)) is None:
        given = _array(initial, "initial")
        start = _values(given.ravel(), "initial")
        start = _normed(start, np.zeros_like(start, int), given.dtype).reshape(given.shape)
    elif first in range(states):
        start = np.eye(1, states, int(first))[0]
    else:
        raise InputError(f"initial must be a state from 0 to {states - 1}, got {initial!r}")
    if legal is not None:
        allowed = _array(legal, "legal")
        if allowed.shape != counts.shape:
            raise InputError(f"legal must be of shape {counts.shape}, got {allowed.shape}")
        if not np.isin(allowed, (0, 1)).all():
            raise InputError(f"legal must be True or False, got {show_numbers(allowed)}")
        kept = np.repeat(allowed.ravel() == 1, counts.ravel())
        counts = counts * (allowed == 1)
        chances, after, paid = (each[kept] for each in (chances, after, paid))
    for array in (counts, after, chances, paid):
        array.setflags(write=False)  # so that games need no copies
    return counts, after, chances, paid, start


#: Of each outcome, sorted by state and action: its chance, the state that follows, what is paid.
_Columns = tuple[Array, IntArray, Array]


def _from_dictionary(law: Mapping[Any, Any]) -> tuple[IntArray, _Columns]:
    """Read ``P[state][action] = [(probability, next state, reward, terminated), ...]``."""
    states = len(law)
    if not states or set(law) != set(range(states)):
        raise InputError(f"P must have the states 0 to {max(states - 1, 0)}, got {[*law][:5]} ...")
    actions = max(1, len(law[0])) if isinstance(law[0], Mapping) else 1
    cells, keys = [], dict.fromkeys(range(actions)).keys()
    for state in range(states):
        own = law[state]
        if not isinstance(own, Mapping) or own.keys() != keys:
            got = list(own) if isinstance(own, Mapping) else repr(own)
            raise InputError(
                f"P must have the actions 0 to {actions - 1} in each state, got {got} in state "
                f"{state}"
            )
        cells += [as_list(own[action]) for action in keys]
    ways, cell = list(chain(*cells)), np.repeat(np.arange(len(cells)), [*map(len, cells)])
    check_memory("outcomes of P", len(ways), ENTRY)
    wrong = np.array([not isinstance(way, tuple | list) or len(way) != 4 for way in ways])
    if not wrong.any():
        given, *others = ([*map(itemgetter(part), ways)] for part in range(4))
        if COARSE & {*map(type, given)}:
            given = list(chain(*(plain_law(way[0] for way in own) for own in cells)))
        chances, after, paid, over = map(column, (given, *others))
        fits = (after >= 0) & (after < states) & (after % 1 == 0) & (paid == paid)
        wrong = (chances != chances) | (chances != 0) & ~(fits & ((over == 0) | (over == 1)))
    if wrong.any():
        way = int(np.argmax(wrong))
        raise InputError(
            "P must list (probability, next state, finite reward, terminated: True or False) with "
            f"states from 0 to {states - 1}, got {ways[way]!r} {cell_name(cell[way], actions)}"
        )
    some = chances != 0
    after, cell = np.where(over == 1, -1, after)[some].astype(index_type(states)), cell[some]
    counts = np.bincount(cell, minlength=len(cells)).reshape(states, actions)
    return counts, (chances[some], after, paid[some])


def _from_matrices(law: Any, rewards: Any) -> tuple[IntArray, _Columns]:
    """Read a matrix (state, next state) for each action, and rewards (see ``_read_rewards``)."""
    matrices = [each if hasattr(each, "tocsr") else _array(each, "P") for each in as_list(law)]
    shapes, actions = [each.shape for each in matrices], len(matrices)
    states = max((length for shape in shapes for length in shape), default=0)
    if not states or shapes != [(states, states)] * actions:
        raise InputError(
            "P must be a dictionary, an environment that has P, or for each action a matrix of "
            f"shape (state, next state), got {actions} of shapes {shapes[:5]}"
        )
    if rewards is None:
        raise InputError(
            "rewards must be given with matrices, of shape (state,), (state, action) or (action, "
            "state, next state)"
        )
    tables, numbers = _read_rewards(rewards, actions, states), np.arange(states)
    each = [_entries(matrix) for matrix in matrices]
    counts = np.stack([lengths for lengths, *_ in each], axis=1)
    firsts = sums(counts.ravel())[:-1].reshape(counts.shape)
    chances: Array = np.empty(counts.sum(), np.result_type(*(given for *_, given in each)))
    targets: IntArray = np.empty(len(chances), dtype=index_type(states))
    paid: Array = np.empty(len(chances))
    if not isinstance(tables, list):
        paid = np.repeat(tables.ravel(), counts.ravel())
    for action, (lengths, after, given) in enumerate(each):
        places = np.repeat(firsts[:, action] - sums(lengths)[:-1], lengths)
        places += np.arange(len(after))
        chances[places], targets[places] = given, after
        if isinstance(tables, list):
            found = np.asarray(tables[action][np.repeat(numbers, lengths), after]).ravel()
            found = _values(found, "rewards")
            paid = paid if found.dtype == paid.dtype else paid.astype(object)
            paid[places] = found
    return counts, (chances, targets, paid)


def _entries(matrix: Any) -> tuple[IntArray, IntArray, Array]:
    """Give the entries of a matrix that are not 0: numbers of the rows, columns and values."""
    states = matrix.shape[0]
    if isinstance(matrix, np.ndarray):
        rows, after = np.divmod(np.flatnonzero(matrix), states)
        chances, lengths = _values(matrix[rows, after], "P"), np.bincount(rows, minlength=states)
    else:
        given, matrix = matrix, matrix.tocsr()
        if not matrix.has_canonical_format:
            matrix = matrix.copy() if matrix is given else matrix
            matrix.sum_duplicates()  # entries of one place add up
        lengths, after = np.diff(matrix.indptr), matrix.indices
        chances = _values(_array(matrix.data, "P"), "P")
        if not (some := chances != 0).all():
            lengths = np.bincount(np.repeat(np.arange(states), lengths)[some], minlength=states)
            after, chances = after[some], chances[some]
    if rounding(matrix.dtype):
        chances = _normed(chances, np.repeat(np.arange(states), lengths), matrix.dtype)
    return lengths, after, chances


def _read_rewards(rewards: Any, actions: int, states: int) -> Any:
    """Give what moves pay: an array (state, action), or tables (state, next state) for each action.

    Rewards are of shape (state,), (state, action) or (action, state, next state).
    """
    whole = actions, states, states
    if isinstance(rewards, list | tuple) and any(hasattr(each, "tocsr") for each in rewards):
        tables = [
            each.tocsr() if hasattr(each, "tocsr") else _array(each, "rewards") for each in rewards
        ]
        shape = len(tables), *max(tables, key=lambda table: table.shape != whole[1:]).shape
        if shape == whole:
            return tables
    else:
        given = _array(rewards, "rewards")
        shape = given.shape
        if shape == whole:
            return list(given)
        if shape in ((states,), (states, actions)):
            values = _values(given.ravel(), "rewards").reshape(states, -1)
            return np.broadcast_to(values, (states, actions))
    raise InputError(
        f"rewards must be of shape {(states,)}, {(states, actions)} or {whole}, got {shape}"
    )


def _array(given: Any, name: str) -> Array:
    """Read an array of numbers of any library; fractions stay objects."""
    given = given.toarray() if hasattr(given, "toarray") else given
    try:
        array = np.asarray(given)
    except Exception:  # of which ``as_numbers`` tells
        array = np.zeros(())
    if array.dtype == object and array.ndim:
        return _values(array.ravel(), name).reshape(array.shape)
    return as_numbers(given, name)


def _values(given: Array, name: str) -> Array:
    """Read the numbers of an array, (number,), as ``plain`` does; floats of 64 bits stay."""
    found = column(given)
    if found is not given and (none := found != found).any():
        raise InputError(f"{name} must be {NUMBERS}, got {given[np.argmax(none)]!r}")
    return found


def _normed(chances: Array, laws: IntArray, kind: Any) -> Array:
    """Divide probabilities by the sums of their laws, if these are rounded sums of a type."""
    if not rounding(kind):
        return chances
    sums = np.bincount(laws, chances)
    return chances / np.where(np.abs(sums - 1) <= rounding(kind), sums, 1.0)[laws]
