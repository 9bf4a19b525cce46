"""The leaderboard as one web page that needs nothing else: tables, and curves as inline SVG."""

import html
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...core import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLOOR = 1e-5  # distances to the optimum below are drawn here
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
       color: #1b1f24; background: #fff }
.scroll { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0 }
th, td { padding: .25rem .75rem; border-bottom: 1px solid #d0d7de; text-align: right;
         white-space: nowrap }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left }
figure { margin: 1rem 0 }
svg { max-width: 100%; height: auto }
"""
#: Moves and normalised scores of the runs of an agent, by game and agent.
Curves = Mapping[tuple[str, str], Sequence[tuple[IntArray, FloatArray]]]
Table = tuple[Sequence[str], Sequence[Sequence[str]]]


def to_html(introduction: str, results: Table, note: str, references: Table, curves: Curves) -> str:
    """Write the page: tables are a header and rows of texts."""
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>exactdice: leaderboard</title>
<style>{STYLE}</style>
<h1>Leaderboard</h1>
<p>{html.escape(introduction)}</p>
<div class="scroll">{_table(*results)}</div>
<h2>Learning curves</h2>
<p>What is missing to the optimum, over the agent's moves: the mean of all seeds as a line, from the
best to the worst seed as a band.</p>
<figure>{_draw(curves)}</figure>
<h2>References</h2>
<p>{html.escape(note)}</p>
<div class="scroll">{_table(*references)}</div>
</html>
"""


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def cells(tag: str, texts: Sequence[str]) -> str:
        return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)

    lines = [f"<tr>{cells('td', row)}</tr>" for row in rows]
    return "\n".join(["<table>", f"<tr>{cells('th', header)}</tr>", *lines, "</table>"])


def _draw(curves: Curves) -> str:
    """Draw one panel a game."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    games = list(dict.fromkeys(game for game, _ in curves))
    agents = sorted({agent for _, agent in curves})
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "exactdice"}):
        figure = Figure(figsize=(11, 3.8 * ((len(games) + 1) // 2)), layout="constrained")
        panels = figure.subplots((len(games) + 1) // 2, 2, squeeze=False).ravel()
        for panel, game in zip(panels, games, strict=False):
            for number, agent in enumerate(agents):
                if (game, agent) in curves:
                    _draw_agent(panel, agent, f"C{number}", curves[game, agent])
            panel.set(title=game, yscale="log", xlabel="agent's moves, million")
            panel.set_ylabel("1 - normalised score")
            panel.grid(alpha=0.3, which="both")
            panel.legend()
        for panel in panels[len(games) :]:
            panel.remove()
        picture = io.StringIO()
        figure.savefig(picture, format="svg", metadata={"Date": None})
    text = picture.getvalue()
    return text[text.index("<svg") :]


def _draw_agent(
    panel: "Axes", agent: str, colour: str, runs: Sequence[tuple[IntArray, FloatArray]]
) -> None:
    shortest = min(len(steps) for steps, _ in runs)
    moves = runs[0][0][:shortest] / 1e6
    missing = np.maximum(1 - np.array([scores[:shortest] for _, scores in runs]), FLOOR)
    panel.plot(moves, missing.mean(axis=0), color=colour, label=agent)
    panel.fill_between(
        moves, missing.min(axis=0), missing.max(axis=0), color=colour, alpha=0.2, linewidth=0
    )
