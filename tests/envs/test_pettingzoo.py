"""The games as environments of PettingZoo: its own tests, and the exact payoffs of line-ups."""

import copy
import importlib
import pickle
import sys
import warnings
from collections import defaultdict
from fractions import Fraction
from functools import partial
from pathlib import Path

import gymnasium as gym
import numpy as np
import pettingzoo
import pytest
from exactdice.baselines import convert, make_game
from exactdice.games import GAMES, InputError, KeywordError
from pettingzoo.utils.wrappers import BaseWrapper, MultiEpisodeEnv
from sb3_contrib import MaskablePPO
from small_games import SIZED
from thinning import every_third, later

import exactdice
from exactdice.pettingzoo import env as make
from exactdice.pettingzoo import raw_env, register_games

with warnings.catch_warnings(action="ignore"):  # of how it makes an environment
    from pettingzoo.test import api_test, render_test, seed_test

EXAMPLES = Path(__file__).parents[2] / "examples"
#: Games of two players; that of 421 by a keyword.
FOR_TWO = [name for name in GAMES if name == "FourTwoOne" or make_game(name).num_players > 1]
#: Beside them a game of one's own, and one that goes on for ever.
PLAYED = [
    *((name, {"utility": "set"} if name == "FourTwoOne" else {}) for name in FOR_TWO),
    (f"{EXAMPLES / 'pig.py'}:Pig", {"target": 20}),
    (f"{EXAMPLES / 'twenty_one.py'}:TwentyOne", {}),
]
#: What PettingZoo says of all environments but those that it lists, and of Greed at 0 to 0.
SAID = [
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box",
    "Observation numpy array is all zeros",
    "Observation is a single number",
]
#: The last small size of each game that two or more play, and a game that pays before the end.
SMALL_FOR_TWO = dict(each for each in SIZED if make_game(each[0], **each[1]).num_players > 1)
SMALL_FOR_TWO["small_games:Rounds"] = {"players": 2, "turns": 6, "others": Fraction(-1, 2)}

pytestmark = pytest.mark.usefixtures("own_games")


def play(env, choose):
    """Play a game; give the moves, (agent, what it saw, action), and what each agent got."""
    moves, got = [], defaultdict(float)
    for agent in env.agent_iter():
        seen, reward, over, cut_off, info = env.last()
        assert not cut_off
        got[agent] += reward
        if over:
            assert info["outcome"] == pytest.approx(got[agent])
        else:
            moves.append((agent, seen, choose(agent, seen)))
        env.step(None if over else moves[-1][2])
    return moves, got


def first_legal(_agent, seen):
    return int(seen["action_mask"].argmax())


@pytest.mark.parametrize(("name", "keywords"), every_third(PLAYED))
def test_a_game_passes_pettingzoos_tests_of_its_api_seeds_and_pictures(name, keywords, recwarn):
    for encoding in ("integer", "one_hot_float"):
        api_test(make(name, encoding=encoding, **keywords), num_cycles=100)
    for test in (seed_test, render_test):
        test(partial(make, name, **keywords))
    assert [str(w.message) for w in recwarn if not str(w.message).startswith(tuple(SAID))] == []


def test_pettingzoo_makes_games_by_their_ids_those_of_ones_own_too(own_games):
    game = own_games(PLAYED[-1][0])
    register_games()
    register_games()  # which would warn if it registered them again
    for name, keywords in [*PLAYED[:-2], (game.name, {})]:
        env = pettingzoo.make("aec", f"exactdice/{name}-v0", **keywords)
        assert (env.unwrapped.game.name, str(env)) == (name, f"{name}_v0")
    del pettingzoo.aec_registry[f"exactdice/{game.name}-v0"]


@pytest.mark.parametrize("number", [60, later(200)])
@pytest.mark.parametrize(("name", "sizes"), every_third(SMALL_FOR_TWO.items()))
def test_games_pay_on_average_what_is_computed(name, sizes, number):
    """Within five standard errors: by chance one of a million such figures is not."""
    env = raw_env(name, **sizes)
    game = env.game
    names = ["random", *["optimal"] * (game.num_players - 1)]
    policies = {f"player_{seat}": convert(known, game, seat) for seat, known in enumerate(names)}
    rng = np.random.default_rng(7)

    def choose(agent, seen):
        states = game.encode(seen["observation"][None])
        return int(policies[agent].sample(states, rng)[0])

    env.reset(seed=5)
    payoffs = np.empty((number, game.num_players))
    for row in payoffs:
        got = play(env, choose)[1]
        row[:] = [got[agent] for agent in env.possible_agents]
        env.reset()
    exact = exactdice.expected_payoffs(names, env)
    error = payoffs.std(axis=0) / np.sqrt(number)
    assert (np.abs(payoffs.mean(axis=0) - exact) <= 5 * error).all()


def test_a_player_who_is_beaten_is_paid_at_once_and_stays_to_the_end():
    env = raw_env("LowestScore", dice=1, faces=2, zero_face=1, players=3, objective="share")
    settled_early = 0
    for seed in range(30):
        env.reset(seed=seed)
        env.step(0)
        while not env.infos["player_0"] and not env.terminations["player_0"]:
            env.step(0)
        settled_early += not env.terminations["player_0"]
        assert env.rewards["player_0"] == env.infos["player_0"]["outcome"]
        assert env.agents == env.possible_agents
        got = play(env, first_legal)[1]
        assert got.keys() == set(env.possible_agents)
        assert sum(got.values()) == pytest.approx(1)
    assert 0 < settled_early < 30


def test_an_illegal_action_loses_and_the_others_win():
    env = raw_env("ShutTheBox")
    env.reset(seed=1)
    seen = env.observe("player_0")
    env.step(int(seen["action_mask"].argmin()))
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards == {"player_0": 0, "player_1": 1}
    assert env.infos["player_0"] == {"illegal_action": True, "outcome": 0}
    assert env.infos["player_1"] == {"outcome": 1}
    assert play(env, first_legal)[1] == {"player_0": 0, "player_1": 1}


def test_who_is_not_to_move_sees_its_last_move_and_no_legal_action():
    env = raw_env("Greed", max_score=20)
    env.reset(seed=3)
    assert not env.observe("player_1")["observation"].any()
    before, changed = env.observe("player_0"), env.observe("player_0")
    for part in changed.values():
        part += 1  # observations share no memory
    env.step(2)
    assert env.agent_selection == "player_1"
    np.testing.assert_array_equal(env.observe("player_0")["observation"], before["observation"])
    assert not env.observe("player_0")["action_mask"].any()
    assert env.observe("player_1")["action_mask"].any()
    assert env.observe("player_1")["action_mask"].dtype == np.int8
    assert env.observation_space("player_0") is not env.observation_space("player_1")


@pytest.mark.parametrize("maker", [make, raw_env])
def test_a_copy_plays_on_alike(maker):
    env = maker("ShutTheBox", tiles=5)
    env.reset(seed=4)
    env.step(first_legal("", env.observe("player_0")))
    copies = copy.deepcopy(env), pickle.loads(pickle.dumps(env)), env
    assert len({str(play(each, first_legal)) for each in copies}) == 1


def test_the_text_says_who_did_what_and_how_it_ended():
    env = raw_env("Greed", max_score=5, render_mode="ansi")
    env.reset(seed=0)
    assert env.render().startswith("player_0, ")
    env.step(1)
    assert env.render().startswith("player_0, ")
    assert "\nplayer_1, " in env.render()
    play(env, lambda agent, seen: int(np.flatnonzero(seen["action_mask"])[-1]))
    assert "\ngame over: player_0 " in env.render()


FOR_ONE = "game must be one of two players or more.*"


@pytest.mark.parametrize(
    ("name", "keywords", "kind", "message"),
    [
        ("FourTwoOne", {}, InputError, f'{FOR_ONE}: utility="set" makes it one$'),
        ("ShutTheBox", {"objective": "sum"}, InputError, f'{FOR_ONE}: objective="win" makes it'),
        ("LowestScore", {"players": 1}, InputError, f"{FOR_ONE}: players=2 makes it one$"),
        ("Greed", {"opponent": "random"}, KeywordError, "unexpected keyword argument 'opponent'"),
        ("Greed", {"seat": 0}, KeywordError, "takes the keywords encoding, render_mode, max_score"),
        ("Greed", {"max_score": 0}, InputError, "max_score must be at least 1, got 0"),
        ("Greed", {"encoding": "words"}, InputError, "encoding must be one of 'integer'"),
        ("Greed", {"render_mode": "svg"}, TypeError, "must be None or one of ansi, human"),
        ("Gread", {}, InputError, "game must be one of Greed, "),
    ],
)
def test_a_wrong_name_or_keyword_is_refused(name, keywords, kind, message):
    with pytest.raises(kind, match=message):
        make(name, **keywords)


def test_what_is_no_action_is_refused_and_the_game_goes_on():
    env = raw_env("Greed", max_score=20)
    with pytest.raises(RuntimeError, match="call reset before step"):
        env.step(1)
    env = make("Greed", max_score=20)
    env.reset(seed=1)
    for action in (None, 1.5, True, 99):
        with pytest.raises(InputError, match="action must be"):
            env.step(action)
    assert env.agents == ["player_0", "player_1"]
    env.step(1)


def test_without_pettingzoo_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    monkeypatch.delitem(sys.modules, "exactdice.pettingzoo")
    monkeypatch.delitem(vars(exactdice), "pettingzoo", raising=False)
    said = r"exactdice.pettingzoo needs .*: pip install 'exactdice.pettingzoo.'"
    with pytest.raises(AttributeError, match=said):
        _ = exactdice.pettingzoo
    with pytest.raises(ModuleNotFoundError, match=said):
        importlib.import_module("exactdice.pettingzoo")


def test_exact_functions_unwrap_harmless_wrappers_and_refuse_others_by_name():
    env = make("Greed", max_score=10, sides=3)
    assert exactdice.as_task(env.unwrapped) == exactdice.Task(exactdice.as_task(env).game)
    assert exactdice.payoff_matrix({"a": "random", "b": "optimal"}, env).ranking == ["b", "a"]
    with pytest.raises(InputError, match="the wrapper MultiEpisodeEnv may change it"):
        exactdice.solve(MultiEpisodeEnv(env, num_episodes=2))
    other = pettingzoo.AECEnv()
    other.metadata = {"name": "chess_v6"}
    with pytest.raises(TypeError, match="env must be an exactdice environment, got chess_v6"):
        exactdice.solve(other)


class EachInTurn(BaseWrapper, gym.Env):
    """Shows one learner every position in turn, in the way of PettingZoo's tutorial for SB3."""

    def __init__(self, inner):
        super().__init__(inner)
        self.observation_space = inner.observation_space("player_0")["observation"]
        self.action_space = inner.action_space("player_0")


@pytest.mark.usefixtures("one_thread")
def test_a_model_made_in_the_way_of_the_tutorial_is_scored_as_it_plays():
    """The observations of such a wrapper are unknown: the score needs the model alone."""
    env = make("Greed", max_score=10, sides=3, encoding="one_hot_float")
    learner = MaskablePPO("MlpPolicy", EachInTurn(env), seed=1, device="cpu")
    with pytest.raises(InputError, match="model must be shown states .* GameAEC, which cannot be"):
        exactdice.expected_payoffs([learner, "random"], env)
    learner.env = None

    def predicted(observations, masks):
        shown = env.unwrapped.encoding.encode(observations)
        return learner.predict(shown, action_masks=masks, deterministic=True)[0]

    for line_up in ([learner, "random"], ["random", learner]):
        asked = [predicted if player is learner else player for player in line_up]
        assert exactdice.expected_payoffs(line_up, env) == exactdice.expected_payoffs(asked, env)
    with pytest.raises(InputError, match="the wrapper EachInTurn may change it"):
        exactdice.expected_payoffs([learner, learner], EachInTurn(env))
