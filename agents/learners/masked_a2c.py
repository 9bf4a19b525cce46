"""A2C that keeps to the legal actions, which stable-baselines3's has no masks for.

A2C is PPO with one epoch of one batch (Huang et al., "A2C is a special case of PPO", 2022,
arXiv:2205.09123): at the first gradient step the ratio of probabilities is 1 and nothing is
clipped, so that the masks of sb3-contrib's PPO serve A2C as well.
"""

from typing import Any

import torch as th
from sb3_contrib import MaskablePPO
from stable_baselines3.common.type_aliases import GymEnv, Schedule


class MaskedA2C(MaskablePPO):
    """A2C on an environment with masks; arguments and defaults are those of ``A2C``."""

    def __init__(
        self,
        policy: Any,
        env: GymEnv | str,
        learning_rate: float | Schedule = 7e-4,
        n_steps: int = 5,
        gamma: float = 0.99,
        gae_lambda: float = 1.0,
        ent_coef: float = 0.0,
        vf_coef: float = 0.5,
        max_grad_norm: float = 0.5,
        rms_prop_eps: float = 1e-5,
        use_rms_prop: bool = True,
        normalize_advantage: bool = False,
        stats_window_size: int = 100,
        policy_kwargs: dict[str, Any] | None = None,
        **others: Any,
    ) -> None:
        network = dict(policy_kwargs or {})
        if use_rms_prop and "optimizer_class" not in network:
            network["optimizer_class"] = th.optim.RMSprop
            network["optimizer_kwargs"] = {"alpha": 0.99, "eps": rms_prop_eps, "weight_decay": 0}
        super().__init__(
            policy,
            env,
            learning_rate,
            n_steps,
            n_epochs=1,
            gamma=gamma,
            gae_lambda=gae_lambda,
            normalize_advantage=normalize_advantage,
            ent_coef=ent_coef,
            vf_coef=vf_coef,
            max_grad_norm=max_grad_norm,
            stats_window_size=stats_window_size,
            policy_kwargs=network,
            **others,
        )

    def _setup_model(self) -> None:
        super()._setup_model()
        self.batch_size = self.n_steps * self.n_envs
