"""The regret reward, from a table where it is small, and without one."""

import numpy as np
import pytest
from exactdice.baselines import Task
from exactdice.core.positions import first_actions
from exactdice.envs.engine import engine
from exactdice.games import FourTwoOne, Greed, LowestScore, ShutTheBox, Yahtzee
from exactdice.games.yahtzee import values

TASKS = [
    Task(Greed(9, 3), 1, "random"),
    Task(LowestScore(2, 3, 3, players=3), 1, "random"),
    Task(ShutTheBox(4, 2, 3), 1, "random"),
    Task(FourTwoOne(2, 3, 3, "sum")),
    Task(Yahtzee(boxes="sixes,yahtzee,full_house")),
    Task(Yahtzee("free", 7, "twos,yahtzee,chance")),
    Task(Yahtzee(bonus=0, boxes="ones,sixes")),
]


@pytest.mark.parametrize("reward", ["regret", "shaped"])
@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_without_a_table_moves_are_rewarded_alike_illegal_ones_included(monkeypatch, task, reward):
    monkeypatch.setattr(values, "EACH", 1)
    monkeypatch.setattr(values, "TOGETHER", 4)  # turns are forgotten soon
    rewards = []
    for budget in (engine.ADVANTAGES, 0):
        monkeypatch.setattr(engine, "ADVANTAGES", budget)
        games = engine.Engine(task, 64, reward=reward)
        rng, lanes = np.random.default_rng(3), np.arange(64)
        games.lanes.start(lanes, rng)
        paid = []
        for step in range(6):
            actions = rng.integers(0, task.game.num_actions, 64)
            actions = np.where(
                lanes < 8 * step, actions, first_actions(task.game, games.lanes.states())
            )
            outcome = games.step(lanes, actions, rng)
            paid.append(outcome.rewards)
            games.lanes.start(lanes[outcome.over], rng)
        rewards.append(np.array(paid))
    assert rewards[0].any()
    np.testing.assert_allclose(rewards[0], rewards[1], rtol=1e-12, atol=1e-13)
