"""Policies by name go through the same checks as tables, for the seat that they play."""

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import Task
from exactdice.games import Greed, InputError

import exactdice

pytestmark = pytest.mark.usefixtures("own_games")


class Own(Greed):
    name = "Own"


GAME = Own(6, 3)


@pytest.mark.parametrize(
    ("give", "message"),
    [
        (lambda game: np.full(game.num_states, -1), "legal actions, got -1 in state 0"),
        (
            lambda game: np.full(game.num_states, game.num_actions - 1),
            "choose legal actions, got 4",
        ),
        (lambda game: np.zeros(3, int), r"integers of shape \(98,\), got int64 of shape \(3,\)"),
        (lambda game: np.zeros(game.num_states, bool), "got bool of shape"),
        (
            lambda game: np.ones((game.num_states, game.num_actions)),
            "leave illegal actions alone|sum to 1",
        ),
        (lambda game: np.zeros((game.num_states, game.num_actions)), "sum to 1, got 0 in state 0"),
        (lambda game: None, r"be numbers, got nothing \(None\)"),
        (lambda game: [[0], [0, 1]], "in rows of one length, got a list"),
        (lambda game: "zero", "be numbers, got <U4"),
    ],
)
def test_what_a_name_gives_is_checked_at_every_door(give, message):
    exactdice.register(Own, policies={"bad": give})
    task = Task(GAME)
    message = f"bad, as it is registered for Own: policy .*{message}"
    for ask in (
        lambda: exactdice.score("bad", task),
        lambda: exactdice.evaluate("bad", task),
        lambda: exactdice.expected_payoffs(["bad", "optimal"], task),
        lambda: exactdice.exploitability("bad", task),
        lambda: exactdice.best_response("bad", task),
        lambda: exactdice.payoff_matrix({"a": "bad", "b": "random"}, task),
        lambda: exactdice.occupancy("bad", task),
        lambda: exactdice.outcome_distribution("bad", task),
        lambda: gym.make("exactdice/Own-v0", max_score=6, sides=3, opponent="bad"),
    ):
        with pytest.raises(InputError, match=message):
            ask()


def test_unmasked_a_name_may_say_what_is_illegal():
    table = np.full(GAME.num_states, GAME.num_actions - 1)
    exactdice.register(Own, policies={"all": lambda game: table})
    found = exactdice.score("all", Task(GAME), masked=False).value
    assert found == exactdice.score(table, Task(GAME), masked=False).value


@pytest.mark.parametrize("policies", [[], [lambda game: 0], "hold", 3])
def test_policies_are_registered_by_a_mapping(policies):
    got = type(policies).__name__
    with pytest.raises(InputError, match=f"must be a mapping from names to .*, got {got}"):
        exactdice.register(Own, policies=policies)
