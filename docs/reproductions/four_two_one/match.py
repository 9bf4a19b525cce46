"""Optimal play in a match of 421: is utility compatible with (54), and how long are matches?

With two optimal players let V(s) be the win probability of the player who begins a round in the
token state s = (pot, own tokens, other player's tokens). Let u(x, y) be the win probability of the
same player after a round with its result x and the other player's result y. By the paper the value
of a higher combination by (54), after as many casts, must not be lower (section 2.3): u must grow
with x and fall with y, or, before y is known, the mean of u over the best reply to x must grow with
x.

Values are floats with an error bound near 1e-11. Numbers that differ by at most ``SAME`` count as
equal.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from exactdice.baselines import prepare
from exactdice.baselines.policies.kinds import Policy
from exactdice.baselines.problem.equilibrium import Equilibrium, equilibrium
from exactdice.baselines.problem.task import Task
from exactdice.baselines.solving.occupancy import play
from exactdice.core import FloatArray
from exactdice.games import FourTwoOneMatch
from exactdice.games.four_two_one.match import Phase

#: Probabilities that differ by at most this count as equal; all others here differ by 1e-3 or more.
SAME = 1e-10


@dataclass(frozen=True)
class OptimalMatch:
    """A match between two optimal players, in floats."""

    game: FourTwoOneMatch

    @cached_property
    def solved(self) -> Equilibrium:
        """The equilibrium of the match."""
        return equilibrium(self.game)

    @cached_property
    def values(self) -> FloatArray:
        """V: win probability of the player who begins, shape (token state,)."""
        return self.game.before_rounds(self.solved.values[0], 0)

    @property
    def value(self) -> float:
        """Win probability of the player who begins the match."""
        return float(self.values[0])

    def after(self, phase: Phase) -> FloatArray:
        """Return u, shape (beginner's token state, follower's result, beginner's result)."""
        settled = phase.settlement
        goes_on = self.values[settled.following]
        goes_on = np.where(settled.follower_begins, 1 - goes_on, goes_on)
        return np.where(settled.over, ~settled.follower_wins, goes_on)

    def foreseen(self, phase: Phase) -> FloatArray:
        """Return the mean of u over the best reply, shape (token state, casts made - 1, result)."""
        first, *others = phase.round.legs
        tokens = np.arange(len(phase.settlement.over))
        size, offset = phase.round.num_states, first.turn.num_states
        starts = phase.first_state + phase.swapped[tokens] * size
        by_casts = []
        for leg in others:
            casts, law = phase.round.initial_law()
            in_round = offset + casts[:, None] * len(leg.contexts) + np.arange(len(leg.contexts))
            states = starts[:, None, None] + in_round  # (token state, cast, result)
            values = self.solved.values[0].at(1, states.ravel()).reshape(states.shape)
            by_casts.append((values * law[:, None]).sum(axis=1))
            offset += leg.turn.num_states * len(leg.contexts)
        return np.stack(by_casts, axis=1)


# ---------------------------------------------------------------------- the order


def lost_above_won(match: OptimalMatch) -> FloatArray:
    """Return the value of the best lost round minus that of the worst won round, (token state,).

    The match is zero-sum, so that the number is the same for both players.
    """
    gaps = []
    for phase in match.game.phases:
        lost = match.game.follower_wins_round(phase.round)
        won = ~lost
        if match.game.tie == "replay":
            won &= ~np.eye(len(won), dtype=bool)
        after = match.after(phase)
        gaps.append(after[:, lost].max(axis=1) - after[:, won].min(axis=1))
    return np.concatenate(gaps)


def inversions(match: OptimalMatch) -> dict[str, FloatArray]:
    """Return by how much a lower combination can be worth more than a higher one.

    Returns:
        Shape (token state,), 0 if no lower combination is worth more: for the player who "begins"
        and the one who "follows", given the other's result, and for the player who begins before
        the reply is known ("foreseen").
    """
    found: dict[str, list[FloatArray]] = {"begins": [], "follows": [], "foreseen": []}
    for phase in match.game.phases:
        assert phase.round.ranks is not None
        order = np.argsort(phase.round.ranks)
        after = match.after(phase)[:, order][..., order]
        found["begins"].append(_drop(after, 2))
        found["follows"].append(_drop(-after, 1))
        found["foreseen"].append(_drop(match.foreseen(phase)[..., order], 2))
    return {name: np.concatenate(drops) for name, drops in found.items()}


def count(numbers: FloatArray) -> int:
    """Count the positive entries."""
    return int((numbers > SAME).sum())


def order_words(match: OptimalMatch) -> str:
    """Describe in how many token states utility is not compatible with the order."""
    falls = inversions(match)
    lower = count(np.maximum(falls["begins"], falls["follows"]))
    return (
        f"a lower result is better in {lower} of {len(match.values)} token states, some lost round "
        f"than some won one in {count(lost_above_won(match))}"
    )


def largest_inversion(match: OptimalMatch) -> tuple[int, ...]:
    """Find where the player who begins prefers a lower result to a higher one by most.

    Returns:
        Token state, the other's result, the lower and the higher one.
    """
    places, gains_there = [], []
    for phase in match.game.phases:
        assert phase.round.ranks is not None
        after, ranks = match.after(phase), phase.round.ranks
        gained = after[..., None] - after[:, :, None]  # by the one, not the other
        gained = np.where(ranks[:, None] < ranks, gained, -1.0)
        first = (gained > gained.max() - SAME).argmax()  # the first of those equal up to rounding
        tokens, *results = map(int, np.unravel_index(first, gained.shape))
        places.append((phase.first_tokens + tokens, *results))
        gains_there.append(float(gained.max()))
    return max(zip(gains_there, places, strict=True))[1]


def _drop(numbers: FloatArray, axis: int) -> FloatArray:
    """Return the largest fall of numbers along an axis, shape (token state,)."""
    falls = np.maximum.accumulate(numbers, axis=axis) - numbers
    return falls.max(axis=(1, 2))


# ---------------------------------------------------------------------- tokens and rounds


def gains(match: OptimalMatch, pot: int, own: int, other: int) -> dict[tuple[int, int, int], float]:
    """Return the change of the beginner's win probability if tokens move, by token state.

    Args:
        match: a match between optimal players.
        pot: number of tokens added to the pot; the three numbers sum to 0.
        own: number of tokens added to the player who begins.
        other: number of tokens added to the other player.
    """
    states = [(int(p), int(a), int(b)) for p, a, b in match.game.token_states]
    worth = dict(zip(states, match.values.tolist(), strict=True))
    moved = {(p, a, b): (p + pot, a + own, b + other) for p, a, b in states}
    return {state: worth[to] - worth[state] for state, to in moved.items() if to in worth}


def rounds(game: FourTwoOneMatch, first: Policy, second: Policy) -> list[float]:
    """Return the expected number of rounds of a match in each phase, begun by the first player."""
    met = play(first, prepare(Task(game, 0, {1: second})))
    lengths = []
    for phase in game.phases:
        tokens = np.arange(len(phase.settlement.over))[:, None]
        states = phase.first_state + tokens * phase.round.num_states + phase.round.initial_law()[0]
        lengths.append(float(met[:, states].sum()))
    return lengths
