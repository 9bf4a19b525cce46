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

    nodes: dict[Any, Node] = field(default_factory=dict)

    @classmethod
    def of(cls, loss: th.Tensor) -> "LossGraph":
        """Read the graph of a loss, before its gradients are computed."""
        graph, todo = cls(), [loss.grad_fn]
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

    def best(self, count: int) -> th.Tensor | None:
        """Return the actions whose values are the largest, (row,), if the loss takes these."""
        for node in self.named("Max"):
            found = node.kept.get("indices")
            if found is not None and found.numel() == count:
                return th.as_tensor(found).reshape(count)
        return None

    def ratio(self, count: int) -> tuple[th.Tensor, bool] | None:
        """Return exponentials of differences, (row,), and whether the new number is taken away."""
        for node in self.named("Exp"):
            found = node.tensor("result", count)
            if found is not None:
                return found, self._turned(node.inputs[0])
        return None

    def choices(self, count: int) -> list[str]:
        """Return the operations that take one of two numbers of each row that come from the ratio.

        They are "Minimum" and "Maximum".
        """
        return [
            node.name.removesuffix("Backward0")
            for node in self.named("Minimum", "Maximum")
            if node.tensor("self", count) is not None
            and any(below.name == "ExpBackward0" for below in self._below(node))
        ]

    def _below(self, node: Node) -> Iterator[Node]:
        """Yield all nodes between a node and the parameters."""
        todo, seen = list(node.inputs), set[Any]()
        for each in todo:  # which grows
            if each in self.nodes and each not in seen:
                seen.add(each)
                yield self.nodes[each]
                todo += self.nodes[each].inputs

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

    def borders(self, count: int) -> list[tuple[float, float]]:
        """Return the borders at which numbers of each row are clipped, low and high."""
        found = []
        for node in self.named("Clamp"):
            low, high = node.kept.get("min"), node.kept.get("max")
            if node.tensor("self", count) is not None and low is not None and high is not None:
                found.append((float(low), float(high)))
        return found

    def wanted(self, values: th.Tensor) -> tuple[th.Tensor, str] | None:
        """Return what values of each row are driven to, (row,), and the kind of the loss.

        The kind is "mse", "huber", or "broadcast" if each value was compared with all targets.
        """
        count, own = values.numel(), values.detach().reshape(-1)
        for node in self.named("MseLoss", "SmoothL1Loss", "HuberLoss"):
            first, second = node.tensor("self", count), node.tensor("target", count)
            kind = "mse" if node.name.startswith("Mse") else "huber"
            for one, other in ((first, second), (second, first)):
                if one is not None and other is not None and th.equal(one, own):
                    return other, kind
            pair: list[Any] = [node.kept.get("self"), node.kept.get("target")]
            if all(isinstance(each, th.Tensor) and each.shape == (count, count) for each in pair):
                rows = [each.detach()[0] for each in pair if not th.equal(each[:, 0], own)]
                return (rows or [own])[0], "broadcast"
        for node in sorted(self.named("Pow", "Mul"), key=self._is_clipped):
            if node.name.startswith("Pow"):
                squared = node.kept.get("exponent") == 2
            else:
                squared = len(set(node.inputs)) == 1
            gap = node.kept.get("self")
            if not squared or gap is None or not node.inputs[0]:
                continue
            sign = -1.0 if self._turned(node.inputs[0]) else 1.0
            if gap.numel() == count:
                return own - sign * gap.detach().reshape(count), "mse"
            if gap.shape == (count, count):
                return own[0] - sign * gap.detach()[0], "broadcast"
        return None

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
