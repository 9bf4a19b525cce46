"""Policy iteration (Howard 1960): the way to the values of all games whose moves lead back."""

from collections.abc import Callable, Container
from hashlib import sha256

from ...core import Array, IntArray

#: Policy iteration takes a few rounds; after this many it must be going in circles.
MOST_ROUNDS = 1000


def policy_iteration(
    # from values v to T(v), by one pass backward, which makes new choices
    back: Callable[[Array], Array],
    solve: Callable[[Array, Array], Array],  # from v and T(v) to the values of the last choices
    chosen: Callable[[], IntArray],  # gives the last choices
    values: Array,  # the first v
    known: Container[bytes] = (),  # digests of choices at which to stop, too
) -> tuple[Array, Array]:
    """Improve choices by their values, until the values are a fixed point or choices repeat.

    Usually choices repeat because they are optimal. Rounding may also lead floats back to choices
    that are nearly as good; then the residual T(v) - v says how good the values are. The result is
    v and T(v).
    """
    seen: set[bytes] = set()
    for _ in range(MOST_ROUNDS):
        found = back(values)
        digest = digest_of(chosen())
        if not (found != values).any() or digest in seen or digest in known:
            return values, found
        seen.add(digest)
        values = solve(values, found)
    raise ArithmeticError(f"policy iteration must end within {MOST_ROUNDS} rounds, and did not")


def digest_of(choices: IntArray) -> bytes:
    """Give a short text that stands for some choices."""
    return sha256(choices.tobytes()).digest()
