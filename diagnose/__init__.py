"""Ground truth for authors of learning algorithms: what was recorded, against what is true."""

from .audits import audit
from .gae import GaeFigures, gae
from .records import Rollout, Targets, Transitions
from .report import Finding, Report

__all__ = ["Finding", "GaeFigures", "Report", "Rollout", "Targets", "Transitions", "audit", "gae"]
