"""``exactdice plot``: draw a chart, or the gallery of all."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from ..agents.runs.config import GameName, Keywords
from ..core import InputError
from ..core.words import plural

#: Words that say what to draw.
What = Annotated[tuple[str, ...], tyro.conf.arg(metavar="[WHAT ...]")]


@dataclass(frozen=True)
class PlotConfig:
    """Draw a chart of a game, of an agent or of training runs into a picture.

    An unknown name gets a list of all charts.
    """

    what: tyro.conf.Positional[What]
    """Run folders, whose exact learning curves are drawn; or the name of a chart, such as
    greed-policy, and what it is of: mistakes RUN, mistakes POLICY, outcomes POLICY, rolls POLICY
    of Greed, critic RUN, leaderboard FOLDER; or the name of a picture in the gallery, such as
    mistakes-greed; or gallery, which draws all its pictures, and those of the run folders or the
    benchmark folder that follow."""

    picture: Path | None = None
    """File to write; its ending says the format, such as .png or .svg. Default: learning.png, or
    the name of the chart."""

    game: GameName | None = None
    """Game of an agent that is no run. Default: Greed."""

    env: Keywords = field(default_factory=dict)
    """Keyword arguments of the game: --env max_score 50."""

    folder: Path | None = None
    """Folder for the pictures of the gallery; beside it comes a page that shows them. Default:
    gallery."""

    only: str | None = None
    """Draw only this picture of the gallery, and leave its page as it is. The name is that of the
    picture's file without its ending. Default: draw all pictures."""

    def __post_init__(self) -> None:
        """Check that there is something to draw, and where."""
        if not self.what:
            raise InputError("what must be run folders, gallery or the name of a chart, got none")
        useless = ("picture", "game", "env") if self.is_gallery else ("folder", "only")
        for option in useless:
            if getattr(self, option):
                kind = "the gallery" if self.is_gallery else "a single picture"
                raise InputError(f"{option} must be left out, as it is not for {kind}")

    @property
    def is_gallery(self) -> bool:
        """Whether the gallery is to be drawn."""
        return self.what[0] == "gallery"


def run(options: PlotConfig) -> int:
    """Draw one picture, or the gallery."""
    if options.is_gallery:
        return _gallery(options.folder or Path("gallery"), options.what[1:], options.only)
    from ..look.charts import format_of
    from ..look.names import NAMES, picture

    name = options.what[0]
    path = options.picture or Path(f"{name if name in NAMES else 'learning'}.png")
    format_of(path)  # before anything is computed
    shown = picture(options.what, options.game, options.env)
    from ..look.drawing import draw

    draw(shown, path)
    print(f"{shown.caption}\ndrawn in {path}")
    return 0


def _gallery(folder: Path, runs: Sequence[str], only: str | None) -> int:
    from ..look.gallery import write_gallery

    drawn = len(write_gallery(folder, runs, only))
    print(f"{drawn} {plural(drawn, 'picture')} drawn in {folder}")
    return 0
