"""Exact gradients of a network's return, of its entropy and of its critic's loss.

With d(s) the expected visits of state s in a game, pi the softmax of the logits z over the legal
actions, and A(s, a) = Q(s, a) - V(s) the advantage, the gradient of the return J is (Sutton et al.,
"Policy Gradient Methods for Reinforcement Learning with Function Approximation", NIPS 2000)

    grad J = sum over s, a of d(s) A(s, a) grad pi(a | s)
           = sum over s, a of d(s) pi(a | s) A(s, a) grad z(s, a),

as the advantages of a state have the mean 0 under pi. The entropy H(s) has the gradient
- sum over a of pi(a | s) (log pi(a | s) + H(s)) grad z(s, a). So only logits are differentiated by
torch; all that multiplies their gradients is computed exactly.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch as th

from ..baselines import as_policy, evaluate, from_network
from ..baselines.policies.networks import ROUNDING
from ..core import FloatArray, InputError, IntArray, Values
from ..core.positions import pieces
from .networks import Network, joined
from .view import BATCH, AgentView

#: Gradients by the names of a module's parameters.
Gradients: TypeAlias = Mapping[str, th.Tensor]


class Closeness(NamedTuple):
    """A program's gradient of a loss against the exact one.

    Attributes:
        cosine: cosine of the angle between both gradients, from -1 to 1; nan if one is 0.
        ratio: norm of the program's gradient divided by the norm of the exact gradient; nan if the
            exact gradient is 0.
    """

    cosine: float
    ratio: float


@dataclass(frozen=True)
class Gradient:
    """Exact gradients by the names of a module's parameters.

    Attributes:
        policy: gradient of the expected sum of rewards from the agent's first move on, which is
            ``exactdice.evaluate(...).value`` for the rewards "outcome". To be followed upwards.
        entropy: gradient of ``ent_coef`` times the sum of the entropies of the actor's laws in all
            states, weighted by their occupancy, which is held constant. To be followed upwards.
        critic: gradient of the mean squared error of the critic, weighted by occupancy. To be
            followed downwards. Empty without a critic.
        moves: expected number of the agent's moves in a game: the sum of the occupancy.
    """

    policy: Gradients = field(repr=False)
    entropy: Gradients = field(repr=False)
    critic: Gradients = field(repr=False)
    moves: float

    def compare(self, gradients: "th.nn.Module | Gradients") -> Closeness:
        """Compare a program's gradient of the actor's loss with the exact one.

        The usual loss is minus the mean over moves of return and entropy bonus, so its exact
        gradient is ``-(policy + entropy) / moves``. With growing batches the cosine of a right
        program goes to 1 if advantages have no bias between actions (gae_lambda 1, or an exact
        critic; ``gae`` computes this bias), and so does its ratio if they are not normalised. The
        cosine of a program that minimises the return goes to -1. In batches of a few thousand moves
        the noise is large: audit a ``PolicyUpdate`` to find mistakes.

        Args:
            gradients: the actor after ``loss.backward()``, or the gradients of the loss by the
                names of the actor's parameters. Other names are ignored.

        Raises:
            InputError: if a gradient is missing or has another shape.
        """
        exact = {
            name: -(gradient + self.entropy[name]) / self.moves
            for name, gradient in self.policy.items()
        }
        return _closeness(gradients, exact)

    def compare_critic(self, gradients: "th.nn.Module | Gradients") -> Closeness:
        """Compare a program's gradient of the critic's loss with that of the mean squared error.

        With growing batches the cosine of a right program goes to 1 if returns have no bias
        (gae_lambda 1), and so does its ratio if the loss has no factor such as 1/2.

        Args:
            gradients: the critic after ``loss.backward()``, or gradients, as for ``compare``.
        """
        if not self.critic:
            raise InputError("critic must be given to gradient before it is compared, got None")
        return _closeness(gradients, self.critic)


def gradient(
    env: Any, actor: th.nn.Module, critic: th.nn.Module | None = None, ent_coef: float = 0.0
) -> Gradient:
    """Compute the exact gradients of an actor's return and entropy, and of a critic's loss.

    Returns are sums of rewards without a discount, under the condition that the agent gets to move:
    environments replay all other games.

    Args:
        env: an environment of this project, a vector of them, or a ``Task``.
        actor: from a batch of observations, a tensor of the dtype and device of its parameters, as
            ``env`` shows them, to logits of shape (observation, action). The mask of legal actions
            is applied here.
        critic: from such a batch to values of shape (observation,) or (observation, 1).
        ent_coef: factor of the entropy.

    Raises:
        InputError: if a module has no parameters to learn, or gives another shape or numbers that
            are not finite, or if the same observations do not always give the same logits.
    """
    if isinstance(ent_coef, bool) or not np.isfinite(ent_coef):
        raise InputError(f"ent_coef must be a finite number, got {ent_coef}")
    view = AgentView(env)
    network = Network(actor, "actor", view.task.game.num_actions)
    sums = _Sums(view, network, 2)

    def visit(states: IntArray, expected: FloatArray) -> None:
        weights = occupancy[np.searchsorted(view.states, states)]
        met = weights > 0
        law = policy.probabilities(states[met])
        values = np.where(law > 0, expected[met], 0.0)
        logs = np.log(law, where=law > 0, out=np.zeros_like(law))
        mean, minus_entropy = ((law * of).sum(axis=1, keepdims=True) for of in (values, logs))
        moves, gains = weights[met, None] * law, values - mean
        equal = np.broadcast_to(found.tie(states), len(states))[met, None]
        gains[np.abs(gains) <= equal] = 0.0  # rounding has no direction
        parts = [view.scale * moves * gains, -ent_coef * moves * (logs - minus_entropy)]
        sums.add(states[met], parts)

    with th.no_grad():
        policy = as_policy(from_network(network, env, deterministic=False), env)
        occupancy, found = view.occupancy(policy), evaluate(policy, view.task)
        view.visit(found.found, visit)
        of_return, of_entropy = sums.finish()
        errors = {} if critic is None else _critic_sum(view, critic, occupancy, found.found)
    return Gradient(of_return, of_entropy, errors, float(occupancy.sum()))


class _Sums:
    """Sums over states of the gradients of a network's results, each multiplied by weights.

    States are collected until they fill a batch, so that the memory does not grow with the game.
    """

    def __init__(self, view: AgentView, network: Network, count: int) -> None:
        self._view, self._network, learned = view, network, network.parameters
        if not learned:
            raise InputError(
                f"{network.__name__} must have parameters that require a gradient, got none"
            )
        zeros = ({key: th.zeros_like(each) for key, each in learned.items()} for _ in range(count))
        self._sums = list(zeros)
        self._states: list[IntArray] = []
        self._weights: list[list[FloatArray]] = []

    def add(self, states: IntArray, weights: list[FloatArray]) -> None:
        """Add states, (state,), and for each sum the weights of their results, (state, ...)."""
        for piece in pieces(len(states), BATCH):
            self._states.append(states[piece])
            self._weights.append([part[piece] for part in weights])
            if sum(map(len, self._states)) >= BATCH:
                self._flush()

    def finish(self) -> list[dict[str, th.Tensor]]:
        """Return the sums by the names of the parameters."""
        if self._states:
            self._flush()
        return self._sums

    def _flush(self) -> None:
        parameters = self._network.parameters
        with th.enable_grad():
            given = self._network(self._view.observations(np.concatenate(self._states)))
        if not given.requires_grad:
            raise InputError(
                f"{self._network.__name__} must give results with a gradient, got a detached tensor"
            )
        for total, parts in zip(self._sums, zip(*self._weights, strict=True), strict=True):
            weights = th.as_tensor(np.concatenate(parts), dtype=given.dtype, device=given.device)
            found = th.autograd.grad(
                given, list(parameters.values()), weights, retain_graph=True, allow_unused=True
            )
            for key, part in zip(parameters, found, strict=True):
                if part is not None:
                    total[key] += part
        self._states, self._weights = [], []


def _critic_sum(
    view: AgentView, critic: th.nn.Module, occupancy: FloatArray, payoffs: Values
) -> dict[str, th.Tensor]:
    """Return the gradient of the critic's mean squared error."""
    sums, shape = _Sums(view, Network(critic, "critic", None), 1), (view.task.game.num_states,)
    met = occupancy > 0
    states, weights = view.states[met], occupancy[met] / occupancy.sum()
    given, again = (view.estimates(critic, part, "critic", shape) for part in (states, states[::2]))
    if not np.allclose(given[::2], again, rtol=0, atol=ROUNDING * abs(given).max()):
        raise InputError(
            "critic must answer alike to an observation every time, got other numbers in another "
            "batch: call its method eval() first"
        )
    exact = view.rewards(states, payoffs.at(view.task.seat, states))
    sums.add(states, [2 * weights * (given - exact)])
    return sums.finish()[0]


def _closeness(gradients: "th.nn.Module | Gradients", exact: Gradients) -> Closeness:
    """Compare the gradients of a module, or gradients by name, with exact ones."""
    given: Any = gradients
    if isinstance(gradients, th.nn.Module):
        given = {key: parameter.grad for key, parameter in gradients.named_parameters()}
        if all(gradient is None for gradient in given.values()):
            raise InputError("gradients must be there: call loss.backward() before, got none")
    if not isinstance(given, Mapping):
        raise InputError(
            f"gradients must be a torch module or gradients by name, got a {type(given).__name__}"
        )
    for key, wanted in exact.items():
        if key not in given:
            raise InputError(f"gradients must have all names of the parameters, got no {key}")
        if given[key] is not None and given[key].shape != wanted.shape:
            raise InputError(
                f"gradients must be of shape {tuple(wanted.shape)} for {key}, got "
                f"{tuple(given[key].shape)}"
            )
    ours, theirs = joined(exact, exact), joined(exact, given)
    norm, right = float(np.linalg.norm(theirs)), float(np.linalg.norm(ours))
    if not right:
        return Closeness(np.nan, np.nan)
    cosine = float((theirs * ours).sum()) / (norm * right) if norm else np.nan
    return Closeness(cosine, norm / right)
