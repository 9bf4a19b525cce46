"""Search hyperparameters of an entrant that is a command: TPE on the exact scores at the end.

The command gets the hyperparameters as options, a game and a folder. The objective is that of
``exactdice tune``, the mean of nines over the games, and trials are stopped early as there: at the
end of a game, if the mean so far is in the worse half. Processes with the same folder share the
trials.

python benchmarks/clients/tune_entrant.py --space benchmarks/clients/spaces/cleanrl_dqn.yml \
    --trials 40 --folder runs/tune-cleanrl --games Greed LowestScore -- \
    python benchmarks/clients/cleanrl_track.py cleanrl/cleanrl/dqn.py --seeds 1000
"""

import argparse
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import optuna
import yaml
from exactdice.board.trial import bounded_nines, by_size


def chosen(trial: optuna.Trial, name: str, entry: Any) -> Any:
    """Return a value of one entry of the space."""
    if not isinstance(entry, dict):
        return entry
    if "choices" in entry:
        return trial.suggest_categorical(name, **entry)
    suggest = trial.suggest_int if isinstance(entry["low"], int) else trial.suggest_float
    return suggest(name, **entry)


def nines_of(
    trial: optuna.Trial, command: Sequence[str], games: Sequence[str], folder: Path
) -> float:
    """Run the command on one game after the other, and return the mean of the nines.

    Raises:
        optuna.TrialPruned: if the mean so far is in the worse half.
        CalledProcessError: if the command fails.
    """
    found: list[float] = []
    for number, game in enumerate(games):
        subprocess.run([*command, "--games", game, "--folder", str(folder)], check=True)
        scores = [json.loads(path.read_text()) for path in folder.glob(f"{game}-*.json")]
        found.append(bounded_nines(*(score["normalized"][-1] for score in scores)))
        trial.report(fmean(found), 100 * (number + 1))
        if number + 1 < len(games) and trial.should_prune():
            raise optuna.TrialPruned
    return fmean(found)


def main() -> None:
    """Run trials until there are so many, and print the options of the best."""
    parser = argparse.ArgumentParser(
        description="Search hyperparameters of an entrant.", allow_abbrev=False
    )
    parser.add_argument("--space", type=Path, required=True)
    parser.add_argument("--trials", type=int, required=True, help="of all processes together")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--games", nargs="+", required=True)
    parser.add_argument("command", nargs="+", help="after --; the command and its options")
    options = parser.parse_args()
    space = yaml.safe_load(options.space.read_text(encoding="utf-8"))
    games = by_size(options.games)
    options.folder.mkdir(parents=True, exist_ok=True)
    backend = optuna.storages.journal.JournalFileBackend(str(options.folder / "trials.log"))
    study = optuna.create_study(
        storage=optuna.storages.JournalStorage(backend),
        study_name="trials",
        sampler=optuna.samplers.TPESampler(multivariate=True, constant_liar=True),
        pruner=optuna.pruners.SuccessiveHalvingPruner(min_resource=100, reduction_factor=2),
        direction="maximize",
        load_if_exists=True,
    )
    while len(study.trials) < options.trials:
        trial = study.ask()
        values = {name: chosen(trial, name, entry) for name, entry in space.items()}
        given = [text for name, value in values.items() for text in (f"--{name}", str(value))]
        folder = options.folder / f"trial-{trial.number}"
        try:
            nines = nines_of(trial, [*options.command, *given], games, folder)
        except (optuna.TrialPruned, subprocess.CalledProcessError) as reason:
            stopped = isinstance(reason, optuna.TrialPruned)
            states = optuna.trial.TrialState
            study.tell(trial, state=states.PRUNED if stopped else states.FAIL)
            print(f"trial {trial.number}", "stopped" if stopped else "failed", *given, flush=True)
        else:
            study.tell(trial, nines)
            print(f"trial {trial.number} {nines:.3f} nines", *given, flush=True)
    if all(trial.state != optuna.trial.TrialState.COMPLETE for trial in study.trials):
        raise SystemExit(f"all {len(study.trials)} trials failed or were stopped")
    print(f"best: {study.best_value:.3f} nines, trial {study.best_trial.number}")


if __name__ == "__main__":
    main()
