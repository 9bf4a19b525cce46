"""Take the pictures of the page to play on: ``python docs/screens.py`` writes ``docs/play/*.png``.

It needs chromium, and plays every game for some moves: always the first that is offered.
"""

import shutil
import threading
from pathlib import Path

from exactdice.play.record import Record
from exactdice.play.web import Quiet, make_app
from playwright.sync_api import Page, sync_playwright
from werkzeug.serving import make_server

FOLDER = Path(__file__).parent / "play"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
#: By the file: the game, options, who moves, the seed, and how many moves are made.
SCREENS = {
    "greed": ("Greed", "", "first", 5, [21, 4]),
    "lowest-score": ("LowestScore", "", "second", 12, [0, 1]),
    "shut-the-box": ("ShutTheBox", "", "second", 25, [1]),
    "421": ("FourTwoOne", "utility set", "second", 6, [0]),
    "421-match": ("FourTwoOneMatch", "", "first", 13, [2, 1, 0, 1, 0, 0]),
}


def main() -> None:
    """Take them all."""
    FOLDER.mkdir(exist_ok=True)
    server = make_server("127.0.0.1", 0, None, True, request_handler=Quiet)  # type: ignore[arg-type]
    server.app = make_app(Record(), server.server_port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as driver:
        found = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = driver.chromium.launch(executable_path=found, args=FLAGS)
        for name in SCREENS:
            page = browser.new_page(viewport={"width": 1000, "height": 640})
            page.goto(f"http://127.0.0.1:{server.server_port}/")
            _play(page, *SCREENS[name])
            page.screenshot(path=FOLDER / f"{name}.png")
        browser.close()
    server.shutdown()


def _play(page: Page, game: str, options: str, seat: str, seed: int, moves: list[int]) -> None:
    """Begin a game and make moves by their place in what is offered."""
    page.click("#open-new")
    page.wait_for_selector("#new[open]")
    page.select_option("#new-game", game)
    page.fill("#new-options", options)
    page.select_option("#new-seat", label=seat)
    page.check("#new-coach")
    page.fill("#new-seed", str(seed))
    page.click("#new-form .main")
    page.wait_for_selector("#new:not([open])", state="attached")
    page.wait_for_selector("body:not(.busy) #board svg", timeout=60_000)
    for move in moves:
        if page.is_visible("#count-label"):
            page.focus("#count")
            for _ in range(move):
                page.keyboard.press("ArrowRight")
            page.click("#do")
        else:
            page.click(f"#choices button >> nth={move}")
        page.wait_for_selector("body:not(.busy) #board svg", timeout=60_000)


if __name__ == "__main__":
    main()
