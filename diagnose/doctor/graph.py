"""The graph of a loss: the constants that enter it, and what they do there.

PyTorch keeps in each node of the graph what its gradient needs. The index of a gather is the
actions, a factor of the ratio the advantages, the target of a squared error the returns, and so on:
roles are found by what is computed, whatever names a program has for it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch as th
from torch.autograd.graph import GradientEdge

from .calls import Draw, nodes_above, parameters_above

#: Errors that a node of the graph raises for a tensor that it has not kept.
NOT_KEPT = (RuntimeError, AttributeError, NotImplementedError)
#: Operations that give logarithms of probabilities.
LOGS = {"Log", "LogSoftmax"}
#: Operations that leave numbers as they are, up to their sign.
SHAPES = ("View", "UnsafeView", "Squeeze", "Unsqueeze", "Reshape", "T", "Neg")
#: The least probability that has a logarithm, and the largest error of numbers by rounding.
TINY, NEAR = 1e-30, 1e-5


@dataclass(frozen=True, eq=False)
class Node:
    """A node of the graph."""

    kind: str  # the operation, such as "Mul"
    own: Any  # the node of PyTorch
    inputs: tuple[Any, ...]  # nodes of PyTorch; None where no gradient flows

    def kept(self, name: str) -> Any:
        """Return a tensor or a number that the node has kept for its gradient, or None."""
        try:
            return getattr(self.own, f"_saved_{name}", None)
        except NOT_KEPT:
            return None

    def tensor(self, name: str, count: int) -> th.Tensor | None:
        """Return a kept tensor of one number in each row, (row,); None if there is none."""
        found = self.kept(name)
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
        nodes = {}
        for node in nodes_above(loss.grad_fn):
            kind = node.name().rstrip("0123456789").removesuffix("Backward")
            nodes[node] = Node(kind, node, tuple(each for each, _ in node.next_functions))
        return cls(loss, nodes)

    def named(self, *names: str) -> Iterator[Node]:
        """Yield the nodes of some operations, such as "Mul"."""
        return (node for _, node in self._keyed(*names))

    def _keyed(self, *names: str) -> Iterator[tuple[Any, Node]]:
        """Yield the nodes of some operations, and those of PyTorch."""
        return ((key, node) for key, node in self.nodes.items() if node.kind in names)

    @property
    def parameters(self) -> list[th.Tensor]:
        """The parameters at the leaves."""
        return parameters_above(self.loss)

    def slopes(self, of: list[th.Tensor] | list[GradientEdge]) -> list[th.Tensor]:
        """Return the derivatives of the loss by tensors, or by results of nodes."""
        return list(th.autograd.grad(self.loss, of, retain_graph=True))

    def has(self, tensor: th.Tensor) -> bool:
        """Whether the loss depends on a tensor."""
        return tensor.grad_fn in self.nodes

    def actions(self, output: th.Tensor) -> th.Tensor | None:
        """Return the actions of which a loss takes the values of a network, (row,).

        They are gathered, or multiplied by ones where others are by zeros, or the only ones whose
        targets are not the values themselves.
        """
        found = next((actions for _, actions in self._gathered(output)), None)
        if found is None and self._is_law(output):
            return None
        for node in self.named("Mul") if found is None else ():
            for ones in (node.kept("self"), node.kept("other")):
                if getattr(ones, "shape", ()) == output.shape and _single(ones == 1, ones != 0):
                    return ones.argmax(dim=1)
        if found is None and (wanted := self.wanted(output)):
            gaps = (wanted[0] - output.detach().reshape(-1)).reshape(output.shape).abs()
            moved = gaps > NEAR * max(1.0, float(output.detach().abs().max()))
            return gaps.argmax(dim=1) if _single(moved, moved) else None
        return found

    def _gathered(self, output: th.Tensor) -> Iterator[tuple[Any, th.Tensor]]:
        """Yield the nodes that gather an entry of each row, and the numbers of the entries."""
        count = len(output)
        for key, node in self._keyed("Gather", "Index", "NllLoss", "NllLossForward"):
            kept = [node.kept(name) for name in ("index", "target")]
            kept += list(node.kept("indices") or ())[::-1]
            given = (each for each in kept if isinstance(each, th.Tensor))
            for each in (index for index in given if index.numel() == count):
                if output.grad_fn in nodes_above(key):
                    yield key, each.detach().reshape(count).long()

    def _is_law(self, output: th.Tensor) -> bool:
        """Whether a network's results are probabilities or logits."""
        kinds = {node.kind for node in self.nodes.values() if output.grad_fn in node.inputs}
        return not {self.nodes[output.grad_fn].kind, *kinds}.isdisjoint({"Softmax", "LogSoftmax"})

    def drawn(self, output: th.Tensor) -> Draw | None:
        """Return the draws from a network's probabilities or logits, if entries are gathered."""
        if not self._is_law(output):
            return None
        own = self.nodes[output.grad_fn].kind
        logs = output.clamp_min(TINY).log() if own == "Softmax" else output.log_softmax(-1)
        for key, actions in self._gathered(output):
            if self.nodes[key].kind.startswith("Nll"):
                continue
            own_logs = logs.gather(1, actions[:, None]).squeeze(1)
            if {each.kind for each in map(self.nodes.get, nodes_above(key)) if each} & LOGS:
                return Draw(logs, actions, own_logs, key)
            logs_of = (each for each, _ in self._keyed("Log") if key in nodes_above(each))
            log = next(logs_of, None)
            scale = own_logs.detach().exp() if log is None else 1.0
            return Draw(logs, actions, own_logs, log or key, scale)
        return None

    def bests(self, values: th.Tensor) -> th.Tensor | None:
        """Return the actions of the largest values, (row,), if the loss takes these values."""
        for node in self.named("Max"):
            index = node.kept("indices")
            own = node.inputs[0] is values.grad_fn
            if own and isinstance(index, th.Tensor) and index.numel() == len(values):
                return index.detach().reshape(-1).long()
        return None

    def ratios(self, node: Any, probabilities: th.Tensor) -> list[tuple[th.Tensor, bool]]:
        """Return the ratios of PPO: exponentials of a number in each row, and quotients.

        Args:
            node: that of the probabilities, or of their logarithms.
            probabilities: of the actions, (row,).

        Returns:
            The ratios, (row,), and whether the new probability is the lower number of a quotient;
            these ratios come last.
        """
        count, found = len(probabilities), list[tuple[th.Tensor, bool]]()
        for each in self.named("Div"):
            upper, lower = each.tensor("self", count), each.tensor("other", count)
            if lower is not None and each.inputs[1] is None:
                found += [(probabilities / lower, False)] * (node in nodes_above(each.inputs[0]))
            elif upper is not None and each.inputs[0] is None:
                found += [(upper / probabilities, True)] * (node in nodes_above(each.inputs[1]))
        for each in self.named("Exp"):
            result = each.tensor("result", count)
            if result is not None and not th.equal(result, probabilities):
                found.append((result, self._subtracted(each.inputs[0])))
        return sorted(found, key=lambda each: each[1])

    def _subtracted(self, node: Any) -> bool:
        """Whether what has a gradient is subtracted on the way to a node."""
        here, turned = self.nodes.get(node), False
        while here is not None:
            name = here.kind
            if name == "Neg" or (name in ("Sub", "Rsub") and here.inputs[0] is None):
                turned = not turned
            if name not in ("Neg", "Sub", "Rsub", "View", "Squeeze", "Unsqueeze", "Clamp"):
                return turned
            here = self.nodes.get(next((each for each in here.inputs if each is not None), None))
        return turned

    def multiplied(self, one: Any, others: set[Any]) -> bool:
        """Whether what depends on one node is multiplied by what depends on others alone."""
        for node in self.named("Mul") if others else ():
            first, second = (nodes_above(each) for each in node.inputs)
            for own, factor in ((first, second), (second, first)):
                if one in own and one not in factor and not others.isdisjoint(factor):
                    return True
        return False

    def outer(self, values: th.Tensor) -> bool:
        """Whether an error has numbers of all pairs of rows, of values (row, 1) less (row,)."""
        count, own = values.numel(), values.detach().reshape(-1, 1)
        gaps = []
        for node in self.named("MseLoss", "SmoothL1Loss", "HuberLoss", "Pow", "Mul"):
            pair: list[Any] = [node.kept(key) for key in ("self", "target")]
            kept = [each.detach() for each in pair if getattr(each, "shape", ()) == (count, count)]
            if node.kind.startswith(("Pow", "Mul")):  # errors, which are values less targets
                targets = [(own - sign * each).T for each in kept[:1] for sign in (1.0, -1.0)]
                gaps += [each - each[:, :1] for each in targets]
            else:  # values, or targets
                gaps += [each - own for each in kept]
        near = (float(each.abs().max()) for each in gaps if count > 1)
        return any(far <= NEAR * max(1.0, float(own.abs().max())) for far in near)

    @property
    def softmax_twice(self) -> bool:
        """Whether logits are probabilities, of which a softmax is taken again."""
        for node in self.named("Logsumexp", "LogSoftmax"):
            inner = self.nodes.get(node.inputs[0])
            if inner is not None and inner.kind.startswith("Softmax"):
                return True
        return False

    def choices(self, probabilities: Any, count: int) -> list[str]:
        """Return the operations that take one of two numbers of each row that come from a node.

        They are "Minimum" and "Maximum".
        """
        return [
            node.kind
            for node in self.named("Minimum", "Maximum")
            if node.tensor("self", count) is not None
            and any(probabilities in nodes_above(each) for each in node.inputs)
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
            tensor, low, high = node.tensor("self", count), node.kept("min"), node.kept("max")
            if tensor is not None and low is not None and high is not None:
                found.append((tensor, float(low), float(high)))
        return found

    def wanted(self, values: th.Tensor) -> tuple[th.Tensor, str] | None:
        """Return what values of each row are driven to, (row,), and the loss, "mse" or "huber"."""
        own = values.detach().reshape(-1)
        for node, pair in self._kept(
            "self", "target", values, "MseLoss", "SmoothL1Loss", "HuberLoss"
        ):
            kind = "mse" if node.kind.startswith("Mse") else "huber"
            for one, other in (pair, pair[::-1]):
                if one is not None and other is not None and th.equal(one, own):
                    return other, kind
        squares = self._kept("self", "self", values, "Pow", "Mul")
        for node, (gap, _) in sorted(squares, key=lambda each: self._is_clipped(each[0])):
            squared = node.kept("exponent") == 2 or node.kind.startswith("Mul")
            twice = node.kind.startswith("Pow") or (len(set(node.inputs)) == 1)
            clipped = self._directly(node.inputs[0], "Clamp")
            sign = self._sign(node.inputs[0], self._known(values.grad_fn))
            if gap is not None and not clipped and squared and twice and sign:
                return own - sign * gap, "mse"
        return None

    def _kept(
        self, one: str, other: str, values: th.Tensor, *names: str
    ) -> Iterator[tuple[Node, tuple[th.Tensor | None, th.Tensor | None]]]:
        """Yield nodes of some operations, and two kept tensors of a number in each row.

        Operations of one number each come together if values are joined, one of each operation.
        """
        nodes, count = [*self._keyed(*names)], values.numel()
        for _, node in nodes:
            yield node, (node.tensor(one, count), node.tensor(other, count))
        if count == 1 or values.grad_fn is None or values.grad_fn in self.nodes:
            return
        own: dict[Any, Node] = {}
        for key, node in nodes:
            own |= dict.fromkeys(nodes_above(key), node)
        parts = [self._known(each) for each, _ in values.grad_fn.next_functions]
        found = [own[each] for each in parts if each in own]
        pairs = [(node.tensor(one, 1), node.tensor(other, 1)) for node in found]
        whole = [(a, b) for a, b in pairs if a is not None and b is not None]
        if len(whole) == len(parts) == count:
            first, second = map(th.cat, zip(*whole, strict=True))
            yield found[0], (first, second)

    def _known(self, node: Any) -> Any:
        """Return the first node of the graph on a way up from a node; None if there is none."""
        while node is not None and node not in self.nodes:
            node = next((each for each, _ in node.next_functions), None)
        return node

    def _directly(self, node: Any, name: str) -> bool:
        """Whether a node is of an operation, but for its shape."""
        here = self.nodes.get(node)
        while here is not None and here.kind.startswith(("View", "Squeeze", "Unsqueeze")):
            here = self.nodes.get(here.inputs[0])
        return here is not None and here.kind.startswith(name)

    def _is_clipped(self, node: Node) -> bool:
        """Whether numbers are clipped on their way to a node, after their network."""
        todo = dict.fromkeys(node.inputs)
        for each in (ways := [*todo]):  # which grows
            own = self.nodes.get(each)
            if own is not None and own.kind.startswith("Clamp"):
                return True
            if own is not None and own.kind.startswith(("Sub", "Add", "Neg", "View", "Squeeze")):
                new = [above for above in own.inputs if above not in todo]
                todo |= dict.fromkeys(new)
                ways += new
        return False

    def _sign(self, node: Any, values: Any) -> float:
        """Return the sign of a node's values in a difference from others, 0 in another result."""
        here, sign = self.nodes.get(node), 1.0
        while here is not None and here.kind in SHAPES:
            sign *= -1.0 if here.kind == "Neg" else 1.0
            here = self.nodes.get(here.inputs[0])
        if here is None or here.kind not in ("Sub", "Rsub"):
            return 0.0
        if here.kind == "Rsub":  # a number less a tensor
            return -sign
        left, right = (values in nodes_above(each) for each in here.inputs)
        return sign * (left - right)


def _single(right: th.Tensor, other: th.Tensor) -> bool:
    """Whether each row has one right entry, and no other ones."""
    return bool((right.sum(dim=1) == 1).all() and (other.sum(dim=1) == 1).all())
