"""What caches share is read-only: nobody changes a later answer by writing into an earlier one."""

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import Task, equilibrium, solve
from exactdice.games import FourTwoOne, Greed, LowestScore, ShutTheBox

import exactdice

TASKS = [
    Task(Greed(8, 3)),
    Task(Greed(8, 3), 1, "if_else"),
    Task(ShutTheBox(4, 2, 3), 1),
    Task(FourTwoOne(2, 3, 2, "sum")),
]


def arrays_of(thing, path="", seen=None):
    """Find every array that can be reached through public attributes, with the way there."""
    seen = set() if seen is None else seen
    if id(thing) in seen or isinstance(thing, str | int | float | type | np.random.Generator):
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield path, thing
    elif isinstance(thing, dict):
        for key, value in thing.items():
            yield from arrays_of(value, f"{path}[{key!r}]", seen)
    elif isinstance(thing, list | tuple):
        for place, value in enumerate(thing):
            yield from arrays_of(value, f"{path}[{place}]", seen)
    elif type(thing).__module__.startswith("exactdice"):
        public = [name for name in dir(thing) if not name.startswith("_")]
        for name in public:
            value = getattr(thing, name, None)
            if not callable(value) or type(value).__module__.startswith("exactdice"):
                yield from arrays_of(value, f"{path}.{name}", seen)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_every_array_of_a_solution_and_of_its_task_and_game_is_read_only(task, exact):
    solution = solve(task, exact)
    found = dict(arrays_of(solution, "solution"))
    for array in (solution.values, solution.policy.actions, solution.table, solution.optimal):
        assert any(array is other for other in found.values())
    assert "solution.problem.initial" in found
    assert [path for path, array in found.items() if array.flags.writeable] == []


def test_the_equilibrium_in_the_cache_is_read_only():
    for game in (Greed(8, 3), LowestScore(2, 3, 3, 3), ShutTheBox(4, 2, 3)):
        assert not any(values.array.flags.writeable for values in equilibrium(game).values)


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
