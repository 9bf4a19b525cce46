"""Arguments that no game takes are refused by name, and sizes that are too large at once."""

import time
import tracemalloc

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import Task, cache, equilibrium, prepare, solve
from exactdice.core import InputError, SizeError, sizes
from exactdice.games import GAMES, FourTwoOne, Greed, LowestScore, ShutTheBox

import exactdice

LowestScoreMatch, FourTwoOneMatch = GAMES["LowestScoreMatch"], GAMES["FourTwoOneMatch"]
Yahtzee = GAMES["Yahtzee"]

#: The smallest that is taken of each whole number, and the keywords that are one of some names.
LEAST = {
    Greed: {"max_score": 1, "sides": 1, "max_dice": 0},
    LowestScore: {"dice": 1, "faces": 2, "zero_face": 1, "players": 1},
    LowestScoreMatch: {"dice": 1, "faces": 2, "zero_face": 1, "players": 2, "wins": 1},
    ShutTheBox: {"tiles": 1, "dice": 1, "sides": 2},
    FourTwoOne: {"dice": 1, "faces": 2, "casts": 1, "duration": 1},
    FourTwoOneMatch: dict.fromkeys(["tokens", "charge_casts", "discharge_casts", "four_two_one"], 1)
    | {"faces": 2},
    Yahtzee: {"bonus": 0},
}
NAMED = {Greed: "tie", LowestScore: "objective", ShutTheBox: "objective", FourTwoOne: "tie"}
NAMED |= {LowestScoreMatch: "starter tie", FourTwoOneMatch: "starter tie short_pot"}
NAMED |= {Yahtzee: "joker"}
WRONG = [
    (LowestScore, {"zero_face": 7}, "zero_face must be at most faces = 6, got 7"),
    (ShutTheBox, {"tiles": 13}, "tiles must be at most 12, got 13"),
    (ShutTheBox, {"one_die": "always"}, "one_die must be 'never', or 'sum<=' .*, got 'always'"),
    (ShutTheBox, {"one_die": 6}, r"one_die must be 'never', or 'sum<=' and a number, got 6"),
    (ShutTheBox, {"shut_wins": 1}, "shut_wins must be True or False, got 1"),
    (FourTwoOne, {"duration": 4}, "duration must be at most casts = 3, got 4"),
    (FourTwoOne, {"dice": 2}, "utility 'transfer' needs dice = 3, got 2"),
    (FourTwoOne, {"dice": 2, "utility": "set"}, "utility 'set' needs dice = 3, .* got 2"),
    (FourTwoOne, {"utility": "set", "duration": 2}, "duration must be None in a set, got 2"),
    (FourTwoOne, {"utility": "goal:127"}, "goal must be 3 digits from 1 to 6, got '127'"),
    (FourTwoOne, {"utility": "goal:"}, "utility must be 'transfer', .* got 'goal:'"),
    (FourTwoOne, {"utility": np.ones((2, 2))}, r"table of shape \(56, 3\) .*, got \(2, 2\)"),
    (FourTwoOne, {"utility": lambda *_: float("nan")}, "utility must be finite numbers, got nan"),
    *[(FourTwoOne, {"utility": [[no, 0, 0]] * 56}, "utility must be finite numbers") for no in
      ("1/0", "1e999999999", "9" * 400, 10**400, float("inf"), "x")],
    (FourTwoOneMatch, {"tokens": 10**9}, "tokens must be lower"),
    (Yahtzee, {"bonus": 10**7}, "bonus must be at most 1000000, got 10,000,000"),
    (Yahtzee, {"boxes": "ones,ones"}, "boxes must be named once, got 'ones' again"),
    (Yahtzee, {"boxes": "sevens"}, "boxes must be 'all', or names with commas .*, got 'sevens'"),
    (Yahtzee, {"boxes": 3}, "boxes must be 'all', or names with commas .*, got 3"),
]  # fmt: skip


@pytest.mark.parametrize("kind", LEAST)
def test_wrong_numbers_and_names_are_named(kind):
    for name, least in LEAST[kind].items():
        wrong = [(least - 1, f"at least {least}"), (2.5, "an integer"), (True, "an integer")]
        for number, due in wrong:
            with pytest.raises(InputError, match=f"{name} must be {due}, got {number}"):
                kind(**{name: number})
    for name in NAMED[kind].split():
        with pytest.raises(InputError, match=f"{name} must be one of '.*', got 'nobody'"):
            kind(**{name: "nobody"})


@pytest.mark.parametrize(("kind", "keywords", "message"), WRONG)
def test_a_wrong_argument_is_named(kind, keywords, message):
    with pytest.raises(InputError, match=message):
        kind(**keywords)


#: Sizes that are too large, the one to blame first.
ABSURD = [
    *((Greed, {"max_score": size}) for size in (10**6, 10**4000)),
    *((Greed, {"max_dice": 10**5}), (Greed, {"sides": 10**20})),
    *((LowestScore, {"players": 10**6}), (LowestScore, {"dice": 10**20, "zero_face": 1})),
    *((LowestScoreMatch, {"wins": 10**6}), (LowestScoreMatch, {"players": 10**9})),
    (LowestScoreMatch, {"dice": 50}),
    *((ShutTheBox, {"dice": size}) for size in (500, 10**300)),
    (ShutTheBox, {"sides": 10**9}),
    *((FourTwoOne, {"dice": 20}), (FourTwoOne, {"faces": 1000}), (FourTwoOne, {"casts": 10**6})),
    (FourTwoOne, {"faces": 10**18, "dice": 2, "utility": "sum"}),
]
#: Built below.
SMALL = [
    *(Greed(30), Greed(7, 3), Greed(max_dice=4)),
    *(LowestScore(3, 5), LowestScore(3, 4, players=4, objective="share")),
    *(LowestScoreMatch(3, 4, wins=8, starter="next"), LowestScoreMatch(2, 4, players=3, wins=2)),
    *(ShutTheBox(7), ShutTheBox(6, one_die="never", objective="sum")),
    *(FourTwoOne(faces=4, utility="set"), FourTwoOne(casts=500, duration=1)),
]


@pytest.mark.parametrize(("kind", "arguments"), ABSURD)
def test_what_does_not_fit_is_refused_within_a_second(kind, arguments):
    begun, (blamed, *_) = time.monotonic(), arguments
    with pytest.raises(SizeError, match=rf"^{blamed} must be lower, got .*EXACTDICE_LIMIT"):
        kind(**arguments)
    assert time.monotonic() - begun < 1


@pytest.mark.parametrize("game", SMALL, ids=repr)
def test_states_and_laws_are_counted_before_they_are_made(monkeypatch, game):
    """In what is built beside them too; only absurd sizes need be told from sensible ones."""
    counted = []
    module = f"{type(game).__module__}.check_states"
    monkeypatch.setattr(module, lambda game, states, more=0: counted.append((states, more)))
    type(game)(**game.keywords)
    states, entries = counted[0]
    assert game.num_states <= 1.01 * states < 4 * game.num_states
    if isinstance(game, Greed):
        rows, columns = game.laws.shape
        assert entries == (rows - 1) * (columns - 1)  # but for no dice and the sum 0


def test_sizes_that_are_used_are_within_the_limits():
    Greed(1000)
    sizes.check_exact(Greed(500))
    LowestScore(players=20)
    ShutTheBox(12)
    FourTwoOne(casts=100)


def test_larger_games_are_refused_by_what_would_be_made_of_them():
    solution = exactdice.evaluate("random", Task(Greed(5)))
    object.__setattr__(solution, "problem", prepare(Task(Greed(1300), 0, "random")))
    for ask, message in (
        (lambda: solve(Task(Greed(3000)), exact=True), "^game must be smaller to be solved exactl"),
        (lambda: equilibrium(LowestScore(players=30)), "an equilibrium must be of a smaller game"),
        (lambda: LowestScore(36, 2, 1, players=3), r"observations could have 10\^2\d values"),
        (lambda: solution.table, "a table of action values must be of a smaller game"),
    ):
        with pytest.raises(SizeError, match=message):
            ask()


def test_the_variable_lifts_the_limits_and_is_no_part_of_the_game(monkeypatch):
    plain = Greed(20)
    monkeypatch.setattr(sizes, "MEMORY", 1e4)
    with pytest.raises(SizeError, match=r"the limit is 0\.01 MB"):
        Greed(20)
    monkeypatch.setenv("EXACTDICE_LIMIT", "2")
    with pytest.raises(SizeError, match=r"the limit is 0\.02 MB"):
        Greed(20)
    for lifted in ("1000", "none"):
        monkeypatch.setenv("EXACTDICE_LIMIT", lifted)
        assert Greed(20) == plain
        assert repr(Greed(20)) == repr(plain)
        env = gym.make("exactdice/Greed-v0", max_score=20)
        assert env.unwrapped.task.game.keywords == plain.keywords
    for text in ("", "lots", "0", "-1", "nan"):
        monkeypatch.setenv("EXACTDICE_LIMIT", text)
        with pytest.raises(InputError, match="EXACTDICE_LIMIT must be a number above 0 or none"):
            Greed(5)


@pytest.mark.parametrize("encoding", ["integer", "one_hot"])
@pytest.mark.parametrize("name", ["Greed", "LowestScore", "ShutTheBox", "FourTwoOne"])
def test_so_many_lanes_are_refused_by_what_each_takes(name, encoding):
    lanes, others = 2000, {} if name == "FourTwoOne" else {GAMES[name].opponent_keyword: "random"}

    def make(number):
        return gym.make_vec(f"exactdice/{name}-v0", number, encoding=encoding, **others)

    with pytest.raises(SizeError, match=r"^num_envs must be at most [\d,]+, got 1,000,000,000"):
        make(10**9)
    make(lanes).reset()  # all share the tables
    tracemalloc.start()
    env = make(lanes)
    before = tracemalloc.get_traced_memory()[0]
    env.reset(seed=1)
    env.step(env.unwrapped.action_masks().argmax(axis=1))
    taken = (tracemalloc.get_traced_memory()[1] - before) / lanes
    tracemalloc.stop()
    assert taken / 3 < env.unwrapped._engine.lane_bytes() < 3 * taken


def test_no_array_of_states_and_actions_is_made_to_solve_and_score():
    """One such array of floats would take 134 MB."""
    cache.clear_cache()
    tracemalloc.start()
    task = Task(ShutTheBox())
    score = exactdice.score("random", task)
    assert score.blunders(None)
    assert score.as_dict()
    given = exactdice.score(solve(task).policy.actions.copy(), task)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert given.regret == 0
    assert taken < 8 * task.game.num_states * task.game.num_actions / 2
