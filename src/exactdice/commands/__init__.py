"""The commands: each is a module with a dataclass of options and a function ``run``.

``run`` takes the options and returns the exit code. It imports the libraries of an extra when it is
called, so that the help and most commands do not need them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..agents.board.config import BenchmarkConfig
from ..agents.runs.config import TrainConfig
from ..agents.tuning.config import TuneConfig
from . import (
    audit,
    benchmark,
    board,
    compare,
    describe,
    diagnose,
    play,
    plot,
    report,
    score,
    solve,
    submit,
    train,
    tune,
    verify,
)


class Command(NamedTuple):
    """A command: the class of its options, and the function that carries it out."""

    options: type[Any]
    run: Callable[[Any], int]


#: All commands by name, in the order of the help.
COMMANDS = {
    "train": Command(TrainConfig, train.run),
    "score": Command(score.ScoreConfig, score.run),
    "compare": Command(compare.CompareConfig, compare.run),
    "verify": Command(verify.VerifyConfig, verify.run),
    "audit": Command(audit.AuditConfig, audit.run),
    "solve": Command(solve.SolveConfig, solve.run),
    "describe": Command(describe.DescribeConfig, describe.run),
    "diagnose": Command(diagnose.DiagnoseConfig, diagnose.run),
    "benchmark": Command(BenchmarkConfig, benchmark.run),
    "tune": Command(TuneConfig, tune.run),
    "submit": Command(submit.SubmitConfig, submit.run),
    "board": Command(board.BoardConfig, board.run),
    "plot": Command(plot.PlotConfig, plot.run),
    "report": Command(report.ReportConfig, report.run),
    "play": Command(play.PlayConfig, play.run),
}
