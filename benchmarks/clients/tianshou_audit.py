"""Audit Tianshou's DQN as it is: the targets and the gradient of every tenth update.

In an installation of its own: pip install 'tianshou==2.0.1' 'pandas<3', and this package.

python benchmarks/clients/tianshou_audit.py
python benchmarks/clients/tianshou_audit.py --double --n-step 3 --prioritised
python benchmarks/clients/tianshou_audit.py --double --prioritised --huber
"""

import argparse
import copy
from collections import Counter
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from exactdice.diagnose import Targets, Transitions, ValueUpdate, audit
from exactdice.envs import MaskInObservation
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, PrioritizedVectorReplayBuffer, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

LANES, GAMMA, RATE, EVERY = 8, 0.9, 1e-3, 10


class Values(torch.nn.Module):
    """A network of Tianshou, which returns a pair, as a function of observations alone."""

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        """Return action values, shape (observation, action)."""
        return self.network(seen)[0]


class Audited(DQN):
    """Tianshou's DQN, with an audit before and after an update."""

    def __init__(self, env: gym.Env, options: argparse.Namespace, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.env, self.options = env, options
        self.updates, self.found = 0, Counter[str]()

    def _preprocess_batch(self, batch: Any, buffer: Any, indices: Any) -> Any:
        self.rows, self.kept = indices.copy(), buffer
        return super()._preprocess_batch(batch, buffer, indices)

    def _transitions(self) -> Transitions:
        """Return the rows of the batch, each of so many moves as its target adds up."""
        buffer, last = self.kept, self.rows.copy()
        rewards, counts = buffer.rew[last].astype(float), np.ones(len(last), dtype=int)
        for _ in range(self.options.n_step - 1):
            goes_on = ~buffer.done[last] & (buffer.next(last) != last)
            last = np.where(goes_on, buffer.next(last), last)
            rewards += np.where(goes_on, GAMMA**counts * buffer.rew[last], 0.0)
            counts += goes_on
        seen, later = buffer[self.rows].obs.obs, buffer[last].obs_next.obs
        ended = buffer.terminated[last]
        actions = buffer.act[self.rows]
        return Transitions(seen, actions, rewards, later, ended, n_steps=counts, gamma=GAMMA)

    def _update_with_batch(self, batch: Batch) -> Any:
        self.updates += 1
        if self.updates % EVERY:
            return super()._update_with_batch(batch)
        moves, target = self._transitions(), getattr(self.model_old, "module", self.model_old)
        online = Values(copy.deepcopy(self.policy.model))
        targets = Targets(
            moves,
            batch.returns.flatten().numpy().copy(),
            Values(copy.deepcopy(target)),
            online,
            gamma=GAMMA,
            double=self.options.double,
        )
        weights = np.asarray(batch.weight).copy() if self.options.prioritised else None
        stepping = copy.deepcopy(self.optim._optim)
        result = super()._update_with_batch(batch)
        after = Values(copy.deepcopy(self.policy.model))
        for own, other in zip(after.parameters(), self.policy.model.parameters(), strict=True):
            own.grad = other.grad.clone()
        update = ValueUpdate(
            moves.observations,
            moves.actions,
            targets.targets,
            online,
            after,
            loss="huber" if self.options.huber else "mse",
            weights=weights,
            optimizer=stepping,
            learning_rate=RATE,
            source=targets,
            rows=np.arange(len(self.rows)),
        )
        for record in (targets, update):
            report = audit(self.env, record)
            self.found["audits"] += 1
            self.found.update(f"{each.check} {each.mistake}" for each in report.findings)
        return result


def main() -> None:
    """Train for 4,000 moves of Greed to 12 points, with masks; print how often what was found."""
    known = argparse.ArgumentParser(description="Audit Tianshou's DQN.")
    known.add_argument("--n-step", type=int, default=1)
    for name in ("--double", "--prioritised", "--huber"):
        known.add_argument(name, action="store_true")
    options = known.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    game = {"id": "exactdice/Greed-OneHot-v0", "max_score": 12, "sides": 3}

    def make() -> gym.Env:
        return MaskInObservation(gym.make(**game), "tianshou")

    env = make()
    shape, actions = env.observation_space["obs"].shape, env.action_space
    network = Net(state_shape=shape, action_shape=actions.n, hidden_sizes=[64, 64])
    policy = DiscreteQLearningPolicy(
        model=network, action_space=actions, eps_training=0.5, eps_inference=0.0
    )
    algorithm = Audited(
        gym.make(**game),
        options,
        policy=policy,
        optim=AdamOptimizerFactory(lr=RATE),
        gamma=GAMMA,
        n_step_return_horizon=options.n_step,
        target_update_freq=20,
        is_double=options.double,
        huber_loss_delta=1.0 if options.huber else None,
    )
    lanes = DummyVectorEnv([make for _ in range(LANES)])
    lanes.seed(0)
    plain, priorities = VectorReplayBuffer, {"alpha": 0.6, "beta": 0.4}
    kind = PrioritizedVectorReplayBuffer if options.prioritised else plain
    buffer = kind(20_000, LANES, **(priorities if options.prioritised else {}))
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=Collector(algorithm, lanes, buffer),
            max_epochs=1,
            epoch_num_steps=4000,
            collection_step_num_env_steps=4 * LANES,
            batch_size=128,
            update_step_num_gradient_steps_per_sample=1 / 8,
            verbose=False,
            show_progress=False,
        )
    )
    print(", ".join(f"{name}: {times}" for name, times in algorithm.found.items()))


if __name__ == "__main__":
    main()
