"""The hyperparameters of each algorithm: what they mean, and which values they may have.

Those without a default here must be given; the other defaults are the models' own. A wrong value is
refused by name before anything is built: the models look at few of theirs, and some in the midst of
training only. Left out are arguments of the models that options of the command line give (seed,
device), that need Python (classes), or that a run has no use for.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field, fields
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError, WrapValidator
from pydantic.dataclasses import dataclass
from pydantic_core import ErrorDetails, PydanticCustomError

from ...games import InputError
from .hyperparameters import Algorithm, read_call, shown

STRICT = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)
MOST = 2**63 - 1  # what fits into memory is another question


def _number(value: Any) -> Any:
    """Read a text such as 1e6, for which YAML wants a dot, and 3.0 as a whole number."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = float(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _falling(value: Any, check: Callable[[Any], float]) -> Any:
    """Leave lin_0.003 as it is once its number is checked."""
    falls = isinstance(value, str) and value.startswith("lin_")
    try:
        number = check(value.removeprefix("lin_") if falls else value)
    except ValidationError as error:
        if error.errors()[0]["type"] in LIMITS:
            raise
        raise PydanticCustomError("kind", "a number or such as lin_0.003") from None
    return value if falls else number


def _activation(value: Any) -> str:
    """Take the name of a class of torch.nn, which is looked up where torch is at hand."""
    if not isinstance(value, str) or not value.removeprefix("nn.").isidentifier():
        raise PydanticCustomError("kind", "an activation of torch.nn, such as nn.Tanh")
    return value.removeprefix("nn.")


def _as_given(value: Any) -> Any:
    """Check a network, and leave it as rl_zoo3 reads it."""
    read_network(value)
    return value


Count = Annotated[int, Field(ge=1, le=MOST), BeforeValidator(_number)]
Number = Annotated[float, BeforeValidator(_number)]
Weight = Annotated[float, Field(ge=0), BeforeValidator(_number)]
Positive = Annotated[float, Field(gt=0), BeforeValidator(_number)]
Fraction = Annotated[float, Field(ge=0, le=1), BeforeValidator(_number)]
Part = Annotated[float, Field(gt=0, le=1), BeforeValidator(_number)]
# These two may be texts such as lin_0.003: a number that falls to zero in the course of training.
Rate = Annotated[Fraction, WrapValidator(_falling)]
Clip = Annotated[Positive, WrapValidator(_falling)]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Network:
    """What ``policy_kwargs`` may say of a network; None is as the algorithm has it."""

    net_arch: list[Count] | dict[Literal["pi", "vf"], list[Count]] | None = None
    """Widths of the hidden layers, or those of policy (pi) and values (vf) apart."""
    activation_fn: Annotated[str, BeforeValidator(_activation)] | None = None
    """Class of torch.nn between the layers."""
    ortho_init: bool | None = None
    """Whether weights start orthogonal (ppo)."""


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Hyperparameters:
    """Those of every algorithm."""

    n_envs: Count
    """Games played at once."""
    n_timesteps: Count
    """Agent moves to train for."""
    env_kwargs: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments of the environment."""


@dataclass(frozen=True, kw_only=True, config=STRICT)
class _Deep(Hyperparameters):
    policy: Literal["MlpPolicy"] = "MlpPolicy"
    """What rl_zoo3 has to be told."""
    policy_kwargs: Annotated[Any, BeforeValidator(_as_given)] = None
    """The network: a mapping, or such as "dict(activation_fn=nn.ReLU, net_arch=[64])"."""
    stats_window_size: Count = 100
    """Games over which the statistics of training are means."""
    tensorboard_log: str | None = None
    """Folder for TensorBoard."""


@dataclass(frozen=True, kw_only=True, config=STRICT)
class _Exploring(Hyperparameters):
    exploration_fraction: Part
    """Part of training in which the rate of random actions falls."""
    exploration_initial_eps: Fraction = 1.0
    """That rate at the start."""
    exploration_final_eps: Fraction = 0.05
    """And at the end."""


@dataclass(frozen=True, kw_only=True, config=STRICT)
class PPO(_Deep):
    """Those of MaskablePPO (Schulman et al., arXiv:1707.06347)."""

    learning_rate: Rate = 3e-4
    """Step size of the optimizer."""
    n_steps: Count = 2048
    """Moves of each game between two updates."""
    batch_size: Count = 64
    """Moves a gradient is the mean of."""
    n_epochs: Count = 10
    """How often an update goes through its moves."""
    gamma: Fraction = 0.99
    """Discount of what comes later."""
    gae_lambda: Fraction = 0.95
    """Weight of played games against the value network: 1 is games alone."""
    clip_range: Clip = 0.2
    """How far an update may move a move's probability, as a ratio."""
    clip_range_vf: Clip | None = None
    """How far it may move a value; None for any distance."""
    normalize_advantage: bool = True
    """Whether advantages are brought to mean 0 and spread 1 in each batch."""
    ent_coef: Number = 0.0
    """Weight of the bonus for entropy."""
    vf_coef: Weight = 0.5
    """Weight of the loss of values."""
    max_grad_norm: Positive = 0.5
    """Norm that a gradient is cut to."""
    target_kl: Positive | None = None
    """Divergence from the policy before at which an update ends; None for never."""
    callback: Any = None
    """One callback by name, or a list of them."""

    def __post_init__(self) -> None:
        """Refuse a last batch of one move, whose advantage cannot be normalised."""
        moves = self.n_envs * self.n_steps
        if self.normalize_advantage and (self.batch_size == 1 or moves % self.batch_size == 1):
            raise InputError(
                "batch_size must leave no batch of a single move, whose advantage cannot be "
                f"normalised, got {self.batch_size} for {moves} moves (n_envs times n_steps)"
            )


@dataclass(frozen=True, kw_only=True, config=STRICT)
class DQN(_Deep, _Exploring):
    """Those of DQN (Mnih et al., Nature 518, 2015)."""

    learning_rate: Rate = 1e-4
    """Step size of the optimizer."""
    buffer_size: Count = 1_000_000
    """Moves that are remembered."""
    learning_starts: Annotated[int, Field(ge=0, le=MOST), BeforeValidator(_number)] = 100
    """Moves before the first update, all drawn at random."""
    batch_size: Count = 32
    """Moves a gradient is the mean of."""
    tau: Fraction = 1.0
    """Share of the network that the target network takes over at a time."""
    gamma: Fraction = 0.99
    """Discount of what comes later."""
    train_freq: Count = 4
    """Moves of each game between two updates."""
    gradient_steps: Annotated[int, Field(ge=-1, le=MOST), BeforeValidator(_number)] = 1
    """Gradients an update takes; -1 for as many as moves were made."""
    n_steps: Count = 1
    """Moves whose rewards are added up before the network's value stands for the rest."""
    target_update_interval: Count = 10_000
    """Moves between two renewals of the target network."""
    exploration_fraction: Part = 0.1
    max_grad_norm: Positive = 10.0
    """Norm that a gradient is cut to."""

    def __post_init__(self) -> None:
        """Refuse more steps than are remembered."""
        if self.n_steps > self.buffer_size:
            raise InputError(
                f"n_steps must be at most buffer_size {self.buffer_size}, got {self.n_steps}"
            )


@dataclass(frozen=True, kw_only=True, config=STRICT)
class QLearning(_Exploring):
    """Those of the table (see ``learners/q_learning.py``)."""

    omega: Fraction = 0.77
    """Exponent of the learning rate."""
    initial_value: Number = 0.0
    """Where the values start."""
    exploration_fraction: Part = 0.5
    n_steps: Count = 16
    """Moves of each game between two calls of the callbacks."""


ALGORITHMS: dict[Algorithm, type[Hyperparameters]] = {
    "ppo": PPO,
    "dqn": DQN,
    "qlearning": QLearning,
}
#: What a value must be, by pydantic's name for the error.
KINDS = {
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a number",
    "bool_type": "true or false",
    "string_type": "a text",
    "list_type": "a list of widths such as [64, 64]",
    "dict_type": "a mapping from names",
}
LIMITS = {
    "greater_than": "above",
    "greater_than_equal": "at least",
    "less_than_equal": "at most",
}
T = TypeVar("T")


def read(kind: type[T], values: Mapping[str, Any], owner: str, prefix: str = "") -> T:
    """Make a dataclass of this module, once every value is known and in range.

    Args:
        kind: the dataclass.
        values: what its fields are to be, by name.
        owner: whose values they are.
        prefix: what messages put before a name.

    Raises:
        ValueError: naming one that is not.
    """
    names = [entry.name for entry in fields(kind)]  # type: ignore[arg-type]  # it is a dataclass
    for name in values:
        if name not in names:
            raise InputError(f"{owner} must be among {', '.join(names)}, got {shown(name)}")
    try:
        return kind(**values)
    except ValidationError as error:
        # where a value may be of several kinds, that which it fits best
        deepest = max(error.errors(), key=lambda wrong: len(wrong["loc"]))
        raise InputError(_words(deepest, values, prefix)) from None


def _words(wrong: ErrorDetails, values: Mapping[str, Any], prefix: str) -> str:
    """Put an error of pydantic into our words."""
    kind, context = wrong["type"], wrong.get("ctx", {})
    if "error" in context:  # one of ours, with words of its own
        return str(context["error"])
    path = [part for part in wrong["loc"] if str(part).isidentifier()]  # no types, no places
    value = values[str(path[0])]
    if kind in LIMITS:
        (limit,) = context.values()
        must = f"{LIMITS[kind]} {int(limit)}"
    else:
        must = KINDS.get(kind) or str(context.get("expected", wrong["msg"])).replace("'", "")
    got = wrong["input"] if isinstance(value, list | dict) else value  # as given, not as read
    return f"{prefix}{' '.join(map(str, path))} must be {must}, got {shown(got)}"


def read_network(value: Any) -> dict[str, Any]:
    """Read a mapping, or a text such as "dict(activation_fn=nn.ReLU, net_arch=[64])".

    rl_zoo3 runs such texts as code; here they are literals and names of classes.

    Returns:
        What is said, by the names of ``Network``.

    Raises:
        ValueError: if it is neither, or an entry is unknown or out of range.
    """
    entries = {} if value is None else read_call(value) if isinstance(value, str) else value
    if not isinstance(entries, dict):
        raise InputError(
            'policy_kwargs must be a mapping or such as "dict(activation_fn=nn.ReLU, '
            f'net_arch=[64])", got {shown(value)}'
        )
    network = read(Network, entries, "policy_kwargs", "policy_kwargs ")
    return {name: entry for name, entry in vars(network).items() if entry is not None}
