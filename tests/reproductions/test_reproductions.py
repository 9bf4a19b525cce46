"""How claims get their verdicts, and how the page of all sources is made."""

import re
from fractions import Fraction
from pathlib import Path

import pytest
from exactdice.baselines import Task
from exactdice.games import ShutTheBox

import exactdice
from docs.reproductions import pictures
from docs.reproductions.__main__ import END, HEADING, SOURCES, main, reproduce
from docs.reproductions.claim import At, summary, surprises, table
from docs.reproductions.shut_the_box.claims import NotesRecursion

DOCS = Path(__file__).parents[2] / "docs"
INDEX = (DOCS / "reproduction.md").read_text()
PAGES = {source: (DOCS / "reproduction" / f"{source}.md").read_text() for source in SOURCES}
#: Every table: its source, its title and what computes its claims, of which Greed's take seconds.
TABLES = [
    pytest.param(source, *entry, id=entry[0], marks=[] if source == "greed" else pytest.mark.slow)
    for source, entries in SOURCES.items()
    for entry in entries
]


@pytest.mark.parametrize(("source", "title", "claims"), TABLES)
def test_every_verdict_is_as_recorded_and_the_pages_are_what_the_command_prints(
    source, title, claims
):
    found = claims()
    assert surprises(found) == []
    assert table(title, found) in f"#{PAGES[source]}"  # the first title is the page's
    assert f"\n| [{title}](reproduction/{source}.md) | {summary(found)} |\n" in INDEX


def test_the_index_lists_the_sources_in_order_and_each_has_a_page():
    assert INDEX.startswith(HEADING)
    titles = {source: [title for title, _ in tables] for source, tables in SOURCES.items()}
    wanted = [(title, source) for source, each in titles.items() for title in each]
    assert re.findall(r"^\| \[(.*)\]\(reproduction/(.*)\.md\) \|", INDEX, re.M) == wanted
    for source, page in PAGES.items():
        assert re.findall("^#+ (.*)$", page, re.M) == titles[source]
        assert page.startswith("# ")
        assert page.endswith(f"\n\n{END}\n")


@pytest.mark.parametrize(
    ("place", "count"),
    [
        ("cell 11, beat", 2 * 8),
        ("cell 12", 10),
        ("cell 13, table", 11 * 9),
        ("Table [1-4], ", 4 * (1 + 5 + 3)),
        ("chart", 2 * (2 * 8 + 3 * 28 + 2 * 6 + 3 * 6)),
    ],
)
def test_every_cell_that_a_source_prints_is_on_the_page(place, count):
    assert len(re.findall(rf"^\| {place}", "".join(PAGES.values()), re.M)) == count


def test_a_new_verdict_is_an_error(monkeypatch, capsys):
    old = At("page 1").mistake(printed="2 + 2 = 5", exact="4", holds=False)
    new = At("page 2").mistake(printed="2 + 2 = 4", exact="4", holds=True)
    assert surprises([old, new]) == [new]
    monkeypatch.setitem(SOURCES, "greed", [("Arithmetic", lambda: [old])])
    assert reproduce(["greed"]) == 0
    assert "NEW" not in capsys.readouterr().out
    monkeypatch.setitem(SOURCES, "greed", [("Arithmetic", lambda: [old, new])])
    assert reproduce(["greed"]) == 1
    assert "agrees (recorded: wrong, NEW)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("printed", "exact", "verdict", "expected"),
    [
        ("0.50", Fraction(501, 1000), "agrees by rounding", "agrees by rounding"),
        ("1/2", Fraction(1, 2), "agrees", "agrees"),
        ("1/2", Fraction(1, 3), "wrong", "agrees"),
        ("0.67", Fraction(2, 3), "agrees by rounding", "agrees by rounding"),
        ("0.66", Fraction(2, 3), "agrees by truncation", "agrees by rounding"),
        ("-0.66", Fraction(-2, 3), "agrees by truncation", "agrees by rounding"),
        ("0.65", Fraction(2, 3), "wrong", "agrees by rounding"),
        ("66.67%", Fraction(2, 3), "agrees by rounding", "agrees by rounding"),
        ("12.50%", Fraction(1, 8), "agrees", "agrees"),
        ("3", Fraction(31, 10), "wrong", "agrees"),
        ("<u>2</u>/3", Fraction(2, 3), "garbled", "agrees"),
        ("5(cut)", Fraction(1, 3), "garbled", "garbled"),
    ],
)
def test_numbers_get_the_verdict_they_deserve(printed, exact, verdict, expected):
    """Printed texts must be well-formed, unless the test does not look at them."""
    claim = At("page 1").number(printed=printed, exact=exact)
    assert (claim.verdict, claim.recorded) == (verdict, expected)


def test_a_table_shows_fractions_decimals_and_formulas_and_begins_with_the_wrong_claims():
    claims = [
        At("page 1").number(printed="0.67", exact=Fraction(2, 3), note="a | b"),
        At("page 2").number(printed="0.3", exact=Fraction(8, 27), formula="(2/3)^3"),
        At("page 3").number(printed="0.?7", exact=Fraction(2, 3)),
        At("page 4").mistake(printed="2 + 2 = 5", exact="4", holds=False),
    ]
    *_, wrong, garbled, first, second = table("Arithmetic", claims).splitlines()
    assert [wrong[2:8], garbled[2:8]] == ["page 4", "page 3"]
    assert first == "| page 1 | 0.67 | 2/3 | 0.666666666667 | agrees by rounding | a \\| b |"
    assert second == "| page 2 | 0.3 | (2/3)^3 | 0.296296296296 | agrees by rounding |  |"


def test_the_command_prints_the_pages_of_sources_or_the_index(monkeypatch, capsys):
    """The claims themselves are computed in the other files of this folder."""
    claim = At("page 1").statement(printed="2 + 2 = 4", holds=True)
    for source, tables in SOURCES.items():
        monkeypatch.setitem(SOURCES, source, [(title, lambda: [claim]) for title, _ in tables])
    everything = sum(map(len, SOURCES.values()))
    for words, shown in (["greed"], 1), (["421"], 2), (list(SOURCES), everything), ([], everything):
        assert main(words) == 0
        said = capsys.readouterr().out
        assert said.count("1 claims: 1 agrees; 0 not as recorded") == shown
        assert said.count("2 + 2 = 4") == (shown if words else 0)


def test_unknown_sources_are_named(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["greed", "shut-the-bx"])
    said = capsys.readouterr().err
    assert "source must be one of 'greed'" in said
    assert "got 'shut-the-bx'; did you mean shut-the-box?" in said


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_has_numbers_and_a_caption(name):
    shown = pictures.PICTURES[name]()
    assert shown.caption.endswith(".")
    for panel in shown.panels:
        assert not getattr(panel, "words", None) or len(panel.words(0, 0)) > 5
    page = (DOCS / "what-the-sources-got-wrong.md").read_text()
    assert f"(reproduction/{name}.png)" in page
    assert " ".join(shown.caption.split()) in " ".join(page.split())


def test_the_papers_search_misses_21_labels():
    left, right = pictures.figure_3().panels
    assert left.hatched.sum() == 21
    assert (left.texts != right.texts)[left.hatched].all()


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
