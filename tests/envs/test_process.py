"""The flat tables of a task and its laws of moves: equal to the rules in every state and action."""

import pickle
import sys
from fractions import Fraction
from typing import get_args

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import SimpleGame, Task, cache, evaluate, prepare, solve
from exactdice.baselines.policies.kinds import UniformPolicy
from exactdice.core import EXACT, AliasLaws, InputError, SizeError, moves
from exactdice.core.positions import first_actions, legal_moves
from exactdice.core.sweeps import Sweeps, sweeps_of
from exactdice.envs import Engine, GameEnv, RewardMode, from_P, planners, sparse_law
from exactdice.envs.encoding import Encoding
from exactdice.envs.engine import engine, tables
from exactdice.envs.engine.lanes import PlainRuleLanes, RuleLanes
from exactdice.envs.engine.table_lanes import ArrayLanes, PlainLanes
from exactdice.envs.engine.tables import process_of
from exactdice.envs.law import MoveLaw
from exactdice.games import GAMES, Greed, Yahtzee
from exactdice.games.greed import GreedSweeps
from exactdice.games.yahtzee import values
from random_games import RandomGame
from small_games import SIZED, Rounds
from tabled import law_of, require_same_games, require_same_law, require_tables
from thinning import at_once, every_third, later, one_of_each

import exactdice

LISTED = [GAMES[name](**sizes) for name, sizes in SIZED]
LISTED = [game for game in LISTED if game.num_states * game.num_actions <= planners.LIMIT]
#: Games whose moves pay before the end.
PAYING = [
    Task(Rounds(), 0),
    Task(Rounds(2, 4, Fraction(-1)), 1, "random"),
    Task(Rounds(3, 7, Fraction(-1, 3)), 1, "random"),
    Task(RandomGame(0, 1, has_cycles=False, pays=True), 0),
    Task(RandomGame(3, 2, has_cycles=False, pays=True), 0, "random"),
    Task(RandomGame(5, 2, has_cycles=False, pays=True), 1, "optimal"),
    Task(RandomGame(10, 3, has_cycles=False, pays=True), 0, "random"),
    Task(RandomGame(10, 3, has_cycles=False, pays=True), 2, "random"),
    Task(RandomGame(11, 2, has_cycles=True, pays=True), 1, "optimal"),
]
OF_GAMES = [
    Task(game, seat, policy)
    for game in LISTED
    for seat in range(game.num_players)
    for policy in (("equilibrium", "random") if game.num_players > 1 else ([],))
]
#: Of the tasks of games one of each game at once.
TASKS = [*one_of_each(lambda task: task.game.name, reversed(OF_GAMES)), *every_third(PAYING)]


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_tables_and_sparse_matrices_are_the_rules(task):
    pays_early = task in PAYING[:-1]  # the last of them not at a node of its tables
    assert (process_of(prepare(task)).node_gains is None) != pays_early
    require_tables(task)
    for reward in get_args(RewardMode):
        require_same_law(task, reward)


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_arrays_and_plain_numbers_play_the_same_games(task):
    require_same_games(task, 8, 60)


YAHTZEE = [
    Task(Yahtzee()),
    Task(Yahtzee("free")),
    Task(Yahtzee(boxes="sixes,yahtzee,full_house")),
    Task(Yahtzee("free", 7, "twos,yahtzee,chance")),
    Task(Yahtzee(bonus=0, boxes="ones,sixes")),
]


@pytest.mark.parametrize("task", every_third(YAHTZEE, 1), ids=repr)
def test_rules_in_plain_numbers_play_the_same_games(task):
    require_same_games(task, 9, 101, (RuleLanes, PlainRuleLanes))
    assert isinstance(Engine(task, 1).lanes, PlainRuleLanes)


@pytest.mark.parametrize("task", every_third(PAYING), ids=repr)
@pytest.mark.parametrize("kind", [RuleLanes, ArrayLanes, PlainLanes])
@pytest.mark.parametrize("count", [2000, later(4000)])
def test_sampled_games_have_mean_and_deviation_of_the_exact_answer(task, kind, count):
    """Mean and mean square of the totals of games of uniform play, within 5 errors."""
    rng = np.random.default_rng(1)
    lanes = kind(prepare(task), count, Encoding(task.game.observation_sizes))
    everyone = np.arange(count)
    lanes.start(everyone, rng)
    totals, playing = np.zeros(count), everyone
    while len(playing):
        legal = lanes.masks()[playing]
        weights = legal * rng.random(legal.shape)
        ends = lanes.advance(playing, weights.argmax(axis=1), playing < 0, rng)
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
    game, task = Greed(6, 3), Task(Greed(6, 3), 0, "random")
    assert isinstance(Engine(task, 3).lanes, PlainLanes)
    with monkeypatch.context() as patch:
        patch.setattr(tables, "LIMIT", 0)
        cache.clear_cache()
        assert isinstance(Engine(task, 3).lanes, RuleLanes)
        lanes, rng = Engine(task, 1).lanes, np.random.default_rng(0)  # plain ones have no opponents
        lanes.start_one(rng)
        lanes.move_one(3, rng)
        assert [move.seat for move in lanes.played] == [0, 1]
    monkeypatch.setattr(moves, "MOST_OUTCOMES", 100)
    with pytest.raises(SizeError, match="moves must have at most 100 outcomes to be listed, got"):
        Sweeps(game).moves(0, 0)
    monkeypatch.setattr(GreedSweeps, "moves", Sweeps.moves)
    cache.clear_cache()
    assert process_of(prepare(task)) is None
    cache.clear_cache()


LARGEST = {"Greed": 8e6, "LowestScore": 3e5, "LowestScoreMatch": 5e5, "ShutTheBox": 4e6}
SLOWEST = pytest.param("FourTwoOneMatch", 3e7, marks=pytest.mark.slow)


@pytest.mark.parametrize(("name", "most"), [*LARGEST.items(), ("FourTwoOne", 1e5), SLOWEST])
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
        moved = lanes.advance(every, legal.argmax(axis=1), every < 0, rng)
        lanes.start(np.flatnonzero(moved.over), rng)


@pytest.mark.parametrize("horizon", [8, 2047, 2048, 2049])  # times 16: 128, about 32,768
def test_tables_hold_the_number_of_states_within_a_limit(horizon):
    env = GameEnv(exactdice.from_P(gym.make("FrozenLake-v1"), horizon=horizon))
    env.reset(seed=0)
    shown = [env.step(0)[0].tolist()[1] for _ in range(3)]
    assert shown == [1, 2, 3]


@pytest.mark.parametrize("reward", ["regret", "shaped"])
@pytest.mark.parametrize("task", [*TASKS, YAHTZEE[2], *map(later, YAHTZEE[3:])], ids=repr)
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
            legal = first_actions(task.game, games.lanes.states())
            drawn = rng.integers(0, task.game.num_actions, 64)
            outcome = games.step(lanes, np.where(lanes < 8 * step, drawn, legal), rng)
            paid.append(outcome.rewards)
            games.lanes.start(lanes[outcome.over], rng)
        rewards.append(np.array(paid))
    assert rewards[0].any() or task.game.num_actions == 1
    np.testing.assert_allclose(rewards[0], rewards[1], rtol=1e-12, atol=1e-13)


#: Default sizes, where ``P`` is refused or long, and Greed in one that takes no time.
PLANNED = [
    ("FourTwoOne", {}),
    ("FourTwoOne", {"utility": "set"}),
    ("LowestScore", {}),
    ("LowestScore", {"seat": 2, "dice": 4, "objective": "score"}),
    ("ShutTheBox", {}),
    ("ShutTheBox", {"seat": 1, "tiles": 6, "opponent": "random"}),
    ("Greed", {"max_score": 30}),
    ("Greed", {"max_score": 12, "reward": "regret"}),
    ("Greed", {"max_score": 12, "reward": "shaped"}),
]


@pytest.mark.parametrize(("name", "keywords"), at_once(PLANNED[::2].count, PLANNED))
def test_value_iteration_finds_the_optimum(name, keywords):
    env = gym.make(f"exactdice/{name}-v0", **keywords)
    law = env.unwrapped.sparse_P
    # Some planners refuse rows that miss 1 by more than 2.2e-15.
    assert np.abs(law.transitions.sum(axis=1) - 1).max() < 2e-15
    before, values = None, np.zeros(len(law.initial))
    while not np.array_equal(before, values):
        table = law.rewards + (law.transitions @ values).reshape(law.rewards.shape)
        before, values = values, table.max(axis=1)
    actions = np.where(law.legal, table, -np.inf).argmax(axis=1)
    optimum = exactdice.solve(env).value
    best = 0 if "reward" in keywords else optimum
    assert law.initial @ values == pytest.approx(best, abs=1e-12)
    plan = dict(zip(law.states.tolist(), actions.tolist(), strict=False))
    assert exactdice.score(plan, env).value == pytest.approx(optimum, abs=1e-12)


def test_a_law_without_room_or_scipy_is_refused(monkeypatch):
    small, middle, large, default = (
        gym.make("exactdice/Greed-v0", max_score=size).unwrapped for size in (20, 30, 60, 100)
    )
    law = small.sparse_P
    for limit, ask, message in (
        ("4", lambda: default.P, "P needs at most 20000 pairs of state and action, got"),
        ("0.025", lambda: large.sparse_P, "must be at most .*, got .*MB"),  # but moves fit
        ("0.001", lambda: middle.sparse_P, "outcomes of moves must be at most 133,333, got .*MB"),
        ("0.001", law.as_dict, "entries of a dictionary must be at most 53,333, got"),
    ):
        monkeypatch.setenv("EXACTDICE_LIMIT", limit)
        with pytest.raises(InputError, match=message):
            ask()
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    said = "sparse_P needs more libraries .scipy.*: pip install scipy"
    with pytest.raises(ModuleNotFoundError, match=said):
        _ = small.sparse_P


ON_GRIDS = [from_P(gym.make("Taxi-v4")), from_P(gym.make("CliffWalking-v1", is_slippery=True))]


@pytest.mark.parametrize("task", [*TASKS, *ON_GRIDS], ids=repr)
def test_the_law_of_moves_is_that_of_sparse_p(task):
    whole, count = sparse_law(prepare(task)), task.game.num_actions
    rows, actions = legal_moves(task.game, whole.states)
    some = np.random.default_rng(0).permutation(len(rows))[:300]
    law = MoveLaw(prepare(task), whole.states[rows[some]], actions[some])
    kept = sum(matrix.nnz for matrix in vars(law).values() if hasattr(matrix, "nnz"))
    assert kept <= law._outcomes  # the law of whole replies has up to forty times as many
    wanted = whole.transitions.toarray()[rows[some] * count + actions[some]]
    numbers = np.random.default_rng(1).random(len(whole.states) + 1)
    places = np.searchsorted(whole.states, law.states)
    of_results = np.append(numbers[places], np.full(len(law.payoffs), numbers[-1]))
    np.testing.assert_allclose(law.mean(of_results), wanted @ numbers, atol=1e-14)
    moves, states = np.nonzero(wanted[:, :-1] > -1)
    found = law.chances(moves, law.results(whole.states[states]))
    np.testing.assert_allclose(found, wanted[:, :-1].ravel(), atol=1e-14)
    rewards = whole.rewards[:-1].ravel()[rows[some] * count + actions[some]]
    np.testing.assert_allclose(law.mean(law.paid), rewards, atol=1e-12)
    every = np.arange(len(law.paid))
    moves, results = np.repeat(np.arange(len(some)), len(every)), np.tile(every, len(some))
    each = law.chances(moves, results, paid=True).reshape(len(some), -1)
    np.testing.assert_allclose(each, law.mean(np.eye(len(every))), atol=1e-14)
    ends = np.full(len(law.payoffs), -1)
    np.testing.assert_array_equal(law.results(np.append(law.states, ends), law.paid), every)


class Waiting(SimpleGame):
    """Player 1 waits at place 1 with probability 5/8 a move; then player 0 ends the game."""

    def start(self):
        return [(1, 0)]

    def player(self, place):
        return place % 2

    def actions(self, place):
        return ["go"]

    def outcomes(self, place, action):
        return [[(1, 0, 1)], [(0.625, 0, 1), (0.375, 0, 2)], [(1, 1, None)]][place]


def test_the_law_of_an_opponent_who_may_wait_for_ever_is_found():
    """The chances of waiting longer and longer end at the smallest float, which never gets 0."""
    task = Task(Waiting(), 0, "random")
    law = MoveLaw(prepare(task), np.array([0]), np.array([0]))
    np.testing.assert_allclose(law.mean(np.ones(len(law.paid))), 1)


def test_a_policy_that_may_change_is_listed_and_not_audited_nor_is_what_has_no_tables(monkeypatch):
    problem, state = prepare(Task(Greed(6, 3), 0, "random")), np.array([0])
    with monkeypatch.context() as patch:
        patch.setattr(UniformPolicy, "is_table", False)
        with pytest.raises(InputError, match="the policy of an opponent is no table"):
            MoveLaw(problem, state, state)
        assert len(MoveLaw(problem, state, state, asked=True).paid)
    monkeypatch.setattr(tables, "LIMIT", 0)
    cache.clear_cache()
    with pytest.raises(InputError, match="must have tables of its moves to be audited"):
        MoveLaw(problem, state, state)
    cache.clear_cache()


def test_a_problem_is_computed_exactly_if_that_is_asked():
    problem = prepare(Task(Greed(6, 3), 0, "random"))
    assert prepare(problem) is problem
    assert type(solve(problem, exact=True).value) is Fraction
    assert prepare(prepare(problem.task, exact=True)).arithmetic == EXACT


def test_moves_are_numbered_in_integers_that_hold_them():
    """129 moves among fewer states: the last number needs more than eight bits."""
    law = np.stack([np.roll(np.eye(43), 1 + action, axis=1) for action in range(3)])
    problem = prepare(exactdice.from_P(law, 0, rewards=np.zeros(43), gamma=0.9))
    moves = MoveLaw(problem, np.repeat(np.arange(43), 3), np.tile(np.arange(3), 43))
    found = moves.transitions().in_scipy.toarray()[:, :43] / 0.9
    np.testing.assert_allclose(found.reshape(43, 3, -1), law.swapaxes(0, 1), atol=1e-15)
