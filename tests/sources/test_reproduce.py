"""How claims get their verdicts, and how the page of all sources is made."""

from fractions import Fraction
from pathlib import Path

import pytest
from exactdice.sources.claim import number, surprises, table
from exactdice.sources.reproduce import HEADING, SOURCES, Claim, reproduce


def test_the_page_lists_the_sources_in_order():
    page = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text()
    assert page.startswith(HEADING)
    places = [page.index(title) for title, _ in SOURCES.values()]
    assert places == sorted(places)


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
