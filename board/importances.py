"""What mattered in a search for hyperparameters."""

import warnings
from pathlib import Path

import numpy as np
from optuna.importance import get_param_importances
from optuna.study import Study
from optuna.trial import TrialState

from ..look.charts import Bars, Lines, Plot, Series
from ..look.drawing import draw

#: Completed trials below which importances would be noise.
FEWEST = 4


def draw_importances(study: Study, folder: Path) -> list[Path]:
    """Draw the importances of the hyperparameters, and the best trial so far, into a folder."""
    plot = importances(study)
    if plot is None:
        return []
    path = folder / "importances.svg"
    draw(plot, path)
    return [path]


def importances(study: Study) -> Plot | None:
    """Make the plot of a search; None if too few trials were trained on all games."""
    done = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    if len(done) < FEWEST:
        return None
    with warnings.catch_warnings(
        action="ignore", category=UserWarning
    ):  # of a file's, which has none
        known = get_param_importances(study)
    bars = Bars(
        title="What mattered",
        x_label="importance (the sum is 1)",
        labels=list(known),
        values=np.array(list(known.values())),
    )
    numbers = np.array([trial.number for trial in done], dtype=np.float64)
    values = np.array([trial.value for trial in done], dtype=np.float64)
    lines = Lines(
        title="The search",
        x_label="trial",
        y_label="mean nines",
        series=[
            Series(name="trials on all games", x=numbers, y=values),
            Series(name="the best so far", x=numbers, y=np.maximum.accumulate(values)),
        ],
        points=True,
    )
    caption = (
        "Importance of each hyperparameter for being among the best tenth of the trials that were "
        "trained on all games (PED-ANOVA, Watanabe et al., IJCAI 2023), and the mean nines of "
        "these trials, exact, one seed each."
    )
    return Plot(title=f"Tuning: {len(study.trials)} trials", caption=caption, panels=[bars, lines])
