"""The page of the leaderboard."""

import shutil
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
from exactdice.agents.board.leaderboard import Cell
from exactdice.agents.board.ranking import AGENTS, agent_rows
from exactdice.agents.board.standings import GAMES, Entry, Standings, game_rows
from exactdice.agents.board.tables import Part
from exactdice.agents.tracks import TRACKS
from exactdice.look import board
from exactdice.look.runs import curves
from exactdice.look.tracks import curves as track_curves

RUNS = Path(__file__).parents[2] / "benchmarks" / "leaderboard"
VOID = ("meta", "link", "br")


def test_the_page_is_whole_and_needs_nothing_else(tmp_path):
    without = shutil.ignore_patterns("*.zip", "*.pt")
    for path in (*RUNS.glob("FourTwoOne-qlearning-*"), *RUNS.glob("FourTwoOne-ppo-outcome-*")):
        shutil.copytree(path, tmp_path / path.name, ignore=without)
    written = board.write(tmp_path)
    assert [path.name for path in written] == ["results.csv", "leaderboard.md", "leaderboard.html"]
    page = written[-1].read_text()
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
    assert page.count("<table") == 2
    assert "<svg" in page
    for word in ("FourTwoOne", "Q-learning", "PPO", "goal:1,1", "3.733089"):
        assert word in page


def finished(game, algorithm):
    """Make a finished run, and its curve."""
    numbers = {"value": 1.0, "optimum": 1.0, "random": 0.0, "regret": 0.0, "normalized": 1.0}
    reached = {"steps_to_90": 10, "steps_to_99": 20}
    cell = Cell(game, algorithm, "outcome", 0, **numbers, steps=20, seconds=1.0, **reached)
    return cell, (np.array([0, 10, 20]), np.array([0.0, 0.9, 1.0]))


def test_an_agent_has_one_colour_in_all_games():
    runs = [("Greed", "dqn"), ("Greed", "ppo"), ("FourTwoOne", "ppo")]
    panels = curves(dict(finished(*run) for run in runs)).panels
    colours = [{line.name: line.colour for line in panel.series} for panel in panels]
    assert colours == [{"DQN": 1, "PPO": 0}, {"PPO": 0}]


def test_a_run_with_one_exact_score_has_no_curve():
    cell, (steps, scores) = finished("Yahtzee", "ppo")
    known = dict([finished("Greed", "dqn"), (cell, (steps[-1:], scores[-1:]))])
    assert [panel.title for panel in curves(known).panels] == ["Greed"]


def standings():
    """Make the board of two algorithms, of which one has run two games."""
    track = TRACKS["exactdice-10k"]
    names = [("Greed", "ppo"), ("Greed", "qlearning"), ("FourTwoOne", "ppo")]
    runs = {
        Entry(
            track.name, game, algorithm, seed, value=0.5, optimum=0.6, random=0.1, regret=0.1,
            normalized=0.8, nines=0.7, area=0.5, flawless=0.4, steps=9984, seconds=3.0,
            trials=None, moves_to_90=None, moves_to_99=None,
        ): np.linspace(0, 0.8 + seed / 100, 7)
        for game, algorithm in names
        for seed in range(2)
    }  # fmt: skip
    tables = (AGENTS, agent_rows(list(runs), track)), (GAMES, game_rows(list(runs)))
    return Standings(track, runs, *tables, Part("", (["game", "policy"], [["Greed", "random"]])), 0)


def test_the_curves_of_a_track_are_of_its_marks_with_intervals_and_one_colour_an_algorithm():
    known = standings()
    panels = {panel.title: panel for panel in track_curves(known).panels}
    assert list(panels) == ["mean of all games", "Greed", "FourTwoOne"]
    assert [line.name for line in panels["mean of all games"].series] == ["PPO"]
    for panel in panels.values():
        assert panel.log_x
        for line in panel.series:
            assert line.x.tolist() == list(known.track.marks)
            assert (line.low <= line.y).all()
            assert (line.y <= line.high).all()
            assert line.colour == {"PPO": 0, "Q-learning": 2}[line.name]
    assert panels["Greed"].series[0].y[0] == 0


def test_the_page_of_a_track_has_sortable_tables_with_the_colours_of_the_curves():
    text = board._of_track(standings())
    assert text.count('<table class="sortable">') == 4
    assert text.count("// Sorts a table by a column") == 1
    swatches = text.split('<span class="swatch" style="background: ')[1:]
    assert {(part[:7], part.split("</span>")[1].split("<")[0]) for part in swatches} == {
        ("#0072b2", "PPO"), ("#009e73", "Q-learning"),
    }  # fmt: skip
    assert text.count("<svg") == 3
    assert "exactdice-10k, v1" in text
    assert "Its last policy is scored, not its best" in text
