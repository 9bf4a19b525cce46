"""Laws of up to a million states, beside other solvers: `.venv/bin/python benchmarks/laws.py`.

Each row is measured in a new process, on one core, which has loaded its libraries and compiled; the
ways of a row come one after the other. The other solvers are asked for if they are installed (`pip
install quantecon pymdptoolbox mdpsolver`); they stop when a sweep changes values by less than 1e-8,
and prove nothing.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse

ACTIONS, OUTCOMES = 4, 4
PHASES = ["make", "solve", "score a table", "score a network, regrets, the ten costliest"]
PHASES += ["audit 100,000 moves"]
#: What a sweep changes at the end, seconds after which a process is ended, the parts of 1.
CLOSE, MOST = 1e-8, 300
#: States up to which moves are audited; tables of the moves of larger laws take too much memory.
MOST_AUDITED = 100_000
WHOLE = 2**20
HERE = Path(__file__).parent
#: Sizes that are drawn, and the rows beside them: the kind of the law, and its states.
SIZES = [1_000, 10_000, 100_000, 1_000_000]
OTHERS = [
    *(("dictionary", 100_000), ("dense", 2_000), ("discount .9999", 100_000)),
    *(("ends", 100_000), ("ends", 1_000_000), ("chain", 1_000_000), ("simple", 1_000_000)),
]
#: A matrix for each action, and rewards (state, action).
Law: TypeAlias = tuple[list[scipy.sparse.csr_array], np.ndarray]
PEERS = {"QuantEcon": "quantecon", "pymdptoolbox": "mdptoolbox", "mdpsolver": "mdpsolver"}


def random_law(states: int, ends: bool) -> Law:
    """Draw a matrix for each action, and rewards (state, action).

    In a game that ends, each move leads to the last state, where it stays, with chance 1/100. Sums
    of probabilities are 1 without rounding, as pymdptoolbox wants it.
    """
    rng = np.random.default_rng(0)
    last = scipy.sparse.csr_array(([1.0], ([0], [states - 1])), shape=(1, states))
    ending = scipy.sparse.vstack([last] * states).tocsr() / 100 if ends else None
    matrices = []
    for _ in range(ACTIONS):
        bounds = np.sort(rng.integers(1, WHOLE, (states, OUTCOMES - 1)))
        chances = np.diff(bounds, prepend=0, append=WHOLE).ravel() / WHOLE
        after, firsts = (
            rng.integers(states, size=states * OUTCOMES),
            OUTCOMES * np.arange(states + 1),
        )
        matrix = scipy.sparse.csr_array((chances, after, firsts), shape=(states, states))
        if ends:
            matrix = scipy.sparse.vstack([(0.99 * matrix + ending)[:-1], last]).tocsr()
        matrices.append(matrix)
    rewards = rng.random((states, ACTIONS))
    rewards[-1] *= not ends
    return matrices, rewards


def chain(states: int) -> Law:
    """Make stages of one state each, which lead to the next one or to the one after it."""
    every, rng = np.arange(states), np.random.default_rng(0)
    steps = (np.minimum(every + step, states - 1) for step in (1, 2))
    shape, rows = (states, states), np.arange(states + 1)
    matrices = [scipy.sparse.csr_array((np.ones(states), to, rows), shape=shape) for to in steps]
    rewards = rng.random((states, 2))
    rewards[-1] = 0
    return matrices, rewards


def as_dictionary(matrices: list[scipy.sparse.csr_array], rewards: np.ndarray) -> dict:
    """Write a law as ``P`` of Gymnasium."""
    found: dict = {state: {} for state in range(len(rewards))}
    for action, matrix in enumerate(matrices):
        entries = list(zip(matrix.data.tolist(), matrix.indices.tolist(), strict=True))
        for state, (first, last) in enumerate(pairwise(matrix.indptr.tolist())):
            paid = float(rewards[state, action])
            ways = [(chance, after, paid, False) for chance, after in entries[first:last]]
            found[state][action] = ways
    return found


def simple(states: int) -> type:
    """Write a game of Python's numbers, two actions with two outcomes each."""
    import exactdice

    class Walk(exactdice.SimpleGame):
        gamma = 0.99

        def start(self) -> list[tuple[int, int]]:
            return [(1, 0)]

        def actions(self, state: int) -> tuple[int, int]:
            return (0, 1)

        def outcomes(self, state: int, action: int) -> list[tuple[float, int, int]]:
            one, other = (2 * state + 1 + action) % states, (3 * state + 2) % states
            return [(0.5, action, one), (0.5, 0, other)]

    return Walk


def measure(way: str, kind: str, states: int) -> dict[str, float]:
    """Measure one way in this process: seconds of each phase, MB beside the law, and the value."""
    gamma = {"discount .9999": 0.9999, "ends": 1.0, "chain": 1.0}.get(kind, 0.99)
    matrices, rewards = chain(states) if kind == "chain" else random_law(states, kind == "ends")
    law = as_dictionary(matrices, rewards) if kind == "dictionary" else matrices
    law = [matrix.toarray() for matrix in matrices] if kind == "dense" else law
    times = [0.0]

    def clock() -> None:
        times.append(perf_counter())

    if way != "exactdice":
        if way == "QuantEcon":
            solve_quantecon(random_law(10, ends=False), gamma, lambda: None)  # compiles
        before = _peak()
        value = solve_by(way, (matrices, rewards), gamma, clock)
        memory = _peak() - before
    else:
        import torch

        import exactdice

        few, gained = random_law(10, ends=False)
        exactdice.solve(exactdice.from_P(few, 0, 0.9, rewards=gained))  # loads libraries
        before = _peak()
        paid = {} if kind == "dictionary" else {"rewards": rewards}
        clock()
        if kind == "simple":
            task = exactdice.Task(simple(states)())
        else:
            task = exactdice.from_P(law, 0, gamma=gamma, **paid)
        clock()
        value = exactdice.solve(task).value
        clock()
        shape = task.game.num_states, task.game.num_actions
        table = np.random.default_rng(1).integers(shape[1], size=shape[0])
        _ = exactdice.score(table, task).regret
        clock()
        hidden = torch.nn.Linear(1, 64), torch.nn.Tanh(), torch.nn.Linear(64, shape[1])
        network = torch.nn.Sequential(*hidden)
        score = exactdice.score(network, exactdice.envs.GameEnv(task))
        _ = score.regret, score.costs, score.blunders(10)
        clock()
        memory = _peak() - before
        if states <= MOST_AUDITED:
            env, record = played(task)
            begun = perf_counter()
            assert exactdice.diagnose.audit(env, record).ok
            times.append(times[-1] + perf_counter() - begun)
    spent = np.diff(times[1:]).tolist()
    return dict(zip(PHASES, spent, strict=False)) | {"MB": memory, "value": value}


def played(task: Any) -> tuple[Any, Any]:
    """Play 100,000 moves at random; give an environment of the task and their record."""
    from gymnasium.vector import AutoresetMode

    import exactdice

    env = exactdice.envs.GameVectorEnv(task, 1000, AutoresetMode.SAME_STEP)
    seen, rng, columns = env.reset(seed=0)[0], np.random.default_rng(0), []
    for _ in range(100):
        actions = rng.integers(task.game.num_actions, size=env.num_envs)
        after, paid, over, *_ = env.step(actions)
        columns.append((seen, actions, paid, after, over))
        seen = after
    record = exactdice.diagnose.Transitions(*map(np.concatenate, zip(*columns, strict=True)))
    return exactdice.envs.GameEnv(task), record


def solve_by(way: str, law: Law, gamma: float, clock: Callable[[], None]) -> float:
    """Make and solve a law by another library; give the value of state 0."""
    matrices, rewards = law
    model: Any
    if way == "QuantEcon":
        return solve_quantecon(law, gamma, clock)
    if way == "pymdptoolbox":
        from mdptoolbox.mdp import PolicyIterationModified

        clock()
        given = [scipy.sparse.csr_matrix(matrix) for matrix in matrices]
        model = PolicyIterationModified(given, rewards, gamma, epsilon=CLOSE, max_iter=10_000)
        clock()
        model.run()
        clock()
        return float(model.V[0])
    from mdpsolver import model as new

    law_of_cells = as_dictionary(matrices, rewards)
    cells = [[[*zip(*ways, strict=True)] for ways in own.values()] for own in law_of_cells.values()]
    chances, after = ([[list(cell[n]) for cell in own] for own in cells] for n in (0, 1))
    clock()
    model = new()
    model.mdp(gamma, rewards.tolist(), tranMatProbs=chances, tranMatColumns=after)
    clock()
    model.solve(algorithm="mpi", tolerance=CLOSE, parallel=False)
    clock()
    return float(model.getValueVector()[0])


def solve_quantecon(law: Law, gamma: float, clock: Callable[[], None]) -> float:
    """Make and solve a law whose states and actions are pairs; give the value of state 0."""
    from quantecon.markov import DiscreteDP

    matrices, rewards = law
    clock()
    states, actions = rewards.shape
    order = np.arange(states * actions).reshape(actions, states).T.ravel()
    pairs = scipy.sparse.vstack(matrices).tocsr()[order]
    each = np.divmod(np.arange(states * actions), actions)
    model = DiscreteDP(rewards.ravel(), pairs, gamma, *each)
    clock()
    value = model.solve(method="modified_policy_iteration", epsilon=CLOSE).v[0]
    clock()
    return float(value)


def _peak() -> float:
    return getrusage(RUSAGE_SELF).ru_maxrss / 1000


def row(way: str, kind: str, states: int) -> dict[str, float] | None:
    """Measure one way in a new process; None if it fails or takes longer than ``MOST``."""
    command = [sys.executable, __file__, json.dumps([way, kind, states])]
    with suppress(subprocess.TimeoutExpired, subprocess.CalledProcessError):
        told = subprocess.run(
            command,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            check=True,
            timeout=MOST,
        )
        return json.loads(told.stdout)
    return None


def draw_growth(found: dict[tuple[str, str, int], dict[str, float] | None]) -> None:
    """Draw seconds to make and solve, and memory, over the number of states."""
    from exactdice.look.charts import Lines, Plot, Series
    from exactdice.look.drawing import draw

    drawn = {
        "made and solved": ("seconds of one core", lambda it: it["make"] + it["solve"]),
        "memory": ("MB at most, beside the law", lambda it: it["MB"]),
    }
    panels = []
    for title, (label, number) in drawn.items():
        series = []
        for way in ["exactdice", *PEERS]:
            known = {n: it for n in SIZES if (it := found.get((way, "sparse", n)))}
            numbers = np.array([number(it) for it in known.values()], float)
            series.append(Series(name=way, x=np.array([*known], float), y=numbers))
        names = {"title": title, "x_label": "states", "y_label": label, "series": series}
        panels.append(Lines(**names, log_x=True, log_y=True, points=True, direct=True))
    title = f"Random laws with {ACTIONS} actions of {OUTCOMES} outcomes, discount .99"
    draw(Plot(title=title, caption="", panels=panels), HERE.parent / "docs/laws.png")


def main() -> None:
    """Print a table, and draw the growth; with an argument, measure one way and print it."""
    if len(sys.argv) > 1:
        print(json.dumps(measure(*json.loads(sys.argv[1]))))
        return
    ways = ["exactdice", *(way for way, module in PEERS.items() if find_spec(module))]
    asked = [(way, "sparse", states) for states in SIZES for way in ways]
    for kind, states in OTHERS:
        asked += [("exactdice", kind, states)]
        if kind == "discount .9999":
            asked += [(way, kind, states) for way in ways[1:]]
    found, rows = {}, []
    for way, kind, states in asked:
        found[way, kind, states] = it = row(way, kind, states)
        numbers = [f"{it[name]:.2f}" if name in it else "" for name in PHASES] if it else []
        memory = f"{it['MB']:.0f}" if it else ""
        numbers = numbers or ["not ended", *[""] * (len(PHASES) - 1)]
        rows.append([kind, f"{states:,}", way, *numbers, memory])
        print(*rows[-1], it and it["value"], sep=" | ", file=sys.stderr, flush=True)
    from exactdice.core import Table

    print(Table(["law", "states", "way", *PHASES, "MB"], rows).markdown(aligned=True))
    draw_growth(found)


if __name__ == "__main__":
    main()
