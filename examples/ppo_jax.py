"""Ten seeds of PPO at once in JAX, with exact curves: one compiled program.

    python examples/ppo_jax.py
    python examples/ppo_jax.py --game ShutTheBox --seeds 5 --marks 0 --certificates certificates
    python examples/ppo_jax.py --integers    # observations are not written as bits

The seeds are trained side by side (`jax.vmap`), and scored exactly in the same program. The last
policies are scored again by the core, whose figures are the final ones.

Source: Schulman et al., *Proximal Policy Optimization Algorithms* (arXiv 1707.06347).
"""

import os
import time
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

os.environ.setdefault("NPROC", "1")  # XLA's thread pool may stand still, and gains nothing here

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import tyro
from jax.example_libraries import optimizers, stax
from jax.nn.initializers import orthogonal, zeros

import exactdice.jax


@dataclass(frozen=True)
class Options:
    """What is trained, and how: by default as PPO on the track exactdice-100k."""

    game: str = "Greed"
    moves: int = 100_000  # of each seed, at most
    seeds: int = 10
    marks: int = 10  # exact scores during training
    certificates: Path | None = None  # folder for a certificate of each seed
    lanes: int = 32  # games side by side
    length: int = 8  # moves of a rollout in each lane
    epochs: int = 10
    batches: int = 2  # of an epoch
    rate: float = 0.00383  # of learning; falls to 0
    entropy: float = 0.139  # weight of the entropy; falls to 0
    trace: float = 0.265  # lambda of advantage estimation
    clip: float = 0.101
    integers: bool = False  # observations are integers, whose bits the first product stands for


def network(env: Any, outputs: int, gain: float) -> Any:
    """Make a network: what draws its weights, and what gives its outputs for observations."""
    dense = partial(stax.Dense, b_init=zeros)
    hidden = [dense(64, orthogonal(2**0.5)), stax.Relu] * 2
    first, rest = hidden[0], [*hidden[1:], dense(outputs, orthogonal(gain))]
    if env.encoding == "integer":
        first = partial(embedded, first[0], env.sizes), partial(product, env.sizes)
    return stax.serial(first, *rest)


def embedded(draw: Any, sizes: tuple[int, ...], key: jax.Array, shape: tuple[int, ...]) -> Any:
    """Draw the weights of a first layer of bits."""
    return draw(key, (*shape[:-1], sum(sizes)))


def product(sizes: tuple[int, ...], weights: Any, seen: jax.Array, **_: Any) -> jax.Array:
    """Give the outputs of a first layer of bits for integers."""
    kernel, bias = weights
    return exactdice.jax.first_product(seen, kernel, sizes) + bias


def train(env: Any, options: Options, updates: int, params: Any, law: Any, key: jax.Array) -> Any:
    """Train one seed: the logits of its last policy, and its exact score at each mark."""
    lanes, size = options.lanes, options.lanes * options.length
    parts, batches = max(1, options.marks), options.epochs * options.batches
    draw_actor, act = network(env, env.num_actions, 0.01)
    draw_critic, judge = network(env, 1, 1.0)

    def left(batch: Any) -> Any:  # share of the training that is left
        return 1 - batch // batches / (parts * updates)

    adam = optimizers.adam(lambda batch: options.rate * left(batch), eps=1e-5)

    def laws(weights: Any, seen: jax.Array, legal: jax.Array) -> jax.Array:
        return jax.nn.log_softmax(jnp.where(legal, act(weights[0], seen), -1e9))

    def loss(weights: Any, moves: dict[str, jax.Array], share: jax.Array) -> jax.Array:
        logs = laws(weights, moves["seen"], moves["legal"])
        taken = jnp.take_along_axis(logs, moves["action"][:, None], 1)[:, 0]
        ratio = jnp.exp(taken - moves["log"])
        clipped = ratio.clip(1 - options.clip, 1 + options.clip)
        gains = (moves["gain"] - moves["gain"].mean()) / (moves["gain"].std() + 1e-8)
        errors = judge(weights[1], moves["seen"])[:, 0] - moves["return"]
        entropy = -(jnp.exp(logs) * jnp.where(moves["legal"], logs, 0)).sum(axis=1).mean()
        gained = jnp.minimum(ratio * gains, clipped * gains).mean()
        return 0.5 * (errors**2).mean() - gained - share * options.entropy * entropy

    def play(weights: Any, state: Any, key: jax.Array) -> tuple[Any, dict[str, jax.Array]]:
        seen, games = state
        keys = jax.random.split(key, lanes + 1)
        legal = jax.vmap(env.legal, (0, None))(games, params)
        logs = laws(weights, seen, legal)
        action = jax.random.categorical(keys[0], logs)
        step = jax.vmap(env.step, (0, 0, 0, None))
        after, games, reward, over, *_ = step(keys[1:], games, action, params)
        log = jnp.take_along_axis(logs, action[:, None], 1)[:, 0]
        move = {"seen": seen, "legal": legal, "action": action, "log": log, "reward": reward}
        return (after, games), move | {"over": over, "value": judge(weights[1], seen)[:, 0]}

    def back(later: Any, move: dict[str, jax.Array]) -> tuple[Any, jax.Array]:
        gain, value = (jnp.where(move["over"], 0, each) for each in later)
        gain = move["reward"] + value - move["value"] + options.trace * gain
        return (gain, move["value"]), gain

    def update(state: Any, key: jax.Array) -> tuple[Any, None]:
        learner, number, reached = state
        first, second = jax.random.split(key)
        weights, keys = adam.params_fn(learner), jax.random.split(first, options.length)
        reached, moves = jax.lax.scan(partial(play, weights), reached, keys)
        last = jnp.zeros(lanes), judge(weights[1], reached[0])[:, 0]
        _, gains = jax.lax.scan(back, last, moves, reverse=True)
        moves |= {"gain": gains, "return": gains + moves["value"]}
        moves = {name: table.reshape(size, *table.shape[2:]) for name, table in moves.items()}

        def learn(state: Any, chosen: jax.Array) -> tuple[Any, None]:
            learner, number = state
            batch = {name: table[chosen] for name, table in moves.items()}
            slope = jax.grad(loss)(adam.params_fn(learner), batch, left(number))
            slope = optimizers.clip_grads(slope, 0.5)
            return (adam.update_fn(number, slope, learner), number + 1), None

        keys = jax.random.split(second, options.epochs)
        chosen = jax.vmap(partial(jax.random.permutation, x=size))(keys).reshape(batches, -1)
        return (*jax.lax.scan(learn, (learner, number), chosen)[0], reached), None

    def part(state: Any, key: jax.Array) -> tuple[Any, jax.Array]:
        state, _ = jax.lax.scan(update, state, jax.random.split(key, updates))
        actor = partial(act, adam.params_fn(state[0])[0])
        score = exactdice.jax.exact_score(law, actor).normalized if options.marks else jnp.nan
        return state, score

    keys = jax.random.split(key, 4)
    reached = jax.vmap(env.reset, (0, None))(jax.random.split(keys[0], lanes), params)
    shape = reached[0].shape
    weights = draw_actor(keys[1], shape)[1], draw_critic(keys[2], shape)[1]
    state = adam.init_fn(weights), 0, reached
    state, scores = jax.lax.scan(part, state, jax.random.split(keys[3], parts))
    return adam.params_fn(state[0])[0], scores


def main(options: Options) -> None:
    """Train, and print the exact curve of every seed."""
    form: Any = "integer" if options.integers else "one_hot_float"
    env, params = exactdice.jax.make(options.game, encoding=form)
    law = env.exact_law() if options.marks else None
    updates = options.moves // (options.lanes * options.length * max(1, options.marks))
    keys = jax.vmap(jax.random.key)(np.arange(options.seeds))
    learn = jax.jit(jax.vmap(partial(train, env, options, updates), (None, None, 0)))
    program = learn.lower(params, law, keys).compile()
    begun = time.perf_counter()
    actors, curves = jax.block_until_ready(program(params, law, keys))
    seconds, moves = time.perf_counter() - begun, updates * options.lanes * options.length
    print("moves of a seed, seconds, mean and worst normalised score, exact")
    for mark, scores in enumerate(np.asarray(curves).T, start=1):
        shown = f"{scores.mean():.5f} {scores.min():.5f}" if options.marks else ""
        print(f"{mark * moves:>10,} {mark / curves.shape[1] * seconds:7.1f} {shown}")
    task = gym.make(f"exactdice/{env.name}-v0", encoding=env.encoding)
    _, act = network(env, env.num_actions, 0.01)
    for seed in range(options.seeds):
        actor = partial(act, jax.tree.map(itemgetter(seed), actors))
        score = exactdice.score(exactdice.from_network(actor, task), task)
        print(f"seed {seed}, by the core: {score.normalized:.9f}")
        if options.certificates:
            options.certificates.mkdir(parents=True, exist_ok=True)
            score.save(options.certificates / f"{env.name}-{seed}.npz")


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
