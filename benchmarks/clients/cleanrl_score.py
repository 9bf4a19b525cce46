"""Score exactly what CleanRL's dqn.py has saved: the network of a chain of linear layers.

python benchmarks/clients/cleanrl_score.py runs/.../dqn.cleanrl_model Greed
"""

import sys

import gymnasium as gym
import torch

import exactdice


def main(path: str, game: str) -> None:
    """Rebuild the network from its weights, with ReLUs between the layers, and score it."""
    saved = torch.load(path, weights_only=True)
    layers: list[torch.nn.Module] = []
    for name in saved:
        if name.endswith(".weight"):
            inputs, outputs = reversed(saved[name].shape)
            layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    network = torch.nn.Sequential(*layers[:-1])
    network.load_state_dict({name.partition(".")[2]: saved[name] for name in saved})
    env = gym.make(f"exactdice/{game}-OneHot-v0")
    for masked in (True, False):
        score = exactdice.score(network, env, masked=masked)
        print(f"masked {masked}: regret {score.regret:.6f}, normalised {score.normalized:.6f}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
