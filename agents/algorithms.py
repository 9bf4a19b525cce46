"""The learning algorithms, one record each.

To add an algorithm, add its record to ``ALGORITHMS``, and a file ``hyperparams/<name>.yml``. Its
hyperparameters and their defaults are read from the signature of its model; what they mean is
said in ``runs/arguments.py``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """A learning algorithm.

    Attributes:
        title: its name in tables and charts.
        model: its class, with the interface of stable-baselines3, as "module:Class".
        policy: the policy of the model: a name that the model knows, or "module:Class".
        learns_from: "rollouts" of the current policy, a "replay" buffer, or each move at once,
            into "tables". With the latter two it learns action values.
        masked: whether it is held to the legal actions during training.
        unit_payoffs: whether payoffs are scaled to a span of 1. A loss that is linear in errors
            above 1, such as the Huber loss of DQN, needs that: where payoffs differ by 9, as in
            421, DQN would learn something like their medians instead of their means, and never
            take a risk (0.856 of the optimum there, instead of 0.999).
        benchmarked: whether ``exactdice benchmark`` runs it by default.
    """

    title: str
    model: str
    policy: str
    learns_from: Literal["rollouts", "replay", "tables"]
    masked: bool
    unit_payoffs: bool
    benchmarked: bool = False

    @property
    def plays_itself(self) -> bool:
        """Whether it can learn by self-play."""
        return self.masked and self.learns_from == "rollouts"

    def load(self) -> tuple[Any, Any]:
        """Import the class of the model, and its policy: a class, or a name that it knows."""
        return _load(self.model), _load(self.policy) if ":" in self.policy else self.policy


def _load(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module, __package__), name)


#: By the name that the command line, run folders and the YAML files use.
ALGORITHMS: Mapping[str, Algorithm] = MappingProxyType(
    {
        "ppo": Algorithm(
            title="PPO",
            model="sb3_contrib:MaskablePPO",
            policy="MlpPolicy",
            learns_from="rollouts",
            masked=True,
            unit_payoffs=False,
            benchmarked=True,
        ),
        "dqn": Algorithm(
            title="DQN",
            model=".learners.dqn:MaskedDQN",
            policy=".learners.dqn:MaskedDQNPolicy",
            learns_from="replay",
            masked=True,
            unit_payoffs=True,
            benchmarked=True,
        ),
        "qlearning": Algorithm(
            title="Q-learning",
            model=".learners.q_learning:QLearning",
            policy=".learners.q_learning:QTable",
            learns_from="tables",
            masked=True,
            unit_payoffs=False,
            benchmarked=True,
        ),
        "a2c": Algorithm(
            title="A2C",
            model="stable_baselines3:A2C",
            policy="MlpPolicy",
            learns_from="rollouts",
            masked=False,
            unit_payoffs=False,
        ),
        "trpo": Algorithm(
            title="TRPO",
            model="sb3_contrib:TRPO",
            policy="MlpPolicy",
            learns_from="rollouts",
            masked=False,
            unit_payoffs=False,
        ),
        "qrdqn": Algorithm(
            title="QR-DQN",
            model=".learners.dqn:MaskedQRDQN",
            policy=".learners.dqn:MaskedQRDQNPolicy",
            learns_from="replay",
            masked=True,
            unit_payoffs=True,
        ),
    }
)
