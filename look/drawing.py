"""Plots as picture files, drawn with matplotlib."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ..core import FloatArray, make_folder, write_file
from .charts import COLOURS, LARGE, Bars, Lines, Map, Panel, Plot, Points, format_of
from .maps import HATCH, draw_map, map_legend, map_size

STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "exactdice",
    "hatch.linewidth": 0.6,
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.prop_cycle": f"cycler('color', {list(COLOURS)})",
}


def draw(plot: Plot, path: Path, dpi: int = 110) -> None:
    """Draw a plot into a file; its ending, such as .png or .svg, names the format.

    Raises:
        InputError: if the format is unknown.
    """
    kind = format_of(path)
    about: Mapping[str, Any] = {}
    if kind in ("png", "svg"):
        about = {"Title": plot.title, "Description": plot.caption}
        about |= {"Date": None} if kind == "svg" else {}
    with rc_context(STYLE):
        figure = _figure(plot)
        make_folder(path.parent)
        options: Any = {"format": kind, "dpi": dpi, "metadata": about or None}
        write_file(path, lambda file: figure.savefig(file, **options))


def to_figure(plot: Plot) -> Figure:
    """Draw a plot as a figure of matplotlib, which notebooks show and people change."""
    with rc_context(STYLE):
        return _figure(plot)


def to_svg(plot: Plot) -> str:
    """Draw a plot as an SVG element, for a web page."""
    text = io.StringIO()
    with rc_context(STYLE):
        _figure(plot).savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def _figure(plot: Plot) -> Figure:
    """Lay out the panels, with room for the content of each."""
    columns = min(plot.columns, len(plot.panels))
    rows = [plot.panels[i : i + columns] for i in range(0, len(plot.panels), columns)]
    sizes = [[_size(panel) for panel in row] for row in rows]
    widths = [max(row[i][0] for row in sizes if i < len(row)) for i in range(columns)]
    heights = [max(height for _, height in row) for row in sizes]
    figure = Figure(figsize=(sum(widths), sum(heights) + 0.4), layout="constrained")
    places = figure.subplots(
        len(rows), columns, squeeze=False, width_ratios=widths, height_ratios=heights
    )
    for axes, panel in zip(places.ravel(), plot.panels, strict=False):
        _draw_panel(axes, panel)
        axes.set_xlabel(panel.x_label)
        if len(plot.panels) > 1:
            axes.set_title(panel.title)
    for axes in places.ravel()[len(plot.panels) :]:
        axes.remove()
    handles: dict[str, Patch] = {}
    for panel in plot.panels:
        handles |= _legend(panel)
    if handles:
        place: Any = {"loc": "outside lower center", "ncols": 4, "frameon": False}
        figure.legend(list(handles.values()), list(handles), fontsize=10, **place)
    figure.suptitle(plot.title, fontsize=13, fontweight="bold")
    return figure


def _size(panel: Panel) -> tuple[float, float]:
    """Return width and height in inches."""
    if isinstance(panel, Bars):
        double = 1 if panel.others is None else 1.5
        return 6.2, max(2.4, 0.23 * double * len(panel.labels) + 1.1)
    if isinstance(panel, Map):
        return map_size(panel)
    return (6.6, 4.2) if isinstance(panel, Lines) else (5.6, 5.0)


def _draw_panel(axes: Axes, panel: Panel) -> None:
    if isinstance(panel, Map):
        draw_map(axes, panel)
    elif isinstance(panel, Lines):
        _draw_lines(axes, panel)
    elif isinstance(panel, Bars):
        _draw_bars(axes, panel)
    else:
        _draw_points(axes, panel)


def _legend(panel: Panel) -> dict[str, Patch]:
    """Return a legend of paired or hatched bars, or of cells outside the colour scale."""
    if isinstance(panel, Map):
        return map_legend(panel)
    if not isinstance(panel, Bars):
        return {}
    handles: dict[str, Patch] = {}
    if panel.others is not None:
        names = (panel.name, panel.others_name)
        handles = {
            name: Patch(facecolor=colour) for name, colour in zip(names, COLOURS, strict=False)
        }
    if panel.hatched is not None and panel.hatched.any():
        handles[panel.hatched_label] = Patch(facecolor="white", edgecolor="black", hatch=HATCH)
    return handles


def _draw_lines(axes: Axes, chart: Lines) -> None:
    for number, line in enumerate(chart.series):
        style = "o-" if chart.points else "-"
        colour = COLOURS[(number if line.colour is None else line.colour) % len(COLOURS)]
        options: Any = {"color": colour, "markersize": 4, "linewidth": 1.5}
        axes.plot(line.x, line.y, style, label=line.name, **options)
        if line.low is not None and line.high is not None:
            axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.2, linewidth=0)
    if chart.level is not None:
        axes.axhline(chart.level, color="black", linewidth=0.8, linestyle=":")
    axes.set_ylabel(chart.y_label)
    if chart.log_y:
        axes.set_yscale("log")
    if chart.log_x:
        axes.set_xscale("log")
    axes.grid(alpha=0.3, which="both" if chart.log_y else "major")
    if len(chart.series) > 1 or chart.series[0].name:
        axes.legend(fontsize=10)


def _draw_bars(axes: Axes, chart: Bars) -> None:
    places = np.arange(len(chart.labels), dtype=np.float64)
    if chart.low is not None and chart.high is not None:
        around = np.maximum([chart.values - chart.low, chart.high - chart.values], 0)
        colours = [0] * len(places) if chart.colours is None else chart.colours
        for row, colour in enumerate(colours):
            at = {"x": chart.values[row], "y": places[row], "xerr": around[:, row : row + 1]}
            axes.errorbar(**at, fmt="o", capsize=3, color=COLOURS[colour % len(COLOURS)])
    elif chart.others is None:
        axes.barh(places, chart.values, height=0.75, hatch=_hatches(chart))
        _write_numbers(axes, places, chart.values, chart.log)
    else:
        for shift, values in ((-0.2, chart.values), (0.2, chart.others)):
            hatches = _hatches(chart) if shift < 0 else None
            axes.barh(places + shift, np.nan_to_num(values), height=0.4, hatch=hatches)
            _write_numbers(axes, places + shift, values, chart.log)
    axes.set_yticks(places, list(chart.labels), fontsize=10)
    axes.set_ylim(len(places) - 0.4, -0.6)
    axes.grid(alpha=0.3, axis="x")
    axes.set_axisbelow(True)
    if chart.log:
        axes.set_xscale("log")
    else:
        axes.margins(x=0.12)


def _hatches(chart: Bars) -> list[str] | None:
    """Return the hatching of each bar, if any bar is hatched."""
    return None if chart.hatched is None else [HATCH if mark else "" for mark in chart.hatched]


def _write_numbers(axes: Axes, places: FloatArray, values: FloatArray, log: bool) -> None:
    """Write each bar's length at its end."""
    for place, value in zip(places, values, strict=True):
        text = "not legible" if np.isnan(value) else f" {value:.4g} "
        at = 0.0 if np.isnan(value) else value
        if at > 0 or not log:
            side = "right" if at < 0 else "left"
            axes.text(at, place, text, ha=side, va="center", fontsize=9)


def _draw_points(axes: Axes, chart: Points) -> None:
    sizes = 3 + 60 * np.sqrt(chart.weights / chart.weights.max())
    order = np.argsort(chart.weights)
    axes.scatter(
        chart.x[order],
        chart.y[order],
        s=sizes[order],
        alpha=0.35,
        linewidth=0,
        rasterized=len(order) >= LARGE,
    )
    ends = [float(min(chart.x.min(), chart.y.min())), float(max(chart.x.max(), chart.y.max()))]
    axes.plot(ends, ends, color="black", linewidth=0.8, linestyle=":")
    axes.set_ylabel(chart.y_label)
    axes.grid(alpha=0.3)
