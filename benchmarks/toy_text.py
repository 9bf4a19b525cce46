"""How good are agents in everybody's first environments, exactly, and what do a few games say?

python benchmarks/toy_text.py --seeds 3 --moves 100000      # prints the tables of the documentation

PPO and DQN have stable-baselines3's own settings; Q-learning is the textbook's, with a step size of
.1, a discount of .99 and a tenth of random moves. ``EvalCallback`` plays five games by default; its
mean stands beside the exact value, with the standard error of those games.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from exactdice.baselines.scoring.figure import nines
from exactdice.core import InputError, Table
from exactdice.envs.api.registration import find_game
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor

import exactdice

#: Blackjack with the rules of Gymnasium's, which has no ``P``.
BLACKJACK = Path(__file__).parents[1] / "examples" / "blackjack.py"
ENVIRONMENTS: list[tuple[str, dict[str, Any]]] = [
    ("FrozenLake-v1", {}),
    ("FrozenLake-v1", {"is_slippery": False}),
    ("FrozenLake8x8-v1", {}),
    ("Taxi-v4", {}),
    ("CliffWalking-v1", {}),
    ("exactdice/Blackjack-v0", {}),
]
GAMES = 5


def numbered(env: Any) -> Callable[[Any], Any]:
    """Return the function that numbers the states of an environment by observations."""
    if isinstance(env.observation_space, gym.spaces.Discrete):
        return lambda seen: seen
    return lambda seen: env.unwrapped.task.game.encode(np.atleast_2d(seen))


def q_learning(env: Any, moves: int, seed: int) -> np.ndarray:
    """Learn a table by the textbook; return its actions, shape (state,)."""
    rng, number = np.random.default_rng(seed), numbered(env)
    table = np.zeros((exactdice.as_task(env.unwrapped).game.num_states, env.action_space.n))
    state = number(env.reset(seed=seed)[0])
    for _ in range(moves):
        best = rng.choice(np.flatnonzero(table[state] == table[state].max()))
        action = rng.integers(table.shape[1]) if rng.random() < 0.1 else best
        seen, reward, over, cut, _ = env.step(int(action))
        after = state if over else number(seen)
        worth = reward + 0.99 * (not over) * table[after].max()
        table[state, action] += 0.1 * (worth - table[state, action])
        state = number(env.reset()[0]) if over or cut else after
    return table.argmax(axis=1)


class Taught:
    """Actions of all states, played as a model of stable-baselines3 is."""

    def __init__(self, actions: np.ndarray, number: Callable[[Any], Any]) -> None:
        self.actions, self.number = actions, number

    def predict(self, seen: Any, *_: Any, **__: Any) -> tuple[np.ndarray, None]:
        """Give the action of each state."""
        return self.actions[self.number(seen)], None


def sb3(kind: Any) -> Callable[[Any, int, int], Any]:
    """Make a function that trains a model of stable-baselines3."""
    return lambda env, moves, seed: kind("MlpPolicy", env, seed=seed).learn(moves)


ALGORITHMS: dict[str, Callable[[Any, int, int], Any]] = {
    "PPO": sb3(PPO),
    "DQN": sb3(DQN),
    "Q-learning": q_learning,
}


def named(name: str, keywords: dict[str, Any]) -> str:
    """Give a name for a row."""
    name = name.removeprefix("exactdice/").replace("Blackjack-v0", "Blackjack-v1")
    return ", ".join([name, *(f"{key} {value}" for key, value in keywords.items())])


def optima() -> Table:
    """Tabulate optima within the limit and without, random play, and the threshold."""
    rows = []
    for name, keywords in ENVIRONMENTS:
        env = gym.make(name, **keywords)
        within, free = exactdice.solve(env).value, exactdice.solve(env.unwrapped).value
        assert env.spec is not None
        limit, aim = env.spec.max_episode_steps, env.spec.reward_threshold
        reached = "-" if aim is None else f"{aim:g}: {'yes' if within >= aim else 'no policy'}"
        random = exactdice.score("random", env).value
        rows.append(
            [
                named(name, keywords),
                "none" if limit is None else str(limit),
                f"{within:.7f}",
                f"{free:.7f}",
                f"{random:.4f}",
                reached,
            ]
        )
    head = ["environment", "limit", "optimum", "without limit", "random", "threshold, reachable?"]
    return Table(head, rows)


def where(score: exactdice.Score) -> str:
    """Name the state with the largest share of the regret, at whatever time it is met."""
    costs: dict[tuple[int, ...], float] = {}
    for blunder in score.blunders(None):
        seen = blunder.observation
        state = seen[:1] if score.task.game.observation_names == ("state", "moves") else seen
        costs[tuple(state)] = costs.get(tuple(state), 0.0) + blunder.cost
    if not costs:
        return "-"
    worst = max(costs, key=lambda state: costs[state])
    return f"{', '.join(map(str, worst))}: {costs[worst] / score.regret:.0%}"


def trained(seeds: int, moves: int) -> Table:
    """Train, and tabulate exact scores beside the means of a few games."""
    rows = []
    for name, keywords in ENVIRONMENTS:
        for algorithm, learn in ALGORITHMS.items():
            values, shares, means, errors, place = [], [], [], [], "-"
            for seed in range(seeds):
                env = gym.make(name, **keywords)
                agent = learn(env, moves, seed)
                own = isinstance(agent, np.ndarray)
                player = Taught(agent, numbered(env)) if own else agent
                try:
                    score = exactdice.score(agent, env)
                    values.append(score.value)
                    shares.append(score.normalized)
                    place = where(score) if seed == 0 else place
                except InputError:  # it circles, and is charged for ever
                    values.append(-np.inf)
                    shares.append(-np.inf)
                if np.isfinite(values[-1]):
                    games, _ = evaluate_policy(
                        player, Monitor(env), GAMES, return_episode_rewards=True
                    )
                    means.append(fmean(games))
                    errors.append(float(np.std(games, ddof=1)) / GAMES**0.5)
            mean = -np.inf if -np.inf in values else fmean(values)
            rows.append(
                [
                    named(name, keywords),
                    algorithm,
                    ", ".join(f"{value:.4g}" for value in values).replace("-inf", "never ends"),
                    f"{mean:.4f}" if np.isfinite(mean) else "-",
                    f"{nines(fmean(shares)):.2f}" if np.isfinite(mean) else "-",
                    place,
                    ", ".join(
                        f"{mean:.3g} ± {float(f'{error:.2g}'):g}"
                        for mean, error in zip(means, errors, strict=True)
                    ),
                ]
            )
            print(*rows[-1], sep=" | ", flush=True)
    head = ["environment", "algorithm", "exact, each seed", "mean", "nines", "costliest state"]
    head.append(f"{GAMES} games say")
    return Table(head, rows, texts=2)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--moves", type=int, default=100_000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    find_game(f"{BLACKJACK}:Blackjack")
    print(optima().markdown(aligned=True))
    if options.seeds:
        print(trained(options.seeds, options.moves).markdown(aligned=True))


if __name__ == "__main__":
    main()
