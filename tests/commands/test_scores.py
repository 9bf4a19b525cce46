"""``exactdice score``, ``solve``, ``compare`` and ``describe``: figures, in tables that fit."""

import json
import re
from collections import Counter
from pathlib import Path

import gymnasium as gym
import pytest
from checkout import ROOT
from exactdice.agents.learners import ceiling
from exactdice.baselines import Comparison
from exactdice.baselines.scoring.certificate import content_of
from stable_baselines3 import PPO
from thinning import later
from typed_words import SMALL


def test_certificates_and_saved_models_are_scored(run, prints, mine):
    value = json.loads((mine / "score.json").read_text())["value"]
    PPO("MlpPolicy", gym.make("exactdice/Greed-v0", max_score=10, sides=3)).save("foreign.zip")
    for path in ("mine/certificate.npz", "mine/final_model.zip"):
        assert f"{value:.6f}" in prints("score", path, *SMALL)
    for options, kind in ([], "deterministic"), (["--stochastic"], "stochastic"):
        assert f"foreign.zip ({kind}, masked)" in run("score", "foreign.zip", *SMALL, *options)[1]


def test_describe_prints_a_table_or_lines(prints):
    assert prints("describe", "Greed", *SMALL).startswith("Greed: Greed, max_score 10")
    header, row = prints("describe", "Greed", *SMALL, "--csv").splitlines()
    assert header.startswith("name,task,states,decisions")
    assert row.startswith('Greed,"Greed, max_score 10')
    first, second, *_ = prints("describe", "--ladder", "Greed", "max_score", 20, 10).splitlines()
    for size, line in (10, first), (20, second):
        assert line == f"max_score {size}: Greed, max_score {size}, seat 0, against optimal"


TYPED = " ".join(SMALL)
MATES = "LowestScore --env opponents only3s,random,notebook"
FIGURES = [
    (f"solve {TYPED} --exact", "sides 3, seat 0, against optimal: optimal value 14352595/28697814"),
    (f"solve {TYPED}", "likeliest first position: 0 points to 0; best: roll 1 die"),
    ("solve ShutTheBox --env shut_wins false", "value 0.49804994214"),
    (f"solve {MATES}", "against only3s in seat 1, random in seat 2 and notebook in seat 3: o"),
    later(("solve FourTwoOne --env utility set seat 1 --exact", "116396797115/313456656384")),
    (f"ask Greed 4 other_score=5 {TYPED}", "4 points to 5: roll "),
    (f"score if_else {TYPED} opponent random seat 1", "d) in Greed, max_score 10, sides 3, seat 1"),
    (f"score optimal {TYPED}", "no decision costs anything"),
    ("score notebook LowestScore", "in LowestScore, seat 0, against notebook in seats 1, 2 and 3 "),
    ("score random fourtwoone --env casts 2", "random (stochastic, masked) in FourTwoOne, casts 2"),
    later(("score if_else", "if_else (deterministic, masked) in Greed, seat 0, against optimal")),
    (f"describe Greed {TYPED}", "| optimum | 0.5001"),
]


@pytest.mark.parametrize(("words", "said"), FIGURES)
def test_every_game_has_its_policies_and_keywords(prints, words, said):
    assert said in " ".join(prints(*words.split()).split())


def test_two_agents_are_compared(run, prints, monkeypatch):
    said = prints("compare", "if_else", "terminal", "greed")
    assert said.startswith("Greed, seat 0, against optimal\n")
    for words in (
        "regret 0.086016 0.055362",
        '"terminal" is better: "if_else" loses 31 wins in a thousand games more.',
        'in 80.6 % of the decisions of "if_else" and in 73.9 % of the decisions of "terminal".',
        "0 points to 0 roll 16 dice roll 26 dice roll 24 dice -0.018924",
        'head to head: "if_else" against "terminal"',
        '"if_else" in seat 0 50.60% 7.77% 41.63% 0.544855',
    ):
        assert words in " ".join(said.split())
    tables = [line for line in said.splitlines() if line.startswith(" ")]
    assert max(map(len, tables)) <= 80
    assert "Both are equal." in run("compare", "random", "random", *SMALL)[1]
    rules = ["--env", "players", "2", "dice", "2"]
    tied = run("compare", "random", "only3s", "LowestScore", *rules)[1]  # both win if they tie
    assert "0.00%" not in tied[tied.index("head to head") :]
    monkeypatch.setattr(Comparison, "gain", 1e-16)
    said = run("compare", "random", "if_else", *SMALL)[1]
    assert "Both are equal up to rounding." in said
    assert "is better" not in said


@pytest.mark.slow
def test_files_of_one_name_are_named_by_their_folders(run):
    archive = ROOT / "benchmarks/leaderboard/certificates.zip"
    files = [Path(f"Greed-{name}-outcome-0/certificate.npz") for name in ("ppo", "dqn")]
    for file in files:
        file.parent.mkdir()
        file.write_bytes(content_of(archive / f"{file.parent}.npz"))
    said = run("compare", *map(str, files))[1]
    assert '"Greed-ppo-outcome-0" is better: "Greed-dqn-outcome-0" loses 0.52 wins in a' in said
    assert "certificate.npz" not in said


@pytest.mark.usefixtures("mine")
def test_a_run_is_compared_in_its_own_game(prints):
    said = prints("compare", "mine", "if_else")
    assert said.startswith("Greed, max_score 10, sides 3, seat 0, against optimal\n")
    assert 'head to head: "mine" against "if_else"' in said


def test_agents_of_a_game_for_one_are_compared_without_games(run, monkeypatch):
    assert "head to head" not in run("compare", "random", "goal:1,1", "FourTwoOne")[1]
    monkeypatch.setattr("exactdice.core.positions.MOST_STATES", 1000)
    boxes = ["--env", "boxes", "ones,yahtzee"]
    said = run("compare", "random", "optimal", "Yahtzee", *boxes)[1]
    assert '"optimal" is better: "random" loses a payoff of 5.1 a game more.' in said
    assert "No differences: " in said


@pytest.mark.parametrize("width", [40, 80])
def test_the_table_of_mistakes_fits_the_terminal(run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    said = run("score", "if_else")[1]
    table = said[said.index("costliest decisions") :]
    assert all(len(line.rstrip()) <= width for line in table.splitlines())
    words = " ".join(table.split())
    wide = "0 points to 0 roll 16 dice roll 24 dice 0.015284 100.00%"
    narrow = "position: 0 points to 0 played: roll 16 dice best: roll 24 dice"
    assert (wide if width > 60 else narrow) in words


TABLES = later("score random Yahtzee --env boxes ones,chance"), f"compare if_else terminal {TYPED}"


@pytest.mark.parametrize("words", [*TABLES, "diagnose mine"])
@pytest.mark.usefixtures("mine")
def test_no_table_cuts_a_number(prints, monkeypatch, words):
    numbers = {}
    for width in (1000, 80, 40):
        monkeypatch.setenv("COLUMNS", str(width))
        numbers[width] = Counter(re.findall(r"[-+]?\d[\d,]*\.\d+%?", prints(*words.split())))
    assert numbers[1000]
    assert numbers[80] == numbers[40] == numbers[1000]


@pytest.mark.usefixtures("mine")
def test_a_run_is_scored_in_depth(prints, monkeypatch):
    monkeypatch.setattr(ceiling, "UPDATES", 20)
    said = prints("score", "mine", "--ceiling")
    for words in (
        "it loses ",
        "results and their probabilities: win (",
        "of its decisions are optimal; it plays",
        "exploitability in this seat: ",
        "costliest decisions",
        "the ceiling, the same network fitted to the optimal policy: regret 0.",
    ):
        assert words in said
    said = prints("score", "mine", "--model", "best", "--stochastic")
    assert "MaskablePPO (stochastic, masked) in Greed, max_score 10, sides 3, seat 0, aga" in said
