"""The examples: games of one's own, used as their pages say."""

import importlib
import importlib.util
import json
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from functools import cache

import gymnasium as gym
import numpy as np
import pytest
from checkout import ROOT
from exactdice.baselines import Task
from exactdice.games import Game, GameError
from thinning import later
from typed_words import COMMAND

import exactdice
from exactdice.testing import check_game

FOLDER = ROOT / "examples"
PLACE = f"{FOLDER / 'twenty_one.py'}:TwentyOne"
METRES = f"{FOLDER / 'four_hundred_metres.py'}:FourHundredMetres"
PIG = f"{FOLDER / 'pig.py'}:Pig"


@cache
def best(limit, sides, own=0, to_beat=None):
    """The chance of a player who rolls on as long as that is better, by a recursion."""
    faces = range(1, min(sides, limit - own) + 1)
    on = sum(best(limit, sides, own + face, to_beat) for face in faces)
    if to_beat is None:
        held = 1 - best(limit, sides, to_beat=own)
    else:
        held = Fraction(1 + (own > to_beat) - (own < to_beat), 2)
    return max(held, Fraction(on) / sides)


@pytest.mark.parametrize(
    "chosen", [{"FourTwoOne"}, *map(later, ({"LowestScore", "ShutTheBox"}, {"Greed", "Yahtzee"}))]
)
def test_the_cards_lose_what_their_page_says(monkeypatch, chosen):
    monkeypatch.syspath_prepend(FOLDER)
    cards = importlib.import_module("cards")
    page = (ROOT / "docs/cheat-sheets.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[.*\| (.*) \| (.*) \|$", page, re.M)
    known = list(zip(rows, cards.CARDS.items(), strict=True))
    games = {game for _, (_, (game, _)) in known}
    assert games & chosen
    for row, (card, (game, tasks)) in known:
        if game not in chosen:
            continue
        scores = [exactdice.score(card, gym.make(f"exactdice/{game}-v0", **task)) for task in tasks]
        if card is cards.yahtzee:  # with five boxes
            assert scores[0].regret == pytest.approx(3.865677, abs=1e-6)
        else:
            first, last = scores[0], scores[-1]
            for text, figures in zip(row, ("regret", "normalized"), strict=True):
                factor = {"regret": 1000, "normalized": 100}[figures]
                shown = [f"{factor * getattr(each, figures):.1f}" for each in (first, last)]
                assert list(dict.fromkeys(shown)) == re.findall(r"\d+\.\d", text)


@pytest.mark.parametrize(("limit", "sides"), [(1, 1), (3, 2), (21, 6)])
def test_the_value_of_twenty_one_is_that_of_a_recursion_by_hand(own_games, limit, sides):
    task = Task(own_games(PLACE)(limit, sides))
    value = best(limit, sides)
    assert exactdice.solve(task, exact=True).value == value
    assert exactdice.solve(task).value == pytest.approx(float(value), abs=1e-14)


def test_a_policy_of_the_file_is_known_by_name(own_games):
    own_games(PLACE)
    env = gym.make("exactdice/TwentyOne-v0", opponent="hold:17")
    score = exactdice.score("hold:17", env)
    assert 0 < score.value < score.optimum
    with pytest.raises(ValueError, match="points must be a whole number, got 'many'"):
        exactdice.score("hold:many", env)


@pytest.mark.slow
@pytest.mark.usefixtures("own_games")
def test_every_command_takes_it_and_a_run_folder_finds_it_again(prints, tmp_path, monkeypatch):
    game = [PLACE, "--env", "limit", "5"]
    assert "optimal value 0.4" in prints("solve", *game)
    assert "hold:4" in prints("score", "hold:4", *game)
    here = ["twenty_one.py:TwentyOne", "--env", "limit", "5"]
    folder = tmp_path / "run"
    options = ["--algorithm", "qlearning", "--steps", "500", "--run-folder", folder]
    with monkeypatch.context() as patch:
        patch.chdir(FOLDER)
        assert "normalised score" in prints("train", *here, *options)
    assert json.loads((folder / "config.json").read_text())["game"] == PLACE
    value = json.loads((folder / "score.json").read_text())["value"]
    command = [*COMMAND, "score", "run"]  # in a process that does not know the game yet
    scored = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert f"{value:.6f}" in scored.stdout
    holds = prints("verify", folder / "certificate.npz", PLACE)
    assert ": QLearning in TwentyOne, limit 5, seat 0, against optimal\n" in holds


@pytest.mark.slow  # a new process finds the game of a file in the test above
@pytest.mark.usefixtures("own_games")
def test_the_workers_of_a_benchmark_load_it(prints, tmp_path):
    options = ["--algorithms", "qlearning", "--seeds", "1", "--steps", "2000", "--jobs", "2"]
    prints("benchmark", "--games", PLACE, "Greed", *options, "--folder", tmp_path)
    board = (tmp_path / "leaderboard.md").read_text()
    assert "| TwentyOne | Q-learning | 1 |" in " ".join(board.split())
    assert (tmp_path / "TwentyOne-qlearning-outcome-0/score.json").is_file()


@pytest.mark.parametrize(
    ("place", "sizes"),
    [later((PLACE, (3, 2))), (PLACE, (1, 1)), later((PIG, (3, 2))), (METRES, (1, 1))],
)
def test_an_example_obeys_all_rules(own_games, place, sizes):
    check_game(own_games(place)(*sizes))


def test_a_game_with_cycles_has_to_name_its_blocks(own_games):
    pig = own_games(PIG)
    with pytest.raises(GameError, match="NoBlocks must have the method block, as it has cycles"):
        check_game(type("NoBlocks", (pig,), {"block": Game.block})(target=4, sides=3))


@pytest.mark.slow  # a small one is solved by the command line of docs/add-a-game.md
def test_pig_is_solved_as_it_was_published(own_games):
    pig = own_games(PIG)()
    solution = exactdice.solve(Task(pig))
    assert solution.value == pytest.approx(0.5305927, abs=5e-8)  # Neller and Presser 2004
    assert 0 < solution.error_bound < 2e-11
    value = exactdice.evaluate("hold:20", Task(pig, 0, "hold:20")).value
    assert value == pytest.approx(0.5347, abs=5e-5)  # nifty.stanford.edu/2010/neller-pig
    page = (ROOT / "docs/add-a-game.md").read_text(encoding="utf-8")
    told = r"the player who begins wins (\S+), right within .*\n.* of (\S+)\.$"
    figures = f"{solution.value}", f"{solution.error_bound:.1e}"
    assert re.search(told, page, re.M).groups() == figures

    def actions(own, other, sums):
        states = pig.encode(np.array([[own, other, total] for total in sums]))
        return [["hold", "roll"][action] for action in solution.policy.actions[states]]

    # Not "roll until": at 41 : 49 hold from 22 on, but at 27 roll once more (possiblywrong.
    # wordpress.com, Pig puzzle solution, 2014).
    assert actions(41, 49, range(19, 30)) == [*["roll"] * 3, *["hold"] * 5, "roll", "hold", "hold"]
    assert actions(0, 0, range(18, 24)) == ["roll"] * 3 + ["hold"] * 3


@pytest.mark.slow  # 15,000 moves
def test_the_loop_in_one_file_learns_and_logs_its_exact_regret(tmp_path):
    options = ["--env-id", "exactdice/FourTwoOne-OneHot-v0", "--total-timesteps", "15000"]
    options += ["--learning-starts", "1000", "--certificate", tmp_path / "FourTwoOne-0.npz"]
    command = [sys.executable, FOLDER / "cleanrl_style_dqn.py", *options]
    said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    scores = [float(score) for score in re.findall(r"normalized (\S+),", said.stdout)]
    assert len(scores) == 11
    assert scores[-1] > scores[0] + 0.2
    score = exactdice.verify(tmp_path / "FourTwoOne-0.npz")
    assert score.normalized == pytest.approx(scores[-1], abs=1e-4)


@pytest.fixture(params=["ppo", "dqn"])
def learner(request, monkeypatch, one_thread):  # noqa: ARG001
    place = importlib.util.spec_from_file_location(request.param, FOLDER / f"{request.param}.py")
    module = importlib.util.module_from_spec(place)
    monkeypatch.setitem(sys.modules, request.param, module)  # dataclasses look there
    place.loader.exec_module(module)
    return module


LONGER = [pytest.param(game, marks=pytest.mark.slow) for game in ("Greed", "ShutTheBox")]


@pytest.mark.parametrize("game", ["FourTwoOne", *LONGER])
def test_a_learner_holds_all_audits(learner, game, capsys):
    steps = 4096 if game == "FourTwoOne" else 32_768  # with fewer DQN loses to random play in Greed
    args = learner.Args(f"exactdice/{game}-v0", total_timesteps=steps, num_envs=64, audits=2)
    if learner.__name__ == "dqn":
        args = replace(args, learning_starts=1024, target_interval=512, num_steps=8)
    figures = learner.main(args)
    said = capsys.readouterr().out
    assert 0 < figures["normalized"] < 1
    words = "normalized", "audit: all holds", "WRONG", "unchecked"
    audits = {"ppo": 4, "dqn": 3}[learner.__name__]
    assert [said.count(word) for word in words] == [2, audits, 0, 0]


@pytest.mark.parametrize("learner", ["ppo"], indirect=True)
def test_the_log_of_a_learner_is_drawn_over_moves_and_over_seconds(learner, tmp_path):
    pytest.importorskip("matplotlib")
    log = tmp_path / "own.csv"
    small = {"total_timesteps": 1024, "num_envs": 64, "audits": 2, "log": str(log)}
    learner.main(learner.Args("exactdice/FourTwoOne-v0", **small))
    for over in ("moves", "seconds"):
        assert exactdice.plot("curves", log, over=over)


@pytest.mark.parametrize("learner", ["dqn"], indirect=True)
def test_a_buffer_keeps_the_last_transitions(learner):
    torch = pytest.importorskip("torch")
    buffer = learner.Buffer(5)
    for first in range(0, 12, 4):
        numbers = torch.arange(first, first + 4)
        seen = (numbers % 2).float()[:, None]
        buffer.add({"actions": numbers, "rewards": numbers / 2, "observations": seen})
    newest = {name: array.tolist() for name, array in buffer.newest(5).items()}
    rewards, seen = [3.5, 4, 4.5, 5, 5.5], [[1.0], [0.0], [1.0], [0.0], [1.0]]
    assert newest == {"actions": [7, 8, 9, 10, 11], "rewards": rewards, "observations": seen}
    assert set(buffer.sample(100)["actions"].tolist()) == {7, 8, 9, 10, 11}


@pytest.mark.slow  # for two or three minutes each
@pytest.mark.timeout(900)
def test_a_learner_reaches_the_tuned_agents_within_a_point(learner):
    tuned = {"ppo": 0.9975, "dqn": 0.9964}[learner.__name__]  # docs/leaderboard.md
    assert learner.main(learner.Args())["normalized"] > tuned - 0.01


def points_of_metres(sets, repeats):
    """Sum over the 36 rolls of two dice, with the total so far in hand: the best expected total."""
    worth = [face if face < 6 else -6 for face in range(1, 7)]
    rolls = [first + second for first in worth for second in worth]

    @cache
    def best(sets, repeats, total):
        if not sets:
            return Fraction(total)
        again = best(sets, repeats - 1, total) if repeats else None
        each = [best(sets - 1, repeats, total + roll) for roll in rolls]
        return Fraction(sum(max(kept, again) if repeats else kept for kept in each), 36)

    return best(sets, repeats, 0)


@pytest.mark.parametrize(("sets", "repeats"), [(1, 0), (2, 2), (4, 5)])
def test_metres_are_worth_what_a_recursion_with_the_total_says(own_games, sets, repeats):
    solution = exactdice.solve(Task(own_games(METRES)(sets, repeats)), exact=True)
    assert solution.value == points_of_metres(sets, repeats)


def test_the_figures_in_the_file_of_metres_are_right(own_games):
    text, task = (FOLDER / "four_hundred_metres.py").read_text(), Task(own_games(METRES)())
    best = exactdice.score("optimal", task)
    rules = [exactdice.score(f"freeze:{least}", task) for least in range(-12, 11)]
    rule = max(rules, key=lambda found: found.value)
    assert rule.policy == "freeze:5"
    figures = re.findall(r"\d+\.\d{4}", text)
    found = (best.value, best.deviation, rule.value, rule.deviation)
    assert figures == [f"{number:.4f}" for number in found]
