"""The gallery: a folder with all pictures, and a Markdown page that shows them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..agents.board.results import RESULTS
from ..agents.runs.folders import read_config
from ..core import InputError, make_folder, one_of, write_file
from .drawing import draw
from .plotting import EXAMPLES, GAME_CHARTS, picture
from .registry import AGENT_CHARTS


def write_gallery(folder: Path, words: Sequence[str], only: str | None = None) -> list[Path]:
    """Draw every picture into a folder, and write a page beside it that shows them.

    Args:
        folder: for the pictures; the page has the folder's name and the ending .md.
        words: run folders, whose mistakes and critics are drawn; or the folder of a benchmark,
            whose leaderboard is drawn, and the learning curves of its first seeds.
        only: name of the only picture to draw, its file without the ending; the page is left as
            it is.

    Raises:
        InputError: if a word is neither folder, no picture has the name, or ``folder`` has none.
    """
    if folder.name in ("", ".."):
        raise InputError(f"folder must have a name, which its page gets too, got {folder}")
    wanted = list(_wanted(words))  # wrong words are found before anything is drawn
    if only is not None:
        names = [name for name, *_ in wanted]
        wanted = [wanted[names.index(one_of("only", only, names))]]
    make_folder(folder)
    lines = [
        "# Gallery",
        "",
        "Every number in these pictures is computed exactly. Each says what it shows and the "
        "command that draws it; `exactdice plot gallery` draws them all.",
    ]
    written = []
    for name, chart in wanted:
        shown = picture(chart)
        path = folder / f"{name}.png"
        draw(shown, path, dpi=90)
        written.append(path)
        lines += [
            "",
            f"## {shown.title}",
            "",
            f"![{shown.title}]({folder.name}/{path.name})",
            "",
            f"{shown.caption} `exactdice plot {' '.join(chart)} --picture {path.name}`",
        ]
    if only is None:
        write_file(folder.with_name(f"{folder.name}.md"), ("\n".join(lines) + "\n").encode())
    return written


def _wanted(words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """List the pictures: name, and words of the command that draws it."""
    for name in GAME_CHARTS:
        yield name, (name,)
    for name, (chart, policy, game) in EXAMPLES.items():
        yield name, (chart, policy, game)
    for word in words:
        folder = Path(word)
        if (folder / "config.json").is_file():
            game = read_config(folder).game_name
            own = [key for key, one in AGENT_CHARTS.items() if one.game and one.game.name == game]
            for chart in ("mistakes", *own, "critic"):
                yield f"{chart}-{folder.name}", (chart, word)
        elif (folder / RESULTS).is_file():
            yield "leaderboard", ("leaderboard", word)
            yield "learning", ("learning", word)
        else:
            raise InputError(f"gallery must be followed by folders of runs, got {word!r}")
