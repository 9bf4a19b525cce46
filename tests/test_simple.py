"""Games that are written state by state, against other computations and the vectorised contract."""

import pickle
import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines.law.simple import SimpleGame
from exactdice.games import GameError, present
from thinning import later

import exactdice
from exactdice.testing import check_game

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def example(own_games):
    """Load a class of examples/ for one test."""
    return lambda place: own_games(str(EXAMPLES / place))


class TwoDice(SimpleGame):
    """Roll a die, keep it or roll it again once."""

    def start(self):
        return [(Fraction(1, 6), (face, 0)) for face in range(1, 7)]

    def actions(self, state):
        return ["keep", "again"] if not state[1] else ["keep"]

    def outcomes(self, state, action):
        if action == "keep":
            return [(1, state[0], None)]
        return [(Fraction(1, 6), 0, (face, 1)) for face in range(1, 7)]


def test_a_first_game():
    task = exactdice.Task(TwoDice())
    solution = exactdice.solve(task, exact=True)
    assert solution.value == Fraction(1, 2) * 5 + Fraction(1, 2) * Fraction(7, 2)
    assert solution.optimal_actions((3, 0)).tolist() == [1]
    assert solution.optimal_actions((4, 0)).tolist() == [0]
    game, words = task.game, present(task.game)
    assert (game.name, game.choices) == ("TwoDice", ["keep", "again"])
    assert game.observation_names == ("component 1", "component 2")
    assert words.describe(np.array([3, 0])) == "(3, 0)"
    assert words.describe_action(1) == "chooses again"
    check_game(game)


def test_an_agent_sees_the_numbers_that_its_author_wrote():
    task, seen = exactdice.Task(TwoDice()), product(range(1, 7), (0, 1))
    again = lambda seen, legal: legal[:, 1] * 1 * (seen[:, 0] < 4)  # noqa: E731
    score = exactdice.score(again, task, exact=True)
    assert (score.value, score.regret) == (Fraction(17, 4), 0)
    table = {(face, rolled): int(face < 4 and not rolled) for face, rolled in seen}
    assert exactdice.score(table, task).regret == 0
    answer = exactdice.solve(task).ask(3, 0)
    assert answer.as_dict()["observation"] == {"component 1": 3, "component 2": 0}
    assert answer.moves[0].choice.action == 1
    env = exactdice.envs.GameEnv(task)
    assert {int(env.reset(seed=seed)[0][0]) for seed in range(60)} == set(range(1, 7))
    assert env.observation_space == gym.spaces.MultiDiscrete([7, 2])


def test_pig_is_the_vectorised_game_state_by_state(example):
    simple, game = example("simple_pig.py:SimplePig")(10), example("pig.py:Pig")(10)
    ours, theirs = exactdice.solve(exactdice.Task(simple)), exactdice.solve(exactdice.Task(game))
    for number, (mover, *seen) in enumerate(simple.states):
        (state,) = game.encode(np.array([seen]))
        value = theirs.found.at(mover, np.array([state]))[0]
        assert ours.values[mover, number] == pytest.approx(2 * value - 1, abs=1e-12)
    assert ours.error_bound < 1e-12
    evaluated = exactdice.evaluate("random", exactdice.Task(simple, 0, "random"))
    other = exactdice.evaluate("random", exactdice.Task(game, 0, "random"))
    assert evaluated.value == pytest.approx(2 * other.value - 1)


@pytest.mark.parametrize(
    ("rules", "optimum"),
    [
        ({}, -0.0465560),
        later(({"sab": True}, -0.0431131)),
        later(({"natural": True}, -0.0257292)),
        ({"natural": True, "sab": True}, -0.0431131),
    ],
)
def test_blackjack_has_the_optimum_of_gymnasium_and_its_rewards(example, rules, optimum):
    game = example("blackjack.py:Blackjack")(**rules)
    task = exactdice.Task(game)
    assert exactdice.solve(task).value == pytest.approx(optimum, abs=5e-8)
    if len(rules) != 1:  # each rule alone is played
        return
    # Stick on 17: hard hands and soft ones.
    totals = [hand.total + 10 * (hand.ace and hand.total <= 11) for hand in game.states]
    exact = exactdice.evaluate([int(total < 17) for total in totals], task)
    env = gym.make("Blackjack-v1", **rules).unwrapped
    env.reset(seed=7)
    rewards = []
    for _ in range(10_000):
        (total, _, _), over = env.reset()[0], False
        while not over:
            (total, _, _), reward, over, _, _ = env.step(int(total < 17))
        rewards.append(reward)
    error = np.std(rewards) / len(rewards) ** 0.5
    assert abs(np.mean(rewards) - exact.value) < 4 * error


def test_gamblers_reach_the_goal_by_bold_play(example):
    task = exactdice.Task(example("gambler.py:Gambler")())
    solution = exactdice.solve(task, exact=True)
    assert solution.value == Fraction(2, 5)  # all at once
    place = task.game.states.index(75)  # half of what is there: .4 + .6 times .4
    assert solution.values[0, place] == Fraction(2, 5) + Fraction(3, 5) * Fraction(2, 5)
    fair = exactdice.Task(example("gambler.py:Gambler")(12, 0.5))
    values = exactdice.evaluate("random", fair, exact=True).values[0]
    found = dict(zip(fair.game.states, values, strict=True))
    assert found == {stake: Fraction(stake, 12) for stake in range(1, 12)}


def test_tic_tac_toe_is_a_draw_and_a_random_player_loses(example):
    game = example("tic_tac_toe.py:TicTacToe")()
    assert exactdice.solve(exactdice.Task(game)).value == 0
    against_random = exactdice.Task(game, 0, "random")
    assert exactdice.solve(against_random, exact=True).value == Fraction(191, 192)
    assert len(game.states) == 4520  # positions in which a player is to move
    score = exactdice.score("random", gym.make("exactdice/TicTacToe-v0", opponent="random"))
    assert score.value == pytest.approx(0.585 - 0.288, abs=1e-3)  # known chances of random play


def faulty(**methods):
    return type("Faulty", (TwoDice,), methods)


@pytest.mark.parametrize(
    ("methods", "said"),
    [
        ({"actions": lambda *_: []}, "must give an action at least, got none in state (1, 0)"),
        ({"outcomes": lambda *_: [(0.5, 0, None)]}, "above 0 and sum to 1, got a sum of 0.5"),
        ({"outcomes": lambda *_: [(1, None)]}, "got (1, None) for action 'keep' in state (1, 0)"),
        ({"outcomes": lambda *_: [(0, 1, None)]}, "got probabilities of 0 alone for action"),
        ({"start": lambda _: (1, "s")}, "start must give (probability, state), in a list, got 1"),
        ({"actions": lambda *_: "keep"}, "actions must give a list, got 'keep' in state (1, 0)"),
        ({"player": lambda *_: 2}, "player must be 0 or 1, got 2 in state (1, 0)"),
        ({"player": lambda *_: 1, "horizon": 3}, "player 0 must make the first move within a"),
        ({"start": lambda _: []}, "start must give (probability, state), got none"),
        ({"gamma": 1.5}, "gamma must be from 0 to 1, got 1.5"),
        ({"horizon": -3}, "horizon must be a whole number above 0 or None, got -3"),
        ({"outcomes": lambda *_: [(1, np.nan, None)]}, "rewards must be numbers from -1e+300 "),
        ({"outcomes": lambda *_: [("x", 0, None)]}, "next state), in a list, got ('x', 0, None)"),
        ({"outcomes": lambda *_: [(1, "1", None)]}, "from -1e+300 to 1e+300, got '1' for action"),
        ({"outcomes": lambda *_: [(1, 10**400, None)]}, "rewards must be numbers from -1e+300"),
        ({"outcomes": lambda *_: [(1, 0, [1, 0])]}, "states must be hashable, such as numbers and"),
        ({"start": lambda _: [(1, [1, 0])]}, "states must be hashable, such as numbers"),
        ({"start": lambda _: [(1, None)]}, "start must give states, got None"),
        ({"actions": lambda *_: [[0]]}, "actions must be hashable, such as numbers and tuples"),
        ({"player": lambda *_: "0"}, "player must be 0 or 1, got '0' in state (1, 0)"),
        ({"gamma": ".5"}, "gamma must be a number from 0 to 1, got '.5'"),
    ],
)
def test_mistakes_are_named(methods, said):
    with pytest.raises(GameError, match=re.escape(said)):
        faulty(**methods)()


class Take(SimpleGame):
    """Take 1 or 2 of some things; a coin says who begins, and the last one wins."""

    def start(self):
        return [(0.25, (0, 4)), (0.75, (1, 4))]

    def actions(self, state):
        return [1, 2][: state[1]]

    def outcomes(self, state, action):
        left = state[1] - action
        return [(1, float(left == 0), (1 - state[0], left) if left else None)]

    def player(self, state):
        return state[0]


def test_player_1_may_begin_and_gamma_and_horizon_are_arguments():
    game = Take()
    assert exactdice.solve(exactdice.Task(game)).value == -0.5
    assert exactdice.solve(exactdice.Task(game, 1)).value == 0.5
    check_game(game)
    assert pickle.loads(pickle.dumps(game)) == game
    die = TwoDice(gamma=0.5, horizon=2)
    assert (die.gamma, die.horizon) == (0.5, 2)
    assert pickle.loads(pickle.dumps(die)) == die != TwoDice()
    assert exactdice.solve(exactdice.Task(die)).value == 3.5 + 0.5 * 0.25


@pytest.mark.parametrize("number", [int, np.int64, np.int8, np.float32, np.array, np.float64])
def test_numbers_of_numpy_are_pythons(number):
    """Whole numbers of 64 bits overflow where fractions have larger ones."""
    of_numpy = number not in (int, np.float64)
    third = Fraction(np.int64(1), np.int64(3)) if of_numpy else Fraction(1, 3)

    def outcomes(_game, state, _action):
        if state == 12:
            return [(number(1), number(3), None)]
        return [(third, number(7), state + 1), (2 * third, number(-11), max(state - 1, 0))]

    methods = {"start": lambda _: [(number(1), 0)], "actions": lambda *_: [0], "outcomes": outcomes}
    walk = exactdice.Task(faulty(horizon=45, player=lambda *_: number(0), **methods)())
    assert float(exactdice.solve(walk, exact=True).value) == pytest.approx(-224.9449846939649)
    assert exactdice.evaluate("random", walk, exact=True).variance > 3261


def test_a_game_is_no_environment():
    with pytest.raises(TypeError, match=r"got TwoDice\(.*; give exactdice\.Task\(game, seat=0\)$"):
        exactdice.solve(TwoDice())
