"""Checks of chance, with one stated probability of a false alarm for a whole audit.

Let f be a number of each step, such as a component of the next observation, whose law given all
that came before is known exactly. For any l,

    M = exp(l sum of f(t) - sum of log E[exp(l f(t)) | what came before])

is the last value of a martingale that begins with 1. By Ville's inequality (1939; see Howard et al.
2020, *Time-uniform Chernoff bounds*) it is 1/p or more with a probability of at most p. A check
takes some numbers f, scaled to [0, 1], and for each some fixed l, small ones for small deviations
of many steps and large ones for large deviations of few; p is divided among all of them.

For visits, a step is a game that begins in the record, and f is 1 if the game meets a state within
the record. The policy's occupancy d of the state bounds the mean of f from above: the record may
end before the game does, and in a game with cycles d counts every visit. With l > 0,
E[exp(l f)] <= 1 + d (exp(l) - 1), so that M is at most a supermartingale, to which Ville's
inequality applies as well. Games that begin after the last row, or before the first, do not count.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ...baselines import Policy, as_policy, from_network
from ...baselines.solving.occupancy import play
from ...baselines.task import task_and_sight
from ...core import FLOATS, BoolArray, FloatArray, Game, IntArray
from ...core.presentation import present
from ..records import EpsilonGreedy
from ..report import Mistake, Report, reproducing
from ..view import factor
from .steps import Steps

#: Most states of a game whose visits are compared with the occupancy of the policy.
MOST_STATES = 2**18
#: Chance of a false alarm in a whole audit.
FALSE_ALARM = 1e-4
#: The l of the module's docstring.
RATES = [sign * rate for rate in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0) for sign in (1, -1)]


class Deviation(NamedTuple):
    """The deviation of a number of each step from its expectation under the law."""

    check: str
    words: str  # what the number is
    steps: int  # number of steps that have the number
    mean: float  # of the recorded numbers, in [0, 1]
    expected: float  # mean of the expected numbers
    evidence: float  # the largest log M


def check_chance(
    report: Report, steps: Steps, policy: Policy | None, payoffs: FloatArray | None
) -> None:
    """Compare outcomes, first states, actions and visits with their laws (see ``deviations``)."""
    if steps.wrong.any():
        report.unchecked["chance"] = "impossible steps have no law"
        return
    if any(found.mistake == "illegal-action" for found in report.findings):
        report.unchecked["chance"] = "the legal actions alone do not follow the law"
        return
    if policy is not None and steps.follow and len(steps.task.initial) > MOST_STATES:
        report.unchecked["visits"] = f"the game has more than {MOST_STATES:,} states"
    found = list(deviations(steps, policy, payoffs))
    least, looks = threshold(len(found)), len(found) * len(RATES)
    for check in dict.fromkeys(deviation.check for deviation in found):
        mine = [deviation for deviation in found if deviation.check == check]
        worst = max(mine, key=lambda deviation: deviation.evidence)
        tens = (worst.evidence - np.log(looks)) / np.log(10)
        words = (
            f"{worst.words} is {worst.mean:.4f} on average, scaled to the range from 0 to 1, and "
            f"must be about {worst.expected:.4f}: chance gives fewer than one such record in "
            f"10^{tens:.0f}"
        )
        drawn = draw_mistakes(steps, policy) if check == "policy" and policy is not None else ()
        wrong = np.full(worst.steps, worst.evidence >= least)
        report.add(check, wrong, words, chain(_copied_lanes(steps), drawn))


def deviations(
    steps: Steps, policy: Policy | None, payoffs: FloatArray | None
) -> Iterator[Deviation]:
    """Compare outcomes, beginnings, actions and visits with their laws, for possible steps.

    The policy that drew the actions, and payoffs of the steps that end games, shape (time, lane),
    are None if they are not known.
    """
    yield from _outcomes(steps, payoffs)
    if steps.follow:
        yield from _beginnings(steps)
    if policy is not None:
        yield from _of_actions(steps, policy)
        if steps.follow and len(steps.task.initial) <= MOST_STATES:
            yield from _visits(steps, policy)


def _outcomes(steps: Steps, payoffs: FloatArray | None) -> Iterator[Deviation]:
    """Compare the results of moves: components of the next observation, ends and payoffs."""
    # Of the last rows ends alone are known: they would be too many.
    which = steps.verdicts["transitions"].checked & steps.knows_after
    (law, moves), game = steps.law, steps.task.game
    rows, ended = moves[which], steps.terminated[which]
    seen = game.observe(law.states, steps.task.seat)
    nothing = np.zeros(len(law.payoffs))
    features = {
        f"the next {name}": np.append(seen[:, column] / max(size - 1, 1), nothing)
        for column, (name, size) in enumerate(
            zip(game.observation_names, game.observation_sizes, strict=True)
        )
    }
    features["the end of the game"] = np.append(np.zeros(len(law.states)), nothing + 1)
    ends: int | IntArray = len(law.states)
    if payoffs is not None:
        low, high = game.payoff_range
        paid = (law.payoffs - low) / max(high - low, 1e-300)
        features["the payoff"] = np.append(np.zeros(len(law.states)), paid)
        ends = len(law.states) + np.searchsorted(law.payoffs, payoffs[which][ended])
    results = law.results(steps.after[which])
    results[ended] = ends
    for words, numbers in features.items():
        values, places = np.unique(numbers, return_inverse=True)  # few, as exp is slow
        means = law.mean(_with_powers(values)[places])
        yield _deviation("outcomes", words, numbers[results], means, rows)


def _beginnings(steps: Steps) -> Iterator[Deviation]:
    """Compare the first states of games with their law."""
    which, initial = steps.verdicts["first states"].checked, steps.task.initial
    if not which.any():
        return
    possible = np.flatnonzero(initial)
    game = steps.task.game
    sizes = np.maximum(np.array(game.observation_sizes) - 1, 1)
    first = game.observe(possible, steps.task.seat) / sizes
    begun = game.observe(steps.states[which], steps.task.seat) / sizes
    for column, name in enumerate(game.observation_names):
        means = initial[possible][None] @ _with_powers(first[:, column])
        rows = np.zeros(len(begun), dtype=np.int64)
        yield _deviation("beginnings", f"the first {name}", begun[:, column], means, rows)


def _of_actions(steps: Steps, policy: Policy) -> Iterator[Deviation]:
    """Compare how often each action was taken with the probabilities of the policy."""
    states, actions = steps.states[steps.legal], steps.actions[steps.legal]
    distinct, rows = np.unique(states, return_inverse=True)
    for action, chances in enumerate(policy.probabilities(distinct).T):
        means = np.column_stack([chances, 1 + np.outer(chances, np.expm1(RATES))])
        taken = (actions == action).astype(np.float64)
        yield _deviation("policy", f"action {action}", taken, means, rows)


def _visits(steps: Steps, policy: Policy) -> Iterator[Deviation]:
    """Compare how many games meet a state with the occupancy of the policy; yield the worst."""
    begins = steps.verdicts["first states"].checked
    games = int(begins.sum())
    if not games:
        return
    task = steps.task
    game_of = np.cumsum(begins, axis=0) + np.arange(begins.shape[1]) * (len(begins) + 1)
    known = steps.used & (np.cumsum(begins, axis=0) > 0)
    met = np.unique(game_of[known] * len(task.initial) + steps.states[known]) % len(task.initial)
    states, counts = np.unique(met, return_counts=True)
    chances = np.minimum(play(policy, task, FLOATS).at(task.seat, states), 1.0)
    rates = np.array([rate for rate in RATES if rate > 0])[:, None]
    logs = counts * rates - games * np.log1p(chances * np.expm1(rates))  # (rate, state)
    evidence = logs.max(axis=0)
    worst = int(evidence.argmax())
    seen = task.game.observe(states[worst : worst + 1], task.seat)[0]
    words = f"the number of games that meet {present(task.game).describe(seen)}"
    of_states = float(evidence[worst]) - np.log(len(task.initial))  # one of so many states
    mean, expected = counts[worst] / games, float(chances[worst])
    yield Deviation("visits", words, games, mean, expected, of_states)


def _with_powers(numbers: FloatArray) -> FloatArray:
    """Return numbers f, and exp(l f) for each l, shape (number, 1 + rate)."""
    return np.column_stack([numbers, np.exp(np.outer(numbers, RATES))])


def _deviation(
    check: str, words: str, found: FloatArray, means: FloatArray, rows: IntArray
) -> Deviation:
    """Compare numbers, (step,), with the means of a law, in a row for each step."""
    total, count = float(found.sum()), len(found)
    evidence = np.array(RATES) * total - np.log(means[:, 1:])[rows].sum(axis=0)
    expected = float(means[rows, 0].sum())
    return Deviation(
        check, words, count, total / max(count, 1), expected / max(count, 1), float(evidence.max())
    )


def threshold(count: int) -> float:
    """Return the log M from which one of many deviations is an alarm."""
    return float(np.log(count * len(RATES) / FALSE_ALARM))


# ----------------------------------------------------------------------------- policies


@dataclass(eq=False)
class EpsilonGreedyPolicy(Policy):
    """The law that takes a random legal action with probability epsilon, else a policy's."""

    greedy: Policy  # the policy without random actions
    game: Game
    epsilon: float

    def __post_init__(self) -> None:
        self.shape = self.greedy.shape

    def probabilities(self, states: IntArray) -> FloatArray:
        """Return the probability of each action, shape (state, action)."""
        masks = self.game.mask(states)
        random = masks / masks.sum(axis=1, keepdims=True)
        greedy = self.greedy.probabilities(states)
        law: FloatArray = self.epsilon * random + (1 - self.epsilon) * greedy
        return law

    def fitting(self, states: IntArray, actions: IntArray) -> float:
        """Return the epsilon that explains how often actions are not greedy."""
        others = 1 - self.greedy.probabilities(states)[np.arange(len(states)), actions]
        expected = 1 - 1 / self.game.mask(states).sum(axis=1)  # of random actions
        return min(float(others.sum()) / max(float(expected.sum()), 1e-12), 1.0)


def player_of(policy: Any, env: Any) -> Policy:
    """Return the policy that has drawn the actions."""
    if not isinstance(policy, EpsilonGreedy):
        return as_policy(policy, env, deterministic=False)
    epsilon, network = factor(policy.epsilon, "epsilon"), policy.network
    if not hasattr(network, "named_parameters"):  # a function of observations alone
        network = from_network(network, env)
    return EpsilonGreedyPolicy(as_policy(network, env), task_and_sight(env)[0].game, epsilon)


def draw_mistakes(steps: Steps, policy: Policy) -> Iterator[Mistake]:
    """Yield the known mistakes that reproduce how often actions were taken."""
    states, actions = steps.states[steps.legal], steps.actions[steps.legal]
    explains = partial(_explains, steps)
    if isinstance(policy, EpsilonGreedyPolicy):
        fitting = Mistake("epsilon-wrong", {"epsilon": policy.fitting(states, actions)})
        yield from reproducing(policy, [fitting], explains)
    distinct, rows = np.unique(states, return_inverse=True)
    law = policy.probabilities(distinct)
    clear: BoolArray = (law == law.max(axis=1, keepdims=True)).sum(axis=1) == 1
    if clear[rows].sum() >= 20 and (law.argmax(axis=1)[rows] == actions)[clear[rows]].all():
        yield Mistake("greedy-actions")
    random = Mistake("random-actions", {"epsilon": 1.0})
    yield from reproducing(EpsilonGreedyPolicy(policy, steps.task.game, 0.0), [random], explains)


def _explains(steps: Steps, policy: Policy) -> bool:
    """Say whether the actions are such as a policy draws."""
    found = list(_of_actions(steps, policy))
    return max(deviation.evidence for deviation in found) < threshold(len(found))


def _copied_lanes(steps: Steps) -> Iterator[Mistake]:
    """Yield a mistake if most lanes of a rollout are copies of one another."""
    if steps.follow and steps.states.shape[1] > 1:
        lanes = np.concatenate([steps.states, steps.actions]).T
        if 2 * len(np.unique(lanes, axis=0)) <= len(lanes):
            yield Mistake("same-seeds")
