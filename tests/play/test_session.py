"""A person's game: undo, replay, advice, and an account that adds up."""

import numpy as np
import pytest
from exactdice.baselines import Task, make_task, solve
from exactdice.games import InputError
from exactdice.play import record
from exactdice.play.session import Session, replay
from small_games import SMALL, Rounds

GAMES = [pytest.param(name, sizes[0]) for name, sizes in sorted(SMALL.items())]


def random_game(task, seed):
    session, rng = Session(task, seed), np.random.default_rng(seed)
    while session.choices:
        session.move(int(rng.choice([choice.action for choice in session.choices])))
    return session


@pytest.mark.parametrize(("name", "sizes"), GAMES)
def test_the_account_adds_up_and_luck_has_no_mean(name, sizes):
    task = make_task(name, 0, **sizes)
    lucks = []
    for seed in range(300):
        session = random_game(task, seed)
        account = session.account
        assert account.payoff == session.payoff
        assert account.given_away >= 0
        total = account.expected - account.given_away + account.luck
        assert total == pytest.approx(account.payoff, abs=1e-12)
        lucks.append(account.luck)
    assert abs(np.mean(lucks)) < 5 * np.std(lucks) / 300**0.5 + 1e-9


@pytest.mark.parametrize(("name", "sizes"), GAMES)
def test_a_move_taken_back_and_made_again_has_the_same_dice(name, sizes):
    task = make_task(name, 0, **sizes)
    session = random_game(task, 3)
    whole = [session.scene.words, session.story, session.payoff, list(session.actions)]
    for _ in whole[-1]:
        session.undo()
    assert session.payoff is None
    for action in whole[-1]:
        session.move(action)
    assert [session.scene.words, session.story, session.payoff, session.actions] == whole
    again = replay(task, 3, whole[-1])
    assert [again.scene.words, again.story, again.payoff, again.actions] == whole


@pytest.mark.parametrize(("name", "sizes"), GAMES)
def test_the_best_advice_is_the_optimum(name, sizes):
    task = make_task(name, 0, **sizes)
    session = Session(task, 5)
    costs = []
    while session.choices:
        advice = session.advice()
        assert [one.choice for one in advice] == session.choices
        best = min(advice, key=lambda one: one.cost)
        assert best.cost == 0
        assert best.choice.action in solve(task).optimal_actions(session.observation)
        session.move(best.choice.action)
        assert session.advice(before=1) == advice
        costs.append(session.account.given_away)
    assert costs == [0] * len(costs)


def test_what_is_not_legal_is_refused_by_name():
    session = Session(make_task("LowestScore", 0, opponents="random"), 1)
    with pytest.raises(ValueError, match="undo must follow a move, got none"):
        session.undo()
    with pytest.raises(ValueError, match="action must be one of 0, 1, 2, 3, 4, got 5"):
        session.move(5)
    session.move(4)
    with pytest.raises(ValueError, match="action must be left, as the game is over, got 0"):
        session.move(0)
    with pytest.raises(ValueError, match="seed must be at least 0, got -1"):
        Session(session.task, -1)


@pytest.mark.parametrize("action", [True, 0.0, "0", None, np.float64(1)])
def test_moves_are_integers(action):
    session = Session(make_task("Greed", max_score=10), 0)
    with pytest.raises(InputError, match="action must be an integer, got"):
        session.move(action)
    assert session.actions == []


def test_game_records_are_found_under_their_former_name():
    assert record.Record is record.GameRecord


@pytest.mark.parametrize("seat", [0, 1])
def test_points_of_a_game_add_up(seat):
    task = Task(Rounds(2, 6), seat, "random")
    for seed in range(10):
        session = random_game(task, seed)
        account, actions, payoff = session.account, list(session.actions), session.payoff
        total = account.expected - account.given_away + account.luck
        assert total == pytest.approx(account.payoff, abs=1e-12)
        assert account.payoff == payoff >= 3
        session.undo()
        session.undo()
        session.move(actions[-2])
        assert session.account.payoff >= float(session._values(len(actions) - 1).max())
        session.move(actions[-1])
        assert session.payoff == payoff
