"""The results of a search: lines while it runs, tables of its trials, and the YAML file."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState
from rich.console import Console

from ...core import write_file
from ..algorithms import ALGORITHMS
from ..runs.config import RunError
from .config import TuneConfig
from .study import RUNGS, finalists, finals_of, hyperparameters, over
from .trial import bounded_nines
from .work import FINAL_SEEDS


class Teller:
    """Prints a line for each finished trial, once."""

    def __init__(self, config: TuneConfig, trials: Study, finals: Study, console: Console) -> None:
        self._config, self._console = config, console
        self._studies = {"trial": trials, "final": finals}
        self._told = {name: {each.number for each in over(s)} for name, s in self._studies.items()}

    def beginning(self) -> str:
        """Say what will be done."""
        config = self._config
        done = len(self._told["trial"])
        return (
            f"{ALGORITHMS[config.algorithm].title} on {config.rules.title}: {config.trials} trials "
            f"on {', '.join(config.chosen_games)}, {done} of them done, in {config.place}"
        )

    def tell(self) -> None:
        """Print the lines of trials that have finished since the last call."""
        for name, study in self._studies.items():
            for trial in over(study):
                if trial.number not in self._told[name]:
                    self._told[name].add(trial.number)
                    self._console.print(_line(name, trial), highlight=False, soft_wrap=True)


def last(trial: FrozenTrial) -> tuple[int, float]:
    """Return the last point of a trial and the mean nines there."""
    point = trial.last_step
    assert point is not None
    return point, trial.intermediate_values[point]


def _line(name: str, trial: FrozenTrial) -> str:
    seconds = f"{trial.user_attrs.get('seconds', 0):.0f} s"
    pair = trial.user_attrs.get("pair")
    whose = f" (trial {pair[0]}, seed {pair[1]})" if pair else ""
    if trial.state == TrialState.COMPLETE:
        return f"{name} {trial.number}{whose}: {trial.value:.3f} nines, {seconds}"
    if pair:
        return f"{name} {trial.number}{whose}: its weights diverged, {seconds}"
    point, value = last(trial)
    return (
        f"{name} {trial.number}: stopped at {point} % of a game with {value:.3f} nines, {seconds}"
    )


def write(config: TuneConfig, trials: Study, finals: Study) -> list[Path]:
    """Write the tables, then the YAML file, and return their paths.

    Raises:
        WriteError: if the folder cannot be written to.
        RunError: if no finalist has trained with all seeds.
    """
    header, rows = table(config, trials, finals)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    files: dict[str, Callable[[], str]] = {
        "trials.csv": text.getvalue,
        "trials.md": lambda: to_markdown(config, trials, finals),
        f"{config.algorithm}.yml": lambda: to_yaml(config, trials, finals),
    }
    for name, content in files.items():
        write_file(config.place / name, content().encode())
    return [config.place / name for name in files]


def table(config: TuneConfig, trials: Study, finals: Study) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns, and a row for each trial, best first, with all digits."""
    ranked = sorted(over(trials), key=lambda trial: (trial.state, -last(trial)[0], -last(trial)[1]))
    names = list(dict.fromkeys(name for trial in ranked for name in _chosen(config, trial)))
    again = whole_finals(finals)
    header = ["trial", "nines", "point", "final nines", *config.chosen_games, "seconds", *names]
    rows = []
    for trial in ranked:
        point, value = last(trial)
        scores = trial.user_attrs.get("normalized", {})
        chosen = _chosen(config, trial)
        final = _mean(again[trial.number]) if trial.number in again else ""
        row = [trial.number, value, point, final, *(scores.get(g, "") for g in config.chosen_games)]
        row += [trial.user_attrs.get("seconds", ""), *(chosen.get(name, "") for name in names)]
        rows.append([str(entry) for entry in row])
    return header, rows


def _chosen(config: TuneConfig, trial: FrozenTrial) -> dict[str, Any]:
    return hyperparameters(config, trial.params)


def _mean(runs: Mapping[int, Mapping[str, float]]) -> float:
    """Return the mean nines over seeds and games."""
    return fmean(bounded_nines(score) for run in runs.values() for score in run.values())


def whole_finals(finals: Study) -> dict[int, dict[int, dict[str, float]]]:
    """Return the scores of the candidates that have trained with all seeds of the finals.

    A candidate that diverged with one seed has no mean that compares with those of the others.
    """
    found = finals_of(finals).items()
    return {number: runs for number, runs in found if set(runs) == set(FINAL_SEEDS)}


def winner(trials: Study, finals: Study) -> FrozenTrial:
    """Return the finalist with the largest mean nines over the seeds of the finals.

    Raises:
        RunError: if every finalist diverged with one of the seeds.
    """
    again = whole_finals(finals)
    known = [trial for trial in finalists(trials) if trial.number in again]
    if not known:
        seeds = ", ".join(map(str, FINAL_SEEDS))
        raise RunError(
            f"one of the best trials must train with all of the seeds {seeds}, but the weights of "
            "each diverged: call the command again with more --trials"
        )
    return max(known, key=lambda trial: (_mean(again[trial.number]), -trial.number))


def to_yaml(config: TuneConfig, trials: Study, finals: Study) -> str:
    """Return the best hyperparameters as YAML of rl_zoo3, with their scores as a comment."""
    found = winner(trials, finals)
    runs = whole_finals(finals)[found.number]
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
    content = {"trials": len(over(trials)), **{name: dict(entry) for name in names}}
    return "\n".join(lines) + "\n" + yaml.safe_dump(content, sort_keys=False)


def to_markdown(config: TuneConfig, trials: Study, finals: Study) -> str:
    """Return the trials as a Markdown table, with the meaning of its columns."""
    header, rows = table(config, trials, finals)
    trained = len(trials.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)))
    text = (
        f"{len(rows)} trials, {trained} of them on all games; the others diverged, or were stopped "
        f"in the worse half at one of the points {', '.join(map(str, RUNGS))}. A point is the "
        "number of moves so far, in per cent of the moves of one game, where the games are played "
        "from the smallest to the largest. Nines are means of -log10(1 - normalised score) "
        f"over the games so far; final nines those of {len(FINAL_SEEDS)} other seeds."
    )
    title = f"# {ALGORITHMS[config.algorithm].title} on {config.rules.title}"
    shown: Sequence[Sequence[str]] = [header, ["---"] * len(header), *map(_rounded, rows)]
    return "\n\n".join([title, text, "\n".join(f"| {' | '.join(row)} |" for row in shown)]) + "\n"


def _rounded(row: Sequence[str]) -> list[str]:
    def short(text: str) -> str:
        try:
            return f"{float(text):.4g}" if "." in text else text
        except ValueError:
            return text

    return [short(text) for text in row]
