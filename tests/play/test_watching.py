"""Agents that are watched: they play by their law, the same game from the same seed."""

import numpy as np
import pytest
from exactdice.baselines import make_task
from exactdice.games import InputError
from exactdice.play.levels import agent_of
from exactdice.play.session import Session

TASK = make_task("Greed", max_score=20)


def play(agent, seed=3):
    session = Session(TASK, seed)
    while session.choices:
        session.move(agent.action(session))
    return session.actions


def test_an_agent_plays_by_its_law_and_the_same_game_again():
    agent = agent_of("club", TASK)
    assert agent.title == "Club"
    session = Session(TASK, 3)
    law = agent.law(session.now.state)
    assert law.sum() == pytest.approx(1)
    drawn = [agent.action(Session(TASK, seed)) for seed in range(400)]
    state = Session(TASK, 0).now.state
    assert np.bincount(drawn, minlength=len(law)) / 400 == pytest.approx(agent.law(state), abs=0.1)
    assert play(agent) == play(agent)


def test_an_agent_without_chance_makes_the_move_of_its_law():
    agent = agent_of("if_else", TASK)
    session = Session(TASK, 1)
    assert agent.law(session.now.state)[agent.action(session)] == 1


def test_what_is_no_agent_is_refused():
    with pytest.raises(InputError, match="got 'nobody'"):
        agent_of("nobody", TASK)
