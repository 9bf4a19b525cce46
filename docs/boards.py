"""Draw the boards of the documentation: ``python docs/boards.py`` writes ``docs/boards/*.svg``.

Each is a moment of a game that is played as the optimum plays it, from a seed.
"""

from pathlib import Path
from typing import Any

from exactdice.baselines import make_task, solve
from exactdice.envs.drawing.painting import to_svg
from exactdice.envs.drawing.picture import picture_of
from exactdice.play.session import Session

FOLDER = Path(__file__).parent / "boards"
#: By the file: the game, what is faced, the seed, and how many moves are made.
BOARDS: dict[str, tuple[str, dict[str, Any], int, int]] = {
    "greed": ("Greed", {}, 3, 2),
    "lowest-score": ("LowestScore", {"seat": 1}, 7, 1),
    "lowest-score-match": ("LowestScoreMatch", {}, 2, 10),
    "shut-the-box": ("ShutTheBox", {"seat": 1}, 4, 2),
    "421": ("FourTwoOne", {"utility": "set", "seat": 1}, 6, 1),
    "421-match": ("FourTwoOneMatch", {}, 13, 8),
    "yahtzee": ("Yahtzee", {}, 5, 13),
}


def main() -> None:
    """Draw all boards."""
    FOLDER.mkdir(exist_ok=True)
    for name in BOARDS:
        (FOLDER / f"{name}.svg").write_text(draw(name), encoding="utf-8")


def draw(name: str) -> str:
    """Draw one of them as SVG."""
    game, faced, seed, moves = BOARDS[name]
    task = make_task(game, **faced)
    session, solution = Session(task, seed), solve(task)
    for _ in range(moves):
        session.move(int(solution.optimal_actions(session.observation)[0]))
    return to_svg(picture_of(session.scene), session.scene.words)


if __name__ == "__main__":
    main()
