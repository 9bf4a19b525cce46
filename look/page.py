"""A self-contained web page of texts, tables and interactive plots, drawn with plotly.

A page is a list of parts, which a template of jinja2 (``look/templates``) turns into HTML. The
script of plotly takes 4.8 MB and the numbers of large maps as much again; compressed both take a
quarter. Every browser since 2023 can unpack them (``DecompressionStream``).
"""

import base64
import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from plotly.colors import diverging, sequential
from plotly.offline import get_plotlyjs

from ..core import BoolArray, FloatArray, Table
from .charts import COLOURS, FEW, GREY, VEIL, Bars, Lines, Map, Panel, Plot, Points, named

HEIGHT = 450  # of plots that say no other, in pixels
FADED = f"rgba(184, 184, 184, {VEIL})"  # grey
SCALES = {
    "sequential": sequential.Viridis,
    "diverging": diverging.RdBu,
    "losses": sequential.OrRd[1:],
}
TOLD = 12_000  # up to this number of cells, each has its own text


class Part(NamedTuple):
    """A part of a page: its kind, by which the template chooses the form, and its content."""

    kind: str
    content: Any
    sortable: bool = False


class _Place(NamedTuple):
    """The place of a panel on a page, whose figure of plotly a script draws into it."""

    name: str
    title: str
    width: int
    height: int
    figure: str


#: Links to the headings of a page.
CONTENTS = Part("contents", None)
#: A paragraph of a text; a heading, to which ``CONTENTS`` leads; links, a mapping from their texts
#: to the addresses of other pages.
paragraph, heading, links = (partial(Part, kind) for kind in ("paragraph", "heading", "links"))


def to_html(title: str, parts: Sequence[Part]) -> str:
    """Write a page, which loads nothing from other servers.

    Args:
        title: its title.
        parts: its paragraphs, tables and plots.
    """
    places = [place for part in parts if part.kind == "plots" for place in part.content]
    packed = {}
    if places:
        plots = json.dumps(
            {place.name: json.loads(place.figure) for place in places}, separators=(",", ":")
        )
        packed = {"plotly": _compressed(get_plotlyjs()), "plots": _compressed(plots)}
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
    )
    templates.filters["anchor"] = lambda text: re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")
    return templates.get_template("page.html").render(title=title, parts=parts, packed=packed)


def _compressed(text: str) -> str:
    """Compress a text; the same text gives the same letters, as no time stands in them."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def table(shown: Table) -> Part:
    """Return a table; its title stands nowhere: a heading has it."""
    return Part("table", Markup(replace(shown, title="").html()))  # noqa: S704  cells are escaped


def sortable(shown: Table, swatches: Mapping[str, str] | None = None) -> Part:
    """Return a table of which a click on the name of a column sorts the rows.

    Args:
        shown: the table.
        swatches: colours by the texts that get a swatch, as a legend has.
    """
    whole = shown.html(swatches, sortable=True)
    return Part("table", Markup(whole), sortable=True)  # noqa: S704  every cell is escaped


def figures(drawn: Sequence[str]) -> Part:
    """Return pictures, as SVG, side by side, or one by one on a narrow screen."""
    return Part("figures", [Markup(each) for each in drawn])  # noqa: S704  matplotlib's own


def section(plot: Plot, name: str) -> Iterator[Part]:
    """Yield a plot with its title and caption; ``name`` is unique on the page."""
    yield heading(plot.title)
    yield paragraph(plot.caption)
    several = len(plot.panels) > 1
    yield Part("plots", [_place(*each, name, several) for each in enumerate(plot.panels)])
    maps = [panel for panel in plot.panels if isinstance(panel, Map)]
    keys = [f"{look}, {label}" for each in maps for look, label in each.keys.items()]
    if any(each.seen.sum() > each.seen[each.window].sum() for each in maps):
        keys.append("a double click shows those outside the range, too")
    if keys:
        yield paragraph(f"Cells: {'; '.join(dict.fromkeys(keys))}.")
    yield from map(paragraph, plot.notes)


def _place(number: int, panel: Panel, name: str, several: bool) -> _Place:
    """Draw a panel: above it stand its title, if it is one of several, and a map's quantity."""
    words = [panel.title] if several and panel.title else []
    words += [panel.value_label] if isinstance(panel, Map) else []
    figure = to_hover_over(panel)
    height = figure.layout.height or HEIGHT
    return _Place(f"{name}-{number}", ": ".join(words), _width(panel), height, figure.to_json())


def _width(panel: Panel) -> int:
    """Return the smallest width in pixels at which every text can be read."""
    if not isinstance(panel, Map):
        return 300
    names = 0 if panel.columns is None else 12
    texts = 0 if panel.texts is None else 8 * max(len(text) for text in panel.texts.ravel())
    columns: int = panel.values.shape[1]
    return max(300, 160 + columns * max(names, texts))


def to_hover_over(panel: Panel) -> Any:
    """Return a panel, without its title, as a ``plotly.graph_objects.Figure``."""
    layout: dict[str, Any] = {
        "template": "plotly_white",
        "margin": {"l": 60, "r": 20, "t": 20, "b": 60 if isinstance(panel, Map) else 80},
        "xaxis_title": "<br>".join(wrap(panel.x_label, 40)),
        "colorway": COLOURS,
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom"},
    }
    return DRAWERS[type(panel)](panel).update_layout(layout)


def _map(chart: Map) -> Any:
    rows = len(chart.values)
    figure = go.Figure()
    if chart.below_scale.any():
        figure.add_trace(_plain(np.where(chart.below_scale, 0.0, np.nan), "#ffffff", chart))
    figure.add_trace(
        go.Heatmap(
            **_coloured(chart),
            colorscale=SCALES[chart.colours],
            xgap=int(chart.has_lines),
            ygap=int(chart.has_lines),
            text=chart.texts,
            texttemplate=None if chart.texts is None else "%{text}",
            **_to_point_at(chart),
        )
    )
    if chart.marks:
        rows_of, columns_of = zip(*chart.marks, strict=True)
        style = {"mode": "markers+text", "hoverinfo": "skip", "showlegend": False}
        style |= {"text": list(chart.marks.values()), "marker": {"color": "white", "size": 14}}
        figure.add_trace(go.Scatter(x=columns_of, y=rows_of, **style))
    if chart.faded is not None:
        veil = np.where(chart.faded & np.isfinite(chart.values), 0.0, np.nan)
        figure.add_trace(_plain(veil, FADED, None))
    if chart.hatched is not None:
        hatched = chart.hatched & np.isfinite(chart.values)
        figure.add_trace(_corners(hatched) if chart.texts is not None else _strokes(hatched))
    figure.update_layout(
        plot_bgcolor=GREY,
        xaxis=_cells(chart.window[1], chart.columns),
        yaxis=_cells(chart.window[0], chart.rows),
        yaxis_title=chart.y_label,
        height=min(max(420, 22 * rows + 140), 900) if chart.rows is not None else 520,
    )
    return figure


def _coloured(chart: Map) -> dict[str, Any]:
    """Return the numbers that choose the colours, and the colour scale."""
    low, high = chart.span
    numbers = chart.values
    bar: dict[str, Any] = {}
    if chart.log:
        numbers = np.where(chart.below_scale, np.nan, np.log10(np.maximum(numbers, low)))
        powers = np.arange(np.ceil(np.log10(low)), np.floor(np.log10(high)) + 1)
        bar |= {"tickvals": powers, "ticktext": [f"1e{power:.0f}" for power in powers]}
        low, high = float(np.log10(low)), float(np.log10(high))
    elif chart.names is not None:
        shown = chart.names_on_scale
        bar |= {"tickvals": list(shown), "ticktext": list(shown.values())}
    elif chart.whole and high - low < len(COLOURS) * 2:
        bar |= {"dtick": 1}
    return {"z": numbers.astype(np.float32), "zmin": low, "zmax": high, "colorbar": bar}


def _to_point_at(chart: Map) -> dict[str, Any]:
    """Return the text of each cell: its words, or its number if there are too many cells."""
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
    """Draw cells in one colour, with texts if a chart is given."""
    pointed = {"hoverinfo": "skip"} if chart is None else _to_point_at(chart)
    scale = [[0, colour], [1, colour]]
    return go.Heatmap(z=cells.astype(np.float32), colorscale=scale, showscale=False, **pointed)


def _strokes(hatched: BoolArray) -> Any:
    """Hatch cells by lines along diagonals; large maps get lines on some diagonals only."""
    step = max(1, max(hatched.shape) // 40)
    x: list[float | None] = []
    y: list[float | None] = []
    for shift in range(1 - hatched.shape[0], hatched.shape[1]):
        edges = np.diff(np.diagonal(hatched, shift).astype(np.int8), prepend=0, append=0)
        for first, after in zip(*(np.nonzero(edges == way)[0] for way in (1, -1)), strict=True):
            if shift % step and after - first > 2:
                continue
            low, high = first + max(0, -shift) - 0.5, after + max(0, -shift) - 0.5
            x += [low + shift, high + shift, None]
            y += [low, high, None]
    return _ink(x, y)


def _corners(hatched: BoolArray) -> Any:
    """Hatch the corners of cells, beside their texts."""
    y, x = (places[:, None] for places in np.nonzero(hatched))
    ends = np.array([-0.5, -0.3, np.nan, 0.3, 0.5, np.nan])
    return _ink((x + ends).ravel(), (y + ends).ravel())


def _ink(x: Any, y: Any) -> Any:
    line = {"width": 0.8, "color": "rgba(0, 0, 0, 0.6)"}
    return go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False)


def _cells(shown: slice, names: Sequence[str] | None) -> dict[str, Any]:
    """Lay out an axis of cells, some of which are shown at first."""
    ends = [shown.start - 0.5, shown.stop - 0.5]
    axis = {"showgrid": False, "zeroline": False, "range": ends}
    if names is None:
        return {**axis, "dtick": 1} if shown.stop - shown.start <= FEW else axis
    told = named(names)
    ticks = {"tickmode": "array", "tickvals": list(told), "ticktext": list(told.values())}
    return {**axis, **ticks}


def _scale(log: bool) -> dict[str, Any]:
    return {"type": "log", "dtick": 1, "exponentformat": "power"} if log else {}


def _lines(chart: Lines) -> Any:
    figure = go.Figure()
    for number, line in enumerate(chart.series):
        colour = line.colour_at(number)
        if line.low is not None and line.high is not None:
            band = {"x": [*line.x, *line.x[::-1]], "y": [*line.high, *line.low[::-1]]}
            style = {"fill": "toself", "opacity": 0.2, "line": {"width": 0}, "fillcolor": colour}
            figure.add_trace(go.Scatter(**band, **style, hoverinfo="skip", showlegend=False))
        figure.add_trace(
            go.Scatter(
                x=line.x,
                y=line.y,
                name=line.name,
                mode=("lines+markers" if chart.points else "lines") if line.joined else "markers",
                line={"color": colour},
                showlegend=bool(line.name),
            )
        )
    if chart.level is not None:
        figure.add_hline(chart.level, line_dash="dot", line_width=1)
    figure.update_layout(yaxis_title=chart.y_label, yaxis=_scale(chart.log_y))
    figure.update_layout(xaxis=_scale(chart.log_x))
    return figure


def _bars(chart: Bars) -> Any:
    figure = go.Figure()
    words: dict[str, Any] = {}
    if chart.words is not None:
        words = {"hovertext": list(chart.words), "hoverinfo": "text"}
    places = {"y": list(chart.labels), "orientation": "h"}
    if chart.low is not None and chart.high is not None:
        above, below = chart.high - chart.values, chart.values - chart.low
        around = {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
        points = {"x": chart.values, "y": list(chart.labels), "mode": "markers"}
        if chart.colours is not None:
            points["marker"] = {"color": [COLOURS[n % len(COLOURS)] for n in chart.colours]}
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


#: What draws a panel, by its class.
DRAWERS: dict[type[Any], Callable[[Any], Any]] = {
    Map: _map,
    Lines: _lines,
    Bars: _bars,
    Points: _points,
}
