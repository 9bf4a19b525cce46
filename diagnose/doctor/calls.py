"""The calls of PyTorch that a running program makes: of networks, laws, losses and steps.

PyTorch calls the functions of this module after each call of a module and around each step of an
optimizer. ``torch.autograd.backward`` and ``Categorical.log_prob`` are replaced by functions that
call them.
"""

import contextlib
import copy
import time
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from itertools import chain, takewhile
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch as th
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.distributions import Categorical
from torch.nn.modules.module import register_module_forward_hook
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from .tap import Numbers

#: Modules with weights, by which observations enter a network.
WEIGHTED = (th.nn.Linear, th.nn.Conv1d, th.nn.Conv2d, th.nn.Embedding)
#: Layers that drop inputs at random, or normalise them by those of other rows.
LAYERS = (th.nn.modules.dropout._DropoutNd, th.nn.modules.batchnorm._BatchNorm)
#: Most calls that are seen between two moves, and from which on none are kept over moves.
MOST, KEPT = 50_000, 8192
#: Differences by which results of the same numbers may be rounded, relative and absolute.
NEAR = (1e-3, 1e-5)


class Call(NamedTuple):
    """A call of a module."""

    module: th.nn.Module
    output: th.Tensor
    inputs: tuple[Any, ...]
    node: Any  # of the graph, that of the output; None if it has no gradient


class Fed(NamedTuple):
    """The input of a layer with weights."""

    layer: th.nn.Module
    rows: th.Tensor  # (row, ...), also of a single observation
    node: Any  # of the graph, that of the layer's results; None if they have no gradient


class Draw(NamedTuple):
    """A call of ``Categorical.log_prob``, or entries of a softmax."""

    logits: th.Tensor  # less the logarithm of the sum of their exponentials, (row, action)
    actions: th.Tensor  # (row,)
    log_probs: th.Tensor  # (row,)
    node: Any  # of the graph, that of the log-probabilities, or of the probabilities
    scale: th.Tensor | float = 1.0  # the derivative of the node's results by log-probabilities


class Part(th.nn.Module):
    """One of the results of a network that gives several, such as logits and a value."""

    def __init__(self, network: th.nn.Module, number: int) -> None:
        super().__init__()
        self.network, self.number = network, number

    def forward(self, *inputs: Any) -> th.Tensor:
        """Return the result."""
        found: th.Tensor = self.network(*inputs)[self.number]
        return found


Kind = TypeVar("Kind", Call, Fed, Draw)


@dataclass
class Calls:
    """The calls since the last move of an environment, or since the last gradient.

    Calls with a gradient are kept over moves, as a loss may need those of a whole game.

    Args:
        before: called with a loss and with a function that computes its gradients, in place of
            ``loss.backward()``; returns the nodes of the loss's graph, or none.
        stepped: called with an optimizer and whether its step has been made, around each step.
    """

    before: Callable[[th.Tensor, Callable[[bool], None]], Container[Any]]
    stepped: Callable[[th.optim.Optimizer, bool], None]
    now: list[Any] = field(default_factory=list)  # calls, inputs and draws in the order of time
    kept: list[Any] = field(default_factory=list)  # likewise, over moves
    layers: bool = False  # whether a layer was called whose results depend on more than its input
    drops: bool = False  # whether such a layer was called in training mode since the last move
    recurrent: bool = False  # whether a recurrent network was called
    busy: bool = False  # the doctor computes, and its own calls do not count
    away: bool = False  # calls of networks are not seen
    spent: float = 0.0  # seconds
    _parts: dict[tuple[int, int], Part] = field(default_factory=dict)

    def begin(self) -> None:
        """Begin to see calls."""
        self._called_hook = register_module_forward_hook(self._called)
        self._step_hooks = (
            register_optimizer_step_pre_hook(lambda of, *_: self._step(of, False)),
            register_optimizer_step_post_hook(lambda of, *_: self._step(of, True)),
        )
        self._backward, self._log_prob = th.autograd.backward, Categorical.log_prob
        th.autograd.backward = self._gradient
        calls = self

        def log_prob(law: Categorical, value: th.Tensor) -> th.Tensor:
            found = calls._log_prob(law, value)  # type: ignore[no-untyped-call]
            if not calls.busy and not calls.away and len(calls.now) < MOST:
                calls.now.append(Draw(law.logits, value, found, found.grad_fn))
            return found

        Categorical.log_prob = log_prob  # type: ignore[method-assign]

    def end(self) -> None:
        """Put everything back."""
        for hook in (self._called_hook, *self._step_hooks):
            hook.remove()
        th.autograd.backward = self._backward
        Categorical.log_prob = self._log_prob  # type: ignore[method-assign]

    def look(self, *, away: bool) -> None:
        """See no calls of networks any more, which costs no time; or see them again."""
        if away:
            self._called_hook.remove()
        elif self.away:
            self._called_hook = register_module_forward_hook(self._called)
        self.away = away

    def move(self) -> None:
        """Forget the calls before a move, but for those with a gradient."""
        if self.now or not self.away:
            small = all(each.rows.dim() <= 2 for each in self.seen(Fed))
            self.kept += _left(self.now) if small and len(self.kept) < KEPT else ()
            self.now, self.drops = [], False

    def seen(self, kind: type[Kind], *, kept: bool = False) -> list[Kind]:
        """Return the calls of a kind since the last move, after those that were kept."""
        calls = [*self.kept, *self.now] if kept else self.now
        return [each for each in calls if isinstance(each, kind)]

    def _called(self, module: th.nn.Module, inputs: Any, output: Any) -> None:
        began = time.perf_counter()
        with contextlib.suppress(Exception):  # the program goes on
            if not self.busy and len(self.now) < MOST:
                self._take(module, inputs, output)
        self.spent += time.perf_counter() - began

    def _take(self, module: th.nn.Module, inputs: Any, output: Any) -> None:
        parts = output if isinstance(output, tuple) else (output,)
        tensors = (part for part in parts if isinstance(part, th.Tensor))
        if any(map(is_functorch_wrapped_tensor, tensors)):
            return  # the numbers of a tensor inside of vmap cannot be read
        if isinstance(module, LAYERS):
            self.layers, self.drops = True, self.drops or module.training
        self.recurrent |= isinstance(module, th.nn.RNNBase)
        if isinstance(module, WEIGHTED):
            rows = inputs[0]
            single = rows.dim() <= rows.is_floating_point()  # without an axis of rows
            rows = rows.detach()[None] if single else rows
            self.now.append(Fed(module, rows, output.grad_fn))
        for number, part in enumerate(parts):
            if isinstance(part, th.Tensor) and 1 <= part.dim() <= 2:
                owner = module if part is output else self._part(module, number)
                last = self.now[-1] if self.now else None
                if isinstance(last, Call) and last.output is output:  # of an inner module
                    self.now.pop()
                self.now.append(Call(owner, part, inputs, part.grad_fn))

    def _part(self, network: th.nn.Module, number: int) -> Part:
        """Return a result of a network, as the same object each time."""
        key = id(network), number
        if key not in self._parts:
            self._parts[key] = Part(network, number)
        return self._parts[key]

    def entered(self, count: int) -> th.Tensor | None:
        """Return what has entered the first network with some rows at last, (row, ...)."""
        found = [each for each in self.seen(Fed) if len(each.rows) == count]
        same = [each.rows for each in found if each.layer is found[0].layer]
        return same[-1] if same else None

    def rows_above(self, node: Any) -> th.Tensor | None:
        """Return what has entered the first layer above a node of the graph, (row, ...)."""
        own, fed = nodes_above(node), chain(self.kept, self.now)
        found = (each.rows for each in fed if isinstance(each, Fed) and each.node in own)
        return next(found, None)

    def rows_of(self, call: Call) -> th.Tensor | None:
        """Return what has entered a network in a call, (row, ...); None if it is not known."""
        found = self.rows_above(call.node)
        return self._rows_within(call) if found is None else found

    def _before(self, call: Call) -> list[Any]:
        """Return all calls before one, the last one first."""
        return [*takewhile(lambda each: each is not call, self.now)][::-1]

    def _rows_within(self, call: Call) -> th.Tensor | None:
        """Return what has entered the first layer of a module in a call, (row, ...)."""
        layers, found = set(call.module.modules()), None
        for each in self._before(call):
            if isinstance(each, Fed):
                if each.layer not in layers:
                    break
                layers.remove(each.layer)  # which belongs to the call before if it comes again
                found = each.rows
        return found

    def whole(self, call: Call, entered: th.Tensor | None) -> th.nn.Module | None:
        """Return the network of a call, after those that have given its input one after another.

        None if the first one was given other numbers than have entered: what stands between them,
        such as a function, is not known, and its output may have the size of an observation.
        """
        parts = [call]
        for each in self._before(call):
            given = parts[0].inputs[0] if parts[0].inputs else None
            if isinstance(each, Call) and each.output is given:
                parts.insert(0, each)
        first = next((rows for rows in map(self._rows_within, parts) if rows is not None), None)
        if first is None or entered is None or not th.equal(first, entered):
            return None
        return th.nn.Sequential(*(each.module for each in parts)) if parts[1:] else call.module

    def _step(self, optimizer: th.optim.Optimizer, made: bool) -> None:
        if not self.busy:
            self.stepped(optimizer, made)

    def _gradient(self, tensors: Any, *args: Any, **options: Any) -> None:
        names = ("grad_tensors", "retain_graph", "create_graph")
        given = dict(zip(names, args, strict=False)) | options

        def compute(keep: bool) -> None:
            self._backward(tensors, **given | ({"retain_graph": True} if keep else {}))

        loss = tensors[0] if isinstance(tensors, tuple | list) and len(tensors) == 1 else tensors
        if self.busy or not isinstance(loss, th.Tensor) or loss.numel() != 1:
            compute(False)
        else:
            used = self.before(loss, compute)  # another loss may need the rest
            self.kept = _left([*self.kept, *self.now], used) if used else []
            self.now, self.drops = [], False


def _left(calls: list[Any], used: Container[Any] = ()) -> list[Any]:
    """Return the calls with a gradient, but for the nodes of a loss."""
    return [each for each in calls if each.node is not None and each.node not in used]


def mixes(call: Call) -> bool:
    """Whether a copy of a network says something else of the first row of a call alone."""
    given, count, own = call.inputs, len(call.output), numbers_of(call.output)
    parts = call.module.modules()
    hooked = any(each._forward_hooks or each._forward_pre_hooks for each in parts)
    if hooked or len(given) != 1 or count == 1 or np.shape(given[0])[:1] != (count,):
        return False
    try:
        with th.random.fork_rng(), th.no_grad():
            network = copy.deepcopy(call.module)
            whole, alone = (numbers_of(network(rows)) for rows in (given[0], given[0][:1]))
    except Exception:  # of a network that cannot be copied, or takes no single row
        return False
    same = whole.shape == own.shape and np.allclose(whole, own, *NEAR)  # else it draws
    return same and not np.allclose(alone[0], own[0], *NEAR)


def nodes_above(node: Any) -> dict[Any, None]:
    """Return a node of the graph and all nodes above it, the nearest first; none of None."""
    found = dict.fromkeys([node] if node else [])
    todo = [*found]
    for each in todo:  # which grows
        for other, _ in each.next_functions:
            if other is not None and other not in found:
                found[other] = None
                todo.append(other)
    return found


def parameters_above(tensor: th.Tensor) -> list[th.Tensor]:
    """Return the parameters that a tensor was computed from."""
    return [node.variable for node in nodes_above(tensor.grad_fn) if hasattr(node, "variable")]


def numbers_of(tensor: th.Tensor) -> Numbers:
    """Return a copy of a tensor as an array."""
    found = tensor.detach().cpu()
    return np.array(found.float().numpy() if found.is_floating_point() else found.numpy())
