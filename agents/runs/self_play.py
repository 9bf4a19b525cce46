"""Exact scores while an agent learns by self-play: its exploitability beside its score."""

from collections.abc import Iterator
from typing import Any

from ...baselines import score_mixture, score_self_play
from ..learners.adapter import ModelPolicy
from ..learners.self_play import self_plays
from ..tracks import TRACKS
from .callback import ExactEvalCallback, OnScore, due_of, interval_of
from .folders import SELF_PLAY
from .hyperparameters import first_line
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
    """Give the entries of ``score.json`` of the final model: exploitability, alone and of the pool.

    The mixture is of the final policy and of those of the pool, with equal probabilities, each with
    its likeliest actions. If it cannot be scored exactly, the reason takes its place.
    """
    game = run.task.game
    found = score_self_play(ModelPolicy(run.model, game), run.task)
    entries = {
        "exploitability_of_both_seats": found.exploitability,
        "self_play": found.as_dict(),
    }
    for itself in self_plays(run.callbacks) if run.config.past_selves else ():
        members = itself.members(run.model)
        try:
            mixed = score_mixture(members, run.task)
        except Exception as error:  # a SizeError, or no memory: the run is finished without it
            entries["mixture_left_out"] = f"cannot be scored exactly: {first_line(error)}"
        else:
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
    if "mixture_left_out" in entries:
        yield f"exploitability of the mixture: {entries['mixture_left_out']}"
