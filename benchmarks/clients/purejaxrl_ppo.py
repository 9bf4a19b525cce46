"""PPO of PureJaxRL with its own settings, and the exact score of its network.

PureJaxRL is a repository without releases; its commit of 2024-09-09 is 31756b1. gymnax 1.0.1, which
it imports, needs gymnasium below 1.4, so that this needs an environment of its own:
git clone https://github.com/luchris429/purejaxrl
pip install '.[jax]' flax optax distrax gymnax

python benchmarks/clients/purejaxrl_ppo.py purejaxrl/purejaxrl Greed 500000
"""

import importlib
import sys
import time
from functools import partial
from unittest.mock import MagicMock

import gymnax
import jax

import exactdice.jax

#: Simulators that its wrappers import, and dice games do not need.
SIMULATORS = ("brax", "brax.envs", "brax.envs.wrappers", "brax.envs.wrappers.training", "navix")
SETTINGS = {
    "NUM_ENVS": 4,
    "NUM_STEPS": 128,
    "UPDATE_EPOCHS": 4,
    "NUM_MINIBATCHES": 4,
    "GAMMA": 0.99,
    "GAE_LAMBDA": 0.95,
    "CLIP_EPS": 0.2,
    "ENT_COEF": 0.01,
    "VF_COEF": 0.5,
    "MAX_GRAD_NORM": 0.5,
    "ACTIVATION": "tanh",
    "ANNEAL_LR": True,
}


def main(folder: str, game: str, moves: int, rate: float = 2.5e-4) -> None:
    """Train, and print the exact figures of the last network, held to the legal actions."""
    sys.path.insert(0, folder)
    sys.modules |= {name: MagicMock() for name in SIMULATORS}
    gymnax.make = partial(exactdice.jax.make, legacy=True)  # the changed line of its ppo.py
    ppo, started = importlib.import_module("ppo"), time.time()
    given = {"ENV_NAME": game, "TOTAL_TIMESTEPS": moves, "LR": rate}
    out = jax.jit(ppo.make_train(SETTINGS | given))(jax.random.key(30))
    env, _ = exactdice.jax.make(game)
    network = ppo.ActorCritic(env.num_actions, activation=SETTINGS["ACTIVATION"])
    weights = out["runner_state"][0].params
    figures = exactdice.jax.exact_score(
        env.exact_law(), lambda seen: network.apply(weights, seen)[0].logits
    )
    for name, figure in figures._asdict().items():
        print(f"{name} {figure:.6f}", end=", ")
    print(f"{time.time() - started:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *map(float, sys.argv[4:]))
