"""Types of hyperparameters, and error messages for wrong values.

Hyperparameters are checked before anything is built, since the models check few of their arguments,
and some of these only in the middle of training.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    ValidationError,
    WrapValidator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from ...core import InputError
from .hyperparameters import read_call, shown

STRICT = ConfigDict(
    extra="forbid", frozen=True, allow_inf_nan=False, strict=True, validate_default=True
)
MOST = 2**63 - 1  # of an integer; ``memory`` checks what fits into memory


def as_number(value: Any) -> Any:
    """Read 1e6, which YAML reads as a text since it has no dot, as a number, and 3.0 as 3."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = float(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


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


def _activation(value: Any) -> str:
    """Check that a value is a name such as nn.Tanh; ``models`` looks up the class."""
    if not isinstance(value, str) or not value.removeprefix("nn.").isidentifier():
        raise PydanticCustomError("kind", "an activation of torch.nn, such as nn.Tanh")
    return value.removeprefix("nn.")


def _optimizer(value: Any) -> str:
    """Check that a value names an optimizer with weight decay; Adam is the default."""
    if value not in ("AdamW", "th.optim.AdamW"):
        raise PydanticCustomError("kind", "th.optim.AdamW")
    return "AdamW"


def as_given(value: Any) -> Any:
    """Check the description of a network, and return it unchanged, as rl_zoo3 reads it."""
    read_network(value)
    return value


# Ranges are written by hand, since the signatures of stable-baselines3 have types without ranges.
# pydantic's PositiveInt is not used: integers above MOST overflow the arrays of the models.
_READ = BeforeValidator(as_number)
Count = Annotated[int, Field(ge=1, le=MOST), _READ]
CountOrZero = Annotated[int, Field(ge=0, le=MOST), _READ]
CountOrAll = Annotated[int, Field(ge=-1, le=MOST), _READ]
Number = Annotated[float, _READ]
Weight = Annotated[NonNegativeFloat, _READ]
Positive = Annotated[PositiveFloat, _READ]
Fraction = Annotated[float, Field(ge=0, le=1), _READ]
Part = Annotated[float, Field(gt=0, le=1), _READ]
# Values of these two types may be texts such as lin_0.003: a number that falls to zero in training.
Rate = Annotated[Fraction, WrapValidator(_falling)]
Clip = Annotated[Positive, WrapValidator(_falling)]


class Network(BaseModel):
    """The entries of ``policy_kwargs``; None stands for the default of the algorithm."""

    model_config = STRICT

    net_arch: list[Count] | dict[Literal["pi", "vf"], list[Count]] | None = None
    """Widths of the hidden layers: one list, or one for the policy (pi) and one for values (vf)."""
    activation_fn: Annotated[str, BeforeValidator(_activation)] | None = None
    """Activation between the layers, a class of torch.nn."""
    ortho_init: bool | None = None
    """Whether weights start orthogonal (ppo, a2c, trpo)."""
    n_quantiles: Count | None = None
    """Number of quantiles of each action's value (qrdqn)."""
    optimizer_class: Annotated[str, BeforeValidator(_optimizer)] | None = None
    """Optimizer, a class of torch.optim: AdamW (Adam with weight decay), or by default Adam."""
    optimizer_kwargs: dict[Literal["weight_decay"], Annotated[NonNegativeFloat, _READ]] | None = (
        None
    )
    """Weight decay of AdamW: a step of learning rate r takes the part r * weight_decay of each
    weight away (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019)."""


#: The requirement in words, by pydantic's name for the error.
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
T = TypeVar("T", bound=BaseModel)


def read(kind: type[T], values: Mapping[str, Any], owner: str, prefix: str = "") -> T:
    """Make an instance of a pydantic model from values by name.

    Args:
        kind: the pydantic model.
        values: the values of its fields, by name.
        owner: the subject of the message for an unknown name, such as "hyperparameters of ppo".
        prefix: text before the name of a field in other messages.

    Raises:
        ValueError: naming a value that is unknown or out of range.
    """
    for name in values:
        if name not in kind.model_fields:
            known = ", ".join(kind.model_fields)
            raise InputError(f"{owner} must be among {known}, got {shown(name)}")
    try:
        return kind(**values)
    except ValidationError as error:
        # A value that may have several types has an error for each; the deepest fits best.
        deepest = max(error.errors(), key=lambda wrong: len(wrong["loc"]))
        raise InputError(_words(deepest, values, prefix)) from None


def _words(wrong: ErrorDetails, values: Mapping[str, Any], prefix: str) -> str:
    """Write an error of pydantic in the form of this package: name, requirement, value."""
    kind, context = wrong["type"], wrong.get("ctx", {})
    if "error" in context:  # an InputError of a validator above
        return str(context["error"])
    path = [part for part in wrong["loc"] if str(part).isidentifier()]  # drops types and indices
    value = values[str(path[0])]
    if kind in LIMITS:
        (limit,) = context.values()
        must = f"{LIMITS[kind]} {int(limit)}"
    else:
        must = KINDS.get(kind) or str(context.get("expected", wrong["msg"])).replace("'", "")
    got = wrong["input"] if isinstance(value, list | dict) else value  # as the user wrote it
    return f"{prefix}{' '.join(map(str, path))} must be {must}, got {shown(got)}"


def read_network(value: Any) -> dict[str, Any]:
    """Read a mapping, or a text such as "dict(activation_fn=nn.ReLU, net_arch=[64])".

    rl_zoo3 runs such texts as code; here they are parsed as literals and names of classes.

    Returns:
        The entries that are given, by the names of ``Network``.

    Raises:
        ValueError: if the value is neither, or an entry is unknown or out of range.
    """
    entries = {} if value is None else read_call(value) if isinstance(value, str) else value
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
