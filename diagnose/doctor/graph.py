"""The graph of a loss: the constants that enter it, and what they do there.

PyTorch keeps in each node of the graph what its gradient needs. The index of a gather is the
actions, a factor of the ratio the advantages, the target of a squared error the returns, and so on:
roles are found by what is computed, whatever names a program has for it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch as th

#: Errors that a node of the graph raises for what it has not kept.
NOT_KEPT = (RuntimeError, AttributeError, NotImplementedError)


@dataclass(frozen=True, eq=False)
class Node:
    """A node of the graph."""

    name: str
    kept: dict[str, Any]
    inputs: tuple[Any, ...]  # nodes of PyTorch; None where no gradient flows

    def tensor(self, name: str, count: int) -> th.Tensor | None:
        """Return a kept tensor of one number in each row, (row,); None if there is none."""
        found = self.kept.get(name)
        if not isinstance(found, th.Tensor) or found.numel() != count:
            return None
        return found.detach().reshape(count)


@dataclass
class LossGraph:
    """All nodes above the parameters of a loss, those next to the loss first."""

    loss: th.Tensor
    nodes: dict[Any, Node] = field(default_factory=dict)

    @classmethod
    def of(cls, loss: th.Tensor) -> "LossGraph":
        """Read the graph of a loss, before its gradients are computed."""
        graph, todo = cls(loss), [loss.grad_fn]
        for node in todo:  # which grows
            if node is not None and node not in graph.nodes:
                inputs = tuple(each for each, _ in node.next_functions)
                graph.nodes[node] = Node(node.name(), _kept(node), inputs)
                todo += inputs
        return graph

    def named(self, *names: str) -> Iterator[Node]:
        """Yield the nodes of some operations, such as "Mul"."""
        for node in self.nodes.values():
            if node.name.rstrip("0123456789").removesuffix("Backward") in names:
                yield node

    @property
    def parameters(self) -> list[th.Tensor]:
        """The parameters at the leaves."""
        return [node.variable for node in self.nodes if hasattr(node, "variable")]

    def slopes(self, tensors: list[th.Tensor]) -> list[th.Tensor]:
        """Return the derivatives of the loss by some tensors, each of the shape of the tensor."""
        return list(th.autograd.grad(self.loss, tensors, retain_graph=True, materialize_grads=True))

    def has(self, tensor: th.Tensor) -> bool:
        """Whether the loss depends on a tensor."""
        return tensor.grad_fn in self.nodes

    def actions(self, count: int) -> th.Tensor | None:
        """Return the actions by which values or logarithms were gathered, (row,)."""
        for node in self.named("Gather", "Index", "NllLoss", "NllLossForward"):
            kept = [node.kept.get(key) for key in ("index", "target")]
            kept += list(node.kept.get("indices") or ())[::-1]
            for each in kept:
                if isinstance(each, th.Tensor) and each.numel() == count:
                    return each.detach().reshape(count).long()
        return None

    def bests(self, values: th.Tensor) -> th.Tensor | None:
        """Return the actions of the largest values, (row,), if the loss takes these values."""
        for node in self.named("Max"):
            index = node.kept.get("indices")
            own = node.inputs[0] is values.grad_fn
            if own and isinstance(index, th.Tensor) and index.numel() == len(values):
                return index.detach().reshape(-1).long()
        return None

    def ratios(self, count: int) -> list[tuple[th.Tensor, bool]]:
        """Return exponentials of one number in each row, such as the ratios of PPO.

        The truth value says whether the new logarithm is subtracted; these ratios come last.
        """
        found = [
            (result, self._subtracted(node.inputs[0]))
            for node in self.named("Exp")
            if (result := node.tensor("result", count)) is not None
        ]
        return sorted(found, key=lambda each: each[1])

    def _subtracted(self, node: Any) -> bool:
        """Whether what has a gradient is subtracted on the way to a node."""
        here, turned = self.nodes.get(node), False
        while here is not None:
            name = here.name.rstrip("0123456789").removesuffix("Backward")
            if name == "Neg" or (name in ("Sub", "Rsub") and here.inputs[0] is None):
                turned = not turned
            if name not in ("Neg", "Sub", "Rsub", "View", "Squeeze", "Unsqueeze", "Clamp"):
                return turned
            here = self.nodes.get(next((each for each in here.inputs if each is not None), None))
        return turned

    def multiplied(self, one: Any, others: set[Any]) -> bool:
        """Whether what depends on one node is multiplied by what depends on others alone."""
        for node in self.named("Mul") if others else ():
            first, second = (self._above(each) for each in node.inputs)
            for own, factor in ((first, second), (second, first)):
                if one in own and one not in factor and others & factor:
                    return True
        return False

    def _above(self, node: Any) -> set[Any]:
        """Return a node and all nodes above it."""
        found, todo = {node} - {None}, [node]
        for each in todo:  # which grows
            own = self.nodes.get(each)
            new = [above for above in (own.inputs if own else ()) if above and above not in found]
            found.update(new)
            todo += new
        return found

    def outer(self, values: th.Tensor) -> bool:
        """Whether an error has numbers of all pairs of rows, of values (row, 1) less (row,)."""
        count, own = values.numel(), values.detach().reshape(-1, 1)
        squares = []
        for node in self.named("MseLoss", "SmoothL1Loss", "HuberLoss", "Pow", "Mul"):
            pair: list[Any] = [node.kept.get(key) for key in ("self", "target")]
            kept = [each.detach() for each in pair if getattr(each, "shape", ()) == (count, count)]
            if node.name.startswith(("Pow", "Mul")):  # errors, which are values less targets
                squares += [(own - sign * each).T for each in kept[:1] for sign in (1.0, -1.0)]
            else:  # values, or targets
                squares += [each - own for each in kept]
        near = (float((each - each[:, :1]).abs().max()) for each in squares if count > 1)
        return any(far <= 1e-5 * max(1.0, float(own.abs().max())) for far in near)

    @property
    def softmax_twice(self) -> bool:
        """Whether logits are probabilities, of which a softmax is taken again."""
        for node in self.named("Logsumexp", "LogSoftmax"):
            inner = self.nodes.get(node.inputs[0])
            if inner is not None and inner.name.startswith("SoftmaxBackward"):
                return True
        return False

    def choices(self, count: int) -> list[str]:
        """Return the operations that take one of two numbers of each row that come from the ratio.

        They are "Minimum" and "Maximum".
        """
        ratios = {key for key, node in self.nodes.items() if node.name == "ExpBackward0"}
        return [
            node.name.removesuffix("Backward0")
            for node in self.named("Minimum", "Maximum")
            if node.tensor("self", count) is not None
            and any(ratios & self._above(each) for each in node.inputs)
        ]

    def factors(self, count: int) -> list[th.Tensor]:
        """Return the constants by which numbers of each row are multiplied, (row,)."""
        found = []
        for node in self.named("Mul"):
            for own, other in (("self", 1), ("other", 0)):
                tensor = node.tensor(own, count)
                if tensor is not None and other < len(node.inputs) and node.inputs[other]:
                    constant = node.inputs[1 - other] is None
                    found += [tensor] * constant
        return found

    def clamped(self, count: int) -> list[tuple[th.Tensor, float, float]]:
        """Return numbers of each row that are clipped, (row,), and the two borders."""
        found = []
        for node in self.named("Clamp"):
            tensor, low, high = node.tensor("self", count), node.kept["min"], node.kept["max"]
            if tensor is not None and low is not None and high is not None:
                found.append((tensor, float(low), float(high)))
        return found

    def wanted(self, values: th.Tensor) -> tuple[th.Tensor, str] | None:
        """Return what values of each row are driven to, (row,), and the loss, "mse" or "huber"."""
        count, own = values.numel(), values.detach().reshape(-1)
        for node in self.named("MseLoss", "SmoothL1Loss", "HuberLoss"):
            pair = node.tensor("self", count), node.tensor("target", count)
            kind = "mse" if node.name.startswith("Mse") else "huber"
            for one, other in (pair, pair[::-1]):
                if one is not None and other is not None and th.equal(one, own):
                    return other, kind
        squares = sorted(self.named("Pow", "Mul"), key=self._is_clipped)
        for node in squares:
            gap = node.tensor("self", count)
            squared = node.kept.get("exponent") == 2 or node.name.startswith("Mul")
            twice = node.name.startswith("Pow") or (len(set(node.inputs)) == 1)
            clipped = self._directly(node.inputs[0], "Clamp")
            if gap is not None and not clipped and squared and twice and node.inputs[0]:
                sign = -1.0 if self._turned(node.inputs[0]) else 1.0
                return own - sign * gap, "mse"
        return None

    def _directly(self, node: Any, name: str) -> bool:
        """Whether a node is of an operation, but for its shape."""
        here = self.nodes.get(node)
        while here is not None and here.name.startswith(("View", "Squeeze", "Unsqueeze")):
            here = self.nodes.get(here.inputs[0])
        return here is not None and here.name.startswith(name)

    def _is_clipped(self, node: Node) -> bool:
        """Whether numbers are clipped on their way to a node, after their network."""
        todo = list(node.inputs)
        for each in todo:  # which grows
            own = self.nodes.get(each)
            if own is not None and own.name.startswith("Clamp"):
                return True
            if own is not None and own.name.startswith(("Sub", "Add", "Neg", "View", "Squeeze")):
                todo += own.inputs
        return False

    def _turned(self, node: Any) -> bool:
        """Whether a difference has the numbers with a gradient on its right side."""
        here = self.nodes.get(node)
        return bool(here and here.name.startswith("Sub") and here.inputs[0] is None)


def _kept(node: Any) -> dict[str, Any]:
    found = {}
    for name in dir(node):
        if name.startswith("_saved_"):
            try:
                found[name.removeprefix("_saved_")] = getattr(node, name)
            except NOT_KEPT:
                continue
    return found
