"""421's source: its tables, charts, equations and statements."""

from fractions import Fraction

import pytest
from exactdice.baselines import Task
from exactdice.games import FourTwoOne

import exactdice
from docs.reproductions.four_two_one import charts, goals, laws, tables, theory


def test_lost_cells_have_the_known_values():
    assert charts.law("123", 3, True)["124"][-1] == Fraction(24239, 559872)
    assert charts.law("112", 3, True)["222"][-1] == Fraction(20605, 2519424)
    assert charts.law("1", 1, True)["2"][-1] == Fraction(1, 6)


@pytest.mark.parametrize(
    ("utility", "first", "following"),
    [
        ("goal:123", Fraction(42571, 186624), Fraction(24631, 186624)),
        ("goals:123,224,345", Fraction(367333, 1119744), Fraction(180553, 1119744)),
        ("transfer", Fraction(349621, 93312), Fraction(407293, 139968)),
        ("sum", Fraction(14), Fraction(109, 8)),
    ],
)
def test_known_optima(utility, first, following):
    assert exactdice.solve(Task(FourTwoOne(utility=utility)), exact=True).value == first
    imposed = FourTwoOne(utility=utility, duration=3)
    assert exactdice.solve(Task(imposed), exact=True).value == following


def test_a_dilemma_by_hand():
    """Of two dice with three faces and goal 12, cast too early, either is replayed; of 11, one."""
    assert goals.optimal_takes(laws.best(2, 3, 2, "12", 2), (), (1, 2), 1) == {(1,), (2,)}
    assert goals.optimal_takes(laws.best(2, 3, 2, "11", 2), (), (1, 1), 1) == {(1,)}


def test_revision_helps_a_next_player_with_the_transfer_function():
    gain = tables.ratio("transfer", "goal:1,0", False) - tables.ratio("transfer", "goal:0,0", False)
    assert gain == Fraction(1883, 1048863)


def test_the_checks_can_fail():
    assert goals.ratchet_is_optimal(3, 3, 2, "112")
    assert not goals.ratchet_is_optimal(3, 3, 3, "112")
    assert goals.only_ratchet_is_optimal(2, 3, 2, "12")
    assert not goals.only_ratchet_is_optimal(2, 2, 2, "12")
    assert theory.last_decisions_are_optimal("goal:1,1", "sum")
    assert not theory.last_decisions_are_optimal("goal:1,0", "sum")
    assert goals._any_one_die(laws.best(2, 3, 2, "12", 2), "12")
    assert not goals._any_one_die(laws.best(2, 2, 2, "12", 2), "12")


def test_live_dice_by_hand():
    """Two dice, goal 12, three faces: 2 rolls end it, 33 keeps both, the rest accumulate one."""
    (law,) = theory.live_dice_laws(2, 3, 2, "12")
    assert law == [Fraction(2, 9), Fraction(6, 9), Fraction(1, 9)]
    (imposed,) = theory.live_dice_laws(2, 3, 2, "12", 2)
    assert imposed == [0, Fraction(8, 9), Fraction(1, 9)]
