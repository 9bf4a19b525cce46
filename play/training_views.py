"""What the server sends to the pages of puzzles and of statistics."""

from decimal import Decimal

from ..core import Game
from ..core.presentation import present
from ..envs.drawing.scene import scene_at
from .coach import POINTS, WINS, Unit
from .puzzles import Practice, level_of
from .replies import written
from .review import in_percent
from .rules import rules
from .statistics import KeptGame, Total, by_title, path_of_games, read_games
from .views import JSON, choice_view, drawing, values_view

RECENT = 10  # games of a recent total


def practice_view(practice: Practice) -> JSON:
    """Describe the puzzle and the score; the values of moves once it is answered."""
    game, puzzle = practice.game, practice.puzzle
    shown = {
        "title": present(game).title,
        "rules": rules(game),
        "worth": present(game).worth_table(),
        "score": practice.score,
        "answered": practice.answered,
        "actions": game.num_actions,
    }
    if puzzle is None:
        return {**shown, "film": [], "choices": []}
    task = puzzle.task
    scene = scene_at(game, task.seat, puzzle.state, names_in(game, task.seat))
    told = practice.tried is not None
    return {
        **shown,
        "film": [drawing(scene)],
        "position": scene.position,
        "pieces": written(scene.rows),
        "level": level_of(puzzle.advice),
        "choices": [choice_view(one.choice) for one in puzzle.advice],
        "advice": values_view(puzzle.advice, practice.tried, task) if told else None,
        "said": puzzle.words if told else "",
    }


def names_in(game: Game, seat: int) -> list[str]:
    """Name the players of a puzzle, as a game against policies does."""
    players = game.num_players
    others = ["opponent"] if players == 2 else [f"player {one + 1}" for one in range(players)]
    return ["you" if one == seat else others[one % len(others)] for one in range(players)]


def statistics_view() -> JSON:
    """Return the statistics of all kept games."""
    path = path_of_games()
    games, damaged = read_games(path)
    return {
        "file": "" if path is None else str(path),
        "damaged": damaged,
        "games": [_title_view(title, total) for title, total in by_title(games).items()],
    }


def _title_view(title: str, total: Total) -> JSON:
    unit, recent = unit_of_total(total), recent_of(total)
    return {
        "title": title,
        "unit": unit.sign,
        "all": total_view(total, unit),
        "recent": recent and total_view(recent, unit),
        "series": [_game_view(one, unit) for one in total.games],
    }


def unit_of_total(total: Total) -> Unit:
    """Return the unit of the payoffs of games."""
    return POINTS if total.games[0].points else WINS


def recent_of(total: Total) -> Total | None:
    """Return the last games; None if there are no others."""
    return Total(total.games[-RECENT:]) if len(total.games) > RECENT else None


def total_view(total: Total, unit: Unit) -> JSON:
    """Return the figures of several games, as they are printed."""
    return {
        "games": len(total.games),
        "decisions": total.decisions,
        "lost": unit.shown(unit.rounded(total.lost)),
        "accuracy": percent(total.accuracy),
        "luck": signed(unit, total.luck),
        "payoff": unit.shown(unit.rounded(total.payoff)),
    }


def _game_view(game: KeptGame, unit: Unit) -> JSON:
    return {
        "when": game.when,
        "rivals": game.rivals,
        "link": game.link,
        "lost": game.lost / max(1, game.decisions),
        "accuracy": game.accuracy,
        "words": total_view(Total([game]), unit),
    }


def percent(share: float | None) -> str:
    """Write an accuracy: "87 %", or nothing if there was no decision."""
    whole = in_percent(share)
    return "" if whole is None else f"{whole} %"


def signed(unit: Unit, number: float) -> str:
    """Write a gain with its sign: "+1.2 %"."""
    printed: Decimal = unit.rounded(number)
    return f"{'+' if printed > 0 else ''}{unit.shown(printed)}"
