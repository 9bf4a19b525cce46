"""Policies from files: run folders, and models that stable-baselines3 saved.

A saved model is a zip of a description, in which spaces and classes are pickled, and of weights. A
pickle may run any code, so that only the classes that describe a network are unpickled: its spaces,
modules, optimizer and, for the models of this project, its game.
"""

import base64
import inspect
import io
import json
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import torch as th

from ...baselines import Reading
from ...baselines.policies.door import FILES
from ...core import GAMES, Game, InputError
from ...core.words import first_line
from ..learners.adapter import ModelPolicy
from .folders import load_model

#: Containers, and the functions and classes that pickled spaces and games consist of.
PLAIN = {
    ("collections", "OrderedDict"),
    ("collections", "defaultdict"),
    ("exactdice.core.game", "rebuild"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
}
PACKAGES = {"exactdice", "gymnasium", "sb3_contrib", "stable_baselines3", "torch"}
KINDS = (Game, gym.Space, th.nn.Module, th.optim.Optimizer)
NEEDED = ("policy_class", "policy_kwargs", "observation_space", "action_space")


def from_file(path: Path, game: Game, reading: Reading) -> ModelPolicy:
    """Read the policy of a run folder or of a saved model."""
    run = path if path.is_dir() else path.parent
    if (run / "config.json").is_file():
        which = "final" if path.is_dir() else path.name.removesuffix("_model.zip")
        return ModelPolicy(load_model(run, which)[0], game, reading)
    if not path.is_file() or (path.suffix not in FILES and not zipfile.is_zipfile(path)):
        raise InputError(
            "policy must be a run folder, a certificate (.npz), a model saved by stable-baselines3 "
            f"(.zip) or a table (.npy), got {path}"
        )
    if (path.parent / "vecnormalize.pkl").exists() and reading.observations is None:
        raise InputError(
            f"{path} must be given the statistics that it was trained with: pass observations="
            f"VecNormalize.load({str(path.parent / 'vecnormalize.pkl')!r}, venv)"
        )
    # A file does not say whether its model had others than are shown.
    observations = reading.observations or (lambda shown: shown)
    return ModelPolicy(load_policy(path), game, replace(reading, observations=observations))


def load_policy(path: Path) -> Any:
    """Rebuild the policy of a model that stable-baselines3 saved, on the processor."""
    try:
        if b"/data.pkl" in path.read_bytes()[:300]:
            raise pickle.UnpicklingError(
                "must be a model saved by stable-baselines3, got a file of torch.save: for weights "
                f"give net after net.load_state_dict(torch.load('{path}'))"
            )
        with zipfile.ZipFile(path) as file:
            description, weights = json.loads(file.read("data")), file.read("policy.pth")
        kind, keywords, *spaces = (_part(description[name]) for name in NEEDED)
        if not issubclass(kind, th.nn.Module):
            raise pickle.UnpicklingError(f"must have the class of a policy, got {kind}")
        arguments = inspect.signature(kind).parameters
        schedule = [lambda _: 0.0] if "lr_schedule" in arguments or "args" in arguments else []
        policy: Any = kind(*spaces, *schedule, **keywords)
        policy.load_state_dict(th.load(io.BytesIO(weights), map_location="cpu", weights_only=True))
    except pickle.UnpicklingError as error:
        raise InputError(f"{path} {error}") from None
    except Exception as error:  # zip, json, pickle and torch raise different errors for damage
        reason = first_line(error)
        raise InputError(
            f"{path} must be a certificate or a model saved by stable-baselines3, got: {reason}"
        ) from None
    policy.exploration_rate = float(description.get("exploration_rate", 0.0))
    return policy


def _part(entry: Any) -> Any:
    """Read one entry of the description: a JSON value, or a pickle."""
    if not isinstance(entry, dict) or ":serialized:" not in entry:
        return entry
    return _Unpickler(io.BytesIO(base64.b64decode(entry[":serialized:"]))).load()


class _Forgotten:
    """Replaces the random generator of a space, which a policy does not use."""

    def __init__(self, *_: Any) -> None:
        pass

    __setstate__ = __init__


class _Unpickler(pickle.Unpickler):
    """Unpickles only the classes that describe a network."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class that is allowed; raise an ``UnpicklingError`` for others."""
        module = module.replace("numpy.core.", "numpy._core.")  # of numpy 1
        if (module, name) in PLAIN:
            return super().find_class(module, name)
        if module.startswith("numpy.random."):
            return _Forgotten
        registered = {(game.__module__, game.__qualname__): game for game in GAMES.values()}
        if (module, name) in registered:
            return registered[module, name]
        if module.partition(".")[0] in PACKAGES:
            found = super().find_class(module, name)
            if isinstance(found, type) and issubclass(found, KINDS):
                return found
        raise pickle.UnpicklingError(
            f"must be made of classes of stable-baselines3 and torch, got {module}.{name}: load it "
            "yourself and pass the model"
        )
