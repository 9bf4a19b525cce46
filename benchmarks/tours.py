"""Exact scores of a network in Yahtzee, by three ways: `.venv/bin/python benchmarks/tours.py`.

The network has two hidden layers of 128 units. It is called as a whole, is computed in parts, and
in fixed point, in a game of a few boxes, by turns in one process. The time of the whole game is
that of so many beginnings of turns as it has.
"""

import argparse
import time
from collections.abc import Callable

import gymnasium as gym
import torch as th
from exactdice.agents.learners.adapter import ModelPolicy
from exactdice.baselines.policies.called import CalledPolicy
from exactdice.baselines.policies.tabular import PolicyCheck
from exactdice.core import FloatArray, IntArray
from exactdice.core.sweeps import sweeps_of
from exactdice.games import Yahtzee
from sb3_contrib import MaskablePPO

import exactdice

BOXES = "fours,fives,sixes,small_straight,yahtzee,chance"
SEED = 1


def main() -> None:
    """Time the ways, and print them side by side."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boxes", default=BOXES)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    th.set_num_threads(1)
    env = gym.make("exactdice/Yahtzee-v0", boxes=options.boxes)
    layers = {"net_arch": [128, 128], "activation_fn": th.nn.ReLU}
    model = MaskablePPO("MlpPolicy", env, policy_kwargs=layers, seed=SEED, device="cpu")
    with th.no_grad():
        model.policy.action_net.weight.mul_(100)
    game = Yahtzee(boxes=options.boxes)
    check, whole = PolicyCheck(game, 0), ModelPolicy(model, game)
    ways = {
        "as a whole": CalledPolicy(exactdice.from_network(in_full(whole), env), check, "network"),
        "in parts": CalledPolicy(whole, check, "network"),
        "in fixed point": CalledPolicy(exactdice.in_fixed_point(model, env), check, "network"),
    }
    values = exactdice.solve(env).found
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    means = {}
    for _ in range(options.rounds):
        for name, policy in ways.items():
            start = time.process_time()
            tour = sweeps_of(game).tour(policy.choices, values, 0)
            seconds[name].append(time.process_time() - start)
            assert tour is not None
            means[name] = tour.mean
    slowest, scale = min(seconds["as a whole"]), len(Yahtzee().contexts) / len(game.contexts)
    print(f"{len(game.contexts):,} beginnings of turns; the whole game has {scale:.0f} times these")
    for name, taken in seconds.items():
        best = min(taken)
        print(
            f"{name:15} {best:7.2f} s   {slowest / best:5.1f} times as fast   "
            f"whole game: {best * scale / 60:5.1f} minutes   mean {means[name]:.6f}"
        )


def in_full(policy: ModelPolicy) -> Callable[[IntArray], FloatArray]:
    """Make a function from observations to preferences, of which nothing else is known."""
    return lambda observations: policy.prefer(observations, Yahtzee.num_actions)


if __name__ == "__main__":
    main()
