"""Compare exact results about a small game with sums over all its moves, in fractions.

A *law* gives the probability of each legal action of a player in a state. If every player has a
law, the value V of each position to a player, and the expected visits N of each position while the
game goes on for that player, solve linear equations. With p the probability of a way from position
s, chance and laws together, r what the way pays and s' where it leads,

    V(s) = sum over ways from s of p (r + V(s'))        N(s') = start(s') + sum of p N(s) to s',

where V(s') is 0, and nothing leads to s', if the game is over for the player. ``solved`` eliminates
one unknown after the other, in fractions. The optimum is found by policy iteration: the player
begins with the first legal action of each state, and takes a better one as long as there is one.

Laws, moves and the order of positions are the game's own, checked move by move as they are listed;
neither the sweeps nor the fixed points of the solver are used.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple, TypeAlias

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
from ..core import EXACT, Array, Game, GameError, sweeps_of
from ..core.checks import action_of
from ..core.contract import CLOSE
from ..core.moves import list_moves
from ..core.positions import states_of
from .rules import opponents_of

#: The rounding of a move, as a part of the result; moves without end add up.
ROUNDINGS = 2.0**-49
ZERO = Fraction(0)

#: A player to move, and a state.
Position: TypeAlias = tuple[int, int]
#: A linear equation: an unknown is a sum of multiples of unknowns, and of a constant, that of None.
Equation: TypeAlias = dict[Position | None, Fraction]
#: Values of the legal actions, by position.
ActionValues: TypeAlias = dict[Position, dict[int, Fraction]]
#: Returns the probability of each legal action of a player in a state.
Law: TypeAlias = Callable[[int], Mapping[int, Fraction]]


class Way(NamedTuple):
    """One outcome of a move."""

    chance: Fraction
    after: Position
    payoffs: tuple[Fraction, ...]  # by player
    over: tuple[bool, ...]  # by player


class Enumeration:
    """All moves of a small game, in fractions."""

    def __init__(self, game: Game) -> None:
        self.game = game
        #: The ways of each action, by position; positions are in the order of the stages.
        self.moves: dict[Position, dict[int, list[Way]]] = {}
        for seat, states in game.stages():
            self.moves.update({(seat, state): {} for state in states.tolist()})
            rows, actions, ways = list_moves(game, seat, states, EXACT)
            after = zip(ways.effect.seats.tolist(), ways.effect.states.tolist(), strict=True)
            payoffs, over = ways.effect.payoffs.tolist(), ways.effect.over.tolist()
            each = zip(ways.moves, ways.chances, after, payoffs, over, strict=True)
            for move, chance, position, paid, ended in each:
                way = Way(Fraction(chance), position, tuple(map(Fraction, paid)), tuple(ended))
                legal = self.moves[seat, int(states[rows[move]])]
                legal.setdefault(int(actions[move]), []).append(way)
        starts, chances = game.initial_law()
        self.start: dict[Position, Fraction] = {
            (0, int(state)): Fraction(chance) for state, chance in zip(starts, chances, strict=True)
        }

    def pays_early(self, player: int) -> bool:
        """Say whether a move pays a player for whom the game goes on."""
        every = (way for moves in self.moves.values() for ways in moves.values() for way in ways)
        return any(way.payoffs[player] and not way.over[player] for way in every)

    def values(self, player: int, laws: Mapping[int, Law]) -> ActionValues:
        """Return action values of a player, who follows its law, or plays optimally without one."""
        chosen = {position: next(iter(ways)) for position, ways in self.moves.items()}

        def choice(state: int) -> Mapping[int, Fraction]:
            return {chosen[player, state]: Fraction(1)}

        while True:
            found = self._position_values(player, {player: choice, **laws})
            every = {
                position: {
                    action: sum((way.chance * _worth(way, player, found) for way in ways), ZERO)
                    for action, ways in moves.items()
                }
                for position, moves in self.moves.items()
            }
            better = {
                position: max(each, key=lambda action: each[action])
                for position, each in every.items()
                if position[0] not in laws and max(each.values()) > found[position]
            }
            if not better:
                return every
            chosen.update(better)

    def _position_values(self, player: int, laws: Mapping[int, Law]) -> dict[Position, Fraction]:
        """Return the value of each position if every player has a law."""
        equations: dict[Position, Equation] = {
            position: defaultdict(Fraction) for position in reversed(self.moves)
        }
        for position, equation in equations.items():
            for chance, way in self._ways(position, laws):
                equation[None] += chance * way.payoffs[player]
                if not way.over[player]:
                    equation[way.after] += chance
        return solved(equations)

    def visits(
        self, player: int, laws: Mapping[int, Law], start: Mapping[Position, Fraction]
    ) -> tuple[dict[Position, Fraction], dict[Fraction, Fraction]]:
        """Return expected visits while the game goes on for a player, and the law of its payoffs.

        Positions of players without a law count visits but make no moves.
        """
        equations: dict[Position, Equation] = {
            position: defaultdict(Fraction, {None: start.get(position, ZERO)})
            for position in self.moves
        }
        ends: list[tuple[Position, Fraction, Fraction]] = []
        for position in self.moves:
            for chance, way in self._ways(position, laws):
                if way.over[player]:
                    ends.append((position, chance, way.payoffs[player]))
                else:
                    equations[way.after][position] += chance
        met = solved(equations)
        paid: dict[Fraction, Fraction] = defaultdict(Fraction)
        for position, chance, payoff in ends:
            paid[payoff] += met[position] * chance
        return met, paid

    def moments(
        self, player: int, laws: Mapping[int, Law], met: Mapping[Position, Fraction]
    ) -> tuple[Fraction, Fraction]:
        """Return mean and variance of a player's total if every player has a law.

        With X = r + Y, the payoff of a move and of what follows, X^2 - Y^2 = r^2 + 2 r Y: the mean
        square is a sum over the moves of a game, by expected visits of positions (see ``visits``).
        """
        values = self._position_values(player, laws)
        mean = square = ZERO
        for position, times in met.items():
            for chance, way in self._ways(position, laws):
                paid, worth = way.payoffs[player], _worth(way, player, values)
                mean += times * chance * paid
                square += times * chance * paid * (2 * worth - paid)
        return mean, square - mean * mean

    def _ways(self, position: Position, laws: Mapping[int, Law]) -> Iterator[tuple[Fraction, Way]]:
        """Yield the ways from a position with their probabilities; none without a law."""
        seat, state = position
        for action, chance in laws[seat](state).items() if seat in laws else ():
            for way in self.moves[position][action]:
                yield chance * way.chance, way


def _worth(way: Way, player: int, values: Mapping[Position, Fraction]) -> Fraction:
    return way.payoffs[player] + (ZERO if way.over[player] else values[way.after])


def solved(equations: dict[Position, Equation]) -> dict[Position, Fraction]:
    """Solve linear equations by substituting each unknown in all others."""
    users: dict[Position | None, set[Position]] = defaultdict(set)
    for position, equation in equations.items():
        for term in equation:
            users[term].add(position)
    for position, equation in equations.items():
        rest = 1 - equation.pop(position, ZERO)
        for term in equation:
            equation[term] /= rest
        for user in users.pop(position, set()) - {position}:
            factor = equations[user].pop(position)
            for term, further in equation.items():
                equations[user][term] += factor * further
                users[term].add(user)
    return {position: equation[None] for position, equation in equations.items()}


def check_answers(listing: Enumeration, seat: int) -> None:
    """Check all exact results for one seat, against several opponents."""
    game = listing.game
    for opponent in opponents_of(game):
        task = Task(game, seat, opponent)
        laws = {other: _law(policy) for other, policy in prepare(task, exact=True).policies.items()}
        first, _ = listing.visits(seat, laws, listing.start)
        reached = sum((first[position] for position in _own(listing, seat)), Fraction(0))
        start = {position: first[position] / reached for position in _own(listing, seat) if reached}
        _check_values("solve", solve(task, exact=True), solve(task), listing.values(seat, laws))
        actions = _some_law(game, seed=1).argmax(axis=1)
        for policy in ("random", actions):
            agent = evaluate(policy, task, exact=True)
            complete = {**laws, seat: _law(agent.policy)}
            floats = evaluate(policy, task)
            _check_values("evaluate", agent, floats, listing.values(seat, complete))
            if reached:
                met = _check_ways(listing, agent, policy, complete, start)
                _check_floats(floats, agent, policy, met, not listing.pays_early(seat))
        if reached:
            _check_scores(task, [*("random", actions), _some_law(game, seed=2)])


def _own(listing: Enumeration, seat: int) -> list[Position]:
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


def _check_values(what: str, exact: Evaluation, floats: Evaluation, listed: ActionValues) -> None:
    """Check the value of each of the agent's moves: fractions exactly, floats up to rounding."""
    game, seat, inside = exact.task.game, exact.task.seat, repr(exact.task)
    close = CLOSE * largest_payoff(game.payoff_range) + floats.error_bound
    own = states_of(game, seat)
    rows, actions = np.nonzero(game.mask(own))
    states = own[rows]
    law = sweeps_of(game)
    values = (
        each.arithmetic.numbers(law.worth(seat, states, actions, each.found, each.arithmetic))
        for each in (exact, floats)
    )
    for state, action, exactly, rounded in zip(
        states.tolist(), actions.tolist(), *values, strict=True
    ):
        wanted = listed[seat, state][action]
        where = f"for {action_of(seat, state, action)} in {inside}"
        _require_equal(what, exactly, wanted, where)
        if abs(rounded - float(wanted)) > close:
            raise GameError(
                f"{what} must say the same in floats, {float(wanted)!r}, got {float(rounded)!r} "
                f"{where}"
            )


def _check_ways(
    listing: Enumeration,
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
    moves, size = float(sum(met)), largest_payoff(task.game.payoff_range)
    for state in states_of(task.game, task.seat).tolist():
        found, wanted = float(rounded[state]), float(met[state])
        within = ROUNDINGS * moves * moves
        _require_close(f"occupancy of state {state}", found, wanted, 1.0, task, within)
    if has_law:
        outcomes = outcome_distribution(policy, task)
        mean = sum(payoff * chance for payoff, chance in outcomes.items())
        _require_close(
            "outcome_distribution", float(mean), float(floats.value), size, task, floats.error_bound
        )
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
