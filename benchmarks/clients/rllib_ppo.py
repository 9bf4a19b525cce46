"""PPO of RLlib, held to the legal actions by RLlib's own masking module, and its exact score.

It is paid the regret of each move, so that gamma is 0.

RLlib 2.60.0 pins gymnasium 1.2.2, so that it needs an environment of its own, in which this project
works as well: pip install '.[agents]' 'ray[rllib]==2.60.0'

python benchmarks/clients/rllib_ppo.py Greed 20
"""

import sys
import time
from typing import Any

import gymnasium as gym
import torch
from exactdice.envs import MaskInObservation
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

import exactdice


def make(config: dict) -> gym.Env:
    """Make the environment, in whatever process it is asked for."""
    return MaskInObservation(gym.make(config["id"], reward="regret"), "rllib")


def main(game: str, iterations: int) -> None:
    """Train, and print the exact figures after each fifth."""
    torch.set_num_threads(1)
    env_id = f"exactdice:exactdice/{game}-OneHot-v0"
    register_env("masked", make)
    config = (
        PPOConfig()
        .environment("masked", env_config={"id": env_id})
        .env_runners(num_env_runners=0, num_envs_per_env_runner=8)
        .training(gamma=0.0, lambda_=0.0, lr=1e-3, train_batch_size_per_learner=4000)
        .training(minibatch_size=500, num_epochs=4, entropy_coeff=0.05)
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=ActionMaskingTorchRLModule,
                model_config={"fcnet_hiddens": [128, 128], "head_fcnet_hiddens": []},
            )
        )
        .debugging(seed=0)
    )
    algorithm, env, started = config.build_algo(), make({"id": env_id}), time.time()

    def preferences(seen: Any) -> torch.Tensor:
        """Ask RLlib's network, without the mask, which ``exact_evaluation`` keeps."""
        module = algorithm.get_module()
        everything = torch.ones(len(seen), int(env.action_space.n))
        batch = {"obs": {"observations": torch.as_tensor(seen), "action_mask": everything}}
        with torch.no_grad():
            return module.forward_inference(batch)["action_dist_inputs"]

    agent = exactdice.from_network(preferences, env)
    for iteration in range(1, iterations + 1):
        algorithm.train()
        if iteration % max(1, iterations // 5) == 0:
            figures = exactdice.exact_evaluation(agent, env)
            print(", ".join(f"{name} {figure:.6f}" for name, figure in figures.items()), end=", ")
            print(f"{time.time() - started:.1f} s")
    algorithm.stop()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
