"""One web page about an agent: its score, where it errs, and how it learned."""

from collections.abc import Iterator
from pathlib import Path

from ..agents.runs.asked import Asked
from ..baselines import Score
from ..games import InputError
from ..games.words import typed
from . import agents, page

BLUNDERS = 20


def write_report(asked: Asked, path: Path) -> Score:
    """Write the page of an agent.

    Args:
        asked: the agent.
        path: file to write, which ends in .html.

    Raises:
        InputError: if the ending is another, or there is no such agent.
    """
    if path.suffix.lower() != ".html":
        raise InputError(f"page must end in .html, got {path}")
    score = asked.score(Path(asked.policy).name)
    title = f"{score.policy}: {score.task.game.name}"
    path.write_text(page.to_html(title, list(_parts(asked, score))), encoding="utf-8")
    return score


def _parts(asked: Asked, score: Score) -> Iterator[str]:
    kind = "deterministic" if score.deterministic else "stochastic"
    yield page.paragraph(
        f"{score.policy} ({kind}) in {score.task.words}. Everything here is computed over every "
        "state of the game; nothing is an estimate from sample games. The command is: "
        f"{_command(asked)}"
    )
    yield page.table(*_numbers(score))
    yield page.section(agents.mistakes(score), "mistakes")
    yield from _blunders(score)
    yield page.section(agents.outcomes(score), "outcomes")
    if asked.is_run:
        yield from _of_run(asked)


def _command(asked: Asked) -> str:
    """Give the command that writes the page."""
    words = ["exactdice", "report", asked.policy]
    words += ["--game", asked.game] if asked.game else []
    words += ["--env", *(str(word) for pair in asked.env.items() for word in pair)] * bool(
        asked.env
    )
    words += ["--model", asked.model] if asked.model else []
    return typed([*words, *(["--stochastic"] if asked.stochastic else [])])


def _numbers(score: Score) -> tuple[list[str], list[list[str]]]:
    """Give the figures of a score, and what each is."""
    rows = [
        ["value", f"{score.value:.6f}", "expected payoff"],
        ["optimum", f"{score.optimum:.6f}", "the best against the same opponents"],
        ["random", f"{score.random:.6f}", "uniformly random play"],
        ["regret", f"{score.regret:.6f}", "what is given away: optimum less value"],
        ["normalised score", f"{score.normalized:.6f}", "1 is the optimum, 0 random play"],
        ["optimal decisions", f"{score.optimal_share:.2%}", "each counted as often as it is met"],
        ["flawless games", f"{score.flawless:.2%}", "without a single mistake"],
    ]
    lost = score.exploitability_in_seat
    if lost is not None:
        rows.append(["exploitability", f"{lost:.6f}", "what who plays to beat it takes from it"])
    return ["", "exact", "what it is"], rows


def _blunders(score: Score) -> Iterator[str]:
    yield page.heading("The costliest decisions")
    blunders = score.blunders(BLUNDERS)
    if not blunders:
        yield page.paragraph("No decision costs anything.")
        return
    rows = [[f"{blunder.cost:.6f}", blunder.words] for blunder in blunders]
    yield page.table(["cost", "decision"], rows)


def _of_run(asked: Asked) -> Iterator[str]:
    from ..agents.runs.config import RunError
    from . import runs

    folder = Path(asked.policy)
    yield page.section(runs.learning([folder]), "learning")
    try:
        yield page.section(runs.critic(folder, asked.model or "final"), "critic")
    except RunError as error:
        yield page.paragraph(f"No picture of a critic: {error}")
