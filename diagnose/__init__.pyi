from .advantages import GaeFigures as GaeFigures, gae as gae
from .audits import audit as audit, audit_file as audit_file
from .figures import (
    CriticFigures as CriticFigures,
    EntropyFigures as EntropyFigures,
    Estimate as Estimate,
    Overestimation as Overestimation,
    Overestimations as Overestimations,
    critic as critic,
    entropy as entropy,
    overestimation as overestimation,
    unvisited as unvisited,
)
from .gradients import gradient as gradient
from .records import (
    EpsilonGreedy as EpsilonGreedy,
    PolicyUpdate as PolicyUpdate,
    Rollout as Rollout,
    Targets as Targets,
    Transitions as Transitions,
    ValueUpdate as ValueUpdate,
)
from .report import Finding as Finding, Report as Report
from .training import DiagnoseCallback as DiagnoseCallback
