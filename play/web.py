"""Games in the browser: a page and a small server, for this machine alone or for a network.

Other web pages have no access: the server listens on 127.0.0.1 and answers to that name only; it
takes JSON only, which browsers do not send to other sites without permission; and each game has a
random name that only its own page knows.

On another address the server answers nobody who has not opened its link. The link holds a random
token, and leaves it as a cookie, which browsers do not send along from other sites. Hosts may then
be any numerical addresses: only names can be made to lead here.
"""

import errno
import logging
import mimetypes
import os
import secrets
import socket
import sys
import webbrowser
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from ipaddress import IPv4Address
from itertools import chain
from pathlib import Path
from typing import Any

import segno
from flask import Flask, Response, abort, redirect, render_template, request
from werkzeug.exceptions import HTTPException
from werkzeug.serving import make_server

from ..agents.runs.options import read
from ..core import InputError, WriteError
from ..envs import find_game
from .coach import steps
from .levels import strength
from .open_games import NewPuzzles, NotKeptError, Opened, OpenGame, Progress, begin_game, place_of
from .puzzles import Practice, practice_of
from .record import GameRecord, new_seed
from .statistics import statistics_view
from .views import JSON, advice_view, drawn, practice_view, review_view, session_view, setup_view

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
ANYWHERE = "0.0.0.0"  # noqa: S104 - the word for all addresses of this machine
COOKIE = "exactdice"
LARGEST_BODY = 10_000  # bytes
PAGE = Path(__file__).parent / "page"
PAGES = {"/puzzles": "puzzles.html", "/statistics": "statistics.html"}
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


def body() -> JSON:
    """Return the JSON object in a request."""
    try:
        content = request.get_json()
    except RecursionError:  # nested too deeply
        abort(400, "The request must be JSON that is less deep.")
    if not isinstance(content, dict):
        abort(400, "The request must be a JSON object.")
    return content


def whole(content: JSON, key: str) -> int:
    """Return a whole number of a request."""
    value = content.get(key)
    if type(value) is not int:
        raise InputError(f"{key} must be a whole number, got {str(value)[:50]!r}")
    return value


def refusal(error: HTTPException) -> tuple[JSON | str, int]:
    """Answer a request that is refused; a person who has typed an address gets a page."""
    if error.code in (403, 404) and not request.path.startswith("/api/"):
        words = "There is no such page here." if error.code == 404 else error.description
        return render_template("lost.html", words=words), error.code
    return {"error": error.description or error.name}, error.code or 500


def serve_games(app: Flask, games: Opened[OpenGame], first: GameRecord, watch: str) -> None:
    """Serve the games, the command line's and others; see ``begin_game``."""

    @app.post("/api/games")
    def begin() -> JSON:
        wish = body()
        with games.progress.shown():
            game = begin_game(wish, first, watch)
            return {"id": games.add(game), "coach": first.coach, **game.view}

    @app.get("/api/games/<name>")
    def show(name: str) -> JSON:
        with games.use(name) as game:
            return game.view

    @app.post("/api/games/<name>/moves")
    def move(name: str) -> JSON:
        wish = body()
        with games.use(name) as game:
            session, agent = game.session, game.agent
            if whole(wish, "made") != len(session.actions):  # by another tab or a second click
                abort(409, f"This game has gone on: {len(session.actions)} moves are made.")
            session.move(agent.action(session) if agent else whole(wish, "action"))
            return game.view

    @app.post("/api/games/<name>/keep")
    def keep(name: str) -> JSON:
        body()
        with games.use(name) as game:
            game.keep()
        return {}

    @app.post("/api/games/<name>/undo")
    def undo(name: str) -> JSON:
        body()
        with games.use(name) as game:
            game.session.undo()
            return game.view

    @app.get("/api/games/<name>/file")
    def file(name: str) -> Response:
        with games.use(name) as game:
            record = game.record.after(game.session)
        kept = f'attachment; filename="exactdice-{find_game(record.game).name}.json"'
        headers = {"Content-Disposition": kept}
        return Response(record.text, mimetype="application/json", headers=headers)


def serve_coach(app: Flask, games: Opened[OpenGame]) -> None:
    """Serve what the coach says of the games."""

    @app.get("/api/games/<name>/advice/<int:before>")
    def advice(name: str, before: int) -> JSON:
        with games.use(name) as game:
            session = game.session
            if before > len(session.actions) or (before == 0 and not session.choices):
                abort(404, "There is no such choice in this game.")
            return advice_view(session, before, game.agent)

    @app.get("/api/games/<name>/verdicts")
    def verdicts(name: str) -> JSON:
        with games.use(name) as game:
            made = steps(game.session)
        return {"verdicts": [{"words": one.verdict, "grade": one.grade} for one in made]}

    @app.get("/api/games/<name>/review/<int:seat>")
    def review(name: str, seat: int) -> JSON:
        with games.use(name) as game:
            if seat not in game.session.persons:
                abort(404, "No person has this seat.")
            return review_view(game.session, seat)

    @app.get("/api/games/<name>/strength")
    def how_strong(name: str) -> JSON:
        with games.use(name) as game:
            return {"words": strength(game.session.task)}

    @app.get("/api/games/<name>/past/<int:made>")
    def past(name: str, made: int) -> JSON:
        with games.use(name) as game:
            if made > len(game.session.actions):
                abort(404, "There is no such move in this game.")
            session, agent = game.session, game.agent
            before = session.again(session.seed, session.actions[:made])
            ago = len(session.actions) - made
            told = advice_view(session, ago, agent) if ago else None
            return {**session_view(before, game.record, agent), "advice": told}


def serve_puzzles(app: Flask, first: GameRecord, progress: Progress) -> None:
    """Serve puzzles, which have the keywords of the command line in its game, and statistics."""
    opened: Opened[Practice] = Opened("set of puzzles", progress)

    @app.post("/api/puzzles")
    def begin_puzzles() -> JSON:
        wish = read(NewPuzzles, {"game": first.game} | body(), "the options of puzzles")
        place = place_of(wish.game, first)
        own = place == first.game and not wish.env
        with progress.shown():
            game = (first if own else GameRecord(place, wish.env)).task.game
            seed = new_seed() if wish.seed is None else wish.seed
            practice = practice_of(game, wish.of, wish.level, seed)
            return {"id": opened.add(practice), **practice_view(practice)}

    @app.post("/api/puzzles/<name>/answer")
    def answer(name: str) -> JSON:
        action = whole(body(), "action")
        with opened.use(name) as practice:
            practice.answer(action)
            return practice_view(practice)

    @app.post("/api/puzzles/<name>/next")
    def go_on(name: str) -> JSON:
        answered = whole(body(), "answered")
        with opened.use(name) as practice:
            if practice.tried is not None and answered == practice.answered:
                practice.go_on()
            return practice_view(practice)

    app.add_url_rule("/api/statistics", view_func=statistics_view)


def guard(app: Flask, token: str) -> None:
    """Let only those in who may be: this machine's own page or, with a token, those who have it."""

    @app.before_request
    def only_by_our_name() -> None:
        """Refuse requests of other sites, even if their name resolves to this machine."""
        name = request.host.rpartition(":")[0] or request.host
        if name not in NAMES and request.host not in NAMES and not (token and is_address(name)):
            abort(403, f"This server answers to {' and '.join(NAMES)} only.")
        if request.headers.get("Origin") not in (None, f"http://{request.host}"):
            abort(403, "This server answers to its own page only.")
        shown = request.cookies.get(COOKIE, "")
        is_known = secrets.compare_digest(shown.encode(), token.encode())
        if token and not is_known and request.endpoint != "join":
            abort(403, "Open this page by the whole link that exactdice play has printed.")

    @app.get("/join/<given>/")
    @app.get("/join/<given>/<page>")
    def join(given: str, page: str = "") -> Any:
        """Let a browser in that has the link; the token leaves the address bar."""
        if not token or not secrets.compare_digest(given.encode(), token.encode()):
            abort(403, "This link is an old one: exactdice play prints a new one at each start.")
        answer = redirect(f"/{page}" if f"/{page}" in PAGES else "/")
        answer.set_cookie(COOKIE, token, httponly=True, samesite="Strict")
        return answer


def is_address(name: str) -> bool:
    """Say whether the name of a host is an address in numbers."""
    with suppress(ValueError):
        return bool(IPv4Address(name))
    return False


def make_app(first: GameRecord, watch: str | None = None, token: str = "") -> Flask:
    """Create the server's application, with the first game and the policy that moves in it.

    A token must be shown by each request, except those of an empty one; see the module.
    """
    app = Flask("exactdice", static_folder=PAGE, static_url_path="/page", template_folder=PAGE)
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    mimetypes.add_type("text/javascript", ".js")  # the registry of Windows may have another one
    progress = Progress()

    guard(app, token)

    @app.after_request
    def with_headers(response: Response) -> Response:
        response.headers.update(HEADERS)
        return response

    seeds = chain([first.seed], iter(new_seed, None))  # a tab after the first has dice of its own

    @app.get("/")
    def first_page() -> str:
        """Return the page of the games, with a board to look at if no policy has moved on it."""
        seed = next(seeds)
        is_quick = not (first.actions or watch or first.task.seat)
        boards = drawn(replace(first, seed=seed).session().scene) if is_quick else {}
        return render_template("index.html", seed=seed, boards=boards)

    app.register_error_handler(HTTPException, refusal)
    app.register_error_handler(InputError, lambda error: ({"error": str(error)}, 400))
    app.register_error_handler(WriteError, lambda error: ({"error": str(error)}, 507))
    app.register_error_handler(NotKeptError, lambda error: ({"error": str(error)}, 410))
    for address, file in PAGES.items():
        app.add_url_rule(address, file, partial(render_template, file))
    offered = cache(partial(setup_view, first, watch))  # making every game takes a second
    app.add_url_rule("/api/setup", "setup", offered)
    app.add_url_rule("/api/progress", "progress", lambda: {"percent": progress.percent})
    games: Opened[OpenGame] = Opened("game", progress)
    serve_games(app, games, first, watch or "")
    serve_coach(app, games)
    serve_puzzles(app, first, progress)
    return app


def address_of(host: str) -> str:
    """Return the address by which other devices reach a host: of all, that of the usual network."""
    if host != ANYWHERE:
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door, suppress(OSError):
        door.connect(("192.0.2.1", 9))  # this chooses a network, and sends nothing
        return str(door.getsockname()[0])
    return HOST


def tell_link(link: str, is_open: bool) -> None:
    """Print the link and, of a server that others can reach, a QR code and who can."""
    sys.stdout.write(f"Play at {link} (Ctrl-C ends it)\n")
    if is_open:
        if (sys.stdout.encoding or "").lower().startswith("utf"):
            segno.make(link, micro=False).terminal(compact=True)
        sys.stdout.write(
            "A phone in the same network opens it by this code. Whoever has the link can play here "
            "and see\nyour statistics until Ctrl-C; nothing is encrypted on the way: use it in a "
            "network that you trust.\n"
        )
    sys.stdout.flush()


def serve(
    first: GameRecord, port: int, page: str = "/", watch: str | None = None, host: str = HOST
) -> None:
    """Serve the games until Ctrl-C, and open a page if there is a screen or BROWSER is set."""
    first.task  # noqa: B018 - mistakes in the options are reported here, not in the browser
    if not is_address(host):
        raise InputError(f"host must be an IPv4 address such as {HOST} or {ANYWHERE}, got {host}")
    try:
        listening = socket.create_server((host, port))
    except OSError as error:
        if error.errno == errno.EADDRNOTAVAIL:
            raise InputError(f"host must be an address of this machine, got {host}") from None
        raise InputError(
            f"port must be one that is free, got {port} ({os.strerror(error.errno or 0)}): name "
            "another by --port"
        ) from None
    is_open = not IPv4Address(host).is_loopback
    token = secrets.token_urlsafe(16) if is_open else ""
    with listening as door:
        logging.getLogger("werkzeug").setLevel(logging.ERROR)  # no line for each request
        app = make_app(first, watch, token)
        server = make_server(host, port, app, threaded=True, fd=door.fileno())
        link = f"http://{address_of(host)}:{port}{f'/join/{token}' if token else ''}{page}"
        tell_link(link, is_open)
        if sys.platform in ("win32", "darwin") or _SCREENS & os.environ.keys():
            webbrowser.open(link)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            sys.stdout.write("\n")
        finally:
            server.server_close()
