"""Advice on positions, and solutions that read observations as they are shown."""

import warnings
from itertools import permutations

import gymnasium as gym
import numpy as np
import pytest
import torch as th
from exactdice.baselines import SimpleGame, Task, make_task, solve
from exactdice.baselines.advice import ask, read_position
from exactdice.core.positions import states_of
from exactdice.envs import MaskInObservation
from exactdice.games import GAMES, FourTwoOne, Greed, InputError, LowestScore, ShutTheBox
from gymnasium.wrappers import DtypeObservation, FlattenObservation, TimeLimit
from small_games import SIZED
from thinning import one_of_each

import exactdice

YAHTZEE = GAMES["Yahtzee"](boxes="ones,full_house")
TASKS = [Task(Greed(9, 3), 1, "if_else"), *(make_task(name, **size) for name, size in SIZED)]


def answer(game, *components, **named):
    return ask(solve(Task(game)), *components, **named)


def by_name(game, observation):
    """Name every component, as the command line does."""
    names = [name.replace(" ", "_").replace("'", "") for name in game.observation_names]
    return dict(zip(names, map(str, observation.tolist()), strict=True))


@pytest.mark.parametrize("task", one_of_each(lambda task: task.game.name, TASKS), ids=repr)
def test_every_position_has_the_values_of_the_solution(task):
    game, solution, rng = task.game, solve(task), np.random.default_rng(0)
    own = states_of(game, task.seat)
    for state in rng.choice(own, size=min(len(own), 40), replace=False).tolist():
        seen = game.observe(np.array([state]), task.seat)[0]
        found, values = ask(solution, *seen.tolist()), solution.action_values(seen)
        assert found.observation == tuple(seen.tolist())
        assert found == ask(solution, **by_name(game, seen))
        legal = np.flatnonzero(np.isfinite(values))
        assert sorted(move.choice.action for move in found.moves) == legal.tolist()
        for move in found.moves:
            assert move.value == pytest.approx(values[move.choice.action], abs=1e-12)
            assert move.cost == pytest.approx(values.max() - move.value, abs=1e-12)
        costs = [move.cost for move in found.moves]
        assert costs == sorted(costs)
        best = [move.choice.action for move in found.moves if move.grade == "best"]
        assert sorted(best) == solution.optimal_actions(seen).tolist()


def test_a_policy_is_shown_beside_the_optimum():
    solution = solve(Task(ShutTheBox(4, 2, 3)))
    found = solution.ask(1, 1, 1, 1, 4, policy="random")
    law = np.array(found.law)
    assert law.sum() == pytest.approx(1)
    assert (law == law[0]).all()
    assert found.cost == pytest.approx(np.mean([move.cost for move in found.moves]))
    assert solution.ask(1, 1, 1, 1, 4, policy="optimal").cost == 0
    said = str(found).splitlines()
    assert said[0].startswith("open 1 2 3 4, rolled 4: ")
    assert said[1] == f"random gives away {found.cost:.6f} here"
    assert len(said) == 4 + len(found.moves) + 1


@pytest.mark.parametrize(
    ("game", "words", "wanted"),
    [
        (FourTwoOne(), {"cast": "264", "casts_made": "1"}, (0, 0, 2, 4, 6, 1)),
        (FourTwoOne(), {"accumulated": "4", "cast": "1, 6", "casts_made": 2}, None),
        (LowestScore(), {"dice": "4 1 4 5", "total_kept": 4, "players_after": 3}, None),
        (ShutTheBox(5), {"open": "135", "roll": "6"}, (1, 0, 1, 0, 1, 6)),
        (YAHTZEE, {"open": "ones", "dice": "33456", "rolls_left": 2}, None),
    ],
)
def test_dice_are_read_in_any_order(game, words, wanted):
    found = answer(game, **words)
    if wanted is not None:
        assert found.observation[: len(wanted)] == wanted
    shown = found.as_dict()["words"]
    for word in ("dice", "cast"):
        for die in str(words.get(word, "")).replace(",", " "):
            assert die in shown


WRONG = [
    (Greed(), (120,), {}, "own_score must be from 0 to 100, got 120"),
    (Greed(), ("x",), {}, "own_score must be from 0 to 100, got x"),
    (Greed(), (1, 2, 0, 0), {}, r"3 components \(own_score, other_score, last_turn\), got 4"),
    (Greed(), (41,), {"own_score": 3}, "own_score must be given once, got 41 and 3"),
    (Greed(), (), {"mine": 3}, "one of own_score, other_score and last_turn, got mine"),
    (Greed(), (), {"own": 3, "own_score": 4}, "own_score must be given once, got 3 and 4"),
    (Greed(), (), {"other_score": -1}, "other_score must be from 0 to 100, got -1"),
    (FourTwoOne(), (), {"cast": "6 4 2 1"}, "cast must be at most 3 numbers, got 6 4 2 1"),
    (FourTwoOne(), (), {"cast": "6", "cast_2": "1"}, "cast must be .* without cast_2, got both"),
    (FourTwoOne(), (), {"cast": "9"}, "cast must be from 0 to 6, got 9"),
    (ShutTheBox(4), (), {"open": "7"}, "open must be of 1, 2, 3 and 4, got 7"),
    (ShutTheBox(4), (), {"open": "1 1"}, "open must be of 1, 2, 3 and 4, got 1 1"),
]


@pytest.mark.parametrize(("game", "components", "named", "message"), WRONG)
def test_wrong_components_are_named(game, components, named, message):
    with pytest.raises(InputError, match=message):
        read_position(game, components, named)


def test_what_is_left_out_is_as_at_the_beginning_of_a_game():
    """Not 0 boxes and tiles that are open."""
    with pytest.raises(InputError, match="roll must be given, one of 1, 2, 3"):
        ask(solve(Task(ShutTheBox(4, 2, 3), 1)), open="12")
    match = answer(GAMES["LowestScoreMatch"](2, 3, players=2, wins=2), dice="21")
    assert match.as_dict()["words"].startswith("0 rounds won to 0, 0 so far, rolled 1 2, nothing")
    box, named = ShutTheBox(), answer(Greed(), own=80, other=72)
    assert answer(box, roll=8).observation[:9] == (1,) * 9
    assert answer(box, open="all", roll=8) == answer(box, roll=8)
    rolls = [answer(YAHTZEE, 1, 1, 2, 4, 4), answer(YAHTZEE, dice="42114")]
    assert rolls[0] == rolls[1]
    assert "rolled 1 1 2 4 4 in turn 1 with" in rolls[0].as_dict()["words"]
    assert answer(Greed(), 80, "to", 72) == named


@pytest.mark.parametrize("game", [FourTwoOne(), GAMES["FourTwoOneMatch"](tokens=2)])
def test_a_roll_is_read_as_it_is_written(game):
    solution = solve(Task(game))
    wanted = solution.ask(cast="1 4 6")
    for roll in permutations((4, 6, 1)):
        assert solution.ask(*roll) == wanted
    with pytest.raises(InputError, match="must be from 0 to"):
        solution.ask(4, 2, 9)
    with pytest.raises(InputError):  # two rolls
        solution.ask(4, 2, 1, cast="6 6 1")


def test_components_that_are_no_dice_keep_their_order():
    class Ordered(SimpleGame):
        """A game in which (0, 1) is met, and (1, 0) is not."""

        def start(self):
            return [(1, (0, 0))]

        def actions(self, state):
            return [0, 1]

        def outcomes(self, state, action):
            return [(1, action, {(0, 0): (0, 1), (0, 1): (1, 1)}.get(state))]

    solution = solve(Task(Ordered()))
    assert solution.ask(0, 1).value == 2
    with pytest.raises(InputError, match="observation must be one that the player .* may meet bef"):
        solution.ask(1, 0)


ENCODINGS = ("integer", "one_hot", "one_hot_float", "thermometer", "scaled")
NO_OBSERVATIONS = {
    "a text in it": ["a", 0, 0],
    "None": None,
    "ragged": [[1], [2, 3], 0],
    "NaN": [np.nan, 0, 0],
    "between two": [0.101, 0.12, 0],
    "huge": [10**30, 0, 0],
    "too few": [0, 0],
    "a dictionary": {"observation": [0, 0, 0]},
    "a tensor elsewhere": th.zeros(3, device="meta"),
}


def greed(**keywords):
    return gym.make("exactdice/Greed-v0", max_score=20, **keywords)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_observations_are_read_in_the_encoding_of_the_environment(encoding):
    env = greed(encoding=encoding)
    plain = exactdice.solve(Task(Greed(20)))
    answers = exactdice.solve(env), exactdice.evaluate("optimal", env)
    seen = plain.task.game.observe(np.arange(0, plain.task.game.num_states, 41), 0)
    for numbers, shown in zip(seen, env.unwrapped.sight.show(seen), strict=True):
        values = plain.action_values(numbers)
        for answer in answers:
            assert (answer.action_values(shown) == values).all()
            assert (answer.action_values(shown.tolist()) == values).all()
        assert (answers[0].optimal_actions(shown) == plain.optimal_actions(numbers)).all()


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("observation", NO_OBSERVATIONS.values(), ids=NO_OBSERVATIONS)
def test_what_the_environment_never_shows_is_refused(encoding, observation):
    solution = exactdice.solve(greed(encoding=encoding))
    for ask_about in (solution.action_values, solution.optimal_actions):
        with pytest.raises(InputError, match="observation must be"):
            ask_about(observation)


SET = Task(FourTwoOne(utility="set"), 0)
THEIRS = SET.game.observe(states_of(SET.game, 1)[:1], 1)[0]
WRAPPED = FlattenObservation(greed()), DtypeObservation(greed(), np.int32)
#: Whose solution is asked, about what, and what is said of it.
UNSEEN = [
    (Task(Greed(20)), [0, 0], r"must be \(own score, other score, last"),
    (Task(Greed(20)), [10.5, 12, 0], r"whole numbers, got \[10\.5, 12\.0, 0\.0\]"),
    (Task(Greed(20)), [True, False, False], r"got \[True, False, False\]"),
    (greed(encoding="one_hot"), np.full(44, 0.5), r"44 numbers .*float64 and shape \(44"),
    (SET, THEIRS, "the player in seat 0 may meet"),
    (WRAPPED[0], [0.0, 0.0, 0.0], r"wrappers of env change it \(FlattenObservation"),
    (WRAPPED[1], np.zeros(3, np.int32), r"wrappers of env change it \(DtypeObservation"),
]


@pytest.mark.parametrize(("task", "observation", "message"), UNSEEN)
def test_what_is_never_seen_is_named(task, observation, message):
    with pytest.raises(InputError, match=message):
        exactdice.solve(task).optimal_actions(observation)


@pytest.mark.parametrize(("library", "key"), [("rllib", "observations"), ("tianshou", "obs")])
def test_floats_that_are_whole_and_dictionaries_with_a_mask_are_read(library, key):
    solution = exactdice.solve(TimeLimit(greed(), 1000))  # a harmless wrapper
    assert (solution.action_values([10.0, 12.0, 0.0]) == solution.action_values([10, 12, 0])).all()
    env = MaskInObservation(greed(encoding="scaled"), library)
    solution, (shown, _) = exactdice.solve(env), env.reset(seed=0)
    assert solution.optimal_actions(shown).tolist() == [4]
    assert solution.optimal_actions(shown[key]).tolist() == [4]
    with pytest.raises(InputError, match=f"observation must have the key {key}, got the keys seen"):
        solution.optimal_actions({"seen": shown[key]})


def test_what_agents_of_pettingzoo_see_is_read():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = exactdice.pettingzoo.env("Greed", encoding="scaled", max_score=20)
    env.reset(seed=0)
    solution = exactdice.solve(env)
    assert solution.optimal_actions(env.observe("player_0")).tolist() == [4]
    with pytest.raises(InputError, match="observation must be one that env shows"):
        solution.optimal_actions([10, 12, 0])


def test_a_number_that_is_out_of_range_at_its_place_is_asked_for_by_name():
    with pytest.raises(ValueError, match="got 9; by name: roll=9 or score_to_beat=9$"):
        exactdice.solve("exactdice/ShutTheBox-v0").ask(9)


def test_a_loss_in_a_law_is_measured_by_its_value_where_chance_is_larger():
    law = {0: {0: [(0.5, 1, 1054.0, True), (0.5, 1, -946.0, True)], 1: [(1.0, 1, 52.5, True)]}}
    law[1] = {0: [(1.0, 1, 0.0, True)], 1: [(1.0, 1, 0.0, True)]}
    moves = exactdice.solve(exactdice.from_P(law, 0)).ask(0).moves
    assert [(move.value, move.grade) for move in moves] == [(54.0, "best"), (52.5, "inaccuracy")]
