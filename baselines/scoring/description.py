"""Exact properties of a task, by which tasks of other sizes and games are compared.

Let the agent move in state s with occupancy d(s) under optimal play and u(s) under random play, let
Q(s, a) be the optimal action value, V(s) the largest of them, and R(s, a) the action value if
random play follows. G is the payoff of a game under optimal play, H under random play. Means over
moves are weighted by occupancy: of a function f, sum of d(s) f(s) / sum of d(s).

* *States* are those in which the agent may be to move; a state with two legal actions or more is a
  *decision*. A state is *reachable* if random play visits it with a probability of at least
  ``LEAST_CHANCE``.
* *Moves*: sum of d(s), and for random play sum of u(s).
* *Forced moves*: mean over moves of [s has one legal action]. *Free moves*: mean over moves of
  [s is a decision, and all its legal actions are optimal].
* *Outcome noise*: the standard deviation of G; for random play, of H.
* *Action gap* (Farahmand 2011; Bellemare et al. 2016, section 2): V(s) - the largest Q(s, a) of the
  actions that are not optimal; the mean is over moves that are neither forced nor free. A *close
  move* has a gap below ``CLOSE`` times the standard deviation of G, so that a comparison of two
  actions by sample games needs hundreds of games: the standard error of a difference of two means
  of n games each is about sqrt(2 / n) standard deviations.
* *Rarity*: the mean of -log10(u(s) / sum of u) over the same moves, each weighted by its action
  gap, too. A rarity of 3 means that random play comes to such a decision in one move of 1,000.
* *Signal-to-noise*: sqrt(mean over moves of random play of Var_a R(s, a)) / standard deviation of
  H, with a uniform on the legal actions. It compares what one action changes with what is random
  about a return, when learning begins.
* *Variance by actions*: sum of u(s) Var_a R(s, a) / Var H. By the law of total variance Var H is
  the sum of the variances that the agent's actions and chance (the first state, dice and the
  other players) add at each step, so that it is the share of the agent's actions.
* *Bits a move*: mean over moves of the entropy of the dice after the optimal action, - sum of
  p log2 p over their law.

Occupancies and values come from the sweeps of ``solve``, ``evaluate`` and ``occupancy``, so that
all figures are exact up to rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from math import sqrt
from typing import Any

import numpy as np

from ...core import FLOATS, Array, BoolArray, FloatArray, IntArray, Stage
from ...core.positions import legal_in
from ..cache import cached
from ..operators.induction import visit_action_values
from ..policies.kinds import UniformPolicy
from ..problem.problem import Problem, prepare
from ..problem.task import Task
from ..solving.evaluation import Evaluation, Solution
from ..solving.occupancy import outcomes, variance_of_law
from ..solving.solver import optimum, value_of
from .figure import Figure

#: Smaller probabilities count as 0: floats lose their digits soon below.
LEAST_CHANCE = 1e-300
#: A gap below this part of the standard deviation of payoffs is close.
CLOSE = 0.1
_LN2 = 0.6931471805599453
_LG2 = 0.3010299956639812


def _shown(label: str, meaning: str, format: str) -> Any:  # noqa: A002
    """Give a field that is shown as a ``Figure``."""
    return field(metadata={"shown": (label, meaning, format)})


@dataclass(frozen=True)
class Description:
    """Exact properties of a task; the module docstring has the formulas.

    ``gap``, ``close`` and ``rarity`` are None if all moves are forced or free; ``signal`` and
    ``by_actions`` if a return of random play is constant, up to the rounding of its mean;
    ``actions`` is 0 if no decision can be reached.
    """

    task: Task = field(repr=False)
    states: int = _shown("states", "in which the agent may be to move", ",d")
    decisions: int = _shown("decisions", "states with two legal actions or more", ",d")
    reachable_states: int = _shown("reachable states", "that random play can visit", ",d")
    reachable_decisions: int = _shown("reachable decisions", "that random play can visit", ",d")
    actions: float = _shown("actions", "legal actions of a reachable decision, on average", ".2f")
    moves: float = _shown("moves", "of the agent in a game, expected under optimal play", ".3f")
    random_moves: float = _shown("moves, random play", "expected under random play", ".3f")
    forced: float = _shown("forced moves", "share of moves with one legal action", ".2%")
    free: float = _shown(
        "free moves", "share of moves where all of several actions are optimal", ".2%"
    )
    optimum: float = _shown("optimum", "expected payoff of optimal play", ".6f")
    random: float = _shown("random", "expected payoff of random play", ".6f")
    noise: float = _shown(
        "outcome noise", "standard deviation of the payoff of optimal play", ".4f"
    )
    random_noise: float = _shown("outcome noise, random play", "the same of random play", ".4f")
    gap: float | None = _shown("action gap", "best less best worse action, mean over moves", ".4f")
    close: float | None = _shown(
        "close moves", "share of gaps below a tenth of the outcome noise", ".2%"
    )
    rarity: float | None = _shown(
        "rarity", "of decisions in random play: 3 is one move of 1,000", ".3f"
    )
    signal: float | None = _shown(
        "signal-to-noise", "of one action in a return of random play", ".4f"
    )
    by_actions: float | None = _shown(
        "variance by actions", "share of a random return's variance", ".2%"
    )
    bits: float = _shown("bits a move", "entropy of the dice after an optimal action", ".3f")


#: The properties, in the order of a table.
PROPERTIES = tuple(
    Figure(each.name, *each.metadata["shown"]) for each in fields(Description) if each.metadata
)


def describe(env: Any) -> Description:
    """Compute the exact properties of the task of an environment, its id, or a ``Task``."""
    return _describe(prepare(env).bare)


@cached
def _describe(problem: Problem) -> Description:
    task, blindly = problem.task, UniformPolicy(problem.game)
    solution, uniform = optimum(problem), value_of(blindly, problem)
    best, blind = outcomes(solution.policy, problem), outcomes(blindly, problem)
    states, legal, gaps = _swept(solution, _gaps)
    met, met_blindly = (games.visits.at(task.seat, states) for games in (best, blind))
    moves, random_moves = FLOATS.total(met), FLOATS.total(met_blindly)
    noise, random_noise = _noise(best.law, solution), _noise(blind.law, uniform)
    signals: float = FLOATS.total(met_blindly * _swept(uniform, _spreads)[1])
    variance = random_noise * random_noise
    varies = random_noise > np.max(uniform.tie(states)) + uniform.value_error

    several, reached = legal > 1, met_blindly >= LEAST_CHANCE
    reachable = int((several & reached).sum())
    differ = several & np.isfinite(gaps)
    weights, gaps = met[differ], gaps[differ]
    critical, costs = FLOATS.total(weights), weights * gaps
    rarities = -_log2(np.maximum(met_blindly[differ] / random_moves, LEAST_CHANCE))
    return Description(
        task=task,
        states=len(legal),
        decisions=int(several.sum()),
        reachable_states=int(reached.sum()),
        reachable_decisions=reachable,
        actions=int(legal[several & reached].sum()) / max(reachable, 1),
        moves=moves,
        random_moves=random_moves,
        forced=FLOATS.total(met[~several]) / moves,
        free=FLOATS.total(met[several & ~differ]) / moves,
        optimum=float(solution.value),
        random=float(uniform.value),
        noise=noise,
        random_noise=random_noise,
        gap=FLOATS.total(costs) / critical if critical else None,
        close=FLOATS.total(weights[gaps < CLOSE * noise]) / critical if critical else None,
        rarity=FLOATS.total(costs * rarities) / FLOATS.total(costs) * _LG2 if critical else None,
        signal=sqrt(signals / random_moves / variance) if varies else None,
        by_actions=signals / variance if varies else None,
        bits=_bits(solution, states, met) / moves,
    )


def _gaps(tie: Any, mask: BoolArray, expected: Array) -> tuple[Array, ...]:
    """Count the legal actions, and give the best value less that of the best worse action."""
    best, optimal = FLOATS.best(expected, mask, tie)
    second = np.where(mask & ~optimal, expected, -np.inf).max(axis=1)
    return mask.sum(axis=1), best - second  # inf if no action is worse


def _spreads(_tie: Any, mask: BoolArray, expected: Array) -> tuple[Array, ...]:
    """Compute the variance of action values over the legal actions."""
    count = mask.sum(axis=1)
    means = np.where(mask, expected, 0.0).sum(axis=1) / count
    away = np.where(mask, expected - means[:, None], 0.0)
    return ((away * away).sum(axis=1) / count,)


def _swept(
    found: Evaluation, look: Callable[[Any, BoolArray, Array], tuple[Array, ...]]
) -> list[Array]:
    """Sweep once and collect the agent's states and the columns that ``look`` makes of them."""
    task = found.task
    columns: list[tuple[Array, ...]] = []

    def visit(stage: Stage, expected: Array) -> None:
        seen = look(found.tie(stage.states), legal_in(task.game, stage), expected)
        columns.append((stage.states, *seen))

    visit_action_values(found.problem.law, visit, found.found, task.seat, FLOATS)
    return [np.concatenate(column) for column in zip(*columns, strict=True)]


def _noise(law: dict[Any, Any] | None, found: Evaluation) -> float:
    """Compute the standard deviation of the payoffs of a policy, of whose law there may be none."""
    return sqrt(found.variance if law is None else variance_of_law(law, FLOATS))


def _bits(solution: Solution, states: IntArray, met: FloatArray) -> float:
    """Add up the entropies of the dice after the optimal actions of all moves of a game."""
    game = solution.task.game
    states, met = states[met > 0], met[met > 0]
    laws = game.law(states, solution.policy.likeliest(states))
    used = np.unique(laws)
    entropies = np.zeros(len(game.laws))
    for law in used.tolist():
        chances = game.laws[law][game.laws[law] > 0]
        entropies[law] = -FLOATS.total(chances * _log2(chances))
    return float(FLOATS.total(met * entropies[laws]))


def _log2(numbers: FloatArray) -> FloatArray:
    """Compute binary logarithms of positive numbers, the same on every processor.

    With x = m 2^k and z = (m - 1) / (m + 1), ln m = 2 (z + z^3 / 3 + z^5 / 5 + ...), where m is
    from 1 to 2, so that z is at most 1/3.
    """
    halves, exponents = np.frexp(numbers)  # halves are from 1/2 to 1
    ratios = (2 * halves - 1) / (2 * halves + 1)
    squares, series = ratios * ratios, np.zeros_like(ratios)
    for odd in range(37, 0, -2):
        series = series * squares + 1 / odd
    return exponents - 1 + 2 * ratios * series / _LN2
