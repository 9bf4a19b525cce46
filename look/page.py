"""A self-contained web page of texts, tables and interactive plots."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..core import Table
from .charts import Bars, Map, Panel, Plot
from .hover import to_hover_over
from .packing import pack

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem;
       color: #1b1f24; background: #fff }
.scroll { overflow-x: auto }
.panels { display: grid; gap: 1rem }
.panels > div { min-width: 0 }
.two { grid-template-columns: 1fr 1fr }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0 }
th, td { padding: .25rem min(.75rem, 1.4vw); border-bottom: 1px solid #d0d7de; text-align: left }
.number { text-align: right; white-space: nowrap }
table.sortable { position: relative }
table.sortable :is(th, td):first-child { position: sticky; left: 0; background: #fff }
table.sortable tr > th { white-space: normal; vertical-align: bottom }
table.sortable td { white-space: nowrap }
th button { all: unset; cursor: pointer }
th button:focus-visible { outline: 2px solid #0072b2 }
th[aria-sort=ascending] button::after { content: " \\25b2" }
th[aria-sort=descending] button::after { content: " \\25bc" }
.swatch { display: inline-block; width: .7em; height: .7em; margin-right: .4em }
figure { margin: 1rem 0 }
figure svg { max-width: 100%; height: auto }
@media (max-width: 50rem) {
  body { margin: 1rem auto }
  .two { grid-template-columns: 1fr }
  table { font-size: .85rem }
  td:first-child { min-width: 8rem }
  th, td { padding: .25rem .75rem .25rem 0 }
}
h1, h2, p { overflow-wrap: anywhere }
nav ul { columns: 18rem; padding-left: 1.2rem }
code { background: #f0f2f4; padding: .1rem .3rem }
"""
#: Sorts a table by a column: numbers by size, and rows without a number last.
SORTING = """
for (const button of document.querySelectorAll("table.sortable th button")) {
  button.addEventListener("click", () => {
    const head = button.parentNode, body = head.closest("table").tBodies[0];
    const column = head.cellIndex, falls = head.getAttribute("aria-sort") !== "descending";
    const number = (row) => parseFloat(row.cells[column].textContent.replaceAll(",", ""));
    const rows = [...body.rows], sign = falls ? -1 : 1;
    const numeric = rows.some((row) => !Number.isNaN(number(row)));
    rows.sort((one, other) => {
      if (!numeric) {
        return -sign * one.cells[column].textContent.localeCompare(other.cells[column].textContent);
      }
      const [a, b] = [number(one), number(other)];
      if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
      return sign * (a - b);
    });
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falls === numeric ? "descending" : "ascending");
    body.append(...rows);
  });
}
"""


def to_html(title: str, parts: Sequence[str]) -> str:
    """Write a page of parts, which loads nothing from other servers.

    Args:
        title: its title.
        parts: its paragraphs, tables and plots, as HTML.
    """
    body = pack(parts)
    if '<table class="sortable">' in body:
        body += f"\n<script>{SORTING}</script>"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>{html.escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{html.escape(title)}</h1>
{body}
</body>
</html>
"""


def paragraph(text: str) -> str:
    """Write a paragraph."""
    return f"<p>{html.escape(text)}</p>"


def heading(text: str) -> str:
    """Write a heading, to which ``contents`` can lead."""
    place = re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")
    return f'<h2 id="{place}">{html.escape(text)}</h2>'


def contents(parts: Sequence[str]) -> str:
    """Write links to the headings in parts of a page."""
    found = re.findall('<h2 id="(.*?)">(.*?)</h2>', "\n".join(parts))
    lines = "".join(f'<li><a href="#{place}">{text}</a></li>' for place, text in found)
    return f'<nav aria-label="Contents"><ul>{lines}</ul></nav>'


def table(header: Sequence[str], rows: Sequence[Sequence[str]], texts: int | None = None) -> str:
    """Write a table of which the first ``texts`` columns hold words; None: all do."""
    return _scrolled(Table(header, rows, texts=len(header) if texts is None else texts).html())


def sortable(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    swatches: Mapping[str, str] | None = None,
) -> str:
    """Write a table of two columns of words and others of numbers, which sorts itself.

    Args:
        header: names of the columns; a click on one sorts the rows by it.
        rows: texts of the cells.
        swatches: colours by the texts that get a swatch, as a legend has.
    """
    return _scrolled(Table(header, rows, texts=2).html(swatches, sortable=True))


def _scrolled(table: str) -> str:
    return f'<div class="scroll">{table}</div>'


def links(addresses: Mapping[str, str]) -> str:
    """Write a list of links to other pages, by their texts."""
    lines = "".join(
        f'<li><a href="{html.escape(address)}" rel="nofollow noopener">{html.escape(text)}</a></li>'
        for text, address in addresses.items()
    )
    return f"<ul>{lines}</ul>"


def section(plot: Plot, name: str) -> str:
    """Write a plot with its title and caption; ``name`` is unique on the page."""
    several = len(plot.panels) > 1
    panels = "\n".join(
        f"<div>{_title(panel, several)}"
        f'<div class="scroll"><div style="min-width: {_width(panel)}px">'
        f"{to_hover_over(panel, f'{name}-{number}')}</div></div></div>"
        for number, panel in enumerate(plot.panels)
    )
    beside = "panels two" if several else "panels"
    keys = dict.fromkeys(key for panel in plot.panels for key in _keys(panel))
    parts = [
        heading(plot.title),
        paragraph(plot.caption),
        f'<div class="{beside}">{panels}</div>',
    ]
    if keys:
        of = "Cells" if any(isinstance(panel, Map) for panel in plot.panels) else "Bars"
        parts.append(paragraph(f"{of}: {'; '.join(keys)}."))
    return "\n".join(parts)


def _title(panel: Panel, titled: bool) -> str:
    """Write what stands above a panel: its title if ``titled``, and what a map's colours are."""
    words = [panel.title] if titled and panel.title else []
    words += [panel.value_label] if isinstance(panel, Map) else []
    return f"<p><b>{html.escape(': '.join(words))}</b></p>" if words else ""


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
