"""Games in the browser: a page and a small server, for this machine alone.

Other web pages have no access: the server listens on 127.0.0.1 and answers to that name only; it
takes JSON only, which browsers do not send to other sites without permission; and each game has a
random name that only its own page knows.
"""

import os
import socket
import sys
import webbrowser
from functools import cache, partial
from pathlib import Path
from typing import Any

from flask import Flask, Response, abort, request
from werkzeug.exceptions import HTTPException
from werkzeug.serving import WSGIRequestHandler, make_server

from ..core import InputError, WriteError
from .game_routes import serve_games
from .open_games import OpenGames
from .opened import NotKeptError
from .puzzle_routes import serve_puzzles
from .record import GameRecord
from .requests import Progress, refusal
from .views import JSON, setup_view

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
LARGEST_BODY = 10_000  # bytes
PAGE = Path(__file__).parent / "page"
PAGES = {"/": "index.html", "/puzzles": "puzzles.html", "/statistics": "statistics.html"}
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


def make_app(first: GameRecord, watch: str | None = None) -> Flask:
    """Create the server's application.

    Args:
        first: the game that is selected at first.
        watch: the policy that makes the moves in it; None for a person.
    """
    app = Flask("exactdice", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    progress = Progress()
    offered = cache(partial(setup_view, first, watch))  # making every game takes a second

    @app.before_request
    def only_by_our_name() -> None:
        """Refuse requests of other sites, even if their name resolves to this machine."""
        if request.host.rpartition(":")[0] not in NAMES and request.host not in NAMES:
            abort(403, f"This server answers to {' and '.join(NAMES)} only.")
        if request.headers.get("Origin") not in (None, f"http://{request.host}"):
            abort(403, "This server answers to its own page only.")

    @app.after_request
    def with_headers(response: Response) -> Response:
        response.headers.update(HEADERS)
        return response

    app.register_error_handler(HTTPException, refusal)
    app.register_error_handler(InputError, lambda error: ({"error": str(error)}, 400))
    app.register_error_handler(WriteError, lambda error: ({"error": str(error)}, 507))
    app.register_error_handler(NotKeptError, lambda error: ({"error": str(error)}, 404))
    _serve_page(app)

    @app.get("/api/setup")
    def setup() -> JSON:
        return offered()

    @app.get("/api/progress")
    def how_far() -> JSON:
        return {"percent": progress.percent}

    serve_games(app, OpenGames(first, watch), progress, coach=first.coach)
    serve_puzzles(app, first, progress)
    return app


def _serve_page(app: Flask) -> None:
    files = {file.name: file for file in PAGE.iterdir() if file.suffix in TYPES}

    @app.get("/page/<name>")
    def part(name: str) -> Response:
        if name not in files:
            abort(404)
        return Response(files[name].read_bytes(), mimetype=TYPES[files[name].suffix])

    for address, name in PAGES.items():
        app.add_url_rule(address, name, partial(part, name))


class _Silent(WSGIRequestHandler):
    """Handles requests without printing a line for each."""

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002
        if type == "error":
            super().log(type, message, *args)


def serve(first: GameRecord, port: int, page: str = "/", watch: str | None = None) -> None:
    """Serve the page until Ctrl-C, and open it in a browser if there is a screen or BROWSER is set.

    Args:
        first: the game that is selected at first.
        port: port of this machine.
        page: the page to open, one of ``PAGES``.
        watch: as of ``make_app``.

    Raises:
        ValueError: if the port is taken, or the game cannot start.
    """
    first.task  # noqa: B018 - mistakes in the options are reported here, not in the browser
    with _listening(port) as door:
        server = make_server(
            HOST,
            port,
            make_app(first, watch),
            threaded=True,
            request_handler=_Silent,
            fd=door.fileno(),
        )
        address = f"http://{HOST}:{port}{page}"
        sys.stdout.write(f"Play at {address} (Ctrl-C ends it)\n")
        sys.stdout.flush()
        if sys.platform in ("win32", "darwin") or _SCREENS & os.environ.keys():
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            sys.stdout.write("\n")
        finally:
            server.server_close()


_SCREENS = {"BROWSER", "DISPLAY", "WAYLAND_DISPLAY"}


def _listening(port: int) -> socket.socket:
    door = socket.socket()
    if sys.platform != "win32":  # on Windows this option would let two servers share a port
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((HOST, port))
        door.listen()
    except OSError as error:
        door.close()
        raise InputError(
            f"port must be one that is free, got {port} ({error.strerror}): name another by --port"
        ) from None
    return door
