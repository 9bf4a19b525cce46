"""A table, as Markdown, CSV, HTML or lines of a terminal: the package writes tables here alone.

And as a table of pandas, which is optional: the rest of the package does not need it.
"""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import InputError, needing

#: Least width of a column of words, largest of a name above numbers, space between two columns.
_WORDS, _NAME, _GAP = 10, 16, 3


@dataclass(frozen=True)
class Table:
    """A table."""

    header: Sequence[str]  # names of the columns
    rows: Sequence[Sequence[Any]]  # the cells of each row, texts or numbers
    title: str = ""  # stands above the table in HTML and on a terminal
    texts: int = 1  # number of the first columns, which hold words; numbers stand on the right

    def csv(self) -> str:
        """Write comma-separated values: numbers with all digits, nothing for None."""
        import csv

        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.header, *self.rows])
        return text.getvalue()

    def markdown(self, *, aligned: bool = False) -> str:
        """Write Markdown, if ``aligned`` with columns that stand below each other as text, too."""
        lines = [[str(cell).replace("|", "\\|") for cell in line] for line in self._lines]
        rules = ["---"] * len(self.header)
        if aligned:
            widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
            left, right = widths[: self.texts], widths[self.texts :]
            rules = ["-" * width for width in left] + ["-" * (width - 1) + ":" for width in right]
            forms = [f"<{width}" for width in left] + [f">{width}" for width in right]
            lines = [list(map(format, line, forms)) for line in lines]
        return "\n".join(f"| {' | '.join(line)} |" for line in [lines[0], rules, *lines[1:]])

    def html(self, swatches: Mapping[str, str] | None = None, *, sortable: bool = False) -> str:
        """Write HTML, with swatches for texts that have a colour, as a legend has.

        If it is sortable, the names of the columns are buttons for a script that sorts.
        """
        from html import escape

        name = '<button type="button">{}</button>' if sortable else "{}"
        swatch = '<span class="swatch" style="background: {}"></span>'
        marks = {text: swatch.format(colour) for text, colour in (swatches or {}).items()}
        kinds = [' class="number"' if n >= self.texts else "" for n in range(len(self.header))]

        def line(tag: str, cells: Iterable[str]) -> str:
            each = (f"<{tag}{kind}>{cell}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))
            return f"<tr>{''.join(each)}</tr>"

        head = line("th", (name.format(escape(text)) for text in self.header))
        head = head.replace("<th></th>", "<td></td>")  # a heading has words
        rows = (map(str, row) for row in self.rows)
        body = "".join(line("td", (marks.get(c, "") + escape(c) for c in row)) for row in rows)
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        start = '<table class="sortable">' if sortable else "<table>"
        return f"{start}{caption}<thead>{head}</thead><tbody>{body}</tbody></table>"

    def show(self, console: Any) -> None:
        """Print the table on a ``Console`` of rich: words wrap, numbers stay whole.

        If the terminal is too narrow for the columns, each cell gets a line.
        """
        from rich import box, table
        from rich.text import Text

        shown, room = table.Table(box=box.SIMPLE_HEAD, pad_edge=False), console.width
        for place, (name, *cells) in enumerate(zip(*self._lines, strict=True)):
            if place < self.texts:
                shown.add_column(Text(name), overflow="fold")
                room -= _WORDS + _GAP
            else:
                words = (min(_NAME, len(word)) for word in name.split())
                width = max([*(len(str(cell)) for cell in cells), *words])
                shown.add_column(Text(name), width=width, justify="right", overflow="fold")
                room -= width + _GAP
        if self.title:
            console.print(Text(self.title, "italic"), soft_wrap=True)
        if room < 0:
            for row in self.rows:
                named = zip(self.header, map(str, row), strict=True)
                lines = (f"{name}: {cell}" if name else cell for name, cell in named)
                console.print(Text("\n".join(["", *lines])))
            return
        for row in self.rows:
            shown.add_row(*(Text(str(cell)) for cell in row))
        console.print(shown)

    @property
    def _lines(self) -> list[Sequence[Any]]:
        return [self.header, *self.rows]


class InParts:
    """A result that prints as sentences and tables, and shows both in a notebook."""

    def parts(self) -> Iterable[str | Table]:
        """Give the sentences and the tables, in order."""
        raise NotImplementedError

    def __str__(self) -> str:
        texts = (
            part if isinstance(part, str) else f"\n{part.title}\n{part.markdown(aligned=True)}\n"
            for part in self.parts()
        )
        return re.sub(r"\n{3,}", "\n\n", "\n".join(texts)).strip("\n")

    def _repr_html_(self) -> str:
        """Write paragraphs and tables, for notebooks."""
        from html import escape

        each = (p.html() if isinstance(p, Table) else f"<p>{escape(p)}</p>" for p in self.parts())
        return "".join(each)


def frame(columns: Mapping[str, Any]) -> Any:
    """Make a ``pandas.DataFrame`` of columns of equal length."""
    with needing("to_frame", "pandas", InputError):
        from pandas import DataFrame
    return DataFrame(dict(columns))
