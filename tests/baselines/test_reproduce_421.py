"""421's source: its tables, charts, equations and statements."""

from fractions import Fraction
from pathlib import Path

import pytest
from exactdice.baselines import Task
from exactdice.baselines.reproduce import four_two_one as source
from exactdice.baselines.reproduce import four_two_one_charts as charts
from exactdice.baselines.reproduce.claims import table
from exactdice.games import FourTwoOne

import exactdice


@pytest.fixture(scope="module")
def claims():
    return source.claims()


def test_every_verdict_is_as_recorded(claims):
    assert [claim.place for claim in claims if claim.verdict != claim.recorded] == []


def test_the_page_is_what_the_command_prints(claims):
    page = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text()
    assert "\n".join(table(source.TITLE, claims)) in page


def test_every_cell_of_the_tables_is_there(claims):
    cells = [claim for claim in claims if claim.place[:7] in source.TABLES]
    assert len(cells) == 4 * (1 + 5 + 3)
    lost = {claim.place: claim.exact for claim in cells if claim.verdict == "garbled"}
    assert lost == {
        "Table 4, goal:0,0, first player": Fraction(45575, 48384),
        "Table 4, goal:0,1, first player": Fraction(19681, 20412),
    }


def test_every_cell_of_the_charts_is_there(claims):
    cells = [claim for claim in claims if claim.place.startswith("chart")]
    couples = sum(len(entries) for entries in charts.NON_DIAGONAL.values())
    assert couples == 31 - 3 + 8  # three dice without the diagonal, and chart 7
    assert len(cells) == 2 * (2 * 8 + 3 * 28 + 2 * 6 + 3 * 6)
    legible = [claim for claim in cells if claim.recorded != "garbled"]
    assert len(legible) == 216
    assert {claim.verdict for claim in legible} == {"agrees", "agrees by rounding"}


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


def test_what_exact_arithmetic_refutes(claims):
    wrong = [claim.printed for claim in claims if claim.verdict == "wrong"]
    assert sum("ratchet strategy is optimal if and only if" in printed for printed in wrong) == 3
    assert sum("to the power J - 1" in printed for printed in wrong) == 2
    assert any("655 > 654" in printed for printed in wrong)
    assert any("less with a fuzzier utility" in printed for printed in wrong)
