"""What the tests of the pages do in a browser."""

import threading
from contextlib import contextmanager

from werkzeug.serving import WSGIRequestHandler, make_server

IDLE = "body:not([aria-busy])"


class Silent(WSGIRequestHandler):
    """Writes no line on a request."""

    def log(self, *_):
        pass


@contextmanager
def serving(app, **options):
    """Serve an application to this machine; give the address."""
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Silent, **options)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.port}/"
    server.shutdown()
    server.server_close()


def idle(page):
    page.wait_for_selector(IDLE)


def wait(page, what="#choices button"):
    page.locator(what).first.wait_for()
    idle(page)


def click(page, what):
    page.click(what)
    idle(page)


def choose(page, place=0):
    """Make a move of the list by a double click."""
    page.locator("#choices button").nth(place).dblclick()
    idle(page)


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)
        idle(page)


def begin(page, name, seed=3, sizes=None):
    if page.locator("#open").is_visible():
        page.click("#open")
    page.select_option("[name=game]", name)
    if sizes:
        page.locator("#sizes").evaluate("details => { details.open = true }")
    for keyword, value in (sizes or {}).items():
        field = page.locator(f"[name='env {keyword}']")
        if field.evaluate("one => one.tagName") == "SELECT":
            there = f"one => [...one.options].some((each) => each.value === '{value}')"
            field.select_option(str(value) if field.evaluate(there) else "other")
        if field.evaluate("one => one.tagName") == "INPUT":
            field.fill(str(value))
    page.fill("[name=seed]", str(seed))
    click(page, "#setup button.main")
    return page
