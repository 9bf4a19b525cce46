"""Tables as policies, and the reading of numbers from arrays, lists and tensors."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core import Array, BoolArray, Game, InputError, IntArray, frozen, is_bool
from ...core.identity import once_a_game
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
    return _checked(given[own], own, check)


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
    found: list[Any] = []
    for batch in batches(own, game.num_actions):
        shown = game.observe(batch, check.seat)
        shown = shown if show is None else show(shown)
        keys = shown.tolist() if shown.ndim == 1 else map(tuple, shown.tolist())
        keys = batch.tolist() if shown.ndim > 1 and isinstance(key, int | np.integer) else keys
        found += [default() if (one := given.get(key)) is None else one for key in keys]
    known = np.array([entry is not None for entry in found])
    rows = [entry for entry in found if entry is not None]
    numbers = as_numbers(rows, "policy") if rows else np.zeros(0, dtype=np.int64)
    if numbers.ndim == 2:
        check_array("a table of probabilities", game, *check.shape)
    policy = _checked(numbers, own[known], check)
    missing = np.zeros(game.num_states, dtype=bool)
    missing[own[~known]] = True
    return IncompletePolicy(policy, missing, check) if missing.any() else policy


def _checked(given: npt.NDArray[Any], states: IntArray, check: PolicyCheck) -> Policy:
    """Make a policy of the actions or laws in some states; elsewhere the first action is taken.

    Args:
        given: actions, shape (state,), or probabilities, shape (state, action).
        states: shape (state,).
        check: the check of the entries, batch by batch.
    """
    step = batch_size(check.shape[1])
    parts = [slice(first, first + step) for first in range(0, max(len(states), 1), step)]
    rows = np.concatenate([check(given[part], states[part]) for part in parts])
    actions = first_actions_of(check.game).copy()
    if rows.ndim == 1:
        actions[states] = rows
        return DeterministicPolicy(actions, check.shape[1], check.name)
    laws = np.zeros(check.shape)
    laws[np.arange(len(actions)), actions] = 1.0
    laws[states] = rows
    return StochasticPolicy(laws, check.name)


@once_a_game
def first_actions_of(game: Game) -> IntArray:
    """Give the first legal action in each state, shape (state,), in the smallest integer type."""
    every = np.arange(game.num_states)
    return frozen(first_actions(game, every).astype(np.min_scalar_type(-game.num_actions)))


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
