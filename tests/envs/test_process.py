"""The flat tables of a task: equal to the rules in every state and action of small sizes."""

import pickle
from fractions import Fraction
from typing import get_args

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import Task, cache, evaluate, make_task, prepare
from exactdice.core import moves
from exactdice.core.positions import first_actions
from exactdice.core.sweeps import Sweeps, sweeps_of
from exactdice.envs import Engine, GameEnv, RewardMode, planners
from exactdice.envs.encoding import Encoding
from exactdice.envs.engine import engine, tables
from exactdice.envs.engine.lanes import PlainRuleLanes, RuleLanes
from exactdice.envs.engine.table_lanes import ArrayLanes, PlainLanes
from exactdice.envs.engine.tables import process_of
from exactdice.games import (
    GAMES,
    AliasLaws,
    FourTwoOne,
    Greed,
    LowestScore,
    ShutTheBox,
    SizeError,
    Yahtzee,
)
from exactdice.games.greed import GreedSweeps
from exactdice.games.yahtzee import values
from random_games import RandomGame
from small_games import SMALL, Rounds
from tabled import law_of, require_same_games, require_same_law, require_tables

import exactdice

LISTED = [GAMES[name](**sizes) for name, every in SMALL.items() for sizes in every]
LISTED = [game for game in LISTED if game.num_states * game.num_actions <= planners.LIMIT]
#: Games whose moves pay before the end.
PAYING = [
    Task(Rounds(), 0),
    Task(Rounds(2, 4, Fraction(-1)), 1, "random"),
    Task(Rounds(3, 7, Fraction(-1, 3)), 1, "random"),
    Task(RandomGame(0, 1, has_cycles=False, pays=True), 0),
    Task(RandomGame(3, 2, has_cycles=False, pays=True), 0, "random"),
    Task(RandomGame(5, 2, has_cycles=False, pays=True), 1, "optimal"),
    Task(RandomGame(11, 2, has_cycles=True, pays=True), 1, "optimal"),
]
TASKS = [
    *(
        Task(game, seat, policy)
        for game in LISTED
        for seat in range(game.num_players)
        for policy in (("equilibrium", "random") if game.num_players > 1 else ([],))
    ),
    *PAYING,
]


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_tables_and_sparse_matrices_are_the_rules(task):
    """The law of every move, whatever the others reply, and of the first state."""
    pays_early = task in PAYING[:-1]  # the last of them not at a node of its tables
    assert (process_of(prepare(task)).node_gains is None) != pays_early
    require_tables(task)
    for reward in get_args(RewardMode):
        require_same_law(task, reward)


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_arrays_and_plain_numbers_play_the_same_games(task):
    require_same_games(task, 8, 60)


@pytest.mark.parametrize(
    "keywords",
    [{}, {"joker": "free"}, {"bonus": 0}, {"boxes": "ones,full_house,yahtzee,chance", "bonus": 7}],
)
def test_rules_in_plain_numbers_play_the_same_games(keywords):
    """Also one lane, move by move, as single environments do."""
    task = Task(Yahtzee(**keywords), 0)
    require_same_games(task, 9, 101, (RuleLanes, PlainRuleLanes))
    engine, rngs = Engine(task, 1), [np.random.default_rng(seed) for seed in (0, 0, 1)]
    one, other = engine.lanes, RuleLanes(prepare(task), 1, engine.encoding)
    assert isinstance(one, PlainRuleLanes)
    over = True
    for _ in range(150):
        if over:
            one.start_one(rngs[0])
            other.start_one(rngs[1])
        np.testing.assert_array_equal(one.observe_one(), other.observe_one())
        np.testing.assert_array_equal(one.mask_of_one(), other.mask_of_one())
        legal = one.mask_of_one() | (rngs[2].random() < 0.1)  # illegal ones, too
        action = int((rngs[2].random(len(legal)) * legal).argmax())
        found = one.move_one(action, rngs[0])
        assert found == other.move_one(action, rngs[1])
        over = found[1]


def test_opponents_move_in_a_large_game_with_rules_in_plain_numbers():
    """Plain lanes have no opponents, so that Greed without tables is played by its arrays."""
    lanes = Engine(make_task("Greed", 0, max_score=400, opponent="random"), 1).lanes
    rng = np.random.default_rng(0)
    lanes.start_one(rng)
    lanes.move_one(3, rng)
    assert [move.seat for move in lanes.played] == [0, 1]


@pytest.mark.parametrize("task", PAYING, ids=repr)
@pytest.mark.parametrize("kind", [RuleLanes, ArrayLanes, PlainLanes])
def test_sampled_games_have_mean_and_deviation_of_the_exact_answer(task, kind):
    """Mean and mean square of the totals of 4,000 games of uniform play, within 5 errors."""
    count, rng = 4000, np.random.default_rng(1)
    lanes = kind(prepare(task), count, Encoding(task.game.observation_sizes))
    everyone = np.arange(count)
    lanes.start(everyone, rng)
    totals, playing = np.zeros(count), everyone
    while len(playing):
        legal = lanes.masks()[playing]
        weights = legal * rng.random(legal.shape)
        ends = lanes.move(playing, weights.argmax(axis=1), rng)
        totals[playing] += ends.rewards
        np.testing.assert_allclose(ends.payoffs, totals[playing], atol=1e-12)
        playing = playing[~ends.over]
    found = evaluate("random", task)
    spread = float(found.variance) ** 0.5
    assert totals.mean() == pytest.approx(float(found.value), abs=5 * spread / count**0.5 + 1e-12)
    squares = (totals - float(found.value)) ** 2
    error = 5 * squares.std() / count**0.5 + 1e-12
    assert squares.mean() == pytest.approx(spread**2, abs=error)
    assert found._variance_of_sum() == pytest.approx(spread**2)


@pytest.mark.parametrize("sizes", [(1, 1), (5, 7), (2, 252)])
def test_alias_laws_are_the_laws(sizes):
    rng = np.random.default_rng(1)
    laws = rng.random(sizes) ** 8 * (rng.random(sizes) < 0.8)
    laws[:, 0] += 0.01
    laws /= laws.sum(axis=1, keepdims=True)
    alias = AliasLaws.of([np.ones((1, 1)), laws])
    for row, law in enumerate(laws):
        found = np.array([*law_of(alias, 1 + row).values()])
        np.testing.assert_allclose(found, law, atol=1e-14)
        assert (found[law == 0] == 0).all()
    rows = rng.permutation(len(laws))
    places, outcomes, chances = alias.outcomes(1 + rows)
    likely = np.nonzero(laws[rows])
    np.testing.assert_array_equal([places, outcomes], likely)
    np.testing.assert_allclose(chances, laws[rows][likely], atol=1e-14)


def test_what_does_not_fit_is_played_by_the_rules(monkeypatch):
    """Greed has a list of its moves of its own; any other game is played by the rules then."""
    game, task = Greed(6, 3), Task(Greed(6, 3), 1, "random")
    assert isinstance(Engine(task, 3).lanes, PlainLanes)
    with monkeypatch.context() as patch:
        patch.setattr(tables, "LIMIT", 0)
        cache.clear_cache()
        assert isinstance(Engine(task, 3).lanes, RuleLanes)
    monkeypatch.setattr(moves, "MOST", 100)
    with pytest.raises(SizeError, match="moves must have at most 100 outcomes to be listed, got"):
        Sweeps(game).moves(0, 0)
    monkeypatch.setattr(GreedSweeps, "moves", Sweeps.moves)
    cache.clear_cache()
    assert process_of(prepare(task)) is None
    cache.clear_cache()


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("Greed", 8e6),
        ("LowestScore", 3e5),
        ("LowestScoreMatch", 5e5),
        ("ShutTheBox", 4e6),
        ("FourTwoOne", 1e5),
        pytest.param("FourTwoOneMatch", 3e7, marks=pytest.mark.slow),
    ],
)
def test_the_tables_of_the_default_games_are_small(name, most):
    """In bytes: a table of every way of every move would take a hundred times as much."""
    game = GAMES[name]()
    assert not sweeps_of(game).is_listed
    assert len(pickle.dumps(process_of(prepare(Task(game))))) < most


def test_a_mask_that_its_reader_changes_is_no_rule_of_the_game():
    game = Yahtzee(boxes="ones,chance")
    lanes = RuleLanes(prepare(Task(game)), 50, Encoding(game.observation_sizes))
    rng, every = np.random.default_rng(0), np.arange(50)
    lanes.start(every, rng)
    for _ in range(6):
        legal = game.mask(lanes.states())
        shown = lanes.masks()
        assert (shown == legal).all()
        shown[...] = ~shown
        lanes.start(np.flatnonzero(lanes.move(every, legal.argmax(axis=1), rng).over), rng)


@pytest.mark.parametrize("horizon", [8, 2047, 2048, 2049])  # times 16: 128, about 32,768
def test_tables_hold_the_number_of_states_within_a_limit(horizon):
    env = GameEnv(exactdice.from_P(gym.make("FrozenLake-v1"), horizon=horizon))
    env.reset(seed=0)
    shown = [env.step(0)[0].tolist()[1] for _ in range(3)]
    assert shown == [1, 2, 3]


REWARDED = [
    Task(Greed(9, 3), 1, "random"),
    Task(LowestScore(2, 3, 3, players=3), 1, "random"),
    Task(ShutTheBox(4, 2, 3), 1, "random"),
    Task(FourTwoOne(2, 3, 3, "sum")),
    Task(Yahtzee(boxes="sixes,yahtzee,full_house")),
    Task(Yahtzee("free", 7, "twos,yahtzee,chance")),
    Task(Yahtzee(bonus=0, boxes="ones,sixes")),
]


@pytest.mark.parametrize("reward", ["regret", "shaped"])
@pytest.mark.parametrize("task", REWARDED, ids=repr)
def test_without_a_table_moves_are_rewarded_alike_illegal_ones_included(monkeypatch, task, reward):
    monkeypatch.setattr(values, "EACH", 1)
    monkeypatch.setattr(values, "TOGETHER", 4)  # turns are forgotten soon
    rewards = []
    for budget in (engine.ADVANTAGES, 0):
        monkeypatch.setattr(engine, "ADVANTAGES", budget)
        games = engine.Engine(task, 64, reward=reward)
        rng, lanes = np.random.default_rng(3), np.arange(64)
        games.lanes.start(lanes, rng)
        paid = []
        for step in range(6):
            actions = rng.integers(0, task.game.num_actions, 64)
            actions = np.where(
                lanes < 8 * step, actions, first_actions(task.game, games.lanes.states())
            )
            outcome = games.step(lanes, actions, rng)
            paid.append(outcome.rewards)
            games.lanes.start(lanes[outcome.over], rng)
        rewards.append(np.array(paid))
    assert rewards[0].any()
    np.testing.assert_allclose(rewards[0], rewards[1], rtol=1e-12, atol=1e-13)
