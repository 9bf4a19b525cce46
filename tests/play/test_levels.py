"""Levels: names that people understand, and their exact strength; agents that are watched."""

import re

import numpy as np
import pytest
from exactdice.baselines import evaluate, make_task
from exactdice.core import GAMES
from exactdice.play.levels import LEVELS, agent_of, players, policy_of, strength
from exactdice.play.record import GameRecord
from exactdice.play.session import Session
from small_games import SMALL

TASK = make_task("Greed", max_score=20)


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
        found = players(game, game.default_opponent)
        assert game.default_opponent in [one.name for one in found]
        assert len({one.title for one in found}) == len(found)
        assert all(one.about.endswith(".") for one in found)


def test_a_level_is_typed_in_any_case_unless_a_file_has_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert policy_of("Club,optimal, BEGINNER") == "strength:0.5,optimal,strength:0.25"
    (tmp_path / "club").touch()
    assert policy_of("club,Club") == "club,strength:0.5"


def play(agent, seed=3):
    session = Session(TASK, seed)
    while session.choices:
        session.move(agent.action(session))
    return session.actions


def test_an_agent_plays_by_its_law_and_the_same_game_again():
    agent = agent_of("club", TASK)
    assert agent.title == "Club"
    law = agent.law(Session(TASK, 3).now.state)
    assert law.sum() == pytest.approx(1)
    drawn = [agent.action(Session(TASK, seed)) for seed in range(400)]
    assert np.bincount(drawn, minlength=len(law)) / 400 == pytest.approx(law, abs=0.1)
    assert play(agent) == play(agent)
    certain, session = agent_of("if_else", TASK), Session(TASK, 1)
    assert certain.law(session.now.state)[certain.action(session)] == 1
