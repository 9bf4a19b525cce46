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
from threading import Lock
from typing import Any

from flask import Blueprint, Flask, Response, abort, request
from pydantic import BaseModel
from werkzeug.exceptions import HTTPException
from werkzeug.serving import WSGIRequestHandler, make_server

from ..agents.runs.reading import STRICT, read
from ..core import GAMES, Game, InputError, WriteError
from ..envs import find_game
from .levels import strength
from .open_games import Env, OpenGame, OpenGames
from .opened import NotKeptError, Opened
from .puzzles import Practice, practice_of
from .record import GameRecord, new_seed
from .requests import Progress, body, refusal, whole
from .training_views import practice_view, statistics_view
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
_SCREENS = {"BROWSER", "DISPLAY", "WAYLAND_DISPLAY"}


def serve_games(app: Flask, games: OpenGames, progress: Progress, *, coach: bool) -> None:
    """Serve the games.

    Args:
        app: the application.
        games: the open games.
        progress: is told how far long computations are.
        coach: whether the coach comments on the first game.
    """

    @app.post("/api/games")
    def begin() -> JSON:
        with progress.shown():
            name, game = games.begin(body())
            return {"id": name, "coach": coach, **_view(game)}

    @app.get("/api/games/<name>")
    def show(name: str) -> JSON:
        game = games.find(name)
        with game.lock:
            return _view(game)

    @app.post("/api/games/<name>/moves")
    def move(name: str) -> JSON:
        game, wish = games.find(name), body()
        action, made = (whole(wish, key) for key in ("action", "made"))
        with game.lock:
            _check_made(game, made)
            game.session.move(action)
            return _view(game)

    @app.post("/api/games/<name>/step")
    def step(name: str) -> JSON:
        game, wish = games.find(name), body()
        made = whole(wish, "made")
        with game.lock:
            if game.agent is None or game.session.now.over:
                abort(404, "No agent is to move in this game.")
            _check_made(game, made)
            game.session.move(game.agent.action(game.session))
            return _view(game)

    @app.post("/api/games/<name>/keep")
    def keep(name: str) -> JSON:
        game = games.find(name)
        body()
        with game.lock, progress.shown():
            game.keep()
        return {}

    @app.post("/api/games/<name>/undo")
    def undo(name: str) -> JSON:
        game = games.find(name)
        body()
        with game.lock:
            game.session.undo()
            return _view(game)

    @app.get("/api/games/<name>/file")
    def file(name: str) -> Response:
        game = games.find(name)
        with game.lock:
            record = game.record.after(game.session)
        kept = f'attachment; filename="exactdice-{find_game(record.game).name}.json"'
        headers = {"Content-Disposition": kept}
        return Response(record.text, mimetype="application/json", headers=headers)

    _serve_coach(app, games, progress)


def _serve_coach(app: Flask, games: OpenGames, progress: Progress) -> None:
    @app.get("/api/games/<name>/advice/<int:before>")
    def advice(name: str, before: int) -> JSON:
        game = games.find(name)
        with game.lock, progress.shown():
            session = game.session
            if before > len(session.actions) or (before == 0 and not session.choices):
                abort(404, "There is no such choice in this game.")
            return advice_view(session, before, game.agent)

    @app.get("/api/games/<name>/verdicts")
    def verdicts(name: str) -> JSON:
        game = games.find(name)
        with game.lock, progress.shown():
            return verdicts_view(game.session)

    @app.get("/api/games/<name>/account/<int:seat>")
    def account(name: str, seat: int) -> JSON:
        game = games.find(name)
        with game.lock, progress.shown():
            return account_view(game.session, _person(game, seat))

    @app.get("/api/games/<name>/review/<int:seat>")
    def review(name: str, seat: int) -> JSON:
        game = games.find(name)
        with game.lock, progress.shown():
            return review_view(game.session, _person(game, seat))

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
            return past_view(game.record, game.session, made, game.agent)


def _view(game: OpenGame) -> JSON:
    return session_view(game.session, game.record, game.agent)


def _check_made(game: OpenGame, made: int) -> None:
    """Refuse a move of a page that does not show the present position."""
    if made != len(game.session.actions):  # by another tab or a second click
        abort(409, f"This game has gone on: {len(game.session.actions)} moves are made.")


def _person(game: OpenGame, seat: int) -> int:
    if seat not in game.session.persons:
        abort(404, "No person has this seat.")
    return seat


class NewPuzzles(BaseModel):
    """A request for puzzles."""

    model_config = STRICT

    game: str
    of: str = ""
    level: str = "easy"
    seed: int | None = None
    env: Env = {}


def serve_puzzles(app: Flask, first: GameRecord, progress: Progress) -> None:
    """Serve puzzles and statistics.

    Args:
        app: the application.
        first: the game that the command line names, whose keywords its puzzles have.
        progress: is told how far long computations are.
    """
    opened: Opened[Practice] = Opened("set of puzzles")
    routes = Blueprint("puzzles", __name__)
    lock = Lock()  # puzzles are drawn one at a time

    @routes.post("/api/puzzles")
    def begin() -> JSON:
        wish = read(NewPuzzles, {"game": first.game} | body(), "the options of puzzles")
        game = _game_of(wish.game, wish.env, first)
        with lock, progress.shown():
            seed = new_seed() if wish.seed is None else wish.seed
            practice = practice_of(game, wish.of, wish.level, seed)
        return {"id": opened.add(practice), **practice_view(practice)}

    @routes.get("/api/puzzles/<name>")
    def show(name: str) -> JSON:
        return practice_view(opened.find(name))

    @routes.post("/api/puzzles/<name>/answer")
    def answer(name: str) -> JSON:
        practice, action = opened.find(name), whole(body(), "action")
        with lock:
            practice.answer(action)
            return practice_view(practice)

    @routes.post("/api/puzzles/<name>/next")
    def go_on(name: str) -> JSON:
        practice, answered = opened.find(name), whole(body(), "answered")
        with lock, progress.shown():
            if practice.tried is not None and answered == practice.answered:
                practice.go_on()
            return practice_view(practice)

    @routes.get("/api/statistics")
    def statistics() -> JSON:
        return statistics_view()

    app.register_blueprint(routes)


def _game_of(name: str, env: Env, first: GameRecord) -> Game:
    """Return the rules: with these keywords, those of the command line's game, or the defaults."""
    if name in (first.game, find_game(first.game).name):
        if not env:
            return first.task.game
    elif name not in GAMES:
        raise InputError(f"game must be one of {', '.join(GAMES)}, got {name[:50]!r}")
    return GameRecord(name, env).task.game


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
