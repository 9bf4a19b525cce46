"""The examples: games of one's own, used as their pages say."""

import json
import subprocess
import sys
from fractions import Fraction
from functools import cache, partial
from pathlib import Path

import gymnasium as gym
import pytest

import exactdice

FOLDER = Path(__file__).parent.parent / "examples"
PLACE = f"{FOLDER / 'twenty_one.py'}:TwentyOne"
COMMAND = str(Path(sys.executable).with_name("exactdice"))


@pytest.fixture
def twenty_one(own_games):
    """Make environments of it."""
    own_games(PLACE)
    return partial(gym.make, "exactdice/TwentyOne-v0")


def second_wins(limit, sides, own, to_beat):
    """The best second player's chance: it rolls on as long as that is better."""

    @cache
    def best(own):
        held = Fraction(1 + (own > to_beat) - (own < to_beat), 2)
        on = sum(best(own + face) for face in range(1, sides + 1) if own + face <= limit)
        return max(held, Fraction(on) / sides)

    return best(own)


def first_wins(limit, sides):
    @cache
    def best(own):
        held = 1 - second_wins(limit, sides, 0, own)
        on = sum(best(own + face) for face in range(1, sides + 1) if own + face <= limit)
        return max(held, Fraction(on) / sides)

    return best(0)


@pytest.mark.parametrize(("limit", "sides"), [(1, 1), (3, 2), (9, 6), (21, 6), (12, 20)])
def test_the_value_of_twenty_one_is_that_of_a_recursion_by_hand(twenty_one, limit, sides):
    env = twenty_one(limit=limit, sides=sides)
    value = first_wins(limit, sides)
    assert exactdice.solve(env, exact=True).value == value
    assert exactdice.solve(env).value == pytest.approx(float(value), abs=1e-14)


def test_the_second_player_rolls_until_it_is_ahead(twenty_one):
    solution = exactdice.solve(twenty_one(seat=1))
    assert solution.optimal_actions([10, 12]).tolist() == [1]
    assert solution.optimal_actions([16, 12]).tolist() == [0]
    assert solution.optimal_actions([16, 16]).tolist() == [1]  # 5 of 6 faces win, a tie pays 1/2
    assert solution.optimal_actions([19, 19]).tolist() == [0]  # 2 of 6


def test_a_policy_of_the_file_is_known_by_name(twenty_one):
    env = twenty_one(opponent="hold:17")
    score = exactdice.score("hold:17", env)
    assert 0 < score.value < score.optimum
    with pytest.raises(ValueError, match="points must be a whole number, got 'many'"):
        exactdice.score("hold:many", env)


def run(*words, cwd):
    done = subprocess.run(
        [COMMAND, *map(str, words)], capture_output=True, text=True, cwd=cwd, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_command_takes_it_and_a_run_folder_finds_it_again(tmp_path):
    """Trained in one working directory with a relative path, scored from another one."""
    game = ["--game", PLACE, "--env", "limit", "5"]
    assert "optimal value 0.4" in run("solve", *game, cwd=tmp_path)
    assert "hold:4" in run("score", "hold:4", *game, cwd=tmp_path)
    here = ["--game", "twenty_one.py:TwentyOne", "--env", "limit", "5"]
    folder = tmp_path / "run"
    options = ["--algorithm", "qlearning", "--steps", "2000", "--run-folder", folder]
    trained = run("train", *here, *options, cwd=FOLDER)
    assert "normalised score" in trained
    assert json.loads((folder / "config.json").read_text())["game"] == PLACE
    value = json.loads((folder / "score.json").read_text())["value"]
    assert f"{value:.6f}" in run("score", "run", cwd=tmp_path)
    holds = run("verify", folder / "certificate.npz", "--game", PLACE, cwd=tmp_path)
    assert "holds. 'QLearning' in Task(TwentyOne(limit=5, sides=6), seat=0" in holds


def test_the_workers_of_a_benchmark_load_it(tmp_path):
    options = ["--algorithms", "qlearning", "--seeds", "2", "--steps", "2000", "--jobs", "2"]
    run("benchmark", "--games", PLACE, "Greed", *options, "--folder", tmp_path, cwd=tmp_path)
    board = (tmp_path / "leaderboard.md").read_text()
    assert "| TwentyOne | Q-learning | 2 |" in board
    assert (tmp_path / "TwentyOne-qlearning-outcome-1/score.json").is_file()
