"""Scores in depth: outcomes, flawless games, exploitability, head-to-head results."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from exactdice.baselines import Task, evaluate
from exactdice.baselines.solving.solver import solve
from exactdice.games import FourTwoOne, Greed, LowestScore, ShutTheBox

import exactdice

ROOT = Path(__file__).parents[2]
GAMES = [
    Greed(8, 3),
    LowestScore(2, 3, 3, 3, objective="share"),
    LowestScore(2, 3, 3, 2, objective="score"),
    ShutTheBox(4, 2, 3),
    FourTwoOne(2, 3, 2, utility="sum"),
    FourTwoOne(3, 3, 2, utility="set"),
]


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_optimal_play_is_flawless_and_any_optimal_action_is_no_mistake(game):
    task = Task(game, 0, "random")
    score = exactdice.score("optimal", task)
    assert score.flawless == 1
    assert score.optimal_share == 1
    optimal = solve(task).optimal & game.mask(np.arange(game.num_states))
    largest = game.num_actions - 1 - optimal[:, ::-1].argmax(axis=1)
    assert exactdice.score(largest, task).flawless == 1


def test_the_manual_shows_a_blunder_as_it_is_told():
    blunder = exactdice.score("notebook", Task(LowestScore(), 0, "notebook")).blunders(1)[0]
    assert f"\n{blunder.words}\n" in (ROOT / "docs/training.md").read_text()


def test_exploitability_of_an_agent_in_its_seat():
    game = Greed(10, 3)
    for seat in (0, 1):
        assert exactdice.score("optimal", Task(game, seat)).exploitability_in_seat == pytest.approx(
            0
        )
        score = exactdice.score("random", Task(game, seat))
        reply = solve(Task(game, 1 - seat, "random")).value_before_play
        worth = solve(Task(game, 1 - seat)).value_before_play
        assert score.exploitability_in_seat == pytest.approx(float(reply - worth))
        assert score.exploitability_in_seat > 0.1
    both = [exactdice.score("random", Task(game, seat)).exploitability_in_seat for seat in (0, 1)]
    assert sum(both) / 2 == pytest.approx(exactdice.exploitability("random", Task(game)))
    assert exactdice.score("random", Task(LowestScore(2, 3, 3, 3))).exploitability_in_seat is None
    assert exactdice.score("random", Task(FourTwoOne())).exploitability_in_seat is None


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


def test_payoff_matrix_of_a_round_of_three():
    """One plays against a table of the other."""
    env = Task(LowestScore(2, 3, 3, 3))
    matrix = exactdice.payoff_matrix({"n": "notebook", "o": "only3s"}, env, exact=True)
    seats = [
        evaluate(
            "notebook",
            Task(env.game, seat, dict.fromkeys({0, 1, 2} - {seat}, "only3s")),
            exact=True,
        ).value_before_play
        for seat in range(3)
    ]
    assert matrix.payoffs[0, 1] == sum(seats) / 3


@pytest.mark.parametrize(
    ("game", "policies", "message"),
    [
        (FourTwoOne(), {"a": "optimal", "b": "random"}, "two players at least"),
        (Greed(10, 3), {"a": "optimal"}, "two names at least .*, got dict of 1"),
        (Greed(10, 3), {"a": "optimal", "b": "minimax"}, "policy must be 'optimal'"),
    ],
)
def test_what_has_no_payoff_matrix_is_said(game, policies, message):
    with pytest.raises(ValueError, match=message):
        exactdice.payoff_matrix(policies, Task(game))
