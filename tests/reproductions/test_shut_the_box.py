"""The notes on Shut the Box: their recursions beside the exact solution."""

import pytest
from exactdice.baselines import Task
from exactdice.games import ShutTheBox

import exactdice
from docs.reproductions.shut_the_box.claims import NotesRecursion


@pytest.mark.slow
@pytest.mark.parametrize("shut_wins", [True, False])
def test_twelve_tiles_exactly(shut_wins):
    notes = NotesRecursion(12, early_stop=True)
    value = exactdice.solve(Task(ShutTheBox(12, shut_wins=shut_wins)), exact=True).value
    assert value == notes.after_1(notes.everything, shut_wins)


@pytest.mark.parametrize("tiles", [2, 3, 4, 5])
@pytest.mark.parametrize("shut_wins", [True, False])
def test_few_tiles_where_the_first_roll_may_end_a_turn(tiles, shut_wins):
    notes = NotesRecursion(tiles)
    value = exactdice.solve(Task(ShutTheBox(tiles, shut_wins=shut_wins)), exact=True).value
    assert value == notes.after_1(notes.everything, shut_wins)


@pytest.mark.parametrize("shut_wins", [True, False])
def test_rolls_after_the_box_is_shut_change_nothing(shut_wins):
    plain, early = NotesRecursion(3), NotesRecursion(3, early_stop=True)
    assert plain.after_1(frozenset(), shut_wins) == early.after_1(frozenset(), shut_wins)
    assert plain.after_1(frozenset(), True) == 1
