"""The check of a target network after a gradient step, and parameters as arrays."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch as th
from torch import Tensor, nn

from ...core import FloatArray, InputError
from ..records import ValueUpdate
from ..report import Finding, Report


def check_target(report: Report, update: ValueUpdate) -> None:
    """Check that the target network has been updated if, and only if, this was due."""
    if update.target_before is None or update.target_after is None:
        report.unchecked["target network"] = "target_before and target_after are needed"
        return
    online, old, new = (
        flat(found, found)
        for found in (
            parameters_of(getattr(update, name), name)
            for name in ("after", "target_before", "target_after")
        )
    )
    if not len(online) == len(old) == len(new):
        raise InputError("target_before and target_after must have the parameters of after")
    tau = update.tau if update.copied else 0.0
    wrong = np.abs(old + tau * (online - old) - new) > 1e-5 * max(np.abs(new).max(), 1e-30)
    if not wrong.any():
        report.held["target network"] = len(new)
        return
    apart = online - old
    found = float((apart * (new - old)).sum()) / max(float((apart**2).sum()), 1e-300)
    explained = np.allclose(old + found * apart, new, rtol=0, atol=1e-5 * np.abs(new).max())
    mistake, words = None, "its parameters are not those that an update gives"
    if explained and update.copied and abs(found) < 1e-3:
        mistake, words = "target-never-updated", "an update was due and has not taken place"
    elif explained and update.copied:
        mistake, words = "tau-wrong", f"it has been updated with tau = {found:.3g}"
    elif explained:
        mistake, words = "target-always-updated", "it has been updated, and this was not due"
    report.findings.append(Finding("target network", mistake, int(wrong.sum()), len(new), words))


def parameters_of(module: Any, name: str) -> dict[str, Tensor]:
    """Return the parameters of a module that are learnt, by name.

    Raises:
        InputError: if it is no torch module.
    """
    if not isinstance(module, nn.Module):
        raise InputError(f"{name} must be a torch module, got a {type(module).__name__}")
    return {key: given for key, given in module.named_parameters() if given.requires_grad}


def flat(parameters: dict[str, Tensor], found: Mapping[str, Tensor | None]) -> FloatArray:
    """Join gradients to one vector; no gradient is 0."""
    parts = []
    for key, parameter in parameters.items():
        part = found[key]
        part = th.zeros_like(parameter) if part is None else part
        parts.append(part.detach().cpu().double().numpy().ravel())
    return np.concatenate(parts)
