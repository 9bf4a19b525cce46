"""Search spaces: what ``exactdice tune`` may choose, one function for each algorithm.

A space draws from a trial of Optuna and returns hyperparameters for a run of so many moves. Some
draws are not hyperparameters but determine them, so that every choice suits every budget of moves
and the choices depend little on each other:

    rollout      moves between two updates, a power of 2: n_envs = rollout / n_steps
    updates      gradient steps of the whole run: gradient_steps, or train_freq if they are few
    copies       updates of the target network in the whole run: target_update_interval
    warmup       part of the run before the first update: learning_starts
    encoding     of the observations: env_kwargs. stable-baselines3 one-hot encodes integers; with
                 a thermometer a network need not learn that 50 lies between 49 and 51
    width        width of both hidden layers: policy_kwargs
    activation   activation between the layers: policy_kwargs
    quantiles    number of quantiles: policy_kwargs
    decay        weight decay of the optimizer AdamW: policy_kwargs
    plans        plans of the whole run: n_steps

Powers of 2 are drawn by exponent. Numbers have three digits, so that a file of them is short and
repeats the run exactly. Ranges that grow with the square root of the moves keep the cost of a move
within reason: a run of a million moves makes 10 times the updates of a run of 10,000.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:  # optuna is of the extra "agents"
    from optuna.trial import BaseTrial as Trial

#: A function of a trial and of the moves of a run, which returns hyperparameters.
Space: TypeAlias = "Callable[[Trial, int], dict[str, Any]]"


def _power(trial: "Trial", name: str, low: float, high: float) -> int:
    """Draw a power of 2 from ``low`` to ``high``."""
    return 1 << trial.suggest_int(name, math.ceil(math.log2(low)), math.floor(math.log2(high)))


def _number(trial: "Trial", name: str, low: float, high: float, *, log: bool = False) -> float:
    """Draw a number of three digits; with ``log`` equal ratios are equally far apart."""
    return float(f"{trial.suggest_float(name, low, high, log=log):.3g}")


def _falling(trial: "Trial", name: str, low: float, high: float) -> str:
    """Draw a number that falls to zero during training."""
    return f"lin_{_number(trial, name, low, high, log=True)}"


def _network(trial: "Trial", widest: int = 256) -> dict[str, Any]:
    """Draw a network. An episode is a game, of which only the result counts."""
    encoding = trial.suggest_categorical("encoding", ("integer", "thermometer"))
    width = _power(trial, "width", 64, widest)
    activation = trial.suggest_categorical("activation", ("ReLU", "Tanh"))
    return {
        "policy": "MlpPolicy",
        "gamma": 1.0,
        "env_kwargs": {"encoding": encoding},
        "policy_kwargs": f"dict(activation_fn=nn.{activation}, net_arch={[width] * 2})",
    }


def _with(found: dict[str, Any], *entries: str) -> str:
    """Return the description of a network with more entries."""
    return ", ".join([found["policy_kwargs"].removesuffix(")"), *entries]) + ")"


def _rollout(trial: "Trial", low: float, high: float, least_steps: int = 4) -> dict[str, Any]:
    """Draw the moves between two updates, and those of each game."""
    rollout = _power(trial, "rollout", low, high)
    n_steps = _power(trial, "n_steps", least_steps, 32)
    return {"n_envs": rollout // n_steps, "n_steps": n_steps}


def _batch(trial: "Trial", low: float, high: float, found: dict[str, Any]) -> int:
    """Draw the moves of a batch, at most those of a rollout."""
    rollout: int = found["n_envs"] * found["n_steps"]
    return min(_power(trial, "batch_size", low, high), rollout)


def ppo(trial: "Trial", moves: int) -> dict[str, Any]:
    """Draw hyperparameters of PPO; the shortest run has at least 19 updates.

    The smallest batch grows with the moves: with batches of 32 and 10 epochs a run of a million
    moves takes more than 20 minutes of one core.
    """
    found = _network(trial) | _rollout(trial, max(128, moves / 1000), moves / 16)
    return found | {
        "batch_size": _batch(trial, max(32, moves / 8000), 1024, found),
        "n_epochs": trial.suggest_int("n_epochs", 2, 16, log=True),
        "gae_lambda": _number(trial, "gae_lambda", 0.0, 1.0),
        "learning_rate": _falling(trial, "learning_rate", 3e-4, 1e-2),
        "ent_coef": _number(trial, "ent_coef", 1e-3, 0.3, log=True),
        "clip_range": _number(trial, "clip_range", 0.1, 0.4),
        "callback": "exactdice.agents.FallingEntropy",
    }


def a2c(trial: "Trial", moves: int) -> dict[str, Any]:
    """Draw hyperparameters of A2C, which makes one gradient step of a rollout."""
    found = _network(trial) | _rollout(trial, max(64, moves / 2000), moves / 32, least_steps=2)
    return found | {
        "gae_lambda": _number(trial, "gae_lambda", 0.0, 1.0),
        "learning_rate": _falling(trial, "learning_rate", 3e-4, 3e-2),
        "ent_coef": _number(trial, "ent_coef", 1e-3, 0.3, log=True),
        "vf_coef": _number(trial, "vf_coef", 0.1, 1.0),
        "use_rms_prop": trial.suggest_categorical("use_rms_prop", (False, True)),
        "normalize_advantage": True,
        "callback": "exactdice.agents.FallingEntropy",
    }


def trpo(trial: "Trial", moves: int) -> dict[str, Any]:
    """Draw hyperparameters of TRPO, whose learning rate is that of the values only."""
    found = _network(trial) | _rollout(trial, max(128, moves / 1000), moves / 16)
    return found | {
        "batch_size": _batch(trial, 32, 512, found),
        "gae_lambda": _number(trial, "gae_lambda", 0.0, 1.0),
        "learning_rate": _falling(trial, "learning_rate", 3e-4, 1e-2),
        "n_critic_updates": trial.suggest_int("n_critic_updates", 2, 16, log=True),
        "target_kl": _number(trial, "target_kl", 0.003, 0.1, log=True),
        "cg_damping": _number(trial, "cg_damping", 0.01, 0.3, log=True),
    }


def dqn(trial: "Trial", moves: int) -> dict[str, Any]:
    """Draw hyperparameters of DQN; the buffer holds all moves."""
    root = math.sqrt(moves)
    found = _network(trial, widest=512)
    lanes = _power(trial, "n_envs", root / 12.5, root / 3)
    steps = _number(trial, "updates", 2.5 * root, 40 * root, log=True) * lanes / moves
    return found | {
        "policy_kwargs": _with(
            found,
            "optimizer_class=th.optim.AdamW",
            f"optimizer_kwargs=dict(weight_decay={_number(trial, 'decay', 1e-4, 1, log=True)})",
        ),
        "n_envs": lanes,
        "train_freq": max(1, round(1 / steps)),
        "gradient_steps": max(1, round(steps)),
        "batch_size": _power(trial, "batch_size", 32, 1024),
        "buffer_size": moves,
        "learning_starts": round(moves * _number(trial, "warmup", 0.01, 0.1, log=True)),
        "target_update_interval": round(moves / _number(trial, "copies", 10, 500, log=True)),
        "learning_rate": _falling(trial, "learning_rate", 1e-4, 1e-2),
        "exploration_fraction": _number(trial, "exploration_fraction", 0.1, 0.9),
        "exploration_final_eps": _number(trial, "exploration_final_eps", 0.01, 0.1, log=True),
    }


def n_step_dqn(trial: "Trial", moves: int) -> dict[str, Any]:
    """Draw hyperparameters of DQN whose targets add up the rewards of several moves."""
    return dqn(trial, moves) | {"n_steps": trial.suggest_int("n_steps", 2, 8, log=True)}


def qrdqn(trial: "Trial", moves: int) -> dict[str, Any]:
    """Draw hyperparameters of QR-DQN."""
    found = dqn(trial, moves)
    quantiles = f"n_quantiles={_power(trial, 'quantiles', 8, 32)}"
    return found | {"policy_kwargs": _with(found, quantiles)}


def q_learning(trial: "Trial", moves: int) -> dict[str, Any]:
    """Draw hyperparameters of Q-learning: with omega 1 a value is the mean of all its targets."""
    root = math.sqrt(moves)
    return {
        "n_envs": _power(trial, "n_envs", max(2, root / 50), root / 3),
        "omega": _number(trial, "omega", 0.3, 1.0),
        "initial_value": _number(trial, "initial_value", 0.0, 1.0),
        "exploration_fraction": _number(trial, "exploration_fraction", 0.2, 1.0),
        "exploration_initial_eps": _number(trial, "exploration_initial_eps", 0.1, 1.0),
        "exploration_final_eps": _number(trial, "exploration_final_eps", 0.001, 0.1, log=True),
    }


def planner(trial: "Trial", moves: int) -> dict[str, Any]:
    """Draw hyperparameters of the planner; ``plans`` is the number of plans in the whole run."""
    lanes = _power(trial, "n_envs", 4, 64)
    plans = _number(trial, "plans", 20, 200, log=True)
    return {
        "n_envs": lanes,
        "n_steps": max(1, round(moves / plans / lanes)),
        "initial_value": _number(trial, "initial_value", 0.0, 1.0),
        "prior": _number(trial, "prior", 0.1, 30, log=True),
        "bonus": _number(trial, "bonus", 0.01, 2.0, log=True),
    }
