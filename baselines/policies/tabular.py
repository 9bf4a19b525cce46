"""Tables as policies: each state needs a legal action, or probabilities of legal actions.

Numbers may come as arrays, lists or tensors, or in mappings.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from ...core import Array, BoolArray, FloatArray, Game, InputError, IntArray, frozen
from ...core.checks import is_whole
from ...core.game import once_a_game
from ...core.positions import are_legal, first_actions, pieces, states_of
from ...core.sizes import check_array
from ..law.cut import CutGame
from ..law.explicit import ExplicitGame
from ..law.numbers import as_numbers
from .kinds import DeterministicPolicy, Policy, StochasticPolicy

BATCH = 2**21  # entries (state, action) in a batch that is checked, or computed by a function
SUM_TOLERANCE = 1e-5  # float32 networks; the probabilities are normalised once accepted
_UNMASKED = " (masked=False lets it choose any, at the worst payoff)"

#: A function from states to whether every action there has the worst payoff as its value, (state,).
Worthless: TypeAlias = Callable[[IntArray], BoolArray]


class NoLawError(InputError):
    """Numbers are no probabilities: they may be logits or action values."""


@dataclass(frozen=True)
class PolicyCheck:
    """Checks actions and probabilities that a policy gives for states of its seat."""

    game: Game  # the game that is played
    seat: int  # the seat that the policy plays
    masked: bool = True  # whether the policy must keep to the legal actions
    # Returns whether every action of a state has the worst payoff as its value. In such a state the
    # table of a planner may choose an illegal action, which pays the same; the first legal action
    # replaces it.
    worthless: Worthless | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of states and of actions."""
        return self.game.num_states, self.game.num_actions

    def __call__(self, given: npt.NDArray[Any], states: IntArray) -> npt.NDArray[Any]:
        """Return checked actions, (state,), or laws, (state, action), normalised to sum to 1."""
        shape = (len(states), self.game.num_actions)
        if given.ndim == 1 and given.dtype.kind in "iu" and given.shape == shape[:1]:
            return self._actions(given, states)
        if given.shape != shape:
            raise self.shape_error(given, len(states))
        return self._law(given.astype(np.float64), states)  # float16 rows are off by 1e-4

    def shape_error(self, given: npt.NDArray[Any], count: int) -> InputError:
        """Return the error that an array is no policy for a number of states."""
        alone = ": a function gets many observations at once" * (not given.ndim)
        return InputError(
            f"policy must be a table of shape {(count, self.game.num_actions)} (state, action) or "
            f"integers of shape ({count},), got {given.dtype} of shape {given.shape}{alone}"
        )

    def _actions(self, given: IntArray, states: IntArray) -> IntArray:
        """Check an action for each state."""
        in_range = (given >= 0) & (given < self.game.num_actions)
        chosen = np.where(in_range, given, 0).astype(np.int64)
        legal = in_range & (not self.masked or are_legal(self.game, states, chosen))
        harmless = self._harmless(states, np.flatnonzero(in_range & ~legal))
        chosen[harmless] = first_actions(self.game, states[harmless])
        legal[harmless] = True
        if not legal.all():
            row = int(np.argmin(legal))
            raise InputError(
                f"policy must choose legal actions, got {given[row]} {self._at(states[row])}"
                f"{_UNMASKED}"
            )
        return chosen

    def _law(self, law: FloatArray, states: IntArray) -> FloatArray:
        """Check a law of actions for each state; normalise it."""
        allowed = self.game.mask(states) if self.masked else np.ones(law.shape, dtype=bool)
        harmless = self._harmless(states, np.flatnonzero(((law > 0) & ~allowed).any(axis=1)))
        law[harmless] = 0.0
        law[harmless, allowed[harmless].argmax(axis=1)] = 1.0
        with np.errstate(invalid="ignore"):
            sums = law.sum(axis=1)
        off = ~(np.abs(sums - 1) <= SUM_TOLERANCE)
        error = NoLawError if off.any() else InputError
        for wrong, requirement, hint in (
            (~np.isfinite(law), "be finite", ""),
            (law < 0, "not be negative", ""),
            ((law > 0) & ~allowed, "leave illegal actions alone", _UNMASKED),
        ):
            if wrong.any():
                row, action = np.argwhere(wrong)[0]
                raise error(
                    f"policy must {requirement}, got {law[row, action]:.6g} "
                    f"{self._at(states[row])}, action {action}{hint}"
                )
        if off.any():
            row = int(np.argmax(np.abs(sums - 1)))
            raise error(
                f"policy must have probabilities that sum to 1, got {sums[row]:.6g} "
                f"{self._at(states[row])}"
            )
        return law / sums[:, None]

    def _at(self, state: int) -> str:
        """Name a state, with its observation where that is more than its number."""
        seen = self.game.observe(np.array([state]), self.seat)[0].tolist()
        return f"in state {state}" + (f", {tuple(seen)}" if seen != [state] else "")

    def _harmless(self, states: IntArray, places: IntArray) -> IntArray:
        """Give the places, of illegal choices, where every action has the worst payoff."""
        if self.worthless is None or not len(places):
            return places[:0]
        return places[self.worthless(states[places])]


def table_policy(
    table: Any,
    check: PolicyCheck,
    name: str = "a table",
    show: Callable[[IntArray], npt.NDArray[Any]] | None = None,
) -> Policy:
    """Turn a table into a policy; the numbers are copied.

    It has probabilities, shape (state, action), or actions, shape (state,). Rows of states in which
    the seat is never to move are ignored. One more row may follow for the end of the game, which
    ``P`` has as a state. Or it is a mapping to actions or rows, whose keys are observations, as
    tuples of numbers, or numbers of states; a ``defaultdict`` has its default for all others.
    ``show`` turns observations of integers into those of the keys; None for integers.
    """
    game, own = check.game, states_of(check.game, check.seat)
    known = np.ones(len(own), dtype=bool)
    if isinstance(table, Mapping):
        found = list(_entries(table, check, own, show))
        known = np.array([entry is not None for entry in found])
        there = [entry for entry in found if entry is not None]
        given = as_numbers(there, "policy") if there else np.zeros(0, dtype=np.int64)
    else:
        given = as_numbers(table, "policy")
        count, first, rest = game.num_states, given.shape[:1], given.shape[1:]
        alike = _rows(game)
        fits = first in ((alike,), (count,), (count + 1,)) and rest in ((), (game.num_actions,))
        if not fits or (given.ndim == 1 and given.dtype.kind not in "iu"):
            raise check.shape_error(given, alike)
        if first == (alike,):
            given = given[np.arange(count) % alike]
        given = given[own]
    if given.ndim == 2:
        check_array("a table of probabilities", game, *check.shape)
    filled = own[known]
    parts = pieces(max(len(filled), 1), batch_size(game.num_actions))
    checked = np.concatenate([check(given[part], filled[part]) for part in parts])
    rows = first_rows(check, checked.ndim == 2)
    rows[filled] = checked
    policy = policy_of(rows, check.shape[1], name)
    return policy if known.all() else IncompletePolicy(policy, own[~known], check)


def _entries(
    table: Mapping[Any, Any],
    check: PolicyCheck,
    own: IntArray,
    show: Callable[[IntArray], npt.NDArray[Any]] | None,
) -> Iterator[Any]:
    """Look up a mapping's entry for each state; None if it lacks the state."""
    key = next(iter(table), 0)
    if isinstance(key, str):
        raise InputError(
            "policy must have observations or numbers of states as keys, got texts: weights go "
            "into their network, net.load_state_dict(policy), and net is the policy"
        )
    default = getattr(table, "default_factory", None) or (lambda: None)
    game, count = check.game, check.game.num_states
    if not any(is_whole(k) and k >= _rows(game) for k in table):
        count = _rows(game)
    for batch in batches(own, check.game.num_actions):
        shown = check.game.observe(batch, check.seat)
        seen, shown = shown, shown if show is None else show(shown)
        if shown.ndim == 1 and isinstance(key, tuple):  # (state,) or (state, moves)
            shown = seen[:, : len(key)]
        keys = keys_of(shown)
        timeless = np.array_equal(shown, batch % _rows(game))
        if is_whole(key) and (shown.ndim > 1 or timeless):
            keys = (batch % count).tolist()
        for each in keys:
            entry = table.get(each)
            yield default() if entry is None else entry


def _rows(game: Game) -> int:
    """Return the number of states whatever the time, if there is a limit of moves."""
    return game.rows if isinstance(game, ExplicitGame | CutGame) else game.num_states


def keys_of(shown: npt.NDArray[Any]) -> list[Any]:
    """Give the observations of a batch as keys of a mapping: integers, or tuples."""
    return shown.tolist() if shown.ndim == 1 else [*map(tuple, shown.tolist())]


def first_rows(check: PolicyCheck, laws: bool) -> npt.NDArray[Any]:
    """Make an array of the first legal action in each state: actions, or laws (state, action)."""
    actions = first_actions_of(check.game)
    if not laws:
        return actions.copy()
    rows = np.zeros(check.shape)
    rows[np.arange(len(actions)), actions] = 1.0
    return rows


def policy_of(rows: npt.NDArray[Any], num_actions: int, name: str) -> Policy:
    """Make a policy of checked actions, shape (state,), or laws, shape (state, action)."""
    kind = DeterministicPolicy if rows.ndim == 1 else StochasticPolicy
    return kind(rows, num_actions, name)


@once_a_game
def first_actions_of(game: Game) -> IntArray:
    """Give the first legal action in each state, shape (state,), in the smallest integer type."""
    every = np.arange(game.num_states)
    return frozen(first_actions(game, every).astype(np.min_scalar_type(-game.num_actions)))


class IncompletePolicy(Policy):
    """A table that lacks states: it is scored if its games meet none of them.

    ``remembered`` has the first legal action in the missing states, which are in increasing order.
    """

    remembers = True
    name = ""

    def __init__(self, remembered: Policy, missing: IntArray, check: PolicyCheck) -> None:
        self.shape, self.name, self.remembered = check.shape, remembered.name, remembered
        self._missing, self._check = missing, check
        self.is_deterministic = remembered.is_deterministic

    @override
    def probabilities(self, states: IntArray) -> Array:
        """Give the rows of the table; a missing state is an error."""
        for state in states[np.isin(states, self._missing)]:
            seen = self._check.game.observe(np.array([state]), self._check.seat)[0].tolist()
            raise InputError(
                f"policy must have an action for every state that is needed, got none for {seen} "
                f"(state {state}): keys are observations of env as tuples, or numbers of states; "
                "a collections.defaultdict has an action for all others"
            )
        return self.remembered.probabilities(states)


def batch_size(num_actions: int) -> int:
    """Return the number of states in a batch."""
    return max(1, BATCH // num_actions)


def batches(states: IntArray, num_actions: int) -> Iterator[IntArray]:
    """Divide states into batches."""
    return (states[piece] for piece in pieces(len(states), batch_size(num_actions)))
