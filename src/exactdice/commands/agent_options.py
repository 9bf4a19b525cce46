"""The options that name an agent, which several commands share."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import tyro

from ..agents.runs.options import GameWord, Keywords, PolicyOptions


@dataclass(frozen=True)
class AgentOptions:
    """The agent that a command scores."""

    policy: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="POLICY")]
    """Run folder, certificate, model saved by stable-baselines3, or name of a policy such as
    random."""

    game: GameWord = None
    """Game of a policy that is not a run, in upper or lower case. Default: that of a certificate,
    else Greed."""

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
