"""The page of the leaderboard."""

from html.parser import HTMLParser
from pathlib import Path

import pytest
from exactdice.agents.tracks import TRACKS
from exactdice.board import leaderboard as boards
from exactdice.board.leaderboard import Board
from exactdice.board.pictures import curves, to_page, track_curves
from exactdice.board.results import read_results
from exactdice.board.strata import Part
from exactdice.core import Table
from finished_runs import run

RUNS = Path(__file__).parents[2] / "benchmarks" / "leaderboard"
VOID = ("meta", "link", "br")


def test_the_page_is_whole_and_needs_nothing_else():
    runs = [run for run in read_results(RUNS) if run.game == "FourTwoOne" and "dqn" not in run.name]
    page = to_page(Board(RUNS, None, runs))
    opened = []

    class Check(HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag not in VOID:
                opened.append(tag)
            names = {"src", "srcset", "action"} | ({"href"} if tag == "link" else set())
            assert all(value == "data:," for name, value in attrs if name in names)

        def handle_endtag(self, tag):
            assert opened.pop() == tag

    Check().feed(page)
    assert opened == []
    assert (page.count("<table"), page.count("<svg")) == (2, 1)
    assert "3.733089" in page


def finished(game, algorithm, points=3):
    """Make a finished run, and its curve."""
    moves, scores = (0, 10, 20)[-points:], (0.0, 0.9, 1.0)[-points:]
    return run(game, 0, 1.0, algorithm, moves=moves, scores=scores)


def test_an_agent_has_one_colour_in_all_games_and_a_curve_of_two_scores_at_least():
    runs = [("Greed", "dqn"), ("Greed", "ppo"), ("FourTwoOne", "ppo"), ("Yahtzee", "ppo", 1)]
    panels = curves([finished(*each) for each in runs]).panels
    colours = [{line.name: line.colour for line in panel.series} for panel in panels]
    assert colours == [{"DQN": 1, "PPO": 0}, {"PPO": 0}]


@pytest.fixture
def standings(monkeypatch):
    """Make the board of two algorithms, of which one has run two games."""
    track = TRACKS["exactdice-10k"]
    part = Part("References", "", Table(["game", "policy"], [["Greed", "random"]]))
    monkeypatch.setattr(boards.strata, "reference_table", lambda tasks, more: part)
    names = [("Greed", "ppo"), ("Greed", "qlearning"), ("FourTwoOne", "ppo")]
    scores = {seed: (0.0, 0.1, 0.2, 0.4, 0.6, 0.7, 0.8 + seed / 100) for seed in range(2)}
    runs = [
        run(game, seed, 0.8, algorithm, track=track.name, moves=track.marks, scores=scores[seed])
        for game, algorithm in names
        for seed in range(2)
    ]
    return Board(Path(), track, runs)


def test_the_curves_of_a_track_are_of_its_marks_with_intervals_and_the_same_colours(standings):
    panels = {panel.title: panel for panel in track_curves(standings).panels}
    assert list(panels) == ["mean of all games", "Greed", "FourTwoOne"]
    assert [line.name for line in panels["mean of all games"].series] == ["PPO"]
    for panel in panels.values():
        assert panel.log_x
        for line in panel.series:
            assert line.x.tolist() == list(standings.track.marks)
            assert (line.low <= line.y).all()
            assert (line.y <= line.high).all()
            assert line.colour == {"PPO": 0, "Q-learning": 2}[line.name]
    assert panels["Greed"].series[0].y[0] == 0


def test_the_page_of_a_track_has_sortable_tables_with_the_colours_of_the_curves(standings):
    text = to_page(standings)
    assert text.count('<table class="sortable">') == 5
    assert text.count("// Sorts a table by a column") == 1
    swatches = text.split('<span class="swatch" style="background: ')[1:]
    assert {(part[:7], part.split("</span>")[1].split("<")[0]) for part in swatches} == {
        ("#0072b2", "PPO"), ("#009e73", "Q-learning"),
    }  # fmt: skip
    assert text.count("<svg") == 3
    assert "exactdice-10k, v2" in text
    assert "Its last policy is scored, not its best" in text
