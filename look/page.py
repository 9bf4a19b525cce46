"""Pictures as parts of a web page that needs nothing else, drawn with plotly."""

import html
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.colors import diverging, sequential
from plotly.offline import get_plotlyjs

from ..games import BoolArray, FloatArray
from .charts import Bars, Lines, Map, Panel, Picture, Points, named

GREY = "#b8b8b8"
VEIL = "rgba(184, 184, 184, 0.65)"
FEW = 12  # cells up to which each gets its tick
TOLD = 12_000  # cells up to which each says its own words
#: As in ``drawing``.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
SCALES = {"sequential": sequential.Viridis, "diverging": diverging.RdBu}
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem;
       color: #1b1f24; background: #fff }
.scroll { overflow-x: auto }
.panels { display: grid; gap: 1rem }
.panels > div { min-width: 0 }
.two { grid-template-columns: 1fr 1fr }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0 }
th, td { padding: .25rem .75rem; border-bottom: 1px solid #d0d7de; text-align: left }
@media (max-width: 50rem) {
  .two { grid-template-columns: 1fr }
  th, td { padding: .25rem .75rem .25rem 0 }
}
code { background: #f0f2f4; padding: .1rem .3rem }
"""


def to_html(title: str, parts: Sequence[str]) -> str:
    """Write a page of parts, plotly's script included: it asks for nothing from elsewhere."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>{html.escape(title)}</title>
<style>{STYLE}</style>
<script>{get_plotlyjs()}</script>
</head>
<body>
<h1>{html.escape(title)}</h1>
{chr(10).join(parts)}
</body>
</html>
"""


def paragraph(text: str) -> str:
    """Write a paragraph."""
    return f"<p>{html.escape(text)}</p>"


def heading(text: str) -> str:
    """Write a heading."""
    return f"<h2>{html.escape(text)}</h2>"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table of texts."""

    def cells(tag: str, texts: Sequence[str]) -> str:
        return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)

    lines = [f"<tr>{cells('th', header)}</tr>", *(f"<tr>{cells('td', row)}</tr>" for row in rows)]
    return f'<div class="scroll"><table>{"".join(lines)}</table></div>'


def section(picture: Picture, name: str) -> str:
    """Write a picture under its title, with its sentence; ``name`` is its own on the page."""
    panels = "\n".join(
        f'<div class="scroll"><div style="min-width: {_width(panel)}px">'
        f"{_panel(panel, f'{name}-{number}', len(picture.panels) > 1)}</div></div>"
        for number, panel in enumerate(picture.panels)
    )
    beside = "panels two" if len(picture.panels) > 1 else "panels"
    keys = dict.fromkeys(key for panel in picture.panels for key in _keys(panel))
    parts = [
        heading(picture.title),
        paragraph(picture.says),
        f'<div class="{beside}">{panels}</div>',
    ]
    return "\n".join([*parts, *([paragraph(f"Cells: {'; '.join(keys)}.")] if keys else [])])


def _width(panel: Panel) -> int:
    """Give the least width in pixels in which everything can be read."""
    if not isinstance(panel, Map) or panel.columns is None:
        return 300
    texts = 1 if panel.texts is None else max(len(text) for text in panel.texts.ravel())
    return 160 + len(panel.columns) * max(12, 6 * texts)


def _keys(panel: Panel) -> Iterator[str]:
    """Say what cells without a colour of the scale are."""
    if not isinstance(panel, Map):
        return
    if np.isnan(panel.values).any() and panel.missing_label:
        yield f"grey, {panel.missing_label}"
    if panel.apart is not None and panel.apart.any():
        yield f"under a veil, {panel.apart_label}"
    if panel.marked is not None and panel.marked.any():
        yield f"hatched, {panel.marked_label}"
    if panel.faint.any():
        yield "white, nothing or below the scale"


def _panel(panel: Panel, name: str, titled: bool) -> str:
    above, below = any(_titles(panel, titled)), not isinstance(panel, Map)
    layout: dict[str, Any] = {
        "template": "plotly_white",
        "margin": {"l": 60, "r": 20, "t": 20 + 30 * above, "b": 60 + 20 * below},
        "xaxis_title": "<br>".join(wrap(panel.x_label, 40)),
        "colorway": COLOURS,
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom"},
        "title": ": ".join(_titles(panel, titled)) or None,
    }
    if isinstance(panel, Map):
        figure = _map(panel)
    elif isinstance(panel, Lines):
        figure = _lines(panel)
    elif isinstance(panel, Bars):
        figure = _bars(panel)
    else:
        figure = _points(panel)
    figure.update_layout(layout)
    part: str = figure.to_html(
        full_html=False,
        include_plotlyjs=False,
        div_id=name,
        config={"displaylogo": False, "responsive": True},
    )
    return part


def _titles(panel: Panel, titled: bool) -> list[str]:
    """Say above a panel what it is, beside others, and what its colours are."""
    colours = [panel.value_label] if isinstance(panel, Map) else []
    return [panel.title, *colours] if titled else colours


def _map(chart: Map) -> Any:
    rows, columns = chart.values.shape
    low, high = chart.span
    numbers = chart.values
    bar: dict[str, Any] = {}
    if chart.log:
        numbers = np.where(chart.faint, np.nan, np.log10(np.maximum(numbers, low)))
        powers = np.arange(np.ceil(np.log10(low)), np.floor(np.log10(high)) + 1)
        bar |= {"tickvals": powers, "ticktext": [f"1e{power:.0f}" for power in powers]}
        low, high = float(np.log10(low)), float(np.log10(high))
    elif chart.whole and high - low < len(COLOURS) * 2:
        bar |= {"dtick": 1}
    figure = go.Figure()
    if chart.faint.any():
        figure.add_trace(_plain(np.where(chart.faint, 0.0, np.nan), "#ffffff", chart))
    figure.add_trace(
        go.Heatmap(
            z=numbers.astype(np.float32),
            zmin=low,
            zmax=high,
            colorscale=SCALES[chart.colours],
            colorbar=bar,
            xgap=int(chart.parted),
            ygap=int(chart.parted),
            text=chart.texts,
            texttemplate=None if chart.texts is None else "%{text}",
            **_to_point_at(chart),
        )
    )
    if chart.apart is not None:
        veil = np.where(chart.apart & np.isfinite(chart.values), 0.0, np.nan)
        figure.add_trace(_plain(veil, VEIL, None))
    if chart.marked is not None:
        hatched = chart.marked & np.isfinite(chart.values)
        figure.add_trace(_corners(hatched) if chart.texts is not None else _strokes(hatched))
    figure.update_layout(
        plot_bgcolor=GREY,
        xaxis=_cells(columns, chart.columns),
        yaxis=_cells(rows, chart.rows),
        yaxis_title=chart.y_label,
        height=min(max(420, 22 * rows + 140), 900) if chart.rows is not None else 520,
    )
    return figure


def _to_point_at(chart: Map) -> dict[str, Any]:
    """Give what every cell says: its words, or where there would be too many, its number."""
    known = np.isfinite(chart.values)
    if chart.words is None or known.size > TOLD:
        number = ".0f" if chart.whole else ".2e" if chart.log else ".4f"
        says = f"{chart.value_label} %{{customdata:{number}}}"
        place = f"{chart.x_label} %{{x}}, {chart.y_label} %{{y}}<br>"
        numbers = chart.values.astype(np.float32)
        template = f"{place}{says}<extra></extra>"
        return {"customdata": numbers, "hovertemplate": template, "hoverongaps": False}
    words = [
        [
            chart.words(row, column) if known[row, column] else chart.missing_label
            for column in range(known.shape[1])
        ]
        for row in range(known.shape[0])
    ]
    return {"customdata": words, "hovertemplate": "%{customdata}<extra></extra>"}


def _plain(cells: FloatArray, colour: str, chart: Map | None) -> Any:
    """Draw cells in one colour; those of a chart say something."""
    pointed = {"hoverinfo": "skip"} if chart is None else _to_point_at(chart)
    scale = [[0, colour], [1, colour]]
    return go.Heatmap(z=cells.astype(np.float32), colorscale=scale, showscale=False, **pointed)


def _strokes(marked: BoolArray) -> Any:
    """Hatch cells: one line along a diagonal for neighbours on it, not along every one of many."""
    step = max(1, max(marked.shape) // 40)
    x: list[float | None] = []
    y: list[float | None] = []
    for shift in range(1 - marked.shape[0], marked.shape[1]):
        edges = np.diff(np.diagonal(marked, shift).astype(np.int8), prepend=0, append=0)
        for first, after in zip(*(np.nonzero(edges == way)[0] for way in (1, -1)), strict=True):
            if shift % step and after - first > 2:
                continue
            low, high = first + max(0, -shift) - 0.5, after + max(0, -shift) - 0.5
            x += [low + shift, high + shift, None]
            y += [low, high, None]
    return _ink(x, y)


def _corners(marked: BoolArray) -> Any:
    """Hatch cells as far as their texts leave room."""
    y, x = (places[:, None] for places in np.nonzero(marked))
    ends = np.array([-0.5, -0.3, np.nan, 0.3, 0.5, np.nan])
    return _ink((x + ends).ravel(), (y + ends).ravel())


def _ink(x: Any, y: Any) -> Any:
    line = {"width": 0.8, "color": "rgba(0, 0, 0, 0.6)"}
    return go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False)


def _cells(count: int, names: Sequence[str] | None) -> dict[str, Any]:
    """Lay out an axis of so many cells."""
    axis = {"showgrid": False, "zeroline": False, "range": [-0.5, count - 0.5]}
    if names is None:
        return {**axis, "dtick": 1} if count <= FEW else axis
    places = list(named(names))
    ticks = {"tickmode": "array", "tickvals": places, "ticktext": [names[i] for i in places]}
    return {**axis, **ticks}


def _scale(log: bool) -> dict[str, Any]:
    return {"type": "log", "dtick": 1, "exponentformat": "power"} if log else {}


def _lines(chart: Lines) -> Any:
    figure = go.Figure()
    for number, line in enumerate(chart.series):
        colour = COLOURS[number % len(COLOURS)]
        if line.low is not None and line.high is not None:
            band = {"x": [*line.x, *line.x[::-1]], "y": [*line.high, *line.low[::-1]]}
            style = {"fill": "toself", "opacity": 0.2, "line": {"width": 0}, "fillcolor": colour}
            figure.add_trace(go.Scatter(**band, **style, hoverinfo="skip", showlegend=False))
        figure.add_trace(
            go.Scatter(
                x=line.x,
                y=line.y,
                name=line.name,
                mode="lines+markers" if chart.points else "lines",
                line={"color": colour},
                showlegend=bool(line.name),
            )
        )
    if chart.level is not None:
        figure.add_hline(chart.level, line_dash="dot", line_width=1)
    figure.update_layout(yaxis_title=chart.y_label, yaxis=_scale(chart.log_y))
    return figure


def _bars(chart: Bars) -> Any:
    figure = go.Figure()
    words = {} if chart.words is None else {"hovertext": list(chart.words), "hoverinfo": "text"}
    places = {"y": list(chart.labels), "orientation": "h"}
    if chart.low is not None and chart.high is not None:
        above, below = chart.high - chart.values, chart.values - chart.low
        around = {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
        points = {"x": chart.values, "y": list(chart.labels), "mode": "markers"}
        figure.add_trace(go.Scatter(**points, error_x=around, **words))
    else:
        figure.add_trace(go.Bar(x=chart.values, name=chart.name, **places, **words))
    if chart.others is not None:
        figure.add_trace(go.Bar(x=chart.others, name=chart.others_name, **places))
    figure.update_layout(
        xaxis=_scale(chart.log),
        yaxis={"autorange": "reversed", "automargin": True},
        showlegend=chart.others is not None,
        height=max(320, 28 * len(chart.labels) * (1 if chart.others is None else 2) + 120),
    )
    return figure


def _points(chart: Points) -> Any:
    sizes = 4 + 14 * np.sqrt(chart.weights / chart.weights.max())
    ends = [min(chart.x.min(), chart.y.min()), max(chart.x.max(), chart.y.max())]
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=chart.x,
            y=chart.y,
            mode="markers",
            marker={"size": sizes, "opacity": 0.4, "line": {"width": 0}},
            customdata=[chart.words(point) for point in range(len(chart.x))],
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    diagonal = {"mode": "lines", "line": {"dash": "dot", "width": 1, "color": "black"}}
    figure.add_trace(go.Scatter(x=ends, y=ends, hoverinfo="skip", **diagonal))
    figure.update_layout(showlegend=False, yaxis_title=chart.y_label, height=560)
    return figure
