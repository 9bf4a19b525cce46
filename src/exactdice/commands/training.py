"""``exactdice train``; its options are in ``agents``."""

from typing import Any

from ..agents.runs.config import TrainConfig
from ..agents.tracks import TRACKS
from ..core import one_of

#: Number of rows of figures in a diagnosed run.
ROWS = 40


def diagnosis_of(run: Any) -> Any:
    """Make the ``DiagnoseCallback`` of a ``Run``, with about as many rows as exact scores."""
    from ..diagnose.training import DiagnoseCallback

    updates = run.config.total_steps // run.config.hyperparameters.rollout
    return DiagnoseCallback(every=max(1, updates // ROWS), folder=run.folder)


def run_train(options: TrainConfig) -> None:
    """Train an agent and score it."""
    from ..agents.runs.train import train

    if options.track is not None:  # the rungs of a ladder are trained on a track's budget
        games = TRACKS[options.track].games
        one_of(f"game on the track {options.track}", options.game_name, games)
    if train(options, diagnosis=diagnosis_of) is None:
        raise KeyboardInterrupt  # which has ended the training
