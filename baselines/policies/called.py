"""Functions as policies: checked, called where they are needed, and remembered.

In a small game a function is called with all states of its seat, batch by batch, and its results
are a table. In a large game a score calls it only in the states that its own games visit, a small
part of all states.

A score calls a function with many states at once; a game calls it with one state at a time. So it
is called again with a sample of states: in another order, in batches of half the states, of half
the rest and so on, and in batches of 1, 2, 3, 5 and 7 states. Each later call takes along a sample
of earlier states. A function that depends on chance, on the number of calls or on the rest of the
batch gives different results, and so does a network that is trained meanwhile.

Results are compared as *evidence*: actions, shape (state,), which must be the same; or laws or
preferences, shape (state, action), which may differ by the rounding of a network. So a near tie of
preferences, which rounding may break either way, is not mistaken for a difference.
"""

import inspect
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from ...core import Arithmetic, Array, BoolArray, Game, InputError, IntArray
from ...core.positions import has_few_states, states_of
from ...core.sweeps import sweeps_of
from ...core.tour import Choices, Grid
from ..law.numbers import as_numbers
from .kinds import Policy, PolicyFunction
from .networks import ROUNDING, NetworkPolicy
from .tables import PolicyCheck, batch_size, batches, first_rows, policy_of

LAWS = 2**27  # bytes of a table of laws that may be stored: calling a network again takes longer
LARGE = 2**17  # states of a game in which functions are called only where games lead
SAMPLE = 1024  # least number of states in the sample; in smaller games, all states
SHARE = 16  # in larger games that are called everywhere, the sample is one state in 16
WHOLE = 5  # repetitions for all states of a smaller game: chance may show in few states
ALONE = 8  # states with which a function is called one by one in the end
SMALL = (2, 3, 5, 7)  # sizes of batches, of which halvings may miss some
FIRST = 16  # one of this number of states in the sample goes with every later call
LATER = 256  # and one of this number of states in a batch with the next call
#: Actions, shape (state,), or laws or preferences, shape (state, action).
Evidence: TypeAlias = npt.NDArray[Any]
_WHY = (
    "what depends on chance, on the number of calls or on the rest of the batch is no function of "
    "the observation and cannot be scored exactly"
)


def function_policy(
    function: PolicyFunction, check: PolicyCheck, name: str, lazy: bool = False
) -> Policy:
    """Turn a function on (observations, masks) into a policy.

    Args:
        function: returns actions (state,) or probabilities (state, action).
        check: the check of the results.
        name: name of the policy.
        lazy: whether the function may be called later, where its games lead, if the game is large.

    Raises:
        ValueError: if the function takes other arguments, ``check`` rejects a result, or the
            function returns another result when it is called again.
    """
    single = "of a single observation lambda seen, legal: [policy(one) for one in seen]"
    network = "for logits or action values exactdice.from_network(policy, env)"
    cure = f"give lambda seen, legal: policy(seen), for a function {single}, or {network}"
    require_arguments(function, "observations, legal", cure)
    if isinstance(function, NetworkPolicy):
        function = function.kept()
    game = check.game
    everywhere = has_few_states(game) and (not lazy or game.num_states <= LARGE)
    policy = CalledPolicy(function, check, name, SHARE if everywhere else 0)
    if not everywhere or not policy.remembers:
        return policy
    policy.likeliest(states_of(game, check.seat))
    return policy.remembered


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


class CalledPolicy(Policy):
    """A function that is called when the law of a state is needed, and remembered.

    Actions are remembered unless the game has too many states for arrays. Laws are remembered
    unless they would take more than ``LAWS`` bytes; of other laws a *mark* is, the scalar product
    with fixed random numbers between 0 and 1. Different laws have equal marks by chance only, and
    rounding changes a mark by no more than the law.

    Args:
        function: returns actions (state,) or probabilities (state, action).
        check: the check of the results.
        name: name of the policy.
        share: the sample has one of this number of states, if these are more than ``SAMPLE``.

    Attributes:
        function: as given.
        remembers: whether results are remembered.

    Raises:
        ValueError: if ``check`` rejects the results for the sample of states, or if the function
            returns other results when it is called again.
    """

    name = ""

    def __init__(
        self, function: PolicyFunction, check: PolicyCheck, name: str, share: int = 0
    ) -> None:
        game = check.game
        self.shape, self.name, self.function, self._check = check.shape, name, function, check
        self._rounding = getattr(function, "rounding", ROUNDING)
        states = _sample(game, check.seat, share)
        called = [self._call(batch) for batch in batches(states, self.shape[1])]
        given = _joined(given for given, _ in called)
        evidence = _joined(evidence for _, evidence in called)
        self.is_deterministic, self._largest = given.ndim == 1, _largest(evidence)
        few, size = has_few_states(game), 8 * self.shape[0] * self.shape[1]
        self.remembers = few and (self.is_deterministic or size <= LAWS)
        self._rows = first_rows(check, not self.is_deterministic) if self.remembers else None
        self._known = np.full(self.shape[0] if few else 0, self.remembers)
        if few:
            self._known[states_of(game, check.seat)] = False
        self._marks = np.zeros(0 if self.remembers else len(self._known))
        self._store(states, given)
        largest = min(len(states), batch_size(self.shape[1]))
        self._require(states, evidence, largest, _pieces(game, states, largest))
        self._first = self._sample = states[::FIRST], evidence[::FIRST]
        self._in_parts = None
        if isinstance(function, NetworkPolicy) and function.takes_best:
            self._in_parts = function.grid_actions(game, check.seat)

    @property
    def remembered(self) -> Policy:
        """The table of all results so far, with the first legal action elsewhere.

        Raises:
            ValueError: if the function returns other results when it is called again.
        """
        assert self._rows is not None
        states, evidence = self._sample
        if self._sample is not self._first:  # the first states were compared at once
            self._require(states, evidence, len(states), [np.arange(len(states))])
        return policy_of(self._rows.copy(), self.shape[1], self.name)

    @override
    def probabilities(self, states: IntArray) -> Array:
        results = self._results(states)
        if results.ndim == 1:
            results = (np.arange(self.shape[1]) == results[:, None]).astype(np.float64)
        return results

    @override
    def likeliest(self, states: IntArray) -> IntArray:
        results = self._results(states)
        return results.astype(np.int64) if results.ndim == 1 else results.argmax(axis=1)

    @override
    def spread(self, states: IntArray, mass: Array, arithmetic: Arithmetic) -> Array:
        """Distribute the mass of each state; the function is called where there is mass alone."""
        met = np.flatnonzero(mass)
        weights = arithmetic.zeros(len(states), self.shape[1])
        weights[met] = super().spread(states[met], mass[met], arithmetic)
        return weights

    @override
    def choices(self, grid: Grid, met: BoolArray) -> Choices:
        if self._in_parts is None:
            return super().choices(grid, met)
        actions = np.take_along_axis(grid.actions, self._in_parts(grid), axis=1)
        sample = np.flatnonzero(met)[::LATER]
        self._confirm(grid.states.ravel()[sample], actions.ravel()[sample])
        return Choices.certain(met, actions[met])

    def _results(self, states: IntArray) -> Evidence:
        """Return actions (state,) or laws (state, action); the function is called for new ones."""
        new = states if self._rows is None else states[~self._known[states]]
        given = self._asked(new)
        if len(new):
            self._store(new, given)
        return given if self._rows is None else self._rows[states]

    def _asked(self, states: IntArray) -> Evidence:
        """Call the function: with each batch goes a sample of earlier states, to be compared."""
        found = []
        for batch in batches(states, self.shape[1]):
            count, (earlier, known) = len(batch), self._sample
            given, evidence = self._call(np.concatenate([batch, earlier]), again=True)
            self._compare(earlier, (known, count), (evidence[count:], count))
            found.append(given[:count])
            behind = np.concatenate([self._first[1], evidence[:count:LATER]])
            self._sample = np.concatenate([self._first[0], batch[::LATER]]), behind
        return _joined(found)

    def _store(self, states: IntArray, given: Evidence) -> None:
        """Remember results, or compare them with their marks."""
        if self._rows is not None:
            self._rows[states] = given
        elif len(self._marks):
            marks = (given * np.random.default_rng(0).random(self.shape[1])).sum(axis=1)
            wrong = self._known[states] & ~(np.abs(marks - self._marks[states]) <= ROUNDING)
            if wrong.any():
                self._refuse(states[np.argmax(wrong)], "gives another law", "than before")
            self._marks[states] = marks
        if len(self._known):
            self._known[states] = True

    def _call(self, states: IntArray, again: bool = False) -> tuple[Evidence, Evidence]:
        """Return checked actions or laws, and the evidence: preferences, if there are any."""
        game = self._check.game
        seen = game.observe(states, self._check.seat), game.mask(states)
        if isinstance(self.function, NetworkPolicy):
            given, evidence = self.function.tell(*seen, again=again)
        else:
            given = as_numbers(self.function(*seen), "policy")
            evidence = given.astype(np.float64) if given.ndim == 2 else given
        return self._check(given, states), evidence

    def _require(
        self, states: IntArray, evidence: Evidence, batch: int, pieces: Iterable[IntArray]
    ) -> None:
        """Call the function again with pieces of states, and compare.

        Args:
            states: shape (state,).
            evidence: of the first call.
            batch: size of the largest batch of the first call.
            pieces: indices into ``states``, a batch each.

        Raises:
            ValueError: if the evidence for a state differs by more than rounding.
        """
        for rows in pieces:
            try:
                now = self._call(states[rows], again=True)[1]
            except InputError:
                raise
            except Exception as error:  # a function may raise anything
                said = " ".join(str(error).split())[:200]
                raise InputError(
                    "policy must answer to observations in any batch, in play to one alone, and of "
                    f"{len(rows)} {self.name} says: {type(error).__name__}: {said}"
                ) from error
            self._compare(states[rows], (evidence[rows], batch), (now, len(rows)))

    def _compare(
        self, states: IntArray, first: tuple[Evidence, int], again: tuple[Evidence, int]
    ) -> None:
        """Raise an error if the evidence differs: each with the size of its batch."""
        (said, batch), (now, size) = first, again
        if said.ndim != now.ndim:
            wrong = np.ones(len(states), dtype=bool)
        elif said.ndim == 1:
            wrong = said != now
        else:
            most = self._rounding * max(self._largest, _largest(said))
            with np.errstate(invalid="ignore"):  # of preferences that are infinite in both
                off = ~(np.abs(said - now) <= most)
            wrong = (off & (said != now)).any(axis=1)
        if wrong.any():
            row = int(np.argmax(wrong))
            before, after = _shown(said[row], now[row])
            where = f"in a batch of {batch} and {after} in one of {size}: {_WHY}"
            self._refuse(states[row], f"says {before}", where)

    def _confirm(self, states: IntArray, actions: IntArray) -> None:
        """Raise an error unless the whole network, called again, prefers these actions too.

        Preferences that differ by rounding alone count as equal.
        """
        preferences = self._call(states, again=True)[1]
        chosen, largest = preferences[np.arange(len(states)), actions], preferences.max(axis=1)
        missing = ~(largest - chosen <= self._rounding * (1 + np.abs(largest)))
        if missing.any():
            row = int(np.argmax(missing))
            said = f"prefers action {actions[row]}"
            self._refuse(states[row], said, f"in one batch and another in one of {len(states)}")

    def _refuse(self, state: Any, said: str, where: str) -> NoReturn:
        """Raise the error that the answer to a state is another one."""
        seen = self._check.game.observe(np.array([state]), self._check.seat)[0].tolist()
        raise InputError(
            f"policy must answer alike to an observation every time, and {self.name} {said} at "
            f"{seen} {where}"
        )

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle the table of all states, as a function may have no pickle."""
        if not self.remembers:
            return super().__reduce_ex__(protocol)
        self._results(states_of(self._check.game, self._check.seat))
        return self.remembered.__reduce_ex__(protocol)


def _joined(parts: Iterable[Evidence]) -> Evidence:
    """Join what a function has answered in several batches: actions each time, or laws."""
    parts = list(parts) or [np.zeros(0, dtype=np.int64)]
    if len({part.ndim for part in parts}) > 1:
        raise InputError(
            "policy must answer alike to all observations, and gives actions in one batch and "
            "probabilities in another"
        )
    return np.concatenate(parts)


def _sample(game: Game, seat: int, share: int) -> IntArray:
    """Return states of a seat, evenly spaced from the first to the last, preferably decisions."""
    if share:
        own = states_of(game, seat)
        return own[_spread(len(own), max(SAMPLE, len(own) // share))]
    some = np.linspace(0, game.num_states - 1, SAMPLE).astype(np.int64)
    own = np.unique(some[sweeps_of(game).may_move(seat, some)])
    chooses = game.mask(own).sum(axis=1) > 1
    return own[chooses] if chooses.any() else own


def _spread(count: int, wanted: int) -> IntArray:
    """Return ``wanted`` evenly spaced indices from 0 to ``count`` - 1, both included."""
    return np.unique(np.linspace(0, count - 1, min(count, wanted)).astype(np.int64))


def _pieces(game: Game, states: IntArray, largest: int) -> Iterator[IntArray]:
    """Yield batches of a shuffled sample, each half of the rest, then few and single states."""
    rng = np.random.default_rng(0)
    if len(states) < SAMPLE and len(states) <= largest:
        for _ in range(WHOLE):
            yield rng.permutation(len(states))
    left = rng.permutation(len(states))
    while len(left):
        half = min((len(left) + 1) // 2, largest)
        yield left[:half]
        left = left[half:]
    chooses = np.flatnonzero(game.mask(states).sum(axis=1) > 1)
    alone = chooses if len(chooses) else np.arange(len(states))
    few = alone[_spread(len(alone), ALONE)]
    yield from (few[:size] for size in SMALL if size <= len(few))
    yield from few[:, None]


def _largest(evidence: Evidence) -> float:
    return float(np.abs(evidence[np.isfinite(evidence)]).max(initial=0))


def _shown(first: Any, again: Any) -> tuple[str, str]:
    """Return two results for one observation in words: two actions, or the most different pair."""
    if np.ndim(first) == np.ndim(again) == 0:
        return f"action {first}", f"action {again}"
    if np.ndim(first) != np.ndim(again):
        kinds = "an action", "a law"
        return kinds[np.ndim(first)], kinds[np.ndim(again)]
    with np.errstate(invalid="ignore"):
        off = np.abs(first - again)
    action = int(np.nan_to_num(off, nan=0.0, posinf=np.inf).argmax())
    return f"{first[action]:.6g} of action {action}", f"{again[action]:.6g}"
