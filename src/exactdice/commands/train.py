"""``exactdice train``: train an agent, with the options of ``agents/runs/config.py``."""

from ..agents.runs.config import TrainConfig
from ..exit_codes import INTERRUPTED


def run(options: TrainConfig) -> int:
    """Train an agent and score it."""
    from ..agents.runs.train import train
    from ..agents.tracks import TRACKS
    from ..core import one_of
    from ..diagnose.training.callback import of_run

    if options.track is not None:  # the rungs of a ladder are trained on a track's budget
        games = TRACKS[options.track].games
        one_of(f"game on the track {options.track}", options.game_name, games)
    return INTERRUPTED if train(options, diagnosis=of_run) is None else 0
