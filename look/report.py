"""A web page about an agent: its score, its mistakes, and its learning curve."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from ..agents.runs.agent import AgentOptions
from ..baselines import Score, Task, evaluate, solve
from ..baselines import score as exact_score
from ..baselines.policies.door import label
from ..baselines.scoring.figure import FIGURES
from ..baselines.scoring.summary import costliest, quoted, summary, tables
from ..core import Game, InputError, SizeError, Table, make_folder, present, write_file
from ..core.positions import has_few_states
from ..core.progress import tell
from ..core.words import typed
from . import agents, page, runs
from .charts import AGENT_CHARTS, Plot
from .plotting import GAME_CHARTS

BLUNDERS = 20
SHOWN = 5e-7  # smaller numbers are printed as 0.000000


def write_report(agent: AgentOptions, path: Path) -> Score:
    """Write the page of an agent into a file that ends in .html."""
    if path.suffix.lower() != ".html":
        raise InputError(f"page must end in .html, got {path}")
    make_folder(path.parent)
    score = agent.score(label(Path(agent.policy)))
    title = f"{present(score.task.game).title}: {quoted(score.policy)}"
    steps = list(_steps(agent, score))
    elements: list[page.Element] = []
    for number, (name, make) in enumerate(steps):
        tell(number, len(steps), name)
        elements += make()
    kind = "deterministic" if score.deterministic else "stochastic"
    what = f"{quoted(score.policy)} ({kind}) in {score.task.words}."
    lead = [page.paragraph(" ".join([what, *summary(score)])), page.CONTENTS]
    write_file(path, page.to_html(title, [*lead, *elements]).encode())
    return score


def _steps(
    agent: AgentOptions, score: Score
) -> Iterator[tuple[str, Callable[[], Iterable[page.Element]]]]:
    """List what computes the elements of the page, by names for whoever waits."""
    game = score.task.game
    yield "the score", partial(_numbers, score)
    yield "mistakes", partial(_mistakes, score)
    if has_few_states(game):
        yield "policy", partial(_drawn, "policy", AGENT_CHARTS["policy"].draw, score)
    for name, own in AGENT_CHARTS.items():
        if own.game is not Game and isinstance(game, own.game):
            yield name, partial(_drawn, name, own.draw, score)
    yield "the best response", partial(_best_response, score)
    if agent.is_run:
        yield "the run", partial(_of_run, agent)
    for name, chart in GAME_CHARTS.items():
        if chart.reported and isinstance(game, chart.game):
            yield name, partial(_drawn, name, chart.draw, score.task)
    made = (
        "Everything here is computed over every state of the game; nothing is an estimate from "
        f"sample games. The command is: {_command(agent)}"
    )
    yield "the page", lambda: [page.heading("How this page was made"), page.paragraph(made)]


def _command(agent: AgentOptions) -> str:
    words = ["exactdice", "report", _without_folders(agent.policy)]
    words += [_without_folders(agent.game)] if agent.game else []
    if agent.env:
        words += ["--env", *(str(word) for pair in agent.env.items() for word in pair)]
    words += ["--model", agent.model] if agent.model else []
    return typed([*words, *(["--stochastic"] if agent.stochastic else [])])


def _without_folders(place: str) -> str:
    """Leave the folders of this machine out of an absolute path, as a page is for others, too."""
    path, here = Path(place), Path.cwd()
    if not path.is_absolute():
        return place
    return str(path.relative_to(here)) if path.is_relative_to(here) else path.name


def _numbers(score: Score) -> Iterator[page.Element]:
    """Write the figures of the score, the results of games, and the score in parts."""
    yield page.heading("Score")
    shown = [figure for figure in FIGURES if figure.label and figure.text(score)]
    rows = [[figure.label, figure.text(score), figure.meaning] for figure in shown]
    yield page.table(Table(["", "exact", "what it is"], rows, texts=3))
    if score.outcomes is not None:
        yield from page.section(agents.outcomes(score), "outcomes")
    for each in tables(score):
        yield page.heading(each.title)
        yield page.table(each)


def _mistakes(score: Score) -> Iterator[page.Element]:
    """Write the table of the costliest decisions, and their map."""
    try:
        costly = costliest(score, BLUNDERS)
    except SizeError as error:
        yield page.heading("The costliest decisions")
        yield page.paragraph(f"No decisions: {error}.")
        return
    yield page.heading(costly.title)
    if not costly.rows:
        yield page.paragraph("No decision costs anything.")
        return
    yield page.table(costly)
    if has_few_states(score.task.game):
        yield from page.section(agents.mistakes(score), "mistakes")


def _best_response(score: Score) -> Iterator[page.Element]:
    """Describe what a best response to the agent earns, and where it departs from equilibrium."""
    if score.exploitability_in_seat is None:
        return
    game, seat, name = score.task.game, 1 - score.task.seat, quoted(score.policy)
    against = Task(game, seat, {score.task.seat: score.agent})
    best = float(solve(against).value_before_play)
    due = float(solve(Task(game, seat, "optimal")).value_before_play)
    unaware = exact_score("equilibrium", against)
    earned = float(evaluate("equilibrium", against).value_before_play)
    yield page.heading(f"The best response to {name}")
    said = (
        f"A best-response opponent in seat {seat} earns {best:.6f} a game against {name}. "
        f"Between two optimal players that seat earns {due:.6f}. The difference, "
        f"{score.exploitability_in_seat:.6f}, is the exploitability of {name} in its seat. "
    )
    better = [one for one in unaware.blunders(BLUNDERS // 2) if one.cost >= SHOWN]
    if not better:
        yield page.paragraph(f"{said}The equilibrium policy earns as much against {name}.")
        return
    yield page.paragraph(
        f"{said}The equilibrium policy earns {earned:.6f} against {name}. The best response gains "
        f"the other {best - earned:.6f} where it departs from the equilibrium, most of all here:"
    )
    often = (best - earned) / unaware.regret  # probability that the opponent gets to move
    rows = []
    for one in better:
        does = present(game).describe_move(np.array(one.observation), one.action)
        told = f"{one.position}: {one.best_move} for an expected payoff of {one.best_value:.4f}"
        told += f", the equilibrium {does} for {one.value:.4f}"
        rows.append([f"{often * one.cost:.6f}", told])
    yield page.table(Table(["gain", "best response"], rows, texts=2))


def _of_run(agent: AgentOptions) -> Iterator[page.Element]:
    folder = Path(agent.policy)
    yield from page.section(runs.learning([runs.log_of(folder)]), "learning")
    yield from _drawn("critic", runs.critic, folder, agent.model or "final")
    if (folder / "diagnosis.npz").is_file():
        yield from _drawn("diagnosis", runs.diagnosis, folder)
        header = ["", "last", "after moves", "what it is"]
        yield page.table(Table(header, runs.figures(folder), texts=4))


def _drawn(name: str, draw: Callable[..., Plot], *what: object) -> Iterator[page.Element]:
    """Write a plot of something, or a paragraph that explains why there is none."""
    try:
        yield from page.section(draw(*what), name)
    except InputError as error:
        yield page.paragraph(f"No picture {name}: {error}")
