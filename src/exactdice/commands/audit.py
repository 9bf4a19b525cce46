"""``exactdice audit``: check what a learning algorithm has recorded."""

from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import tyro

from ..agents.runs.options import GameName, Keywords, environment_from_options
from ..core.progress import shown_progress
from ..diagnose import audit_file
from ..games import DEFAULT_GAME


@dataclass(frozen=True)
class AuditConfig:
    """Check what a learning algorithm has recorded against the exact law of the game.

    The exit code is 0 if all checks hold, 1 if one does not, 2 if the file cannot be read.
    """

    file: tyro.conf.Positional[Path]
    """File of arrays, as numpy.savez writes it, by the names of the fields of Rollout (time, lane,
    ...), of Transitions or of Targets (transition, ...)."""

    game: tyro.conf.Positional[GameName] = DEFAULT_GAME
    """Game that was played."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the environment: --env max_score 50 seat 1 encoding one_hot_float."""


def run(options: AuditConfig) -> int:
    """Print the report."""
    import_module("scipy.sparse")  # the audit needs it: say so before the file is read

    with shown_progress():
        report = audit_file(environment_from_options(options.game, options.env), options.file)
    print(report)
    return 0 if report.ok else 1
