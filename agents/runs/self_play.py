"""Exact scores while an agent learns by self-play: its exploitability beside its score."""

from collections.abc import Iterator
from typing import Any

from ...baselines import score_mixture, score_self_play
from ..learners.adapter import ModelPolicy
from .callback import ExactEvalCallback
from .folders import SELF_PLAY
from .run import Run


class SelfPlayEvalCallback(ExactEvalCallback):
    """Logs the exploitability of the deterministic policy beside its score, as ``SELF_PLAY``."""

    def more(self) -> dict[str, float]:
        """Compute the exploitability of the present policy."""
        found = score_self_play(ModelPolicy(self.model, self.task.game), self.task)
        numbers = found.exploitability, found.normalized, *found.guaranteed
        return dict(zip(SELF_PLAY, numbers, strict=True))


def summary(run: Run) -> dict[str, Any]:
    """Give the entries of ``score.json`` of the final model: exploitability, alone and of the pool.

    The mixture is of the final policy and of those of the pool, with equal probabilities, each with
    its likeliest actions.
    """
    game = run.task.game
    found = score_self_play(ModelPolicy(run.model, game), run.task)
    entries = {
        "exploitability_of_both_seats": found.exploitability,
        "self_play": found.as_dict(),
    }
    if run.self_play is not None and run.config.past_selves:
        members = run.self_play.members(run.model)
        mixed = score_mixture(members, run.task)
        entries["mixture"] = {"members": len(members), **mixed.as_dict()}
    return entries


def in_words(entries: dict[str, Any]) -> Iterator[str]:
    """Put the entries of a ``summary`` into words, one line each."""
    titles = {"self_play": "exploitability, mean of both seats", "mixture": "of the mixture"}
    for name, title in titles.items():
        if name in entries:
            found = entries[name]
            seats = " and ".join(f"{value:.6f}" for value in found["guaranteed"])
            yield (
                f"{title}: {found['exploitability']:.6f} (normalised "
                f"{found['normalized_exploitability']:.4f}, {found['nines']:.2f} nines); values "
                f"of the seats against a best response: {seats}"
            )
