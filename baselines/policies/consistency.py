"""Check that a policy is a function of the observation: further calls must give equal results.

A score calls a policy with all states at once; a game calls it with one state at a time. So the
policy is called again with a sample of states: in another order, in batches of half the states, of
half the rest and so on, and in batches of 1, 2, 3, 5 and 7 states. A policy that depends on chance,
on the number of calls or on the rest of the batch gives different results.

Results are compared as *evidence*: actions, shape (state,), which must be the same; or laws or
preferences, shape (state, action), which may differ by the rounding of a network. So a near tie of
preferences, which rounding may break either way, is not mistaken for a difference.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core import BoolArray, FloatArray, Game, InputError, IntArray

#: Largest difference between results of a float32 network in two batches, as a share of the
#: largest result. Such a network has errors of about 1e-6, and a law none larger than its logits.
ROUNDING = 1e-4
SAMPLE = 1024  # least number of states in the sample; in smaller games, all states
SHARE = 16  # in larger games the sample is one state in 16
WHOLE = 5  # repetitions for all states of a smaller game: chance may show in few states
ALONE = 8  # states with which the policy is called one by one in the end
SMALL = (2, 3, 5, 7)  # sizes of batches, of which halvings may miss some
_WHY = (
    "what depends on chance, on the number of calls or on the rest of the batch is no function of "
    "the observation and cannot be scored exactly"
)

#: A function that calls a policy with states and returns the evidence (see the module docstring).
Ask = Callable[[IntArray], npt.NDArray[Any]]


def sample_of(states: IntArray) -> IntArray:
    """Return a sample of the states, evenly spaced from the first to the last."""
    return states[_spread(len(states), max(SAMPLE, len(states) // SHARE))]


def check_again(
    ask: Ask,
    first: tuple[IntArray, npt.NDArray[Any], int],
    player: tuple[Game, int, str],
    rounding: float = ROUNDING,
    *,
    once: bool = False,
) -> None:
    """Call a policy again with the same states, and compare.

    Args:
        ask: calls the policy with states and returns the evidence.
        first: states, the evidence of the first call, and the size of its largest batch.
        player: the game, the seat and the name of the policy.
        rounding: largest difference between two results, as a share of the largest number.
        once: whether all states are in one batch, instead of batches of many sizes.

    Raises:
        ValueError: if the evidence for a state differs by more than rounding.
    """
    states, said, batch = first
    most = rounding * _largest(said)
    pieces = [np.arange(len(states))] if once else _pieces(player[0], states, batch)
    for rows in pieces:
        _compare(ask, (states[rows], said[rows], batch), player, most)


def _compare(
    ask: Ask,
    first: tuple[IntArray, npt.NDArray[Any], int],
    player: tuple[Game, int, str],
    most: float,
) -> None:
    (states, said, batch), (game, seat, name) = first, player
    now = _ask_again(ask, states, name)
    wrong = _differing(said, now, most, game.num_actions)
    if wrong.any():
        row = int(np.argmax(wrong))
        seen = game.observe(states[[row]], seat)[0].tolist()
        before, after = _shown(said[row], now[row])
        raise InputError(
            f"policy must answer alike to an observation every time, and {name} says {before} "
            f"at {seen} in a batch of {batch} and {after} in one of {len(states)}: {_WHY}"
        )


def as_law(answer: npt.NDArray[Any], num_actions: int) -> npt.NDArray[Any]:
    """Return actions as laws (state, action); laws are returned unchanged."""
    if answer.ndim == 2:
        return answer
    law: FloatArray = (np.arange(num_actions) == answer[:, None]).astype(np.float64)
    return law


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


def _ask_again(ask: Ask, states: IntArray, name: str) -> npt.NDArray[Any]:
    try:
        return ask(states)
    except InputError:
        raise
    except Exception as error:  # a function may raise anything
        said = " ".join(str(error).split())[:200]
        raise InputError(
            "policy must answer to observations in any batch, in play to one alone, and of "
            f"{len(states)} {name} says: {type(error).__name__}: {said}"
        ) from error


def _largest(evidence: npt.NDArray[Any]) -> float:
    if not evidence.size:
        return 0.0
    return float(np.where(np.isfinite(evidence), np.abs(evidence), 0.0).max())


def _differing(
    first: npt.NDArray[Any], again: npt.NDArray[Any], most: float, num_actions: int
) -> BoolArray:
    """Return whether each row of evidence differs, numbers by more than ``most``, shape (row,)."""
    if first.ndim == again.ndim == 1:
        different: BoolArray = first != again
        return different
    one, other = as_law(first, num_actions), as_law(again, num_actions)
    finite = np.isfinite(one) & np.isfinite(other)
    with np.errstate(invalid="ignore"):
        off = np.where(finite, np.abs(one - other), 0.0)
    wrong: BoolArray = np.any(np.where(finite, off > most, one != other), axis=1)
    return wrong


def _shown(first: Any, again: Any) -> tuple[str, str]:
    """Return two results for one observation in words: two actions, or the most different pair."""
    if np.ndim(first) == np.ndim(again) == 0:
        return f"action {first}", f"action {again}"
    if np.ndim(first) != np.ndim(again):
        kinds = "an action", "a law"
        return (kinds[np.ndim(first)], kinds[np.ndim(again)])
    with np.errstate(invalid="ignore"):
        off = np.abs(first - again)
    action = int(np.nan_to_num(off, nan=0.0, posinf=np.inf).argmax())
    return f"{first[action]:.6g} of action {action}", f"{again[action]:.6g}"
