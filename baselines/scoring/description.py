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

from dataclasses import dataclass, field
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from ...core import FLOATS, Array, BoolArray, FloatArray, IntArray, Stage
from ...core.positions import legal_in
from ..cache import cached
from ..policies.kinds import UniformPolicy
from ..solving.evaluation import Evaluation, Solution
from ..solving.induction import visit_action_values
from ..solving.occupancy import outcomes
from ..solving.solver import evaluate, solve
from ..solving.variance import variance_of_law
from ..task import Task, as_task
from .figure import Figure

#: Smaller probabilities count as 0: floats lose their digits soon below.
LEAST_CHANCE = 1e-300
#: A gap below this part of the standard deviation of payoffs is close.
CLOSE = 0.1
_LN2 = 0.6931471805599453
_LG2 = 0.3010299956639812

#: The properties, in the order of a table.
PROPERTIES = (
    Figure("states", "states", "in which the agent may be to move", ",d"),
    Figure("decisions", "decisions", "states with two legal actions or more", ",d"),
    Figure("reachable_states", "reachable states", "that random play can visit", ",d"),
    Figure("reachable_decisions", "reachable decisions", "that random play can visit", ",d"),
    Figure("actions", "actions", "legal actions of a reachable decision, on average", ".2f"),
    Figure("moves", "moves", "of the agent in a game, expected under optimal play", ".3f"),
    Figure("random_moves", "moves, random play", "expected under random play", ".3f"),
    Figure("forced", "forced moves", "share of moves with one legal action", ".2%"),
    Figure("free", "free moves", "share of moves where all of several actions are optimal", ".2%"),
    Figure("optimum", "optimum", "expected payoff of optimal play", ".6f"),
    Figure("random", "random", "expected payoff of random play", ".6f"),
    Figure("noise", "outcome noise", "standard deviation of the payoff of optimal play", ".4f"),
    Figure("random_noise", "outcome noise, random play", "the same of random play", ".4f"),
    Figure("gap", "action gap", "best less best worse action, mean over moves", ".4f"),
    Figure("close", "close moves", "share of gaps below a tenth of the outcome noise", ".2%"),
    Figure("rarity", "rarity", "of decisions in random play: 3 is one move of 1,000", ".3f"),
    Figure("signal", "signal-to-noise", "of one action in a return of random play", ".4f"),
    Figure("by_actions", "variance by actions", "share of a random return's variance", ".2%"),
    Figure("bits", "bits a move", "entropy of the dice after an optimal action", ".3f"),
)


@dataclass(frozen=True)
class Description:
    """Exact properties of a task; the module docstring has the formulas.

    Attributes:
        task: game, seat and opponents.
        states: number of states in which the agent may be to move.
        decisions: number of these with two legal actions or more.
        reachable_states: number of states that random play visits.
        reachable_decisions: number of decisions that random play visits.
        actions: mean number of legal actions of reachable decisions; 0 if there are none.
        moves: expected moves of the agent in a game under optimal play.
        random_moves: the same under random play.
        forced: share of moves under optimal play with one legal action.
        free: share of moves under optimal play at decisions where every legal action is optimal.
        optimum: expected payoff of optimal play.
        random: expected payoff of random play.
        noise: standard deviation of the payoff of optimal play.
        random_noise: the same of random play.
        gap: mean action gap, in payoff; None if all moves are forced or free.
        close: share of gaps that are below a tenth of ``noise``; None as ``gap``.
        rarity: mean negative logarithm of base 10 of the frequency of a decision among the moves of
            random play, weighted by occupancy under optimal play and action gap; None as ``gap``.
        signal: signal-to-noise of one action in a return of random play; None if that is constant,
            up to the rounding of its mean.
        by_actions: share of the variance of such a return that is due to the agent's actions; None
            as ``signal``.
        bits: mean entropy of the dice after an optimal action.
    """

    task: Task = field(repr=False)
    states: int
    decisions: int
    reachable_states: int
    reachable_decisions: int
    actions: float
    moves: float
    random_moves: float
    forced: float
    free: float
    optimum: float
    random: float
    noise: float
    random_noise: float
    gap: float | None
    close: float | None
    rarity: float | None
    signal: float | None
    by_actions: float | None
    bits: float


def describe(env: Any) -> Description:
    """Compute the exact properties of a task.

    Args:
        env: an environment of this project, its id, or a ``Task``.

    Raises:
        InputError: if the task cannot be solved.
    """
    return _describe(as_task(env))


@cached
def _describe(task: Task) -> Description:
    solution, uniform = solve(task), evaluate("random", task)
    best = outcomes(solution.policy, task, FLOATS)
    blind = outcomes(UniformPolicy(task.game), task, FLOATS)
    known = _at_decisions(solution)
    met, met_blindly = (games.visits.at(task.seat, known.states) for games in (best, blind))
    noise, random_noise = _noise(best.law, solution), _noise(blind.law, uniform)
    signals: float = FLOATS.total(met_blindly * _spreads(uniform))
    variance, random_moves = random_noise * random_noise, FLOATS.total(met_blindly)
    varies = random_noise > FLOATS.tie(task.game) + uniform.error_bound
    return Description(
        task=task,
        **_counts(known.legal, met_blindly >= LEAST_CHANCE),
        **_moves(known, met, met_blindly, noise),
        random_moves=random_moves,
        optimum=float(solution.value),
        random=float(uniform.value),
        noise=noise,
        random_noise=random_noise,
        signal=sqrt(signals / random_moves / variance) if varies else None,
        by_actions=signals / variance if varies else None,
        bits=_bits(solution, known.states, met) / FLOATS.total(met),
    )


def _counts(legal: IntArray, reached: BoolArray) -> dict[str, Any]:
    """Count states and decisions, all and reachable, and the mean number of legal actions."""
    several = legal > 1
    reachable = int((several & reached).sum())
    return {
        "states": len(legal),
        "decisions": int(several.sum()),
        "reachable_states": int(reached.sum()),
        "reachable_decisions": reachable,
        "actions": int(legal[several & reached].sum()) / max(reachable, 1),
    }


def _moves(
    known: "_Known", met: FloatArray, met_blindly: FloatArray, noise: float
) -> dict[str, Any]:
    """Compute the properties of the moves of optimal play: their number, kinds, gaps and rarity."""
    several = known.legal > 1
    differ = several & np.isfinite(known.gaps)
    weights, gaps = met[differ], known.gaps[differ]
    moves, critical = FLOATS.total(met), FLOATS.total(weights)
    costs = weights * gaps
    rarities = -_log2(np.maximum(met_blindly[differ] / FLOATS.total(met_blindly), LEAST_CHANCE))
    return {
        "moves": moves,
        "forced": FLOATS.total(met[~several]) / moves,
        "free": FLOATS.total(met[several & ~differ]) / moves,
        "gap": FLOATS.total(costs) / critical if critical else None,
        "close": FLOATS.total(weights[gaps < CLOSE * noise]) / critical if critical else None,
        "rarity": FLOATS.total(costs * rarities) / FLOATS.total(costs) * _LG2 if critical else None,
    }


class _Known(NamedTuple):
    """The agent's states in the order of a sweep, arrays of shape (state,)."""

    states: IntArray
    legal: IntArray  # number of legal actions
    gaps: FloatArray  # best action value less the largest of the worse actions; inf if none is


def _at_decisions(solution: Solution) -> _Known:
    """Count the legal actions of the agent's states, and compute their action gaps."""

    def look(mask: BoolArray, expected: Array) -> tuple[Array, ...]:
        best, optimal = FLOATS.best(expected, mask, FLOATS.tie(solution.task.game))
        second = np.where(mask & ~optimal, expected, -np.inf).max(axis=1)
        return mask.sum(axis=1), best - second

    return _Known(*_swept(solution, look))


def _spreads(uniform: Evaluation) -> FloatArray:
    """Compute the variance of action values over the legal actions, shape (state,)."""

    def look(mask: BoolArray, expected: Array) -> tuple[Array, ...]:
        count = mask.sum(axis=1)
        means = np.where(mask, expected, 0.0).sum(axis=1) / count
        away = np.where(mask, expected - means[:, None], 0.0)
        return ((away * away).sum(axis=1) / count,)

    return _swept(uniform, look)[1]


def _swept(found: Evaluation, look: Any) -> list[Array]:
    """Sweep once and collect the agent's states and the columns that ``look`` makes of them."""
    task = found.task
    columns: list[tuple[Array, ...]] = []

    def visit(stage: Stage, expected: Array) -> None:
        if stage.seat == task.seat:
            columns.append((stage.states, *look(legal_in(task.game, stage), expected)))

    visit_action_values(task.game, visit, found.found, task.seat, FLOATS)
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
    logarithms: FloatArray = exponents - 1 + 2 * ratios * series / _LN2
    return logarithms
