"""The ways to play Greed that its source tells of; its claims are in ``test_claims``."""

import numpy as np
import pytest
from exactdice.baselines import Task
from exactdice.games import Greed
from exactdice.games.greed.policies import if_else, terminal, terminal_rating, terminal_search

import exactdice

GAME = Greed(10, 3)
TASK = Task(GAME)
MASK = GAME.mask(np.arange(GAME.num_states))


@pytest.mark.parametrize(
    ("observation", "dice"),
    [
        ([60, 50, 1], 0),  # ahead in the last turn
        ([50, 70, 1], 10),  # 35 points to the middle, 10 dice of 3.5
        ([99, 100, 1], 1),
        ([95, 80, 0], 0),  # comfortably ahead
        ([0, 0, 0], 16),  # 16 dice cannot exceed 100
        ([95, 96, 0], 1),
        ([95, 95, 0], 0),
    ],
)
def test_the_if_else_chain_follows_its_documented_thresholds(observation, dice):
    game = Greed(100, 6)
    assert if_else(game)[game.encode(np.array(observation))] == dice


def test_the_algorithm_of_section_5_is_optimal_in_every_last_turn_of_the_default_game():
    game = Greed(100, 6)
    solution = exactdice.solve(Task(game))
    _, ratings = terminal_search(game)
    last = solution.values[0][game.num_states // 2 :]
    np.testing.assert_allclose(ratings.ravel(), last, atol=1e-12)


def test_equation_1_agrees_with_the_recursion():
    table = exactdice.evaluate("random", TASK).table[GAME.num_states // 2 :]
    for dice in range(GAME.num_actions):
        legal = MASK[GAME.num_states // 2 :, dice]
        ratings = terminal_rating(GAME, dice).ravel()
        np.testing.assert_allclose(ratings[legal], table[legal, dice], atol=1e-14)


def test_the_terminal_player_stops_when_no_roll_improves_what_it_holds():
    game = Greed(20, 3)
    actions = terminal(game).reshape(2, 21, 21)
    _, ratings = terminal_search(game)
    own, other = 20, 5
    assert actions[0, own, other] == 0
    assert 1 - ratings[other, own] > 0.5
