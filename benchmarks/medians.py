"""Medians of the points in Yahtzee, from sample games: `.venv/bin/python benchmarks/medians.py`.

Exact scores have no median, because states do not hold the points so far. The agents are optimal
play and the first seeds of the leaderboard. The mean of the sample games stands beside the exact
mean.
"""

import argparse
from math import sqrt
from pathlib import Path

import numpy as np
from exactdice.board.results import certificate_of, read_runs
from exactdice.envs import Engine

import exactdice
from exactdice import Policy, Task

LEADERBOARD = Path(__file__).parent / "leaderboard"
WIDE = 1.96  # standard deviations on both sides of the mean that hold 95 % of a normal variable


def main() -> None:
    """Play the games of each agent, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=100_000)
    count = parser.parse_args().games
    task = exactdice.as_task("exactdice/Yahtzee-v0")
    best = exactdice.solve(task)
    agents: list[tuple[str, Policy, float]] = [("optimal play", best.policy, float(best.value))]
    for run in read_runs(LEADERBOARD):
        if run.game == "Yahtzee" and run.seed == 0:
            policy = exactdice.as_policy(certificate_of(LEADERBOARD, run.name), task)
            agents.append((run.name, policy, run.value))
    middle, aside = count / 2, WIDE * sqrt(count) / 2  # ranks of an interval of the median
    print(f"| agent | exact mean | mean of {count:,} games | median | its 95 % interval |")
    print("| --- | --- | --- | --- | --- |")
    for name, policy, exact in agents:
        points = np.sort(play(policy, task, count))
        low, high = points[int(middle - aside)], points[min(count - 1, int(middle + aside))]
        error = WIDE * points.std() / sqrt(count)
        print(
            f"| {name} | {exact:.4f} | {points.mean():.2f} ± {error:.2f} | {np.median(points):g} "
            f"| {low:g} to {high:g} |"
        )


def play(policy: Policy, task: Task, count: int) -> np.ndarray:
    """Play games to the end, all at once, and return their points, shape (game,)."""
    engine, rng = Engine(task, count), np.random.default_rng(0)
    lanes, points = np.arange(count), np.zeros(count)
    engine.lanes.start(lanes, rng)
    while len(lanes):
        actions = policy.probabilities(engine.lanes.states()[lanes]).argmax(axis=1)
        played = engine.step(lanes, actions, rng)
        points[lanes] += played.rewards
        lanes = lanes[~played.over]
    return points


if __name__ == "__main__":
    main()
