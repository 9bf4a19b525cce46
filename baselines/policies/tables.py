"""Tables as policies, and the reading of numbers from arrays, lists and tensors."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core import Array, BoolArray, FloatArray, InputError, IntArray, is_bool
from ...core.positions import first_actions, states_of
from ...core.sizes import check_array
from .checks import PolicyCheck
from .kinds import DeterministicPolicy, Policy, StochasticPolicy

BATCH = 2**21  # entries (state, action) in a batch that is checked, or computed by a function


def table_policy(table: Any, check: PolicyCheck) -> Policy:
    """Turn a table into a policy; the numbers are copied.

    Args:
        table: probabilities, shape (state, action), or actions, shape (state,), or a mapping (see
            ``mapping_policy``). Rows of states in which the seat is never to move are ignored.
            One more row may follow for the end of the game, which ``P`` has as a state.
        check: the check of the entries.

    Raises:
        ValueError: if the table has another shape, or ``check`` rejects an entry.
    """
    if isinstance(table, Mapping):
        return mapping_policy(table, check)
    game, own = check.game, states_of(check.game, check.seat)
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
    rows = TableBuilder(check)
    for batch in batches(own, game.num_actions):
        rows.add(batch, check(given[batch], batch))
    return rows.policy(own)


def mapping_policy(
    given: Mapping[Any, Any],
    check: PolicyCheck,
    show: Callable[[IntArray], npt.NDArray[Any]] | None = None,
) -> Policy:
    """Turn a mapping to actions, or to rows of probabilities, into a policy.

    Args:
        given: its keys are observations, as tuples of numbers, or numbers of states. A
            ``defaultdict`` has its default for all others.
        check: the check of the entries.
        show: turns observations of integers into those of the keys; None for integers.

    Raises:
        ValueError: if keys are texts, or ``check`` rejects an entry.
    """
    game, own = check.game, states_of(check.game, check.seat)
    key = next(iter(given), 0)
    if isinstance(key, str):
        raise InputError(
            "policy must have observations or numbers of states as keys, got texts: weights go "
            "into their network, net.load_state_dict(policy), and net is the policy"
        )
    default = getattr(given, "default_factory", None) or (lambda: None)
    rows, missing = TableBuilder(check), np.zeros(game.num_states, dtype=bool)
    for batch in batches(own, game.num_actions):
        shown = game.observe(batch, check.seat)
        shown = shown if show is None else show(shown)
        keys = shown.tolist() if shown.ndim == 1 else map(tuple, shown.tolist())
        keys = batch.tolist() if shown.ndim > 1 and isinstance(key, int | np.integer) else keys
        found = [default() if (one := given.get(key)) is None else one for key in keys]
        known = np.array([entry is not None for entry in found])
        missing[batch[~known]] = True
        if known.any():
            numbers = as_numbers([entry for entry in found if entry is not None], "policy")
            if numbers.ndim == 2:
                check_array("a table of probabilities", game, *check.shape)
            rows.add(batch[known], check(numbers, batch[known]))
    lacking = np.flatnonzero(missing)
    rows.add(lacking, first_actions(game, lacking))
    policy = rows.policy(own)
    return IncompletePolicy(policy, missing, check) if len(lacking) else policy


class IncompletePolicy(Policy):
    """A table that lacks states: it is scored if its games meet none of them.

    Args:
        remembered: the table, with the first legal action in the missing states.
        missing: whether each state is missing, shape (state,).
        check: the check of the policy.
    """

    remembers = True

    def __init__(self, remembered: Policy, missing: BoolArray, check: PolicyCheck) -> None:
        self.shape, self.remembered = check.shape, remembered
        self._missing, self._check = missing, check
        self.is_deterministic = remembered.is_deterministic

    @property
    def name(self) -> str:
        """Name for people."""
        return self._check.name

    def probabilities(self, states: IntArray) -> Array:
        """Give the rows of the table.

        Raises:
            ValueError: if a state is missing.
        """
        for state in states[self._missing[states]]:
            seen = self._check.game.observe(np.array([state]), self._check.seat)[0].tolist()
            raise InputError(
                f"policy must have an action for every state that is needed, got none for {seen} "
                f"(state {state}): keys are observations of env as tuples, or numbers of states; "
                "a collections.defaultdict has an action for all others"
            )
        return self.remembered.probabilities(states)


class TableBuilder:
    """Collects checked actions and laws, batch by batch, and makes a table of them.

    Args:
        check: the check of the policy, which has its game and its name.
    """

    def __init__(self, check: PolicyCheck) -> None:
        self._check = check
        self._actions = np.full(check.shape[0], -1)
        self._table: FloatArray | None = None

    def add(self, states: IntArray, rows: npt.NDArray[Any]) -> None:
        """Add the rows of some states: actions (state,), or laws (state, action)."""
        if rows.ndim == 1:
            self._actions[states] = rows
        else:
            if self._table is None:
                self._table = np.zeros(self._check.shape)
            self._table[states] = rows

    def policy(self, states: IntArray) -> Policy:
        """Return the policy of the seat's states."""
        actions, table, num_actions = self._actions, self._table, self._check.shape[1]
        done = actions[states] >= 0
        others = np.flatnonzero(actions < 0)  # other players' states, or states with a law
        if table is None:
            actions[others] = first_actions(self._check.game, others)
            return DeterministicPolicy(actions, num_actions, self._check.name)
        table[states[done], actions[states[done]]] = 1.0
        table[np.setdiff1d(others, states), 0] = 1.0
        return StochasticPolicy(table, self._check.name)


def batch_size(num_actions: int) -> int:
    """Return the number of states in a batch."""
    return max(1, BATCH // num_actions)


def batches(states: IntArray, num_actions: int) -> Iterator[IntArray]:
    """Divide states into batches."""
    step = batch_size(num_actions)
    for first in range(0, len(states), step):
        yield states[first : first + step]


def as_numbers(given: Any, name: str) -> npt.NDArray[Any]:
    """Return an array of integers, floats or booleans.

    Args:
        given: an array, a list, or a tensor, with a gradient or without.
        name: name of the argument in messages.

    Raises:
        ValueError: if ``given`` holds anything else.
    """
    if isinstance(given, np.ma.MaskedArray):
        raise InputError(
            f"{name} must be numbers, got a masked array: give one without, such as its filled(0)"
        )
    if isinstance(given, tuple) and len(given) == 2 and given[1] is None:
        raise InputError(
            f"{name} must be numbers, got a pair of an array and None, as predict of a model gives "
            "it: take the first of the two"
        )
    if given is None:
        raise InputError(f"{name} must be numbers, got nothing (None)")
    try:
        array = np.asarray(_of_tensor(given))
    except Exception as error:  # each library raises errors of its own
        said = " ".join(str(error).split())[:120]
        raise InputError(
            f"{name} must be numbers in rows of one length, got a {type(given).__name__}: {said}"
        ) from None
    if array.dtype.kind not in "uifb":
        raise InputError(f"{name} must be numbers, got {array.dtype} of shape {array.shape}")
    if array.dtype.kind != "b" and isinstance(given, list | tuple) and any(map(is_bool, given)):
        raise InputError(f"{name} must be numbers, got True or False among them")
    return array


def _of_tensor(given: Any) -> Any:
    """Detach a tensor of torch and move it to the CPU; bfloat16, unknown to numpy, is widened."""
    if not hasattr(given, "detach"):
        return given
    tensor = given.detach().cpu()
    return tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor
