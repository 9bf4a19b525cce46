"""Tables, actions and functions as policies, checked before anything is computed with them.

A function is asked about all states that count, a batch at a time, when it is given, and about a
sample of them once more (``again``). Its answers are remembered, one action a state, or a law for
each of not too many states. In a game with more it is asked again for the states that are wanted,
and must say the same; nothing of shape (state, action) is held for the whole game.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...core import Array, BoolArray, FloatArray, Game, InputError, IntArray
from ...core.sizes import check_array
from .again import Marks, as_law, check_again, sample_of
from .arrays import ROUNDING, as_numbers
from .kinds import DeterministicPolicy, Policy, PolicyFunction, StochasticPolicy
from .preferences import NetworkPolicy

SUM_TOLERANCE = 1e-5  # float32 networks; the probabilities are normalised once accepted
BATCH = 2**21  # numbers for (state, action) that are asked for at once
LAWS = 2**27  # bytes of a function's laws that are remembered: to ask a network again takes longer
_UNMASKED = " (masked=False lets it choose any, at the worst payoff)"

#: Says in which states no action is worth more than the worst payoff.
Worthless: TypeAlias = Callable[[IntArray], BoolArray]


class AskedPolicy(Policy):
    """Whatever can be asked about states, held to the rules: every answer is checked.

    Args:
        ask: from states to actions (state,) or probabilities (state, action).
        game: the game that is played.
        seat: the seat that the policy plays.
        masked: whether the policy must keep to the legal actions.
        worthless: says in which states no action is worth more than the worst payoff. There the
            tables of planners may choose an illegal action, which pays the same; the first legal
            one takes its place.
        name: what to call it.
        marks: what it has said before, to be compared with what it says.
    """

    def __init__(
        self,
        ask: Callable[[IntArray], npt.NDArray[Any]],
        game: Game,
        seat: int,
        masked: bool = True,
        worthless: Worthless | None = None,
        name: str = "",
        marks: Marks | None = None,
    ) -> None:
        self.shape = (game.num_states, game.num_actions)
        self._ask, self._game, self._seat, self._marks = ask, game, seat, marks
        self._masked, self._worthless = masked, worthless
        self._name = name or type(self).__name__

    @property
    def name(self) -> str:
        """What to call it."""
        return self._name

    @property
    def roundings(self) -> int:
        """Of as many actions as any state has, as far as that is known."""
        return super().roundings if self._marks is None else 2 * self._marks.most_actions

    def probabilities(self, states: IntArray) -> Array:
        """Ask for the law of each state; where others move anything may stand."""
        law = np.zeros((len(states), self.shape[1]))
        law[:, 0] = 1.0  # never taken, where it is not overwritten
        own = np.flatnonzero(self._own[states])
        if len(own):
            law[own] = as_law(self.answer(states[own]), self.shape[1])
        return law

    @cached_property
    def _own(self) -> BoolArray:
        own = np.zeros(self.shape[0], dtype=bool)
        own[self._game.states_of(self._seat)] = True
        return own

    def answer(self, states: IntArray) -> npt.NDArray[Any]:
        """Ask for some states of the seat: actions (state,), or probabilities (state, action).

        Raises:
            ValueError: as ``checked`` does, or if it has said something else before.
        """
        answer = self.checked(self._ask(states), states)
        if self._marks is not None:
            self._marks.compare(states, answer)
        return answer

    def checked(self, given: npt.NDArray[Any], states: IntArray) -> npt.NDArray[Any]:
        """Check what was given for some states of the seat.

        Raises:
            ValueError: if the shape is wrong, an entry is not a probability or not an action, or
                probabilities do not sum to one.
        """
        if given.ndim == 1 and np.issubdtype(given.dtype, np.integer):
            return self._actions(given, states)
        shape = (len(states), self.shape[1])
        if given.shape != shape:
            raise InputError(
                f"policy must be a table of shape {shape} (state, action) or integers of shape "
                f"({len(states)},), got {given.dtype} of shape {given.shape}"
            )
        allowed = self._game.mask(states) if self._masked else np.ones(shape, dtype=bool)
        return self._law(given, states, allowed)

    def _actions(self, given: IntArray, states: IntArray) -> IntArray:
        """Check one action for each of some states."""
        game = self._game
        if given.shape != states.shape:
            raise InputError(
                f"policy must have one action for each of {len(states)} states, got {len(given)}"
            )
        in_range = (given >= 0) & (given < game.num_actions)
        chosen = np.where(in_range, given, 0).astype(np.int64)
        legal = in_range & (game.allows(states, chosen) if self._masked else True)
        illegal = np.flatnonzero(in_range & ~legal)
        if self._worthless is not None and len(illegal):
            harmless = illegal[self._worthless(states[illegal])]
            chosen[harmless] = game.first_actions(states[harmless])
            legal[harmless] = True
        if not legal.all():
            row = int(np.argmin(legal))
            raise InputError(
                f"policy must choose legal actions, got {given[row]} in state {states[row]}"
                f"{_UNMASKED}"
            )
        return chosen

    def _law(self, given: npt.NDArray[Any], states: IntArray, allowed: BoolArray) -> FloatArray:
        """Check a law of actions for each of some states."""
        law = given.astype(np.float64)  # before it is normalised: float16 rows are off by 1e-4
        illegal = np.flatnonzero(((law > 0) & ~allowed).any(axis=1))
        if self._worthless is not None and len(illegal):
            harmless = illegal[self._worthless(states[illegal])]
            moved = np.where(allowed[harmless], 0.0, law[harmless]).sum(axis=1)
            law[harmless] = np.where(allowed[harmless], law[harmless], 0.0)
            law[harmless, allowed[harmless].argmax(axis=1)] += moved
        _check_probabilities(law, states, allowed)
        normalized: FloatArray = law / law.sum(axis=1, keepdims=True)
        return normalized


def table_policy(table: npt.ArrayLike, game: Game, seat: int, **rules: Any) -> Policy:
    """Check a table (state, action) or actions (state,), of which a copy is made.

    Args:
        table: the table; only the states in which its seat may be to move count. A last row
            for the end may follow, which ``P`` has as one more state.
        game: the game that is played.
        seat: the seat that the policy plays.
        rules: ``masked``, ``worthless`` and ``name``, as of ``AskedPolicy``.

    Raises:
        ValueError: as ``AskedPolicy.answer`` does.
    """
    given = as_numbers(table, "policy")
    shape = (game.num_states, game.num_actions)
    with_end = (game.num_states + 1, game.num_actions)
    if given.shape not in (shape, shape[:1], with_end, with_end[:1]):
        raise InputError(
            f"policy must be a table of shape {shape} (state, action) or integers of shape "
            f"({game.num_states},), got {given.dtype} of shape {given.shape}"
        )
    if given.ndim == 2:
        check_array("a table of probabilities", game, *shape)
    asked = AskedPolicy(given.__getitem__, game, seat, **rules)
    answers = _Answers(asked, with_laws=True)
    for batch in _batches(game.states_of(seat), game.num_actions):
        answers.keep(batch, asked.answer(batch))
    policy = answers.policy(game, game.states_of(seat))
    assert policy is not None
    return policy


def function_policy(function: PolicyFunction, game: Game, seat: int, **rules: Any) -> Policy:
    """Check a function from (observations, masks), in all states that count.

    Args:
        function: gives actions (state,) or probabilities (state, action).
        game: the game that is played.
        seat: the seat that the policy plays.
        rules: ``masked``, ``worthless`` and ``name``, as of ``AskedPolicy``.

    Raises:
        ValueError: as ``AskedPolicy.checked`` does, or if it does not say the same again.
    """
    told = _Told(function, game, seat)
    asked = AskedPolicy(told.given, game, seat, **rules)
    states, player = game.states_of(seat), (game, seat, asked.name)
    answers = _Answers(asked, with_laws=8 * game.num_states * game.num_actions <= LAWS)
    marks, sample = Marks(player), sample_of(states)
    evidence: list[npt.NDArray[Any]] = [np.zeros(0, dtype=np.int64)]
    for batch in _batches(states, game.num_actions):
        given, behind = told(batch)
        answer = asked.checked(given, batch)
        answers.keep(batch, answer)
        marks.note(batch, answer)
        evidence.append(behind[np.isin(batch, sample)])

    def ask(states: IntArray) -> npt.NDArray[Any]:
        given, behind = told(states, again=True)
        asked.checked(given, states)
        return behind

    first = sample, _joined(evidence, game.num_actions), min(len(states), _step(game.num_actions))
    check_again(ask, first, player, getattr(function, "rounding", ROUNDING))
    known = answers.policy(game, states)
    return known or AskedPolicy(told.given, game, seat, **rules, marks=marks)


def _joined(evidence: list[npt.NDArray[Any]], num_actions: int) -> npt.NDArray[Any]:
    """Join evidence of several batches: actions, unless one of them has more to say."""
    if any(part.ndim == 2 for part in evidence):
        evidence = [as_law(part, num_actions) for part in evidence]
    return np.concatenate(evidence)


class _Told:
    """What a function says of states, and the evidence behind it: preferences, if it has any."""

    def __init__(self, function: PolicyFunction, game: Game, seat: int) -> None:
        self._function, self._game, self._seat = function, game, seat

    def __call__(
        self, states: IntArray, again: bool = False
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        seen = self._game.observe(states, self._seat), self._game.mask(states)
        if isinstance(self._function, NetworkPolicy):
            return self._function.tell(*seen, again=again)
        given = as_numbers(self._function(*seen), "policy")
        return given, given.astype(np.float64) if given.ndim == 2 else given

    def given(self, states: IntArray) -> npt.NDArray[Any]:
        return self(states)[0]


class _Answers:
    """Answers to states, kept if they are actions, or if laws may be kept."""

    def __init__(self, asked: AskedPolicy, with_laws: bool) -> None:
        self._shape, self._name, self._with_laws = asked.shape, asked.name, with_laws
        self._actions = np.full(asked.shape[0], -1)
        self._table: FloatArray | None = None

    def keep(self, states: IntArray, answer: npt.NDArray[Any]) -> None:
        """Keep an answer: actions (state,), or laws (state, action)."""
        if answer.ndim == 1:
            self._actions[states] = answer
        elif self._with_laws:
            if self._table is None:
                self._table = np.zeros(self._shape)
            self._table[states] = answer

    def policy(self, game: Game, states: IntArray) -> Policy | None:
        """Give the policy of all answers, None if laws were not kept."""
        actions, table = self._actions, self._table
        done = actions[states] >= 0
        others = np.flatnonzero(actions < 0)  # never taken, or a law is
        if done.all():
            actions[others] = game.first_actions(others)
            return DeterministicPolicy(actions, self._shape[1], self._name)
        if table is None:
            return None
        table[states[done], actions[states[done]]] = 1.0
        table[np.setdiff1d(others, states), 0] = 1.0
        return StochasticPolicy(table, self._name)


def _step(num_actions: int) -> int:
    return max(1, BATCH // num_actions)


def _batches(states: IntArray, num_actions: int) -> Iterator[IntArray]:
    step = _step(num_actions)
    for first in range(0, len(states), step):
        yield states[first : first + step]


def _check_probabilities(table: FloatArray, states: IntArray, mask: BoolArray) -> None:
    complaints = [
        (~np.isfinite(table), "be finite", ""),
        (table < 0, "not be negative", ""),
        ((table > 0) & ~mask, "leave illegal actions alone", _UNMASKED),
    ]
    for wrong, requirement, hint in complaints:
        if wrong.any():
            row, action = np.argwhere(wrong)[0]
            raise InputError(
                f"policy must {requirement}, got {table[row, action]:.6g} in state {states[row]}, "
                f"action {action}{hint}"
            )
    sums = table.sum(axis=1)
    if (np.abs(sums - 1) > SUM_TOLERANCE).any():
        row = int(np.argmax(np.abs(sums - 1)))
        raise InputError(
            f"policy must have probabilities that sum to 1, got {sums[row]:.6g} in state "
            f"{states[row]}"
        )
