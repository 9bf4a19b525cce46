"""``exactdice score``: score an agent exactly."""

from dataclasses import dataclass
from pathlib import Path

from ..agents.runs.agent import AgentOptions


@dataclass(frozen=True)
class ScoreConfig(AgentOptions):
    """Score a trained run, or a policy by name, exactly."""

    ceiling: bool = False
    """Also train a network like the run's on the optimal policy and score it: the best that the
    network could learn. Takes a quarter of a minute."""


def run(options: ScoreConfig) -> int:
    """Print the score of a run's model, or of a policy by its name or from a file."""
    from rich.console import Console

    from ..agents.runs.report import compute, report
    from ..core.progress import shown_progress

    if not options.is_run:
        options.refuse("a run folder", ceiling=options.ceiling)
    with shown_progress():
        score = options.score()
        compute(score)
    report(score, Console())
    if options.ceiling:
        _print_ceiling(options)
    return 0


def _print_ceiling(options: ScoreConfig) -> None:
    """Print how well the network of a run can play at best."""
    from ..agents.learners.ceiling import ceiling
    from ..agents.runs.folders import load_model

    model, env = load_model(Path(options.policy), options.model or "final")
    highest = ceiling(model, env.task)
    print(
        "the ceiling, the same network fitted to the optimal policy: "
        f"regret {highest.regret:.6f}, normalised score {highest.normalized:.6f}"
    )
