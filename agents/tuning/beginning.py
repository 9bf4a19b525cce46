"""Known hyperparameters as the first trial of a search.

A file of hyperparameters, as ``exactdice tune`` writes it, or as one sets it by hand, is translated
back to the names of a search space: the inverse of ``spaces.hyperparameters_of``.
"""

import math
from collections.abc import Mapping
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.study import Study

from ...core import InputError
from ..runs.hyperparameters import read_file, read_hyperparameters, read_network
from ..spaces import Powers, Space
from .config import TuneConfig
from .study import distributions, space_of


def begin_with(study: Study, config: TuneConfig) -> None:
    """Add the hyperparameters of a file to a search as its next trial, once.

    A value outside the range of the search is moved to the nearest value of the range. A value that
    the search cannot choose, such as layers of different widths, is drawn; a hyperparameter that
    is not in its space, such as weight decay, is left out.

    Raises:
        InputError: if the file holds no hyperparameters of the algorithm.
    """
    file = config.begin_with
    if file is None or study.user_attrs.get("begun_with") == str(file):
        return
    entry = read_file(config.chosen_games[0], file, "begin_with")
    try:
        known = read_hyperparameters(
            config.algorithm, {"n_envs": None, "n_timesteps": None, "env_kwargs": {}, **entry}
        )
    except InputError as error:
        raise InputError(
            f"begin_with must have hyperparameters of {config.algorithm}, got {file}: {error}"
        ) from None
    space = space_of(config)
    found = within(space, choices_of(vars(known)))
    study.enqueue_trial(found, skip_if_exists=True)  # another process may have begun the search
    study.set_user_attr("begun_with", str(file))


def choices_of(hyperparameters: Mapping[str, Any]) -> dict[str, Any]:
    """Translate checked hyperparameters to values by the names of the search spaces."""
    given = dict(hyperparameters)
    moves, lanes = given["n_timesteps"], given["n_envs"]
    found = {**given, "encoding": given["env_kwargs"].get("encoding", "integer")}
    if "learning_rate" in given:
        found["learning_rate"] = float(str(given["learning_rate"]).removeprefix("lin_"))
    if "n_steps" in given:
        found["rollout"] = lanes * given["n_steps"]
    if "gradient_steps" in given:
        rollout = lanes * given["train_freq"]
        steps = rollout if given["gradient_steps"] == -1 else given["gradient_steps"]
        found["updates"] = moves * steps / rollout
        found["copies"] = moves / given["target_update_interval"]
        found["warmup"] = given["learning_starts"] / moves
    network = read_network(given.get("policy_kwargs"))
    widths = network.get("net_arch")
    if isinstance(widths, list) and len(set(widths)) == 1 and len(widths) == 2:
        found["width"] = widths[0]
    if "activation_fn" in network:
        found["activation"] = network["activation_fn"]
    if "n_quantiles" in network:
        found["quantiles"] = network["n_quantiles"]
    return found


def within(space: Space, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a trial that are nearest to values, for the names that have one."""
    found = {}
    for name, entry in distributions(space).items():
        value = values.get(name)
        if isinstance(entry, CategoricalDistribution):
            if value in entry.choices:
                found[name] = value
        elif isinstance(value, int | float):
            number = math.log2(value) if isinstance(space[name], Powers) else value
            found[name] = _nearest(entry, number)
    return found


def _nearest(entry: BaseDistribution, number: float) -> float:
    """Return the number of a range that is nearest to a number."""
    assert isinstance(entry, IntDistribution | FloatDistribution)
    inside = min(max(number, entry.low), entry.high)
    return round(inside) if isinstance(entry, IntDistribution) else inside
