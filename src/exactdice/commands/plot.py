"""``exactdice plot``: draw a chart, or the gallery of all charts."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import tyro

from ..agents.runs.options import Keywords
from ..core import InputError
from ..core.progress import shown_progress
from ..core.words import plural
from ..look.charts import format_of

#: A chart and its agent, run folders, or the gallery.
What = Annotated[tuple[str, ...], tyro.conf.arg(metavar="[WHAT ...]")]


@dataclass(frozen=True)
class PlotConfig:
    """Draw a chart of a game, of an agent or of training runs into a picture file.

    Without arguments, list all charts.
    """

    what: tyro.conf.Positional[What] = ()
    """A chart and what the list of charts names after it, such as mistakes AGENT, where AGENT is a
    run folder or a policy and perhaps its game; run folders alone, for their exact learning
    curves; or gallery, for all its pictures and those of the run or benchmark folders that
    follow."""

    picture: Path | None = None
    """File to write; its ending is the format, such as .png or .svg. Default: the name of the
    chart, or learning.png for run folders."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the game: --env max_score 50."""

    measure: Literal["nines", "score", "regret"] | None = None
    """The measure of curves. Default: nines."""

    over: Literal["moves", "seconds"] | None = None
    """The axis of curves. Default: moves."""

    statistic: Literal["iqm", "mean"] | None = None
    """Summary of the runs of a group by curves. Default: iqm, the interquartile mean."""

    folder: Path | None = None
    """Folder for the pictures of the gallery; a page that shows them is written beside it.
    Default: gallery."""

    only: str | None = None
    """Draw only the picture of this name into the folder of the gallery, and leave the page as it
    is. Default: draw all pictures."""

    def __post_init__(self) -> None:
        single, several = ("picture", "env"), ("folder", "only")
        useless = single if self.is_gallery else several if self.what else single + several
        if self.of_curves and self.what[:1] != ("curves",):
            names = ", ".join(self.of_curves)
            raise InputError(f"{names} must be left out: only the chart curves has such options")
        for option in useless:
            if getattr(self, option):
                kind = "the gallery" if self.is_gallery else "a single picture"
                kind = kind if self.what else "the list of charts"
                raise InputError(f"{option} must be left out: {kind} has no such option")

    @property
    def of_curves(self) -> dict[str, str]:
        """The options of curves that are given."""
        given = {name: getattr(self, name) for name in ("measure", "over", "statistic")}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def is_gallery(self) -> bool:
        """Whether the gallery is to be drawn."""
        return self.what[:1] == ("gallery",)


def run_plot(options: PlotConfig) -> None:
    """Draw one picture, or the gallery; or list the charts."""
    from ..look.plotting import NAMES, list_charts, picture, write_gallery

    if options.is_gallery:
        folder = options.folder or Path("gallery")
        with shown_progress():
            drawn = len(write_gallery(folder, options.what[1:], options.only))
        print(f"{drawn} {plural(drawn, 'picture')} drawn in {folder}")
        return
    if not options.what:
        print(list_charts())
        return
    name = options.what[0]
    path = options.picture or Path(f"{name if name in NAMES else 'learning'}.png")
    format_of(path)  # refuses a wrong ending before anything is computed
    with shown_progress():
        shown = picture(options.what, options.env, **options.of_curves)
        from ..look.drawing import draw

        draw(shown, path)
    print(f"{shown.caption}\ndrawn in {path}")
