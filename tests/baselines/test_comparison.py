"""Two agents side by side, and several in a payoff matrix."""

from fractions import Fraction

import numpy as np
import pytest
from checkout import ROOT
from exactdice.baselines import Task, evaluate, make_task
from exactdice.baselines.solving.solver import solve
from exactdice.core import SizeError
from exactdice.games import FourTwoOne, Greed, LowestScore, ShutTheBox

import exactdice

GREED = make_task("Greed", max_score=12, sides=4)


PAIRS = [
    ("if_else", "terminal", GREED),
    ("random", "optimal", Task(ShutTheBox(tiles=4))),
    ("only3s", "notebook", Task(LowestScore(dice=3), 2, "notebook")),
    ("transfer", "set", make_task("FourTwoOneMatch", tokens=2, faces=3)),
]


@pytest.mark.parametrize(("first", "second", "task"), PAIRS)
def test_differences_sum_to_the_gain(first, second, task):
    found = exactdice.compare(first, second, task)
    assert found.first.value == exactdice.score(first, task).value
    assert found.gain == pytest.approx(exactdice.score(second, task).value - found.first.value)
    all_of_them = found.differences(None)
    gains = [each.gain for each in all_of_them]
    assert sum(gains) + found.gain_alike == pytest.approx(found.gain, abs=1e-12)
    assert list(map(abs, gains)) == sorted(map(abs, gains), reverse=True)
    assert found.differences(3) == all_of_them[:3]
    assert all(0 <= share <= 1 for share in found.shares)


def test_a_difference_says_what_both_do_and_what_is_best():
    worst = exactdice.compare("if_else", "terminal", make_task("Greed")).differences(1)[0]
    assert worst.position == "0 points to 0"
    assert worst.moves == ("rolls 16 dice", "rolls 26 dice")
    assert worst.best_move == "rolls 24 dice"
    blunder = exactdice.score("if_else", make_task("Greed")).blunders(1)[0]
    assert worst.costs[0] == pytest.approx(blunder.cost)
    blunder = exactdice.score("notebook", Task(LowestScore(), 0, "notebook")).blunders(1)[0]
    assert f"\n{blunder.words}\n" in (ROOT / "docs/training.md").read_text()


@pytest.mark.parametrize("count", [-1, np.int64(-2), 1.5, "3", True])
def test_a_number_of_entries_that_cannot_be_is_refused(count):
    found = exactdice.compare("random", "if_else", GREED)
    for listing in (found.first.blunders, found.differences):
        with pytest.raises(ValueError, match="count must be (at least 0|an integer), got"):
            listing(count)
        assert listing(0) == []


@pytest.mark.parametrize("game", [Greed(12, 4), ShutTheBox(tiles=4)])
def test_games_head_to_head_are_those_of_the_payoff_matrix(game):
    found = exactdice.compare("random", "optimal", Task(game))
    matrix = exactdice.payoff_matrix(["random", "optimal"], Task(game))
    mean = np.mean([meeting.payoff for meeting in found.meetings])
    assert mean == pytest.approx(matrix.payoffs[0, 1])
    for meeting in found.meetings:
        assert sum(meeting.outcomes.values()) == pytest.approx(1)
        paid = sum(payoff * chance for payoff, chance in meeting.outcomes.items())
        assert paid == pytest.approx(meeting.payoff)


def test_only_two_meet_head_to_head():
    assert exactdice.compare("random", "only3s", Task(LowestScore(dice=2))).meetings == ()
    task = Task(LowestScore(dice=2, players=2))
    two = exactdice.compare("random", "only3s", task).meetings
    matrix = exactdice.payoff_matrix(["random", "only3s"], task)
    assert all(meeting.outcomes is None for meeting in two)  # both win if they tie
    assert np.mean([meeting.payoff for meeting in two]) == pytest.approx(matrix.payoffs[0, 1])


def test_an_agent_does_not_differ_from_itself_and_other_scores_are_refused():
    found = exactdice.compare("if_else", exactdice.score("if_else", GREED), GREED)
    assert (found.gain, found.gain_alike, found.shares) == (0, 0, (0, 0))
    assert found.differences() == []
    other = exactdice.score("random", make_task("Greed", max_score=13, sides=4))
    with pytest.raises(ValueError, match="second must be of Greed, max_score 12, sides 4, seat 0"):
        exactdice.compare("if_else", other, GREED)
    loose = exactdice.score(lambda seen, _: seen[:, 0] * 0, GREED, masked=False)
    with pytest.raises(ValueError, match="first must be held to the legal actions, got a func"):
        exactdice.compare(loose, "random", GREED)


def test_differences_need_arrays_of_states(monkeypatch):
    exactdice.baselines.cache.clear_cache()
    monkeypatch.setattr("exactdice.core.positions.MOST_STATES", 1000)
    found = exactdice.compare("random", "optimal", make_task("Yahtzee", boxes="ones,yahtzee"))
    assert found.gain > 0
    assert found.meetings == ()
    with pytest.raises(SizeError):
        found.differences()
    exactdice.baselines.cache.clear_cache()


def test_exploitability_of_an_agent_in_its_seat():
    def lost(policy, game, seat=0):
        return exactdice.score(policy, Task(game, seat)).exploitability_in_seat

    game = Greed(10, 3)
    for seat in (0, 1):
        assert lost("optimal", game, seat) == pytest.approx(0)
        reply, worth = (solve(Task(game, 1 - seat, name)) for name in ("random", "optimal"))
        more = reply.value_before_play - worth.value_before_play
        assert lost("random", game, seat) == pytest.approx(more)
        assert more > 0.1
    both = lost("random", game, 0) + lost("random", game, 1)
    assert both / 2 == pytest.approx(exactdice.exploitability("random", Task(game)))
    for other in (LowestScore(2, 3, 3, 3), FourTwoOne(), Greed(4, 3, tie="lost")):
        assert lost("random", other) is None


def test_payoff_matrix_of_a_two_player_game():
    env = Task(Greed(10, 3))
    names = {"equilibrium": "optimal", "any": "random", "if_else": "if_else"}
    matrix = exactdice.payoff_matrix(names, env, exact=True)
    assert matrix.names == tuple(names)
    assert all(matrix.payoffs[i, j] + matrix.payoffs[j, i] == 1 for i in range(3) for j in range(3))
    assert all(matrix.payoffs[i, i] == Fraction(1, 2) for i in range(3))
    first = evaluate("if_else", Task(env.game, 0, "random"), exact=True).value_before_play
    second = evaluate("if_else", Task(env.game, 1, "random"), exact=True).value_before_play
    assert matrix.payoffs[2, 1] == (first + second) / 2
    assert matrix.ranking[0] == "equilibrium"
    assert matrix.means["any"] == (matrix.payoffs[1, 0] + matrix.payoffs[1, 2]) / 2
    with pytest.raises(ValueError, match="two players at least"):
        exactdice.payoff_matrix(["optimal", "random"], Task(FourTwoOne()))
    with pytest.raises(ValueError, match="policy must be 'optimal'"):
        exactdice.payoff_matrix(["optimal", "minimax"], env)
