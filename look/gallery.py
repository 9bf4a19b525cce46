"""The gallery: all pictures in a folder, and a page that shows them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..agents.runs.folders import read_config
from ..core import InputError
from .drawing import draw
from .names import GAME_CHARTS, picture

#: Agents that need no training, and where each errs.
AGENTS = {
    "mistakes-greed": ("mistakes", "if_else", "Greed"),
    "mistakes-shut-the-box": ("mistakes", "random", "ShutTheBox"),
    "mistakes-421": ("mistakes", "random", "FourTwoOne"),
    "outcomes-lowest-score": ("outcomes", "only3s", "LowestScore"),
}
CURVES = ("ppo-outcome", "ppo-regret", "dqn-outcome", "qlearning-outcome")


def write_gallery(folder: Path, words: Sequence[str]) -> list[Path]:
    """Draw every picture into a folder, and write a page beside it that shows them.

    Args:
        folder: for the pictures; the page is called as it is, with .md.
        words: run folders, which get pictures of their mistakes and of their critic; or a folder
            of a benchmark, which gets its leaderboard and the curves of the first seeds of Greed.

    Raises:
        InputError: if one is none of these, or the folder has no name.
    """
    if folder.name in ("", ".."):
        raise InputError(f"folder must have a name, which its page gets too, got {folder}")
    wanted = list(_wanted(words))  # before anything is drawn
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        "# Gallery",
        "",
        "Every number in these pictures is computed exactly. Each says what it shows and the "
        "command that draws it; `exactdice plot gallery` draws them all.",
    ]
    written = []
    for name, chart, game in wanted:
        shown = picture(chart, game)
        path = folder / f"{name}.png"
        draw(shown, path, dpi=90)
        written.append(path)
        command = ["exactdice plot", *chart, *(["--game", game] if game else [])]
        lines += [
            "",
            f"## {shown.title}",
            "",
            f"![{shown.title}]({folder.name}/{path.name})",
            "",
            f"{shown.says} `{' '.join(command)} --picture {path.name}`",
        ]
    folder.with_name(f"{folder.name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return written


def _wanted(words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...], str | None]]:
    """List the pictures: the file's name, the words that ask for it, and the game."""
    for name in GAME_CHARTS:
        yield name, (name,), None
    for name, (chart, policy, game) in AGENTS.items():
        yield name, (chart, policy), game
    for word in words:
        folder = Path(word)
        if (folder / "config.json").is_file():
            greed = ("rolls",) if read_config(folder).game_name == "Greed" else ()
            for chart in ("mistakes", *greed, "critic"):
                yield f"{chart}-{folder.name}", (chart, word), None
        elif any(folder.glob("*/score.json")):
            yield "leaderboard", ("leaderboard", word), None
            curves = [folder / f"Greed-{run}-0" for run in CURVES]
            yield "learning", tuple(str(run) for run in curves if run.is_dir()), None
        else:
            raise InputError(f"gallery must be followed by folders of runs, got {word!r}")
