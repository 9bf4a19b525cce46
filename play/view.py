"""What the page shows of a game, as JSON."""

from typing import Any

from ..envs.painting import to_svg
from ..envs.picture import picture_of
from ..games import Die, Tile
from .coach import balance, balance_in_words, ranked, unit_of, verdict
from .rules import rules
from .session import Session


def view(session: Session, coach: bool) -> dict[str, Any]:
    """Say all that there is to see, with what the coach says if it is wanted."""
    scene, game = session.scene, session.task.game
    shown: dict[str, Any] = {
        "title": game.title,
        "rules": rules(game),
        "faced": session.task.words,
        "seed": session.seed,
        "board": to_svg(picture_of(scene), scene.words),
        "labels": _labels(session),
        "choices": [
            {"action": one.action, "words": one.words, "parts": one.parts}
            for one in session.choices
        ],
        "story": [{"who": event.who, "words": event.words} for event in session.story],
        "moves": len(session.actions),
        "over": session.payoff is not None,
        "coach": coach,
    }
    if session.payoff is not None:
        shown["ending"] = unit_of(game).ending(session.payoff)
    if coach and session.actions:
        shown["worth"] = worth(session, 1)
    if coach and session.payoff is not None:
        shown["account"] = _account(session)
    return shown


def _labels(session: Session) -> dict[int, str]:
    """Say what is written on each piece that a move may take."""
    pieces = (piece for row in session.scene.rows for piece in row.pieces)
    named = (piece for piece in pieces if isinstance(piece, Die | Tile) and piece.part is not None)
    return {
        piece.part: str(piece.face if isinstance(piece, Die) else piece.number)
        for piece in named
        if piece.part is not None
    }


def worth(session: Session, before: int) -> dict[str, Any]:
    """Say what moves are, or were, worth, the best first."""
    unit, known = unit_of(session.task.game), session.advice(before)
    made = session.actions[-before] if before else None
    lowest, best = min(one.value for one in known), max(one.value for one in known)
    moves = [
        {
            "action": one.choice.action,
            "words": one.choice.words,
            "parts": one.choice.parts,
            "value": value,
            "cost": cost,
            "share": 1.0 if best == lowest else (one.value - lowest) / (best - lowest),
            "made": one.choice.action == made,
        }
        for one, value, cost in ranked(known)
    ]
    said = "" if made is None else verdict(known, made, unit)
    return {"said": said, "meaning": unit.meaning, "moves": moves}


def _account(session: Session) -> dict[str, Any]:
    """Say where the payoff comes from."""
    bars = [
        {"name": name, "number": float(number), "said": str(number)}
        for name, number in balance(session).items()
    ]
    return {"said": balance_in_words(session, unit_of(session.task.game)), "bars": bars}
