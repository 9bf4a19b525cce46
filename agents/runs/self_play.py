"""Exact scores while an agent learns by self-play: its exploitability beside its score."""

from typing import Any

from ...baselines import score_self_play
from ..learners.adapter import ModelPolicy
from ..tracks import TRACKS
from .callback import ExactEvalCallback, OnScore, due_of, interval_of
from .folders import SELF_PLAY
from .run import Run


class SelfPlayEvalCallback(ExactEvalCallback):
    """Logs the exploitability of the deterministic policy beside its score, as ``SELF_PLAY``.

    Where moves of the opponent count, a rollout is seen to pass a mark of a track only while it is
    played. The policy is that of the last update until the rollout ends, so it is scored then, with
    the moves before the rollout. A rollout that passes the end of the track ends the run: nothing
    is learned from it, and its moves are not counted.

    Args:
        run: the run, whose log is continued.
        on_score: called with (steps, score) after every score.
    """

    def __init__(self, run: Run, on_score: OnScore) -> None:
        config = run.config
        interval, due = interval_of(config, run.task), due_of(config)
        super().__init__(
            run.task, interval, run.folder, config.stop_at, on_score, record=run, due=due
        )
        passing = config.track is not None and config.counts_others
        self._marks = TRACKS[config.track or ""].marks if passing else ()
        self._before, self._unsaved = 0, False  # moves before the rollout

    def _on_rollout_start(self) -> None:
        self._before = self.num_timesteps
        super()._on_rollout_start()
        if self._unsaved:
            self._save_again()
            self._unsaved = False

    def _on_step(self) -> bool:
        passed = [mark for mark in self._marks if self._before <= mark < self.num_timesteps]
        if passed and passed[-1] == self._marks[-1]:  # the score of the end is yet to come
            self.model.num_timesteps = self.num_timesteps = self._before
            return False
        if passed and self.log["timesteps"][-1:] != [self._before]:
            moves, self.num_timesteps = self.num_timesteps, self._before
            self.evaluate()
            self.num_timesteps, self._unsaved = moves, True
        return super()._on_step()

    def more(self) -> dict[str, float]:
        """Compute the exploitability of the present policy."""
        found = score_self_play(ModelPolicy(self.model, self.task.game), self.task)
        numbers = found.exploitability, found.normalized, *found.guaranteed
        return dict(zip(SELF_PLAY, numbers, strict=True))


def summary(run: Run) -> dict[str, Any]:
    """Give the entries of ``score.json`` of the final model: its exploitability."""
    found = score_self_play(ModelPolicy(run.model, run.task.game), run.task)
    return {
        "exploitability_of_both_seats": found.exploitability,
        "self_play": found.as_dict(),
    }


def in_words(entries: dict[str, Any]) -> str:
    """Put the entries of a ``summary`` into words."""
    found = entries["self_play"]
    seats = " and ".join(f"{value:.6f}" for value in found["guaranteed"])
    return (
        f"exploitability, mean of both seats: {found['exploitability']:.6f} (normalised "
        f"{found['normalized_exploitability']:.4f}, {found['nines']:.2f} nines); values "
        f"of the seats against a best response: {seats}"
    )
