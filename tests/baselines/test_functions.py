"""Functions as policies: checked at the door, and never a table of a whole game that is large."""

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import Task
from exactdice.baselines.policies import called, tabular
from exactdice.core.positions import states_of
from exactdice.games import FourTwoOne, Greed, LowestScore, ShutTheBox

import exactdice

TASKS = [
    Task(Greed(12, 3), 1, "if_else"),
    Task(LowestScore(2, 3, 3, 3), 1, "random"),
    Task(ShutTheBox(4, 2, 3), 1),
    Task(FourTwoOne(3, 3, 2, "set"), 0, "random"),
]


def softened(observations, masks):
    """Prefer actions by what is seen, but never for certain."""
    liking = observations.sum(axis=1, keepdims=True) + np.arange(masks.shape[1])
    weights = masks * (1 + liking % 5)
    return weights / weights.sum(axis=1, keepdims=True)


class Asked:
    """Remembers how many states it was asked about at once."""

    def __init__(self):
        self.sizes = []

    def __call__(self, observations, masks):
        self.sizes.append(len(masks))
        return softened(observations, masks)


def everything(policy, task):
    score = exactdice.score(policy, task)
    exact = exactdice.evaluate(policy, Task(task.game, task.seat, task.opponents), exact=True)
    return score.as_dict(), score.blunders(None), exact.value


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_a_law_is_scored_alike_whether_it_is_remembered_or_asked_again(task, monkeypatch):
    asked, others = Asked(), dict.fromkeys(task.others, softened)
    remembered = everything(asked, task)
    against = exactdice.solve(Task(task.game, task.seat, others)).value
    whole = asked.sizes.count(len(states_of(task.game, task.seat)))
    assert whole == 2 * (1 + called.WHOLE)  # by ``score`` and ``evaluate``, and to compare
    monkeypatch.setattr(called, "LAWS", 0)
    monkeypatch.setattr(tabular, "BATCH", 7 * task.game.num_actions)
    assert everything(softened, task)[1:] == remembered[1:]
    found = everything(softened, task)[0]
    wider = {"policy": "", "error_bound": found["error_bound"]}  # it counts all actions
    assert {**found, **wider} == {**remembered[0], **wider}
    assert remembered[0]["error_bound"] <= found["error_bound"]
    others = Task(task.game, task.seat, others)  # are asked again, too
    assert exactdice.solve(others).value == against
    assert isinstance(exactdice.as_policy(softened, task), called.CalledPolicy)


def test_a_wrong_law_is_refused_at_the_door_wherever_it_is_wrong(monkeypatch):
    game = Greed(100)

    def wrong(observations, masks):
        law = softened(observations, masks)
        law[(observations == [7, 90, 1]).all(axis=1)] *= 0.5
        return law

    for ask in (exactdice.as_policy, exactdice.score, exactdice.evaluate, exactdice.occupancy):
        with pytest.raises(ValueError, match=r"sum to 1, got 0\.5 in state"):
            ask(wrong, Task(game))
    with pytest.raises(ValueError, match=r"sum to 1, got 0\.5 in state"):
        gym.make("exactdice/Greed-v0", opponent=wrong)
    monkeypatch.setattr(called, "LAWS", 0)  # laws are not kept: it is found where it is needed
    for ask in (exactdice.score, exactdice.evaluate):
        with pytest.raises(ValueError, match=r"sum to 1, got 0\.5 in state"):
            ask(wrong, Task(game))


def test_a_large_game_is_scored_without_its_table(monkeypatch):
    """Of Shut the Box with twelve tiles it would take 2 GB; here the budget is as much smaller."""
    monkeypatch.setattr(called, "LAWS", 2**16)
    monkeypatch.setattr(tabular, "BATCH", 2**14)
    task = Task(ShutTheBox(6, 2, 4), 1, "random")
    asked = Asked()
    score = exactdice.score(asked, task)
    assert score.blunders()
    assert 0 < score.flawless < 1
    own = len(states_of(task.game, 1))
    assert sum(asked.sizes) <= 8 * own  # the door, and a sweep for each of what was asked
    assert max(asked.sizes) < own / 2  # a stage
