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
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import torch as th
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.distributions import Categorical
from torch.nn.modules.module import register_module_forward_hook
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

#: Modules with weights, by which observations enter a network.
WEIGHTED = (th.nn.Linear, th.nn.Conv1d, th.nn.Conv2d, th.nn.Embedding)
#: Layers that drop inputs at random, or normalise them by those of other rows.
LAYERS = (th.nn.modules.dropout._DropoutNd, th.nn.modules.batchnorm._BatchNorm)
#: Calls that are remembered between two steps.
MOST = 20_000
#: Calls with a gradient that are kept over moves.
KEPT = 4096
#: Differences by which results of the same numbers may be rounded, relative and absolute.
NEAR = (1e-3, 1e-5)
Numbers: TypeAlias = npt.NDArray[Any]


class Call(NamedTuple):
    """A call of a module."""

    module: th.nn.Module
    output: th.Tensor
    end: int  # number of the inputs of layers that were seen before it ended
    inputs: tuple[Any, ...] = ()


class Part(th.nn.Module):
    """One of the results of a network that gives several, such as logits and a value."""

    def __init__(self, network: th.nn.Module, number: int) -> None:
        super().__init__()
        self.network, self.number = network, number

    def forward(self, *inputs: Any) -> th.Tensor:
        """Return the result."""
        found: th.Tensor = self.network(*inputs)[self.number]
        return found


class Draw(NamedTuple):
    """A call of ``Categorical.log_prob``, or entries of a softmax."""

    logits: th.Tensor  # less the logarithm of the sum of their exponentials, (row, action)
    actions: th.Tensor  # (row,)
    log_probs: th.Tensor  # (row,)
    node: Any  # of the graph, that of the log-probabilities, or of the probabilities
    scale: th.Tensor | float = 1.0  # the derivative of the node's results by log-probabilities


class Fed(NamedTuple):
    """The input of a layer with weights."""

    layer: th.nn.Module
    rows: th.Tensor
    node: Any  # of the graph, that of the layer's results; None if they have no gradient

    @property
    def learned(self) -> bool:
        """Whether the layer's results have a gradient."""
        return self.node is not None

    @property
    def single(self) -> bool:
        """Whether the input is one observation, without an axis of rows."""
        return self.rows.dim() <= self.rows.is_floating_point()

    @property
    def table(self) -> th.Tensor:
        """The input with an axis of rows."""
        return self.rows[None] if self.single else self.rows


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
    seen: list[Call] = field(default_factory=list)
    fed: list[Fed] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)
    kept: "Calls | None" = None  # over moves
    modules: dict[int, th.nn.Module] = field(default_factory=dict)  # all so far, by ``id``
    layers: bool = False  # whether a layer was called whose results depend on more than its input
    drops: bool = False  # whether such a layer was called in training mode since the last move
    recurrent: bool = False  # whether a recurrent network was called
    busy: bool = False  # the doctor computes, and its own calls do not count
    away: bool = False  # calls of networks are not seen
    spent: float = 0.0  # seconds
    _parts: dict[tuple[int, int], "Part"] = field(default_factory=dict)
    _handles: list[Any] = field(default_factory=list)

    def begin(self) -> None:
        """Begin to see calls."""
        self._handle = register_module_forward_hook(self._called)
        self._handles = [
            register_optimizer_step_pre_hook(lambda of, *_: self._step(of, False)),
            register_optimizer_step_post_hook(lambda of, *_: self._step(of, True)),
        ]
        self._backward, self._log_prob = th.autograd.backward, Categorical.log_prob
        th.autograd.backward = self._gradient
        calls = self

        def log_prob(law: Categorical, value: th.Tensor) -> th.Tensor:
            found = calls._log_prob(law, value)  # type: ignore[no-untyped-call]
            if not calls.busy and not calls.away and len(calls.draws) < MOST:
                calls.draws.append(Draw(law.logits, value, found, found.grad_fn))
            return found

        Categorical.log_prob = log_prob  # type: ignore[method-assign]

    def end(self) -> None:
        """Put everything back."""
        for handle in (self._handle, *self._handles):
            handle.remove()
        if self._handles:
            th.autograd.backward = self._backward
            Categorical.log_prob = self._log_prob  # type: ignore[method-assign]
        self._handles = []

    def look(self, *, away: bool) -> None:
        """See no calls of networks any more, which costs no time; or see them again."""
        if away and not self.away:
            self._handle.remove()
        elif self.away and not away:
            self._handle = register_module_forward_hook(self._called)
        self.away = away

    def forget(self) -> None:
        """Forget all calls so far."""
        self.kept, self.drops = None, False
        self.seen, self.fed, self.draws = [], [], []

    def move(self) -> None:
        """Forget the calls before a move, but for those with a gradient."""
        if self.away and not (self.seen or self.fed):
            return
        kept = self.kept or Calls(self.before, self.stepped)
        if len(kept.seen) < KEPT and all(each.rows.dim() <= 2 for each in self.fed):
            kept.seen += [each for each in self.seen if each.output.requires_grad]
            kept.fed += [each for each in self.fed if each.learned]
            kept.draws += [each for each in self.draws if each.node is not None]
        self.forget()
        self.kept = kept

    def all_of(self, name: str) -> list[Any]:
        """Return the calls of a kind, those that were kept over moves first."""
        return [*getattr(self.kept, name, ()), *getattr(self, name)]

    def _called(self, module: th.nn.Module, inputs: Any, output: Any) -> None:
        parts = output if isinstance(output, tuple) else (output,)
        tensors = (each for each in parts if isinstance(each, th.Tensor))
        if self.busy or any(map(is_functorch_wrapped_tensor, tensors)):
            return  # the numbers of a tensor inside of vmap cannot be read
        began = time.perf_counter()
        with contextlib.suppress(Exception):  # the program goes on
            self._take(module, inputs, output, parts)
        self.spent += time.perf_counter() - began

    def _take(self, module: th.nn.Module, inputs: Any, output: Any, parts: tuple[Any, ...]) -> None:
        self.layers |= isinstance(module, LAYERS)
        self.drops |= isinstance(module, LAYERS) and module.training
        self.recurrent |= isinstance(module, th.nn.RNNBase)
        if isinstance(module, WEIGHTED) and len(self.fed) < MOST:
            self.fed.append(Fed(module, inputs[0], output.grad_fn))
        for number, part in enumerate(parts):
            if isinstance(part, th.Tensor) and 1 <= part.dim() <= 2 and len(self.seen) < MOST:
                owner = module if part is output else self._part(module, number)
                if self.seen and self.seen[-1].output is output:  # an outer module gives the same
                    self.seen.pop()
                self.seen.append(Call(owner, part, len(self.fed), inputs))
                self.modules[id(owner)] = owner

    def _part(self, network: th.nn.Module, number: int) -> "Part":
        key = id(network), number
        if key not in self._parts:
            self._parts[key] = Part(network, number)
        return self._parts[key]

    def entered(self, count: int) -> th.Tensor | None:
        """Return what has entered the first network with some rows at last, (row, ...)."""
        found = [each for each in self.fed if not each.single and len(each.rows) == count]
        if count == 1 and not found:
            found = [each._replace(rows=each.table) for each in self.fed if each.single]
        same = [each.rows for each in found if each.layer is found[0].layer]
        return same[-1] if same else None

    def rows_above(self, node: Any) -> th.Tensor | None:
        """Return what has entered the first layer above a node of the graph, (row, ...)."""
        own = nodes_above(node)
        return next((each.table for each in self.all_of("fed") if each.node in own), None)

    def rows_of(self, call: Call) -> th.Tensor | None:
        """Return what has entered a network in a call, (row, ...); None if it is not known."""
        found = self.rows_above(call.output.grad_fn)
        return self._rows_within(call) if found is None else found

    def _rows_within(self, call: Call) -> th.Tensor | None:
        """Return what has entered the first layer of a module in a call, (row, ...)."""
        layers, found = set(call.module.modules()), None
        for each in reversed(self.fed[: call.end]):
            if each.layer not in layers:
                break
            layers.remove(each.layer)  # which belongs to the call before if it comes again
            found = each.table
        return found

    def whole(self, call: Call, entered: th.Tensor | None) -> th.nn.Module | None:
        """Return the network of a call, after those that have given its input one after another.

        None if the first one was given other numbers than have entered: what stands between them,
        such as a function, is not known, and its output may have the size of an observation.
        """
        parts = [call]
        for each in reversed([*takewhile(lambda other: other is not call, self.seen)]):
            if parts[0].inputs and each.output is parts[0].inputs[0]:
                parts.insert(0, each)
        given = next((rows for rows in map(self._rows_within, parts) if rows is not None), None)
        if given is None or entered is None or not th.equal(given, entered):
            return None
        return th.nn.Sequential(*(each.module for each in parts)) if parts[1:] else call.module

    def mixes(self, call: Call) -> bool:
        """Whether a copy of a network says something else of the first row of a call alone."""
        given, count, own = call.inputs, len(call.output), numbers_of(call.output)
        hooked = any(
            each._forward_hooks or each._forward_pre_hooks for each in call.module.modules()
        )
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

    def _step(self, optimizer: th.optim.Optimizer, made: bool) -> None:
        if not self.busy:
            self.stepped(optimizer, made)

    def _gradient(self, tensors: Any, *args: Any, **options: Any) -> None:
        def compute(keep: bool) -> None:
            names = ("grad_tensors", "retain_graph", "create_graph")[: len(args)]
            given = dict(zip(names, args, strict=True)) | options
            if keep:
                given["retain_graph"] = True
            self._backward(tensors, **given)

        loss = tensors[0] if isinstance(tensors, tuple | list) and len(tensors) == 1 else tensors
        if self.busy or not isinstance(loss, th.Tensor) or loss.numel() != 1:
            compute(False)
        elif used := self.before(loss, compute):
            kept = Calls(self.before, self.stepped)  # for the next loss, of another network
            seen, fed, draws = map(self.all_of, ("seen", "fed", "draws"))
            kept.seen = [each for each in seen if _is_left(each.output.grad_fn, used)]
            kept.fed = [each for each in fed if _is_left(each.node, used)]
            kept.draws = [each for each in draws if _is_left(each.node, used)]
            self.forget()
            self.kept = kept
        else:
            self.forget()


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


def _is_left(node: Any, used: Container[Any]) -> bool:
    """Whether results with a gradient are not among those of a loss."""
    return node is not None and node not in used


def numbers_of(tensor: th.Tensor) -> Numbers:
    """Return a copy of a tensor as an array."""
    found = tensor.detach().cpu()
    return np.array(found.float().numpy() if found.is_floating_point() else found.numpy())
