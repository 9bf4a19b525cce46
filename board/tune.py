"""``exactdice tune``: a search for hyperparameters as an Optuna study, and its results.

The folder of a search holds

    search.db        every trial; a stopped search continues from it
    trials.csv, .md  a line for each trial: its hyperparameters and scores
    <algorithm>.yml  the best hyperparameters, in the shape of rl_zoo3

Sets of hyperparameters are drawn by a tree-structured Parzen estimator (Watanabe, "Tree-structured
Parzen estimator", 2023, arXiv:2304.11127), and trials are stopped by asynchronous successive
halving (Li et al., "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020): a trial
continues past a rung only if it is in the better half of the trials that have reached the rung.
A trial tells the database that it is alive; one that has not for a minute counts as failed, and is
queued again.
"""

import time
import warnings
from collections.abc import Callable
from concurrent.futures import Future, as_completed
from copy import deepcopy
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import optuna
import yaml
from optuna.exceptions import ExperimentalWarning, StorageInternalError
from optuna.importance import get_param_importances
from optuna.pruners import SuccessiveHalvingPruner
from optuna.samplers import TPESampler
from optuna.storages import RDBStorage, RetryHeartbeatStaleTrialCallback, fail_stale_trials
from optuna.study import MaxTrialsCallback, Study
from optuna.trial import FrozenTrial, Trial, TrialState
from pebble import ProcessExpired
from rich.console import Console

from ..agents.algorithms import ALGORITHMS
from ..agents.runs.config import RunError
from ..agents.runs.hyperparameters import read_file
from ..agents.runs.models import DivergedError
from ..core import InputError, Table, WriteError, make_folder, write_file
from ..core.words import first_line
from ..look.charts import Bars, Lines, Plot, Series
from ..look.drawing import draw
from .grid import TuneConfig
from .strata import attempted
from .trial import mean_nines, run_of, run_trial
from .workers import check_same, workers

#: Rungs: points of a trial (see ``trial``) at which the worse half of the trials is stopped.
RUNGS = (50, 100, 200, 400)
#: Number of trials that are drawn at random before the estimator begins.
RANDOM_TRIALS = 10
#: Number of the best trials that the finals run again.
FINALISTS = 3
#: Completed trials below which importances would be noise.
FEWEST = 4
#: Seeds of training in the trials and in the finals; those of the board are below 1000.
SEED, FINAL_SEEDS = 1000, (1001, 1002, 1003)
#: Seconds between two signs of life of a trial, and after the last one until it counts as failed.
ALIVE, LOST = 10, 60
#: Seconds between two readings of the trials of other commands.
INTERVAL = 1.0
OVER = (TrialState.COMPLETE, TrialState.PRUNED)
STARTED = (TrialState.RUNNING, *OVER)
#: Entries of a trial: the hyperparameters that it was given or has drawn, and its scores by game.
CHOSEN, SCORES = "hyperparameters", "normalized"


def tune(config: TuneConfig, console: Console | None = None) -> list[Path]:
    """Run all remaining trials, then the finals, and write their results and pictures."""
    console = console or Console()
    say = partial(console.print, highlight=False, soft_wrap=True)
    make_folder(config.place)
    study = open_study(config)
    _begin_with(study, config)
    say(
        f"{ALGORITHMS[config.algorithm].title} on {config.rules.title}: {config.trials} trials "
        f"on {', '.join(config.chosen_games)}, {len(over(study))} of them done, in {config.place}"
    )
    try:
        _search(config, study)
        _finals(config, study, say)
    except KeyboardInterrupt:
        say("stopped; the same command goes on")
        raise
    except StorageInternalError as error:  # a full disk, or a server that has gone
        cause = error.__cause__
        reason = first_line(cause if isinstance(cause, Exception) else error)
        raise WriteError(
            f"the trials cannot be kept: {reason}; the same command goes on from the last one"
        ) from None
    found, place = _table(config, study), config.place
    written = [place / "trials.csv", place / "trials.md", place / f"{config.algorithm}.yml"]
    write_file(written[0], found.csv().encode())
    write_file(written[1], _to_markdown(config, found).encode())
    write_file(written[2], _to_yaml(config, study).encode())  # last: it may be refused
    drawn, left_out = attempted({"pictures": partial(draw_importances, study, config.place)})
    written += drawn.get("pictures", [])
    for path in written:
        say(f"written: {path}")
    if left_out:
        say(left_out.strip())
    return written


def open_study(config: TuneConfig, worker: int = 0) -> Study:
    """Open the study of a search, or create it; workers, by their number, draw different sets."""
    url = config.storage or f"sqlite:///{config.place / 'search.db'}"
    waiting = {"connect_args": {"timeout": LOST}} if url.startswith("sqlite") else {}
    try:
        with warnings.catch_warnings(action="ignore", category=ExperimentalWarning):
            storage = RDBStorage(
                url,
                engine_kwargs=waiting,
                heartbeat_interval=ALIVE,
                grace_period=LOST,
                heartbeat_stale_trial_callback=RetryHeartbeatStaleTrialCallback(),
            )
        optuna.logging.set_verbosity(optuna.logging.WARNING)  # of studies; trials are told
        study = optuna.create_study(
            storage=storage, study_name=config.place.name, load_if_exists=True, direction="maximize"
        )
        optuna.logging.set_verbosity(optuna.logging.INFO)
    except Exception as error:  # of SQLAlchemy, of the driver of the database, or of Optuna
        reason = first_line(error)
        raise InputError(f"storage must be a database of a search, got {url}: {reason}") from None
    seed = config.seed + 1000 * (worker + len(study.get_trials(deepcopy=False)))
    study.sampler = TPESampler(seed=seed, n_startup_trials=RANDOM_TRIALS, constant_liar=True)
    study.pruner = SuccessiveHalvingPruner(min_resource=RUNGS[0], reduction_factor=2)
    wanted, found = config.identity(), study.user_attrs.get("identity")
    if found is None:
        study.set_user_attr("identity", wanted)
    else:
        check_same(found, wanted, "search", config.place)
    return study


def _begin_with(study: Study, config: TuneConfig) -> None:
    """Queue the hyperparameters of a file, which are trained as they are, once."""
    file = config.begin_with
    if file is None:
        return
    entry = read_file(config.rules.place(config.chosen_games[0]), file, "begin_with")
    try:
        run_of(config, config.chosen_games[0], file, SEED)
    except InputError as error:
        raise InputError(
            f"begin_with must have hyperparameters of {config.algorithm} for the track "
            f"{config.track}, got {file}: {error}"
        ) from None
    given = {**entry, "n_timesteps": config.rules.moves}
    if all(trial.user_attrs.get(CHOSEN) != given for trial in study.get_trials(deepcopy=False)):
        study.enqueue_trial({}, user_attrs={CHOSEN: given})


def over(study: Study) -> list[FrozenTrial]:
    """List the trials that were completed or stopped."""
    return study.get_trials(deepcopy=False, states=OVER)


def finalists(study: Study) -> list[FrozenTrial]:
    """Return a sixth of all trials, three at most: the best trained on all games, best first."""
    done = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    number = min(FINALISTS, -(-len(over(study)) // 6))
    return sorted(done, key=lambda trial: (-(trial.value or 0.0), trial.number))[:number]


def _search(config: TuneConfig, study: Study) -> None:
    """Run trials until all are over; other commands may run some of them."""
    while len(over(study)) < config.trials:
        missing = config.trials - len(study.get_trials(deepcopy=False, states=STARTED))
        if missing < 1:
            time.sleep(INTERVAL)
            with warnings.catch_warnings(action="ignore", category=ExperimentalWarning):
                fail_stale_trials(study)  # and queue them again
            continue
        with workers(work, config.backend, config.jobs, missing) as pool:
            for job in [pool.start(config, n) for n in range(min(pool.number, missing))]:
                _result(job)


def _result(job: "Future[Any]") -> Any:
    try:
        return job.result()
    except ProcessExpired as error:
        raise RunError(
            f"workers must go on to the end, but one ended with exit code {error.exitcode}: call "
            "the command again to go on"
        ) from None


def work(config: TuneConfig, worker: int) -> None:
    """Run trials until so many have begun as there are to be; the job of a worker."""
    study = open_study(config, worker)
    enough = MaxTrialsCallback(config.trials, states=STARTED)
    study.optimize(partial(_objective, config), callbacks=[enough])


def _objective(config: TuneConfig, trial: Trial) -> float:
    chosen = trial.user_attrs.get(CHOSEN)
    if chosen is None:
        moves = config.rules.moves
        space = ALGORITHMS[config.algorithm].space
        assert space is not None  # ``TuneConfig`` has checked it
        chosen = {"n_timesteps": moves, **space(trial, moves)}
        if config.rules.places:  # environments of others have no encodings
            chosen.pop("env_kwargs", None)
        trial.set_user_attr(CHOSEN, chosen)
    end = 100 * len(config.chosen_games)

    def report(point: int, value: float) -> None:
        trial.report(value, point)
        if point < end and trial.should_prune():  # at the end nothing is left to be stopped
            raise optuna.TrialPruned

    started = time.monotonic()
    try:
        found = run_trial(config, chosen, SEED, report)
    except DivergedError:
        raise optuna.TrialPruned from None
    finally:
        trial.set_user_attr("seconds", round(time.monotonic() - started, 1))
    trial.set_user_attr(SCORES, found)
    return mean_nines([found])


def _final(number: int, seed: int) -> str:
    """Return the name under which a study keeps the scores of a final of a trial."""
    return f"final of {number}, seed {seed}"


def _finals(config: TuneConfig, study: Study, say: Callable[[str], None]) -> None:
    """Run the best trials with other seeds, and keep their scores in the study."""
    jobs = {
        _final(trial.number, seed): (config, trial.user_attrs[CHOSEN], seed)
        for trial in finalists(study)
        for seed in FINAL_SEEDS
        if _final(trial.number, seed) not in study.user_attrs
    }
    if not jobs:
        return
    with workers(train_again, config.backend, config.jobs, len(jobs)) as pool:
        running = {pool.start(*given): name for name, given in jobs.items()}
        for job in as_completed(running):
            scores = _result(job)
            study.set_user_attr(running[job], scores)
            mean = f"{mean_nines([scores]):.3f} nines" if scores else ""
            say(f"{running[job]}: {mean or 'its weights diverged'}")


def train_again(config: TuneConfig, chosen: dict[str, Any], seed: int) -> dict[str, float]:
    """Return the normalised scores of hyperparameters with a seed; empty if they diverged."""
    try:
        return run_trial(config, chosen, seed, lambda *_: None)
    except DivergedError:
        return {}


def _table(config: TuneConfig, study: Study) -> Table:
    """Return a row for each trial, best first, with all digits."""
    again = {number: mean_nines(runs) for number, runs in _scores_of_finals(study).items()}
    games, trials = config.chosen_games, over(study)
    names = list(dict.fromkeys(name for each in trials for name in each.user_attrs[CHOSEN]))
    rows = []
    for trial in trials:
        point = trial.last_step or 0
        known = trial.user_attrs
        scores, chosen = known.get(SCORES, {}), known[CHOSEN]
        curve = " ".join(f"{at}:{nines:.4g}" for at, nines in trial.intermediate_values.items())
        state = trial.state.name.lower()
        rows.append(
            [trial.number, trial.intermediate_values[point], point, again.get(trial.number, "")]
            + [scores.get(game, "") for game in games]
            + [state, curve, known.get("seconds", ""), *(chosen.get(name, "") for name in names)]
        )
    rows.sort(key=lambda row: (row[4] == "", -row[2], -row[1]))
    header = ["trial", "nines", "point", "final nines", *games, "state", "curve", "seconds", *names]
    return Table(header, rows)


def _scores_of_finals(study: Study) -> dict[int, list[dict[str, float]]]:
    """Return the scores by game of the finals with each seed, by the number of their trial.

    A candidate that diverged with one seed has no mean that compares with those of the others.
    """
    known, numbers = study.user_attrs, [trial.number for trial in over(study)]
    found: dict[int, list[Any]] = {
        number: [known.get(_final(number, seed)) for seed in FINAL_SEEDS] for number in numbers
    }
    return {number: runs for number, runs in found.items() if all(runs)}


def _to_yaml(config: TuneConfig, study: Study) -> str:
    """Return the best hyperparameters as YAML of rl_zoo3, with their scores as a comment."""
    finals = _scores_of_finals(study)
    again = {number: mean_nines(runs) for number, runs in finals.items()}
    known = [trial for trial in finalists(study) if trial.number in again]
    if not known:
        seeds = ", ".join(map(str, FINAL_SEEDS))
        raise RunError(
            f"one of the best trials must train with all of the seeds {seeds}, but the weights of "
            "each diverged: call the command again with more --trials"
        )
    found = max(known, key=lambda trial: (again[trial.number], -trial.number))
    runs = finals[found.number]
    scores = {game: fmean(run[game] for run in runs) for game in config.chosen_games}
    everything = set(config.chosen_games) == set(config.rules.games)
    names = ["default"] if everything else [f"exactdice/{game}-v0" for game in config.chosen_games]
    lines = [
        f"# {config.rules.title}, {ALGORITHMS[config.algorithm].title}: the best of the trials, "
        f"{again[found.number]:.2f} nines",
        f"# with seeds {', '.join(map(str, FINAL_SEEDS))}, which have chosen it.",
        "# The figure to cite is the board's, of other seeds. Mean normalised scores of these:",
        *(f"#   {game} {score:.4f}" for game, score in scores.items()),
    ]
    content = {"trials": len(over(study))} | {
        name: deepcopy(found.user_attrs[CHOSEN]) for name in names
    }
    return "\n".join(lines) + "\n" + yaml.safe_dump(content, sort_keys=False)


def _to_markdown(config: TuneConfig, found: Table) -> str:
    """Return the trials as a Markdown table, with the meaning of its columns."""
    trained = sum(row[4] != "" for row in found.rows)
    text = (
        f"{len(found.rows)} trials, {trained} of them on all games; the others diverged, or were "
        f"stopped in the worse half at one of the points {', '.join(map(str, RUNGS))}. A point is "
        "the number of moves so far, in per cent of the moves of one game, where the games are "
        "played from the smallest to the largest. Nines are means of -log10(1 - normalised score) "
        f"over the games so far, which the curve has at each point; final nines are those of "
        f"{len(FINAL_SEEDS)} other seeds."
    )
    title = f"# {ALGORITHMS[config.algorithm].title} on {config.rules.title}"
    rows = [
        [f"{cell:.4g}" if isinstance(cell, float) else cell for cell in row] for row in found.rows
    ]
    return "\n\n".join([title, text, Table(found.header, rows).markdown()]) + "\n"


def draw_importances(study: Study, folder: Path) -> list[Path]:
    """Draw the importances of the hyperparameters, and the best trial so far, into a folder."""
    if (plot := importances(study)) is None:
        return []
    path = folder / "importances.svg"
    draw(plot, path)
    return [path]


def importances(study: Study) -> Plot | None:
    """Make the plot of a search; None if too few trials were trained on all games."""
    done = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    if len(done) < FEWEST:
        return None
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # a file's trial has none
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
