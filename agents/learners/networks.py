"""Networks of torch as policies: what an environment shows goes in, preferences come out."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from inspect import getattr_static
from typing import Any

import numpy as np
import numpy.typing as npt
import torch as th

from ...baselines import NetworkPolicy, Reading
from ...baselines.policies.consistency import ROUNDING
from ...core import InputError, IntArray
from .seen import change_of


class ModulePolicy(NetworkPolicy):
    """A module whose outputs are logits or action values, one for each action.

    Args:
        module: it is given a batch of what the environment shows, in the number type of its
            weights and on their device, as in play: nothing is dropped out at random. One that
            ``torch.compile`` made computes what the module does of which it is made, and is asked
            without compiling.
        reading: says what the environment shows.

    Raises:
        ValueError: if nobody said what it is shown, or it computes nothing. The policy raises it
            too, if the module does not take what it is shown, or gives something else.
    """

    def __init__(self, module: th.nn.Module, reading: Reading) -> None:
        self._module: th.nn.Module = getattr(module, "_orig_mod", module)
        name = type(self._module).__name__
        if reading.sight is None:
            raise InputError(
                f"env must be an environment, whose observations {name}, a torch module, is given, "
                "got a task"
            )
        if getattr_static(type(self._module), "forward") is th.nn.Module.forward:
            raise InputError(
                f"policy must be a module that gives a preference for each action, got {name}, "
                "which has no forward: pass the part of it that does, or exactdice.from_network of "
                "a function"
            )
        self._like = next(self._module.parameters(), th.zeros(0))
        finest = th.finfo(self._like.dtype).eps if self._like.is_floating_point() else 0.0
        super().__init__(name, reading.deterministic, reading.masked, max(ROUNDING, 8 * finest))
        self._show, self._change = reading.sight.show, change_of(reading.observations)

    def prefer(self, observations: IntArray, num_actions: int) -> npt.NDArray[Any]:
        """Ask the module.

        Raises:
            ValueError: if it does not take what it is shown, or gives something else.
        """
        seen = self._change(self._show(observations))
        given = self._outputs(th.as_tensor(np.asarray(seen)))
        wanted = (len(observations), num_actions)
        if not isinstance(given, th.Tensor) or given.shape != wanted:
            got = tuple(given.shape) if isinstance(given, th.Tensor) else type(given).__name__
            raise InputError(
                f"policy must give preferences of shape {wanted} (state, action), got {got} "
                f"of {self.__name__}"
            )
        preferences: npt.NDArray[Any] = given.double().cpu().numpy()
        return preferences

    def _outputs(self, seen: th.Tensor) -> Any:
        """Ask the module in the way it is used in play."""
        with th.no_grad(), _in_play(self._module):
            try:
                return self._module(seen.to(self._like))
            except Exception as error:  # what a module says of an input may be anything
                said = " ".join(str(error).split())[:200]
                raise InputError(
                    f"policy must take what env shows, {tuple(seen.shape)} for a batch, got "
                    f"{self.__name__}, which says: {said}"
                ) from error


def from_module(module: th.nn.Module, reading: Reading) -> NetworkPolicy:
    """Make a policy of a module."""
    return ModulePolicy(module, reading)


@contextmanager
def _in_play(module: th.nn.Module) -> Iterator[None]:
    """Have all parts of a module behave as in play, and afterwards as before."""
    training = [part for part in module.modules() if part.training]
    module.eval()
    compiled = getattr(module, "_compiled_call_impl", None) is not None  # by module.compile()
    try:
        with th.compiler.set_stance("force_eager") if compiled else nullcontext():
            yield
    finally:
        for part in training:
            part.training = True
