"""Environments of games whose moves pay before the end: rewards are paid as they are scored."""

import pickle
from collections import defaultdict
from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.baselines import Task, evaluate, expected_payoffs, solve
from exactdice.core.positions import states_of
from exactdice.envs import Engine, sparse_law
from exactdice.envs.api.encoding import Encoding
from exactdice.envs.engine.lanes import RuleLanes
from exactdice.envs.engine.process import number_of
from exactdice.envs.engine.table_lanes import ArrayLanes, PlainLanes
from exactdice.envs.engine.tables import process_of
from exactdice.envs.planners import tabulate_transitions
from random_games import RandomGame
from small_games import Rounds
from tabled import assert_same, law_of

import exactdice

TASKS = [
    Task(Rounds(), 0),
    Task(Rounds(2, 4), 0, "random"),
    Task(Rounds(2, 4, Fraction(-1)), 1, "random"),
    Task(Rounds(3, 7, Fraction(-1, 3)), 1, "random"),
    Task(RandomGame(0, 1, has_cycles=False, pays=True), 0),
    Task(RandomGame(3, 2, has_cycles=False, pays=True), 0, "random"),
    Task(RandomGame(5, 2, has_cycles=False, pays=True), 1, "optimal"),
    Task(RandomGame(7, 2, has_cycles=True, pays=True), 0, "random"),
    Task(RandomGame(11, 2, has_cycles=True, pays=True), 1, "optimal"),
]
each_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.game}-{task.seat}")
kinds = pytest.mark.parametrize("kind", [RuleLanes, ArrayLanes, PlainLanes])


def lanes_of(task, kind, count):
    return kind(task, count, Encoding(task.game.observation_sizes))


def replies(process, event, known):
    """Give the law of what follows an event: {(place, context) or (None, payoff), paid: chance}."""
    if event < process.first_node:
        return {(None, 0, float(process.payoffs[event])): 1.0}
    if event not in known:
        node, known[event] = event - process.first_node, defaultdict(float)
        paid = 0.0 if process.node_gains is None else float(process.node_gains[node])
        for outcome, chance in law_of(process.laws, process.node_laws[node]).items():
            entry = int(process.leads_to[process.node_firsts[node] + outcome]) if chance else -1
            if not chance:
                continue
            later = {(entry, int(process.node_contexts[node]), 0.0): 1.0}
            if entry < 0:
                later = replies(process, number_of(entry), known)
            for (place, context, more), part in later.items():
                known[event][place, context, paid + more] += chance * part
    return known[event]


@pytest.mark.parametrize("task", TASKS[:7], ids=lambda task: f"{task.game}-{task.seat}")
def test_the_tables_are_the_rules(task):
    process, known = process_of(task), {}
    assert process.node_gains is not None
    transitions = tabulate_transitions(Engine(task, 1))
    for state in states_of(task.game, task.seat).tolist():
        (place,), (context,) = process.groups.locate(np.array([state]))
        for action in range(task.game.num_actions):
            found, wanted = defaultdict(float), defaultdict(float)
            for chance, later, reward, over in transitions[state][action]:
                wanted[None if over else later, round(reward, 9)] += chance
            move = place * process.legal.shape[1] + action
            for outcome, chance in law_of(process.laws, process.move_laws[move]).items():
                entry = int(process.leads_to[process.move_firsts[move] + outcome]) if chance else 0
                later = {(entry, context, 0.0): 1.0}
                if entry < 0:
                    event = process.events[number_of(entry) * process.num_contexts + context]
                    later = replies(process, event, known)
                for (where, what, paid), part in later.items():
                    at = None
                    if where is not None:
                        at = int(process.groups.states(np.array([where]), np.array([what]))[0])
                    found[at, round(paid, 9)] += chance * part
            assert_same(
                {end: chance for end, chance in found.items() if chance},
                {end: chance for end, chance in wanted.items() if chance},
            )


def policy_values(task, transitions):
    """Give the value of uniform play in each state by plain iteration on ``P``."""
    values = np.zeros(len(transitions))
    mask = task.game.mask(np.arange(task.game.num_states))
    for _ in range(100 if task.game.has_cycles else 10):
        before = values.copy()
        for state in states_of(task.game, task.seat).tolist():
            worth = [
                sum(chance * (paid + before[after]) for chance, after, paid, _ in ways)
                for action, ways in transitions[state].items()
                if mask[state, action]
            ]
            values[state] = np.mean(worth)
    return values[:-1]


@each_task
def test_the_laws_for_planners_have_the_values_of_policies(task):
    blind, best = evaluate("random", task), solve(task)
    for reward in ("outcome", "regret", "shaped"):
        values = policy_values(task, tabulate_transitions(Engine(task, 1, reward)))
        own = states_of(task.game, task.seat)
        less = 0.0 if reward == "outcome" else best.values[task.seat, own]
        assert values[own] == pytest.approx(blind.values[task.seat, own] - less, abs=1e-9)


@each_task
@pytest.mark.parametrize("reward", ["outcome", "regret"])
def test_the_sparse_law_is_the_dictionary(task, reward):
    pytest.importorskip("scipy")
    law = sparse_law(task, reward)
    values, mask = np.zeros(len(law.states) + 1), law.legal
    for _ in range(100 if task.game.has_cycles else 10):
        ahead = law.rewards + (law.transitions @ values).reshape(law.rewards.shape)
        values = np.where(mask, ahead, 0).sum(axis=1) / mask.sum(axis=1)
    wanted = evaluate("random", task).values[task.seat, law.states]
    less = 0.0 if reward == "outcome" else solve(task).values[task.seat, law.states]
    assert values[:-1] == pytest.approx(wanted - less, abs=1e-9)


@each_task
@kinds
def test_sampled_games_have_mean_and_deviation_of_the_exact_answer(task, kind):
    """Mean and mean square of the totals of 4,000 games of uniform play, within 5 errors."""
    count, rng = 4000, np.random.default_rng(1)
    lanes, everyone = lanes_of(task, kind, count), np.arange(count)
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


@each_task
def test_arrays_and_plain_numbers_play_the_same_games(task):
    both = [lanes_of(task, kind, 9) for kind in (ArrayLanes, PlainLanes)]
    rngs = [np.random.default_rng(3) for _ in both]
    actions, fresh = np.random.default_rng(4), np.ones(9, dtype=bool)
    paid, every = np.zeros(9), np.arange(9)
    for _ in range(100):
        chosen = actions.integers(0, task.game.num_actions, 9)  # illegal ones, too
        ours, theirs = (
            side.advance(every, chosen, fresh, rng) for side, rng in zip(both, rngs, strict=True)
        )
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(mine, other)
        paid = np.where(fresh, 0, paid) + ours.rewards
        np.testing.assert_allclose(ours.payoffs, paid, atol=1e-12)
        fresh = ours.over
    one, again = both[0], pickle.loads(pickle.dumps(both[0]))
    rngs = [np.random.default_rng(5) for _ in both]
    moved = np.flatnonzero(~fresh)
    chosen = one.masks()[moved].argmax(axis=1)
    left, right = (
        side.move(moved, chosen, rng) for side, rng in zip((one, again), rngs, strict=True)
    )
    np.testing.assert_array_equal(left.payoffs, right.payoffs)


@pytest.fixture
def env_id(own_games):  # noqa: ARG001  it forgets the game afterwards
    exactdice.register(Rounds)
    return "exactdice/Rounds-v0"


KEYWORDS = {"players": 2, "turns": 6, "others": Fraction(-1, 2), "opponent": "random"}


@pytest.mark.parametrize("reward", ["outcome", "regret", "shaped"])
@pytest.mark.parametrize("seat", [0, 1])
def test_scalar_vector_and_sb3_pay_alike(env_id, reward, seat):
    keywords = {**KEYWORDS, "reward": reward, "seat": seat}
    env = gym.make(env_id, **keywords)
    vector = gym.make_vec(env_id, 1, **keywords)
    lanes = GameVecEnv(env.unwrapped.task, 1, reward)
    _, info = env.reset(seed=8)
    vector.reset(seed=8)
    lanes.seed(8)
    lanes.reset()
    returned, seen = 0.0, []
    for _ in range(60):
        action = int(info["action_mask"].argmax())
        _, paid, over, _, info = env.step(action)
        _, paid_too, over_too, _, infos = vector.step(np.array([action]))
        _, paid_again, over_again, reports = lanes.step(np.array([action]))
        assert (paid, over) == (paid_too[0], over_too[0])
        assert (np.float32(paid), over) == (paid_again[0], over_again[0])
        returned += paid
        if over:
            assert info["outcome"] == infos["outcome"][0] == reports[0]["outcome"]
            assert reports[0]["episode"]["r"] == pytest.approx(returned)
            if reward == "outcome":
                assert info["outcome"] == pytest.approx(returned)
                seen.append(returned)
            _, info = env.reset()
            vector.step(np.array([0]))  # the vector resets in its next step
            returned = 0.0
    assert reward != "outcome" or len(set(seen)) > 1


def test_an_illegal_action_is_the_worst_that_may_follow(env_id):
    env = gym.make(env_id, turns=3)
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


@pytest.mark.usefixtures("env_id")
def test_all_players_are_paid_in_pettingzoo():
    pettingzoo = pytest.importorskip("exactdice.pettingzoo")
    sizes = {name: KEYWORDS[name] for name in ("players", "turns", "others")}
    env = pettingzoo.env("Rounds", **sizes)
    rng, every = np.random.default_rng(2), []
    for game in range(200):
        env.reset(seed=game)
        paid = defaultdict(float)
        for agent in env.agent_iter():
            seen, reward, over, _, info = env.last()
            paid[agent] += reward
            if over:
                assert info["outcome"] == pytest.approx(paid[agent])
            legal = np.flatnonzero(seen["action_mask"])
            env.step(None if over else int(rng.choice(legal)))
        every.append([paid["player_0"], paid["player_1"]])
    task = Task(Rounds(**sizes), 0, "random")
    means, errors = np.mean(every, axis=0), np.std(every, axis=0) / len(every) ** 0.5
    wanted = np.array(expected_payoffs("random", task))
    assert (np.abs(means - wanted) < 5 * errors).all()
