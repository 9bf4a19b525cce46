"""The graph of a loss: the constants that enter it, and what they do there.

PyTorch keeps in each node of the graph what its gradient needs. The index of a gather is the
actions, a factor of the ratio the advantages, the target of a squared error the returns, and so on:
roles are found by what is computed, whatever names a program has for it.
"""

from collections.abc import Iterator
from typing import Any

import torch as th
from torch.autograd.graph import GradientEdge

from .calls import Draw, nodes_above, parameters_above

#: Errors that a node of the graph raises for a tensor that it has not kept.
NOT_KEPT = (RuntimeError, AttributeError, NotImplementedError)
#: Operations that give an error, and the squares of given errors.
ERRORS, SQUARES = ("MseLoss", "SmoothL1Loss", "HuberLoss"), ("Pow", "Mul")
#: Operations that give logarithms of probabilities.
LOGS = {"Log", "LogSoftmax"}
#: Operations that leave numbers as they are, up to their sign.
SHAPES = ("View", "UnsafeView", "Squeeze", "Unsqueeze", "Reshape", "T", "Neg")
#: The least probability that has a logarithm, and the largest error of numbers by rounding.
TINY, NEAR = 1e-30, 1e-5


class Node:
    """A node of the graph."""

    def __init__(self, own: Any) -> None:
        self.own = own  # the node of PyTorch
        self.kind = own.name().rstrip("0123456789").removesuffix("Backward")  # such as "Mul"
        self.inputs = [each for each, _ in own.next_functions]  # None where no gradient flows

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


class LossGraph:
    """All nodes above the parameters of a loss, those next to the loss first.

    It is made before the gradients of the loss are added to those of the parameters.
    """

    def __init__(self, loss: th.Tensor) -> None:
        self._loss = loss
        self.nodes = {node: Node(node) for node in nodes_above(loss.grad_fn)}
        self.parameters = parameters_above(loss)  # at the leaves
        #: Earlier gradients, by parameter.
        self.before = {e: e.grad.clone() for e in self.parameters if e.grad is not None}

    def slopes(self, of: list[th.Tensor] | list[GradientEdge]) -> list[th.Tensor]:
        """Return the derivatives of the loss by tensors, or by results of nodes."""
        return list(th.autograd.grad(self._loss, of, retain_graph=True))

    def has(self, tensor: th.Tensor) -> bool:
        """Whether the loss depends on a tensor."""
        return tensor.grad_fn in self.nodes

    def _named(self, *kinds: str) -> Iterator[Node]:
        return (node for node in self.nodes.values() if node.kind in kinds)

    def actions(self, output: th.Tensor) -> th.Tensor | None:
        """Return the actions of which a loss takes the values of a network, (row,).

        They are taken out of each row, or are the only ones whose targets are not the values.
        """
        for _, actions in self._gathered(output):
            return actions
        if wanted := self.wanted(output):
            values = output.detach()
            gaps = (wanted[0].reshape(values.shape) - values).abs()
            moved = gaps > NEAR * max(1.0, float(values.abs().max()))
            return gaps.argmax(dim=1) if _single(moved, moved) else None
        return None

    def _gathered(self, output: th.Tensor) -> Iterator[tuple[Node, th.Tensor]]:
        """Yield the nodes that take an entry out of each row, and the numbers of the entries.

        Entries are gathered, or multiplied by ones where others are by zeros.
        """
        count = len(output)
        for node in self._named("Gather", "Index", "NllLoss", "NllLossForward"):
            kept = [node.kept("index"), node.kept("target"), *(node.kept("indices") or ())[::-1]]
            for each in kept:
                right = isinstance(each, th.Tensor) and each.numel() == count
                if right and output.grad_fn in nodes_above(node.own):
                    yield node, each.detach().reshape(count).long()
        products = (each for each in self._named("Mul") if output.grad_fn in nodes_above(each.own))
        for node in products:
            for ones in (node.kept("self"), node.kept("other")):
                if getattr(ones, "shape", ()) == output.shape and _single(ones == 1, ones != 0):
                    sums = (each for each in self._named("Sum") if node.own in each.inputs)
                    yield next(sums, node), ones.argmax(dim=1)

    def drawn(self, output: th.Tensor) -> Draw | None:
        """Return the draws from a network's probabilities or logits, if entries are taken out."""
        kinds = {node.kind for node in self.nodes.values() if output.grad_fn in node.inputs}
        law = self.nodes[output.grad_fn].kind == "Softmax"
        if {self.nodes[output.grad_fn].kind, *kinds}.isdisjoint({"Softmax", "LogSoftmax"}):
            return None
        logs = output.clamp_min(TINY).log() if law else output.log_softmax(-1)
        for node, actions in self._gathered(output):
            if node.kind.startswith("Nll") or node.kind == "Mul":
                continue
            own = logs.gather(1, actions[:, None]).squeeze(1)
            above = (self.nodes.get(each) for each in nodes_above(node.own))
            if any(each is not None and each.kind in LOGS for each in above):
                return Draw(logs, actions, own, node.own)
            for log in self._named("Log"):
                if node.own in nodes_above(log.own):
                    return Draw(logs, actions, own, log.own)
            return Draw(logs, actions, own, node.own, own.detach().exp())
        return None

    def bests(self, values: th.Tensor) -> th.Tensor | None:
        """Return the actions of the largest values, (row,), if the loss takes these values."""
        for node in self._named("Max"):
            index = node.tensor("indices", len(values))
            if index is not None and node.inputs[0] is values.grad_fn:
                return index.long()
        return None

    def ratio(self, node: Any, probabilities: th.Tensor) -> tuple[th.Tensor, bool] | None:
        """Return the ratios of PPO: exponentials of a number in each row, or quotients.

        Args:
            node: that of the probabilities, or of their logarithms.
            probabilities: of the actions, (row,).

        Returns:
            The ratios, (row,), and whether the new probability is the lower number of a quotient,
            if no others are found; None if there are none.
        """
        count, found = len(probabilities), list[tuple[th.Tensor, bool]]()
        for each in self._named("Div"):
            upper, lower = each.tensor("self", count), each.tensor("other", count)
            if node not in nodes_above(each.own):
                continue
            if lower is not None and each.inputs[1] is None:
                found.append((probabilities / lower, False))
            elif upper is not None and each.inputs[0] is None:
                found.append((upper / probabilities, True))
        for each in self._named("Exp"):
            result = each.tensor("result", count)
            if result is not None and not th.equal(result, probabilities):
                sign = self._sign(each.inputs[0], node, (*SHAPES, "Clamp"))
                found.append((result, sign < 0))
        return min(found, key=lambda each: each[1], default=None)

    def multiplied(self, one: Any, others: set[Any]) -> bool:
        """Whether what depends on one node is multiplied by what depends on others alone."""
        for node in self._named("Mul") if others else ():
            first, second = map(nodes_above, node.inputs)
            for own, factor in ((first, second), (second, first)):
                if one in own and one not in factor and not others.isdisjoint(factor):
                    return True
        return False

    def outer(self, values: th.Tensor) -> bool:
        """Whether an error has numbers of all pairs of rows, of values (row, 1) less (row,)."""
        count, own = values.numel(), values.detach().reshape(-1, 1)
        for node in self._named(*ERRORS, *SQUARES) if count > 1 else ():
            for table in (node.kept("self"), node.kept("target")):
                if getattr(table, "shape", ()) == (count, count):
                    # An error is a target, which is the same in each row, and a value.
                    rests = table.detach() - own, table.detach() + own
                    far = min(float((rest - rest[:1]).abs().max()) for rest in rests)
                    if far <= NEAR * max(1.0, float(own.abs().max())):
                        return True
        return False

    @property
    def softmax_twice(self) -> bool:
        """Whether logits are probabilities, of which a softmax is taken again."""
        outer = self._named("Logsumexp", "LogSoftmax")
        inner = (self.nodes.get(node.inputs[0]) for node in outer)
        return any(node is not None and node.kind.startswith("Softmax") for node in inner)

    def choices(self, probabilities: Any, count: int) -> list[str]:
        """Return "Minimum" or "Maximum" for each choice of two numbers of a row below a node."""
        return [
            node.kind
            for node in self._named("Minimum", "Maximum")
            if node.tensor("self", count) is not None and probabilities in nodes_above(node.own)
        ]

    def factor(self, count: int) -> th.Tensor | None:
        """Return the constants by which numbers of each row are multiplied, (row,)."""
        for node in self._named("Mul"):
            sides = zip(("self", "other"), node.inputs, node.inputs[::-1], strict=False)
            for name, own, other in sides:
                found = node.tensor(name, count)
                if found is not None and own is None and other is not None:
                    return found
        return None

    def clamped(self, count: int) -> list[tuple[th.Tensor, float, float]]:
        """Return numbers of each row that are clipped, (row,), and the two borders."""
        found = []
        for node in self._named("Clamp"):
            tensor, low, high = node.tensor("self", count), node.kept("min"), node.kept("max")
            if tensor is not None and low is not None and high is not None:
                found.append((tensor, float(low), float(high)))
        return found

    def wanted(self, values: th.Tensor) -> tuple[th.Tensor, str] | None:
        """Return what values of each row are driven to, (row,), and the loss, "mse" or "huber"."""
        own = values.detach().reshape(-1)
        for node, pair in self._kept(values, ("self", "target"), ERRORS):
            for one, other in (pair, pair[::-1]):
                if th.equal(one, own):
                    return other, "mse" if node.kind == "MseLoss" else "huber"

        above = nodes_above(values.grad_fn)

        def clipped(square: tuple[Node, list[th.Tensor]]) -> bool:
            between = (self.nodes[each] for each in nodes_above(square[0].own) if each not in above)
            return any(each.kind.startswith("Clamp") for each in between)

        for node, (gap,) in sorted(self._kept(values, ("self",), SQUARES), key=clipped):
            two = node.kept("exponent") == 2 if node.kind == "Pow" else len(set(node.inputs)) == 1
            sign = self._sign(node.inputs[0], self._known(values.grad_fn))
            if two and sign:
                return own - sign * gap, "mse"
        return None

    def _kept(
        self, values: th.Tensor, names: tuple[str, ...], kinds: tuple[str, ...]
    ) -> Iterator[tuple[Node, list[th.Tensor]]]:
        """Yield nodes of some operations that have kept some tensors, with these, (row,) each.

        Operations of one number each come together if values are joined, one of each operation.
        """
        nodes = [*self._named(*kinds)]

        def tensors(node: Node, count: int) -> list[th.Tensor]:
            found = (node.tensor(name, count) for name in names)
            return [each for each in found if each is not None]

        for node in nodes:
            if len(kept := tensors(node, values.numel())) == len(names):
                yield node, kept
        if values.numel() == 1 or values.grad_fn is None or values.grad_fn in self.nodes:
            return
        below = {above: node for node in nodes for above in nodes_above(node.own)}
        parts = [self._known(each) for each, _ in values.grad_fn.next_functions]
        found = [below[each] for each in parts if each in below]
        whole = [kept for node in found if len(kept := tensors(node, 1)) == len(names)]
        if len(whole) == len(parts) == values.numel():
            yield found[0], [th.cat(each) for each in zip(*whole, strict=True)]

    def _known(self, node: Any) -> Any:
        """Return the first node of the graph on a way up from a node; None if there is none."""
        while node is not None and node not in self.nodes:
            node = next((each for each, _ in node.next_functions), None)
        return node

    def _sign(self, node: Any, values: Any, through: tuple[str, ...] = SHAPES) -> float:
        """Return the sign of a node's values in a difference from others, 0 in another result."""
        here, sign = self.nodes.get(node), 1.0
        while here is not None and here.kind in through:
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
