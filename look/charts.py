"""Plots as data, independent of the library that draws them, and the charts, which make them.

A ``Plot`` has panels and a caption. ``drawing`` writes it as a file, ``page`` on a web page. A
chart is a function that makes a ``Plot``, registered under a name. The modules in ``look/games``
register the charts of one game each; ``agents`` those of any game.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, groupby
from math import ceil, sqrt
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from ..baselines import Task
from ..core import Array, BoolArray, FloatArray, Game, InputError, IntArray

GREY = "#b8b8b8"  # colour of cells without a value, and of the veil over faded cells
VEIL = 0.65  # opacity of the veil
FEW = 12  # up to this number of cells or whole numbers, each gets a tick
SMALLEST = 6  # smallest number of rows and columns of a window
#: Wong's colours, which colour-blind readers can tell apart (Nature Methods 8, 441), and five more
#: of Tol's, so that the agents of the leaderboard and the ladders have one each.
COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"),
    *("#882255", "#999933", "#332288", "#aa4499", "#44aa99"),
)
FORMATS = ("png", "svg", "pdf", "jpg", "webp")  # written without another program
MANY = 30  # above this number of rows, names are small and no lines separate the cells
LEGIBLE = 60  # the largest number of names on an axis that can be read
SPOTS = 12_000  # up to this number of cells of a map, each says something on a page
LARGE = 2000  # from this number of cells on, no lines separate them; of points, an SVG has pixels
RANGE = 1e5  # largest ratio of the ends of a logarithmic colour scale
#: Colour scales: from low to high, from the middle to both ends, or from pale to dark on white.
Colours = Literal["sequential", "diverging", "losses"]
#: Returns the text that a reader sees when pointing at a cell (row, column) of a map.
CellWords: TypeAlias = Callable[[int, int], str]


class Spots(NamedTuple):
    """Words that a page shows for the place of a panel under the pointer.

    Either points with a text each, or columns and rows with a list of texts for each row.
    """

    x: FloatArray  # in units of the axis
    y: FloatArray
    words: Sequence[str] | Sequence[Sequence[str]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Map:
    """A heat map: coloured cells, row 0 at the bottom."""

    title: str  # what the map shows
    x_label: str  # what the columns are
    y_label: str  # what the rows are
    values: FloatArray  # (row, column), NaN for a grey cell without a value
    value_label: str  # what the values are, and their unit
    columns: Sequence[str] | None = None  # names of the columns; None for numbers from 0 on
    rows: Sequence[str] | None = None  # names of the rows; None for numbers from 0 on
    missing_label: str = ""  # what cells without a value are
    faded: BoolArray | None = None  # (row, column) faded cells
    faded_label: str = ""  # what faded cells are
    hatched: BoolArray | None = None  # (row, column) hatched cells
    hatched_label: str = ""  # what hatched cells are
    texts: npt.NDArray[np.str_] | None = None  # (row, column) texts in the cells
    words: CellWords | None = None  # returns the text that a reader sees when pointing at a cell
    colours: Colours = "sequential"  # the colour scale
    # Values of the first and the last colour; by default the smallest and the largest.
    limits: tuple[float, float] | None = None
    whole: bool = False  # whether values are whole numbers, each with its own colour
    # Names of the whole numbers from 0 on, in the legend or beside the colour scale.
    names: Sequence[str] | None = None
    log: bool = False  # whether the colour scale is logarithmic; 0 has no colour then
    below_label: str = "nothing, or below the scale"  # what cells below a logarithmic scale are
    # A number or a word on some cells, by (row, column); a number may stand for a cell outside.
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict)
    # Rows and columns that are shown; by default those where cells are seen.
    crop: tuple[slice, slice] | None = None

    @property
    def seen(self) -> BoolArray:
        """Cells with a colour that are not faded, shape (row, column)."""
        seen: BoolArray = np.isfinite(self.values) & ~self.below_scale
        return seen if self.faded is None else seen & ~self.faded

    @property
    def window(self) -> tuple[slice, slice]:
        """Rows and columns that are shown: those where cells are seen.

        On axes of numbers, a few cells far from the others are left out, such as a beginning.
        """
        if self.crop is not None:
            return self.crop
        if not self.seen.any():
            return slice(0, len(self.values)), slice(0, self.values.shape[1])
        rows, columns = (self.seen.sum(axis=axis) for axis in (1, 0))
        return (
            _crowded(rows) if self.rows is None else _used(rows),
            _crowded(columns) if self.columns is None else _used(columns),
        )

    def shows(self, row: int, column: int) -> bool:
        """Whether a cell lies in the window."""
        places = zip((row, column), self.window, strict=True)
        return all(shown.start <= place < shown.stop for place, shown in places)

    @property
    def has_few_names(self) -> bool:
        """Whether a legend names each number, so that no colour scale is needed."""
        return self.names is not None and len(self.names) <= FEW

    def shares_scale(self, other: "Panel") -> bool:
        """Whether another panel's colours mean the same."""
        scale = attrgetter("span", "value_label", "colours", "names")
        return isinstance(other, Map) and bool(scale(self) == scale(other))

    @property
    def spots(self) -> Spots:
        """The cells in the window; of very many, those of some rows and columns."""
        cells = self.values[self.window].size
        shown = [range(each.start, each.stop, ceil(sqrt(cells / SPOTS))) for each in self.window]
        words = [[self._said(row, column) for column in shown[1]] for row in shown[0]]
        return Spots(np.array(shown[1]), np.array(shown[0]), words)

    def _said(self, row: int, column: int) -> str:
        """Describe a cell: by its words, or by its place and its value."""
        value = self.values[row, column]
        if np.isnan(value):
            return self.missing_label
        if self.words is not None:
            return self.words(row, column)
        number = f"{value:.0f}" if self.whole else f"{value:.6g}"
        words = self.names[int(value)] if self.names else f"{self.value_label} {number}"
        return f"{self.place(row, column)}: {words}"

    def place(self, row: int, column: int) -> str:
        """Say where a cell is."""
        axes = (self.x_label, self.columns, column), (self.y_label, self.rows, row)
        places = [f"{label} {names[at] if names else at}" for label, names, at in axes if label]
        return ", ".join(places)

    @property
    def has_lines(self) -> bool:
        """Whether there is room for lines between the cells, which an SVG has as pixels if not."""
        return len(self.values) <= MANY and self.values.size < LARGE

    @property
    def below_scale(self) -> BoolArray:
        """Cells too small for a logarithmic colour scale, such as 0, shape (row, column)."""
        return self.values < (self.span[0] if self.log else -np.inf)

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
    """One line, with a band from ``low`` to ``high`` if both are given.

    ``colour`` is an index into ``COLOURS``; by default the index of the line in its panel. Points
    are not ``joined`` where their order along the axis is not that in which they belong together.
    """

    name: str
    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    colour: int | None = None
    joined: bool = True

    def colour_at(self, place: int) -> str:
        """Return the colour of the line with this index in its panel."""
        return COLOURS[(place if self.colour is None else self.colour) % len(COLOURS)]


@dataclass(frozen=True, kw_only=True, eq=False)
class Lines:
    """Lines over one axis."""

    title: str  # what the lines show
    x_label: str  # quantity on the x axis
    y_label: str  # quantity on the y axis
    series: Sequence[Series]  # the lines
    log_y: bool = False  # whether the y axis is logarithmic
    log_x: bool = False  # whether the x axis is logarithmic
    level: float | None = None  # y of a thin horizontal line, for reference
    points: bool = False  # whether to draw a point at each number
    direct: bool = False  # whether names stand at the ends of the lines, instead of in a legend

    @property
    def spots(self) -> Spots:
        """The points of all lines."""
        x, y = (np.array([n for line in self.series for n in getattr(line, at)]) for at in "xy")
        names = [line.name for line in self.series for _ in line.x]
        words = [
            f"{name}\n{self.x_label} {across:,.6g}: {up:.4g}".lstrip()
            for name, across, up in zip(names, x, y, strict=True)
        ]
        return Spots(x, y, words)


@dataclass(frozen=True, kw_only=True, eq=False)
class Bars:
    """Horizontal bars, the first on top; points if there are intervals."""

    title: str  # what the bars show
    x_label: str  # quantity of the lengths
    labels: Sequence[str]  # (bar,) name of each bar
    values: FloatArray  # (bar,) lengths
    name: str = ""  # name of ``values`` in the legend, which only plots with ``others`` need
    # Lengths of a second set of bars, such as a source's numbers; NaN if missing.
    others: FloatArray | None = None
    others_name: str = ""  # name of ``others``
    low: FloatArray | None = None  # lower ends of intervals, NaN for a bar that has none
    high: FloatArray | None = None  # upper ends of intervals
    log: bool = False  # whether the axis is logarithmic
    limits: tuple[float, float] | None = None  # ends of the axis
    words: Sequence[str] | None = None  # texts that a reader sees when pointing at a bar
    # (bar,) colours of points with intervals, as indices into ``COLOURS``.
    colours: Sequence[int] | None = None

    @property
    def spots(self) -> Spots:
        """The bars, at any height of the second set."""
        words = self.words or [
            f"{label}: {value:.6g}" for label, value in zip(self.labels, self.values, strict=True)
        ]
        places = np.arange(len(words), dtype=np.float64)
        return Spots(
            np.nan_to_num(self.values).max(keepdims=True), places, [[text] for text in words]
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Points:
    """Points that should lie on the diagonal."""

    title: str  # what the points show
    x_label: str  # quantity on the x axis
    y_label: str  # quantity on the y axis
    x: FloatArray  # (point,)
    y: FloatArray  # (point,)
    weights: FloatArray  # (point,) weights, which are shown as sizes
    words: Callable[[int], str]  # returns the text that a reader sees when pointing at a point

    @property
    def spots(self) -> Spots:
        """The points."""
        return Spots(self.x, self.y, [self.words(point) for point in range(len(self.x))])


@dataclass(frozen=True, kw_only=True, eq=False)
class Marks:
    """Marks on a picture."""

    title: str  # what the marks show
    picture: Array  # uint8, (height, width, 3)
    places: FloatArray  # (mark, 2) right and down, in parts of the picture
    texts: Sequence[str]  # (mark,) an arrow, or a letter or two
    costly: BoolArray  # (mark,) which have another colour
    faded: BoolArray  # (mark,)
    words: Sequence[str]  # (mark,) what a reader sees when pointing at a mark
    x_label: str = ""

    @property
    def spots(self) -> Spots:
        """The marks, in pixels."""
        high, wide = self.picture.shape[:2]
        return Spots(wide * self.places[:, 0], high * self.places[:, 1], self.words)


Panel: TypeAlias = Map | Lines | Bars | Points | Marks


@dataclass(frozen=True, kw_only=True, eq=False)
class Plot:
    """Panels with one title and one caption."""

    title: str  # of all panels together
    caption: str  # what the panels show, in a sentence or two
    panels: Sequence[Panel]  # from left to right, then from top to bottom
    columns: int = 2  # number of panels side by side
    notes: Sequence[str] = ()  # lines below the panels, for what does not fit into them

    @classmethod
    def of(cls, panel: Panel, caption: str) -> "Plot":
        """Make a plot of one panel, with the panel's title."""
        return cls(title=panel.title, caption=caption, panels=[panel])


def _used(counts: IntArray) -> slice:
    """Leave out the first and the last rows or columns that have no cells."""
    places = np.flatnonzero(counts)
    return slice(int(places[0]), int(places[-1]) + 1)


def _crowded(counts: IntArray) -> slice:
    """Find where most cells lie on an axis, between gaps of more than a tenth of the axis.

    A short axis is taken as a whole, and of others ``SMALLEST`` places at least.
    """
    if len(counts) <= FEW:
        return slice(0, len(counts))
    places = np.flatnonzero(counts)
    groups = np.split(places, np.flatnonzero(np.diff(places) > max(2, len(counts) / 10)) + 1)
    most = max(groups, key=lambda group: int(counts[group].sum()))
    spare = max(0, SMALLEST - int(most[-1] - most[0]))
    first = min(max(0, int(most[0]) - spare // 2), len(counts) - SMALLEST)
    return slice(first, min(len(counts), max(int(most[-1]) + 1, first + SMALLEST)))


def named(names: Sequence[str], most: int = LEGIBLE) -> dict[int, str]:
    """Give the names of rows or columns that are shown, by their indices.

    If there are more than ``most``, one name in the middle of those that begin with the same words
    speaks for them, such as "3 1 ..." for rolls; or, if nothing is alike, every n-th is shown.
    """
    if len(names) <= most:
        return dict(enumerate(names))
    words = [name.split() for name in names]
    for length in range(max(map(len, words)) - 1, 0, -1):
        begins = [" ".join(each[:length]) for each in words]
        groups = [(begin, len(list(own))) for begin, own in groupby(begins)]
        if len(groups) <= most:
            shown: dict[int, str] = {}
            for (begin, size), end in zip(groups, accumulate(n for _, n in groups), strict=True):
                place = end - (size + 1) // 2
                if place - max(shown, default=-len(names)) >= len(names) / most:  # with room
                    shown[place] = f"{begin} ..."
            return shown
    return {place: names[place] for place in range(0, len(names), -(-len(names) // most))}


def format_of(picture: Path) -> str:
    """Return the format of a picture file, which is its ending."""
    kind = picture.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise InputError(f"picture must end in one of {', '.join(FORMATS)}, got {picture}")
    return kind


Draw = TypeVar("Draw", bound=Callable[..., Plot])
Kind = TypeVar("Kind", bound=Game)


class Chart(NamedTuple):
    """A chart of a game or of an agent."""

    draw: Callable[[Any], Plot]  # makes the plot of a ``Task`` or of a ``Score``
    game: type[Game]  # class of the game, or of the agent's; others are refused
    place: str  # name or place of the game that is drawn if none is given
    reported: bool = False  # whether the page of an agent shows a chart of its game, too


class Example(NamedTuple):
    """A chart of a policy, for the gallery: the words of the command that draws it."""

    chart: str
    policy: str
    place: str  # name or place of the policy's game


def _register(
    charts: dict[str, Chart],
    name: str,
    game: type[Game] = Game,
    *,
    place: str = "",  # if it is not the name of the class, as ``gym:FrozenLake-v1`` of ``LawGame``
    reported: bool = False,
) -> Callable[[Draw], Draw]:
    """Register a function as a chart; the function refuses the games that it cannot draw."""

    def add(draw: Draw) -> Draw:
        charts[name] = Chart(draw, game, place or getattr(game, "name", ""), reported)
        return draw

    return add


#: The charts of games and of agents by name, and the decorators that register them.
GAME_CHARTS: dict[str, Chart] = {}
AGENT_CHARTS: dict[str, Chart] = {}
game_chart, agent_chart = (partial(_register, each) for each in (GAME_CHARTS, AGENT_CHARTS))
#: By the name of the picture, which is its file without the ending.
EXAMPLES: dict[str, Example] = {}


def game_of(task: Task, kind: type[Kind]) -> Kind:
    """Return the game of a task, which is of this class, as that of the task of its chart is."""
    assert isinstance(task.game, kind)
    return task.game
