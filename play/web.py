"""Games in the browser: a server for this machine alone, and the page that it serves.

The page holds no rules and draws no board: it shows what a ``Session`` says (``view``), and asks
for moves by their numbers.
"""

import re
import secrets
import webbrowser
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock, Timer
from typing import Any

from flask import Flask, Response, request
from werkzeug.exceptions import Conflict, HTTPException, NotFound, abort
from werkzeug.serving import WSGIRequestHandler, make_server

from ..baselines import policy_names
from ..envs import find_game
from ..games import GAMES, InputError
from .record import Record, new_seed
from .session import Session
from .view import view, worth

HOST = "127.0.0.1"
MOST_GAMES = 500  # that are kept; the oldest are forgotten
LARGEST_REQUEST = 10_000  # bytes
#: The page loads nothing from elsewhere and runs no script but its own.
POLICY = "default-src 'self'; frame-ancestors 'none'"
#: What a page may say of the game that it wants.
WANTED = {"game": str, "options": str, "against": str, "seat": int, "seed": int, "coach": bool}


class Quiet(WSGIRequestHandler):
    """Keeps the terminal free of a line for each request."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


@dataclass
class Table:
    """A game that is played on a page."""

    record: Record
    session: Session
    coach: bool

    def view(self) -> dict[str, Any]:
        """Say all that there is to see."""
        command = replace(self.record, seed=self.session.seed).command
        return {**view(self.session, self.coach), "command": command}


class Tables:
    """All games that are played, by names that nobody guesses.

    Args:
        first: what is played if a page does not say what.
    """

    def __init__(self, first: Record) -> None:
        self.first = first
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._lock = Lock()  # one request at a time, as solving keeps the processor busy

    def begin(self, content: dict[str, Any]) -> dict[str, Any]:
        """Begin a game."""
        record = asked(content, self.first)
        with self._lock:
            name = secrets.token_urlsafe(9)
            self._tables[name] = table = Table(record, record.session(), record.coach)
            while len(self._tables) > MOST_GAMES:
                self._tables.popitem(last=False)
            return {"id": name, **table.view()}

    def at(self, name: str, do: Callable[[Table], dict[str, Any]]) -> dict[str, Any]:
        """Do something at a table.

        Raises:
            NotFound: if there is none of this name.
        """
        with self._lock:
            if name not in self._tables:
                raise NotFound("there is no such game any more: begin a new one")
            return do(self._tables[name])

    def move(self, name: str, content: dict[str, Any]) -> dict[str, Any]:
        """Make a move, unless it was meant for another position, as in a double click."""
        action, moves = (_of_type(content, key, int) for key in ("action", "moves"))

        def make(table: Table) -> dict[str, Any]:
            if moves != len(table.session.actions):
                raise Conflict("the game has gone on: this move was for an earlier position")
            table.session.move(action)
            return table.view()

        return self.at(name, make)

    def undo(self, name: str, _: dict[str, Any]) -> dict[str, Any]:
        """Take a move back."""

        def take(table: Table) -> dict[str, Any]:
            table.session.undo()
            return table.view()

        return self.at(name, take)

    def coach(self, name: str, content: dict[str, Any]) -> dict[str, Any]:
        """Have moves judged, or no longer."""
        wanted = _of_type(content, "coach", bool)

        def switch(table: Table) -> dict[str, Any]:
            table.coach = wanted
            return table.view()

        return self.at(name, switch)

    def advise(self, table: Table) -> dict[str, Any]:
        """Say what the moves are worth that may be made now."""
        if table.session.payoff is not None:
            raise InputError("advice must be asked for before the end of the game")
        return worth(table.session, 0)


def make_app(first: Record, port: int) -> Flask:
    """Make the server.

    Args:
        first: what is played if a page does not say what.
        port: that it will listen on.
    """
    app = Flask(__name__, static_folder="page", static_url_path="")
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_REQUEST
    tables = Tables(first)
    names = {f"{HOST}:{port}", f"localhost:{port}"}
    known = {None, *(f"http://{name}" for name in names)}

    @app.before_request
    def refuse_strangers() -> None:
        """Refuse what comes by another name of this machine, or from the page of another site."""
        if request.host not in names or request.headers.get("Origin") not in known:
            abort(403, "this page is for this machine alone")

    @app.after_request
    def allow_nothing_else(response: Response) -> Response:
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["Cache-Control"] = "no-store"
        return response

    @app.errorhandler(HTTPException)
    def say_why(error: HTTPException) -> tuple[dict[str, str], int]:
        return {"error": error.description or error.name}, error.code or 500

    @app.errorhandler(InputError)
    def say_what(error: InputError) -> tuple[dict[str, str], int]:
        return {"error": str(error)}, 400

    app.get("/")(lambda: app.send_static_file("index.html"))
    app.get("/games", endpoint="games")(lambda: offers(first))
    app.post("/game", endpoint="begin")(lambda: tables.begin(_body()))
    app.get("/game/<name>", endpoint="look")(lambda name: tables.at(name, Table.view))
    app.get("/game/<name>/advice", endpoint="advice")(lambda name: tables.at(name, tables.advise))
    for step in (tables.move, tables.undo, tables.coach):
        app.post(f"/game/<name>/{step.__name__}", endpoint=step.__name__)(
            lambda name, step=step: step(name, _body())
        )
    return app


def serve(first: Record, port: int, browse: bool = True) -> None:
    """Serve games until Ctrl-C.

    Args:
        first: what is played first.
        port: to listen on.
        browse: whether to open the page.

    Raises:
        InputError: if the port is taken, or the game cannot be played.
    """
    first.session()
    try:
        server = make_server(HOST, port, make_app(first, port), True, request_handler=Quiet)
    except (OSError, SystemExit):  # which werkzeug raises for the first
        raise InputError(f"port must be a free one, got {port}: choose it by --port") from None
    address = f"http://{HOST}:{port}/"
    print(f"Play at {address}, until Ctrl-C.", flush=True)  # noqa: T201  for people
    if browse:
        opener = Timer(0.5, webbrowser.open, [address])
        opener.daemon = True
        opener.start()
    try:
        server.serve_forever()
    finally:
        server.server_close()


def _body() -> dict[str, Any]:
    """Read what a page has sent."""
    try:
        content = request.get_json()
    except RecursionError:  # of brackets in brackets in brackets
        content = None
    if not isinstance(content, dict):
        raise InputError("request must be an object of JSON")
    return content


def _of_type(content: dict[str, Any], name: str, kind: type) -> Any:
    value = content.get(name)
    if type(value) is not kind:
        raise InputError(f"{name} must be of type {kind.__name__}, got {value!r}"[:200])
    return value


def offers(first: Record) -> dict[str, Any]:
    """Say what may be chosen of each game, that of the command line first."""
    places = dict.fromkeys([first.game, *GAMES])
    return {"games": [_offer(place, first) for place in places]}


def _offer(place: str, first: Record) -> dict[str, Any]:
    rules = find_game(place)
    game = first.task.game if place == first.game else rules()
    names = [name for name in policy_names(game) if "<" not in name and name != "best_response"]
    return {
        "game": place,
        "title": game.title,
        "players": game.num_players,
        "policies": names if game.num_players > 1 else [],
        "default": rules.default_opponent,
        "for_two": rules.made_for_two,
    }


def asked(content: dict[str, Any], first: Record) -> Record:
    """Give the game that a page asks for.

    Raises:
        InputError: if it is none.
    """
    if not content:
        return first
    for name in content:
        if name not in WANTED:
            raise InputError(f"request must have of {', '.join(WANTED)}, got {name!r}"[:300])
        _of_type(content, name, WANTED[name])
    place = content.get("game", first.game)
    if place != first.game and place not in GAMES:  # a place is code, which no page may name
        raise InputError(f"game must be one of {', '.join(GAMES)}, got {place!r}"[:300])
    words = content.get("options", "").split()
    if len(words) % 2:
        raise InputError("options must be names and values in turn, such as max_score 50")
    env: dict[str, Any] = {
        name: int(value) if re.fullmatch(r"-?\d{1,9}", value) else value
        for name, value in zip(words[::2], words[1::2], strict=True)
    }
    if content.get("seat"):
        env["seat"] = content["seat"]
    record = Record(place, env, None, content.get("seed", new_seed()), content.get("coach", False))
    against = content.get("against")
    if not against or against == record.task.game.default_opponent:
        return record
    if against not in (*policy_names(record.task.game), first.against):  # a path is a file
        raise InputError(f"against must be a policy of {place}, got {against!r}"[:300])
    return replace(record, against=against)
