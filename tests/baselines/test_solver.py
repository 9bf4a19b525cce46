"""Exact solving and evaluation: published values, identities, and moves that pay before the end."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from exactdice.baselines import Task, equilibrium, evaluate, outcome_distribution, score, solve
from exactdice.baselines.operators.players import Players
from exactdice.core.positions import states_of
from exactdice.core.sweeps import sweeps_of
from exactdice.games import FourTwoOne, GameError, Greed, InputError, LowestScore, ShutTheBox
from random_games import RandomGame
from small_games import Coins, Rounds

import exactdice


def test_known_exact_values():
    """The errata of the paper: "Going first has a rating of 0.54" is wrong."""
    assert solve(Task(Greed(10, 3)), exact=True).value == Fraction(14352595, 28697814)
    assert solve(Task(Greed(7, 12)), exact=True).value == Fraction(5, 12)  # the worst of M <= 40


KNOWN = [(100, "0.51384173304062", 24), (200, "0.51470147459460", 50), (500, "0.515231187", 130)]


@pytest.mark.parametrize(("limit", "value", "opening"), KNOWN)
def test_known_float_values(limit, value, opening):
    solution = exactdice.solve(Task(Greed(limit, 6)))
    digits = len(value) - 2
    assert abs(solution.value - float(value)) < max(10**-digits, 1e-12)
    assert solution.policy.actions[0] == opening


def test_float_and_exact_agree_on_the_default_game_and_on_its_ties():
    """The exact game has 5,172 last-turn and 2 normal states with several best actions."""
    task = Task(Greed(100, 6))
    exact, approximate = exactdice.solve(task, exact=True), exactdice.solve(task)
    assert abs(float(exact.value) - approximate.value) < 1e-12
    assert np.abs(exact.values[0].astype(float) - approximate.values[0]).max() < 1e-12
    assert (exact.optimal == approximate.optimal).all()
    assert (exact.policy.actions == approximate.policy.actions).all()
    last = task.game.observe(np.arange(task.game.num_states), 0)[:, 2] == 1
    several = exact.optimal.sum(axis=1) > 1
    assert (several & last).sum() == 5172
    assert (several & ~last).sum() == 2


class EveryoneForItself(Greed):
    def __init__(self, max_score, sides):
        super().__init__(max_score, sides)
        self.zero_sum = False


def test_two_players_who_choose_at_once_need_a_zero_sum_game():
    with pytest.raises(ValueError, match="not zero-sum"):
        Players(sweeps_of(EveryoneForItself(3, 2)), 0, {})


@pytest.mark.parametrize("exact", [False, True])
def test_an_equilibrium_is_the_same_by_minimax_and_everyone_for_itself(exact):
    minimax, other = (equilibrium(game(6, 3), exact) for game in (Greed, EveryoneForItself))
    for seat in (0, 1):
        difference = minimax.values[seat].array - other.values[seat].array
        assert np.abs(difference).max() <= (0 if exact else 1e-14)
        assert (minimax.policies[seat].actions == other.policies[seat].actions).all()


TASKS = [
    *(Task(Greed(7, 3), 1, "if_else"), Task(LowestScore(2, 3, 3, players=2), 1, "random")),
    *(Task(ShutTheBox(4, 2, 3), 0), Task(FourTwoOne(3, 2, 2, "set"), 1)),
]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_action_values_of_one_state_are_those_of_the_sweep(task, exact):
    solution, game = exactdice.solve(task, exact), task.game
    states = states_of(game, task.seat)
    for state in states.tolist():
        seen = game.observe(np.array([state]), task.seat)[0]
        found, swept = solution.action_values(seen), solution.table[state]
        assert list(found) == (list(swept) if exact else pytest.approx(swept, abs=1e-14))
        assert (solution.optimal_actions(seen) == np.flatnonzero(solution.optimal[state])).all()


def test_the_game_of_one_die_is_that_of_the_page_on_exact_scoring():
    """Of ``docs/exact-scoring.md``: keep 5 and 6, then 4 and more."""
    task = Task(FourTwoOne(dice=1, casts=3, utility="sum"))
    solution, faces = exactdice.solve(task, exact=True), range(1, 7)
    assert solution.value == Fraction(14, 3)
    for cast, recast in ((1, Fraction(17, 4)), (2, Fraction(7, 2))):
        values = [solution.action_values([face, cast]).tolist() for face in faces]
        assert values == [[recast, face] for face in faces]


def test_solitaire_rounds_by_hand():
    """Of one turn faces 2 and 3 are kept: 1, 2 and 3 come with 1/16, 1/2 + 1/8 and 1/4 + 1/16."""
    best = solve(Task(Rounds(turns=1)), exact=True)
    law = {1: Fraction(1, 16), 2: Fraction(10, 16), 3: Fraction(5, 16)}
    assert best.value == Fraction(9, 4)
    assert best.variance == sum((face - best.value) ** 2 * chance for face, chance in law.items())
    assert Rounds().exact_range == (1, 4 + 4 + 6)  # two faces of 2 make the 3 count twice


def test_turns_in_cycles_pay_only_what_they_settle():
    class Endless(Rounds):
        has_cycles = True

        def _leg(self, number):
            leg = super()._leg(number)
            return replace(leg, blocks=np.zeros(2, dtype=int))

    with pytest.raises(GameError, match="a result of a game with cycles must pay nothing where no"):
        Endless()


def test_there_is_no_law_of_totals():
    task = Task(RandomGame(0, 1, has_cycles=False, pays=True))
    assert score("random", task).outcomes is None
    assert score("random", task).as_dict()["outcomes"] is None
    with pytest.raises(InputError, match="game must pay at its end alone .* of Random Game does"):
        outcome_distribution("random", task)


def test_coins_by_hand_where_an_illegal_action_pays_what_is_worst_from_there_on():
    best = solve(Task(Coins()), exact=True)
    assert best.value == 20
    assert best.variance == sum(Fraction(3 * k + 4, 2) ** 2 for k in range(5))
    assert best.action_values([1]).tolist() == [Fraction(2 + 33, 2), Fraction(5 + 33, 2)]
    take = score(np.zeros(5, dtype=int), Task(Coins()))
    assert (take.value, take.regret) == (7.5, 12.5)
    assert take.deviation == pytest.approx(sum((k + 1) ** 2 / 4 for k in range(5)) ** 0.5)
    assert take.costs == pytest.approx([k + 1 - 0.5 for k in range(5)])

    class Held(Coins):
        def mask(self, states):
            return np.stack([states >= 0, states != 2], axis=1)

    dares = evaluate(np.ones(5, dtype=int), Task(Held()), masked=False, exact=True)
    assert dares.value == Fraction(1) + Fraction(5, 2) - 5
    assert dares.variance == sum(Fraction(3 * k + 4, 2) ** 2 for k in range(2))
