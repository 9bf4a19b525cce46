"""``exactdice train``, ``benchmark`` and ``tune``; their options are in the rooms of ``agents``."""

from ..agents.board.config import BenchmarkConfig
from ..agents.runs.config import TrainConfig
from ..agents.tuning.config import TuneConfig


def run_train(options: TrainConfig) -> None:
    """Train an agent and score it."""
    from ..agents.runs.train import train
    from ..agents.tracks import TRACKS
    from ..core import one_of
    from ..diagnose.training import of_run

    if options.track is not None:  # the rungs of a ladder are trained on a track's budget
        games = TRACKS[options.track].games
        one_of(f"game on the track {options.track}", options.game_name, games)
    if train(options, diagnosis=of_run) is None:
        raise KeyboardInterrupt  # which has ended the training


def run_benchmark(options: BenchmarkConfig) -> int:
    """Train the cells that are missing; the exit code is 1 if one failed."""
    from ..agents.board.benchmark import benchmark
    from ..look.boards import to_page

    return 1 if benchmark(options, page=to_page) else 0


def run_tune(options: TuneConfig) -> None:
    """Run the trials that are missing, and write the best hyperparameters."""
    from ..agents.tuning.tune import tune
    from ..look.tuning import draw_importances

    tune(options, draw=draw_importances)
