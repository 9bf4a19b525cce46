"""How long the games take to solve: `.venv/bin/python benchmarks/solving.py`, one core."""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported

import json
import subprocess
import sys
from math import log

import numpy as np
from exactdice.baselines import equilibrium
from exactdice.games import GAMES, Game, Greed
from timing import compare


def solve(limit: int, exact: bool = False) -> None:
    """Solve from nothing."""
    equilibrium.cache_clear()
    equilibrium(Greed(limit), exact)


def solve_by_pmf(limit: int) -> float:
    """Solve by equation (4) of the paper, a dot product with the pmf for each number of dice."""
    game = Greed(limit)
    side, laws = game.num_scores, game.laws
    values = np.zeros((2, side, side))  # (last turn?, own, other)
    for last in (1, 0):
        for total in range(2 * limit, -1, -1):
            for own in range(max(0, total - limit), min(total, limit) + 1):
                other = total - own
                reached = np.arange(own, side)
                if last:
                    after = np.sign(reached - other) / 2 + 0.5
                else:
                    after = 1 - values[0, other, reached]
                dice = game.dice_allowed[own] + 1
                width = min(len(after), laws.shape[1])
                ratings = laws[:dice, :width] @ after[:width]
                if not last:
                    ratings[0] = 1 - values[1, other, own]
                values[last, own, other] = ratings.max()
    return float(values[0, 0, 0])


class Enumerated(Greed):
    """Greed without its recursion."""

    backward_together = Game.backward_together


def main() -> None:
    """Print everything."""
    pmf = solve_by_pmf(100)
    equilibrium.cache_clear()
    recursion = float(equilibrium(Greed(100)).values[0][0, 0])
    assert abs(pmf - recursion) < 1e-12, "both ways have to find the same optimum"
    compare(
        "M = 100, s = 6",
        {
            "recursion over single dice": lambda: solve(100),
            "sums over the pmf, equation (4)": lambda: solve_by_pmf(100),
            "recursion, exact integers": lambda: solve(100, exact=True),
        },
    )
    compare(
        "M = 15, s = 6",
        {
            "recursion over single dice": lambda: solve(15),
            "enumeration, as for a game without a recursion": lambda: equilibrium(Enumerated(15)),
        },
    )
    times = compare("growth", {f"M = {m}": lambda m=m: solve(m) for m in (125, 250, 500)}, rounds=3)
    exponent = log(times["M = 500"] / times["M = 125"]) / log(4)
    print(f"  time grows like M^{exponent:.2f} from M = 125 to 500")
    compare(
        "a new process that makes a default environment and solves it, import included",
        {name: lambda name=name: run(SOLVE.format(name)) for name in GAMES},
        rounds=3,
    )
    compare(
        "a new process",
        {
            "python -c 'import exactdice'": lambda: run("import exactdice"),
            "python -c 'import gymnasium'": lambda: run("import gymnasium"),
            "python -c 'pass'": lambda: run("pass"),
        },
    )

    print("\nin a new process: seconds, and the most memory it took")
    for name, sizes in ROOM:
        run(SCORE, name, json.dumps(sizes))


#: What is made, solved and scored with an eye on its memory.
ROOM = [("LowestScore", {}), ("ShutTheBox", {}), ("ShutTheBox", {"tiles": 12})]
SCORE = """
import json, resource, sys, time
import exactdice, gymnasium as gym
times = [time.perf_counter()]
env = gym.make(f"exactdice/{sys.argv[1]}-v0", **json.loads(sys.argv[2]))
times.append(time.perf_counter())
exactdice.solve(env).value; times.append(time.perf_counter())
score = exactdice.score("random", env); score.blunders(10); times.append(time.perf_counter())
score.as_dict(); times.append(time.perf_counter())
made, solved, scored, told = (b - a for a, b in zip(times, times[1:]))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"  {' '.join(sys.argv[1:]):<28} made {made:.2f}, solved {solved:.2f}, scored with blunders "
      f"{scored:.2f}, outcomes and the rest {told:.2f} s; {peak:.0f} MiB")
"""
SOLVE = "import exactdice, gymnasium as gym; exactdice.solve(gym.make('exactdice/{}-v0')).value"


def run(code: str, *arguments: str) -> None:
    """Run a few lines of Python in a new process."""
    subprocess.run([sys.executable, "-c", code, *arguments], check=True)


if __name__ == "__main__":
    main()
