"""A self-contained web page of texts, tables and interactive plots.

A page is a list of parts, which a template of jinja2 (``look/templates``) turns into HTML. The
script of plotly takes 4.8 MB and the numbers of large maps as much again; compressed both take a
quarter. Every browser since 2023 can unpack them (``DecompressionStream``).
"""

import base64
import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from ..core import Table
from .charts import Bars, Map, Panel, Plot
from .hover import to_hover_over

HEIGHT = 450  # of plots that say no other, in pixels


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
    templates.filters["anchor"] = _anchor
    return templates.get_template("page.html").render(title=title, parts=parts, packed=packed)


def _anchor(heading: str) -> str:
    return re.sub("[^a-z0-9]+", "-", heading.lower()).strip("-")


def _compressed(text: str) -> str:
    """Compress a text; the same text gives the same letters, as no time stands in them."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def paragraph(text: str) -> Part:
    """Return a paragraph."""
    return Part("paragraph", text)


def heading(text: str) -> Part:
    """Return a heading, to which ``CONTENTS`` leads."""
    return Part("heading", text)


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


def links(addresses: Mapping[str, str]) -> Part:
    """Return a list of links to other pages, by their texts."""
    return Part("links", addresses)


def figures(drawn: Sequence[str]) -> Part:
    """Return pictures, as SVG, side by side, or one by one on a narrow screen."""
    return Part("figures", [Markup(each) for each in drawn])  # noqa: S704  matplotlib's own


def section(plot: Plot, name: str) -> Iterator[Part]:
    """Yield a plot with its title and caption; ``name`` is unique on the page."""
    yield heading(plot.title)
    yield paragraph(plot.caption)
    several = len(plot.panels) > 1
    yield Part("plots", [_place(*each, name, several) for each in enumerate(plot.panels)])
    if keys := list(dict.fromkeys(key for panel in plot.panels for key in _keys(panel))):
        of = "Cells" if any(isinstance(panel, Map) for panel in plot.panels) else "Bars"
        yield paragraph(f"{of}: {'; '.join(keys)}.")


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


def _keys(panel: Panel) -> Iterator[str]:
    """Describe hatched bars, and cells outside the colour scale."""
    if isinstance(panel, Map):
        if np.isnan(panel.values[panel.window]).any() and panel.missing_label:
            yield f"grey, {panel.missing_label}"
        if panel.faded is not None and panel.faded[panel.window].any():
            yield f"faded, {panel.faded_label}"
    if isinstance(panel, Map | Bars) and panel.hatched is not None and panel.hatched.any():
        yield f"hatched, {panel.hatched_label}"
    if isinstance(panel, Map) and panel.below_scale[panel.window].any():
        yield "white, nothing or below the scale"
    if isinstance(panel, Map) and panel.seen.sum() > panel.seen[panel.window].sum():
        yield "a double click shows those outside the range, too"
