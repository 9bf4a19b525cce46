"""The hyperparameters of a run: the meaning and the range of each.

An algorithm has those arguments of its model's signature that are listed here. The signature gives
the defaults; it has no ranges, so that the list gives these. Arguments that options of the command
line give (seed, device), that only Python code can give (classes), or that a run does not use are
not listed.
"""

import inspect
from collections.abc import Mapping
from functools import cache
from types import SimpleNamespace
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import BaseModel, BeforeValidator, create_model

from ...core import InputError
from ..algorithms import ALGORITHMS
from .reading import (
    STRICT,
    Clip,
    Count,
    CountOrAll,
    CountOrZero,
    Fraction,
    Number,
    Part,
    Positive,
    Rate,
    Weight,
    as_given,
    read,
)

#: Hyperparameters that are not arguments of a model.
OURS = {"n_envs", "n_timesteps", "env_kwargs", "policy", "callback"}


class Hyperparameters(SimpleNamespace):
    """The checked hyperparameters of a run: those of these attributes that its algorithm has.

    n_envs and n_timesteps must be given; the others have defaults.
    """

    n_envs: Count
    """Games played at once."""
    n_timesteps: Count
    """Agent moves to train for."""
    env_kwargs: dict[str, Any]
    """Keyword arguments of the environment."""
    policy: Literal["MlpPolicy"]
    """The kind of network, which rl_zoo3 requires."""
    callback: Any
    """One callback by name, or a list of them (algorithms with an ent_coef)."""
    policy_kwargs: Annotated[Any, BeforeValidator(as_given)]
    """The network: a mapping, or such as "dict(activation_fn=nn.ReLU, net_arch=[64])"."""
    stats_window_size: Count
    """Games over which the statistics of training are means."""
    tensorboard_log: str
    """Folder for TensorBoard."""
    learning_rate: Rate
    """Step size of the optimizer."""
    gamma: Fraction
    """Discount factor of later rewards."""
    n_steps: Count
    """Moves of each game between two updates. dqn and qrdqn: moves whose rewards are added up in a
    target, before the value of the state reached. qlearning: moves of each game between two calls
    of the callbacks."""
    batch_size: Count
    """Number of moves over which a gradient is the mean (trpo: a gradient of the values)."""
    max_grad_norm: Positive
    """Norm to which gradients are clipped; None for no clipping, where that is the default."""
    gae_lambda: Fraction
    """Weight of the rewards of played games against the value network: 1 is the rewards alone."""
    normalize_advantage: bool
    """Whether advantages are normalised to mean 0 and standard deviation 1 in each batch."""
    ent_coef: Number
    """Weight of the entropy bonus."""
    vf_coef: Weight
    """Weight of the loss of values."""
    n_epochs: Count
    """Number of passes that an update makes over its moves."""
    clip_range: Clip
    """Largest relative change of a move's probability in an update."""
    clip_range_vf: Clip
    """Largest change of a value in an update; None for no limit."""
    target_kl: Positive
    """KL divergence from the previous policy at which an update ends; None for no limit."""
    rms_prop_eps: Positive
    """Constant that RMSprop adds to its divisors."""
    use_rms_prop: bool
    """Whether the optimizer is RMSprop; if not, it is Adam."""
    cg_max_steps: Count
    """Largest number of steps of the conjugate gradient method."""
    cg_damping: Weight
    """Constant added to the diagonal of the Fisher matrix before it is inverted."""
    line_search_shrinking_factor: Part
    """Factor by which the line search shortens a step that goes too far."""
    line_search_max_iter: Count
    """Largest number of times that the line search shortens a step."""
    n_critic_updates: Count
    """Number of passes that an update of the values makes over its moves."""
    sub_sampling_factor: Count
    """A step is computed from every n-th move, where n is this number."""
    buffer_size: Count
    """Moves that the replay buffer holds."""
    learning_starts: CountOrZero
    """Number of random moves before the first update."""
    tau: Fraction
    """Weight of the network in an update of the target network; 1 copies it."""
    train_freq: Count
    """Moves of each game between two updates."""
    gradient_steps: CountOrAll
    """Gradient steps of an update; -1 for one for each move since the last update."""
    target_update_interval: Count
    """Moves between two updates of the target network."""
    exploration_fraction: Part
    """Part of training in which the rate of random actions falls."""
    exploration_initial_eps: Fraction
    """Rate of random actions at the start."""
    exploration_final_eps: Fraction
    """Rate of random actions at the end."""
    omega: Fraction
    """Exponent of the learning rate of the table, 1 / visits ** omega."""
    initial_value: Number
    """Value of every action before its first visit."""

    @property
    def rollout(self) -> int:
        """Moves of all games together between two points at which training can stop."""
        each: int = self.train_freq if hasattr(self, "train_freq") else self.n_steps
        return self.n_envs * each


def read_hyperparameters(algorithm: str, values: Mapping[str, Any]) -> Hyperparameters:
    """Check the hyperparameters of a run, and fill in the defaults.

    Raises:
        ValueError: naming a hyperparameter that is unknown or out of range.
    """
    try:
        fields = fields_of(algorithm)
    except ModuleNotFoundError:  # runs that are read without these libraries were checked before
        return Hyperparameters(**values)
    found = Hyperparameters(**vars(read(fields, values, f"hyperparameters of {algorithm}")))
    _check_together(found)
    return found


@cache
def fields_of(algorithm: str) -> type[BaseModel]:
    """Make the pydantic model of an algorithm's hyperparameters from its model's signature."""
    signature = inspect.signature(ALGORITHMS[algorithm].load()).parameters
    types = get_type_hints(Hyperparameters, include_extras=True)
    defaults: dict[str, Any] = {"n_envs": ..., "n_timesteps": ..., "env_kwargs": {}}
    if "policy_kwargs" in signature:
        defaults["policy"] = "MlpPolicy"
    if "ent_coef" in signature:  # the only callback lowers it
        defaults["callback"] = None
    defaults |= {
        name: parameter.default
        for name, parameter in signature.items()
        if name in types and name not in OURS
    }
    fields: dict[str, Any] = {
        name: (types[name] | None if default is None else types[name], default)
        for name, default in defaults.items()
    }
    return create_model(algorithm, __config__=STRICT, **fields)


def _check_together(options: Hyperparameters) -> None:
    """Check hyperparameters whose ranges depend on each other."""
    given = vars(options)
    if given.get("normalize_advantage") and "batch_size" in given:
        moves = options.n_envs * options.n_steps
        last = moves % options.batch_size if "n_epochs" in given else 0  # trpo normalises no batch
        if 1 in (options.batch_size, last):
            raise InputError(
                "batch_size must leave no batch of a single move, whose advantage cannot be "
                f"normalised, got {options.batch_size} for {moves} moves (n_envs times n_steps)"
            )
    if "buffer_size" in given and options.n_steps > options.buffer_size:
        raise InputError(
            f"n_steps must be at most buffer_size {options.buffer_size}, got {options.n_steps}"
        )
