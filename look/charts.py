"""Charts as data: what there is to see, apart from how it is drawn.

A ``Picture`` is one panel or several, and a sentence that says what they show. ``drawing`` makes
files of it, ``page`` parts of a web page, so that nothing is computed or put into words twice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ..core import BoolArray, FloatArray, InputError

GREY = "#b8b8b8"  # of what is set apart
VEIL = 0.65  # how much of a cell that is set apart the grey covers
FEW = 12  # cells, or whole numbers, up to which each gets its tick
#: Wong's colours, which the colour-blind tell apart too (Nature Methods 8, 441).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
FORMATS = ("png", "svg", "pdf", "jpg", "webp")  # those that need no other program
MANY = 30  # rows or columns from which their names are small, and no lines part rows
MOST = 60  # names of rows or columns that can be read
LARGE = 2000  # cells from which a map is drawn as pixels in an SVG too
DECADES = 1e5  # between the ends of a logarithmic scale at most
#: How colours run: from little to much, or away from a middle on either side.
Colours = Literal["sequential", "diverging"]
#: Says what a cell (row, column) of a map is, to who points at it.
CellWords: TypeAlias = Callable[[int, int], str]


@dataclass(frozen=True, kw_only=True, eq=False)
class Map:
    """A table of cells in colours, row 0 at the bottom.

    Attributes:
        title: what it shows.
        x_label: what the columns are.
        y_label: what the rows are.
        values: shape (row, column); NaN where there is nothing, which is grey.
        value_label: what the values are, and their unit.
        columns: names of the columns; None for numbers from 0 on.
        rows: the same of the rows.
        missing_label: what has no value.
        apart: cells to set apart under a grey veil, shape (row, column).
        apart_label: what they are.
        marked: cells to hatch, shape (row, column).
        marked_label: what they are.
        texts: what stands in the cells, shape (row, column).
        words: what a cell says to who points at it.
        colours: how colours run.
        limits: values of the first and the last colour; by default those that occur.
        whole: whether values are whole numbers, with a colour each.
        log: whether colours follow the logarithm; 0 has no colour then.
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
        """Whether there is room for lines between the cells."""
        return len(self.values) <= MANY and self.values.size < LARGE

    @property
    def faint(self) -> BoolArray:
        """Which values are too small for a logarithmic scale, zero included."""
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
            return max(float(known.min(initial=highest)), highest / DECADES), highest
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
        title: what they show.
        x_label: what goes to the right.
        y_label: what goes up.
        series: the lines.
        log_y: whether the y axis is logarithmic.
        level: a height to draw a thin line at.
        points: whether the numbers lie at points, which are shown.
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
    """Bars to the right, the first on top; with intervals, points.

    Attributes:
        title: what they show.
        x_label: what their lengths are.
        labels: what each bar is, shape (bar,).
        values: their lengths, shape (bar,).
        name: what these values are, where there are others.
        others: second values beside, such as a source's; NaN where there is none.
        others_name: what they are.
        low: lower ends of intervals.
        high: upper ends of intervals.
        log: whether the axis is logarithmic.
        words: what each bar says to who points at it.
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
    log: bool = False
    words: Sequence[str] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Points:
    """Points that should lie on the diagonal.

    Attributes:
        title: what they show.
        x_label: what goes to the right.
        y_label: what goes up.
        x: shape (point,).
        y: shape (point,).
        weights: how much each counts, which is its size, shape (point,).
        words: what each says to who points at it.
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
        title: what they show.
        says: the same in a sentence or two.
        panels: from left to right, and then from top to bottom.
        columns: how many are side by side.
    """

    title: str
    says: str
    panels: Sequence[Panel]
    columns: int = 2

    @classmethod
    def of(cls, panel: Panel, says: str) -> "Picture":
        """Make a picture of one panel, whose title it has."""
        return cls(title=panel.title, says=says, panels=[panel])


def named(names: Sequence[str]) -> range:
    """Say which rows or columns get their names, of so many that not all can be read."""
    return range(0, len(names), -(-len(names) // MOST))


def format_of(picture: Path) -> str:
    """Give the format that the ending of a file says.

    Raises:
        InputError: if it is none of ``FORMATS``.
    """
    kind = picture.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise InputError(f"picture must end in one of {', '.join(FORMATS)}, got {picture}")
    return kind
