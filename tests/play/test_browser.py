"""Every game played in a browser, as people would, by clicking."""

import shutil
import threading

import pytest
from exactdice.play.record import Record
from exactdice.play.web import Quiet, make_app
from werkzeug.serving import make_server

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium, which is not installed")
GAMES = [
    ("Greed", "max_score 30", "first"),
    ("LowestScore", "players 3", "second"),
    ("LowestScoreMatch", "dice 3 wins 2", "first"),
    ("ShutTheBox", "", "second"),
    ("FourTwoOne", "", "first"),
    ("FourTwoOne", "utility set", "second"),
    ("FourTwoOneMatch", "tokens 2", "first"),
]


@pytest.fixture(scope="module")
def address():
    server = make_server("127.0.0.1", 0, None, True, request_handler=Quiet)
    first = Record("Greed", {"max_score": 20}, None, 1, coach=True)
    server.app = make_app(first, server.server_port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield started
        started.close()


@pytest.fixture
def page(browser, address):
    """Open the page; nothing may be written to its console, nor asked of others."""
    said, asked = [], []
    opened = browser.new_page(viewport={"width": 1200, "height": 900})
    opened.said = said
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(address)
    rest(opened)
    yield opened
    opened.close()
    assert said == []
    assert [url for url in asked if not url.startswith(address)] == []


def rest(page):
    """Wait until the page has nothing to wait for."""
    page.wait_for_selector("body:not(.busy) #board svg")


def begin(page, game, options="", seat="first", coach=True, seed="4"):
    page.click("#open-new")
    page.wait_for_selector("#new[open]")
    page.select_option("#new-game", game)
    page.fill("#new-options", options)
    if page.is_enabled("#new-seat"):
        page.select_option("#new-seat", label=seat)
    page.set_checked("#new-coach", coach)
    page.fill("#new-seed", seed)
    page.click("#new-form .main")
    page.wait_for_selector("#new:not([open])", state="attached")
    rest(page)


def move_by_clicking(page):
    """Choose the last choice by its pieces, or by the slider, and make it."""
    if page.is_visible("#count-label"):
        page.press("#count", "ArrowRight")
    else:
        *_, last = page.query_selector_all("#choices button")
        words = last.inner_text()
        on_board = page.locator("#board rect.can").count()
        wanted = [word for word in words.split() if word.isdigit()] if on_board else []
        for digit in wanted:
            pieces = page.query_selector_all("#board rect.can:not(.lit)")
            labels = page.query_selector_all("#board rect.can")
            if page.inner_text("#do").lower() == words:
                break
            fitting = [one for one in pieces if label_of(page, one) == digit]
            (fitting or pieces or labels)[0].click(force=True)
        if page.inner_text("#do").lower() != words:  # as where the dice of no choice are clicked
            last.click()
            return rest(page)
    page.click("#do")
    return rest(page)


def label_of(page, piece):
    """Say what is written on a piece, by the number of its pips or its text."""
    part = piece.get_attribute("data-part")
    texts = page.query_selector_all(f'#board text[data-part="{part}"]')
    pips = page.query_selector_all(f'#board circle[data-part="{part}"]')
    return texts[0].text_content() if texts else str(len(pips))


@pytest.mark.parametrize(("game", "options", "seat"), GAMES)
def test_a_game_is_played_to_its_end(page, game, options, seat):
    begin(page, game, options, seat)
    for made in range(1, 200):
        if page.is_visible("#ending"):
            break
        move_by_clicking(page)
        assert page.is_visible("#worth")
        assert page.locator("#bars li.made").count() == 1
        assert page.locator("#story li.you").count() == made
    assert page.inner_text("#ending").startswith(("You ", "A tie"))
    assert page.is_visible("#account")
    assert page.locator("#account-bars li").count() == 4
    assert page.is_disabled("#do")
    assert not page.is_visible("#error")


def test_pieces_that_are_clicked_are_lit_and_make_the_move(page):
    begin(page, "ShutTheBox", coach=False)
    words = page.inner_text("#choices button >> nth=0")
    for tile in words.split()[1:]:
        page.click(f'#board rect[data-part="{int(tile) - 1}"]', force=True)
    assert page.locator("#board rect.lit").count() == len(words.split()) - 1
    assert page.inner_text("#do").lower() == words
    page.click("#do")
    rest(page)
    assert page.locator("#story li.you").inner_text() == f"you {words}"
    assert not page.is_visible("#worth")


def test_a_move_is_taken_back_and_the_optimum_is_asked(page):
    begin(page, "FourTwoOne", coach=False)
    board = page.inner_html("#board")
    page.click("#choices button >> nth=1")
    rest(page)
    assert page.inner_html("#board") != board
    page.click("#undo")
    rest(page)
    assert page.inner_html("#board") == board
    page.click("#ask")
    page.wait_for_selector("#worth:not([hidden])")
    assert page.locator("#bars li").count() == page.locator("#choices button").count()
    assert "the best" in page.inner_text("#bars li >> nth=0")


def test_two_tabs_are_two_games_and_a_tab_that_is_loaded_again_goes_on(page, browser, address):
    begin(page, "ShutTheBox")
    page.click("#choices button >> nth=0")
    rest(page)
    other = browser.new_page()
    other.goto(address)
    rest(other)
    assert "ShutTheBox" not in other.inner_text("#faced")
    other.close()
    before = page.inner_html("#board")
    page.reload()
    rest(page)
    assert page.inner_html("#board") == before


def test_a_double_click_is_one_move(page):
    begin(page, "FourTwoOne", coach=False)
    page.dblclick("#choices button >> nth=0")
    rest(page)
    assert page.locator("#story li.you").count() == 1


def test_what_the_server_refuses_is_said_in_the_form(page):
    page.click("#open-new")
    page.wait_for_selector("#new[open]")
    page.fill("#new-options", "colour red")
    with page.expect_response("**/game"):
        page.click("#new-form .main")
    page.wait_for_selector("#new-error:not([hidden])")
    assert "unexpected keyword argument 'colour'" in page.inner_text("#new-error")
    assert "status of 400" in page.said.pop()  # which browsers write themselves


def test_all_can_be_done_with_the_keyboard(page):
    begin(page, "LowestScore")
    page.focus("#choices button >> nth=1")
    assert page.locator("#board rect.lit").count() == 2
    page.keyboard.press("Enter")
    rest(page)
    assert page.locator("#story li.you").count() == 1


def test_a_narrow_page_is_not_wider_than_its_window(browser, address):
    narrow = browser.new_page(viewport={"width": 360, "height": 740})
    narrow.goto(address)
    rest(narrow)
    for game, options, seat in GAMES:
        begin(narrow, game, options, seat)
        wide = narrow.evaluate("document.documentElement.scrollWidth")
        assert wide <= 360, game
    narrow.close()
