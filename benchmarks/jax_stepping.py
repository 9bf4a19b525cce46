"""Speed of the environments in JAX at random legal play (`python benchmarks/jax_stepping.py`).

A move is a step of one lane with its automatic reset, its mask and the random choice of a legal
action: all that a rollout without a network takes, in one compiled scan. CartPole and Breakout of
gymnax, if it is installed, take turns with the games in the same run; of their actions all are
legal. Seconds are those of the processor, so that other programs change the ratios little. Times to
compile are those of the whole scan.
"""

import argparse
import importlib
import sys
import time
from collections.abc import Callable
from operator import truediv
from statistics import median
from typing import Any

import jax
import jax.numpy as jnp
from exactdice.core import Table

import exactdice.jax

GAMES = ("Greed", "LowestScore", "ShutTheBox", "FourTwoOne")
PEERS = ("CartPole-v1", "Breakout-MinAtar")


def choose(key: jax.Array, legal: jax.Array) -> jax.Array:
    """Draw a legal action in each lane, shape (lane,), by one random number for each lane.

    A number for each action would take longer than a move: Greed has 30 actions. So each action
    takes the lane's number times an odd number of its own, and the action with the largest product
    is chosen, nearly uniformly; its number stands in the last bits of the product.
    """
    count = legal.shape[1]
    bits = count.bit_length()
    odd = jax.random.bits(jax.random.key(0), (count,)) | 1
    products = jax.random.bits(key, legal.shape[:1])[:, None] * odd >> bits << bits
    ranks = jnp.where(legal, products | jnp.arange(count, dtype=jnp.uint32), 0)
    return (ranks.max(axis=1) % 2**bits).astype(int)


def rollout(env: Any, lanes: int, moves: int) -> Callable[[jax.Array, Any], jax.Array]:
    """Return a compiled program that plays ``moves`` moves in each lane: the sum of rewards."""

    def step(carry: Any, key: jax.Array, params: Any) -> tuple[Any, None]:
        states, total, _ = carry
        keys = jax.random.split(key, lanes + 1)
        if hasattr(env, "legal"):
            legal = jax.vmap(env.legal, (0, None))(states, params)
        else:
            legal = jnp.ones((lanes, env.num_actions), dtype=bool)
        actions = choose(keys[-1], legal)
        step = jax.vmap(env.step, (0, 0, 0, None))
        seen, states, rewards, *_ = step(keys[:-1], states, actions, params)
        return (states, total + rewards.sum(), seen), None

    def run(key: jax.Array, params: Any) -> jax.Array:
        first, second = jax.random.split(key)
        seen, states = jax.vmap(env.reset, (0, None))(jax.random.split(first, lanes), params)
        keys = jax.random.split(second, moves)
        (_, total, seen), _ = jax.lax.scan(
            lambda carry, key: step(carry, key, params), (states, jnp.float32(0), seen), keys
        )
        return total + 0 * seen.sum()

    return jax.jit(run)


def main() -> None:
    """Print millions of moves a processor second, median of the rounds, and seconds to compile."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanes", type=int, default=4096)
    parser.add_argument("--moves", type=int, default=100, help="of each lane in a round")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    made = {name: exactdice.jax.make(name) for name in GAMES}
    for name in GAMES:
        made[f"{name} in integers"] = exactdice.jax.make(name, encoding="integer")
    try:
        gymnax = importlib.import_module("gymnax")
        made |= {name: gymnax.make(name) for name in PEERS}
    except ModuleNotFoundError:
        print("without peers, as gymnax is not installed", file=sys.stderr)
    programs, compiling = {}, {}
    for name, (env, params) in made.items():
        key = jax.random.key(0)
        begun = time.process_time()
        run = rollout(env, options.lanes, options.moves)
        programs[name] = run.lower(key, params).compile()  # type: ignore[attr-defined]
        compiling[name] = time.process_time() - begun
    rates: dict[str, list[float]] = {name: [] for name in made}
    for number in range(options.rounds):
        for name, program in programs.items():
            begun = time.process_time()
            program(jax.random.key(number), made[name][1]).block_until_ready()
            seconds = time.process_time() - begun
            rates[name].append(options.lanes * options.moves / seconds / 1e6)
    rows = []
    for name, found in rates.items():
        peer = rates.get(PEERS[0])
        ratio = f"{median(map(truediv, found, peer)):.2f}" if peer else ""
        rows.append([name, ratio, f"{median(found):.2f}", f"{compiling[name]:.1f}"])
    what = f"{jax.devices()[0].device_kind}, {options.lanes:,} lanes"
    head = [what, f"of {PEERS[0]}", "million moves a second", "seconds to compile"]
    print(Table(head, rows).markdown(aligned=True))


if __name__ == "__main__":
    main()
