"""A training run: its options, its model, the exact scores so far, and the folder of its files."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch as th
import yaml
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm

from ...baselines import Score, Task, certificate
from ...core import WriteError, write_file
from ..learners.self_play import SelfPlay
from ..learners.vec_env import games_of
from .config import RunError, TrainConfig
from .folders import LOG, SELF_PLAY, check_sums, exact_part, held, read_config, reading, write_json
from .models import build

#: Attributes of models that change in training; ``weights`` are those to which ARS adds its steps.
CHANGING = (
    *("num_timesteps", "_n_updates", "_n_calls", "_episode_num", "exploration_rate", "weights"),
)
REPLAY = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")

#: Scores so far: a list for each of ``LOG``, and of ``SELF_PLAY`` in self-play.
Log = dict[str, list[float]]


@dataclass(frozen=True)
class Run:
    """A training run, made by ``create`` or ``resume``."""

    config: TrainConfig
    folder: Path
    log: Log
    task: Task
    """The task that the agent is scored on; in self-play it trains on other tasks, too."""
    model: BaseAlgorithm
    callbacks: list[BaseCallback]
    """The callbacks that the options name."""

    def __post_init__(self) -> None:
        """Make the model write TensorBoard logs, which Weights & Biases reads as well."""
        if self.config.tensorboard or self.config.wandb:
            self.model.tensorboard_log = str(self.folder / "tensorboard")

    @classmethod
    def create(cls, config: TrainConfig) -> "Run":
        """Build the environment and the model of a new run, then make its folder."""
        built = build(config)
        return cls(config, _make_folder(config), {name: [] for name in LOG}, *built)

    @classmethod
    def resume(cls, folder: Path) -> "Run":
        """Load an unfinished run from its last checkpoint."""
        config = read_config(folder)
        if (folder / "score.json").exists():
            raise RunError(
                f"resume must be an unfinished run, got {folder}, which has a score.json"
            )
        task, model, callbacks = build(config)
        return cls(config, folder, _restore(folder, model, callbacks), task, model, callbacks)

    def save(self, random: th.Tensor | None = None) -> None:
        """Save the state of training, with a state of PyTorch's random generator or the present."""
        content = {**_state(self.model), "log": self.log}
        content["torch_random"] = th.get_rng_state() if random is None else random
        for each in self.callbacks:
            if isinstance(each, SelfPlay):
                content["rollouts"] = each.rollouts
        write_file(self.folder / "checkpoint.pt", lambda buffer: th.save(content, buffer))

    def finish(self, score: Score, **more: Any) -> None:
        """Write the final model, its certificate and its score, with more entries of JSON."""
        write_file(self.folder / "final_model.zip", self.model.save)
        write_file(self.folder / "certificate.npz", certificate(score))
        log = {name: np.array(column) for name, column in self.log.items()}
        track, curve = self.config.rules, dict[str, Any]()
        if track is None:
            curve["best_normalized"] = exact_part(log)["normalized"].max()
        else:
            curve |= {"track": track.name, "track_version": track.version}
            marks = [str(mark) for mark in track.marks]
            for name in ("normalized", *SELF_PLAY):
                if name in log:
                    numbers = track.at_marks(self.log["timesteps"], log[name])
                    curve[f"{name}_at_marks"] = dict(zip(marks, numbers, strict=True))
        spent = {"steps": self.model.num_timesteps, "seconds": self.log["seconds"][-1]}
        summary = {**spent, **score.as_dict(), **curve, **more}
        write_json(self.folder / "score.json", summary)


def _make_folder(config: TrainConfig) -> Path:
    """Make the folder of a new run, with its options and hyperparameters."""
    folder = config.run_folder
    if folder is None:
        begin = Path("runs", f"{config.game_name}-{config.algorithm}")
        folder = next(free for n in range(1, 10**6) if not (free := Path(f"{begin}-{n}")).exists())
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise RunError(
            f"run_folder must not exist, got {folder}: choose another, or continue that run with "
            f"--resume {folder}"
        ) from None
    except OSError as error:
        text = f"run_folder must be a place to write to, got {folder}: {error.strerror}"
        raise RunError(text) from None
    known = {key: value for key, value in vars(config.hyperparameters).items() if value is not None}
    content = yaml.safe_dump({f"exactdice/{config.game_name}-v0": known}).encode()
    try:
        write_file(folder / "hyperparameters.yml", content)
        write_json(folder / "config.json", config.to_json())
    except WriteError as error:
        shutil.rmtree(folder)  # it was made just now
        raise RunError(str(error)) from None
    return folder


def _state(model: BaseAlgorithm) -> dict[str, Any]:
    """Return the weights, the states of the games, and the states of numpy's random generators."""
    lanes = games_of(model).engine.lanes
    content = {
        "parameters": model.get_parameters(),
        "counters": {name: getattr(model, name) for name in CHANGING if hasattr(model, name)},
        "observations": th.as_tensor(np.asarray(model._last_obs)),
        "episode_starts": th.as_tensor(np.asarray(model._last_episode_starts)),
        "games": th.as_tensor(lanes.states()),
        "totals": th.as_tensor(lanes.totals),
        "random": json.dumps(
            [each.state for each in _generators(model)], default=np.ndarray.tolist
        ),
    }
    buffer = getattr(model, "replay_buffer", None)
    if buffer is not None:
        filled = buffer.buffer_size if buffer.full else buffer.pos
        arrays = {name: th.as_tensor(getattr(buffer, name)[:filled]) for name in REPLAY}
        content["replay"] = {"pos": buffer.pos, "full": buffer.full, **arrays}
    return content


def _restore(folder: Path, model: BaseAlgorithm, callbacks: list[BaseCallback]) -> Log:
    env = games_of(model)
    with reading(
        held(folder, "checkpoint.pt", ": nothing was saved yet"), "be a checkpoint of this run"
    ) as path:
        check_sums(path)
        content = th.load(path, map_location="cpu", weights_only=True)
        model.set_parameters(content["parameters"], device=model.device)
        for name, value in content["counters"].items():
            setattr(model, name, value)
        model._last_obs = content["observations"].numpy()
        model._last_episode_starts = content["episode_starts"].numpy()
        env.engine.lanes.go_to(content["games"].numpy())
        env.engine.lanes.totals = content["totals"].numpy()
        if model.num_timesteps:  # the first reset must not seed the generators anew
            env._reset_seeds()
        for generator, state in zip(_generators(model), json.loads(content["random"]), strict=True):
            generator.state = state
        th.set_rng_state(content["torch_random"])
        if isinstance(model, OffPolicyAlgorithm):
            buffer: Any = model.replay_buffer
            saved = content["replay"]
            buffer.pos, buffer.full = saved["pos"], saved["full"]
            for name in REPLAY:
                getattr(buffer, name)[: len(saved[name])] = saved[name].numpy()
        for each in callbacks:
            if isinstance(each, SelfPlay):
                each.rollouts = content["rollouts"]
        log: Log = content["log"]
    return log


def _generators(model: BaseAlgorithm) -> list[Any]:
    """List numpy's generators of random numbers: the global one, of the games, of actions."""
    actions = model.action_space.np_random.bit_generator
    shared = np.random.get_bit_generator()  # type: ignore[attr-defined]
    return [shared, games_of(model).rng.bit_generator, actions]
