"""The results of a search: tables of its trials, and the YAML file."""

from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from ...core import Table, write_file
from ..algorithms import ALGORITHMS
from ..runs.config import RunError
from .config import TuneConfig
from .study import FINAL_SEEDS, RUNGS, final, finalists, hyperparameters, over
from .trial import bounded_nines


def write(config: TuneConfig, study: Study) -> list[Path]:
    """Write the tables, then the YAML file, and return their paths.

    Raises:
        WriteError: if the folder cannot be written to.
        RunError: if no finalist has trained with all seeds.
    """
    found = table(config, study)
    files: dict[str, Callable[[], str]] = {
        "trials.csv": found.csv,
        "trials.md": lambda: to_markdown(config, study, found),
        f"{config.algorithm}.yml": lambda: to_yaml(config, study),
    }
    for name, content in files.items():
        write_file(config.place / name, content().encode())
    return [config.place / name for name in files]


def last(trial: FrozenTrial) -> tuple[int, float]:
    """Return the last point of a trial and the mean nines there."""
    point = trial.last_step
    assert point is not None
    return point, trial.intermediate_values[point]


def table(config: TuneConfig, study: Study) -> Table:
    """Return a row for each trial, best first, with all digits."""
    ranked = sorted(over(study), key=lambda trial: (trial.state, -last(trial)[0], -last(trial)[1]))
    chosen = [hyperparameters(config, trial.params) for trial in ranked]
    names = list(dict.fromkeys(name for each in chosen for name in each))
    again, games = finals(study), config.chosen_games
    rows = []
    for trial, own in zip(ranked, chosen, strict=True):
        point, value = last(trial)
        scores = trial.user_attrs.get("normalized", {})
        mean = _mean(again[trial.number]) if trial.number in again else ""
        row = [trial.number, value, point, mean, *(scores.get(game, "") for game in games)]
        row += [trial.user_attrs.get("seconds", ""), *(own.get(name, "") for name in names)]
        rows.append(row)
    header = ["trial", "nines", "point", "final nines", *games, "seconds", *names]
    return Table(header, rows)


def _mean(runs: Mapping[int, Mapping[str, float]]) -> float:
    """Return the mean nines over seeds and games."""
    return fmean(bounded_nines(score) for run in runs.values() for score in run.values())


def finals(study: Study) -> dict[int, dict[int, dict[str, float]]]:
    """Return the normalised scores of the finals, keyed by candidate, then seed, then game.

    A candidate that diverged with one seed has no mean that compares with those of the others, and
    is left out.
    """
    found = {
        trial.number: {
            seed: study.user_attrs.get(final(trial.number, seed)) for seed in FINAL_SEEDS
        }
        for trial in over(study)
    }
    return {number: runs for number, runs in found.items() if all(runs.values())}  # type: ignore[misc]


def winner(study: Study) -> FrozenTrial:
    """Return the finalist with the largest mean nines over the seeds of the finals.

    Raises:
        RunError: if every finalist diverged with one of the seeds.
    """
    again = finals(study)
    known = [trial for trial in finalists(study) if trial.number in again]
    if not known:
        seeds = ", ".join(map(str, FINAL_SEEDS))
        raise RunError(
            f"one of the best trials must train with all of the seeds {seeds}, but the weights of "
            "each diverged: call the command again with more --trials"
        )
    return max(known, key=lambda trial: (_mean(again[trial.number]), -trial.number))


def to_yaml(config: TuneConfig, study: Study) -> str:
    """Return the best hyperparameters as YAML of rl_zoo3, with their scores as a comment."""
    found = winner(study)
    runs = finals(study)[found.number]
    scores = {game: fmean(run[game] for run in runs.values()) for game in config.chosen_games}
    entry = hyperparameters(config, found.params)
    everything = set(config.chosen_games) == set(config.rules.games)
    names = ["default"] if everything else [f"exactdice/{game}-v0" for game in config.chosen_games]
    every = [bounded_nines(score) for run in runs.values() for score in run.values()]
    lines = [
        f"# {config.rules.title}, {ALGORITHMS[config.algorithm].title}: the best of the trials, "
        f"{_mean(runs):.2f} nines",
        f"# with seeds {', '.join(map(str, runs))}, which have chosen it; perfect runs, 9 nines "
        f"each: {every.count(9.0)} of {len(every)}.",
        "# The figure to cite is the board's, of other seeds. Mean normalised scores of these:",
        *(f"#   {game} {score:.4f}" for game, score in scores.items()),
    ]
    content = {"trials": len(over(study)), **{name: dict(entry) for name in names}}
    return "\n".join(lines) + "\n" + yaml.safe_dump(content, sort_keys=False)


def to_markdown(config: TuneConfig, study: Study, found: Table) -> str:
    """Return the trials as a Markdown table, with the meaning of its columns."""
    trained = len(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)))
    text = (
        f"{len(found.rows)} trials, {trained} of them on all games; the others diverged, or were "
        f"stopped in the worse half at one of the points {', '.join(map(str, RUNGS))}. A point is "
        "the number of moves so far, in per cent of the moves of one game, where the games are "
        "played from the smallest to the largest. Nines are means of -log10(1 - normalised score) "
        f"over the games so far; final nines those of {len(FINAL_SEEDS)} other seeds."
    )
    title = f"# {ALGORITHMS[config.algorithm].title} on {config.rules.title}"
    rows = [[_rounded(cell) for cell in row] for row in found.rows]
    return "\n\n".join([title, text, Table(found.header, rows).markdown()]) + "\n"


def _rounded(cell: Any) -> Any:
    return f"{cell:.4g}" if isinstance(cell, float) else cell
