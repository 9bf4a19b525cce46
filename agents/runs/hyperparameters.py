"""Hyperparameters: the meaning and the range of each, and their files.

An algorithm has those arguments of its model's signature that ``Hyperparameters`` lists. The
signature gives the defaults; it has no ranges, so that the list gives these. Arguments that options
of the command line give (seed, device), that only Python code can give (classes), or that a run
does not use are not listed. Hyperparameters are checked before anything is built, since the models
check few of their arguments, and some of these only in the middle of training.

A file of hyperparameters has the shape that rl_zoo3 reads (its option ``-conf``); one that
``exactdice tune`` has written says the number of its trials (``trials``). A file maps ids of
environments to the arguments of a model, among them

    n_envs, n_timesteps    games played at once, moves to train for
    env_kwargs             keyword arguments of the environment
    callback               a list of callbacks by name

and numbers such as lin_0.003, which fall linearly to zero. No text of a file is run as code.
"""

import ast
import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, WrapValidator, create_model
from pydantic_core import PydanticCustomError

from ...core import InputError
from ...core.words import one_line, shown
from ...envs import RewardMode
from ..algorithms import ALGORITHMS
from .options import LIMITS, STRICT, as_number, read

LARGEST_WHOLE = 2**63 - 1  # of an integer; ``memory`` checks what fits into memory


def _falling(value: Any, check: Callable[[Any], float]) -> Any:
    """Check the number in a text such as lin_0.003, and return the text."""
    falls = isinstance(value, str) and value.startswith("lin_")
    try:
        number = check(value.removeprefix("lin_") if falls else value)
    except ValidationError as error:
        if error.errors()[0]["type"] in LIMITS:
            raise
        raise PydanticCustomError("kind", "a number or such as lin_0.003") from None
    return value if falls else number


def _last_name(value: Any) -> Any:
    return value.rpartition(".")[2] if isinstance(value, str) else value


# Ranges are written by hand, since the signatures of stable-baselines3 have types without ranges.
# Integers above LARGEST_WHOLE overflow the arrays of the models.
_READ = BeforeValidator(as_number)
Count = Annotated[int, Field(ge=1, le=LARGEST_WHOLE), _READ]
CountOrZero = Annotated[int, Field(ge=0, le=LARGEST_WHOLE), _READ]
CountOrAll = Annotated[int, Field(ge=-1, le=LARGEST_WHOLE), _READ]
Number = Annotated[float, _READ]
Weight = Annotated[float, Field(ge=0), _READ]
Positive = Annotated[float, Field(gt=0), _READ]
Fraction = Annotated[float, Field(ge=0, le=1), _READ]
Share = Annotated[float, Field(gt=0, le=1), _READ]
# Values of these two types may be texts such as lin_0.003: a number that falls to zero in training.
Rate = Annotated[Fraction, WrapValidator(_falling)]
Clip = Annotated[Positive, WrapValidator(_falling)]


#: The classes of torch.nn that map each number to one, and need no argument.
Activation = Literal[
    "CELU", "ELU", "GELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU",
    "LogSigmoid", "Mish", "PReLU", "ReLU", "ReLU6", "RReLU", "SELU", "SiLU", "Sigmoid", "Softplus",
    "Softshrink", "Softsign", "Tanh", "Tanhshrink",
]  # fmt: skip


class Network(BaseModel):
    """The entries of ``policy_kwargs``; None stands for the default of the algorithm."""

    model_config = STRICT

    net_arch: list[Count] | dict[Literal["pi", "vf"], list[Count]] | None = None
    """Widths of the hidden layers: one list, or one for the policy (pi) and one for values (vf)."""
    activation_fn: Annotated[Activation, BeforeValidator(_last_name)] | None = None
    """Activation between the layers, a class of torch.nn, such as nn.Tanh."""
    ortho_init: bool | None = None
    """Whether weights start orthogonal (ppo, a2c, trpo)."""
    n_quantiles: Count | None = None
    """Number of quantiles of each action's value (qrdqn)."""
    optimizer_class: Annotated[Literal["AdamW"], BeforeValidator(_last_name)] | None = None
    """Optimizer, a class of torch.optim: AdamW (Adam with weight decay), or by default Adam."""
    optimizer_kwargs: dict[Literal["weight_decay"], Weight] | None = None
    """Weight decay of AdamW: a step of learning rate r takes the part r * weight_decay of each
    weight away (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019)."""


def read_network(value: Any) -> dict[str, Any]:
    """Read a mapping, or a text such as "dict(activation_fn=nn.ReLU, net_arch=[64])".

    rl_zoo3 runs such texts as code; here they are parsed as literals and names of classes. The
    entries that are given have the names of ``Network``.
    """
    entries = {} if value is None else value
    if isinstance(value, str):
        with suppress(ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            entries = _read_node(ast.parse(value, mode="eval").body)
    if not isinstance(entries, dict):
        raise InputError(
            'policy_kwargs must be a mapping or such as "dict(activation_fn=nn.ReLU, '
            f'net_arch=[64])", got {shown(value)}'
        )
    network = read(Network, entries, "policy_kwargs", "policy_kwargs ")
    if network.optimizer_kwargs and network.optimizer_class is None:
        raise InputError(  # Adam would add the decay to the gradient, which is something else
            "policy_kwargs optimizer_kwargs needs optimizer_class=th.optim.AdamW, got "
            f"{shown(network.optimizer_kwargs)} alone"
        )
    return {name: entry for name, entry in vars(network).items() if entry is not None}


def _read_node(node: ast.expr) -> Any:
    """Read a literal, a name of torch, or a call of ``dict`` by keywords, as a dictionary."""
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("nn", "th.optim"):
        return ast.unparse(node)
    if not isinstance(node, ast.Call):
        return ast.literal_eval(node)
    entries = {str(entry.arg): _read_node(entry.value) for entry in node.keywords}
    if ast.unparse(node.func) != "dict" or node.args or len(entries) < len(node.keywords):
        raise ValueError("not a call of dict by keywords, each once")
    return entries


def _network(value: Any) -> Any:
    """Check the description of a network, and return it unchanged, as rl_zoo3 reads it."""
    read_network(value)
    return value


#: Callbacks by the names in hyperparameter files, which rl_zoo3 imports.
Callback = Literal["exactdice.agents.FallingEntropy"]
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
    callback: Callback | list[Callback]
    """One callback by name, or a list of them (algorithms with an ent_coef)."""
    policy_kwargs: Annotated[Any, BeforeValidator(_network)]
    """The network: a mapping, or such as "dict(activation_fn=nn.ReLU, net_arch=[64])"."""
    stats_window_size: Count
    """Games over which the statistics of training are means."""
    learning_rate: Rate
    """Step size of the optimizer."""
    gamma: Fraction
    """Discount factor of later rewards."""
    n_steps: Count
    """Moves of each game between two updates. dqn and qrdqn: moves whose rewards are added up in a
    target, before the value of the state reached. qlearning: moves of each game between two calls
    of the callbacks. planner: moves of each game between two plans."""
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
    line_search_shrinking_factor: Share
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
    exploration_fraction: Share
    """Part of training in which the rate of random actions falls."""
    exploration_initial_eps: Fraction
    """Rate of random actions at the start."""
    exploration_final_eps: Fraction
    """Rate of random actions at the end."""
    omega: Fraction
    """Exponent of the learning rate of the table, 1 / visits ** omega."""
    initial_value: Number
    """Value of every action before its first visit; planner: 0 for the smallest payoff of the game,
    1 for the largest."""
    prior: Positive
    """Number of moves that the initial value counts for."""
    bonus: Weight
    """Bonus of an action that the planner took once, in spans of the payoffs; it falls with the
    square root of the number of moves."""

    @property
    def rollout(self) -> int:
        """Moves of all games together between two points at which training can stop, at least."""
        each: int = getattr(self, "train_freq", getattr(self, "n_steps", 1))
        return self.n_envs * each


def read_hyperparameters(algorithm: str, values: Mapping[str, Any]) -> Hyperparameters:
    """Check the hyperparameters of a run, and fill in the defaults."""
    try:
        fields = fields_of(algorithm)
    except ModuleNotFoundError:  # runs that are read without these libraries were checked before
        return Hyperparameters(**values)
    options = Hyperparameters(**vars(read(fields, values, f"hyperparameters of {algorithm}")))
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
    return options


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


def read_file(game: str, file: Path | Traversable, option: str = "conf") -> dict[str, Any]:
    """Read the entry of a file, given by an option, for a game, or else its entry ``default``."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{option} must be a YAML file, got {file}: {reason}") from None
    content = _yaml(text, f"{option} must be a YAML file, got {file}")
    env_id = f"exactdice/{game}-v0"
    entry = (content.get(env_id) or content.get("default")) if isinstance(content, dict) else None
    if not isinstance(entry, dict):
        raise InputError(f"{option} must hold a mapping for {env_id}, got none in {file}")
    keywords = entry.get("env_kwargs", {})
    if not isinstance(keywords, dict) or not all(isinstance(name, str) for name in keywords):
        raise InputError(f"env_kwargs must be a mapping from names, got {shown(keywords)}")
    return entry


def read_changes(values: Mapping[str, Any]) -> dict[str, Any]:
    """Read the values of hyperparameters: a text, as of the command line, is YAML."""
    return {
        name: _yaml(given, f"{name} must be a value in YAML, got {shown(given)}")
        if isinstance(given, str)
        else given
        for name, given in values.items()
    }


def _yaml(text: str, complaint: str) -> Any:
    import yaml  # installed with the extra "agents", not with the command line alone

    try:
        return yaml.safe_load(text)
    except Exception as error:  # YAMLError, but also RecursionError, or ValueError for a date
        raise InputError(f"{complaint}: {one_line(error)}") from None


def tuned(algorithm: str, reward: RewardMode, track: str | None = None) -> Traversable:
    """Return the file of an algorithm: for the track, this reward or all, or that of any.

    An algorithm without a file has that of the algorithm of which it is a form, as a2c-masked.
    """
    kind = algorithm.partition("-")[0]
    names = (f"{track}/{algorithm}", f"{algorithm}-{reward}", algorithm, kind, "default")
    places = (files("exactdice.agents") / f"hyperparams/{name}.yml" for name in names)
    return next(place for place in places if place.is_file())


def trials(file: Traversable) -> int:
    """Return the number of trials of the search that has found a file; 0 if it was set by hand."""
    content = _yaml(file.read_text(encoding="utf-8"), f"conf must be a YAML file, got {file}")
    return int(content.get("trials", 0))
