"""Pictures of training runs."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ..runs.config import RunError
from ..runs.folders import read_config, read_log, write_with
from .leaderboard import agent_name

FORMATS = ("png", "svg", "pdf", "jpg", "webp")  # those that need no other program
FLOOR = 1e-4  # of the span between random and optimal play: what is nearer is drawn here


def plot_runs(folders: Sequence[Path], picture: Path) -> None:
    """Draw the exact learning curves of runs: what is missing to the optimum, over steps.

    Args:
        folders: run folders.
        picture: file to write; its ending says the format, such as .png or .svg.

    Raises:
        RunError: if a folder has no scores, or the format is unknown.
    """
    kind = picture.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise RunError(f"picture must end in one of {', '.join(FORMATS)}, got {picture}")
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for folder in folders:
        config, log = read_config(folder), read_log(folder)
        missing = np.maximum(1 - log["normalized"], FLOOR)
        axes.plot(
            log["timesteps"] / 1e6, missing, label=f"{config.game_name}: {agent_name(config)}"
        )
    axes.set(xlabel="agent's moves, million", ylabel="1 - normalised score", yscale="log")
    axes.set_title("Exact distance to the optimum (random play is 1, optimal play 0)")
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    write_with(picture, lambda buffer: figure.savefig(buffer, format=kind, dpi=150))
