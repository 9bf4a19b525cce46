"""Games in the browser: a page and a small server, for this machine alone.

Other web pages have no access: the server listens on 127.0.0.1 and answers to that name only; it
takes JSON only, which browsers do not send to other sites without permission; and each game has a
random name that only its own page knows.
"""

import os
import socket
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

from flask import Flask, Response, abort, request
from werkzeug.exceptions import HTTPException
from werkzeug.serving import WSGIRequestHandler, make_server

from ..core import InputError
from ..core.progress import watched
from ..envs import find_game
from .levels import strength
from .open_games import NotKeptError, OpenGames
from .record import GameRecord
from .views import (
    JSON,
    account_view,
    advice_view,
    past_view,
    review_view,
    session_view,
    setup_view,
    verdicts_view,
)

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
LARGEST_BODY = 10_000  # bytes
PAGE = Path(__file__).parent / "page"
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


class _Progress:
    """How far the computation is that answers wait for."""

    def __init__(self) -> None:
        self.percent: int | None = None

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Note how far long computations in the ``with`` block are."""

        def report(done: int, total: int, *_: object) -> None:
            self.percent = 100 * done // total

        try:
            with watched(report):
                yield
        finally:
            self.percent = None


def make_app(first: GameRecord) -> Flask:
    """Create the server's application.

    Args:
        first: the game that is selected at first.
    """
    app = Flask("exactdice", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    games, progress = OpenGames(first), _Progress()
    offered = cache(partial(setup_view, first))  # making every game takes a second

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

    app.register_error_handler(HTTPException, _refusal)
    app.register_error_handler(InputError, lambda error: ({"error": str(error)}, 400))
    app.register_error_handler(NotKeptError, lambda error: ({"error": str(error)}, 404))
    _serve_page(app)

    @app.get("/api/setup")
    def setup() -> JSON:
        return offered()

    @app.get("/api/progress")
    def how_far() -> JSON:
        return {"percent": progress.percent}

    @app.post("/api/games")
    def begin() -> JSON:
        with progress.shown():
            name, game = games.begin(_body())
        return {"id": name, "coach": first.coach, **session_view(game.session, game.record)}

    _serve_games(app, games)
    _serve_coach(app, games, progress)
    return app


def _serve_page(app: Flask) -> None:
    files = {file.name: file for file in PAGE.iterdir() if file.suffix in TYPES}

    @app.get("/")
    def page() -> Response:
        return part("index.html")

    @app.get("/page/<name>")
    def part(name: str) -> Response:
        if name not in files:
            abort(404)
        return Response(files[name].read_bytes(), mimetype=TYPES[files[name].suffix])


def _serve_games(app: Flask, games: OpenGames) -> None:
    @app.get("/api/games/<name>")
    def show(name: str) -> JSON:
        game = games.find(name)
        with game.lock:
            return session_view(game.session, game.record)

    @app.post("/api/games/<name>/moves")
    def move(name: str) -> JSON:
        game, body = games.find(name), _body()
        action, made = (_whole(body, key) for key in ("action", "made"))
        with game.lock:
            if made != len(game.session.actions):  # by another tab or a second click
                abort(409, f"This game has gone on: {len(game.session.actions)} moves are made.")
            game.session.move(action)
            return session_view(game.session, game.record)

    @app.post("/api/games/<name>/undo")
    def undo(name: str) -> JSON:
        game = games.find(name)
        _body()
        with game.lock:
            game.session.undo()
            return session_view(game.session, game.record)

    @app.get("/api/games/<name>/file")
    def file(name: str) -> Response:
        game = games.find(name)
        with game.lock:
            record = game.record.after(game.session)
        kept = f'attachment; filename="exactdice-{find_game(record.game).name}.json"'
        headers = {"Content-Disposition": kept}
        return Response(record.text, mimetype="application/json", headers=headers)


def _serve_coach(app: Flask, games: OpenGames, progress: _Progress) -> None:
    @app.get("/api/games/<name>/advice/<int:before>")
    def advice(name: str, before: int) -> JSON:
        game = games.find(name)
        with game.lock, progress.shown():
            session = game.session
            if before > len(session.actions) or (before == 0 and not session.choices):
                abort(404, "There is no such choice in this game.")
            return advice_view(session, before)

    @app.get("/api/games/<name>/verdicts")
    def verdicts(name: str) -> JSON:
        game = games.find(name)
        with game.lock, progress.shown():
            return verdicts_view(game.session)

    @app.get("/api/games/<name>/account")
    def account(name: str) -> JSON:
        game = games.find(name)
        with game.lock, progress.shown():
            return account_view(game.session)

    @app.get("/api/games/<name>/review")
    def review(name: str) -> JSON:
        game = games.find(name)
        with game.lock, progress.shown():
            return review_view(game.session)

    @app.get("/api/games/<name>/strength")
    def how_strong(name: str) -> JSON:
        game = games.find(name)
        with game.lock, progress.shown():
            return {"words": strength(game.session.task)}

    @app.get("/api/games/<name>/past/<int:made>")
    def past(name: str, made: int) -> JSON:
        game = games.find(name)
        with game.lock, progress.shown():
            if made > len(game.session.actions):
                abort(404, "There is no such move in this game.")
            return past_view(game.record, game.session, made)


def _refusal(error: HTTPException) -> tuple[JSON, int]:
    return {"error": error.description or error.name}, error.code or 500


def _body() -> JSON:
    """Return the JSON object in a request."""
    try:
        body = request.get_json()
    except RecursionError:  # nested too deeply
        abort(400, "The request must be JSON that is less deep.")
    if not isinstance(body, dict):
        abort(400, "The request must be a JSON object.")
    return body


def _whole(body: JSON, key: str) -> int:
    value = body.get(key)
    if type(value) is not int:
        raise InputError(f"{key} must be a whole number, got {str(value)[:50]!r}")
    return value


class _Silent(WSGIRequestHandler):
    """Handles requests without printing a line for each."""

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002
        if type == "error":
            super().log(type, message, *args)


def serve(first: GameRecord, port: int) -> None:
    """Serve the page until Ctrl-C, and open it in a browser if there is a screen or BROWSER is set.

    Args:
        first: the game that is selected at first.
        port: port of this machine.

    Raises:
        ValueError: if the port is taken, or the game cannot start.
    """
    first.task  # noqa: B018 - mistakes in the options are reported here, not in the browser
    with _listening(port) as door:
        server = make_server(
            HOST, port, make_app(first), threaded=True, request_handler=_Silent, fd=door.fileno()
        )
        address = f"http://{HOST}:{port}/"
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
