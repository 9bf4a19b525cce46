"""The page of the leaderboard."""

import shutil
from html.parser import HTMLParser
from pathlib import Path

from exactdice.look import board

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
