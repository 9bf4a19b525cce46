"""The page of the leaderboard."""

import shutil
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
from exactdice.agents.board.leaderboard import Cell
from exactdice.look import board
from exactdice.look.runs import curves

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
