"""The policy that a command names: a run folder, or a policy of a game by name or from a file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...baselines import Score, is_policy_name, policy_names, score
from ...core import InputError
from .config import task_from_options


@dataclass(frozen=True)
class Asked:
    """A policy as the options of a command name it.

    Attributes:
        policy: a run folder, a certificate, a saved model, or the name of a policy.
        game: the game of a policy that is not a run, None for Greed.
        env: keyword arguments of that game.
        model: which model of a run, "final" or "best"; None for the final one.
        stochastic: whether a model draws its actions from its probabilities.
    """

    policy: str
    game: str | None = None
    env: Mapping[str, int | str] = field(default_factory=dict)
    model: str | None = None
    stochastic: bool = False

    @property
    def is_run(self) -> bool:
        """Whether the policy is a run folder."""
        return Path(self.policy).is_dir()

    def score(self, name: str | None = None) -> Score:
        """Score the policy exactly.

        Args:
            name: what the score calls the policy; by default its own name.

        Raises:
            InputError: if there is no such policy, or an option would change nothing.
        """
        return self._score_run(name) if self.is_run else self._score_policy(name)

    def _score_run(self, name: str | None) -> Score:
        self.refuse("a policy by name", game=self.game, env=self.env)
        import torch

        from .folders import load_model

        torch.set_num_threads(1)  # small networks only lose time with more
        model, env = load_model(Path(self.policy), self.model or "final")
        return score(model, env, deterministic=not self.stochastic, name=name)

    def _score_policy(self, name: str | None) -> Score:
        task = task_from_options(self.game or "Greed", dict(self.env))
        named = is_policy_name(task.game, self.policy)
        if not named and not Path(self.policy).is_file():
            known = ", ".join(policy_names(task.game))
            raise InputError(
                "policy must be a run folder, a certificate, a saved model or one of "
                f"{known}, got {self.policy!r}"
            )
        self.refuse("a run folder", model=self.model)
        if named:
            self.refuse("a model", stochastic=self.stochastic)
        policy = self.policy if named else Path(self.policy)
        return score(policy, task, deterministic=not self.stochastic, name=name)

    @staticmethod
    def refuse(what: str, **options: Any) -> None:
        """Refuse options that have been given and would change nothing."""
        for option, given in options.items():
            if given:
                raise InputError(f"{option} must be left out, as it is for {what}")
