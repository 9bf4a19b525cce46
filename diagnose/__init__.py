"""Ground truth for authors of learning algorithms: what was recorded, against what is true."""

from .audits import audit
from .records import Rollout, Targets, Transitions
from .report import Finding, Report

__all__ = ["Finding", "Report", "Rollout", "Targets", "Transitions", "audit"]
