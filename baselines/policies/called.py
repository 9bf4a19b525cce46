"""Functions as policies: checked, called where they are needed, and remembered.

In a small game a function is called with all states of its seat, batch by batch, and its results
are a table. In a large game a score calls it only in the states that its own games visit, a small
part of all states.

A score calls a function with many states at once; a game calls it with one state at a time. So it
is called again with a sample of states, in another order and split in parts: a half, and parts of
1, 2, 3, 5 and 7 states beside the rest. Each later call takes along a few states of the sample. A
function that depends on chance, on the number of calls or on the rest of the batch gives different
results, and so does a network that is trained meanwhile.

Results are compared as *evidence*: actions, shape (state,), which must be the same; or laws or
preferences, shape (state, action), which may differ by the rounding of a network. So a near tie of
preferences, which rounding may break either way, is not mistaken for a difference.
"""

import inspect
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from ...core import Arithmetic, Array, BoolArray, Game, InputError, IntArray, sweeps_of
from ...core.errors import answering
from ...core.positions import has_few_states, places_in, states_of
from ...core.tour import Choices, Grid
from ..law.numbers import as_numbers
from .kinds import Policy, PolicyFunction
from .networks import ROUNDING, NetworkPolicy
from .tabular import PolicyCheck, batch_size, batches, first_rows, policy_of

LAWS = 2**27  # bytes of a table of laws that may be stored: calling a network again takes longer
LARGE = 2**17  # states of a game in which functions are called only where games lead
SAMPLE = 1024  # least number of states in the sample; in smaller games, all states
SHARE = 16  # in larger games that are called everywhere, the sample is one state in 16
WHOLE = 5  # repetitions for all states of a smaller game: chance may show in few states
ALONE = 8  # states with which a function is called one by one
PARTS = (1,) * ALONE + (1, 2, 3, 5, 7)  # numbers of states in the small parts of a sample
FIRST = 64  # one of this number of states in the sample goes with every later call
LATER = 256  # one of this number of choices in parts is confirmed by the whole network
#: Actions, shape (state,), or laws or preferences, shape (state, action).
Evidence: TypeAlias = npt.NDArray[Any]
_WHY = (
    "what depends on chance, on the number of calls or on the rest of the batch is no function of "
    "the observation and cannot be scored exactly"
)


def function_policy(
    function: Any,
    check: PolicyCheck,
    name: str,
    lazy: bool = False,
    show: Callable[[IntArray], npt.NDArray[Any]] | None = None,
) -> Policy:
    """Turn a function into a policy, whose results are checked.

    It takes observations and masks, or one observation alone; ``show`` turns observations of
    integers into those that it gets. A ``lazy`` function may be called later, where its games
    lead, if the game is large.
    """
    single = "one that takes (observation) gets one at a time"
    cure = f"{single}; for logits or action values give exactdice.from_network(policy, env)"
    alone = not takes(function, "observations, legal") and takes(function, "observation")
    if not alone:
        require_arguments(function, "observations, legal", cure)
    if isinstance(function, NetworkPolicy):
        function = function.kept()
    elif alone or show is not None:
        function = _seeing(function, name, show or np.asarray, alone)
    game = check.game
    everywhere = has_few_states(game) and (not lazy or game.num_states <= LARGE)
    policy = CalledPolicy(function, check, name, SHARE if everywhere else 0)
    if everywhere and policy.remembers:
        policy.likeliest(states_of(game, check.seat))
        return policy.remembered
    return policy


def _seeing(
    policy: Any, label: str, show: Callable[[IntArray], npt.NDArray[Any]], alone: bool
) -> PolicyFunction:
    """Show a function what an environment shows, or the observations one by one."""

    def function(observations: IntArray, legal: BoolArray) -> Any:
        seen = show(observations)
        if not alone:
            return policy(seen, legal)
        each = seen.tolist() if seen.ndim == 1 else seen
        try:
            return [policy(one) for one in each]
        except Exception as error:  # a function may raise anything
            raise InputError(
                f"a callable that takes (observation) gets one, and {label} raised "
                f"{type(error).__name__}: {error}; one that takes (observations, legal) gets a "
                "batch, and from_network takes a function of a batch to logits or action values"
            ) from error

    return function


def require_arguments(function: Any, wanted: str, cure: str) -> None:
    """Raise an error unless a function takes as many arguments as the names in ``wanted``."""
    if not takes(function, wanted):
        taken = inspect.signature(function, follow_wrapped=False).parameters
        got = f"got one that takes ({', '.join(taken)})"
        raise InputError(f"a callable must take ({wanted}), {got}: {cure}")


def takes(function: Any, wanted: str) -> bool:
    """Return whether a function takes as many arguments as the names in ``wanted``."""
    try:
        taken = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):  # one without a signature may take any
        return True
    try:
        taken.bind(*wanted.split(", "))
    except TypeError:
        return False
    return True


class CalledPolicy(Policy):
    """A function that is called when the law of a state is needed, and remembered.

    Actions are remembered unless the game has too many states for arrays, laws unless they would
    take more than ``LAWS`` bytes: ``remembers`` says whether they are. The sample has one of
    ``share`` states, if these are more than ``SAMPLE``.
    """

    name = ""

    def __init__(
        self, function: PolicyFunction, check: PolicyCheck, name: str, share: int = 0
    ) -> None:
        game = check.game
        self.shape, self.name, self.function, self._check = check.shape, name, function, check
        self._rounding = getattr(function, "rounding", ROUNDING)
        self._sample = _sample(game, check.seat, share)
        called = [self._call(batch) for batch in batches(self._sample, self.shape[1])]
        given = _joined(given for given, _ in called)
        self._evidence = _joined(evidence for _, evidence in called)
        self._largest = float(np.abs(self._evidence[np.isfinite(self._evidence)]).max(initial=0))
        self.is_deterministic = given.ndim == 1
        few, size = has_few_states(game), 8 * self.shape[0] * self.shape[1]
        self.remembers = few and (self.is_deterministic or size <= LAWS)
        if self.remembers:
            self._rows = first_rows(check, not self.is_deterministic)
            self._rows[self._sample] = given
            self._new = np.zeros(self.shape[0], dtype=bool)
            self._new[np.setdiff1d(states_of(game, check.seat), self._sample)] = True
        self._call_again()
        self._in_parts = None
        if isinstance(function, NetworkPolicy) and function.takes_best:
            self._in_parts = function.grid_actions(game, check.seat)

    @property
    def remembered(self) -> Policy:
        """The table of all results so far, with the first legal action elsewhere."""
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
        if not self.remembers:
            return self._asked(states)
        new = states[self._new[states]]
        if len(new):
            self._rows[new], self._new[new] = self._asked(new), False
        return self._rows[states]

    def _asked(self, states: IntArray) -> Evidence:
        """Call the function: states of the sample go with each batch, and all are compared."""
        found = []
        for batch in batches(states, self.shape[1]):
            together = np.concatenate([batch, self._sample[::FIRST]])
            given, evidence = self._call(together, again=True)
            self._compare(together, evidence)
            found.append(given[: len(batch)])
        return _joined(found)

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

    def _call_again(self) -> None:
        """Call the function again with the sample: in another order, and split in parts."""
        states, rng = self._sample, np.random.default_rng(0)
        chooses, half = self._check.game.mask(states).sum(axis=1) > 1, len(states) // 2
        split = half, max(half - sum(PARTS), 0), *PARTS
        repeated: list[tuple[int, ...]] = [()] * WHOLE if len(states) < SAMPLE else []
        for sizes in (*repeated, split):
            order = rng.permutation(len(states))
            order = order[np.argsort(chooses[order], kind="stable")]  # decisions in small parts
            for rows in np.split(states[order], np.cumsum(sizes)):
                for batch in batches(rows, self.shape[1]):
                    self._compare(batch, self._called_again(batch))

    def _called_again(self, states: IntArray) -> Evidence:
        with answering(
            "policy must answer to observations in any batch, in play to one alone, and of "
            f"{len(states)} {self.name} says"
        ):
            return self._call(states, again=True)[1]

    def _compare(self, states: IntArray, evidence: Evidence) -> None:
        """Raise an error if the evidence for states of the sample is not what it was."""
        places = places_in(self._sample, states)
        inside = places >= 0
        said, now = self._evidence[places[inside]], evidence[inside]
        if said.ndim != now.ndim:
            wrong = np.ones(len(now), dtype=bool)
        elif said.ndim == 1:
            wrong = said != now
        else:
            with np.errstate(invalid="ignore"):  # of preferences that are infinite in both
                off = ~(np.abs(said - now) <= self._rounding * self._largest)
            wrong = (off & (said != now)).any(axis=1)
        if wrong.any():
            row = int(np.argmax(wrong))
            before, after = _shown(said[row], now[row])
            batch = min(len(self._sample), batch_size(self.shape[1]))
            where = f"in a batch of {batch} and {after} in one of {len(states)}: {_WHY}"
            self._refuse(states[inside][row], f"says {before}", where)

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
    """Return states of a seat, evenly spaced; with a share of 0 decisions, if there are any."""
    if has_few_states(game):
        own = states_of(game, seat)
    else:
        some = np.linspace(0, game.num_states - 1, SAMPLE).astype(np.int64)
        own = np.unique(some[sweeps_of(game).may_move(seat, some)])
    if share:
        return _evenly(own, max(SAMPLE, len(own) // share))
    own = _evenly(own, SHARE * SAMPLE)
    chooses = game.mask(own).sum(axis=1) > 1
    return _evenly(own[chooses] if chooses.any() else own, SAMPLE)


def _evenly(states: IntArray, count: int) -> IntArray:
    """Return some states, evenly spaced from the first to the last."""
    places = np.linspace(0, len(states) - 1, min(len(states), count)).astype(np.int64)
    return states[np.unique(places)]


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
