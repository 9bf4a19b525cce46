"""Exact scores of an agent as it learned, in environments whose law is known.

Copies of parameters are made while the program runs, and scored over every state when it has ended:
networks that map observations to logits or action values, and models of stable-baselines3.
"""

import copy
import sys
import time
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch as th

from ...baselines import score
from ..figures import critic
from ..gradients import gradient
from .diagnosis import Diagnosis
from .program import frames
from .tap import Trace

#: Moves after which copies are made: the first ones, and the factor from one to the next.
FIRST, GROWTH = 1000, 2
#: Updates whose direction is compared with the exact policy gradient, the least moves of one (those
#: of a move each are no samples of the gradient), and the chance that their noise accuses.
UPDATES, MOVES, ALARM = 8, 16, 1e-4

SB3 = "stable_baselines3.common.base_class"


class _OneHot(th.nn.Module):
    """A network of rows of zeros and a one, as a network of the numbers of states."""

    def __init__(self, network: th.nn.Module, states: int) -> None:
        super().__init__()
        self.network, self.states = network, states

    def forward(self, numbers: th.Tensor) -> th.Tensor:
        """Return what the network says of states, given by their numbers, (state,)."""
        ones = th.nn.functional.one_hot(numbers.reshape(-1).long(), self.states)
        found: th.Tensor = self.network(ones.float())
        return found


class _State(NamedTuple):
    """A network as it was at some time."""

    network: th.nn.Module
    parameters: dict[str, Any]

    @classmethod
    def of(cls, network: th.nn.Module) -> "_State":
        """Copy the parameters of a network as they are now."""
        return cls(network, copy.deepcopy(network.state_dict()))

    def restore(self) -> th.nn.Module:
        """Return the network, with these parameters."""
        self.network.load_state_dict(self.parameters)
        return self.network


class Learned:
    """An agent at several times of its training."""

    def __init__(self) -> None:
        self._copies: list[tuple[int, _State, _State | None]] = []  # moves, actor, critic
        self._next = 0
        self._early: list[_State] = []  # actors before the first update, and after the first ones
        self._first: list[int] = []  # number of moves before each of them
        self._model: Any = None  # of stable-baselines3
        self.parted = False  # whether functions stand between the networks of the actor

    def due(self, moves: int, updated: bool) -> bool:
        """Whether it is time to copy the networks, or the actor after one of the first updates."""
        return moves >= self._next or (len(self._early) <= UPDATES and (updated or not self._early))

    def waits(self, moves: int) -> bool:
        """Whether the networks are known, and to be copied as soon as they are called."""
        return moves >= self._next > 0

    def follow(self, trace: Trace, actor: th.nn.Module | None, values: Any, updated: bool) -> None:
        """Copy the networks if it is time, and the actor after each of the first updates."""
        if actor is not None and len(self._early) <= UPDATES and (updated or not self._early):
            self._early.append(_State.of(actor))
            self._first.append(trace.moves)
        if trace.moves < self._next:
            return
        self._model = self._model or _model()
        if self._model is not None or actor is not None:
            self._next = max(FIRST, GROWTH * trace.moves)
        if self._model is not None:
            self._copies.append((trace.moves, _State.of(self._model.policy), None))
        elif actor is not None:
            critics = None if values is None else _State.of(values)
            self._copies.append((trace.moves, _State.of(actor), critics))

    def end(
        self,
        found: Diagnosis,
        trace: Trace,
        gamma: float | None,
        seconds: float,
        *,
        law: bool,
        changed: bool,
    ) -> None:
        """Score the copies, and what the program has ended with.

        Args:
            found: gets the scores.
            trace: of the training environment.
            gamma: the discount of the critic; None if it is not known.
            seconds: after which no further score is begun.
            law: whether the program learns a law, in place of action values.
            changed: whether networks are given other numbers than the environment shows.
        """
        if changed and self._model is None:
            found.unchecked["scores"] = "networks are given other numbers than environments show"
            return
        if self.parted and not self._copies:
            found.unchecked["scores"] = "functions of the program stand between its networks"
        env, model = _one(trace.env), self._model
        if model is not None:
            self._copies.append((trace.moves, _State.of(model.policy), None))
        own = [state for _, *states in self._copies for state in states if state is not None]
        own += self._early
        live = [_State.of(network) for network in {id(e.network): e.network for e in own}.values()]
        try:
            self._score(found, env, gamma, seconds)
            complete = model is None and len(found.scores) == len(self._copies)
            enough = len(self._early) > UPDATES and np.diff(self._first).mean() >= MOVES
            if law and complete and enough:
                found.notes += self._direction(env)
        finally:
            for state in live:
                state.restore()

    def _score(self, found: Diagnosis, env: Any, gamma: float | None, seconds: float) -> None:
        model, began = self._model, time.perf_counter()
        states = int(getattr(env.observation_space, "n", 0))
        for moves, before, critics in reversed(self._copies):  # the last one first
            if time.perf_counter() - began > seconds:
                found.unchecked["scores"] = f"earlier ones take more than {seconds:.0f} seconds"
                break
            try:
                actor = _of_numbers(before.restore(), states)
                scored = score(model or actor, env, deterministic=model is not None)
                row = {"moves": moves, "value": scored.value, "optimum": scored.optimum}
                row |= {"normalized": scored.normalized}
                if critics is not None and gamma is not None:
                    values = _of_numbers(critics.restore(), states)
                    row["critic_rmse"] = critic(env, actor, values, gamma).rmse
            except (ValueError, TypeError) as error:
                found.unchecked["scores"] = str(error)
                break
            found.scores.insert(0, row)

    def _direction(self, env: Any) -> list[str]:
        """Tell the cosines of the first updates of the actor and the exact policy gradient.

        There are none where an update is zero, as of rewards that are all zero.
        """
        from scipy.special import stdtrit  # which takes a quarter of a second

        cosines = []
        states = int(getattr(env.observation_space, "n", 0))
        for before, after in pairwise(self._early):
            actor = _of_numbers(before.restore(), states)
            inner = "" if actor is before.network else "network."
            change = {
                name: after.parameters[name.removeprefix(inner)] - each.detach()
                for name, each in actor.named_parameters()
            }
            cosines.append(-gradient(env, actor).compare(change).cosine)
        if not np.isfinite(cosines).all():
            return []
        mean, error = float(np.mean(cosines)), float(np.std(cosines, ddof=1)) / len(cosines) ** 0.5
        against = mean < -float(stdtrit(len(cosines) - 1, 1 - ALARM)) * error
        way = "against" if against else "along"
        told = f"cosine {mean:.3f}, standard error {error:.3f}"
        return [f"the first updates go {way} the exact policy gradient: {told}"]


def _of_numbers(network: Any, states: int) -> Any:
    """Return a network of the numbers of states, if it takes a row of numbers for each."""
    layers = network.modules() if states else ()
    first = next((each for each in layers if isinstance(each, th.nn.Linear)), None)
    return _OneHot(network, states) if first and first.in_features == states else network


def _one(env: Any) -> Any:
    """Return one environment of a vector, if it consists of some; else the vector."""
    own = getattr(getattr(env, "unwrapped", env), "envs", None)
    return own[0] if own else env


def _model() -> Any:
    """Return the model of stable-baselines3 that learns, found among the callers; None if none."""
    if SB3 not in sys.modules:
        return None
    kind = sys.modules[SB3].BaseAlgorithm
    owners = (frame.f_locals.get("self") for frame in frames())
    return next((own for own in owners if isinstance(own, kind)), None)
