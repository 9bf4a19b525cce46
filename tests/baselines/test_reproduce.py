"""The paper's claims, verdict by verdict."""

from fractions import Fraction
from pathlib import Path

import pytest
from exactdice.baselines.reproduce import HEADING, SOURCES, Claim, greed, reproduce
from exactdice.baselines.reproduce.claims import number, surprises, table
from exactdice.baselines.reproduce.greed_last_turns import LastTurns
from exactdice.games import Greed


@pytest.fixture(scope="module")
def claims():
    return greed.claims()


def test_every_verdict_is_as_recorded(claims):
    assert [claim.place for claim in claims if claim.verdict != claim.recorded] == []


def test_the_page_is_what_the_command_prints(claims):
    page = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text()
    assert page.startswith(HEADING)
    assert "\n".join(table(greed.TITLE, claims)) in page
    assert [page.index(title) for title, _ in SOURCES.values()] == sorted(
        page.index(title) for title, _ in SOURCES.values()
    )


def test_the_famous_number_is_refuted(claims):
    (claim,) = (claim for claim in claims if claim.printed == "0.54")
    assert claim.verdict == "wrong"
    assert claim.exact == Fraction(14352595, 28697814)


def test_the_checks_can_fail():
    """On ratings that violate them, the checks of the conjectures say so."""
    turns = LastTurns(6, 3)
    assert turns.is_unimodal()
    assert turns.conjecture_1_holds()
    assert turns.algorithm_is_optimal()
    turns.ratings[0, 3, 5] = turns.one  # a second peak, far above the middle
    assert not turns.is_unimodal()
    assert not turns.conjecture_1_holds()
    assert not turns.algorithm_is_optimal()
    turns.ratings[0, 3, 2] += 1
    assert not turns.equation_1_holds()
    turns.ratings[4, 3, 0] -= 1
    assert not turns.forfeit_wins()
    turns.ratings[0, 0, 1] -= 1  # one die beats 0 and cannot exceed 6
    assert not turns.certain_victory_wins()


def test_ratings_are_those_of_the_game():
    turns = LastTurns(4, 2)
    assert turns.game == Greed(4, 2, max_dice=4)
    assert turns.ratings[3, 2, 0] == turns.one
    assert turns.ratings[3, 3, 1] * 2 == turns.one  # one die: 4 wins, 5 is a bust


def test_a_new_verdict_is_an_error(monkeypatch, capsys):
    old = Claim("page 1", "2 + 2 = 5", "4", "wrong", "wrong")
    new = Claim("page 2", "2 + 2 = 4", "4", "agrees", "wrong")
    assert surprises([old, new]) == [new]
    monkeypatch.setitem(SOURCES, "greed", ("Arithmetic", lambda: [old]))
    assert reproduce(["greed"]) == 0
    assert "NEW" not in capsys.readouterr().out
    monkeypatch.setitem(SOURCES, "greed", ("Arithmetic", lambda: [old, new]))
    assert reproduce(["greed"]) == 1
    assert "agrees (recorded: wrong, NEW)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("printed", "exact", "verdict"),
    [
        ("0.5", Fraction(1, 2), "agrees"),
        ("1/2", Fraction(1, 2), "agrees"),
        ("1/2", Fraction(1, 3), "wrong"),
        ("0.67", Fraction(2, 3), "agrees by rounding"),
        ("0.66", Fraction(2, 3), "agrees by truncation"),
        ("-0.66", Fraction(-2, 3), "agrees by truncation"),
        ("0.65", Fraction(2, 3), "wrong"),
        ("0.68", Fraction(2, 3), "wrong"),
        ("66.67%", Fraction(2, 3), "agrees by rounding"),
        ("66.66%", Fraction(2, 3), "agrees by truncation"),
        ("3", Fraction(3), "agrees"),
        ("3", Fraction(31, 10), "wrong"),
        ("<u>2</u>/3", Fraction(2, 3), "garbled"),
    ],
)
def test_numbers_get_the_verdict_they_deserve(printed, exact, verdict):
    assert number("page 1", printed, exact).verdict == verdict


def test_a_table_shows_fractions_decimals_and_formulas():
    claims = [
        number("page 1", "0.67", Fraction(2, 3), note="a | b"),
        number("page 2", "0.3", Fraction(8, 27), formula="(2/3)^3"),
    ]
    *_, first, second = table("Arithmetic", claims)
    assert first == ("| page 1 | 0.67 | 2/3 | 0.666666666667 | agrees by rounding | a \\| b |")
    assert second == "| page 2 | 0.3 | (2/3)^3 | 0.296296296296 | agrees by rounding |  |"


def test_unknown_sources_are_named():
    with pytest.raises(ValueError, match="source must be one of greed.*, got 'chess'"):
        reproduce(["greed", "chess"])
