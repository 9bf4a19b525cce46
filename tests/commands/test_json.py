"""``--json``: the names are those of ``docs/json.md``, and numbers have all digits."""

import json
import re
from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest
from checkout import ROOT
from exactdice.envs import find_game
from recording import BASIC, play
from typed_words import SMALL

import exactdice

PAGE = (ROOT / "docs/json.md").read_text(encoding="utf-8")
#: Names whose values have names of the game or of the check, not of the page.
OPEN = {"observation", "opponents", "outcomes", "regrets", "counts", "held", "unchecked"}
#: Names that the page has and a default game has not.
RARE = {"regrets", "counts", "ceiling"}


def told(command):
    """Give the names that the page has of a command: before the dash of a row, and within it."""
    (part,) = re.findall(rf"^## {command}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    return set(re.findall(r"`(\w+)`", part)) - {"null"}


def names(found):
    """Give the names in a value, but those of ``OPEN``."""
    if isinstance(found, list):
        return set().union(*map(names, found))
    if not isinstance(found, dict):
        return set()
    inner = (names(value) for name, value in found.items() if name not in OPEN)
    return set(found).union(*inner)


@pytest.fixture
def said(run):
    """Call a command for JSON, without constants that JSON has not: (exit code, value, errors)."""

    def call(*words):
        code, out, errors = run(*words, "--json")
        return code, json.loads(out, parse_constant=pytest.fail), errors

    return call


def test_the_page_has_the_names_of_a_score_and_of_a_comparison(said):
    env = gym.make("exactdice/Greed-v0", max_score=10, sides=3)
    code, found, errors = said("score", "if_else", *SMALL)
    score = exactdice.score("if_else", env)
    assert (code, errors) == (0, "")
    assert names(found) == told("score") - RARE
    assert (found["value"], found["regret"]) == (score.value, score.regret)
    assert found["outcomes"]["1.0"] == score.outcomes[1.0]
    for given, blunder in zip(found["blunders"], score.blunders(), strict=True):
        assert (given["cost"], given["move"]) == (blunder.cost, blunder.move)
        assert tuple(given["observation"].values()) == blunder.observation
    _, both, _ = said("compare", "if_else", "terminal", *SMALL)
    own = {name: value for name, value in both.items() if name not in ("first", "second")}
    assert names(own) | {"first", "second", "summary", "blunders"} == told("compare")
    assert both["first"] == {name: found[name] for name in both["first"]}
    assert both["gain"] == both["second"]["value"] - both["first"]["value"]


def test_the_page_has_the_names_of_a_solution_and_of_an_answer(said):
    _, exact, _ = said("solve", *SMALL, "--exact")
    _, found, _ = said("solve", *SMALL)
    assert names(exact) == names(found) == told("solve")
    assert float(Fraction(exact["exact"])) == exact["value"]
    assert abs(found["value"] - exact["value"]) <= found["error_bound"]
    assert (found["exact"], exact["error_bound"]) == (None, 0)
    _, answer, _ = said("ask", "Greed", *SMALL, "--policy", "random")
    assert names(answer) == told("ask")
    best = [each for each in answer["moves"] if each["grade"] == "best"]
    moves = [{"action": each["action"], "words": each["words"]} for each in best]
    assert moves == found["first"]["moves"]
    assert best[0]["value"] == found["value"]


def test_the_page_has_the_names_of_checked_certificates(said):
    exactdice.score("random", gym.make("exactdice/Greed-v0", max_score=5)).save("mine.npz")
    code, found, errors = said("verify", "mine.npz", "none.npz")
    assert code == 2
    assert errors == f"error: {found[1]['error']}\n"
    assert [each["holds"] for each in found] == [True, False]
    assert names(found) == told("verify")


def test_the_page_has_the_names_of_an_audit(said):
    arrays = play("Greed", max_score=5, sides=3)[1]
    wrong = {name: arrays[name] for name in BASIC} | {"rewards": arrays["rewards"] + 1}
    np.savez("wrong.npz", **wrong)
    words = ("audit", "wrong.npz", "Greed", "--env", "max_score", "5", "sides", "3")
    code, found, errors = said(*words)
    assert (code, errors, found["ok"]) == (1, "", False)
    assert names(found) == told("audit")


def test_the_page_has_the_names_of_a_description(said):
    _, found, _ = said("describe", "Greed", "FourTwoOne")
    assert [each["name"] for each in found] == ["Greed", "FourTwoOne"]
    assert names(found) == told("describe")
    assert found[0]["optimum"] == exactdice.solve("exactdice/Greed-v0").value


def test_what_a_game_has_not_is_null(said, monkeypatch):
    _, found, _ = said("compare", "random", "goal:1,1", "FourTwoOne")
    assert found["meetings"] == []
    boxes = ["Yahtzee", "--env", "boxes", "ones,yahtzee"]
    _, found, _ = said("score", "random", *boxes)
    assert found["outcomes"] is None
    monkeypatch.setattr("exactdice.core.positions.MOST_STATES", 1000)
    _, found, _ = said("compare", "random", "optimal", *boxes)
    assert [found[name] for name in ("shares", "gain_alike", "differences")] == [None] * 3
    _, found, _ = said("score", "random", *boxes)
    assert [found[name] for name in ("flawless", "blunders")] == [None] * 2
    _, found, _ = said("score", "optimal", *boxes)
    assert {"regrets", "counts"} <= set(found) & told("score")


def test_numbers_of_moves_may_be_written_with_an_exponent(prints):
    train = ["train", *SMALL, "--num-envs", 8, "--eval-interval", "1e3", "--run-folder", "mine"]
    assert prints(*train, "--steps", "1e3")


#: A game whose payoffs are given in its file.
PAYING = '''
import exactdice

class Paying(exactdice.SimpleGame):
    """Stay and be paid, or go."""
    def start(self):
        return [(1, 0)]
    def actions(self, state):
        return ["stay", "go"]
    def outcomes(self, state, action):
        if action == "go":
            return [(1, -{size}, None)]
        return [(0.5, {size}, None), (0.5, 0, state + 1 if state < 3 else None)]
'''


@pytest.mark.usefixtures("own_games")
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("size", ["1e160", "1e-190", "1.7e308"])
def test_numbers_that_json_has_not_are_null_and_sizes_are_refused_in_a_line(size, run, tmp_path):
    (tmp_path / "paying.py").write_text(PAYING.format(size=size))
    game, held = f"{tmp_path / 'paying.py'}:Paying", str(tmp_path / "held.npz")
    fits = size in ("1e160", "1e-190")
    commands = [["solve", game], ["ask", game, "--policy", "random"], ["describe", game]]
    commands += [["score", "random", game], ["compare", "random", "optimal", game]]
    if fits:
        exactdice.score("random", exactdice.Task(find_game(game)())).save(held)
        commands.append(["verify", held, game])
    for words in commands:
        code, out, errors = run(*words, "--json")
        if not fits:
            assert (code, out, errors.count("\n")) == (2, "", 1)
            assert "1e-200 to 1e200" in errors or "-1e+300 to 1e+300" in errors
            continue
        assert code == 0
        found = json.loads(out, parse_constant=pytest.fail)
        if words[0] == "score":
            assert found["deviation"] is None or size == "1e-190"
            assert isinstance(found["error_bound"], float)
