"""The hyperparameters of each algorithm: what they mean, and which values they may have.

Those without a default here must be given; the other defaults are the models' own. Left out are
arguments of the models that options of the command line give (seed, device), that need Python
(classes), or that a run has no use for.
"""

from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass

from ...core import InputError
from .hyperparameters import Algorithm
from .reading import (
    MOST,
    STRICT,
    Clip,
    Count,
    Fraction,
    Number,
    Part,
    Positive,
    Rate,
    Weight,
    as_given,
    as_number,
)


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
    policy_kwargs: Annotated[Any, BeforeValidator(as_given)] = None
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
class OnPolicy(_Deep):
    """Those of the algorithms that learn from what the policy of the moment plays."""

    learning_rate: Rate
    """Step size of the optimizer."""
    n_steps: Count = 2048
    """Moves of each game between two updates."""
    gamma: Fraction = 0.99
    """Discount of what comes later."""
    gae_lambda: Fraction = 0.95
    """Weight of played games against the value network: 1 is games alone."""
    normalize_advantage: bool = True
    """Whether advantages are brought to mean 0 and spread 1 in each batch."""
    callback: Any = None
    """One callback by name, or a list of them."""


@dataclass(frozen=True, kw_only=True, config=STRICT)
class PPO(OnPolicy):
    """Those of MaskablePPO (Schulman et al., arXiv:1707.06347)."""

    learning_rate: Rate = 3e-4
    batch_size: Count = 64
    """Moves a gradient is the mean of."""
    n_epochs: Count = 10
    """How often an update goes through its moves."""
    clip_range: Clip = 0.2
    """How far an update may move a move's probability, as a ratio."""
    clip_range_vf: Clip | None = None
    """How far it may move a value; None for any distance."""
    ent_coef: Number = 0.0
    """Weight of the bonus for entropy."""
    vf_coef: Weight = 0.5
    """Weight of the loss of values."""
    max_grad_norm: Positive = 0.5
    """Norm that a gradient is cut to."""
    target_kl: Positive | None = None
    """Divergence from the policy before at which an update ends; None for never."""

    def __post_init__(self) -> None:
        """Refuse a last batch of one move, whose advantage cannot be normalised."""
        moves = self.n_envs * self.n_steps
        if self.normalize_advantage and (self.batch_size == 1 or moves % self.batch_size == 1):
            raise InputError(
                "batch_size must leave no batch of a single move, whose advantage cannot be "
                f"normalised, got {self.batch_size} for {moves} moves (n_envs times n_steps)"
            )


@dataclass(frozen=True, kw_only=True, config=STRICT)
class A2C(OnPolicy):
    """Those of A2C (Mnih et al., arXiv:1602.01783)."""

    learning_rate: Rate = 7e-4
    n_steps: Count = 5
    gae_lambda: Fraction = 1.0
    ent_coef: Number = 0.0
    """Weight of the bonus for entropy."""
    vf_coef: Weight = 0.5
    """Weight of the loss of values."""
    max_grad_norm: Positive = 0.5
    """Norm that a gradient is cut to."""
    rms_prop_eps: Positive = 1e-5
    """What RMSprop adds to the roots it divides by."""
    use_rms_prop: bool = True
    """Whether the optimizer is RMSprop; if not, it is Adam."""
    normalize_advantage: bool = False


@dataclass(frozen=True, kw_only=True, config=STRICT)
class TRPO(OnPolicy):
    """Those of TRPO (Schulman et al., arXiv:1502.05477)."""

    learning_rate: Rate = 1e-3
    batch_size: Annotated[int, Field(ge=2, le=MOST), BeforeValidator(as_number)] = 128
    """Moves that a gradient of the values is the mean of."""
    cg_max_steps: Count = 15
    """Steps of the conjugate gradient method, at most."""
    cg_damping: Weight = 0.1
    """What is added to the diagonal of the matrix that it inverts."""
    line_search_shrinking_factor: Part = 0.8
    """What a step is multiplied by as long as it goes too far."""
    line_search_max_iter: Count = 10
    """How often, at most."""
    n_critic_updates: Count = 10
    """How often an update of the values goes through its moves."""
    target_kl: Positive = 0.01
    """Divergence from the policy before that an update may reach."""
    sub_sampling_factor: Count = 1
    """Of so many moves one is taken to compute the step."""


@dataclass(frozen=True, kw_only=True, config=STRICT)
class DQN(_Deep, _Exploring):
    """Those of DQN (Mnih et al., Nature 518, 2015)."""

    learning_rate: Rate = 1e-4
    """Step size of the optimizer."""
    buffer_size: Count = 1_000_000
    """Moves that are remembered."""
    learning_starts: Annotated[int, Field(ge=0, le=MOST), BeforeValidator(as_number)] = 100
    """Moves before the first update, all drawn at random."""
    batch_size: Count = 32
    """Moves a gradient is the mean of."""
    tau: Fraction = 1.0
    """Share of the network that the target network takes over at a time."""
    gamma: Fraction = 0.99
    """Discount of what comes later."""
    train_freq: Count = 4
    """Moves of each game between two updates."""
    gradient_steps: Annotated[int, Field(ge=-1, le=MOST), BeforeValidator(as_number)] = 1
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
class QRDQN(DQN):
    """Those of QR-DQN (Dabney et al., arXiv:1710.10044); ``policy_kwargs`` has n_quantiles, too."""

    learning_rate: Rate = 5e-5
    exploration_fraction: Part = 0.005
    exploration_final_eps: Fraction = 0.01
    max_grad_norm: Positive | None = None  # type: ignore[assignment]  # of DQN it must be a number
    """Norm that a gradient is cut to; None for any."""


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
    "a2c": A2C,
    "trpo": TRPO,
    "qrdqn": QRDQN,
}
