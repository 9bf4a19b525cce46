"""``exactdice train``: train an agent, with the options of ``agents/runs/config.py``."""

from ..agents.runs.config import TrainConfig
from ..exit_codes import INTERRUPTED


def run(options: TrainConfig) -> int:
    """Train an agent and score it."""
    from ..agents.runs.train import train
    from ..diagnose.training.callback import of_run

    return INTERRUPTED if train(options, diagnosis=of_run) is None else 0
