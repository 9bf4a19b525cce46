"""The exact figures of a model in training, one number for each column.

A column that cannot be computed is left out, and the reason is given instead: nothing is skipped
silently. The models are those of stable-baselines3 and sb3-contrib, with the environment that they
train in.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ...core import InputError

#: The columns, and what each of them is.
COLUMNS: Mapping[str, str] = {
    "timesteps": "moves of the agent so far",
    "critic_bias": "mean of the critic's values less the exact values of the present policy",
    "critic_rmse": "root of the mean squared error of these values",
    "critic_explained_variance": "1 less the variance of their errors divided by that of the "
    "exact values",
    "gae_bias": "root mean square of the exact bias of the advantage estimates, at the run's "
    "gae_lambda",
    "gae_bias_between_actions": "the same of the bias less its mean in each state, which is all of "
    "it that changes a gradient",
    "gae_std": "root mean square of their exact standard deviation",
    "overestimation_mean": "greedy action values less the exact ones of the greedy policy",
    "overestimation_largest": "the largest of these errors in a state that the policy meets",
    "overestimation_mean_optimal": "greedy action values less the exact ones under optimal play "
    "afterwards",
    "overestimation_largest_optimal": "the largest of these errors in a state that the policy "
    "meets",
    "entropy": "relative entropy of the policy: 1 if uniform, 0 if every action is certain",
    "entropy_by_regret": "the same, weighted by the regret of a uniform move: where the choice "
    "matters",
    "gradient_cosine": "cosine of the gradient of the actor's loss on the whole rollout buffer and "
    "the exact gradient of the return",
    "unvisited": "share of the occupancy of optimal play in states that training has never visited",
    "unmet": "share of it in states that the policy meets less than once in 10,000 games",
    "audit_findings": "checks that did not hold in the last audit of the buffer",
    "share": "share of the time of training that the diagnosis has taken so far",
}
CRITIC = ("critic_bias", "critic_rmse", "critic_explained_variance")
GAE = ("gae_bias", "gae_bias_between_actions", "gae_std")
OVERESTIMATION = tuple(name for name in COLUMNS if name.startswith("overestimation"))
ENTROPY = ("entropy", "entropy_by_regret")
GRADIENT = ("gradient_cosine",)
#: Reasons for missing columns.
NORMALISED = "rewards are normalised by VecNormalize"
MOVES_NEEDED = "values with a discount need all moves of the game, and they were not listed"


@dataclass
class Columns:
    """Figures of a model.

    Attributes:
        numbers: by the names in ``COLUMNS``.
        missing: the reason for each requested column that is missing.
    """

    numbers: dict[str, float] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def take(self, names: tuple[str, ...], compute: Callable[[], tuple[float, ...]]) -> None:
        """Compute some columns, or note the reason why they cannot be computed."""
        try:
            found = compute()
        except InputError as error:  # also a ``SizeError``
            self.leave_out(names, str(error))
            return
        for name, number in zip(names, found, strict=True):
            if np.isfinite(number):
                self.numbers[name] = float(number)
            else:
                self.missing[name] = "no state that is met has such a number"

    def leave_out(self, names: tuple[str, ...], reason: str) -> None:
        """Note the reason why some columns are not computed."""
        self.missing.update(dict.fromkeys(names, reason))

    def add(self, other: "Columns") -> None:
        """Add the columns of another part, with its reasons for missing ones."""
        self.numbers.update(other.numbers)
        self.missing.update(other.missing)
        for name in other.numbers:
            self.missing.pop(name, None)
