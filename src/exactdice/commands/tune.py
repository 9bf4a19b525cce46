"""``exactdice tune``: search for hyperparameters; options are in ``agents/tuning/config.py``."""

from ..agents.tuning.config import TuneConfig


def run(options: TuneConfig) -> int:
    """Run the trials that are missing, and write the best hyperparameters."""
    from ..agents.tuning.tune import tune
    from ..look.tuning import draw_importances

    tune(options, draw=draw_importances)
    return 0
