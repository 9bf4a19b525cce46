"""Charts of what was diagnosed in a run: errors of its values over steps, GAE against lambda."""

from pathlib import Path

import numpy as np

from ..agents.runs.config import RunError
from ..agents.runs.folders import load_model
from ..diagnose.training.folder import Diary, require_fixed_opponents
from ..diagnose.training.model import COLUMNS, Diagnosed
from .charts import Lines, Panel, Plot, Series

#: Lines of the chart of a run: a title, the quantity, and names in the legend by column.
PANELS = (
    (
        "Errors of the critic",
        "reward",
        {"critic_bias": "bias", "critic_rmse": "root mean square error"},
    ),
    (
        "Overestimation of the greedy action",
        "reward",
        {
            "overestimation_mean": "mean, against its own policy",
            "overestimation_mean_optimal": "mean, against optimal play",
            "overestimation_largest": "largest, against its own policy",
        },
    ),
    (
        "Bias of advantage estimates",
        "reward, root mean square",
        {"gae_bias": "whole", "gae_bias_between_actions": "between actions"},
    ),
    (
        "Entropy",
        "1: uniform, 0: certain",
        {"entropy": "by occupancy", "entropy_by_regret": "where the choice matters"},
    ),
    (
        "Optimal play that it misses",
        "share of its occupancy",
        {"unvisited": "never visited in training", "unmet": "met in few games by the policy"},
    ),
)
#: Values of lambda in the chart of advantage estimates.
LAMBDAS = np.linspace(0, 1, 21)


def diagnosis(folder: Path) -> Plot:
    """Draw the exact figures of a run over its steps.

    Raises:
        RunError: if the run was trained without ``--diagnose``, or has no figures yet.
    """
    diary = Diary.read(folder)
    panels: list[Panel] = []
    absent: dict[str, str] = {}  # reason by title
    for title, unit, lines in PANELS:
        series = [_series(diary, column, name) for column, name in lines.items()]
        series = [one for one in series if len(one.x)]
        if not series:
            absent[title] = diary.missing.get(next(iter(lines)), "it had no turn")
        else:
            panels.append(
                Lines(
                    title=title,
                    x_label="agent's moves, million",
                    y_label=unit,
                    series=series,
                    level=0.0,
                    points=True,
                )
            )
    if not panels:
        raise RunError(
            f"run folder must hold figures, got {folder}: none fitted into the budget; "
            "train for longer, or call exactdice diagnose"
        )
    return Plot(
        title=f"{folder.name}: the numbers that it learns from",
        caption="Exact figures of the model in training, over all states, weighted by how often "
        "its policy meets them."
        + "".join(f" No {title.lower()}: {reason}." for title, reason in absent.items()),
        panels=panels,
    )


def _series(diary: Diary, column: str, name: str) -> Series:
    numbers = diary.column(column)
    known = np.isfinite(numbers)
    return Series(name=name, x=diary.column("timesteps")[known] / 1e6, y=numbers[known])


def gae_by_lambda(folder: Path) -> Plot:
    """Draw the exact bias and noise of advantage estimates of a run's final model against lambda.

    Raises:
        RunError: if the model estimates no advantages, or the game is too large, or opponents
            change in training.
    """
    require_fixed_opponents(folder)
    model, _ = load_model(folder)
    diagnosed = Diagnosed(model)
    reason = diagnosed.without_gae()
    if reason is not None:
        raise RunError(f"gae needs a run that estimates advantages, got {folder}: {reason}")
    player, values, moves = diagnosed.player(), diagnosed.values(), diagnosed.moves()
    gamma = diagnosed.model.gamma
    found = [moves.gae(player, values, gamma, float(one)) for one in LAMBDAS]
    bias = np.array([one.rms_bias_between_actions for one in found])
    noise = np.array([one.rms_std for one in found])
    panels = [
        Lines(
            title=title,
            x_label=f"lambda; the run has {diagnosed.model.gae_lambda:g}",
            y_label="reward, root mean square",
            series=[Series(name=title, x=LAMBDAS, y=numbers, colour=colour)],
            level=0.0,
            points=True,
        )
        for colour, (title, numbers) in enumerate(
            (("Bias between actions", bias), ("Standard deviation", noise))
        )
    ]
    return Plot(
        title=f"Advantage estimates of {folder.name}, by lambda",
        caption="Exact bias and noise of generalised advantage estimates with the final critic, "
        "over all moves of the final policy. The bias is the part that differs between the actions "
        "of a state; the rest changes no gradient. Larger batches lessen the noise and leave the "
        "bias.",
        panels=panels,
    )


def figures(folder: Path) -> list[list[str]]:
    """Return the last figures of a run as rows of a table: name, number, meaning.

    Raises:
        RunError: if the run was trained without ``--diagnose``.
    """
    diary, rows = Diary.read(folder), []
    for name in diary.known:
        if name != "timesteps":
            numbers = diary.column(name)
            last = int(np.flatnonzero(np.isfinite(numbers))[-1])
            steps = f"{diary.rows[last]['timesteps']:,.0f}"
            rows.append([name, f"{numbers[last]:.6f}", steps, COLUMNS[name]])
    return rows
