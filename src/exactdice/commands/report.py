"""``exactdice report``: write a web page about an agent."""

from dataclasses import dataclass
from pathlib import Path

from ..agents.runs.agent import AgentOptions
from ..core.progress import shown_progress


@dataclass(frozen=True)
class ReportConfig(AgentOptions):
    """Write a self-contained web page about an agent: score, mistakes, learning curve."""

    page: Path = Path("report.html")
    """File to write, which ends in .html."""


def run(options: ReportConfig) -> int:
    """Write the page of an agent, and print the score."""
    from ..look.report import write_report

    with shown_progress():
        score = write_report(options, options.page)
    print(
        f"{score.policy}: normalised score {score.normalized:.6f}, regret {score.regret:.6f}\n"
        f"written in {options.page}; open it in a browser"
    )
    return 0
