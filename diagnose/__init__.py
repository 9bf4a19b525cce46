"""Ground truth for authors of learning algorithms: what was recorded, against what is true."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .advantages import GaeFigures, gae
from .audits import audit
from .figures import (
    CriticFigures,
    Estimate,
    Overestimation,
    Overestimations,
    critic,
    overestimation,
)
from .files import audit_file
from .records import (
    EpsilonGreedy,
    PolicyUpdate,
    Rollout,
    Targets,
    Transitions,
    ValueUpdate,
)
from .report import Finding, Report

if TYPE_CHECKING:
    from .gradients import gradient as gradient


def __getattr__(name: str) -> Any:
    """Import ``gradient``, which needs torch, at first use."""
    if name == "gradient":
        try:
            return import_module(".gradients", __name__).gradient
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError("gradient must have PyTorch: pip install torch") from error
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "CriticFigures",
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
    "gae",
    "overestimation",
]
