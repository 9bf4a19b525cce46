"""The ceiling of a network: its score after supervised learning of the optimal policy.

A copy of the network with new weights is fitted to the exact optimal actions. The regret of this
copy is due to the network; the further regret of an agent is due to learning.
"""

import numpy as np
import torch as th
from stable_baselines3.common.base_class import BaseAlgorithm
from torch.nn.functional import log_softmax

from ...baselines import Score, Task, occupancy, score, solve
from ...core import InputError
from ...core.positions import states_of
from .adapter import ModelPolicy, copied

UPDATES = 1000  # for games of up to a million states; larger games: one for each 1,000 states
BATCH = 2048
LEARNING_RATE = 3e-3  # of the first update; it falls linearly to zero


def ceiling(model: BaseAlgorithm, task: Task, seed: int = 0) -> Score:
    """Fit a copy of a model's network to the optimal policy and score it exactly.

    Half of the states are drawn by their occupancy under optimal play, half uniformly. The loss is
    minus the logarithm of the total probability of the optimal actions. The model, trained or not,
    is not changed.
    """
    if not list(model.policy.parameters()):
        raise InputError(f"model must have a network, got {type(model).__name__}")
    game, policy = task.game, copied(model.policy)
    with th.random.fork_rng(devices=[]):
        th.manual_seed(seed)
        for module in policy.modules():
            if isinstance(module, th.nn.Linear):
                module.reset_parameters()
    fitted = ModelPolicy(model, game).with_policy(policy)
    states = states_of(game, task.seat)
    optimal = solve(task).optimal
    met = occupancy("optimal", task)[states].astype(np.float64)
    chances = np.cumsum(0.5 * met / met.sum() + 0.5 / len(states))
    rng = np.random.default_rng(seed)
    parameters = list(fitted.policy.parameters())
    optimizer = th.optim.Adam(parameters, lr=LEARNING_RATE)
    updates = max(UPDATES, len(states) // 1000)
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * (1 - update / updates)
        batch = states[np.searchsorted(chances[:-1], rng.random(BATCH))]
        legal = game.mask(batch)
        preferences = fitted.preferences(game.observe(batch, task.seat))
        preferences = preferences.masked_fill(th.as_tensor(~legal), -th.inf)
        wrong = th.as_tensor(~(optimal[batch] & legal))
        right = log_softmax(preferences, dim=1).masked_fill(wrong, -th.inf)
        loss = -right.logsumexp(dim=1).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return score(fitted, task, name="ceiling")
