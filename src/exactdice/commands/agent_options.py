"""The options that name an agent, which several commands share."""

from dataclasses import dataclass, field
from typing import Literal

import tyro

from ..agents.runs.config import GameName, Keywords
from ..agents.runs.options import PolicyOptions


@dataclass(frozen=True)
class AgentOptions:
    """The agent that a command scores."""

    policy: tyro.conf.Positional[str]
    """Run folder; or, with --game, the name of a policy such as random, a certificate, or a model
    saved by stable-baselines3."""

    game: GameName | None = None
    """Game of a policy that is not a run. Default: Greed."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the environment for a policy that is not a run: --env max_score 50."""

    model: Literal["final", "best"] | None = None
    """Which model of a run. Default: final."""

    stochastic: bool = False
    """Score a model as it draws actions at random from its law, not with its likeliest action."""

    @property
    def agent(self) -> PolicyOptions:
        """The agent that these options name."""
        return PolicyOptions(self.policy, self.game, self.env, self.model, self.stochastic)
