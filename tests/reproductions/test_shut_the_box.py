"""The notes on Shut the Box: their recursions beside the exact solution."""

from fractions import Fraction
from pathlib import Path

import pytest
from exactdice.baselines import Task
from exactdice.games import ShutTheBox

import exactdice
from reproductions.claim import table
from reproductions.shut_the_box import claims as source
from reproductions.shut_the_box.claims import NotesRecursion


@pytest.fixture(scope="module")
def claims():
    return source.claims()


@pytest.mark.slow
def test_every_verdict_is_as_recorded(claims):
    assert [claim.place for claim in claims if claim.verdict != claim.recorded] == []
    values = {claim.exact for claim in claims if isinstance(claim.exact, Fraction)}
    known = Fraction(385966166402467778845, 767617776808101937152)
    other = Fraction(382311989329463532959, 767617776808101937152)
    assert {known, other} < values


@pytest.mark.slow
def test_the_page_is_what_the_command_prints(claims):
    page = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text()
    assert table(source.TITLE, claims) in page


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
