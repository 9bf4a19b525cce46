"""Requirements of every registered environment, which a new game is tested for as well."""

import copy
import multiprocessing
import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.baselines import make_game, prepare
from exactdice.baselines.operators.induction import sweep_back
from exactdice.baselines.operators.players import Players
from exactdice.core.positions import states_of
from exactdice.envs import REFERENCE, GameEnv, planners
from exactdice.games import GAMES, InputError
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from playing import legal_action, random_actions, require_same_play
from small_games import SIZED, SMALL, Rounds
from spawned import first_move, first_moves
from stable_baselines3.common import env_checker
from thinning import at_once, later

import exactdice
from exactdice.testing import check_game

#: What a slow test in ``tests/games/test_four_two_one_match.py`` finds without rounding.
MATCH_OF_421 = 0.558056165827787875623643
#: Sizes of a game whose default size takes seconds, where nothing depends on it.
QUICK = {
    "FourTwoOneMatch": {"tokens": 2},
    "Rounds": {"players": 2, "turns": 6, "others": Fraction(-1, 2), "opponent": "random"},
    "Yahtzee": {"boxes": "sixes,yahtzee"},
}


#: Payoffs in the first seat, and of every second game another reward in the last one; all others
#: are slow.
OTHERS = ("regret",), (), ("shaped",), ()
REWARDED = [
    pytest.param(name, seat, reward, marks=[pytest.mark.slow] * (reward not in rewards))
    for number, name in enumerate(GAMES)
    for seats in [{0, make_game(name).num_players - 1}]  # the small sizes have every seat
    for seat in sorted(seats)
    for rewards in [("outcome",) * (seat == 0) + OTHERS[number % 4] * (seat == max(seats))]
    for reward in ("outcome", "regret", "shaped")
]


def make(name, **keywords):
    return gym.make(f"exactdice/{name}-v0", **{**QUICK.get(name, {}), **keywords})


def make_vec(name, num_envs, **keywords):
    return gym.make_vec(f"exactdice/{name}-v0", num_envs, **{**QUICK.get(name, {}), **keywords})


@pytest.fixture(params=list(GAMES))
def name(request):
    return request.param


def test_every_game_is_registered_and_has_a_small_size():
    ids = {spec_id for spec_id in gym.registry if spec_id.startswith("exactdice/")}
    assert ids == {f"exactdice/{name}{form}-v0" for name in GAMES for form in ("", "-OneHot")}
    assert set(SMALL) == set(GAMES)
    assert set(REFERENCE) == {f"exactdice/{name}-v0" for name in GAMES}


#: The smallest sizes in which a game has all its kinds of moves, for the checks of all rules.
TINY = {
    "FourTwoOne": {"dice": 2, "faces": 2, "casts": 3, "utility": "sum"},
    "FourTwoOneMatch": {"tokens": 1, "faces": 2, "charge_casts": 1, "discharge_casts": 1},
    "LowestScore": {"dice": 2, "faces": 2, "zero_face": 1, "players": 2},
    "LowestScoreMatch": {"dice": 1, "faces": 2, "zero_face": 1, "wins": 2},
    "ShutTheBox": {"tiles": 2, "dice": 1, "sides": 2},
}
LEAST = [(name, TINY.get(name, sizes[-1])) for name, sizes in SMALL.items()]
#: Those of the other games take seconds, as does a size that is not the smallest one.
QUICKEST = {"LowestScore", "ShutTheBox", "FourTwoOne"}
LISTED = at_once(lambda case: case[0] in QUICKEST, LEAST)
LISTED += [later(case) for case in SIZED if case not in LEAST]


@pytest.mark.parametrize(("name", "size"), LISTED)
def test_a_game_obeys_all_rules(name, size):
    game = GAMES[name](**size)
    if game.num_states * game.num_actions > planners.LIMIT:
        pytest.skip("its smallest size is too large to be listed; its own tests enumerate it")
    check_game(game)


@pytest.mark.parametrize(("name", "seat", "reward"), REWARDED)
def test_the_checkers_of_gymnasium_and_stable_baselines3_find_nothing(name, seat, reward):
    env = make(name, seat=seat, reward=reward)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
        env_checker.check_env(env.unwrapped)
        env_checker.check_env(env)


class Worst(Players):
    """The free players take their worst actions."""

    def choose(self, stage, expected):
        return -super().choose(stage, -expected)


LONG = dict.fromkeys(("Yahtzee", "FourTwoOneMatch"), pytest.mark.slow)


@pytest.mark.parametrize("game", [pytest.param(name, marks=LONG.get(name, ())) for name in GAMES])
def test_the_reference_values_are_the_solvers(game):
    env, reference = gym.make(f"exactdice/{game}-v0"), REFERENCE[f"exactdice/{game}-v0"]
    solution = exactdice.solve(env)
    exactly = MATCH_OF_421 if game == "FourTwoOneMatch" else solution.value
    assert abs(solution.value - exactly) <= solution.error_bound < 3e-11 * max(1, solution.value)
    assert reference["optimum"] == pytest.approx(solution.value, abs=1e-12)
    assert reference["random"] == pytest.approx(exactdice.score("random", env).value, abs=1e-12)
    if "worst" in reference:
        problem = prepare(env)
        players = Worst(problem.law, 0, problem.policies, partial=True)
        lowest = problem.initial @ sweep_back(players).values.array[0]
        assert reference["worst"] == pytest.approx(lowest, abs=1e-12)
    assert env.spec.reward_threshold is None  # it would be the defaults' for all keywords


def test_a_spawned_process_can_make_every_game_by_its_prefixed_id():
    games = [(f"exactdice:exactdice/{name}-v0", sizes) for name, (sizes, *_) in SMALL.items()]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        known_before, *there = pool.submit(first_moves, games).result(timeout=60)
    assert not known_before
    assert there == [first_move(gym.make(env_id, **sizes)) for env_id, sizes in games]


@pytest.mark.parametrize(("name", "size"), SIZED)
def test_the_spec_survives_json_and_the_environment_pickling_and_copying(name, size):
    every = range(make_game(name, **size).num_players)
    others = {GAMES[name].opponent_keyword: "random"} if len(every) > 1 else {}
    for seat in every:
        env = make(name, **size, **others, seat=seat, reward="regret")
        env.reset(seed=1)
        again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json())).unwrapped
        env = env.unwrapped
        assert again.task.game == env.task.game
        assert again.task.labels == {other: "random" for other in every if other != seat}
        for clone in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
            assert next_steps(clone) == next_steps(copy.deepcopy(env))


def next_steps(env):
    """Play on, and list what was seen and paid."""
    steps, rng = [], np.random.default_rng(0)
    for _ in range(20):
        seen, *paid, _ = env.step(legal_action(env.action_masks(), rng))
        steps.append((seen.tolist(), paid))
        if paid[1]:
            steps.append(env.reset()[0].tolist())
    return steps


@pytest.mark.parametrize(("name", "seat", "reward"), REWARDED)
def test_vector_and_sb3_play_the_same_games(name, seat, reward):
    vector = make_vec(name, 7, seat=seat, reward=reward, autoreset_mode="SameStep")
    other = GameVecEnv(make(name, seat=seat).unwrapped.task, 7, reward)
    other.seed(4)
    observations, infos = vector.reset(seed=4)
    assert (observations == other.reset()).all()
    rng = np.random.default_rng(5)
    for _ in range(150):
        masks = infos["action_mask"].astype(bool)
        assert (masks == np.stack(other.env_method("action_masks"))).all()
        actions = random_actions(masks, rng)
        observations, rewards, over, truncated, infos = vector.step(actions)
        other_observations, other_rewards, dones, other_infos = other.step(actions)
        assert (observations == other_observations).all()
        assert (rewards.astype(np.float32) == other_rewards).all()
        assert (over == dones).all()
        assert not truncated.any()
        for lane in np.flatnonzero(over):
            final, info = infos["final_info"], other_infos[lane]
            assert (infos["final_obs"][lane] == info["terminal_observation"]).all()
            assert final["outcome"][lane] == info["outcome"]
            assert not info["TimeLimit.truncated"]
            illegal = "illegal_action" in final and final["illegal_action"][lane]
            assert illegal == info.get("illegal_action", False)


@pytest.mark.parametrize(
    ("name", "seat", "reward"), [*REWARDED, ("Rounds", 0, "outcome"), ("Rounds", 1, "shaped")]
)
@pytest.mark.usefixtures("own_games")
def test_one_lane_plays_the_games_of_the_scalar_environment(name, seat, reward):
    if name == "Rounds":
        exactdice.register(Rounds)
    require_same_play(f"exactdice/{name}-v0", 200, seat=seat, reward=reward, **QUICK.get(name, {}))


def test_ended_games_are_reset_by_hand_where_autoreset_is_disabled(name):
    env = make_vec(name, 5, autoreset_mode=AutoresetMode.DISABLED)
    env.reset(seed=8)
    rng = np.random.default_rng(8)
    over = np.zeros(5, dtype=bool)
    while not over.any() or over.all():
        if over.all():
            env.reset()
        over = env.step(random_actions(env.unwrapped.action_masks(), rng))[2]
    ended = np.flatnonzero(over).tolist()
    with pytest.raises(RuntimeError, match=rf"games \[{', '.join(map(str, ended))}\] are over"):
        env.step(np.zeros(5, dtype=int))
    before = env.unwrapped._engine.lanes.observations()
    observations, infos = env.reset(options={"reset_mask": over})
    assert (observations[~over] == before[~over]).all()
    assert (infos["_action_mask"] == over).all()
    assert (infos["action_mask"] == env.unwrapped.action_masks()).all()
    assert infos["action_mask"].any(axis=1).all()
    env.step(np.zeros(5, dtype=int))
    for mask in (np.ones(4, dtype=bool), np.ones(5), np.zeros(5, dtype=bool)):
        with pytest.raises(ValueError, match=r"reset_mask must be bool of shape \(5,\)"):
            env.reset(options={"reset_mask": mask})


def first_games(env, seed):
    """Reset, make some moves and list what was seen."""
    seen = [env.reset(seed=seed)[0]]
    rng = np.random.default_rng(3)
    seen += [env.step(random_actions(env.action_masks(), rng, wild=0))[0] for _ in range(20)]
    return np.array(seen).tolist()


def test_a_list_of_seeds_fixes_the_games(name):
    env = make_vec(name, 3).unwrapped
    games = first_games(env, [4, 5, 6])
    assert first_games(env, (4, 5, 6)) == first_games(env, np.array([4, 5, 6])) == games
    others = [first_games(env, seeds) for seeds in ([4, 5, 7], [6, 5, 4], 4)]
    assert games not in others
    one = make_vec(name, 1).unwrapped
    assert first_games(one, [9]) == first_games(one, 9)

    def games_after(seed, then):  # where no seed goes on from the seed before
        env.reset(seed=seed)
        return first_games(env, then)

    for then in ([None] * 3, [None, 5, None]):
        assert games_after(1, then) == games_after(1, then) != games_after(2, then)
    assert games_after(1, [None] * 3) == games_after(1, None)


def test_attributes_are_asked_of_every_game_as_of_gymnasiums_own_vectors(name):
    env = make_vec(name, 2).unwrapped
    own = make_vec(name, 2, vectorization_mode="sync").unwrapped
    for attribute in ("action_space", "observation_space", "render_mode", "task"):
        assert env.get_attr(attribute) == own.get_attr(attribute)
    env.reset(seed=1)
    masks = env.call("action_masks")
    assert [mask.tolist() for mask in masks] == env.action_masks().tolist()
    with pytest.raises(AttributeError, match="step must be 'action_masks', the only method"):
        env.call("step", 0)
    with pytest.raises(AttributeError, match="nothing"):
        env.get_attr("nothing")


def test_infos_are_fresh_and_have_masks_of_the_types_that_samplers_want(name):
    env = make(name).unwrapped
    observation, info = env.reset(seed=1)
    kept = observation.copy(), info["action_mask"].copy()
    assert info["action_mask"].dtype == np.int8
    assert env.action_space.sample(mask=info["action_mask"]) in env.action_space
    env.step(legal_action(info["action_mask"], np.random.default_rng(0)))
    assert (observation == kept[0]).all()
    assert (info["action_mask"] == kept[1]).all()
    vector = make_vec(name, 4)
    infos = vector.reset(seed=1)[1]
    vector.action_space.seed(1)
    for _ in range(20):
        masks = infos["action_mask"]
        actions = vector.action_space.sample(mask=tuple(masks))
        assert masks[np.arange(4), actions].all()
        infos = vector.step(actions)[4]
        for key in infos:
            assert key.startswith("_") or infos[f"_{key}"].shape == (4,)


def test_an_illegal_action_ends_the_episode_with_the_worst_outcome(name):
    env = make(name).unwrapped
    if env.task.game.mask(states_of(env.task.game, env.task.seat)).all():
        pytest.skip("every action is legal")
    rng, over = np.random.default_rng(2), False
    _, info = env.reset(seed=2)
    while info["action_mask"].all():
        _, _, over, _, info = env.step(legal_action(info["action_mask"], rng))
        if over:
            _, info = env.reset()
    _, reward, over, _, info = env.step(info["action_mask"].argmin())
    assert over
    assert info["illegal_action"]
    assert reward == info["outcome"] == env.task.game.payoff_range[0]


@pytest.mark.usefixtures("own_games")
def test_an_illegal_action_takes_nothing_back_that_was_paid_before():
    exactdice.register(Rounds)
    env = gym.make("exactdice/Rounds-v0", turns=3)
    low = env.unwrapped.task.game.payoff_range[0]
    _, info = env.reset(seed=0)
    _, first, over, _, info = env.step(0)
    assert first > 0
    assert not over
    while info["action_mask"][1]:
        _, more, over, _, info = env.step(1)
        assert more == 0
    _, paid, over, _, info = env.step(1)
    assert (paid, over, info["illegal_action"]) == (low, True, True)
    assert info["outcome"] == first + low


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make("Greed", reward="score"), "one of 'outcome', 'regret', 'shaped', got"),
        (lambda: GameEnv("Greed", render_mode="rgb"), "must be None or one of ansi, human, r"),
        (lambda: make("LowestScore", seat=9), "seat must be from 0 to 3, got 9"),
        # In the words that torchrl reads.
        (lambda: GameEnv("Greed", colour="red"), "oppon.* unexpected keyword argument 'colour'$"),
        (lambda: make("Greed", opponent="greedy"), "'optimal', 'best_resp.* got 'greedy'"),
        (lambda: make("Greed", opponent=np.ones((2, 2))), "table of shape .* got float64 of"),
        (lambda: make("FourTwoOne", opponent="random"), "left out, as there is one"),
        (lambda: GameEnv("Greed").step(0), "the game is over: call reset before step"),
        (lambda: make_vec("Greed", 0), "num_envs must be at least 1, got 0"),
        (lambda: make_vec("Greed", 2, render_mode="ansi"), "must be None for a vector, got 'ansi'"),
        *(
            (lambda seed=seed: make_vec("Greed", 3).reset(seed=seed), "seed must be one integer, o")
            for seed in ([1, 2], [1, 2, -3], [1, 2, 3.5], "abc", 1.5, np.array(7))
        ),
    ],
)
def test_bad_keywords_sizes_seeds_and_calls_out_of_turn_are_named(call, message):
    with pytest.raises((InputError, RuntimeError, TypeError), match=message):
        call()
