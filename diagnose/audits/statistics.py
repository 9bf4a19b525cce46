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
from typing import NamedTuple

import numpy as np

from ...baselines import Policy
from ...baselines.solving.occupancy import play
from ...core import FLOATS, FloatArray, IntArray
from ...core.presentation import present
from .steps import Steps

#: Most states of a game whose visits are compared with the occupancy of the policy.
MOST_STATES = 2**18
#: Chance of a false alarm in a whole audit.
FALSE_ALARM = 1e-4
#: The l of the module's docstring.
RATES = [sign * rate for rate in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0) for sign in (1, -1)]


class Deviation(NamedTuple):
    """The deviation of a number of each step from its expectation under the law.

    Attributes:
        check: the name of the check.
        words: what the number is.
        steps: number of steps that have the number.
        mean: mean of the recorded numbers, in [0, 1].
        expected: mean of the expected numbers.
        evidence: the largest log M.
    """

    check: str
    words: str
    steps: int
    mean: float
    expected: float
    evidence: float


def deviations(
    steps: Steps, policy: Policy | None, payoffs: FloatArray | None
) -> Iterator[Deviation]:
    """Compare outcomes, beginnings, actions and visits with their laws, for possible steps.

    Args:
        steps: the recorded steps.
        policy: the policy by which the actions were drawn; None if it is not known.
        payoffs: of the steps that end games, shape (time, lane); None if they are not known.
    """
    yield from _outcomes(steps, payoffs)
    if steps.follow:
        yield from _beginnings(steps)
    if policy is not None:
        yield from of_actions(steps, policy)
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
        means = law.mean(np.column_stack([values, np.exp(np.outer(values, RATES))])[places])
        logs = np.log(means[:, 1:]).T[:, rows]
        yield _deviation("outcomes", words, numbers[results], means[rows, 0], [*logs])


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
        chances, own = initial[possible], first[:, column]
        count = int(which.sum())
        logs = [np.full(count, np.log(chances @ np.exp(rate * own))) for rate in RATES]
        expected = np.full(count, float(chances @ own))
        yield _deviation("beginnings", f"the first {name}", begun[:, column], expected, logs)


def of_actions(steps: Steps, policy: Policy) -> Iterator[Deviation]:
    """Compare how often each action was taken with the probabilities of the policy."""
    which = steps.verdicts["actions"].checked & ~steps.verdicts["actions"].wrong
    states, where = np.unique(steps.states[which], return_inverse=True)
    probabilities, actions = policy.probabilities(states), steps.actions[which]
    for action in range(probabilities.shape[1]):
        chances = probabilities[:, action][where]
        logs = [np.log1p(chances * np.expm1(rate)) for rate in RATES]
        words = f"action {action}"
        yield _deviation("policy", words, (actions == action).astype(float), chances, logs)


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
    yield Deviation(
        "visits",
        f"the number of games that meet {present(task.game).describe(seen)}",
        games,
        counts[worst] / games,
        float(chances[worst]),
        float(evidence[worst]) - np.log(len(task.initial)),  # one of so many states
    )


def _deviation(
    check: str, words: str, found: FloatArray, expected: FloatArray, logs: list[FloatArray]
) -> Deviation:
    total, count = float(found.sum()), len(found)
    evidence = [rate * total - float(log.sum()) for rate, log in zip(RATES, logs, strict=True)]
    means = (total / count, float(expected.mean())) if count else (0.0, 0.0)
    return Deviation(check, words, count, *means, max(evidence))


def threshold(count: int) -> float:
    """Return the log M from which one of many deviations is an alarm."""
    return float(np.log(count * len(RATES) / FALSE_ALARM))
