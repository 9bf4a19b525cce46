"""Payoffs that add up: values, variances and bounds where moves pay before the end.

The truth is a plain tree: every game from the first move to the last with its probability and its
total, in fractions, by the rules alone.
"""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from exactdice.baselines import (
    Task,
    evaluate,
    expected_payoffs,
    outcome_distribution,
    prepare,
    score,
    solve,
)
from exactdice.baselines import payoff_matrix as matrix_of
from exactdice.core.moves import extremes
from exactdice.games import EXACT, FourTwoOneMatch, GameError, InputError, LowestScoreMatch
from random_games import RandomGame
from small_games import Coins, Rounds

SEEDS = [0, 1, 2, 3, 5, 6]


def seats_of(seed, pays=True, has_cycles=None):
    """Give each seat of a random game against uniform play; a seat that never moves is left out."""
    cycles = bool(seed // 2 % 2) if has_cycles is None else has_cycles
    game = RandomGame(seed, 1 + seed % 2, cycles, pays=pays)
    for seat in range(game.num_players):
        task = Task(game, seat, "random")
        try:
            _ = evaluate("random", task).value
        except InputError:
            continue
        yield task


def uniform(game, state):
    actions = np.flatnonzero(game.mask(np.array([state]))[0])
    return {action: Fraction(1, len(actions)) for action in actions.tolist()}


def ways(game, seat, state, action):
    """List what may follow a move: chance, next position, payoffs, ends."""
    row = int(game.law(np.array([state]), np.array([action]))[0])
    for outcome, chance in enumerate(game.exact_laws()[row].tolist()):
        if chance:
            at = (np.array([number]) for number in (seat, state, action, outcome))
            move = game.exact_advance(*at)
            after = int(move.seats[0]), int(move.states[0])
            yield Fraction(chance), after, move.payoffs[0], move.over[0]


def tree(game, player, position, known):
    """Give the law of the total from a position on under uniform play, by plain recursion."""
    if position not in known:
        law = defaultdict(Fraction)
        for action, chosen in uniform(game, position[1]).items():
            for chance, after, payoffs, over in ways(game, *position, action):
                later = {0: 1} if over[player] else tree(game, player, after, known)
                for total, mass in later.items():
                    law[Fraction(payoffs[player]) + total] += chosen * chance * mass
        known[position] = law
    return known[position]


def totals(task):
    """Give the laws of the total from each position on, and that of the whole game."""
    known, law, start = {}, defaultdict(Fraction), prepare(task, exact=True).start
    for state, chance in zip(start.states.tolist(), start.chances.tolist(), strict=True):
        for total, mass in tree(task.game, task.seat, (task.seat, state), known).items():
            law[total] += chance * mass
    return known, law


def moments(law):
    mean = sum(total * chance for total, chance in law.items())
    return mean, sum((total - mean) ** 2 * chance for total, chance in law.items())


@pytest.mark.parametrize("seed", SEEDS)
def test_values_and_variances_are_those_of_the_tree_of_all_games(seed):
    for task in seats_of(seed, has_cycles=False):
        exact, floats = evaluate("random", task, exact=True), evaluate("random", task)
        known, law = totals(task)
        for (seat, state), later in known.items():
            assert exact.values[seat, state] == moments(later)[0]
        assert sum(law.values()) == 1
        mean, variance = moments(law)
        assert (exact.value, exact.variance) == (mean, variance)
        assert floats.value == pytest.approx(float(mean), abs=floats.error_bound)
        assert floats.variance == pytest.approx(float(variance), rel=1e-12, abs=1e-15)
        found = score("random", task)
        assert found.deviation == pytest.approx(float(variance) ** 0.5)


@pytest.mark.parametrize(
    "game",
    [
        LowestScoreMatch(2, 2, 1, 2, wins=2),
        FourTwoOneMatch(2, faces=2, charge_casts=1, discharge_casts=2),
    ],
    ids=lambda game: game.name,
)
def test_the_sweep_for_variances_agrees_with_the_law_in_cycles(game):
    for seat in range(game.num_players):
        found = evaluate("random", Task(game, seat, "random"), exact=True)
        assert found._variance_of_sum() == found.variance


ROUNDS = [Rounds(), Rounds(2, 4), Rounds(2, 4, Fraction(-1)), Rounds(3, 4, Fraction(-1, 3))]


@pytest.mark.parametrize("game", ROUNDS, ids=repr)
def test_turns_that_pay_agree_with_the_tree(game):
    """With the listing of moves, too: see ``check_game``, which ``tests/test_testing.py`` calls."""
    for seat in range(game.num_players):
        task = Task(game, seat, "random")
        exact, floats = evaluate("random", task, exact=True), evaluate("random", task)
        _, law = totals(task)
        assert (exact.value, exact.variance) == moments(law)
        assert floats.value == pytest.approx(float(exact.value), abs=floats.error_bound)
        assert floats.variance == pytest.approx(float(exact.variance), rel=1e-12)


@pytest.mark.parametrize("game", ROUNDS, ids=repr)
def test_the_range_of_turns_that_pay_is_that_of_the_listing(game):
    low, high = [], []
    for seat in range(game.num_players):
        least, most = extremes(game, seat, EXACT)
        low += [least[stage].min() for stage in game.stages()]
        high += [most[stage].max() for stage in game.stages()]
    assert game.exact_range == (min(low), max(high))
    assert game.zero_sum == (game.others == -1)


def test_solitaire_rounds_by_hand():
    """Of one turn faces 2 and 3 are kept: 1, 2 and 3 come with 1/16, 1/2 + 1/8 and 1/4 + 1/16."""
    best = solve(Task(Rounds(turns=1)), exact=True)
    law = {1: Fraction(1, 16), 2: Fraction(10, 16), 3: Fraction(5, 16)}
    assert (best.value, best.variance) == moments(law)
    assert best.value == Fraction(9, 4)
    assert Rounds().exact_range == (1, 4 + 4 + 6)  # two faces of 2 make the 3 count twice


def test_turns_in_cycles_pay_only_what_they_settle():
    class Endless(Rounds):
        has_cycles = True

        def _leg(self, number):
            leg = super()._leg(number)
            return replace(leg, blocks=np.zeros(2, dtype=int))

    with pytest.raises(GameError, match="a result of a game with cycles must pay nothing where no"):
        Endless()


@pytest.mark.parametrize("seed", SEEDS)
def test_what_two_players_get_adds_up(seed):
    game = RandomGame(seed, 2, bool(seed // 2 % 2), pays=True)
    total = sum(game.exact_range)
    both = [solve(Task(game, seat), exact=True) for seat in (0, 1)]
    for seat, states in game.stages():
        assert (both[0].values[seat, states] + both[1].values[seat, states] == total).all()
    assert sum(expected_payoffs("random", Task(game), exact=True)) == total
    assert matrix_of({"a": "random", "b": "optimal"}, Task(game), exact=True).payoffs[0, 0] * 2 == (
        total
    )


def test_there_is_no_law_of_totals():
    task = next(seats_of(0))
    assert score("random", task).outcomes is None
    assert score("random", task).as_dict()["outcomes"] is None
    with pytest.raises(InputError, match="game must pay at its end alone .* of Random Game does"):
        outcome_distribution("random", task)


def test_coins_by_hand():
    best = solve(Task(Coins()), exact=True)
    assert best.value == 20
    assert best.variance == sum(Fraction(3 * k + 4, 2) ** 2 for k in range(5))
    assert best.action_values([1]).tolist() == [Fraction(2 + 33, 2), Fraction(5 + 33, 2)]
    take = score(np.zeros(5, dtype=int), Task(Coins()))
    assert (take.value, take.regret) == (7.5, 12.5)
    assert take.deviation == pytest.approx(sum((k + 1) ** 2 / 4 for k in range(5)) ** 0.5)
    assert take.costs == pytest.approx([k + 1 - 0.5 for k in range(5)])


def test_an_illegal_action_pays_what_is_worst_from_there_on():
    class Held(Coins):
        def mask(self, states):
            return np.stack([states >= 0, states != 2], axis=1)

    dares = evaluate(np.ones(5, dtype=int), Task(Held()), masked=False, exact=True)
    assert dares.value == Fraction(1) + Fraction(5, 2) - 5
    assert dares.variance == sum(Fraction(3 * k + 4, 2) ** 2 for k in range(2))
