"""Pictures as files, drawn with matplotlib."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import BoundaryNorm, Colormap, ListedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullFormatter

from ..games import BoolArray, FloatArray
from .charts import LARGE, MANY, Bars, Lines, Map, Panel, Picture, Points, format_of, named

GREY = "#b8b8b8"  # of what is set apart
VEIL = 0.65  # how much of a cell that is set apart the grey covers
HATCH = "//////"
NOTHING = "#ffffff"  # of zero where colours follow the logarithm
#: Wong's colours, which the colour-blind tell apart too (Nature Methods 8, 441).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MAPS = {"sequential": "viridis", "diverging": "RdBu"}
FEW = 12  # cells, or whole numbers, up to which each gets its tick
STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "exactdice",
    "hatch.linewidth": 0.6,
    "axes.titlesize": 11,
    "axes.prop_cycle": f"cycler('color', {list(COLOURS)})",
}


def draw(picture: Picture, path: Path, dpi: int = 110) -> None:
    """Draw a picture into a file, whose ending says the format, such as .png or .svg.

    Raises:
        InputError: if the format is unknown.
    """
    kind = format_of(path)
    about: Mapping[str, Any] = {}
    if kind in ("png", "svg"):
        about = {"Title": picture.title, "Description": picture.says}
        about |= {"Date": None} if kind == "svg" else {}
    with rc_context(STYLE):
        figure = _figure(picture)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format=kind, dpi=dpi, metadata=about or None)


def _figure(picture: Picture) -> Figure:
    """Lay out the panels, each as large as what is in it needs."""
    columns = min(picture.columns, len(picture.panels))
    rows = [picture.panels[i : i + columns] for i in range(0, len(picture.panels), columns)]
    sizes = [[_size(panel) for panel in row] for row in rows]
    widths = [max(row[i][0] for row in sizes if i < len(row)) for i in range(columns)]
    heights = [max(height for _, height in row) for row in sizes]
    figure = Figure(figsize=(sum(widths), sum(heights) + 0.4), layout="constrained")
    places = figure.subplots(
        len(rows), columns, squeeze=False, width_ratios=widths, height_ratios=heights
    )
    for axes, panel in zip(places.ravel(), picture.panels, strict=False):
        _draw_panel(axes, panel)
        axes.set_xlabel(panel.x_label)
        if len(picture.panels) > 1:
            axes.set_title(panel.title)
    for axes in places.ravel()[len(picture.panels) :]:
        axes.remove()
    handles: dict[str, Patch] = {}
    for panel in picture.panels:
        handles |= _legend(panel)
    if handles:
        place: Any = {"loc": "outside lower center", "ncols": 4, "frameon": False}
        figure.legend(list(handles.values()), list(handles), fontsize=9, **place)
    figure.suptitle(picture.title, fontsize=13, fontweight="bold")
    return figure


def _size(panel: Panel) -> tuple[float, float]:
    """Give width and height in inches."""
    if isinstance(panel, Bars):
        double = 1 if panel.others is None else 1.5
        return 6.2, max(2.4, 0.23 * double * len(panel.labels) + 1.1)
    if isinstance(panel, Map) and panel.texts is not None:
        rows, columns = panel.values.shape
        longest = max(len(line) for text in panel.texts.ravel() for line in text.split("\n"))
        return 0.09 * max(5, longest + 1) * columns + 2.4, 0.36 * rows + 1.6
    if isinstance(panel, Map) and panel.rows is not None:
        rows, columns = panel.values.shape
        cell = 0.15 if rows > MANY else 0.22
        width = max(5.6, cell * columns + 2.2)
        return width, min(max(3.6, cell * rows + 1.4), width)
    return (6.6, 4.2) if isinstance(panel, Lines) else (5.6, 5.0)


def _draw_panel(axes: Axes, panel: Panel) -> None:
    if isinstance(panel, Map):
        _draw_map(axes, panel)
    elif isinstance(panel, Lines):
        _draw_lines(axes, panel)
    elif isinstance(panel, Bars):
        _draw_bars(axes, panel)
    else:
        _draw_points(axes, panel)


# ---------------------------------------------------------------------- maps


def _draw_map(axes: Axes, chart: Map) -> None:
    rows, columns = chart.values.shape
    raster = chart.values.size >= LARGE
    norm, colours = _norm(chart)
    shown = np.ma.masked_invalid(chart.values, copy=False)
    shown.mask = np.ma.getmaskarray(shown)
    if chart.log:  # where matplotlib draws nothing for 0
        shown = np.ma.maximum(shown, chart.span[0] / 2)
    axes.set_facecolor(GREY)
    edges = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
    lines: Any = {"edgecolors": "white", "linewidth": 0.5} if chart.parted else {}
    drawn = axes.pcolormesh(*edges, shown, norm=norm, cmap=colours, rasterized=raster, **lines)
    if chart.apart is not None:
        veil = np.ma.masked_where(~chart.apart | shown.mask, np.ones(shown.shape))
        axes.pcolormesh(*edges, veil, cmap=ListedColormap([GREY]), alpha=VEIL, rasterized=raster)
    if chart.marked is not None and chart.marked.any():
        _hatch(axes, chart.marked & ~shown.mask, _are_dark(colours(norm(shown))), raster)
    _write_texts(axes, chart, norm, colours)
    _name_cells(axes, chart)
    assert axes.figure is not None
    thin = max(20.0, 5 * _size(chart)[1])
    bar = axes.figure.colorbar(drawn, ax=axes, label=chart.value_label, aspect=thin, pad=0.02)
    low, high = chart.span
    if chart.whole and high - low < FEW:
        bar.set_ticks(list(np.arange(low, high + 1)))
        bar.minorticks_off()
    elif chart.log and high > 30 * low:  # powers of ten are enough
        bar.ax.yaxis.set_minor_formatter(NullFormatter())
    elif chart.whole:
        bar.locator = MaxNLocator(integer=True, steps=[1, 2, 5, 10])
        bar.update_ticks()


def _hatch(axes: Axes, cells: BoolArray, dark: BoolArray, raster: bool) -> None:
    """Hatch cells (row, column), those that are dark in white."""
    strokes = "/" * max(3, cells.shape[1] // 14)  # so dense that even a narrow cell gets one
    for chosen, colour in ((cells & dark, "#ffffffb0"), (cells & ~dark, "#000000b0")):
        edges = np.diff(chosen.astype(np.int8), axis=1, prepend=0, append=0)
        rows, first = np.nonzero(edges == 1)  # of neighbours in a row, which share a shape
        after = np.nonzero(edges == -1)[1]
        left, right, below, above = first - 0.5, after - 0.5, rows - 0.5, rows + 0.5
        shapes = np.array([[left, below], [right, below], [right, above], [left, above]])
        style: Any = {"facecolor": "none", "edgecolor": colour, "linewidth": 0, "hatch": strokes}
        hatched = PolyCollection(list(shapes.transpose(2, 0, 1)), **style, rasterized=raster)
        axes.add_collection(hatched, autolim=False)


def _norm(chart: Map) -> tuple[Normalize, Colormap]:
    low, high = chart.span
    colours = colormaps[MAPS[chart.colours]].with_extremes(under=NOTHING)
    if chart.log:
        return LogNorm(low, high * (1 + 1e-9) if high > low else high * 10), colours
    if chart.whole and high - low < FEW:
        steps = np.arange(low, high + 2) - 0.5
        return BoundaryNorm(list(steps), colours.N), colours
    return Normalize(low, high if high > low else low + 1), colours


def _write_texts(axes: Axes, chart: Map, norm: Normalize, colours: Colormap) -> None:
    if chart.texts is None:
        return
    for (row, column), text in np.ndenumerate(chart.texts):
        value = chart.values[row, column]
        if text:
            dark = np.isfinite(value) and bool(_are_dark(np.array(colours(norm(value)))))
            colour = "white" if dark else "black"
            around = withStroke(linewidth=2, foreground="black" if dark else "white")
            hatched = chart.marked is not None and chart.marked[row, column]
            axes.text(
                column,
                row,
                text,
                ha="center",
                va="center",
                fontsize=8,
                color=colour,
                path_effects=[around] if hatched else None,
            )


def _are_dark(colours: FloatArray) -> BoolArray:
    """Say which colours (..., red green blue alpha) ask for white on them."""
    dark: BoolArray = (colours[..., :3] * (0.299, 0.587, 0.114)).sum(axis=-1) < 0.5
    return dark


def _name_cells(axes: Axes, chart: Map) -> None:
    axes.set_ylabel(chart.y_label)
    for names, count, axis in (
        (chart.columns, chart.values.shape[1], axes.xaxis),
        (chart.rows, chart.values.shape[0], axes.yaxis),
    ):
        if names is not None:
            axis.set_major_locator(FixedLocator(named(names)))
            axis.set_major_formatter(FixedFormatter([names[place] for place in named(names)]))
            axis.set_tick_params(labelsize=6 if count > MANY else 8, length=0)
        elif count <= FEW:
            axis.set_major_locator(FixedLocator(range(count)))
        else:
            axis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    if chart.columns is not None and (
        len(chart.columns) > MANY or max(map(len, chart.columns)) > 4
    ):
        axes.tick_params(axis="x", labelrotation=90)


def _legend(chart: Panel) -> dict[str, Patch]:
    """Say what grey and hatched cells are, and bars beside each other."""
    handles: dict[str, Patch] = {}
    if isinstance(chart, Bars) and chart.others is not None:
        names = (chart.name, chart.others_name)
        handles |= {
            name: Patch(facecolor=colour) for name, colour in zip(names, COLOURS, strict=False)
        }
    if not isinstance(chart, Map):
        return handles
    if np.isnan(chart.values).any() and chart.missing_label:
        handles[chart.missing_label] = Patch(facecolor=GREY)
    if chart.apart is not None and chart.apart.any():
        handles[chart.apart_label] = Patch(facecolor=GREY, alpha=VEIL)
    outlined = partial(Patch, facecolor=NOTHING, edgecolor="black", linewidth=0.4)
    if chart.marked is not None and chart.marked.any():
        handles[chart.marked_label] = outlined(hatch=HATCH)
    if chart.faint.any():
        handles["nothing, or below the scale"] = outlined()
    return handles


# ---------------------------------------------------------------------- lines, bars, points


def _draw_lines(axes: Axes, chart: Lines) -> None:
    for line in chart.series:
        style = "o-" if chart.points else "-"
        drawn = axes.plot(line.x, line.y, style, markersize=4, linewidth=1.5, label=line.name)
        if line.low is not None and line.high is not None:
            colour = drawn[0].get_color()
            axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.2, linewidth=0)
    if chart.level is not None:
        axes.axhline(chart.level, color="black", linewidth=0.8, linestyle=":")
    axes.set_ylabel(chart.y_label)
    if chart.log_y:
        axes.set_yscale("log")
    axes.grid(alpha=0.3, which="both" if chart.log_y else "major")
    if len(chart.series) > 1 or chart.series[0].name:
        axes.legend(fontsize=9)


def _draw_bars(axes: Axes, chart: Bars) -> None:
    places = np.arange(len(chart.labels), dtype=np.float64)
    if chart.low is not None and chart.high is not None:
        around = np.stack([chart.values - chart.low, chart.high - chart.values])
        axes.errorbar(chart.values, places, xerr=np.maximum(around, 0), fmt="o", capsize=3)
    elif chart.others is None:
        axes.barh(places, chart.values, height=0.75)
        _write_numbers(axes, places, chart.values, chart.log)
    else:
        for shift, values in ((-0.2, chart.values), (0.2, chart.others)):
            axes.barh(places + shift, np.nan_to_num(values), height=0.4)
            _write_numbers(axes, places + shift, values, chart.log)
    axes.set_yticks(places, list(chart.labels), fontsize=9)
    axes.set_ylim(len(places) - 0.4, -0.6)
    axes.grid(alpha=0.3, axis="x")
    axes.set_axisbelow(True)
    if chart.log:
        axes.set_xscale("log")
    else:
        axes.margins(x=0.12)


def _write_numbers(axes: Axes, places: FloatArray, values: FloatArray, log: bool) -> None:
    """Write each bar's length at its end."""
    for place, value in zip(places, values, strict=True):
        text = "not legible" if np.isnan(value) else f" {value:.4g}"
        at = 0.0 if np.isnan(value) else value
        if at > 0 or not log:
            axes.text(at, place, text, va="center", fontsize=7)


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
