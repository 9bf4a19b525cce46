"""A task describes what an agent faces; what is computed of it is kept apart, and shared."""

import pickle
from dataclasses import FrozenInstanceError
from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import Task, as_policy, cache, equilibrium, prepare, solve
from exactdice.baselines.policies.kinds import DeterministicPolicy, UniformPolicy
from exactdice.core.positions import states_of
from exactdice.games import FourTwoOne, Greed, LowestScore, ShutTheBox
from exactdice.games.greed import GreedSweeps
from exactdice.games.greed.policies import if_else
from exactdice.games.greed.sweeps import GreedBlock

import exactdice

GAME = Greed(10, 3)
HOLD = np.zeros(GAME.num_states, dtype=np.int64)
STATES = np.arange(GAME.num_states)
UNIFORM = GAME.mask(STATES) / GAME.mask(STATES).sum(axis=1, keepdims=True)


@pytest.fixture
def sweeps(monkeypatch):
    """Count the sweeps back of Greed from here on, with nothing remembered."""
    counted = []

    def counting(sweep):
        def count(self, *args, **kwargs):
            counted.append(self)
            return sweep(self, *args, **kwargs)

        return count

    cache.clear_cache()
    for rules, name in ((GreedBlock, "backward"), (GreedSweeps, "backward_mirrored")):
        monkeypatch.setattr(rules, name, counting(getattr(rules, name)))
    return counted


def test_a_task_cannot_be_changed_and_what_is_given_may_be():
    task = Task(GAME)
    with pytest.raises(FrozenInstanceError):
        task.seat = 1
    solve(task, exact=True)
    assert set(vars(task)) == {"game", "seat", "opponents"}
    actions = if_else(GAME).copy()
    task = Task(GAME, 1, actions)
    before = solve(task).value
    actions[:] = HOLD
    assert solve(task).value == before
    assert solve(Task(GAME, 1, actions)).value != before


@pytest.mark.parametrize("opponent", ["random", HOLD, UNIFORM, UniformPolicy(GAME)])
def test_tasks_that_say_the_same_are_equal_and_others_are_not(opponent):
    given = opponent.copy() if isinstance(opponent, np.ndarray) else opponent
    one, other = Task(GAME, 0, opponent), Task(Greed(10, 3), 0, given)
    assert (one, hash(one)) == (other, hash(other))
    different = [Task(GAME, 1, opponent), Task(Greed(10, 4), 0, "random")]
    different += [Task(GAME, 0, "if_else"), Task(GAME, 0, (UNIFORM[:, 1] > 0) * 1)]
    assert all(one != task for task in different)
    for state in range(GAME.num_states):
        table = DeterministicPolicy(HOLD + (state == STATES), 7)
        assert table != DeterministicPolicy(HOLD.copy(), 7)


@pytest.mark.parametrize("opponent", ["if_else", HOLD, UNIFORM, lambda seen, _: seen[:, 0] * 0])
def test_a_task_survives_pickling_with_whatever_opponent(opponent):
    task = Task(GAME, 1, opponent)
    again = pickle.loads(pickle.dumps(task))
    assert (again, repr(again)) == (task, repr(task))
    assert solve(again) is solve(task)
    for policy in prepare(again).policies.values():
        assert not getattr(policy, "actions", HOLD[:0]).flags.writeable or opponent is not HOLD


def test_equal_tasks_share_what_is_computed_once_in_each_arithmetic(sweeps):
    """Exact Greed against "random" was swept anew each time it was asked."""
    first = solve(Task(GAME, 0, "random"), exact=True).value
    assert len(sweeps) == 1
    assert solve(Task(Greed(10, 3), 0, "random"), exact=True).value == first
    assert len(sweeps) == 1
    assert solve(Task(GAME, 0, "random")).value == pytest.approx(float(first))
    assert len(sweeps) == 2
    exactdice.score("random", Task(GAME, 0, "random"))
    swept = len(sweeps)
    exactdice.score("random", Task(GAME, 0, "random"))
    assert len(sweeps) == swept
    assert isinstance(first, Fraction)


def test_the_answers_asked_for_longest_ago_go_first(sweeps, monkeypatch):
    monkeypatch.setattr(cache, "LEAST", 1)
    monkeypatch.setattr(cache, "LIMIT", 10 * GAME.num_states)
    tasks = [Task(GAME, 0, name) for name in ("random", "if_else", "terminal")]
    for task in tasks[:2]:
        solve(task)
    solve(tasks[0])
    assert len(sweeps) == 2
    solve(tasks[2])
    solve(tasks[2])
    assert len(sweeps) == 3
    solve(tasks[1])
    assert len(sweeps) == 4
    assert sum(cache._arrays([*cache._ENTRIES.values()]).values()) <= cache.LIMIT


def test_one_large_answer_does_not_drive_out_what_it_was_made_of(sweeps, monkeypatch):
    """A network's score in a match solved the match three times over."""
    monkeypatch.setattr(cache, "LEAST", 1)
    monkeypatch.setattr(cache, "LIMIT", GAME.num_states)
    task = Task(GAME, 0, "optimal")
    first = solve(task)
    exactdice.score("if_else", task)
    swept = len(sweeps)
    assert solve(task) is first
    exactdice.score("if_else", task)
    assert len(sweeps) == swept + 1  # of the policy itself
    assert cache._arrays([first, first]) == cache._arrays(first)


@pytest.mark.usefixtures("own_games")
def test_a_policy_registered_again_is_asked_again():
    class Again(Greed):
        name = "Again"

    values = []
    for actions in (HOLD, HOLD + GAME.mask(STATES)[:, 1]):
        exactdice.register(Again, policies={"mine": lambda _, actions=actions: actions})
        values.append(solve(Task(Again(10, 3), 0, "mine")).value)
    assert values[0] != values[1]


TASKS = [
    *(Task(Greed(8, 3)), Task(Greed(8, 3), 1, "if_else"), Task(ShutTheBox(4, 2, 3), 1, "random")),
    *(Task(FourTwoOne(2, 3, 2, "sum")), Task(LowestScore(2, 3, 3, 3), 1, "notebook")),
]


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_every_game_has_the_four_names(task):
    names = ("optimal", "best_response", "equilibrium", "random")
    best, same, fixed, random = (exactdice.evaluate(name, task).value for name in names)
    assert best == same == solve(task).value
    assert random < fixed <= best + 1e-13
    own = states_of(task.game, task.seat)
    policy = exactdice.baselines.equilibrium(task.game).policies[task.seat]
    assert (as_policy("equilibrium", task).actions[own] == policy.actions[own]).all()


def test_an_opponent_is_no_best_response():
    reply = "best_response"
    for ask in (
        lambda: Task(GAME, 0, reply),
        lambda: gym.make("exactdice/Greed-v0", opponent=reply),
        lambda: exactdice.best_response(reply, Task(GAME)),
        lambda: exactdice.exploitability(reply, Task(GAME)),
        lambda: exactdice.expected_payoffs(reply, Task(GAME)),
        lambda: exactdice.payoff_matrix({"one": reply, "two": "random"}, Task(GAME)),
    ):
        with pytest.raises(ValueError, match=f"must be one by itself, got '{reply}', which only"):
            ask()


def holds(observations, _masks):
    return HOLD[: len(observations)]


GREED, LESS = (f"Greed, max_score 10, {size}, seat" for size in ("sides 3", "max_dice 2"))
WORDS = [
    (Task(GAME, 1, "if_else"), f"{GREED} 1, against if_else"),
    (Task(Greed(10, max_dice=2), 0, HOLD), f"{LESS} 0, against a table"),
    (Task(GAME, 0, holds), f"{GREED} 0, against holds"),
    (Task(GAME, 0, lambda seen, legal: HOLD[: len(seen)]), f"{GREED} 0, against a function"),
    (Task(ShutTheBox(shut_wins=False)), "ShutTheBox, shut_wins false, seat 0, against optimal"),
    (Task(FourTwoOne(utility=lambda faces, casts: casts)), "FourTwoOne, utility as a table"),
    (
        Task(LowestScore(), 3, ["only3s", "random", "only3s"]),
        "LowestScore, seat 3, against only3s in seats 0 and 2 and random in seat 1",
    ),
]


@pytest.mark.parametrize(("task", "words"), WORDS)
def test_a_task_reads_as_it_is_typed(task, words):
    assert task.words == words


def arrays_of(thing, path="", seen=None):
    """Find every array that can be reached through public attributes, with the way there."""
    seen = set() if seen is None else seen
    if id(thing) in seen or isinstance(thing, str | int | float | type | np.random.Generator):
        return
    seen.add(id(thing))
    parts = {}
    if isinstance(thing, np.ndarray):
        yield path, thing
    elif isinstance(thing, dict):
        parts = {f"[{key!r}]": value for key, value in thing.items()}
    elif isinstance(thing, list | tuple):
        parts = {f"[{place}]": value for place, value in enumerate(thing)}
    elif type(thing).__module__.startswith("exactdice"):
        known = {name: getattr(thing, name, None) for name in dir(thing) if name[0] != "_"}
        parts = {f".{name}": value for name, value in known.items()}
    for name, value in parts.items():
        if not callable(value) or type(value).__module__.startswith("exactdice"):
            yield from arrays_of(value, path + name, seen)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_every_array_of_a_solution_and_of_its_task_and_game_is_read_only(task, exact):
    solution = solve(task, exact)
    found = dict(arrays_of(solution, "solution"))
    for array in (solution.values, solution.policy.actions, solution.table, solution.optimal):
        assert any(array is other for other in found.values())
    assert "solution.problem.initial" in found
    values = equilibrium(task.game, exact).values
    assert not any(one.array.flags.writeable for one in values)
    assert [path for path, array in found.items() if array.flags.writeable] == []


def test_what_is_made_for_the_caller_is_the_callers():
    """Its own table and actions stay writable too."""
    env = gym.make("exactdice/Greed-v0", max_score=8, sides=3)
    row = exactdice.solve(env).action_values([0, 0, 0])
    row[:] = 0
    with pytest.raises(TypeError, match="does not support item assignment"):
        exactdice.score("random", env).outcomes[0.0] = 1.0
    assert exactdice.solve(env).action_values([0, 0, 0]).max() > 0
    exactdice.occupancy("random", env)[:] = 0
    assert exactdice.occupancy("random", env)[0] == 1
    for mine in (np.zeros(162, dtype=np.int64), np.eye(6)[np.zeros(162, dtype=np.int64)]):
        exactdice.evaluate(mine, env)
        mine[0] = mine[1]
