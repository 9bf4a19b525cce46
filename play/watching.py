"""Watching an agent: a policy plays the person's seat and shows its probabilities of moves."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..baselines import Policy, Task
from ..baselines.policies.door import Reading, convert
from ..core import FloatArray, InputError
from .levels import player, policy_of
from .session import Session


@dataclass(frozen=True)
class Agent:
    """A policy that plays in the person's place.

    Attributes:
        name: the name of the policy, or its path.
        title: its name for people.
        policy: the policy that moves; a network takes its likeliest action, as in a score.
        laws: the policy whose probabilities are shown; for a network, its law before the likeliest
            action is taken.
    """

    name: str
    title: str
    policy: Policy
    laws: Policy

    def law(self, state: int) -> FloatArray:
        """Return the probability of each action in a state, shape (action,)."""
        law: FloatArray = self.laws.probabilities(np.array([state]))[0]
        return law

    def action(self, session: Session) -> int:
        """Return the agent's move in a session; the same game gives the same move."""
        rng = np.random.default_rng([session.seed, len(session.actions)])
        return int(self.policy.sample(np.array([session.now.state]), rng)[0])


def agent_of(word: str, task: Task) -> Agent:
    """Return the agent of a name, a level, a run folder, a certificate or a saved model.

    Raises:
        ValueError: if there is no such policy, or it does not fit the game.
    """
    name, game, seat = policy_of(word), task.game, task.seat
    policy = convert(name, game, seat)
    try:
        laws = convert(name, game, seat, reading=Reading(deterministic=False))
    except InputError:  # a network of action values has no law
        laws = policy
    title = Path(name).name if Path(name).exists() else player(game, name).title
    return Agent(name, title, policy, laws)
