"""The server of the pages, and tabs of a browser that show them."""

import pytest
from browsing import serving, wait
from exactdice.play import web
from exactdice.play.record import GameRecord


@pytest.fixture(scope="module")
def address():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(web, "new_seed", lambda: 3)  # each tab begins with the same dice
        with serving(web.make_app(GameRecord("Greed", {"max_score": 20}, None, 3))) as place:
            yield place


@pytest.fixture
def tabs(browser, address):
    """Open tabs, on a wide screen or a narrow one, whose console must stay empty."""
    said, contexts = [], []

    def tab(width=1200, height=800, motion="reduce"):
        size = {"width": width, "height": height}
        contexts.append(browser.new_context(viewport=size, reduced_motion=motion))
        page = contexts[-1].new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.extend(elsewhere(request.url)))
        page.goto(address)
        wait(page)
        return page

    def elsewhere(url):
        return [] if url.startswith((address, "data:")) else [url]

    tab.said = said
    yield tab
    for context in contexts:
        context.close()
    assert said == []
