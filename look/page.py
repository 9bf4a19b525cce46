"""A self-contained web page of texts, tables and pictures that say something at each place.

A page is a list of elements, which a template of jinja2 (``look/templates``) turns into HTML.
Pictures are SVG, drawn with matplotlib. The texts of their places are compressed, as large maps
have megabytes of them; every browser since 2023 can unpack them (``DecompressionStream``).
"""

import base64
import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader

from ..core import Table
from .charts import Plot
from .drawing import to_drawing


class Element(NamedTuple):
    """An element of a page: its kind, by which the template chooses the form, and its content."""

    kind: str
    content: Any
    columns: int = 1  # number of figures side by side


#: Links to the headings of a page.
CONTENTS = Element("contents", None)
#: A paragraph of a text; a heading, to which ``CONTENTS`` leads; links, a mapping from their texts
#: to the addresses of other pages.
paragraph, heading, links = (partial(Element, kind) for kind in ("paragraph", "heading", "links"))


def to_html(title: str, elements: Sequence[Element]) -> str:
    """Write a page, which loads nothing from other servers."""
    drawn = (each.content.items() for each in elements if each.kind == "figures")
    spots = {name: drawing.spots for drawings in drawn for name, drawing in drawings}
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
    )
    templates.filters["anchor"] = lambda text: re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")
    page = templates.get_template("page.html")
    said = gzip.compress(json.dumps(spots, separators=(",", ":")).encode(), mtime=0)  # has no time
    packed = base64.b64encode(said).decode() if spots else ""
    return page.render(title=title, elements=elements, spots=packed)


def table(shown: Table) -> Element:
    """Return a table; its title stands nowhere: a heading has it."""
    return Element("table", replace(shown, title="").html())


def sortable(shown: Table, swatches: Mapping[str, str] | None = None) -> Element:
    """Return a table, with swatches of colours, that a click on the name of a column sorts."""
    return Element("sortable", shown.html(swatches, sortable=True))


def section(plot: Plot, name: str) -> Iterator[Element]:
    """Yield a plot with its title and caption; ``name`` is unique on the page."""
    yield heading(plot.title)
    yield paragraph(plot.caption)
    drawn = {f"{name}-{number}": to_drawing(panel) for number, panel in enumerate(plot.panels)}
    yield Element("figures", drawn, min(plot.columns, len(drawn)))
    yield from map(paragraph, plot.notes)
