"""The learning algorithms, one record each.

To add an algorithm, add its record to ``ALGORITHMS``. The names and defaults of its hyperparameters
are read from the signature of its model; their meanings and ranges are in
``runs/hyperparameters.py``. A file ``hyperparams/<name>.yml`` has other values than the defaults,
and a function of ``spaces`` those that ``exactdice tune`` may choose.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from typing import Any, Literal

from ..core import InputError
from ..core.words import either
from . import spaces


@dataclass(frozen=True)
class Algorithm:
    """A learning algorithm."""

    title: str  # its name in tables and charts
    model: str  # its class, with the interface of stable-baselines3, as "module:Class"
    #: Rollouts of the current policy; the results of whole games, of policies near it; or a replay
    #: buffer, each move at once, into tables, or a model that it counts, which give action values.
    learns_from: Literal["rollouts", "games", "replay", "tables", "model"]
    _: KW_ONLY
    space: "spaces.Space | None" = None  # what ``exactdice tune`` may choose
    masked: bool = True  # whether it is held to the legal actions during training
    by_self_play: str | None = None  # the class of the model in self-play, if it is another one

    @property
    def plays_itself(self) -> bool:
        """Whether it can learn by self-play."""
        return self.by_self_play is not None or (self.masked and self.learns_from == "rollouts")

    def load(self, self_play: bool = False) -> Any:
        """Import the class of the model, or of the model in self-play."""
        place = self.by_self_play if self_play and self.by_self_play else self.model
        module, _, name = place.partition(":")
        return getattr(import_module(module, __package__), name)


#: By the name that the command line, run folders and the YAML files use. The place of an algorithm
#: is its colour in charts, a number of ``COLOURS`` (look/charts.py), so that new ones come last.
ALGORITHMS: Mapping[str, Algorithm] = {
    "ppo": Algorithm("PPO", "sb3_contrib:MaskablePPO", "rollouts", space=spaces.ppo),
    "dqn": Algorithm("DQN", ".learners.dqn:MaskedDQN", "replay", space=spaces.dqn),
    "qlearning": Algorithm(
        "Q-learning",
        ".learners.q_learning:QLearning",
        "tables",
        space=spaces.q_learning,
        by_self_play=".learners.q_learning:MinimaxQLearning",
    ),
    "a2c": Algorithm("A2C", "stable_baselines3:A2C", "rollouts", masked=False, space=spaces.a2c),
    "trpo": Algorithm("TRPO", "sb3_contrib:TRPO", "rollouts", masked=False, space=spaces.trpo),
    "qrdqn": Algorithm("QR-DQN", ".learners.dqn:MaskedQRDQN", "replay", space=spaces.qrdqn),
    "ndqn": Algorithm("n-step DQN", ".learners.dqn:MaskedDQN", "replay", space=spaces.n_step_dqn),
    "planner": Algorithm("Planner", ".learners.planner:Planner", "model", space=spaces.planner),
    "ppo-unmasked": Algorithm(
        "PPO without masks", "stable_baselines3:PPO", "rollouts", masked=False, space=spaces.ppo
    ),
    "a2c-masked": Algorithm(
        "A2C with masks", ".learners.masked_a2c:MaskedA2C", "rollouts", space=spaces.a2c
    ),
}


def check_self_play(name: str) -> None:
    """Check that an algorithm can learn by self-play."""
    if not ALGORITHMS[name].plays_itself:
        able = [each for each, known in ALGORITHMS.items() if known.plays_itself]
        raise InputError(f"self_play needs the algorithm {either(able)}, got {name}")


def agent_name(algorithm: str, reward: str) -> str:
    """Return the title of an algorithm, with the reward unless it is the outcome."""
    name = ALGORITHMS[algorithm].title
    return name if reward == "outcome" else f"{name}, {reward} reward"
