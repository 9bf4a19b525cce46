"""Which values each hyperparameter may have.

A wrong one is refused by name before anything is built: the models look at few of theirs, and some
in the midst of training only.
"""

import ast
import math
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ...games import InputError

Algorithm = Literal["ppo", "dqn", "qlearning"]

#: Returns a hyperparameter's value, as (name, value) gives it, or raises InputError.
Kind: TypeAlias = Callable[[str, Any], Any]


@dataclass(frozen=True)
class Number:
    """A finite number in some range."""

    lowest: float = -math.inf
    highest: float = math.inf
    whole: bool = False
    above: bool = False
    """Whether ``lowest`` itself is out of range."""
    falls: bool = False
    """Whether lin_0.003 will do: a number that falls to zero in the course of training."""
    optional: bool = False
    """Whether None will do."""

    def __call__(self, name: str, value: Any) -> Any:
        """Return the value as a number, or as it is if it is None or falls."""
        if value is None and self.optional:
            return None
        falling = self.falls and isinstance(value, str) and value.startswith("lin_")
        number = _finite(value.removeprefix("lin_") if falling else value)
        if number is None or (self.whole and number != int(number)):
            kind = "a number or such as lin_0.003" if self.falls else "a number"
            kind = "a whole number" if self.whole else kind
            raise InputError(f"{name} must be {kind}, got {shown(value)}")
        if not self.lowest <= number <= self.highest or (self.above and number == self.lowest):
            above = "at most" if number > self.highest else "above" if self.above else "at least"
            bound = self.highest if number > self.highest else self.lowest
            raise InputError(f"{name} must be {above} {bound}, got {shown(value)}")
        return value if falling else int(number) if self.whole else float(number)


def _finite(value: Any) -> int | float | None:
    """Read a number, also a text such as 1e-3, for which YAML wants a dot; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value) if isinstance(value, str) else value
        return number if math.isfinite(number) else None
    except (ValueError, OverflowError):
        return None


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false, got {shown(value)}")
    return value


def _text(name: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InputError(f"{name} must be a text, got {shown(value)}")
    return value


def _zoo_policy(name: str, value: Any) -> str:
    """Accept what rl_zoo3 has to be told."""
    if value != "MlpPolicy":
        raise InputError(f"{name} must be MlpPolicy, got {shown(value)}")
    return str(value)


def mapping(name: str, value: Any) -> dict[str, Any]:
    """Return the value if it is a mapping whose keys are texts.

    Raises:
        ValueError: if it is none.
    """
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise InputError(f"{name} must be a mapping from names, got {shown(value)}")
    return value


def _as_given(_name: str, value: Any) -> Any:
    """Accept anything: it is checked where it is used."""
    return value


def _widths(name: str, value: Any) -> Any:
    """Accept the widths of hidden layers, or those of policy (pi) and values (vf) apart."""
    if isinstance(value, dict) and value and set(value) <= {"pi", "vf"}:
        return {key: _widths(f"{name} {key}", widths) for key, widths in value.items()}
    if not isinstance(value, list):
        raise InputError(f"{name} must be a list of widths such as [64, 64], got {shown(value)}")
    return [COUNT(name, width) for width in value]


def _activation(name: str, value: Any) -> str:
    """Accept the name of a class of torch.nn, which is looked up where torch is at hand."""
    if not isinstance(value, str) or not value.removeprefix("nn.").isidentifier():
        raise InputError(
            f"{name} must be an activation of torch.nn, such as nn.Tanh, got {shown(value)}"
        )
    return value.removeprefix("nn.")


def network(name: str, value: Any) -> dict[str, Any]:
    """Read a mapping, or a text such as "dict(activation_fn=nn.ReLU, net_arch=[64])".

    rl_zoo3 runs such texts as code; here they are literals and names of classes.

    Raises:
        ValueError: if it is neither, or an entry is unknown or out of range.
    """
    entries = {} if value is None else _called(value) if isinstance(value, str) else value
    if not isinstance(entries, dict):
        raise InputError(
            f'{name} must be a mapping or such as "dict(activation_fn=nn.ReLU, net_arch=[64])", '
            f"got {shown(value)}"
        )
    return check(name, entries, NETWORK, f"{name} ")


def _called(text: str) -> dict[str, Any] | None:
    """Read the arguments of a text that calls ``dict``; None if it is no such text."""
    try:
        call = ast.parse(text, mode="eval").body
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "dict" and not call.args:
            entries = {str(entry.arg): _literal(entry.value) for entry in call.keywords}
            return entries if len(entries) == len(call.keywords) else None
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        pass  # the parser's own, and those of literal_eval, for any text
    return None


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "nn":
        return ast.unparse(node)
    return ast.literal_eval(node)


def _network_as_given(name: str, value: Any) -> Any:
    """Check a network and leave it as rl_zoo3 reads it."""
    network(name, value)
    return value


#: What fits into memory is another question.
COUNT = Number(1, 2**63 - 1, whole=True)
FRACTION = Number(0, 1)
WEIGHT = Number(0)
POSITIVE = Number(0, above=True)
RATE = Number(0, 1, falls=True)
CLIP = Number(0, above=True, falls=True)

NETWORK: Mapping[str, Kind] = {
    "net_arch": _widths,
    "activation_fn": _activation,
    "ortho_init": _flag,
}
_ANY: Mapping[str, Kind] = {
    "n_envs": COUNT,
    "n_timesteps": COUNT,
    "env_kwargs": mapping,
}
_DEEP: Mapping[str, Kind] = {
    **_ANY,
    "policy": _zoo_policy,
    "policy_kwargs": _network_as_given,
    "learning_rate": RATE,
    "batch_size": COUNT,
    "gamma": FRACTION,
    "max_grad_norm": POSITIVE,
    "stats_window_size": COUNT,
    "tensorboard_log": _text,
}
_EXPLORING: Mapping[str, Kind] = {
    "exploration_fraction": Number(0, 1, above=True),
    "exploration_initial_eps": FRACTION,
    "exploration_final_eps": FRACTION,
}
#: Every hyperparameter of an algorithm. Left out are arguments of the models that options of the
#: command line give (seed, device), that need Python (classes), or that a run has no use for.
KNOWN: Mapping[Algorithm, Mapping[str, Kind]] = {
    "ppo": {
        **_DEEP,
        "callback": _as_given,
        "n_steps": COUNT,
        "n_epochs": COUNT,
        "gae_lambda": FRACTION,
        "clip_range": CLIP,
        "clip_range_vf": Number(0, above=True, falls=True, optional=True),
        "normalize_advantage": _flag,
        "ent_coef": Number(),
        "vf_coef": WEIGHT,
        "target_kl": Number(0, above=True, optional=True),
    },
    "dqn": {
        **_DEEP,
        **_EXPLORING,
        "buffer_size": COUNT,
        "learning_starts": Number(0, 2**63 - 1, whole=True),
        "tau": FRACTION,
        "train_freq": COUNT,
        "gradient_steps": Number(-1, 2**63 - 1, whole=True),  # -1: as many as moves were made
        "n_steps": COUNT,
        "target_update_interval": COUNT,
    },
    "qlearning": {
        **_ANY,
        **_EXPLORING,
        "omega": FRACTION,
        "initial_value": Number(),
        "n_steps": COUNT,
    },
}


def check(
    owner: str, values: Mapping[str, Any], known: Mapping[str, Kind], prefix: str = ""
) -> dict[str, Any]:
    """Return values by name, numbers read, once each is known and in range.

    Args:
        owner: whose values they are.
        values: them.
        known: what each of them may be.
        prefix: what messages put before a name.

    Raises:
        ValueError: naming the first that is not.
    """
    for name in values:
        if name not in known:
            raise InputError(f"{owner} must be among {', '.join(known)}, got {shown(name)}")
    return {name: known[name](prefix + name, value) for name, value in values.items()}


def check_hyperparameters(algorithm: Algorithm, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hyperparameters of an algorithm, numbers read, once all of them are in range.

    Raises:
        ValueError: naming the first that is not.
    """
    checked = check(f"hyperparameters of {algorithm}", values, KNOWN[algorithm])
    if algorithm == "ppo" and checked.get("normalize_advantage", True):
        moves = checked["n_envs"] * checked.get("n_steps", 2048)  # the defaults of MaskablePPO
        size = checked.get("batch_size", 64)
        if size == 1 or moves % size == 1:
            raise InputError(
                "batch_size must leave no batch of a single move, whose advantage cannot be "
                f"normalised, got {size} for {moves} moves (n_envs times n_steps)"
            )
    if algorithm == "dqn":
        most = checked.get("buffer_size", 1_000_000)  # the default of DQN
        if checked.get("n_steps", 1) > most:
            raise InputError(
                f"n_steps must be at most buffer_size {most}, got {checked['n_steps']}"
            )
    return checked


def shown(value: Any) -> str:
    """Write a user's value into a message: in one line, and cut where it is long or deep."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = 80
    return short.repr(value)
