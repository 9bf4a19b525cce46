"""What the server sends to the page in the browser: JSON, with boards as SVG."""

import inspect
from contextlib import suppress
from typing import Any

from ..baselines import policy_names
from ..core import GAMES, Game, SizeError
from ..core.presentation import present
from ..envs import find_game
from ..envs.drawing.painting import to_svg
from ..envs.drawing.picture import NARROW, WIDE, picture_of
from ..envs.drawing.scene import Scene
from .coach import TIE, balance, given_away, rounded, unit_of, verdict
from .record import GameRecord
from .replies import written
from .rules import rules
from .session import Choice, Session

JSON = dict[str, Any]


def setup_view(first: GameRecord) -> JSON:
    """List the games, and name the one that is selected at first."""
    own = find_game(first.game)
    games = []
    for game in GAMES.values():
        with suppress(SizeError):  # the default sizes are above the limits
            games.append(game_view(game, first))
    return {"games": games, "first": own.name}


def game_view(kind: type[Game], first: GameRecord) -> JSON:
    """List the options of a game, with the values that ``first`` gives them."""
    game: Any = kind
    is_first = find_game(first.game) is kind
    given = dict(first.env) if is_first else {}
    seat = given.pop("seat", 0)
    try:
        default = kind()
    except SizeError:
        if not is_first:
            raise
        default = first.task.game
    named = [name for name in policy_names(game) if "<" not in name]
    given.pop(kind.opponent_keyword, None)
    against = (against_of(first) if is_first else None) or kind.default_opponent
    shown = present(default)
    keywords = inspect.signature(kind).parameters.values()
    return {
        "name": kind.name,
        "title": shown.title,
        "players": default.num_players,
        "for_two": dict(shown.made_for_two) if default.num_players == 1 else {},
        "opponents": list(dict.fromkeys([against, *named])),
        "seat": seat,
        "keywords": [
            {"name": one.name, "default": _plain(one.default), "given": given.get(one.name)}
            for one in keywords
        ],
    }


def against_of(record: GameRecord) -> Any:
    """Return the policies of the other players that a record names, or None."""
    return record.against or record.env.get(find_game(record.game).opponent_keyword)


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | str | None) else str(value)


def session_view(session: Session, record: GameRecord) -> JSON:
    """Describe the board, the legal moves and the moves so far."""
    film, task = session.film, session.task
    unit = unit_of(task.game)
    return {
        "title": present(task.game).title,
        "rules": rules(task.game),
        "names": session.names,
        "seat": task.seat,
        "against": {session.names[seat]: name for seat, name in task.labels.items()},
        "seed": session.seed,
        "command": record.after(session).command,
        "made": len(session.actions),
        "film": [drawing(scene) for scene in film],
        "position": film[-1].position,
        "pieces": written(film[-1].rows),
        "actions": task.game.num_actions,
        "choices": [choice_view(choice) for choice in session.choices],
        "log": [
            {
                "who": event.who,
                "seat": session.names.index(event.who),
                "words": event.words,
                "decided": event.decided,
            }
            for event in session.story
        ],
        "news": len(film[-1].events),
        "ended": "" if session.payoff is None else unit.ending(session.payoff),
        "reason": "" if session.payoff is None else session.reason,
    }


def drawing(scene: Scene) -> JSON:
    """Draw a scene as SVG, for wide screens and for narrow ones."""
    pages = {"wide": WIDE, "narrow": NARROW}
    return {name: to_svg(picture_of(scene, page), scene.words) for name, page in pages.items()}


def choice_view(choice: Choice) -> JSON:
    """Describe a legal move."""
    return {"action": choice.action, "words": choice.words, "parts": list(choice.parts)}


def advice_view(session: Session, before: int) -> JSON:
    """Return the values of the legal moves, now or ``before`` moves ago."""
    advice, unit = session.advice(before), unit_of(session.task.game)
    made = session.actions[-before] if before else None
    values = [one.value for one in advice]
    low, high = min(0.0, *values), max(0.0, *values)
    return {
        "meaning": unit.meaning,
        "verdict": "" if made is None else verdict(advice, made, unit),
        "made": made,
        "moves": [
            {
                **choice_view(one.choice),
                "value": str(rounded(one.value)),
                "cost": str(given_away(advice, one.choice.action)),
                "best": one.cost < TIE,
                "share": (one.value - low) / (high - low) if high > low else 0.0,
            }
            for one in advice
        ],
    }


def verdicts_view(session: Session) -> JSON:
    """Return the coach's verdict on each move so far."""
    unit, made = unit_of(session.task.game), len(session.actions)
    return {
        "verdicts": [
            verdict(session.advice(made - number), action, unit)
            for number, action in enumerate(session.actions)
        ]
    }


def account_view(session: Session) -> JSON:
    """Return the parts of the payoff, which add up as they are printed."""
    parts = [{"name": name, "number": str(number)} for name, number in balance(session).items()]
    return {"unit": unit_of(session.task.game).after, "parts": parts}
