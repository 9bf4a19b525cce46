"""Ground truth for authors of learning algorithms: audits of recorded numbers by exact ones."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .audits.audit import audit
from .audits.files import audit_file
from .figures.advantages import GaeFigures, gae
from .figures.critics import (
    CriticFigures,
    Estimate,
    Overestimation,
    Overestimations,
    critic,
    overestimation,
)
from .figures.exploration import EntropyFigures, entropy, unvisited
from .records import EpsilonGreedy, PolicyUpdate, Rollout, Targets, Transitions, ValueUpdate
from .report import Finding, Report

if TYPE_CHECKING:
    from .figures.gradients import gradient as gradient
    from .training.callback import DiagnoseCallback as DiagnoseCallback

#: Names that need further libraries: the module of each name, and the libraries to install.
LATER = {
    "DiagnoseCallback": (".training.callback", "stable-baselines3: pip install sb3-contrib"),
    "gradient": (".figures.gradients", "PyTorch: pip install torch"),
}


def __getattr__(name: str) -> Any:
    """Import a name that needs further libraries at first use."""
    if name in LATER:
        module, needed = LATER[name]
        try:
            return getattr(import_module(module, __name__), name)
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(f"{name} must have {needed}") from error
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
