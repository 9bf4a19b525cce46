"""Functions as policies, checked before anything is computed with them.

A function is called with all states of its seat, batch by batch, and then with a sample of them
again (``consistency``). Its results are stored as a table if they are actions, or if a table of
laws is not too large. In a larger game the function is called whenever a sweep needs laws, and must
give equal results; no array of shape (state, action) is stored for the whole game.

A network in a large game is called when it is needed: for a score only in the states that its own
games visit (``solving.reach``), a small part of all states.
"""

import inspect
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core import Arithmetic, Array, BoolArray, Game, InputError, IntArray, frozen
from ...core.identity import once_a_game
from ...core.positions import first_actions, has_few_states, states_of
from .called import Call, CalledPolicy
from .checks import PolicyCheck
from .consistency import ROUNDING, SAMPLE, SHARE, Marks, as_law, check_again, sample_of
from .kinds import DeterministicPolicy, Policy, PolicyFunction
from .preferences import NetworkPolicy
from .tables import TableBuilder, batch_size, batches

LAWS = 2**27  # bytes of a table of laws that may be stored: calling a network again takes longer
LARGE = 2**17  # states of a game in which networks are called when they are needed


def function_policy(function: PolicyFunction, check: PolicyCheck, lazy: bool = False) -> Policy:
    """Turn a function on (observations, masks) into a policy; it is called with every state.

    Args:
        function: returns actions (state,) or probabilities (state, action).
        check: the check of the results.
        lazy: whether a network is called when it is needed, if the game is large.

    Raises:
        ValueError: if the function takes other arguments, ``check`` rejects a result, or the
            function returns another result when it is called again.
    """
    network = "for logits or action values exactdice.from_network(policy, env)"
    cure = f"give lambda seen, legal: policy(seen), or {network}"
    require_arguments(function, "observations, legal", cure)
    if isinstance(function, NetworkPolicy):
        function = function.kept()
    if not has_few_states(check.game):
        return CalledPolicy(function, check)
    large = lazy and check.shape[0] > LARGE
    if large and isinstance(function, NetworkPolicy) and function.is_lazy:
        return LazyPolicy(function, check)
    return _called_everywhere(function, check)


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


def _called_everywhere(function: PolicyFunction, check: PolicyCheck) -> Policy:
    """Call a function with all states of its seat, and with a sample of them again."""
    call = Call(function, check)
    game, states = check.game, states_of(check.game, check.seat)
    player = (game, check.seat, check.name)
    rows = TableBuilder(check, with_laws=8 * game.num_states * game.num_actions <= LAWS)
    marks, sample = Marks(player), sample_of(states)
    sampled = np.zeros(game.num_states, dtype=bool)  # np.isin would take longer than a network
    sampled[sample] = True
    evidence: list[npt.NDArray[Any]] = [np.zeros(0, dtype=np.int64)]
    for batch in batches(states, game.num_actions):
        given, behind = call(batch)
        checked = check(given, batch)
        rows.add(batch, checked)
        marks.note(batch, checked)
        evidence.append(behind[sampled[batch]])

    def ask(states: IntArray) -> npt.NDArray[Any]:
        given, behind = call(states, again=True)
        check(given, states)
        return behind

    most = min(len(states), batch_size(game.num_actions))
    first = sample, _joined(evidence, game.num_actions), most
    check_again(ask, first, player, getattr(function, "rounding", ROUNDING))
    return rows.policy(states) or FunctionPolicy(call, check, marks)


def _joined(evidence: list[npt.NDArray[Any]], num_actions: int) -> npt.NDArray[Any]:
    """Join the evidence of several batches: actions, unless one batch has laws or preferences."""
    if any(part.ndim == 2 for part in evidence):
        evidence = [as_law(part, num_actions) for part in evidence]
    return np.concatenate(evidence)


class FunctionPolicy(Policy):
    """A function whose table would be too large: it is called whenever a sweep needs laws.

    Args:
        call: calls the function with states.
        check: the check of every result.
        marks: marks of the first results, with which later results are compared.
    """

    def __init__(self, call: Call, check: PolicyCheck, marks: Marks) -> None:
        self.shape = check.shape
        self._call, self._check, self._marks = call, check, marks

    @property
    def name(self) -> str:
        """Name for people."""
        return self._check.name

    @property
    def roundings(self) -> int:
        """Bound the roundings of a mean, by the law with the most actions."""
        return 2 * self._marks.most_actions

    def probabilities(self, states: IntArray) -> Array:
        """Call the function for the law of each state; other players' states get any law.

        Raises:
            ValueError: if ``PolicyCheck`` rejects a result, or it differs from the first result.
        """
        law = np.zeros((len(states), self.shape[1]))
        law[:, 0] = 1.0  # stays only where other players are to move
        own = np.flatnonzero(self._own[states])
        if len(own):
            law[own] = as_law(self._checked(states[own]), self.shape[1])
        return law

    @cached_property
    def _own(self) -> BoolArray:
        own = np.zeros(self.shape[0], dtype=bool)
        own[states_of(self._check.game, self._check.seat)] = True
        return own

    def _checked(self, states: IntArray) -> npt.NDArray[Any]:
        """Call the function for states of the seat: actions (state,), or laws (state, action)."""
        given, _ = self._call(states)
        checked = self._check(given, states)
        self._marks.compare(states, checked)
        return checked


class LazyPolicy(Policy):
    """A network that takes its likeliest legal action in a large game.

    The constructor calls the network with a sample of states and so refuses networks that do not
    fit. The first request for an action calls it with all states; ``begin`` makes a table of fewer
    states. Each table calls it with the sample again and so refuses a network trained since.

    Args:
        network: the network.
        check: the check of its actions.

    Raises:
        ValueError: if ``check`` rejects the action in a state of the sample.
    """

    is_table = True
    is_deterministic = True
    is_lazy = True

    def __init__(self, network: NetworkPolicy, check: PolicyCheck) -> None:
        self.shape = check.shape
        self._network, self._check = network, check
        states = states_of(check.game, check.seat)
        self._sample: IntArray = states[:: max(1, len(states) // SAMPLE)]
        self._evidence = Call(network, check)(self._sample)[1]
        self.begin().actions(self._sample)

    @property
    def name(self) -> str:
        """Name for people."""
        return self._check.name

    @property
    def roundings(self) -> int:
        """0: the value of one action is taken, without rounding."""
        return 0

    def begin(self) -> "PartialTable":
        """Return a new table of the network's actions, empty at first.

        Raises:
            ValueError: if the network's results differ from its first results.
        """
        table = PartialTable(self._network, self._check)
        table.require(self._sample, self._evidence, len(self._sample))
        return table

    @cached_property
    def whole(self) -> Policy:
        """The policy as a table of all states."""
        self.begin()
        return _called_everywhere(self._network, self._check)

    def probabilities(self, states: IntArray) -> Array:
        """Give 1 to the action chosen, 0 to all others."""
        return self.whole.probabilities(states)

    def probabilities_in(self, states: IntArray, arithmetic: Arithmetic) -> Array:
        """Give 1 to the action chosen, 0 to all others."""
        return self.whole.probabilities_in(states, arithmetic)

    def average(self, states: IntArray, numbers: Array, arithmetic: Arithmetic) -> Array:
        """Return the number of the chosen action, shape (state,)."""
        return self.whole.average(states, numbers, arithmetic)

    def likeliest(self, states: IntArray) -> IntArray:
        """Return the chosen action in each state, shape (state,)."""
        return self.whole.likeliest(states)

    def sample(self, states: IntArray, rng: np.random.Generator) -> IntArray:
        """Return the chosen action in each state; nothing is drawn."""
        return self.whole.sample(states, rng)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the table of all states, as a network may have no pickle."""
        return _unchanged, (self.whole,)


def _unchanged(policy: Policy) -> Policy:
    return policy


class PartialTable:
    """The actions of a network in the states in which they were needed.

    Args:
        network: the network.
        check: the check of its actions.
    """

    def __init__(self, network: NetworkPolicy, check: PolicyCheck) -> None:
        self._network, self._check = network, check
        self._call = Call(network, check)
        self._actions = np.full(check.shape[0], -1, np.min_scalar_type(-check.shape[1]))
        self._sample: list[IntArray] = []
        self._evidence: list[npt.NDArray[Any]] = []
        self._largest = 1

    def actions(self, states: IntArray) -> IntArray:
        """Return the action in each state, shape (state,); the network is called where it is new.

        Raises:
            ValueError: as ``PolicyCheck`` does.
        """
        new = states[self._actions[states] < 0]
        for batch in batches(new, self._check.shape[1]):
            given, evidence = self._call(batch, again=True)
            self._actions[batch] = self._check(given, batch)
            kept = batch % SHARE == 0
            self._sample.append(batch[kept])
            self._evidence.append(evidence[kept])
            self._largest = max(self._largest, len(batch))
        actions: IntArray = self._actions[states].astype(np.int64)
        return actions

    def policy(self) -> Policy:
        """Return the policy that takes these actions, and elsewhere the first legal action.

        Raises:
            ValueError: if the network returns another result when it is called again, or its model
                acts differently.
        """
        check, name = self._check, self._check.name
        if self._sample:
            states = np.concatenate(self._sample)
            self.require(states, np.concatenate(self._evidence), self._largest)
            self._call(states[:: max(1, len(states) // SAMPLE)])  # confirms the preferences
        actions = np.where(self._actions < 0, _first_actions(check.game), self._actions)
        return DeterministicPolicy(actions, check.shape[1], name)

    def require(self, states: IntArray, evidence: npt.NDArray[Any], batch: int) -> None:
        """Check that the network returns its earlier preferences again, up to rounding.

        Args:
            states: shape (state,).
            evidence: the earlier preferences, shape (state, action).
            batch: size of the largest batch of the earlier calls.

        Raises:
            ValueError: if the preferences differ by more than rounding.
        """

        def ask(states: IntArray) -> npt.NDArray[Any]:
            return self._call(states, again=True)[1]

        if len(states):
            player = (self._check.game, self._check.seat, self._check.name)
            check_again(ask, (states, evidence, batch), player, self._network.rounding)


@once_a_game
def _first_actions(game: Game) -> IntArray:
    every = np.arange(game.num_states)
    return frozen(first_actions(game, every).astype(np.min_scalar_type(-game.num_actions)))
