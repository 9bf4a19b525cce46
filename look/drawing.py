"""Plots as picture files, drawn with matplotlib."""

import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import ceil
from pathlib import Path
from textwrap import shorten, wrap
from typing import Any, NamedTuple

import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import (
    BoundaryNorm,
    Colormap,
    LinearSegmentedColormap,
    ListedColormap,
    LogNorm,
    Normalize,
    to_rgb,
)
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullFormatter

from ..core import BoolArray, FloatArray, make_folder, write_file
from . import charts
from .charts import Bars, Lines, Map, Marks, Panel, Plot, Points

COSTLY = 1  # index of the colour of costly marks
NOTHING = "#ffffff"  # colour of zero on a logarithmic scale
SHADE = "#00000055"  # hatches on light cells
OUTLINED: Any = {"facecolor": NOTHING, "edgecolor": "black", "linewidth": 0.4}
NAME = 0.145  # inches of an axis that a name takes
APART = 0.055  # of the height of an axis between the names of two lines
MARK = 0.2  # inches between the middles of two numbers on a map
SLACK = 1e-9  # inches that are taken as a rounding error
AROUND = 1.0  # inches of a map beside its cells
WIDE = 7.2  # inches of a picture: its texts can still be read on a phone
LETTER = 0.078  # inches of a letter of notes and legends
DPI = 180  # pixels for each inch
NOTEBOOK = 90  # the same in a notebook
SWATCH = 0.6  # inches of a colour in a legend
MAPS = {
    "sequential": colormaps["viridis"],
    "diverging": colormaps["RdBu"],
    "losses": LinearSegmentedColormap.from_list("losses", colormaps["OrRd"](np.linspace(0.2, 1))),
}
STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "exactdice",
    "hatch.linewidth": 0.6,
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.prop_cycle": f"cycler('color', {list(charts.COLOURS)})",
}
INK = "#1b1f24"  # stands for the colour of the text around a picture on a page, which may be dark
PAGE: Any = {
    **STYLE,
    **dict.fromkeys(("figure.facecolor", "axes.facecolor"), "none"),
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), INK),
}


def _draw_map(axes: Axes, chart: Map) -> None:
    """Draw the cells, fade and hatch some of them, and add names and a colour scale."""
    rows, columns = chart.values.shape
    raster = not chart.has_lines  # shapes without lines between them would show gaps
    norm, colours = _norm(chart)
    shown = np.ma.masked_invalid(chart.values, copy=False)
    shown.mask = np.ma.getmaskarray(shown)
    if chart.log:  # matplotlib would draw nothing for 0
        shown = np.ma.maximum(shown, chart.span[0] / 2)
    axes.set_facecolor(charts.GREY)
    edges = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
    lines: Any = {"edgecolors": "white", "linewidth": 0.5} if chart.has_lines else {}
    axes.pcolormesh(*edges, shown, norm=norm, cmap=colours, rasterized=raster, **lines)
    if chart.faded is not None:
        veil = np.ma.masked_where(~chart.faded | shown.mask, np.ones(shown.shape))
        axes.pcolormesh(
            *edges, veil, cmap=ListedColormap([charts.GREY]), alpha=charts.VEIL, rasterized=raster
        )
    if chart.hatched is not None and chart.hatched.any():
        _hatch(axes, chart.hatched & ~shown.mask, _are_dark(colours(norm(shown))), raster)
    _write_texts(axes, chart, norm, colours)
    _name_cells(axes, chart)
    within_rows, within_columns = chart.window
    axes.set_xlim(within_columns.start - 0.5, within_columns.stop - 0.5)
    axes.set_ylim(within_rows.start - 0.5, within_rows.stop - 0.5)
    size = 9.0 if len(chart.marks) < charts.FEW else 6.5
    around = [withStroke(linewidth=size / 3.6, foreground="white")]
    style: Any = {"ha": "center", "va": "center", "fontsize": size, "fontweight": "bold"}
    for (row, column), mark, (x, y) in _placed(axes, chart):
        if (x, y) != (column, row):
            ends: Any = {"color": "black", "linewidth": 0.7, "scalex": False, "scaley": False}
            axes.plot([x, column], [y, row], **ends)
        if not chart.shows(row, column):
            style["bbox"] = {"facecolor": colours(norm(chart.values[row, column])), "pad": 1.5}
        axes.text(x, y, mark, color="black", path_effects=around, **style)
        style.pop("bbox", None)


def _placed(axes: Axes, chart: Map) -> Iterator[tuple[tuple[int, int], str, tuple[float, float]]]:
    """Place words on their cells, and numbers nearby, apart from each other and from the frame.

    A number that would hide its cell stands beside it.
    """
    gridspec = axes.get_gridspec()
    size = np.array(_size(chart, 1 if gridspec is None else gridspec.ncols)) - AROUND
    low, high = np.transpose([axes.get_xlim(), axes.get_ylim()])
    turns = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    ways = [[r * np.cos(turns), r * np.sin(turns)] for r in (0, MARK, 1.5 * MARK, 2 * MARK)]
    around = np.concatenate([np.transpose(way) for way in ways])  # in inches, the nearest first
    placed: list[FloatArray] = []
    for (row, column), mark in chart.marks.items():
        at = (np.array([column, row]) - low) / (high - low) * size
        spots = np.clip(at, MARK / 2, size - MARK / 2) + around
        free = ((spots >= MARK / 2) & (spots <= size - MARK / 2)).all(axis=1)
        if (size / (high - low) < MARK).all():
            free &= np.hypot(*(spots - at).T) >= MARK - SLACK
        for other in placed:
            free &= np.hypot(*(spots - other).T) >= MARK
        best = spots[free.argmax()] if mark.isdigit() else at
        placed.append(best)
        x, y = (best / size * (high - low) + low).tolist()
        yield (row, column), mark, (column, row) if np.array_equal(best, at) else (x, y)


def _add_scale(axes: Axes, chart: Map) -> None:
    assert axes.figure is not None
    drawn = axes.collections[0]
    thin = max(20.0, 5 * _size(chart)[1])
    bar = axes.figure.colorbar(drawn, ax=axes, label=chart.value_label, aspect=thin, pad=0.02)
    low, high = chart.span
    if chart.names is not None:
        shown = range(0, len(chart.names), ceil(len(chart.names) / charts.FEW))
        bar.set_ticks(shown, labels=[shorten(chart.names[place], 16) for place in shown])
        bar.ax.tick_params(labelsize=9, length=0)
        bar.minorticks_off()
    elif chart.whole and high - low < charts.FEW:
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
    for chosen, colour in ((cells & dark, "#ffffff80"), (cells & ~dark, SHADE)):
        edges = np.diff(chosen.astype(np.int8), axis=1, prepend=0, append=0)
        rows, first = np.nonzero(edges == 1)  # neighbours in a row share a shape
        after = np.nonzero(edges == -1)[1]
        left, right, below, above = first - 0.5, after - 0.5, rows - 0.5, rows + 0.5
        shapes = np.array([[left, below], [right, below], [right, above], [left, above]])
        style: Any = {"facecolor": "none", "edgecolor": colour, "linewidth": 0, "hatch": strokes}
        hatched = PolyCollection(list(shapes.transpose(2, 0, 1)), **style, rasterized=raster)
        axes.add_collection(hatched, autolim=False)


def _norm(chart: Map) -> tuple[Normalize, Colormap]:
    low, high = chart.span
    colours = MAPS[chart.colours].with_extremes(under=NOTHING)
    if chart.log:
        return LogNorm(low, high * (1 + 1e-9) if high > low else high * 10), colours
    if chart.whole and high - low < charts.FEW:
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
            style: Any = {"ha": "center", "va": "center", "fontsize": 8, "color": colour}
            if chart.hatched is not None and chart.hatched[row, column]:  # the text has a ground
                style["bbox"] = {"facecolor": colours(norm(value)), "linewidth": 0, "pad": 0.5}
            axes.text(column, row, text, **style)


def _are_dark(colours: FloatArray) -> BoolArray:
    """Say on which colours, shape (..., red green blue alpha), white text is readable."""
    return (colours[..., :3] * (0.299, 0.587, 0.114)).sum(axis=-1) < 0.5


def _name_cells(axes: Axes, chart: Map) -> None:
    axes.set_ylabel(chart.y_label)
    axes.yaxis.set_visible(bool(chart.y_label))
    gridspec = axes.get_gridspec()
    width, height = _size(chart, 1 if gridspec is None else gridspec.ncols)
    for names, count, axis, long in (
        (chart.columns, chart.values.shape[1], axes.xaxis, width),
        (chart.rows, chart.values.shape[0], axes.yaxis, height),
    ):
        if names is not None:
            shown = charts.named(names, max(1, int((long - AROUND) / NAME)))
            axis.set_major_locator(FixedLocator(list(shown)))
            axis.set_major_formatter(FixedFormatter(list(shown.values())))
            axis.set_tick_params(labelsize=9, length=0)
        elif count <= charts.FEW:
            axis.set_major_locator(FixedLocator(range(count)))
        else:
            axis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    longest = max(map(len, chart.columns or [""]))
    if longest * LETTER > (max(width, WIDE / 1.3) - AROUND) / chart.values.shape[1]:
        axes.tick_params(axis="x", labelrotation=90)


@rc_context(STYLE)
def draw(plot: Plot, path: Path, dpi: int = DPI) -> None:
    """Draw a plot into a file; its ending, such as .png or .svg, names the format."""
    kind = charts.format_of(path)
    about = {"Title": plot.title, "Description": plot.caption}
    metadata: Any = {"png": about, "svg": {**about, "Date": None}}.get(kind)
    figure = to_figure(plot)
    make_folder(path.parent)
    write_file(path, lambda file: figure.savefig(file, format=kind, dpi=dpi, metadata=metadata))


class Drawing(NamedTuple):
    """A panel for a web page."""

    title: str
    colours: str  # the colour scale of a map, or nothing
    svg: str  # the picture, without the title
    #: What the picture says at its spots, with all places in parts of its width and height: ``x``,
    #: ``y`` and ``words`` of ``Spots``, and the left, top, right and bottom of the axes as ``box``.
    spots: dict[str, Any]


@rc_context(PAGE)
def to_drawing(panel: Panel) -> Drawing:
    """Draw a panel as an SVG element, and find where its spots are."""
    text, figure = io.StringIO(), to_figure(Plot.of(replace(panel, title=""), ""))
    for cells in figure.axes[0].collections if isinstance(panel, Map) else ():
        cells.set_rasterized(True)  # a shape for each cell would make a page five times as large
    figure.savefig(text, format="svg", dpi=DPI, metadata={"Date": None})
    svg = text.getvalue()[text.getvalue().index("<svg") :].replace(INK, "currentColor")
    axes, (across, up, words) = figure.axes[0], panel.spots
    placed = (axes.transData + figure.transFigure.inverted()).transform
    x = placed(np.reshape([(each, axes.get_ylim()[0]) for each in across], (-1, 2)))[:, 0]
    y = 1 - placed(np.reshape([(axes.get_xlim()[0], each) for each in up], (-1, 2)))[:, 1]
    box = axes.get_position()
    spots: dict[str, Any] = {"box": [box.x0, 1 - box.y1, box.x1, 1 - box.y0], "words": words}
    for axis, places in {"x": x, "y": y}.items():  # JSON has no number but finite ones
        spots[axis] = np.where(np.isfinite(places), places.round(4), -1.0).tolist()
    return Drawing(panel.title, str(getattr(panel, "colours", "")), svg, spots)


class _Shown(Figure):
    """A figure that notebooks show, whether or not pyplot has told them how."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=NOTEBOOK)
        return file.getvalue()


@rc_context(STYLE)
def to_figure(plot: Plot) -> Figure:
    """Draw a plot as a figure of matplotlib, which notebooks show and people change."""
    columns = min(plot.columns, len(plot.panels))
    rows = [plot.panels[i : i + columns] for i in range(0, len(plot.panels), columns)]
    sizes = [[_size(panel, columns) for panel in row] for row in rows]
    widths = [max(row[i][0] for row in sizes if i < len(row)) for i in range(columns)]
    heights = [max(height for _, height in row) for row in sizes]
    wide = max(WIDE / 1.3, sum(widths))
    notes = "\n".join(line for note in plot.notes for line in wrap(note, int(wide / LETTER)))
    title = "\n".join(wrap(plot.title, int(wide / LETTER / 1.45)))
    handles = {label: key for panel in plot.panels for label, key in _legend(panel)}
    ncols = max(1, int(wide / (SWATCH + LETTER * max(map(len, handles), default=0))))
    lines = notes.count("\n") + title.count("\n") - -len(handles) // ncols
    tall = 0.6 + 0.2 * lines
    figure = _Shown(figsize=(wide, sum(heights) + tall), layout="constrained")
    places = figure.subplots(
        len(rows), columns, squeeze=False, width_ratios=widths, height_ratios=heights
    )
    for row, line, high in zip(places, rows, heights, strict=True):
        for number, (axes, panel) in enumerate(zip(row, line, strict=False)):
            DRAWERS[type(panel)](axes, panel)
            axes.set_ylabel(_broken(axes.get_ylabel(), 0.9 * high))
            if number and axes.get_ylabel() == row[number - 1].get_ylabel():
                axes.yaxis.label.set_visible(False)
            axes.set_xlabel(_broken(panel.x_label, 0.75 * wide * widths[number] / sum(widths)))
            if len(plot.panels) > 1:
                axes.set_title(panel.title, loc="left")
            beside = line[number + 1 : number + 2]
            shared = beside and isinstance(panel, Map) and panel.shares_scale(beside[0])
            if isinstance(panel, Map) and not shared and not panel.has_few_names:
                _add_scale(axes, panel)
    for axes in places.ravel()[len(plot.panels) :]:
        axes.remove()
    if handles or notes:
        place: Any = {"loc": "outside lower center", "ncols": ncols, "frameon": False}
        texts: Any = {"fontsize": 10, "title": notes, "title_fontsize": 10, "alignment": "left"}
        figure.legend(list(handles.values()), list(handles), **place, **texts)
    figure.suptitle(title, fontsize=13, fontweight="bold")
    return figure


def _broken(label: str, room: float) -> str:
    """Break a label into lines for a room in inches."""
    return "\n".join(wrap(label, max(10, int(room / LETTER))))


def _size(panel: Panel, beside: int = 1) -> tuple[float, float]:
    """Return width and height in inches, of a panel with others beside it.

    A map has room for its texts, or is at most as tall as wide.
    """
    wide = WIDE / max(beside, 1.3)
    if isinstance(panel, Bars):
        double = 1 if panel.others is None else 1.5
        return WIDE / max(0.9 * beside, 1.2), max(2.4, 0.23 * double * len(panel.labels) + 1.1)
    if isinstance(panel, Marks):
        high, across = panel.picture.shape[:2]
        return wide, 0.5 + wide * high / across
    if not isinstance(panel, Map):
        return wide, (0.65 if isinstance(panel, Lines) else 0.9) * wide
    rows, columns = panel.values.shape
    if panel.texts is not None:
        longest = max(len(line) for text in panel.texts.ravel() for line in text.split("\n"))
        return 0.075 * max(4, longest + 1) * columns + 2.0, 0.3 * rows + 1.5
    if panel.rows is None:
        return wide, WIDE / max(beside, 1.5)
    if panel.columns is not None:
        wide = max(wide, (0.15 if columns > charts.MANY else 0.22) * columns + 2.2)
    high = max(WIDE / 3, (0.15 if rows > charts.MANY else 0.22) * rows + 1.4)
    return wide, min(high, WIDE / max(1, 0.8 * beside))


def _legend(panel: Panel) -> Iterator[tuple[str, Patch]]:
    """List what lines, paired bars, marks, named colours and cells outside the scale are."""
    if isinstance(panel, Bars) and panel.others is not None:
        for name, colour in zip((panel.name, panel.others_name), charts.COLOURS, strict=False):
            yield name, Patch(facecolor=colour)
    elif isinstance(panel, Lines) and not panel.direct:
        for number, line in enumerate(panel.series):
            if line.name:
                yield line.name, Patch(facecolor=line.colour_at(number))
    elif isinstance(panel, Marks):
        if panel.costly.any():
            yield "gives something away", Patch(facecolor=charts.COLOURS[COSTLY])
        if panel.faded.any():
            yield "never met", Patch(facecolor="black", alpha=1 - charts.VEIL)
    elif isinstance(panel, Map):
        yield from _legend_of_map(panel)


def _legend_of_map(panel: Map) -> Iterator[tuple[str, Patch]]:
    """List what named colours and cells outside the colour scale are."""
    norm, colours = _norm(panel)
    for number, name in enumerate(panel.names or () if panel.has_few_names else ()):
        yield name, Patch(facecolor=colours(norm(number)))
    faded = np.isfinite(panel.values) & (False if panel.faded is None else panel.faded)
    veiled = _veiled(colours(norm(panel.values[faded]))) if faded.any() else charts.GREY
    hatched = {**OUTLINED, "edgecolor": SHADE, "hatch": "//////"}
    for cells, label, style in (
        (np.isnan(panel.values), panel.missing_label, {"facecolor": charts.GREY}),
        (faded, panel.faded_label, {"facecolor": veiled}),
        (panel.hatched, panel.hatched_label, hatched),
        (panel.below_scale, panel.below_label, OUTLINED),
    ):
        if label and cells is not None and cells[panel.window].any():
            yield label, Patch(**style)


def _veiled(below: FloatArray) -> tuple[float, ...]:
    """Return the mean of some colours, shape (cell, red green blue alpha), below the veil."""
    veil = charts.VEIL * np.array(to_rgb(charts.GREY))
    return tuple(veil + (1 - charts.VEIL) * below[:, :3].mean(axis=0))


def _draw_lines(axes: Axes, chart: Lines) -> None:
    for number, line in enumerate(chart.series):
        style = ("o-" if chart.points else "-") if line.joined else "o"
        colour = line.colour_at(number)
        options: Any = {"color": colour, "markersize": 4, "linewidth": 1.5}
        axes.plot(line.x, line.y, style, label=line.name, **options)
        if line.low is not None and line.high is not None and not line.joined:
            axes.vlines(line.x, line.low, line.high, color=colour, alpha=0.4)
        elif line.low is not None and line.high is not None:
            axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.2, linewidth=0)
    if chart.level is not None:
        axes.axhline(chart.level, color="black", linewidth=0.8, linestyle=":")
    axes.set_ylabel(chart.y_label)
    axes.set_yscale("log" if chart.log_y else "linear")
    axes.set_xscale("log" if chart.log_x else "linear")
    axes.grid(alpha=0.3, which="both" if chart.log_y else "major")
    (low, high), below = axes.get_ylim(), -np.inf
    by_end = sorted(enumerate(chart.series), key=lambda each: float(each[1].y[-1]))
    for number, line in by_end if chart.direct else ():  # each name apart from those below
        below = max(float(line.y[-1]), below + APART * (high - low))
        colour = line.colour_at(number)
        place: Any = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 10}
        axes.text(1.015, below, line.name, color=colour, **place)


def _draw_bars(axes: Axes, chart: Bars) -> None:
    places = np.arange(len(chart.labels), dtype=np.float64)
    if chart.low is not None and chart.high is not None:
        around = np.maximum([chart.values - chart.low, chart.high - chart.values], 0)
        around = np.nan_to_num(around)
        colours = [0] * len(places) if chart.colours is None else chart.colours
        for row, colour in enumerate(colours):
            at = {"x": chart.values[row], "y": places[row], "xerr": around[:, row : row + 1]}
            axes.errorbar(
                **at, fmt="o", capsize=3, color=charts.COLOURS[colour % len(charts.COLOURS)]
            )
    else:
        bars = {0.0: chart.values}
        if chart.others is not None:
            bars = {-0.2: chart.values, 0.2: chart.others}
        for shift, values in bars.items():
            known = np.nan_to_num(values)
            drawn = axes.barh(places + shift, known, height=0.4 if shift else 0.75)
            numbers = ["not legible" if np.isnan(each) else f"{each:.4g}" for each in values]
            axes.bar_label(drawn, numbers, padding=3, fontsize=9)
    axes.set_yticks(places, list(chart.labels), fontsize=10)
    axes.set_ylim(len(places) - 0.4, -0.6)
    axes.grid(alpha=0.3, axis="x")
    axes.set_axisbelow(True)
    if chart.log:
        axes.set_xscale("log")
    elif chart.limits:
        axes.set_xlim(chart.limits)
    else:
        axes.margins(x=0.2)  # for the numbers


def _draw_points(axes: Axes, chart: Points) -> None:
    sizes = 3 + 60 * np.sqrt(chart.weights / chart.weights.max())
    order = np.argsort(chart.weights)
    x, y, areas = (numbers[order] for numbers in (chart.x, chart.y, sizes))
    axes.scatter(x, y, areas, alpha=0.35, linewidth=0, rasterized=len(order) >= charts.LARGE)
    ends = [float(min(chart.x.min(), chart.y.min())), float(max(chart.x.max(), chart.y.max()))]
    axes.plot(ends, ends, color="black", linewidth=0.8, linestyle=":")
    axes.set_ylabel(chart.y_label)
    axes.grid(alpha=0.3)


def _draw_marks(axes: Axes, chart: Marks) -> None:
    axes.imshow(chart.picture)
    axes.axis("off")
    x, y, _ = chart.spots
    apart = min(np.diff(np.unique(each.round(1))).min(initial=90) for each in (x, y))
    inches = _size(chart, 2)[0] / chart.picture.shape[1]
    size = min(22.0, max(6.0, 72 * 0.8 * inches * apart))
    around = [withStroke(linewidth=size / 5, foreground="white")]
    style: Any = {"ha": "center", "va": "center", "fontsize": size, "fontweight": "bold"}
    for across, up, text, costly, faded in zip(
        x, y, chart.texts, chart.costly, chart.faded, strict=True
    ):
        colour, alpha = charts.COLOURS[COSTLY] if costly else "black", 1 - charts.VEIL * faded
        axes.text(across, up, text, color=colour, alpha=alpha, path_effects=around, **style)


#: What draws a panel, by its class.
DRAWERS: dict[type[Any], Callable[[Axes, Any], None]] = {
    Map: _draw_map,
    Lines: _draw_lines,
    Bars: _draw_bars,
    Points: _draw_points,
    Marks: _draw_marks,
}
