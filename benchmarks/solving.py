"""How long the games take to solve: `.venv/bin/python benchmarks/solving.py`, one core."""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from math import log

import numpy as np
from exactdice.baselines import Task, equilibrium, evaluate
from exactdice.baselines.cache import clear_cache
from exactdice.core import Sweeps, Table, sweeps_for
from exactdice.games import GAMES, Greed, Yahtzee
from exactdice.games.greed import GreedSweeps
from timing import HEAD, compare, rows


def solve(limit: int, exact: bool = False, rules: type[Greed] = Greed) -> float:
    """Solve from nothing; give the value of the start."""
    clear_cache()
    return float(equilibrium(rules(limit), exact).values[0][0, 0])


def solve_fractions(policy: str) -> Fraction:
    """Compute the value of a policy in a small Yahtzee from nothing, without rounding."""
    clear_cache()
    task = Task(Yahtzee(boxes="fours,fives,sixes,full_house,yahtzee"))
    return evaluate(policy, task, exact=True).value


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


class BothAsked(Greed):
    """Greed whose players are asked one after the other, as in a game that differs by seat."""


class BothAskedSweeps(GreedSweeps):
    """The recursion for both players."""

    backward_mirrored = Sweeps.backward_mirrored


sweeps_for(Enumerated)(Sweeps)
sweeps_for(BothAsked)(BothAskedSweeps)


def growth(limits: tuple[int, ...], exact: bool = False) -> list[list[str]]:
    """Time how long larger limits take, and find the exponent of the growth."""
    what = "Greed to larger M" + ", exact integers" * exact
    times = compare(what, {f"M = {m}": lambda m=m: solve(m, exact) for m in limits}, rounds=3)
    first, *_, last = times.values()
    exponent = log(last / first) / log(limits[-1] / limits[0])
    largest = f"M = {limits[-1]}, grows like M^{exponent:.2f}"
    return [[what, largest, f"{last:.3f}", ""]]


def main() -> None:
    """Print everything."""
    assert abs(solve_by_pmf(100) - solve(100)) < 1e-12, "both ways have to find the same optimum"
    timed: dict[str, tuple[dict[str, Callable[[], object]], int]] = {
        "Greed, M = 100": (
            {
                "recursion over single dice": lambda: solve(100),
                "the same, both players asked": lambda: solve(100, rules=BothAsked),
                "sums over the law of the total, equation (4)": lambda: solve_by_pmf(100),
                "recursion, exact integers": lambda: solve(100, exact=True),
            },
            5,
        ),
        "Greed, M = 15": (
            {
                "recursion over single dice": lambda: solve(15),
                "enumeration, as for a game without a recursion": lambda: solve(
                    15, rules=Enumerated
                ),
            },
            5,
        ),
        "five boxes of Yahtzee, fractions": (
            {
                "optimum": lambda: solve_fractions("optimal"),
                "value of random play": lambda: solve_fractions("random"),
            },
            3,
        ),
        "a new process": (
            {
                "`import gymnasium`": lambda: run("import gymnasium"),
                "`import exactdice`": lambda: run("import exactdice"),
                "and all its names imported": lambda: run("from exactdice import *"),
                **{
                    f"and {name} made and solved": lambda name=name: run(SOLVE.format(name))
                    for name in GAMES
                },
            },
            5,
        ),
    }
    found = [row for what, way in timed.items() for row in rows(what, compare(what, *way))]
    found += growth((125, 250, 500, 1000)) + growth((50, 100, 200), exact=True)
    print(Table(HEAD, found, texts=2).markdown(aligned=True))


SOLVE = "import exactdice, gymnasium as gym; exactdice.solve(gym.make('exactdice/{}-v0')).value"


def run(code: str) -> None:
    """Run a few lines of Python in a new process."""
    subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    main()
