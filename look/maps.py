"""Maps drawn with matplotlib: coloured, faded and hatched cells, with their names."""

from functools import partial
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection, QuadMesh
from matplotlib.colors import BoundaryNorm, Colormap, ListedColormap, LogNorm, Normalize
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullFormatter

from ..core import BoolArray, FloatArray
from .charts import FEW, GREY, LARGE, MANY, VEIL, Map, named

HATCH = "//////"
NOTHING = "#ffffff"  # colour of zero on a logarithmic scale
NAME = 0.145  # inches of an axis that a name takes
AROUND = 1.0  # inches of a map beside its cells
MAPS = {"sequential": "viridis", "diverging": "RdBu"}


def map_size(chart: Map) -> tuple[float, float]:
    """Return width and height in inches: with room for texts, or at most as tall as wide."""
    rows, columns = chart.values.shape
    if chart.texts is not None:
        longest = max(len(line) for text in chart.texts.ravel() for line in text.split("\n"))
        return 0.09 * max(5, longest + 1) * columns + 2.4, 0.36 * rows + 1.6
    if chart.rows is None:
        return 5.6, 5.0
    cell = 0.15 if rows > MANY else 0.22
    width = max(5.6, cell * columns + 2.2)
    return width, min(max(3.6, cell * rows + 1.4), width)


def map_legend(chart: Map) -> dict[str, Patch]:
    """Return a legend of grey, faded, hatched and white cells."""
    handles: dict[str, Patch] = {}
    if np.isnan(chart.values[chart.window]).any() and chart.missing_label:
        handles[chart.missing_label] = Patch(facecolor=GREY)
    if chart.faded is not None and chart.faded[chart.window].any():
        handles[chart.faded_label] = Patch(facecolor=GREY, alpha=VEIL)
    outlined = partial(Patch, facecolor=NOTHING, edgecolor="black", linewidth=0.4)
    if chart.hatched is not None and chart.hatched[chart.window].any():
        handles[chart.hatched_label] = outlined(hatch=HATCH)
    if chart.below_scale[chart.window].any():
        handles["nothing, or below the scale"] = outlined()
    return handles


def draw_map(axes: Axes, chart: Map) -> None:
    """Draw the cells, fade and hatch some of them, and add names and a colour scale."""
    rows, columns = chart.values.shape
    raster = chart.values.size >= LARGE
    norm, colours = _norm(chart)
    shown = np.ma.masked_invalid(chart.values, copy=False)
    shown.mask = np.ma.getmaskarray(shown)
    if chart.log:  # matplotlib would draw nothing for 0
        shown = np.ma.maximum(shown, chart.span[0] / 2)
    axes.set_facecolor(GREY)
    edges = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
    lines: Any = {"edgecolors": "white", "linewidth": 0.5} if chart.has_lines else {}
    drawn = axes.pcolormesh(*edges, shown, norm=norm, cmap=colours, rasterized=raster, **lines)
    if chart.faded is not None:
        veil = np.ma.masked_where(~chart.faded | shown.mask, np.ones(shown.shape))
        axes.pcolormesh(*edges, veil, cmap=ListedColormap([GREY]), alpha=VEIL, rasterized=raster)
    if chart.hatched is not None and chart.hatched.any():
        _hatch(axes, chart.hatched & ~shown.mask, _are_dark(colours(norm(shown))), raster)
    _write_texts(axes, chart, norm, colours)
    _name_cells(axes, chart)
    within_rows, within_columns = chart.window
    axes.set_xlim(within_columns.start - 0.5, within_columns.stop - 0.5)
    axes.set_ylim(within_rows.start - 0.5, within_rows.stop - 0.5)
    _add_scale(axes, chart, drawn)


def _add_scale(axes: Axes, chart: Map, drawn: QuadMesh) -> None:
    """Draw the colour scale beside a map."""
    assert axes.figure is not None
    thin = max(20.0, 5 * map_size(chart)[1])
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
    """Hatch cells, shape (row, column): dark cells in white, the others in black."""
    strokes = "/" * max(3, cells.shape[1] // 14)  # dense enough for one in a narrow cell
    for chosen, colour in ((cells & dark, "#ffffffb0"), (cells & ~dark, "#000000b0")):
        edges = np.diff(chosen.astype(np.int8), axis=1, prepend=0, append=0)
        rows, first = np.nonzero(edges == 1)  # neighbours in a row share a shape
        after = np.nonzero(edges == -1)[1]
        left, right, below, above = first - 0.5, after - 0.5, rows - 0.5, rows + 0.5
        shapes = np.array([[left, below], [right, below], [right, above], [left, above]])
        style: Any = {"facecolor": "none", "edgecolor": colour, "linewidth": 0, "hatch": strokes}
        hatched = PolyCollection(list(shapes.transpose(2, 0, 1)), **style, rasterized=raster)
        axes.add_collection(hatched, autolim=False)


def _norm(chart: Map) -> tuple[Normalize, Colormap]:
    """Return the norm and the colour map of the values."""
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
            hatched = chart.hatched is not None and chart.hatched[row, column]
            style: Any = {"ha": "center", "va": "center", "fontsize": 8, "color": colour}
            axes.text(column, row, text, path_effects=[around] if hatched else None, **style)


def _are_dark(colours: FloatArray) -> BoolArray:
    """Say on which colours, shape (..., red green blue alpha), white text is readable."""
    dark: BoolArray = (colours[..., :3] * (0.299, 0.587, 0.114)).sum(axis=-1) < 0.5
    return dark


def _name_cells(axes: Axes, chart: Map) -> None:
    axes.set_ylabel(chart.y_label)
    width, height = map_size(chart)
    for names, count, axis, long in (
        (chart.columns, chart.values.shape[1], axes.xaxis, width),
        (chart.rows, chart.values.shape[0], axes.yaxis, height),
    ):
        if names is not None:
            shown = named(names, max(1, int((long - AROUND) / NAME)))
            axis.set_major_locator(FixedLocator(shown))
            axis.set_major_formatter(FixedFormatter([names[place] for place in shown]))
            axis.set_tick_params(labelsize=9, length=0)
        elif count <= FEW:
            axis.set_major_locator(FixedLocator(range(count)))
        else:
            axis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    if chart.columns is not None and (
        len(chart.columns) > MANY or max(map(len, chart.columns)) > 4
    ):
        axes.tick_params(axis="x", labelrotation=90)
