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
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ...baselines import Policy, from_network
from ...baselines.law.numbers import as_numbers
from ...baselines.policies.kinds import UniformPolicy
from ...baselines.solving.occupancy import play
from ...core import BoolArray, FloatArray, Game, InputError, IntArray, SizeError, present
from ..records import EpsilonGreedy
from ..report import Mistake, Report, reproducing
from ..view import AgentView
from .seeds import same_draws
from .steps import Steps

#: Most states of a game whose visits are compared with the occupancy of the policy.
MOST_STATES = 2**18
#: Standard deviations by which pairs of actions may differ from a law that explains them.
MOST_DEVIATIONS = 4
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
    report: Report, steps: Steps, given: Any, view: AgentView, paid: FloatArray | None
) -> None:
    """Compare outcomes, first states, visits, and actions of a given policy, with their laws."""
    policy = None if given is None else player_of(report, given, view, steps)
    if steps.wrong.any():
        report.unchecked["chance"] = "impossible steps have no law"
        return
    for mistake, why in (
        ("illegal-action", "the legal actions alone do not follow the law"),
        ("truncation-as-end", "it is not known which games were cut"),
        ("cuts-unrecorded", "it is not known which games were cut"),
        ("terminated-missing", "it is not known which games have ended"),
        ("seats-mixed", "the law of the other player is not known"),
    ):
        if any(found.mistake == mistake for found in report.findings):
            report.unchecked["chance"] = why
            return
    if (steps.truncated & ~steps.knows_after).any():
        report.unchecked["outcomes"] = "final_observations are needed where games were cut"
    found = [*deviations(steps, policy, paid), *_coincidences(steps)]
    anneals = isinstance(policy, EpsilonGreedyPolicy) and policy.rows is not None
    if policy is not None and steps.follow and not anneals:
        try:
            found += _visits(steps, policy)
        except (InputError, SizeError) as error:  # such as a policy that may circle for ever
            report.unchecked["visits"] = str(error)
    least, looks = threshold(len(found)), len(found) * len(RATES)
    copied = any(each.check == "coincidences" and each.evidence >= least for each in found)
    same = "same-seeds: environments play the same games: give each a seed of its own"
    seeds = [Mistake(same)] * copied
    for check in dict.fromkeys(deviation.check for deviation in found):
        mine = [deviation for deviation in found if deviation.check == check]
        worst = max(mine, key=lambda deviation: deviation.evidence)
        wrong = np.full(worst.steps, worst.evidence >= least)
        if check == "coincidences":
            report.add(check, wrong, worst.words, seeds)
            continue
        tens = (worst.evidence - np.log(looks)) / np.log(10)
        words = (
            f"{worst.words} is {worst.mean:.4f} on average, scaled to the range from 0 to 1, and "
            f"must be about {worst.expected:.4f}: chance gives fewer than one such record in "
            f"10^{tens:.0f}"
        )
        drawn = draw_mistakes(steps, policy) if check == "policy" and policy is not None else ()
        report.add(check, wrong, words, chain(seeds, drawn))


def deviations(steps: Steps, policy: Policy | None, paid: FloatArray | None) -> Iterator[Deviation]:
    """Compare outcomes, beginnings and actions with their laws, for possible steps.

    The policy that drew the actions, and what the steps have paid, shape (time, lane), are None if
    they are not known.
    """
    if not (steps.truncated & ~steps.knows_after).any():  # ends alone would be known there
        yield from _outcomes(steps, paid)
    if steps.follow:
        yield from _beginnings(steps)
    if policy is not None:
        yield from _of_actions(steps, policy)


def _outcomes(steps: Steps, paid: FloatArray | None) -> Iterator[Deviation]:
    """Compare the results of moves: components of the next observation, ends and payments."""
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
    after = np.where(ended, -1, steps.after[which])
    results = law.results(after, None if paid is None else paid[which])
    if paid is not None:
        low, high = game.payoff_range
        if steps.problem.pays_early:
            low, high = law.every_payment[[0, -1]]  # known before the record
        pays = (np.arange(len(law.paid)) >= len(law.states)) | (law.paid != 0)
        scaled = (law.paid - low) / max(high - low, 1e-300)
        features["the payoff"] = np.where(pays, scaled, 0.0)
    for words, numbers in features.items():
        values, places = np.unique(numbers, return_inverse=True)  # few, as exp is slow
        means = law.mean(_with_powers(values)[places])
        yield _deviation("outcomes", words, numbers[results], means, rows)


def _beginnings(steps: Steps) -> Iterator[Deviation]:
    """Compare the first states of games with their law."""
    which, initial = steps.verdicts["first states"].checked, steps.problem.initial
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


def law_of(steps: Steps, policy: Policy) -> FloatArray:
    """Return the probabilities of all actions for each legal step, shape (step, action)."""
    states = steps.states[steps.legal]
    if isinstance(policy, EpsilonGreedyPolicy) and policy.rows is not None:
        return replace(policy, epsilon=policy.rows[steps.legal][:, None]).probabilities(states)
    distinct, rows = np.unique(states, return_inverse=True)
    return policy.probabilities(distinct)[rows]


def _of_actions(steps: Steps, policy: Policy) -> Iterator[Deviation]:
    """Compare how often each action was taken with the probabilities of the policy."""
    actions = steps.actions[steps.legal]
    for action, of_rows in enumerate(law_of(steps, policy).T):
        chances, rows = np.unique(of_rows, return_inverse=True)
        means = np.column_stack([chances, 1 + np.outer(chances, np.expm1(RATES))])
        taken = (actions == action).astype(np.float64)
        yield _deviation("policy", f"action {action}", taken, means, rows)


def _coincidences(steps: Steps) -> Iterator[Deviation]:
    """Bet that lanes draw the same numbers, or repeat one another, or that games of a lane do."""
    rows, lanes = steps.states.shape
    for words, won in same_draws(steps):
        yield Deviation("coincidences", words, lanes, 0.0, 0.0, won)
    if not steps.follow or not steps.verdicts["transitions"].checked.any():
        return
    if lanes > 1:
        every = np.zeros(lanes, dtype=np.int64)
        evidence = _repeats(steps, every, np.arange(lanes), every + rows, every)
        words = "lanes of the rollout repeat one another, move by move"
        yield Deviation("coincidences", words, lanes, 0.0, 0.0, float(evidence[0]))
    lane, first = np.nonzero(steps.verdicts["first states"].checked.T)
    if len(lane) > 1:
        ends = np.where(np.append(lane[1:] == lane[:-1], False), np.append(first[1:], 0), rows)
        bets = _repeats(steps, first, lane, ends, lane, steps.problem.initial)
        evidence = np.logaddexp.reduce(bets, initial=-np.inf) - np.log(lanes)
        words = "games of a lane repeat one another, move by move"
        yield Deviation("coincidences", words, len(lane), 0.0, 0.0, float(evidence))


def _repeats(
    steps: Steps,  # possible ones
    firsts: IntArray,  # row of the first step of each sequence, (sequence,)
    lanes: IntArray,  # its lane
    ends: IntArray,  # the row behind its last step
    owners: IntArray,  # number of whoever bets on it, with those of the same owner
    initial: FloatArray | None = None,  # law of the first states, if these are bet on as well
) -> FloatArray:
    """Return the logarithm of what is won by betting that sequences of steps repeat one another.

    Whoever bets 1 has 1/p after each outcome, of the probability p, that an earlier sequence had
    after the same states and actions, and nothing after another one. So the expectation is 1 if no
    outcome is copied. The result has the shape (owner,), and is -inf if a bet has failed.
    """
    won = np.zeros(int(owners.max()) + 1)
    known = steps.verdicts["transitions"].checked & (steps.terminated | steps.knows_after)
    logs = np.zeros(steps.states.shape)
    logs[known] = -np.log(steps.chances(known))
    results = np.where(steps.terminated, -1, steps.after)
    if initial is None:  # a lane goes on with the first state of another game
        known[-1], following = False, np.roll(steps.states, -1, axis=0)
        results = np.where(steps.terminated, steps.task.game.num_states + following, results)
        known &= ~steps.terminated | np.roll(steps.used, -1, axis=0)
        over = known & steps.terminated
        logs[over] -= np.log(steps.problem.initial[following[over]])
    start = steps.states[firsts, lanes]
    costs = np.zeros(len(firsts)) if initial is None else -np.log(initial[start])
    alike = owners if initial is not None else owners * steps.task.game.num_states + start
    told, active, step = start, np.arange(len(firsts)), 0
    while True:
        # Of those that were alike so far, all must have been told the same; the first one is free.
        _, groups = np.unique(alike, return_inverse=True)
        pairs, one = np.unique(np.stack([groups, told]), axis=1, return_inverse=True)
        several = np.bincount(pairs[0]) > 1
        won[owners[active][several[groups]]] = -np.inf
        np.add.at(won, owners[active], costs)
        _, free = np.unique(groups, return_index=True)
        np.subtract.at(won, owners[active][free], costs[free])
        row = firsts[active] + step
        keep = (row < ends[active]) & (np.bincount(one.ravel())[one.ravel()] > 1)
        keep[keep] = known[row[keep], lanes[active][keep]]
        if not keep.any():
            return won
        active, row, one = active[keep], row[keep], one.ravel()[keep]
        actions = steps.actions[row, lanes[active]]
        alike = one * steps.task.game.num_actions + actions
        told, costs = results[row, lanes[active]], logs[row, lanes[active]]
        step += 1


def _visits(steps: Steps, policy: Policy) -> Iterator[Deviation]:
    """Compare how many games meet a state with the occupancy of the policy; yield the worst."""
    if len(steps.problem.initial) > MOST_STATES:
        raise SizeError(f"the game has more than {MOST_STATES:,} states")
    begins = steps.verdicts["first states"].checked
    games = int(begins.sum())
    if not games:
        return
    task, initial = steps.task, steps.problem.initial
    game_of = np.cumsum(begins, axis=0) + np.arange(begins.shape[1]) * (len(begins) + 1)
    known = steps.used & (np.cumsum(begins, axis=0) > 0)
    met = np.unique(game_of[known] * len(initial) + steps.states[known]) % len(initial)
    states, counts = np.unique(met, return_counts=True)
    chances = np.minimum(play(policy, steps.problem).at(task.seat, states), 1.0)
    rates = np.array([rate for rate in RATES if rate > 0])[:, None]
    logs = counts * rates - games * np.log1p(chances * np.expm1(rates))  # (rate, state)
    evidence = logs.max(axis=0)
    worst = int(evidence.argmax())
    seen = task.game.observe(states[worst : worst + 1], task.seat)[0]
    words = f"the number of games that meet {present(task.game).describe(seen)}"
    of_states = float(evidence[worst]) - np.log(len(initial))  # one of so many states
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


@dataclass(eq=False)
class EpsilonGreedyPolicy(Policy):
    """The law that takes a random legal action with probability epsilon, else a policy's."""

    greedy: Policy  # the policy without random actions
    game: Game
    epsilon: Any  # a number, or one for each of the states that are asked for, (state, 1)
    rows: FloatArray | None = None  # epsilon of each step, if it changes

    def __post_init__(self) -> None:
        self.shape = self.greedy.shape

    def probabilities(self, states: IntArray) -> FloatArray:
        """Return the probability of each action, shape (state, action)."""
        random, greedy = UniformPolicy(self.game), self.greedy.probabilities(states)
        law: FloatArray = self.epsilon * random.probabilities(states) + (1 - self.epsilon) * greedy
        return law

    def fitting(self, states: IntArray, actions: IntArray) -> float:
        """Return the epsilon that explains how often actions are not greedy."""
        others = 1 - self.greedy.probabilities(states)[np.arange(len(states)), actions]
        expected = 1 - 1 / self.game.mask(states).sum(axis=1)  # of random actions
        return min(float(others.sum()) / max(float(expected.sum()), 1e-12), 1.0)


def player_of(report: Report, policy: Any, view: AgentView, steps: Steps) -> Policy | None:
    """Return the policy that has drawn the actions; None if it has no law, which is a finding."""
    if not isinstance(policy, EpsilonGreedy):
        return view.player(policy)
    network, epsilon = policy.network, as_numbers(policy.epsilon, "epsilon").astype(np.float64)
    if epsilon.ndim and epsilon.size != steps.states.size:
        raise InputError(f"epsilon must be a number or one for each action, got {epsilon.size}")
    shape = steps.states.shape
    rows = epsilon.reshape(shape) if epsilon.ndim else np.full(shape, epsilon)

    def example(*at: int) -> str:
        return f"epsilon is {rows[at]:.6g} in row {', '.join(map(str, at))}"

    if not report.add("epsilon", ~((rows >= 0) & (rows <= 1)), example):
        return None
    if not hasattr(network, "named_parameters"):  # a function of observations alone
        network = from_network(network, view.problem)
    greedy = view.player(network, deterministic=True)
    changes = rows if np.ptp(rows) > 0 else None
    return EpsilonGreedyPolicy(greedy, steps.task.game, float(rows.flat[0]), changes)


def draw_mistakes(steps: Steps, policy: Policy) -> Iterator[Mistake]:
    """Yield the known mistakes that reproduce how often actions were taken."""
    states, actions = steps.states[steps.legal], steps.actions[steps.legal]
    explains = partial(_explains, steps)
    if isinstance(policy, EpsilonGreedyPolicy):
        epsilon = policy.fitting(states, actions)
        wrong = f"epsilon-wrong: they fit epsilon = {epsilon:.3g}"
        fitted = Mistake(wrong, {"epsilon": epsilon, "rows": None})
        yield from reproducing(policy, [fitted], explains)
    law = law_of(steps, policy)
    clear: BoolArray = (law == law.max(axis=1, keepdims=True)).sum(axis=1) == 1
    if clear.sum() >= 20 and (law.argmax(axis=1) == actions)[clear].all():
        greedy = "draw from the law of the policy, instead of its likeliest action"
        yield Mistake(f"greedy-actions: {greedy}")
    uniform = "random-actions: they fit uniform draws from the legal actions, not this policy"
    random = Mistake(uniform, {"epsilon": 1.0})
    yield from reproducing(EpsilonGreedyPolicy(policy, steps.task.game, 0.0), [random], explains)


def _explains(steps: Steps, policy: Policy) -> bool:
    """Say whether the actions are such as a policy draws: how often each, and how often twice.

    Each second step in a state has the action of the step before it there with the probability
    sum of p^2, independently of others, if the policy draws them.
    """
    found = list(_of_actions(steps, policy))
    if max(deviation.evidence for deviation in found) >= threshold(len(found)):
        return False
    states, actions = steps.states[steps.legal], steps.actions[steps.legal]
    order = np.argsort(states, kind="stable")
    states, actions = states[order], actions[order]
    _, firsts, counts = np.unique(states, return_index=True, return_counts=True)
    places = np.arange(len(states)) - np.repeat(firsts, counts)
    second = np.flatnonzero(places % 2 == 1)
    chances = (law_of(steps, policy)[order][second] ** 2).sum(axis=1)
    far = (actions[second] == actions[second - 1]).sum() - chances.sum()
    spread = np.sqrt((chances * (1 - chances)).sum())
    return bool(abs(far) <= MOST_DEVIATIONS * spread + 1)
