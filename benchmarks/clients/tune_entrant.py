"""Search hyperparameters of an entrant that is a command: TPE on the exact scores at the end.

The command gets the hyperparameters as options, and a folder. The objective is that of ``exactdice
tune``, the mean of nines over the cells. Processes with the same folder share the trials.

python benchmarks/clients/tune_entrant.py --space benchmarks/clients/spaces/cleanrl_dqn.yml \
    --trials 50 --folder runs/tune-cleanrl \
    python benchmarks/clients/cleanrl_track.py cleanrl/cleanrl/dqn.py --seeds 0 1
"""

import argparse
import json
import subprocess
from pathlib import Path
from typing import Any

import optuna
import yaml
from exactdice.agents.tuning.trial import bounded_nines


def chosen(trial: optuna.Trial, name: str, entry: Any) -> Any:
    """Return a value of one entry of the space."""
    if not isinstance(entry, dict):
        return entry
    if "choices" in entry:
        return trial.suggest_categorical(name, **entry)
    suggest = trial.suggest_int if isinstance(entry["low"], int) else trial.suggest_float
    return suggest(name, **entry)


def main() -> None:
    """Run trials until there are so many, and print the options of the best."""
    parser = argparse.ArgumentParser(description="Search hyperparameters of an entrant.")
    parser.add_argument("--space", type=Path, required=True)
    parser.add_argument("--trials", type=int, required=True, help="of all processes together")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    space = yaml.safe_load(options.space.read_text(encoding="utf-8"))
    options.folder.mkdir(parents=True, exist_ok=True)
    backend = optuna.storages.journal.JournalFileBackend(str(options.folder / "trials.log"))
    study = optuna.create_study(
        storage=optuna.storages.JournalStorage(backend),
        study_name="trials",
        sampler=optuna.samplers.TPESampler(multivariate=True, constant_liar=True),
        direction="maximize",
        load_if_exists=True,
    )
    while len(study.trials) < options.trials:
        trial = study.ask()
        values = {name: chosen(trial, name, entry) for name, entry in space.items()}
        given = [text for name, value in values.items() for text in (f"--{name}", str(value))]
        folder = options.folder / f"trial-{trial.number}"
        ran = subprocess.run([*options.command, "--folder", str(folder), *given], check=False)
        curves = [json.loads(path.read_text()) for path in folder.glob("*.json")]
        last = [curve["normalized"][-1] for curve in curves]
        if ran.returncode:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, sum(map(bounded_nines, last)) / len(last))
            print(f"trial {trial.number}", [round(score, 3) for score in last], *given, flush=True)
    print("best", study.best_value, (options.folder / f"trial-{study.best_trial.number}"))


if __name__ == "__main__":
    main()
