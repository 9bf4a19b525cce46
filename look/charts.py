"""Charts as data, apart from how they are drawn.

A ``Picture`` has one panel or several, and a sentence that says what they show. ``drawing`` writes
it as a file, ``page`` as a part of a web page, so that nothing is computed or described twice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ..core import BoolArray, FloatArray, InputError

GREY = "#b8b8b8"  # of cells without a value, and over faded cells
VEIL = 0.65  # opacity of the grey over faded cells
FEW = 12  # cells, or whole numbers, up to which each gets its tick
#: Wong's colours, which colour-blind readers can tell apart (Nature Methods 8, 441).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
FORMATS = ("png", "svg", "pdf", "jpg", "webp")  # written without another program
MANY = 30  # rows or columns from which their names are small, and no lines part rows
MOST = 60  # names of rows or columns that can be read
LARGE = 2000  # cells from which a map is drawn as pixels in an SVG too
RANGE = 1e5  # largest ratio of the ends of a logarithmic scale
#: Colour scales: from low to high, or from a middle to both sides.
Colours = Literal["sequential", "diverging"]
#: Returns the text that a reader sees when pointing at a cell (row, column) of a map.
CellWords: TypeAlias = Callable[[int, int], str]


@dataclass(frozen=True, kw_only=True, eq=False)
class Map:
    """A table of cells in colours, row 0 at the bottom.

    Attributes:
        title: what the map shows.
        x_label: what the columns are.
        y_label: what the rows are.
        values: shape (row, column); NaN for a grey cell without a value.
        value_label: what the values are, and their unit.
        columns: names of the columns; None for numbers from 0 on.
        rows: names of the rows; None for numbers from 0 on.
        missing_label: what cells without a value are.
        apart: faded cells, shape (row, column).
        apart_label: what faded cells are.
        marked: hatched cells, shape (row, column).
        marked_label: what hatched cells are.
        texts: texts in the cells, shape (row, column).
        words: returns the text that a reader sees when pointing at a cell.
        colours: the colour scale.
        limits: values of the first and the last colour; by default the smallest and the largest.
        whole: whether values are whole numbers, each with its own colour.
        log: whether the colour scale is logarithmic; 0 has no colour then.
    """

    title: str
    x_label: str
    y_label: str
    values: FloatArray
    value_label: str
    columns: Sequence[str] | None = None
    rows: Sequence[str] | None = None
    missing_label: str = ""
    apart: BoolArray | None = None
    apart_label: str = ""
    marked: BoolArray | None = None
    marked_label: str = ""
    texts: npt.NDArray[np.str_] | None = None
    words: CellWords | None = None
    colours: Colours = "sequential"
    limits: tuple[float, float] | None = None
    whole: bool = False
    log: bool = False

    @property
    def parted(self) -> bool:
        """Whether lines part the cells, as there is room."""
        return len(self.values) <= MANY and self.values.size < LARGE

    @property
    def faint(self) -> BoolArray:
        """Which values are zero or below a logarithmic scale, shape (row, column)."""
        faint: BoolArray = self.values < (self.span[0] if self.log else -np.inf)
        return faint

    @property
    def span(self) -> tuple[float, float]:
        """Values of the first and the last colour."""
        if self.limits is not None:
            return self.limits
        known = self.values[np.isfinite(self.values)]
        if self.log:
            known = known[known > 0]
            highest = float(known.max(initial=0.0)) or 1.0
            return max(float(known.min(initial=highest)), highest / RANGE), highest
        if not len(known):
            return 0.0, 1.0
        return float(known.min()), float(known.max())


@dataclass(frozen=True, kw_only=True, eq=False)
class Series:
    """One line: numbers y over x, and a band around it, if there is one.

    ``colour`` is its place in ``COLOURS``, by default that among the lines of its chart.
    """

    name: str
    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    colour: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Lines:
    """Lines over one axis.

    Attributes:
        title: what the lines show.
        x_label: quantity on the x axis.
        y_label: quantity on the y axis.
        series: the lines.
        log_y: whether the y axis is logarithmic.
        level: height of a thin horizontal line.
        points: whether to mark each number by a point.
    """

    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    log_y: bool = False
    level: float | None = None
    points: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Bars:
    """Horizontal bars, the first on top; points if there are intervals.

    Attributes:
        title: what the bars show.
        x_label: quantity of the lengths.
        labels: name of each bar, shape (bar,).
        values: lengths, shape (bar,).
        name: name of ``values``, if there are ``others``.
        others: lengths of second bars, such as a source's numbers; NaN for a missing number.
        others_name: name of ``others``.
        low: lower ends of intervals.
        high: upper ends of intervals.
        marked: hatched bars, shape (bar,); points with intervals cannot be marked.
        marked_label: what hatched bars are.
        log: whether the axis is logarithmic.
        words: texts that a reader sees when pointing at a bar.
    """

    title: str
    x_label: str
    labels: Sequence[str]
    values: FloatArray
    name: str = ""
    others: FloatArray | None = None
    others_name: str = ""
    low: FloatArray | None = None
    high: FloatArray | None = None
    marked: BoolArray | None = None
    marked_label: str = ""
    log: bool = False
    words: Sequence[str] | None = None

    def __post_init__(self) -> None:
        """Check that bars, not points, are marked."""
        assert self.marked is None or self.low is None


@dataclass(frozen=True, kw_only=True, eq=False)
class Points:
    """Points that should lie on the diagonal.

    Attributes:
        title: what the points show.
        x_label: quantity on the x axis.
        y_label: quantity on the y axis.
        x: shape (point,).
        y: shape (point,).
        weights: weights, which are shown as sizes, shape (point,).
        words: returns the text that a reader sees when pointing at a point.
    """

    title: str
    x_label: str
    y_label: str
    x: FloatArray
    y: FloatArray
    weights: FloatArray
    words: Callable[[int], str]


Panel: TypeAlias = Map | Lines | Bars | Points


@dataclass(frozen=True, kw_only=True, eq=False)
class Picture:
    """Panels that belong together.

    Attributes:
        title: what the panels show.
        says: what the panels show, in a sentence or two.
        panels: from left to right, then from top to bottom.
        columns: number of panels side by side.
    """

    title: str
    says: str
    panels: Sequence[Panel]
    columns: int = 2

    @classmethod
    def of(cls, panel: Panel, says: str) -> "Picture":
        """Make a picture of one panel, with the panel's title."""
        return cls(title=panel.title, says=says, panels=[panel])


def named(names: Sequence[str]) -> range:
    """Choose the rows or columns that get their names: all, or as many as can be read."""
    return range(0, len(names), -(-len(names) // MOST))


def format_of(picture: Path) -> str:
    """Return the format of a file by its ending.

    Raises:
        InputError: if the ending is none of ``FORMATS``.
    """
    kind = picture.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise InputError(f"picture must end in one of {', '.join(FORMATS)}, got {picture}")
    return kind
