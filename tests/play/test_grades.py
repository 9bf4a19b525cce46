"""The grades of moves, and levels: names that people understand, and their exact strength."""

import itertools
import re

import numpy as np
import pytest
from exactdice.baselines import evaluate, make_task, occupancy, solve
from exactdice.baselines.advice import THRESHOLDS, Advice, Choice, spread_of
from exactdice.core import GAMES
from exactdice.play.coach import POINTS, SUCCEEDS, WINS, unit_of, verdict
from exactdice.play.levels import LEVELS, agent_of, players, policy_of, strength
from exactdice.play.record import GameRecord
from exactdice.play.session import Session
from small_games import SMALL


def advice(*losses):
    move = lambda n, lost: Advice(Choice(n, f"move {n}", ()), 0.5 - lost, lost, lost)  # noqa: E731
    return list(itertools.starmap(move, enumerate(losses)))


def test_a_grade_begins_at_its_threshold():
    moves = advice(0.0, 0.0099, 0.01, 0.0499, 0.05, 0.1499, 0.15, 0.5)
    grades = ["best", "good", *["inaccuracy"] * 2, *["mistake"] * 2, *["blunder"] * 2]
    assert [one.grade for one in moves] == grades


def test_a_verdict_says_whether_a_move_is_best_or_what_it_gives_away():
    assert verdict(advice(0.0), 0, WINS) == ""
    assert verdict(advice(0.0, 0.0), 1, WINS) == "All moves are worth the same: 50.0 %."
    assert verdict(advice(0.0, 0.1), 0, WINS) == "Best: 50.0 %."
    for lost, unit, said, instead in (
        (0.2, WINS, "Blunder: gives away 20.0 %", "50.0 % instead of 30.0 %"),
        (0.0004, SUCCEEDS, "Good: gives away less than 0.1 %", "50.0 % instead of 50.0 %"),
        (0.02, POINTS, "Inaccuracy: gives away 0.02 points", "0.50 points instead of 0.48 points"),
    ):
        assert verdict(advice(0.0, lost), 1, unit) == f"{said}. Best: move 0 ({instead})."
        assert verdict(advice(lost, 0.0), 0, unit) == f"{said}. Best: move 1 ({instead})."


def test_the_end_is_told_in_the_words_of_the_game():
    for name, size, payoff, ends in (
        ("Greed", {}, 1, "You win."),
        ("Greed", {}, 0.5, "A tie: you get 0.5 of a win."),
        ("FourTwoOne", {"utility": "goal:421"}, 0, "You do not succeed."),
        ("FourTwoOne", {}, 1, "You get 1 point."),
        ("LowestScore", {"objective": "score"}, -7, "You get -7 points."),
    ):
        assert unit_of(make_task(name, 0, **size).game).ending(payoff) == ends


def test_the_thresholds_are_said():
    said = "By what a move gives away: inaccuracy from {}, mistake from {}, blunder from {}."
    assert WINS.thresholds(1.0) == said.format("1.0 %", "5.0 %", "15.0 %")
    points = POINTS.thresholds(spread_of(make_task("FourTwoOne", 0)))
    assert points == said.format("0.07 points", "0.34 points", "1.03 points")


@pytest.mark.parametrize(
    ("name", "sizes", "wanted"),
    [
        ("FourTwoOne", {}, (0.02, 0.06, 0.24, 0.69)),
        pytest.param(
            "FourTwoOne", {"utility": "set"}, (0.02, 0.08, 0.31, 0.60), marks=pytest.mark.slow
        ),
        pytest.param("Greed", {}, (0.10, 0.30, 0.13, 0.48), marks=pytest.mark.slow),
        pytest.param("LowestScore", {}, (0.05, 0.15, 0.28, 0.52), marks=pytest.mark.slow),
        pytest.param("ShutTheBox", {}, (0.04, 0.07, 0.14, 0.76), marks=pytest.mark.slow),
    ],
)
def test_the_shares_of_the_grades_are_those_of_the_docstring(name, sizes, wanted):
    """How often each grade can be given for a move that is not best, under optimal play."""
    task = make_task(name, 0, **sizes)
    solution, met = solve(task), occupancy("optimal", task)
    states = np.flatnonzero(met > 0)
    mass = dict.fromkeys(("good", *THRESHOLDS), 0.0)
    for seen, weight in zip(task.game.observe(states, task.seat), met[states], strict=True):
        values = solution.action_values(seen)
        losses = values.max() - values[np.isfinite(values)]
        wrong = losses[losses > 1e-9]
        for lost in wrong:
            one = Advice(Choice(0, "", ()), 0.0, lost, lost / spread_of(task))
            mass[one.grade] += weight / len(wrong)
    assert np.array([*mass.values()]) / sum(mass.values()) == pytest.approx(wanted, abs=0.006)


def percent(words):
    return [float(number) for number in re.findall(r"(-?[\d.]+) (?:%|points)", words)]


@pytest.mark.parametrize("name", ["Greed", "LowestScore", "ShutTheBox"])
def test_each_level_is_the_same_share_of_the_way_from_random_to_perfect_play(name):
    size, said = SMALL[name][0], []
    for level in LEVELS:
        task = GameRecord(name, size, level.title).task
        assert set(task.labels.values()) == {level.name}
        said.append(percent(strength(task)))
    shares = [share for *_, share in said]
    assert shares == [25, 50, 75, 100]
    for value, best, random, share in said:
        assert value == pytest.approx(random + share / 100 * (best - random), abs=0.11)


def test_the_strength_of_a_player_is_the_exact_value_against_perfect_players():
    task = GameRecord("Greed", {"max_score": 20}, "if_else").task
    rival = GameRecord("Greed", {"max_score": 20, "seat": 1}, "perfect").task
    value = evaluate("if_else", rival).value
    said = strength(task)
    assert percent(said)[0] == pytest.approx(100 * float(value), abs=0.051)
    assert said.startswith('Against perfect players "Rules of thumb" wins ')
    assert strength(GameRecord("FourTwoOne").task) == ""


def test_every_player_of_every_game_has_a_name_and_a_line():
    for game in GAMES.values():
        found = players(game(), game.default_opponent)
        assert game.default_opponent in [one.name for one in found]
        assert len({one.title for one in found}) == len(found)
        assert all(one.about.endswith(".") for one in found)


def test_a_level_is_typed_in_any_case_unless_a_file_has_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert policy_of("Club,optimal, BEGINNER") == "strength:0.5,optimal,strength:0.25"
    (tmp_path / "club").touch()
    assert policy_of("club,Club") == "club,strength:0.5"


def test_an_agent_plays_by_its_law_and_the_same_game_again():
    task = make_task("Greed", max_score=20)
    agent = agent_of("club", task)
    assert agent.title == "Club"
    law = agent.law(Session(task, 3).now.state)
    assert law.sum() == pytest.approx(1)
    drawn = [agent.action(Session(task, seed)) for seed in range(400)]
    assert np.bincount(drawn, minlength=len(law)) / 400 == pytest.approx(law, abs=0.1)
    games = [Session(task, 3), Session(task, 3)]
    for session in games:
        while session.choices:
            session.move(agent.action(session))
    assert games[0].actions == games[1].actions
    certain, session = agent_of("if_else", task), Session(task, 1)
    assert certain.law(session.now.state)[certain.action(session)] == 1
