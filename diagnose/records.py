"""Records of an algorithm as plain arrays: observations, actions, rewards and its own numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True)
class Transitions:
    """Transitions as a replay buffer holds them, shape (transition, ...), from any library.

    Give each transition once, such as the newest part of a buffer, or say that rows were drawn.

    Attributes:
        observations: in the encoding of the environment, or a mapping that has them by name beside
            masks, as ``MaskInObservation`` shows them.
        actions: shape (transition,).
        rewards: shape (transition,).
        next_observations: as ``observations``; ignored where the game has ended.
        terminated: whether the move has ended the game, shape (transition,).
        truncated: whether a game that goes on was cut after the move, shape (transition,). Its
            next observation is the last one of the game that was cut.
        n_steps: number of moves of a row, for all rows or shape (transition,). Of several moves,
            the reward is the discounted sum of theirs, the next observation is the one after the
            last, and ``terminated`` says whether the game has ended by then.
        gamma: discount of these sums.
        drawn: whether rows were drawn with replacement or by priority, so that they do not follow
            the law of the game. None: those of ``Targets`` were, and others were not.
    """

    observations: Any
    actions: Any
    rewards: Any
    next_observations: Any
    terminated: Any
    truncated: Any = None
    n_steps: Any = 1
    gamma: float = 1.0
    drawn: bool | None = None


@dataclass(frozen=True)
class Rollout:
    """Consecutive steps of a vector of environments, shape (time, lane, ...), from any library.

    A lane is one of the environments. The next observation of a step is that of the next row.

    Attributes:
        observations: what the agent saw before each move (see ``Transitions``).
        actions: shape (time, lane).
        rewards: of each move, shape (time, lane).
        terminated: whether the move of this row has ended the game, shape (time, lane).
        values: the critic's values at ``observations``, shape (time, lane).
        last_values: the critic's values after the last row, shape (lane,).
        log_probs: logarithms of the probabilities with which the actions were drawn.
        advantages: the algorithm's estimates of the advantages.
        returns: targets of the critic: advantages plus values.
        gamma: discount.
        gae_lambda: the lambda of generalised advantage estimation.
        truncated: whether a game that goes on was cut after this row, as by ``TimeLimit``, shape
            (time, lane). None if no game was cut.
        final_observations: the observations after the moves, shape (time, lane, ...), read where
            games were cut.
        final_values: the critic's values there, shape (time, lane). Where they are given, the
            reward of a cut row may have ``gamma`` times this value added, as it has in
            stable-baselines3.
        last_observations: the observations after the last row, shape (lane, ...).
        used: whether a row is a move, shape (time, lane): not where an environment ignored the
            action and was reset, after the end of a game. None if all are.
        estimator: how advantages were estimated: "gae"; a number n, of n steps without lambda, r
            to gamma^n v less the value before the move; or None (0 in a file), otherwise, as by
            V-trace: then they and the returns are not checked.
        half: whether the networks computed in half precision, as under autocast, though their
            numbers were recorded in single precision.
    """

    observations: Any
    actions: Any
    rewards: Any
    terminated: Any
    values: Any = None
    last_values: Any = None
    log_probs: Any = None
    advantages: Any = None
    returns: Any = None
    gamma: float = 1.0
    gae_lambda: float = 0.95
    truncated: Any = None
    final_observations: Any = None
    final_values: Any = None
    last_observations: Any = None
    used: Any = None
    estimator: int | Literal["gae"] | None = "gae"
    half: bool = False


@dataclass(frozen=True)
class Targets:
    """Bootstrap targets of action values, r + gamma^n max Q(s', a'), shape (transition,).

    Attributes:
        transitions: the transitions from which the algorithm computed the targets.
        targets: the algorithm's targets.
        network: the target network, from observations to action values (transition, action).
        online: the online network, which is trained; None if unknown.
        gamma: discount.
        double: whether the action is the online network's (double DQN).
        next_values: how next states are valued, if not by their best actions: a function of the
            network's action values and of the legal actions there, both (transition, action), to
            values (transition,), as of SARSA, soft or clipped double Q-learning; or the values
            themselves, which are not checked.
    """

    transitions: Transitions
    targets: Any
    network: Any
    online: Any = None
    gamma: float = 1.0
    double: bool = False
    next_values: Any = None


@dataclass(frozen=True)
class PolicyUpdate:
    """One gradient step of PPO, A2C or REINFORCE on a batch of moves, shape (move, ...).

    The loss is that of Schulman et al. (2017, *Proximal Policy Optimization Algorithms*, eq. 9)::

        - mean of min(r A, clip(r) A) + vf_coef mean of (v - returns)^2 - ent_coef mean entropy

    with r the new probability of the action divided by the old one, under the mask of legal
    actions, and A the advantage.

    Attributes:
        observations: what the agent saw before each move (see ``Transitions``).
        actions: shape (move,).
        log_probs: of the actions when they were drawn.
        advantages: as they were estimated, before they are normalised.
        returns: targets of the critic.
        before: the torch module before the step, ``copy.deepcopy(agent)``.
        after: the module after ``optimizer.step()``, with the gradients of ``loss.backward()``,
            which ``copy.deepcopy`` leaves out.
        actor: from a tensor of observations to logits (move, action), by the module ``before``.
        critic: from such a tensor to values, by the module ``before``; None if there is none.
        clip: largest change of r that is rewarded.
        objective: the objective of each move, if it is another one, as with a penalty of the drift
            or a second clip: a function of tensors r and A, shape (move,), to such a tensor.
        ent_coef: weight of the entropy bonus.
        vf_coef: weight of the critic's mean squared error.
        normalised: whether the loss takes the advantages of the batch less their mean, divided by
            their standard deviation; "rollout" if mean and deviation are those of all its moves.
        old_values: of the critic when the actions were drawn, if its loss clips their change by
            ``clip``; None if it does not.
        value_loss: "mse"; "half", half the squared errors, as in CleanRL; "huber", by which errors
            of the critic beyond 1 count linearly; or a function of a tensor of errors to losses.
        accumulated: the gradients that were there before ``loss.backward()``, tensors by the names
            of parameters; None if there were none.
        optimizer: a copy of the optimizer from before the step, ``copy.deepcopy(optimizer)``; a
            list of them if actor and critic have optimizers of their own.
        learning_rate: of this step, if it is to be checked; ``optimizer`` is needed.
        max_grad_norm: the norm to which gradients were clipped before the step; None if they
            were not. If parameters were clipped apart, a list: of the norms of each optimizer's
            parameters, or of the actor's and of the critic's.
        rollout: the rollout of which the batch is a part.
        rows: the numbers of the moves in the rollout, time by time, lane by lane, shape (move,).
    """

    observations: Any
    actions: Any
    log_probs: Any
    advantages: Any
    returns: Any
    before: Any
    after: Any
    actor: Any
    critic: Any = None
    clip: float = 0.2
    ent_coef: float = 0.0
    vf_coef: float = 0.5
    normalised: bool | Literal["rollout"] = True
    old_values: Any = None
    value_loss: Literal["half", "huber", "mse"] | Callable[[Any], Any] = "mse"
    accumulated: Any = None
    optimizer: Any = None
    learning_rate: float | None = None
    max_grad_norm: float | Sequence[float] | None = None
    rollout: Rollout | None = None
    rows: Any = None
    objective: Callable[[Any, Any], Any] | None = None


@dataclass(frozen=True)
class ValueUpdate:
    """One gradient step of DQN on a batch of moves, shape (move, ...); QR-DQN is refused.

    Attributes:
        observations: what the agent saw before each move (see ``Transitions``).
        actions: shape (move,).
        targets: of the values of these actions, shape (move,); see ``Targets``.
        before: the online network before the step, ``copy.deepcopy(network)``.
        after: the online network after ``optimizer.step()``, with its gradients.
        loss: "huber", by which errors beyond 1 count linearly, "mse", or a function of a tensor of
            errors to losses.
        target_before: the target network before the step, a copy; None if it is not checked.
        target_after: the target network after the step, and after its update if that was due.
        copied: whether an update of the target network was due.
        tau: weight of the online network in an update of the target network.
        weights: importance weights of the errors, shape (move,); None if all count alike.
        accumulated, optimizer, learning_rate, max_grad_norm: as in ``PolicyUpdate``.
        source: the ``Targets`` of which the batch is a part.
        rows: the numbers of the moves in them, shape (move,).
    """

    observations: Any
    actions: Any
    targets: Any
    before: Any
    after: Any
    loss: Literal["huber", "mse"] | Callable[[Any], Any] = "huber"
    target_before: Any = None
    target_after: Any = None
    copied: bool = False
    tau: float = 1.0
    weights: Any = None
    accumulated: Any = None
    optimizer: Any = None
    learning_rate: float | None = None
    max_grad_norm: float | None = None
    source: Targets | None = None
    rows: Any = None


#: A record of steps, and one of a gradient step.
Record: TypeAlias = Rollout | Transitions | Targets
Update: TypeAlias = PolicyUpdate | ValueUpdate


@dataclass(frozen=True)
class EpsilonGreedy:
    """The policy that takes a random action with a given probability, else a network's best one.

    Attributes:
        network: from a batch of observations to action values, shape (observation, action).
        epsilon: probability of a random legal action, or one for each step, in the shape of the
            actions.
    """

    network: Any
    epsilon: Any


def each_array(observations: Any, read: Callable[[Any], Any]) -> Any:
    """Read an array of observations, or each one of a mapping."""
    if isinstance(observations, Mapping):
        return {key: each_array(entry, read) for key, entry in observations.items()}
    return read(observations)
