"""Routes of the server for games and for the coach's advice."""

from flask import Flask, Response, abort

from ..envs import find_game
from .levels import strength
from .open_games import OpenGame, OpenGames
from .requests import Progress, body, whole
from .views import (
    JSON,
    account_view,
    advice_view,
    past_view,
    review_view,
    session_view,
    verdicts_view,
)


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
