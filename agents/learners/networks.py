"""Networks of torch as policies: what an environment shows goes in, preferences come out."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch as th

from ...baselines import PolicyFunction, Reading, choose
from ...games import BoolArray, InputError, IntArray
from .adapter import change_of


def from_module(module: th.nn.Module, reading: Reading) -> PolicyFunction:
    """Make a policy of a module whose outputs are logits or action values, one for each action.

    Args:
        module: it is given a batch of what the environment shows, in the number type of its
            weights and on their device, as in play: nothing is dropped out at random.
        reading: says what the environment shows.

    Raises:
        ValueError: if nobody said what it is shown, or it computes nothing. The policy raises it
            too, if the module does not take what it is shown, or gives something else.
    """
    name = type(module).__name__
    if reading.sight is None:
        raise InputError(
            f"env must be an environment, whose observations {name}, a torch module, is given, "
            "got a task"
        )
    if type(module).forward is th.nn.Module.forward:
        raise InputError(
            f"policy must be a module that gives a preference for each action, got {name}, which "
            "has no forward: pass the part of it that does, or exactdice.from_network of a function"
        )
    show, change = reading.sight.show, change_of(reading.observations)

    def play(observations: IntArray, masks: BoolArray) -> npt.NDArray[Any]:
        legal = masks if reading.masked else np.ones_like(masks)
        given = _outputs(module, th.as_tensor(change(show(observations))))
        if not isinstance(given, th.Tensor) or given.shape != masks.shape:
            got = tuple(given.shape) if isinstance(given, th.Tensor) else type(given).__name__
            raise InputError(
                f"policy must give preferences of shape {masks.shape} (state, action), got {got} "
                f"of {name}"
            )
        preferences = given.double().cpu().numpy()
        return choose(preferences, observations, legal, reading.deterministic)

    return play


def _outputs(module: th.nn.Module, seen: th.Tensor) -> Any:
    """Ask a module in the way it is used in play."""
    like = next(module.parameters(), th.zeros(0))
    with th.no_grad(), _in_play(module):
        try:
            return module(seen.to(like))
        except RuntimeError as error:
            said = " ".join(str(error).split())
            raise InputError(
                f"policy must take what env shows, {tuple(seen.shape)} for a batch, got "
                f"{type(module).__name__}, which says: {said}"
            ) from error


@contextmanager
def _in_play(module: th.nn.Module) -> Iterator[None]:
    """Have all parts of a module behave as in play, and afterwards as before."""
    training = [part for part in module.modules() if part.training]
    module.eval()
    try:
        yield
    finally:
        for part in training:
            part.training = True
