"""Functions as policies, checked before anything is computed with them.

In a small game a function is called with all states of its seat, batch by batch, and its results
are a table (``function_policy``). In a large game a score calls it only in the states that its own
games visit, a small part of all states, and remembers the results (``CalledPolicy``). In both cases
it is called again with a sample of the states, and must give equal results (``consistency``).
"""

import inspect
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from ...core import Array, BoolArray, Game, InputError, IntArray, frozen
from ...core.identity import once_a_game
from ...core.positions import first_actions, has_few_states, states_of
from ...core.sweeps import sweeps_of
from ...core.tour import Choices, Grid
from .checks import PolicyCheck
from .consistency import ROUNDING, SAMPLE, as_law, check_again, sample_of
from .kinds import DeterministicPolicy, Policy, PolicyFunction, StochasticPolicy
from .preferences import NetworkPolicy
from .tables import TableBuilder, as_numbers, batch_size, batches

LAWS = 2**27  # bytes of a table of laws that may be stored: calling a network again takes longer
LARGE = 2**17  # states of a game in which functions are called only where games lead
SHARE = 256  # one of this number of states in a batch is passed to the function again
FIRST = 16  # and one of this number of the states with which it was called at first


def function_policy(function: PolicyFunction, check: PolicyCheck, lazy: bool = False) -> Policy:
    """Turn a function on (observations, masks) into a policy.

    Args:
        function: returns actions (state,) or probabilities (state, action).
        check: the check of the results.
        lazy: whether the function may be called later, where its games lead, if the game is large.

    Raises:
        ValueError: if the function takes other arguments, ``check`` rejects a result, or the
            function returns another result when it is called again.
    """
    network = "for logits or action values exactdice.from_network(policy, env)"
    cure = f"give lambda seen, legal: policy(seen), or {network}"
    require_arguments(function, "observations, legal", cure)
    if isinstance(function, NetworkPolicy):
        function = function.kept()
    if has_few_states(check.game) and (not lazy or check.shape[0] <= LARGE):
        return _called_everywhere(function, check) or CalledPolicy(function, check)
    return CalledPolicy(function, check)


def require_arguments(function: Any, wanted: str, cure: str) -> None:
    """Raise an error unless a function takes as many arguments as the names in ``wanted``."""
    try:
        taken = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):  # one without a signature may take any
        return
    try:
        taken.bind(*wanted.split(", "))
    except TypeError:
        got = f"got one that takes ({', '.join(taken.parameters)})"
        raise InputError(f"a callable must take ({wanted}), {got}: {cure}") from None


#: States, and the actions, laws or preferences there.
Evidence: TypeAlias = tuple[IntArray, npt.NDArray[Any]]


@dataclass(frozen=True)
class Call:
    """Calls a function with the observations and masks of states.

    Attributes:
        function: returns actions (state,) or probabilities (state, action).
        check: names the game and the seat whose observations the function gets.
    """

    function: PolicyFunction
    check: PolicyCheck

    def __call__(
        self, states: IntArray, again: bool = False
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return checked actions or laws, and the evidence: preferences, if there are any."""
        game = self.check.game
        seen = game.observe(states, self.check.seat), game.mask(states)
        if isinstance(self.function, NetworkPolicy):
            given, evidence = self.function.tell(*seen, again=again)
        else:
            given = as_numbers(self.function(*seen), "policy")
            evidence = given.astype(np.float64) if given.ndim == 2 else given
        return self.check(given, states), evidence

    def evidence(self, states: IntArray) -> npt.NDArray[Any]:
        """Return the evidence of another call."""
        return self(states, again=True)[1]

    def require(self, first: Evidence, batch: int, now: npt.NDArray[Any] | None = None) -> None:
        """Raise an error if the function has given other results than at first.

        Args:
            first: states, and the evidence of the first call.
            batch: size of the largest batch of the first call.
            now: the evidence of a further call; None calls the function with many batches.
        """
        player = self.check.game, self.check.seat, self.check.name
        rounding = getattr(self.function, "rounding", ROUNDING)
        ask = self.evidence if now is None else lambda _: now
        check_again(ask, (*first, batch), player, rounding, once=now is not None)


def _called_everywhere(function: PolicyFunction, check: PolicyCheck) -> Policy | None:
    """Call a function with all states of its seat; None if it gives too many laws for a table."""
    call = Call(function, check)
    game, states = check.game, states_of(check.game, check.seat)
    rows, with_laws = TableBuilder(check), 8 * game.num_states * game.num_actions <= LAWS
    sample = sample_of(states)
    sampled = np.zeros(game.num_states, dtype=bool)  # np.isin would take longer than a network
    sampled[sample] = True
    evidence: list[npt.NDArray[Any]] = [np.zeros(0, dtype=np.int64)]
    for batch in batches(states, game.num_actions):
        given, behind = call(batch)
        if given.ndim == 2 and not with_laws:
            return None
        rows.add(batch, given)
        evidence.append(behind[sampled[batch]])
    most = min(len(states), batch_size(game.num_actions))
    call.require((sample, _joined(evidence, game.num_actions)), most)
    return rows.policy(states)


def _joined(evidence: list[npt.NDArray[Any]], num_actions: int) -> npt.NDArray[Any]:
    """Join the evidence of several batches: actions, unless one batch has laws or preferences."""
    if any(part.ndim == 2 for part in evidence):
        evidence = [as_law(part, num_actions) for part in evidence]
    return np.concatenate(evidence)


class CalledPolicy(Policy):
    """A function that is called when the law of a state is needed, and remembered.

    Actions are remembered unless the game has too many states for arrays. Laws are remembered
    unless they would take more than ``LAWS`` bytes; of other laws a *mark* is, the scalar product
    with fixed random numbers between 0 and 1. Different laws have equal marks by chance only, and
    rounding changes a mark by no more than the law.

    Args:
        function: returns actions (state,) or probabilities (state, action).
        check: the check of the results.

    Attributes:
        function: as given.

    Raises:
        ValueError: if ``check`` rejects the results for a sample of states, or if the function
            returns other results when it is called again.
    """

    def __init__(self, function: PolicyFunction, check: PolicyCheck) -> None:
        self.shape, self.function = check.shape, function
        self._call, self._check = Call(function, check), check
        game, seat = check.game, check.seat
        some = np.linspace(0, game.num_states - 1, SAMPLE).astype(np.int64)
        own = np.unique(some[sweeps_of(game).may_move(seat, some)])
        chooses = game.mask(own).sum(axis=1) > 1
        states = own[chooses] if chooses.any() else own
        given, evidence = self._call(states)
        self._call.require((states, evidence), len(states))
        self._first = self._sample = states[::FIRST], evidence[::FIRST]
        self.is_deterministic = given.ndim == 1
        self._rows = self._no_rows() if has_few_states(game) else None
        count = game.num_states if has_few_states(game) else 0
        self._known = np.full(count, self.remembers)
        if count:
            self._known[states_of(game, seat)] = False
        self._marks = np.zeros(0 if self.remembers else count)
        self._in_parts = None
        if isinstance(function, NetworkPolicy) and function.takes_best:
            self._in_parts = function.grid_actions(game, seat)

    def _no_rows(self) -> npt.NDArray[Any] | None:
        """Return rows of the first legal action: actions (state,), or laws (state, action).

        None if laws would take too many bytes.
        """
        actions = _first_actions(self._check.game)
        if self.is_deterministic:
            return actions.copy()
        fits = 8 * self.shape[0] * self.shape[1] <= LAWS
        return as_law(actions, self.shape[1]) if fits else None

    @property
    @override
    def name(self) -> str:
        return self._check.name

    @property
    @override
    def roundings(self) -> int:
        return 0 if self.is_deterministic else super().roundings

    @property
    def remembers(self) -> bool:
        """Whether results are remembered."""
        return self._rows is not None

    @property
    def remembered(self) -> Policy:
        """The table of all results so far, with the first legal action elsewhere.

        Raises:
            ValueError: if the function returns other results when it is called again.
        """
        assert self._rows is not None
        self._call.require(self._sample, len(self._sample[0]), self._call.evidence(self._sample[0]))
        if self.is_deterministic:
            return DeterministicPolicy(self._rows.copy(), self.shape[1], self.name)
        return StochasticPolicy(self._rows.copy(), self.name)

    @override
    def probabilities(self, states: IntArray) -> Array:
        return as_law(self._results(states), self.shape[1])

    @override
    def likeliest(self, states: IntArray) -> IntArray:
        results = self._results(states)
        return results.astype(np.int64) if results.ndim == 1 else results.argmax(axis=1)

    @override
    def choices(self, grid: Grid, met: BoolArray) -> Choices:
        if self._in_parts is None:
            return super().choices(grid, met)
        actions = np.take_along_axis(grid.actions, self._in_parts(grid), axis=1)
        sample = np.flatnonzero(met)[::SHARE]
        self._confirm(grid.states.ravel()[sample], actions.ravel()[sample])
        return Choices.certain(met, actions[met])

    def _results(self, states: IntArray) -> npt.NDArray[Any]:
        """Return actions (state,) or laws (state, action); the function is called for new ones."""
        if self._rows is None:
            return self._compared(states, self._asked(states))
        new = states[~self._known[states]]
        if len(new):
            self._rows[new] = self._asked(new)
            self._known[new] = True
        rows: npt.NDArray[Any] = self._rows[states]
        return rows

    def _compared(self, states: IntArray, laws: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the laws after comparing them with the marks of earlier ones, if there are any."""
        if len(self._marks):
            marks = (laws * np.random.default_rng(0).random(self.shape[1])).sum(axis=1)
            wrong = self._known[states] & ~(np.abs(marks - self._marks[states]) <= ROUNDING)
            if wrong.any():
                game, seen = self._check.game, states[[np.argmax(wrong)]]
                raise InputError(
                    f"policy must answer alike to an observation every time, and {self.name} gives "
                    f"another law at {game.observe(seen, self._check.seat)[0].tolist()} than before"
                )
            self._marks[states], self._known[states] = marks, True
        return laws

    def _asked(self, states: IntArray) -> npt.NDArray[Any]:
        """Call the function: with each batch goes a sample of earlier states, to be compared."""
        found = [np.zeros((0,) if self.is_deterministic else (0, self.shape[1]), np.int64)]
        for batch in batches(states, self.shape[1]):
            count = len(batch)
            given, evidence = self._call(np.concatenate([batch, self._sample[0]]), again=True)
            self._call.require(self._sample, count, evidence[count:])
            if given.ndim == 2 and self.is_deterministic:
                raise InputError(
                    "policy must give actions in all states or probabilities in all, got both of "
                    f"{self.name}"
                )
            new = given[:count]
            found.append(new if self.is_deterministic else as_law(new, self.shape[1]))
            behind = _joined([self._first[1], evidence[:count:SHARE]], self.shape[1])
            self._sample = np.concatenate([self._first[0], batch[::SHARE]]), behind
        return np.concatenate(found)

    def _confirm(self, states: IntArray, actions: IntArray) -> None:
        """Raise an error unless the whole network, called again, prefers these actions too.

        Preferences that differ by rounding alone count as equal.
        """
        preferences = self._call.evidence(states)
        chosen, largest = preferences[np.arange(len(states)), actions], preferences.max(axis=1)
        rounding = getattr(self.function, "rounding", ROUNDING)
        missing = ~(largest - chosen <= rounding * (1 + np.abs(largest)))
        if missing.any():
            row = int(np.argmax(missing))
            seen = self._check.game.observe(states[[row]], self._check.seat)[0].tolist()
            raise InputError(
                f"policy must answer alike to an observation every time, and {self.name} prefers "
                f"action {actions[row]} at {seen} in one batch and another in one of {len(states)}"
            )

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle the table of all states, as a function may have no pickle."""
        if self._rows is None:
            return super().__reduce_ex__(protocol)
        self._results(states_of(self._check.game, self._check.seat))
        return _unchanged, (self.remembered,)


def _unchanged(policy: Policy) -> Policy:
    return policy


@once_a_game
def _first_actions(game: Game) -> IntArray:
    every = np.arange(game.num_states)
    return frozen(first_actions(game, every).astype(np.min_scalar_type(-game.num_actions)))
