"""Train an agent with exact scores, and print its final score."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch as th
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from stable_baselines3.common.callbacks import BaseCallback

from ...baselines import Score, score_self_play
from ...core import WriteError
from ..learners.adapter import ModelPolicy
from . import folders
from .agent import report, show
from .callback import GAMES, RunCallback, SampleScore
from .config import RunError, TrainConfig
from .models import learn, learning
from .run import Run

GOOD = 0.99  # normalised score whose first time is printed


class ProgressCallback(BaseCallback):
    """Updates the progress bar."""

    def __init__(self, progress: Progress, total: int, done: int) -> None:
        super().__init__()
        self._progress = progress
        self._bar = progress.add_task("", total=total, completed=done, score="")

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self._progress.update(self._bar, completed=self.num_timesteps)

    def show(self, steps: int, score: Score | SampleScore) -> None:
        """Show a score beside the bar; print it if the output is not a terminal."""
        text = f"regret {score.regret:.5f}, normalised score {score.normalized:.4f}"
        if isinstance(score, SampleScore):
            text = (
                f"about {score.value:.2f} ± {score.margin:.2f} in {GAMES:,} sample games, "
                f"normalised score about {score.normalized:.3f}"
            )
        self._progress.update(self._bar, completed=steps, score=text)
        if not self._progress.console.is_terminal:
            self._progress.console.print(f"{steps:>10,} steps: {text}")


def train(
    config: TrainConfig,
    console: Console | None = None,
    diagnosis: Callable[[Run], BaseCallback] | None = None,
) -> Score | None:
    """Run a training job, new or resumed, on one thread of the processor.

    ``diagnosis`` makes the callback of runs with the option ``diagnose``: rooms above this one have
    it (``exactdice.commands.training.diagnosis_of``). The exact score of the final model is None if
    the run was interrupted and saved.
    """
    # The networks are too small to gain from more threads; with one thread the order of every sum,
    # hence the run, does not depend on the number of cores.
    th.set_num_threads(1)
    console = console or Console()
    with _begun(config) as run, _advice_on_write_errors(run.folder), _logged_by_wandb(run):
        options = run.config
        track = f" on the track {options.rules.title}" if options.rules else ""
        console.print(
            f"{options.algorithm} plays {run.task.words}\n{options.reward} reward, "
            f"{options.total_steps:,} steps{track}, saving in {run.folder}"
        )
        if options.diagnose and diagnosis is None:
            raise RunError("diagnose must be given with a callback as diagnosis=, got none")
        watching = [diagnosis(run)] if diagnosis is not None and options.diagnose else []
        run.callbacks.extend(watching)
        exact, final = _learn(run, console), None
        if exact.interrupted_at is None:
            final = exact.evaluate()
            _finish(run, final, console)
        for each in watching:  # once the run is saved
            console.print(str(each), highlight=False, markup=False, soft_wrap=True)
    if final is None:
        console.print(
            f"interrupted and saved after {exact.interrupted_at:,} steps; continue with\n"
            f"    python train.py --resume {run.folder}"
        )
    return final


@contextmanager
def _begun(config: TrainConfig) -> Iterator[Run]:
    """Create or resume a run, and hold the lock of its folder."""
    if config.resume is None:
        run = Run.create(config)
        with folders.alone(run.folder):
            if not (run.folder / "config.json").exists():  # by a benchmark, before the lock
                raise RunError(f"run_folder must be kept, got {run.folder}, which was removed")
            yield run
        return
    folders.read_config(config.resume)  # fails if there is no run; the lock would make its folder
    with folders.alone(config.resume):
        yield Run.resume(config.resume)


def _finish(run: Run, final: Score, console: Console) -> None:
    """Save the final model and print its score, in self-play with its exploitability."""
    found, more = None, {}
    if run.config.self_play:
        found = score_self_play(ModelPolicy(run.model, run.task.game), run.task)
        more = {"exploitability_of_both_seats": found.exploitability, "self_play": found.as_dict()}
    run.finish(final, **more)
    show(report(final), console)
    if found is not None:
        seats = " and ".join(f"{value:.6f}" for value in found.guaranteed)
        console.print(
            f"exploitability, mean of both seats: {found.exploitability:.6f} (normalised "
            f"{found.normalized:.4f}, {found.nines:.2f} nines); values of the seats against a best "
            f"response: {seats}",
            highlight=False,
        )
    log = folders.exact_part({name: np.array(column) for name, column in run.log.items()})
    good = np.flatnonzero(log["normalized"] >= GOOD)
    if len(good):
        moves, seconds = log["timesteps"][good[0]], log["seconds"][good[0]]
        console.print(f"normalised score {GOOD} reached after {moves:,.0f} moves, {seconds:.0f} s")
    console.print(f"saved in {run.folder}")


@contextmanager
def _advice_on_write_errors(folder: Path) -> Iterator[None]:
    """Add to an error for a file that cannot be written, as on a full disk, how to continue."""
    try:
        yield
    except WriteError as error:
        go_on = f"go on with --resume {folder}"
        if not (folder / "checkpoint.pt").exists():
            go_on = f"train again, as nothing was saved yet in {folder}"
        raise RunError(f"{error}; make room and {go_on}") from None


def _logged_by_wandb(run: Run) -> AbstractContextManager[Any]:
    """Send TensorBoard logs to Weights & Biases during the block, if the options ask for it."""
    if run.config.wandb is None:
        return nullcontext()
    import wandb  # optional

    options = {"project": run.config.wandb, "name": run.folder.name, "dir": str(run.folder)}
    session: AbstractContextManager[Any] = wandb.init(
        **options, config=run.config.to_json(), sync_tensorboard=True
    )
    return session


def _learn(run: Run, console: Console) -> RunCallback:
    """Train to the end, or to Ctrl-C, with a progress bar; exact scores come before callbacks."""
    model, total = run.model, run.config.total_steps
    columns = (
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[score]}"),
    )
    with Progress(*columns, console=console) as progress:
        bar = ProgressCallback(progress, total, model.num_timesteps)
        exact = RunCallback(run, bar.show)
        with learning(model), _stop_on_interrupt(exact, console):
            learn(
                model,
                total - model.num_timesteps,
                [exact, *run.callbacks, bar],
                reset_num_timesteps=model.num_timesteps == 0,
            )
    return exact


@contextmanager
def _stop_on_interrupt(exact: RunCallback, console: Console) -> Iterator[None]:
    """On the first Ctrl-C, end training at the next point where it can be saved."""

    def ask(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        exact.stop = True
        console.print("stopping: one moment to save (Ctrl-C again to lose what is not saved)")

    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread only
        return
    before = signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
