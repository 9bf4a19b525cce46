"""Ten seeds of PPO at once in JAX, with exact curves: one compiled program.

    python examples/ppo_jax.py
    python examples/ppo_jax.py ShutTheBox --moves 1000000

The program trains all seeds side by side (`jax.vmap`), and scores each of them exactly in the same
program, about twenty times (`exact_score`). The last policies are scored again by the core, whose
figures are the final ones.

Algorithm: Schulman et al., *Proximal Policy Optimization Algorithms* (arXiv 1707.06347), with masks
of legal actions, generalised advantage estimation and Adam.
"""

import argparse
import time
from functools import partial
from operator import itemgetter
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np

import exactdice
import exactdice.jax

LANES, LENGTH, EPOCHS, BATCHES = 256, 8, 4, 2
RATE, CLIP, ENTROPY, CRITIC, LAMBDA, LARGEST = 3e-3, 0.2, 0.05, 0.5, 0.3, 0.5  # rates fall to 0
WIDTH = 64


def initial(key: jax.Array, *sizes: int) -> list[Any]:
    """Draw the weights of a network with hidden layers; its first outputs are nearly 0."""
    keys, gains = jax.random.split(key, len(sizes) - 1), [1.0] * (len(sizes) - 2) + [0.01]
    shapes = zip(keys, gains, sizes[:-1], sizes[1:], strict=True)
    return [
        (gain * jax.random.normal(each, (before, after)) / before**0.5, jnp.zeros(after))
        for each, gain, before, after in shapes
    ]


def network(weights: list[Any], seen: jax.Array) -> jax.Array:
    """Give the outputs of a network for observations."""
    for matrix, bias in weights[:-1]:
        seen = jax.nn.relu(seen @ matrix + bias)
    return seen @ weights[-1][0] + weights[-1][1]


def policy(weights: Any, seen: jax.Array, legal: jax.Array) -> jax.Array:
    """Give the logarithms of the probabilities of actions."""
    return jax.nn.log_softmax(jnp.where(legal, network(weights["actor"], seen), -1e9))


def roll_out(env: Any, params: Any, weights: Any, lanes: Any, key: jax.Array) -> tuple[Any, Any]:
    """Play ``LENGTH`` moves in every lane: the lanes after them, and the record."""

    def play(lanes: Any, key: jax.Array) -> tuple[Any, Any]:
        seen, states = lanes
        first, second = jax.random.split(key)
        legal = jax.vmap(env.legal, (0, None))(states, params)
        laws = policy(weights, seen, legal)
        actions = jax.random.categorical(first, laws)
        keys = jax.random.split(second, LANES)
        step = jax.vmap(env.step, (0, 0, 0, None))
        after, states, rewards, over, _, _ = step(keys, states, actions, params)
        chosen = jnp.take_along_axis(laws, actions[:, None], 1)[:, 0]
        record = {"seen": seen, "legal": legal, "actions": actions, "chosen": chosen}
        return (after, states), record | {"rewards": rewards, "over": over}

    lanes, record = jax.lax.scan(play, lanes, jax.random.split(key, LENGTH))
    return lanes, record


def estimates(weights: Any, record: Any, last: jax.Array) -> dict[str, jax.Array]:
    """Add advantages and returns to a record, and make it one batch of moves."""
    values = network(weights["critic"], record["seen"])[..., 0]
    after = jnp.append(values[1:], network(weights["critic"], last)[None, :, 0], axis=0)

    def back(advantage: jax.Array, move: Any) -> tuple[jax.Array, jax.Array]:
        reward, over, value, following = move
        error = reward + following * (1 - over) - value
        advantage = error + LAMBDA * (1 - over) * advantage
        return advantage, advantage

    moves = record["rewards"], record["over"].astype(float), values, after
    _, advantages = jax.lax.scan(back, jnp.zeros(LANES), moves, reverse=True)
    record = record | {"advantages": advantages, "returns": advantages + values}
    return {name: array.reshape(-1, *array.shape[2:]) for name, array in record.items()}


def loss(weights: Any, batch: dict[str, jax.Array], left: jax.Array) -> jax.Array:
    """Compute the loss of PPO for a batch of moves."""
    laws = policy(weights, batch["seen"], batch["legal"])
    ratio = jnp.exp(jnp.take_along_axis(laws, batch["actions"][:, None], 1)[:, 0] - batch["chosen"])
    gains = batch["advantages"]
    gains = (gains - gains.mean()) / (gains.std() + 1e-8)
    gained = jnp.minimum(ratio * gains, ratio.clip(1 - CLIP, 1 + CLIP) * gains).mean()
    errors = (network(weights["critic"], batch["seen"])[:, 0] - batch["returns"]) ** 2
    entropy = -(jnp.exp(laws) * jnp.where(batch["legal"], laws, 0)).sum(axis=1).mean()
    return CRITIC * errors.mean() - gained - left * ENTROPY * entropy


def adam(learner: Any, batch: dict[str, jax.Array], left: jax.Array) -> tuple[Any, None]:
    """Make one step of Adam, with gradients of norm ``LARGEST`` at most."""
    weights, mean, square, count = learner
    slope = jax.grad(loss)(weights, batch, left)
    norm = jnp.sqrt(sum((each**2).sum() for each in jax.tree.leaves(slope)))
    slope = jax.tree.map(lambda each: each * jnp.minimum(1, LARGEST / (norm + 1e-6)), slope)
    mean = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, mean, slope)
    square = jax.tree.map(lambda old, new: 0.999 * old + 0.001 * new**2, square, slope)
    count += 1
    scale = left * RATE * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    weights = jax.tree.map(
        lambda w, m, s: w - scale * m / (jnp.sqrt(s) + 1e-5), weights, mean, square
    )
    return (weights, mean, square, count), None


def train(env: Any, marks: int, updates: int, params: Any, law: Any, key: jax.Array) -> Any:
    """Train one seed: its last actor, and its score after each of ``marks`` parts."""

    def update(state: Any, key: jax.Array) -> tuple[Any, None]:
        learner, lanes, done = state
        first, second = jax.random.split(key)
        lanes, record = roll_out(env, params, learner[0], lanes, first)
        moves = estimates(learner[0], record, lanes[0])
        orders = jax.random.split(second, EPOCHS)
        orders = jax.vmap(partial(jax.random.permutation, x=LANES * LENGTH))(orders)
        left = 1 - done / (marks * updates)
        learner, _ = jax.lax.scan(
            lambda learner, order: adam(learner, {n: a[order] for n, a in moves.items()}, left),
            learner,
            orders.reshape(EPOCHS * BATCHES, -1),
        )
        return (learner, lanes, done + 1), None

    def part(state: Any, key: jax.Array) -> tuple[Any, jax.Array]:
        state, _ = jax.lax.scan(update, state, jax.random.split(key, updates))
        actor = state[0][0]["actor"]
        return state, exactdice.jax.exact_score(law, partial(network, actor)).normalized

    keys = jax.random.split(key, 4)
    features = law.observations.shape[1]
    weights = {
        "actor": initial(keys[0], features, WIDTH, WIDTH, env.num_actions),
        "critic": initial(keys[1], features, WIDTH, WIDTH, 1),
    }
    zeros = jax.tree.map(jnp.zeros_like, weights)
    lanes = jax.vmap(env.reset, (0, None))(jax.random.split(keys[2], LANES), params)
    state = (weights, zeros, zeros, 0), lanes, 0
    state, scores = jax.lax.scan(part, state, jax.random.split(keys[3], marks))
    return state[0][0]["actor"], scores


def main() -> None:
    """Train, and print the exact curve of every seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game", nargs="?", default="Greed")
    parser.add_argument("--moves", type=int, default=200_000, help="of each seed")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--marks", type=int, default=20, help="exact scores of each seed")
    options = parser.parse_args()
    env, params = exactdice.jax.make(options.game)
    law, marks = env.exact_law(), options.marks
    updates = max(1, options.moves // (LANES * LENGTH * marks))
    moves = LANES * LENGTH * marks * updates
    learn = jax.jit(jax.vmap(partial(train, env, marks, updates), (None, None, 0)))
    keys = jax.random.split(jax.random.key(0), options.seeds)
    begun = time.perf_counter()
    program = learn.lower(params, law, keys).compile()
    compiled = time.perf_counter()
    actors, curves = jax.block_until_ready(program(params, law, keys))
    seconds = time.perf_counter() - compiled
    print("moves of a seed, seconds, mean and worst normalised score, exact")
    for mark, scores in enumerate(np.asarray(curves).T, start=1):
        share = mark / marks
        print(f"{share * moves:>10,.0f} {share * seconds:7.1f}", end=" ")
        print(f"{scores.mean():.5f} {scores.min():.5f}")
    rate = options.seeds * moves / seconds
    print(f"{options.seeds} seeds: {compiled - begun:.1f} s to compile, {rate:,.0f} moves a second")
    task = gym.make(f"exactdice/{env.name}-v0", encoding=env.encoding)
    last = []
    for seed in range(options.seeds):
        actor = jax.tree.map(itemgetter(seed), actors)
        agent = exactdice.from_network(partial(network, actor), task)
        last.append(exactdice.score(agent, task).normalized)
    print(f"by the core: mean {np.mean(last):.9f}, worst {min(last):.9f}, ", end="")
    print(f"largest difference {np.abs(np.array(last) - curves[:, -1]).max():.1e}")


if __name__ == "__main__":
    main()
