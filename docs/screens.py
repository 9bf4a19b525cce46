"""Photograph the page of ``exactdice play --web``: ``python docs/screens.py`` writes ``docs/play``.

Needs Chromium, and the extras ``web`` and ``dev``. Each picture is a moment of a game from a seed,
with the coach.
"""

import shutil
import threading
from io import BytesIO
from pathlib import Path
from typing import Any

from exactdice.play.record import GameRecord
from exactdice.play.web import make_app
from PIL import Image
from playwright.sync_api import Page, sync_playwright
from werkzeug.serving import make_server

FOLDER = Path(__file__).parent / "play"
SIZE = {"width": 1000, "height": 700}
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
#: By the file: the game, who moves, the seed, and which of the moves in the list are made.
SCREENS: dict[str, tuple[str, str, int, tuple[int, ...]]] = {
    "greed": ("Greed", "first", 5, (21, 6)),
    "lowest-score": ("LowestScore", "second", 12, (0, 1)),
    "lowest-score-match": ("LowestScoreMatch", "first", 2, (1, 0, 0, 1)),
    "shut-the-box": ("ShutTheBox", "second", 25, (1,)),
    "421": ("FourTwoOne", "second", 6, (0,)),
    "421-match": ("FourTwoOneMatch", "first", 13, (2, 1, 0, 1, 0, 0)),
}


def main() -> None:
    """Photograph all games."""
    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("there is no chromium here")
    FOLDER.mkdir(exist_ok=True)
    server = make_server("127.0.0.1", 0, make_app(GameRecord(coach=True)), threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        for name, moment in SCREENS.items():
            size: Any = SIZE
            page = browser.new_page(viewport=size, reduced_motion="reduce")
            page.goto(f"http://127.0.0.1:{server.port}/")
            photograph(page, FOLDER / f"{name}.png", *moment)
        browser.close()
    server.shutdown()


def photograph(
    page: Page, path: Path, game: str, seat: str, seed: int, moves: tuple[int, ...]
) -> None:
    """Play up to a moment and write what is to be seen."""
    _wait(page)
    page.select_option("[name=game]", game)
    page.select_option("[name=seat]", label=seat)
    page.fill("[name=seed]", str(seed))
    page.click("#setup button.main")
    _wait(page)
    for move in moves:
        buttons = page.locator("#choices button")
        buttons.nth(min(move, buttons.count() - 1)).dblclick()
        _wait(page)
    if page.locator("rect.open").count():
        page.locator("rect.open").first.click()
    page.mouse.move(0, 0)
    page.evaluate("scrollTo(0, 0)")
    image = Image.open(BytesIO(page.screenshot()))
    image.convert("RGB").quantize(256).save(path, optimize=True)


def _wait(page: Page) -> None:
    page.locator("#choices button").first.wait_for()
    page.wait_for_selector("body:not([aria-busy])")


if __name__ == "__main__":
    main()
