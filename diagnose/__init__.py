"""Ground truth for authors of learning algorithms: audits of recorded numbers by exact ones."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..core import errors  # the package before its module, as threads lock both
from .advantages import GaeFigures, gae
from .audits import audit, audit_file
from .figures import (
    CriticFigures,
    EntropyFigures,
    Estimate,
    Overestimation,
    Overestimations,
    critic,
    entropy,
    overestimation,
    unvisited,
)
from .records import EpsilonGreedy, PolicyUpdate, Rollout, Targets, Transitions, ValueUpdate
from .report import Finding, Report

if TYPE_CHECKING:
    from .gradients import gradient as gradient
    from .training import DiagnoseCallback as DiagnoseCallback

#: Names that need further libraries: the module of each name, and the library to install.
LATER = {"DiagnoseCallback": (".training", "sb3-contrib"), "gradient": (".gradients", "torch")}


def __getattr__(name: str) -> Any:
    """Import a name that needs further libraries at first use."""
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, library = LATER[name]
    with errors.needing(name, library):
        return getattr(import_module(module, __name__), name)


__all__ = [
    "CriticFigures",
    "EntropyFigures",
    "EpsilonGreedy",
    "Estimate",
    "Finding",
    "GaeFigures",
    "Overestimation",
    "Overestimations",
    "PolicyUpdate",
    "Report",
    "Rollout",
    "Targets",
    "Transitions",
    "ValueUpdate",
    "audit",
    "audit_file",
    "critic",
    "entropy",
    "gae",
    "overestimation",
    "unvisited",
]
