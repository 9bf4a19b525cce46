"""The exact exploitability of a mixture of policies over whole games.

Before a game one of K deterministic policies pi_k is drawn with probability w_k, and plays the
whole game. The opponent knows the policies and the probabilities, sees every move, and is not told
which policy was drawn. This is the average of fictitious play (Brown 1951; Heinrich, Lanctot and
Silver, "Fictitious Self-Play in Extensive-Form Games", 2015).

It is not the mixture of moves in each state: what the mixture does in a state depends on the moves
before. Nor is it any law of actions by state, where different ways lead to a state: averaging the
laws, each weighted by the probability that its policy reaches the state, gives the same value
against the opponent of these probabilities, but not against other opponents. So the opponent's
knowledge belongs to the position.

As each policy is deterministic, that knowledge is the set S of the policies that would have made
all moves so far; their probabilities keep their ratios. With V_S(i, s) the value of a best response
if player i is to move in state s, w(S) the sum of w_k in S, and S_a the policies in S that take
action a in state s, the mixture in seat m has

    V_S(m, s) = sum over a of w(S_a) / w(S) V_{S_a}(m, s),

since a policy that takes a shows that it is in S_a. Where all of S take the same action, S_a = S,
and V_S(m, s) is the expected value of that action; where the best response is to move, it takes the
maximum. So each set S is a decision process whose leaves are the states in which S splits, and
their values come from smaller sets. At most 2^K - 1 sets are swept; sets that no state makes of
larger ones are left out.

The exploitability of the mixture is at most the mean of its members' (a best response to each
member, once it is known), and may be far less.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...core import (
    FLOATS,
    Arithmetic,
    Array,
    BoolArray,
    FloatArray,
    Game,
    InputError,
    IntArray,
    Values,
)
from ...core.positions import states_of
from ...core.sizes import check_memory, check_sweeps
from ..policies.door import Reading, convert
from ..policies.kinds import Policy
from ..solving.induction import sweep_back
from ..solving.players import Players, one_hot
from ..solving.solver import require_two_players
from ..task import initial_law, task_and_sight
from .self_play import SelfPlayScore, score_of

#: Most members of a mixture: a member more doubles the sets.
MOST_MEMBERS = 8


def score_mixture(
    members: Sequence[Any], env: Any, weights: Sequence[float] | None = None
) -> SelfPlayScore:
    """Score a mixture of deterministic policies over whole games by its exploitability.

    Args:
        members: the policies, each whatever ``as_policy`` takes; models take their likeliest
            action. Each must be able to play both seats.
        env: an environment of this project, its id, or a ``Task``, for its game.
        weights: positive number for each member, to which its probability is proportional; None
            for equal probabilities.

    Raises:
        ValueError: if the game is not zero-sum for two players, a member is not deterministic or
            does not fit the game, or there are too many members.
        SizeError: if the sets of so many members would take longer than the limit.
    """
    task, sight = task_and_sight(env)
    require_two_players(task.game)
    shares = _shares(len(members), weights)
    if len(members) > 1:  # one has as many sweeps as any policy
        check_sweeps("members", len(members), task.game, 2 * (2 ** len(members) - 1))
    guaranteed = []
    for seat in (0, 1):
        reading = Reading(sight=sight)
        policies = [convert(member, task.game, seat, False, reading) for member in members]
        mixed = _Mixture(task.game, seat, *_distinct(task.game, seat, policies, shares))
        guaranteed.append(sum(task.game.payoff_range) - mixed.value_of_best_response())
    return score_of(f"mixture of {len(members)}", task.game, (guaranteed[0], guaranteed[1]))


def _shares(count: int, weights: Sequence[float] | None) -> FloatArray:
    """Return the probability of each member."""
    if not 1 <= count <= MOST_MEMBERS:
        raise InputError(f"members must be from 1 to {MOST_MEMBERS} policies, got {count}")
    given = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
    with np.errstate(all="ignore"):  # a share is 0 or NaN where the sum leaves the range of floats
        shares: FloatArray = given / given.sum()
    if given.shape != (count,) or not ((given > 0) & (shares > 0)).all():
        raise InputError(
            f"weights must be {count} positive numbers with a finite sum, got {weights}"
        )
    return shares


def _distinct(
    game: Game, seat: int, policies: Sequence[Policy], shares: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Join equal members: actions, shape (member, state), and their shares, (member,)."""
    stochastic = [policy.name for policy in policies if not policy.is_deterministic]
    if stochastic:
        raise InputError(f"members must be deterministic policies, got {', '.join(stochastic)}")
    states = states_of(game, seat)
    actions = np.full((len(policies), game.num_states), -1, np.min_scalar_type(-game.num_actions))
    for row, policy in zip(actions, policies, strict=True):
        row[states] = policy.likeliest(states)
    joined: dict[bytes, float] = {}  # np.unique takes minutes for rows of a million numbers
    first: list[Array] = []
    for row, share in zip(actions, shares.tolist(), strict=True):
        if row.tobytes() not in joined:
            first.append(row)
        joined[row.tobytes()] = joined.get(row.tobytes(), 0.0) + share
    return np.array(first), np.array(list(joined.values()))


class _Mixture:
    """A mixture in one seat, and the best response of the other player.

    Args:
        game: the rules.
        seat: the seat of the mixture.
        actions: of the members, shape (member, state).
        shares: probability of each member, shape (member,).
    """

    def __init__(self, game: Game, seat: int, actions: IntArray, shares: FloatArray) -> None:
        self._game, self._seat, self._actions, self._shares = game, seat, actions, shares
        self._known: dict[int, FloatArray] = {}

    @cached_property
    def _alike(self) -> Array:
        """For each member, the set of the members that act alike in a state: (member, state).

        Sets are binary numbers, in which digit k stands for member k.
        """
        alike = np.zeros(self._actions.shape, dtype=np.uint8)  # MOST_MEMBERS digits
        for member, row in enumerate(self._actions):
            alike |= (self._actions == row).astype(np.uint8) << member
        return alike

    def value_of_best_response(self) -> float:
        """Compute the value of the best response, before anyone moves."""
        values = self._solve(2 ** len(self._shares) - 1)
        start = initial_law(self._game, FLOATS)
        return float(FLOATS.mean(start.chances, values.at(start.seat, start.states)))

    def _solve(self, group: int) -> Values:
        """Compute the values of the best response once only a set of members is possible."""
        policy = self._policy(group)
        players = Players(self._game, 1 - self._seat, {self._seat: policy})
        return sweep_back(players).values

    def _values(self, group: int) -> FloatArray:
        """Return the values of a set where the mixture is to move, shape (state,)."""
        if group not in self._known:
            values: FloatArray = self._solve(group).array[self._seat].copy()
            check_memory("sets of members", len(self._known) + 1, float(values.nbytes))
            self._known[group] = values
        return self._known[group]

    def _policy(self, group: int) -> "_Set":
        """Make the policy of a set, which ends the game where the set splits."""
        members = [k for k in range(len(self._shares)) if group >> k & 1]
        share = self._shares / self._shares[members].sum()
        splits = np.zeros(self._actions.shape[1], dtype=bool)
        ends = np.zeros(len(splits))
        for member in members:
            parts = self._alike[member] & group
            away = parts != group
            splits |= away
            for part in np.flatnonzero(np.bincount(parts[away])).tolist():
                there = np.flatnonzero(parts == part)
                ends[there] += share[member] * self._values(part)[there]
        return _Set(self._actions[members[0]], splits, ends, self._game.num_actions)


class _Set(Policy):
    """The common actions of a set of members, with given values where they differ.

    Args:
        actions: of any member, shape (state,).
        splits: whether the members differ, shape (state,).
        ends: the value of a state where they differ, shape (state,).
        num_actions: size of the action space.
    """

    def __init__(
        self, actions: IntArray, splits: BoolArray, ends: FloatArray, num_actions: int
    ) -> None:
        self._actions, self._splits, self._ends = actions, splits, ends
        self.shape = len(actions), num_actions

    def probabilities(self, states: IntArray) -> Array:
        """Give 1 to the common action, and 0 to all where there is none: the game ends there."""
        chosen: Array = one_hot(self._actions[states], self.shape[1]).astype(np.float64)
        return chosen * ~self._splits[states][:, None]

    def probabilities_in(self, states: IntArray, arithmetic: Arithmetic) -> Array:
        """Give the same numbers, whose rows need not sum to one."""
        return self.probabilities(states)

    def average(self, states: IntArray, numbers: Array, arithmetic: Arithmetic) -> Array:
        """Pick the number of the common action, or the value of the split."""
        picked = numbers[np.arange(len(states)), self._actions[states]]
        mean: Array = np.where(self._splits[states], self._ends[states], picked)
        return mean
