"""Search spaces: what ``exactdice tune`` may choose, one function of the moves for each algorithm.

A space maps names to ranges, choices and fixed values. Some names are not hyperparameters but
determine them, so that every choice suits every budget of moves and the choices depend little on
each other; ``hyperparameters_of`` translates them:

    rollout      moves between two updates, a power of 2: n_envs = rollout / n_steps
    updates      gradient steps of the whole run: gradient_steps, or train_freq if they are few
    copies       updates of the target network in the whole run: target_update_interval
    warmup       part of the run before the first update: learning_starts
    encoding     of the observations: env_kwargs. stable-baselines3 one-hot encodes integers; with
                 a thermometer a network need not learn that 50 lies between 49 and 51
    width        width of both hidden layers: policy_kwargs
    activation   activation between the layers: policy_kwargs
    quantiles    number of quantiles: policy_kwargs

Ranges that grow with the square root of the moves keep the cost of a move within reason: a run of a
million moves makes 10 times the updates of a run of 10,000.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Span:
    """The numbers from ``low`` to ``high``.

    Attributes:
        low: the smallest number.
        high: the largest number.
        log: whether equal ratios are equally far apart, instead of equal differences.
        whole: whether the numbers are integers.
    """

    low: float
    high: float
    log: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Powers:
    """The powers of 2 from ``low`` to ``high``, both included where they are powers of 2."""

    low: float
    high: float

    @property
    def exponents(self) -> tuple[int, int]:
        """The smallest and the largest exponent."""
        return math.ceil(math.log2(self.low)), math.floor(math.log2(self.high))


@dataclass(frozen=True)
class Choice:
    """One of some options that have no order."""

    options: tuple[str | bool, ...]


Space: TypeAlias = Mapping[str, Span | Powers | Choice | str | float]

#: The entries of every network's space. An episode is a game, of which only the result counts.
NETWORK: Space = {
    "policy": "MlpPolicy",
    "gamma": 1.0,
    "encoding": Choice(("integer", "thermometer")),
    "width": Powers(64, 256),
    "activation": Choice(("ReLU", "Tanh")),
}
FALLING = "exactdice.agents.FallingEntropy"


def ppo(moves: int) -> Space:
    """Return the space of PPO; the shortest run has at least 19 updates.

    The smallest batch grows with the moves: with batches of 32 and 10 epochs a run of a million
    moves takes more than 20 minutes of one core.
    """
    return {
        **NETWORK,
        "rollout": Powers(max(128, moves / 1000), moves / 16),
        "n_steps": Powers(4, 32),
        "batch_size": Powers(max(32, moves / 8000), 1024),
        "n_epochs": Span(2, 16, log=True, whole=True),
        "gae_lambda": Span(0.0, 1.0),
        "learning_rate": Span(3e-4, 1e-2, log=True),
        "ent_coef": Span(1e-3, 0.3, log=True),
        "clip_range": Span(0.1, 0.4),
        "callback": FALLING,
    }


def a2c(moves: int) -> Space:
    """Return the space of A2C, which makes one gradient step of a rollout."""
    return {
        **NETWORK,
        "rollout": Powers(max(64, moves / 2000), moves / 32),
        "n_steps": Powers(2, 32),
        "gae_lambda": Span(0.0, 1.0),
        "learning_rate": Span(3e-4, 3e-2, log=True),
        "ent_coef": Span(1e-3, 0.3, log=True),
        "vf_coef": Span(0.1, 1.0),
        "use_rms_prop": Choice((False, True)),
        "normalize_advantage": True,
        "callback": FALLING,
    }


def trpo(moves: int) -> Space:
    """Return the space of TRPO, whose learning rate is that of the values only."""
    return {
        **NETWORK,
        "rollout": Powers(max(128, moves / 1000), moves / 16),
        "n_steps": Powers(4, 32),
        "batch_size": Powers(32, 512),
        "gae_lambda": Span(0.0, 1.0),
        "learning_rate": Span(3e-4, 1e-2, log=True),
        "n_critic_updates": Span(2, 16, log=True, whole=True),
        "target_kl": Span(0.003, 0.1, log=True),
        "cg_damping": Span(0.01, 0.3, log=True),
    }


def dqn(moves: int) -> Space:
    """Return the space of DQN; the buffer holds all moves."""
    root = math.sqrt(moves)
    return {
        **NETWORK,
        "n_envs": Powers(root / 12.5, root / 3),
        "updates": Span(5 * root, 40 * root, log=True),
        "batch_size": Powers(32, 512),
        "buffer_size": moves,
        "warmup": Span(0.01, 0.1, log=True),
        "copies": Span(10, 500, log=True),
        "learning_rate": Span(1e-4, 1e-2, log=True),
        "exploration_fraction": Span(0.1, 0.9),
        "exploration_final_eps": Span(0.01, 0.1, log=True),
    }


def n_step_dqn(moves: int) -> Space:
    """Return the space of DQN whose targets add up the rewards of several moves."""
    return {**dqn(moves), "n_steps": Span(2, 8, log=True, whole=True)}


def qrdqn(moves: int) -> Space:
    """Return the space of QR-DQN."""
    return {**dqn(moves), "quantiles": Powers(8, 32)}


def q_learning(moves: int) -> Space:
    """Return the space of Q-learning: with omega 1 a value is the mean of all its targets."""
    root = math.sqrt(moves)
    return {
        "n_envs": Powers(max(2, root / 50), root / 3),
        "omega": Span(0.3, 1.0),
        "initial_value": Span(0.0, 1.0),
        "exploration_fraction": Span(0.2, 1.0),
        "exploration_initial_eps": Span(0.1, 1.0),
        "exploration_final_eps": Span(0.001, 0.1, log=True),
    }


def hyperparameters_of(values: Mapping[str, Any], moves: int) -> dict[str, Any]:
    """Translate the choices and the fixed values of a space to hyperparameters.

    Args:
        values: a value for each name of a space.
        moves: the moves of the run.

    Returns:
        The hyperparameters, with ``n_timesteps``; numbers have three digits, so that a file of
        them is short and repeats the run exactly.
    """
    chosen = {name: _short(value) for name, value in values.items()}
    found = {"n_timesteps": moves} | {
        name: value for name, value in chosen.items() if name not in TRANSLATED
    }
    for name in TRANSLATED:
        if name in chosen:
            found |= TRANSLATED[name](chosen, moves)
    if "learning_rate" in found:
        found["learning_rate"] = f"lin_{found['learning_rate']}"
    return found


def _short(value: Any) -> Any:
    return float(f"{value:.3g}") if isinstance(value, float) else value


def _rollout(chosen: Mapping[str, Any], _moves: int) -> dict[str, Any]:
    lanes = max(1, chosen["rollout"] // chosen["n_steps"])
    batch = min(chosen.get("batch_size", chosen["rollout"]), chosen["rollout"])
    return {"n_envs": lanes} | ({"batch_size": batch} if "batch_size" in chosen else {})


def _updates(chosen: Mapping[str, Any], moves: int) -> dict[str, Any]:
    each = chosen["updates"] * chosen["n_envs"] / moves  # gradient steps for a move of every game
    return {"train_freq": max(1, round(1 / each)), "gradient_steps": max(1, round(each))}


def _network(chosen: Mapping[str, Any], _moves: int) -> dict[str, Any]:
    parts = [f"activation_fn=nn.{chosen['activation']}", f"net_arch={[chosen['width']] * 2}"]
    if "quantiles" in chosen:
        parts.append(f"n_quantiles={chosen['quantiles']}")
    return {"policy_kwargs": f"dict({', '.join(parts)})"}


def _encoding(chosen: Mapping[str, Any], _moves: int) -> dict[str, Any]:
    return {"env_kwargs": {"encoding": chosen["encoding"]}}


def _copies(chosen: Mapping[str, Any], moves: int) -> dict[str, Any]:
    return {"target_update_interval": round(moves / chosen["copies"])}


def _warmup(chosen: Mapping[str, Any], moves: int) -> dict[str, Any]:
    return {"learning_starts": round(moves * chosen["warmup"])}


def _nothing(_chosen: Mapping[str, Any], _moves: int) -> dict[str, Any]:
    return {}  # the function of another name reads this one


#: Functions that translate the names that are not hyperparameters.
TRANSLATED: Mapping[str, Callable[[Mapping[str, Any], int], dict[str, Any]]] = {
    "rollout": _rollout,
    "updates": _updates,
    "copies": _copies,
    "warmup": _warmup,
    "encoding": _encoding,
    "width": _network,
    "activation": _nothing,
    "quantiles": _nothing,
}
