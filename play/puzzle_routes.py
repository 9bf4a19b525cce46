"""Routes of the server for puzzles and for statistics."""

from threading import Lock
from typing import Any

from flask import Blueprint, Flask

from ..core import GAMES, Game, InputError
from ..envs import find_game
from .open_games import options
from .opened import Opened
from .puzzles import Practice, practice_of
from .record import GameRecord, new_seed
from .requests import Progress, body, whole
from .training_views import practice_view, statistics_view
from .views import JSON


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
        wish = {"game": first.game, "of": "", "level": "easy"} | body()
        seed = whole(wish, "seed") if "seed" in wish else new_seed()
        game = _game_of(_word(wish, "game"), wish.get("env") or {}, first)
        with lock, progress.shown():
            practice = practice_of(game, _word(wish, "of"), _word(wish, "level"), seed)
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


def _game_of(name: str, env: Any, first: GameRecord) -> Game:
    """Return the rules: with these keywords, those of the command line's game, or the defaults."""
    if not isinstance(env, dict):
        raise InputError("env must be a JSON object")
    if name in (first.game, find_game(first.game).name):
        if not env:
            return first.task.game
    elif name not in GAMES:
        raise InputError(f"game must be one of {', '.join(GAMES)}, got {name[:50]!r}")
    return GameRecord(name, options(env)).task.game


def _word(wish: JSON, key: str) -> str:
    value = wish[key]
    if not isinstance(value, str):
        raise InputError(f"{key} must be a word, got {str(value)[:50]!r}")
    return value
