"""``exactdice score``, ``report`` and ``compare``: agents, scored exactly."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from ..agents.runs.agent import AgentOptions, policy_from_word, task_of_agents
from ..agents.runs.options import GameWord, Keywords
from ..baselines import Comparison, Score, compare
from ..baselines.scoring.figure import FIGURES
from ..baselines.scoring.summary import lost, quoted, result
from ..core import InputError, SizeError, Table
from ..core.progress import shown_progress
from ..core.words import to_you

SHOWN = 10  # differences in the table
_Agent = tyro.conf.arg(metavar="AGENT")


@dataclass(frozen=True)
class ScoreConfig(AgentOptions):
    """Score a trained run, or a policy by name, exactly."""

    ceiling: bool = False
    """Also train a network like the run's on the optimal policy and score it: the best that the
    network could learn. Takes a quarter of a minute."""


def run_score(options: ScoreConfig) -> None:
    """Print the score of a run's model, or of a policy by its name or from a file."""
    from rich.console import Console

    from ..agents.runs.agent import compute, report

    if not options.is_run:
        options.refuse("a run folder", ceiling=options.ceiling)
    with shown_progress():
        score = options.score()
        compute(score)
    report(score, Console())
    if options.ceiling:
        from ..agents.learners.ceiling import ceiling
        from ..agents.runs.folders import load_model

        model, env = load_model(Path(options.policy), options.model or "final")
        highest = ceiling(model, env.task)
        print(
            "the ceiling, the same network fitted to the optimal policy: "
            f"regret {highest.regret:.6f}, normalised score {highest.normalized:.6f}"
        )


@dataclass(frozen=True)
class ReportConfig(AgentOptions):
    """Write a self-contained web page about an agent: score, mistakes, learning curve."""

    page: Path = Path("report.html")
    """File to write, which ends in .html."""


def run_report(options: ReportConfig) -> None:
    """Write the page of an agent, and print the score."""
    from ..look.report import write_report

    with shown_progress():
        score = write_report(options, options.page)
    print(
        f"{score.policy}: normalised score {score.normalized:.6f}, regret {score.regret:.6f}\n"
        f"written in {options.page}; open it in a browser"
    )


@dataclass(frozen=True)
class CompareConfig:
    """Compare two agents exactly: scores, where they differ and at what cost, head to head."""

    first: tyro.conf.Positional[Annotated[str, _Agent]]
    """Run folder, certificate, model saved by stable-baselines3, or name of a policy."""

    second: tyro.conf.Positional[Annotated[str, _Agent]]
    """The same of the other agent."""

    game: GameWord = None
    """Game of two agents that are no runs, in upper or lower case. Default: that of a certificate,
    else Greed."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the environment of two agents that are no runs: --env max_score 50."""

    stochastic: bool = False
    """Compare models as they draw actions at random from their laws, not with the likeliest
    actions."""


def run_compare(options: CompareConfig) -> None:
    """Print the comparison."""
    from rich.console import Console
    from rich.text import Text

    with shown_progress():
        found = _compare(options)
        parts = list(_parts(found, _names(found, (options.first, options.second))))
    console = Console()
    console.print(Text(found.first.task.words), soft_wrap=True)
    for part in parts:
        if isinstance(part, str):
            console.print(Text(part), soft_wrap=True)
        else:
            part.show(console)


def _compare(options: CompareConfig) -> Comparison:
    words = options.first, options.second
    runs = {
        word: AgentOptions(word, stochastic=options.stochastic).score(Path(word).name)
        for word in words
        if Path(word).is_dir()
    }
    if runs:
        AgentOptions.refuse("a comparison without runs", game=options.game, env=options.env)
    task = next((run.task for run in runs.values()), None)
    task = task or task_of_agents(words, options.game, options.env)
    first, second = (runs.get(word) or policy_from_word(word, task) for word in words)
    return compare(first, second, task, deterministic=not options.stochastic)


def _names(found: Comparison, words: tuple[str, str]) -> tuple[str, str]:
    """Name both agents; files of one name are named by the folders that differ."""
    names = found.first.policy, found.second.policy
    first, second = (Path(word).resolve().parts for word in words)
    if names[0] == names[1] and first != second:
        depth = next(d for d in range(1, len(first) + 1) if first[-d:] != second[-d:])
        names = first[-depth], second[-depth]
    return quoted(names[0]), quoted(names[1])


def _parts(found: Comparison, names: tuple[str, str]) -> Iterator[str | Table]:
    """Give the sentences and the tables of a comparison."""
    yield Table(["", *names], list(_figures(found.first, found.second)))
    better = names if found.gain < 0 else names[::-1]
    apart = lost(abs(found.gain), found.first.task.game)
    rounding = found.first.error_bound + found.second.error_bound
    yield (
        f"{better[0]} is better: {better[1]} loses {apart} more."
        if abs(found.gain) > rounding
        else f"Both are equal{' up to rounding' if found.gain else ''}."
    )
    try:
        yield from _differences(found, names)
    except SizeError as error:
        yield f"No differences: {error}."
    try:
        yield from _met(found, names)
    except InputError as error:
        yield f"No games head to head: {error}."


def _figures(first: Score, second: Score) -> Iterator[tuple[str, ...]]:
    """Give the rows of the table of both scores."""
    for figure in FIGURES:
        texts = (figure.text(first), figure.text(second)) if figure.label else ()
        if any(texts):
            yield figure.label, *texts


def _differences(found: Comparison, names: tuple[str, str]) -> Iterator[str | Table]:
    differences = found.differences(SHOWN)
    shares = (
        f"{100 * share:.3g} % of the decisions of {name}"
        for share, name in zip(found.shares, names, strict=True)
    )
    yield f"They play differently in {' and in '.join(shares)}."
    rows = (
        (each.position, *map(to_you, (*each.moves, each.best_move)), f"{each.gain:+.6f}")
        for each in differences
    )
    header = ("position", *names, "best", f"{names[1]} gains")
    if differences:
        yield Table(header, list(rows), "where they differ most, and gains a game", texts=4)


def _met(found: Comparison, names: tuple[str, str]) -> Iterator[Table]:
    """Make a table of the games of the first agent against the second."""
    meetings, game = found.meetings, found.first.task.game
    if not meetings:
        return
    name, other = names
    laws = [each.outcomes for each in meetings if each.outcomes is not None]
    laws = laws if len(laws) == len(meetings) else [{} for _ in meetings]
    paid = sorted({payoff for law in laws for payoff in law}, reverse=True)
    rows = (
        (
            f"{name} in seat {each.seat}",
            *(f"{law.get(payoff, 0.0):.2%}" for payoff in paid),
            f"{each.payoff:.6f}",
        )
        for each, law in zip(meetings, laws, strict=True)
    )
    header = ("", *(result(payoff, game) for payoff in paid), "expected payoff")
    yield Table(header, list(rows), f"head to head: {name} against {other}")
