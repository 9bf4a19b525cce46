"""Compare exact results about a game with sums over the listing of its moves."""

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from ..baselines import (
    Evaluation,
    Policy,
    Task,
    evaluate,
    occupancy,
    outcome_distribution,
    prepare,
    score,
    solve,
)
from ..baselines.operators.rounding import largest_payoff
from ..core import EXACT, Array, Game, GameError, IntArray
from ..core.checks import action_of
from ..core.contract import CLOSE
from ..core.positions import states_of
from ..core.sweeps import sweeps_of
from .enumeration import ActionValues, Law, Listing, Position
from .rules import opponents_of

#: The rounding of a move, as a part of the result; moves without end add up.
ROUNDINGS = 2.0**-49


def check_answers(listing: Listing, seat: int) -> None:
    """Check all exact results for one seat, against several opponents."""
    game = listing.game
    for opponent in opponents_of(game):
        task = Task(game, seat, opponent)
        laws = {other: _law(policy) for other, policy in prepare(task, exact=True).policies.items()}
        first, _ = listing.visits(seat, laws, listing.start)
        reached = sum((first[position] for position in _own(listing, seat)), Fraction(0))
        start = {position: first[position] / reached for position in _own(listing, seat) if reached}
        _check_values(
            "solve", solve(task, exact=True), solve(task), listing.values(seat, laws), seat
        )
        actions = _some_law(game, seed=1).argmax(axis=1)
        for policy in ("random", actions):
            agent = evaluate(policy, task, exact=True)
            complete = {**laws, seat: _law(agent.policy)}
            floats = evaluate(policy, task)
            _check_values("evaluate", agent, floats, listing.values(seat, complete), seat)
            if reached:
                met = _check_ways(listing, agent, policy, complete, start)
                _check_floats(floats, agent, policy, met, not listing.pays_early(seat))
        if reached:
            _check_scores(task, [*("random", actions), _some_law(game, seed=2)])


def _own(listing: Listing, seat: int) -> list[Position]:
    return [position for position in listing.moves if position[0] == seat]


def _law(policy: Policy) -> Law:
    @cache
    def law(state: int) -> Mapping[int, Fraction]:
        row = policy.probabilities_in(np.array([state]), EXACT)[0]
        return {action: Fraction(row[action]) for action in np.flatnonzero(row).tolist()}

    return law


def _some_law(game: Game, seed: int) -> Any:
    """Draw a law of the legal actions of each state."""
    weights = np.random.default_rng(seed).random((game.num_states, game.num_actions))
    weights *= game.mask(np.arange(game.num_states))
    return weights / weights.sum(axis=1, keepdims=True)


def _check_values(
    what: str, exact: Evaluation, floats: Evaluation, listed: ActionValues, seat: int
) -> None:
    """Check the value of each of the agent's moves: fractions exactly, floats up to rounding."""
    game, inside = exact.task.game, repr(exact.task)
    own = states_of(game, seat)
    rows, actions = np.nonzero(game.mask(own))
    states = own[rows]
    found = zip(*(_values_of(each, states, actions) for each in (exact, floats)), strict=True)
    moves = zip(states.tolist(), actions.tolist(), found, strict=True)
    for state, action, (exactly, rounded) in moves:
        wanted = listed[seat, state][action]
        where = f"for {action_of(seat, state, action)} in {inside}"
        _require_equal(what, exactly, wanted, where)
        if (
            abs(rounded - float(wanted))
            > CLOSE * largest_payoff(game.payoff_range) + floats.error_bound
        ):
            raise GameError(
                f"{what} must say the same in floats, {float(wanted)!r}, got {float(rounded)!r} "
                f"{where}"
            )


def _values_of(found: Evaluation, states: IntArray, actions: IntArray) -> Array:
    """Return the values of the agent's moves as ``action_values`` does, of many states at once."""
    task = found.task
    law = sweeps_of(task.game)
    values = law.worth(task.seat, states, actions, found.found, found.arithmetic)
    return found.arithmetic.numbers(values)


def _check_ways(
    listing: Listing,
    agent: Evaluation,
    policy: Any,
    laws: Mapping[int, Law],
    start: Mapping[Position, Fraction],
) -> Array:
    """Check occupancies, which are returned, outcomes, the mean and the variance, in fractions."""
    task, seat = agent.task, agent.task.seat
    met, paid = listing.visits(seat, laws, start)
    found = occupancy(policy, task, exact=True)
    for _, state in _own(listing, seat):
        where = f"in state {state} of player {seat} in {task!r}"
        _require_equal("occupancy", found[state], met[seat, state], where)
    if not listing.pays_early(seat):
        outcomes = _shown(outcome_distribution(policy, task, exact=True))
        _require_equal("outcome_distribution", outcomes, _shown(paid), f"in {task!r}")
    mean, variance = listing.moments(seat, laws, met)
    if mean != agent.value:
        raise GameError(
            f"forward and backward computation must agree, got {mean} and {agent.value} in {task!r}"
        )
    _require_equal("variance", agent.variance, variance, f"in {task!r}")
    return found


def _check_floats(
    floats: Evaluation, exact: Evaluation, policy: Any, met: Array, has_law: bool
) -> None:
    """Compare occupancies and variance in floats with fractions, and outcomes with the value."""
    task, rounded = floats.task, occupancy(policy, floats.task)
    moves, size, off = (
        float(sum(met)),
        largest_payoff(floats.task.game.payoff_range),
        floats.error_bound,
    )
    for state in states_of(task.game, task.seat).tolist():
        found, wanted = float(rounded[state]), float(met[state])
        within = ROUNDINGS * moves * moves
        _require_close(f"occupancy of state {state}", found, wanted, 1.0, task, within)
    if has_law:
        outcomes = outcome_distribution(policy, task)
        mean = sum(payoff * chance for payoff, chance in outcomes.items())
        _require_close("outcome_distribution", float(mean), float(floats.value), size, task, off)
    variance, within = float(exact.variance), ROUNDINGS * moves * float(exact.value) ** 2
    within += ROUNDINGS * moves * variance
    _require_close("variance", float(floats.variance), variance, size * size, task, within)


def _check_scores(task: Task, policies: list[Any]) -> None:
    """Check that optimal play has no regret, and that costs of decisions add up to the regret."""
    size = largest_payoff(task.game.payoff_range)
    best, off = score("optimal", task), solve(task).error_bound
    if best.blunders(None):
        raise GameError(f"optimal play must have no blunders, got some in {task!r}")
    _require_close("the regret of optimal play", best.regret, 0.0, size, task, off)
    _require_close("the optimum", best.value, float(solve(task).value), size, task, off)
    _require_close("its normalised score", best.normalized, 1.0, 1e3, task)
    if score("random", task).normalized not in (0.0, 1.0):  # 1 if all policies have the same value
        raise GameError(f"uniform play must have the normalised score 0 in {task!r}")
    for policy in policies:
        found = score(policy, task)
        costs = sum(blunder.cost for blunder in found.blunders(None))
        _require_close(
            "what blunders cost together", costs, found.regret, size, task, off + found.error_bound
        )


def _require_equal(what: str, got: Any, wanted: Any, where: str) -> None:
    if got != wanted:
        raise GameError(
            f"{what} must agree with the sum over all moves, {wanted}, got {got} {where}"
        )


def _require_close(
    what: str, got: float, wanted: float, size: float, task: Task, within: float = 0.0
) -> None:
    """Check a float: up to ``CLOSE`` of a size, and ``within`` for the roundings of many moves."""
    if not abs(got - wanted) <= CLOSE * size + within:
        raise GameError(f"{what} must be {wanted!r} up to rounding, got {got!r} in {task!r}")


def _shown(law: Mapping[Any, Any]) -> str:
    return ", ".join(f"{payoff}: {chance}" for payoff, chance in sorted(law.items()) if chance)
