"""What the server sends to the page in the browser: JSON, with boards as SVG."""

import inspect
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from math import sqrt
from typing import Any, Literal, get_args, get_origin, get_type_hints

import docstring_parser

from ..baselines import Task
from ..baselines.advice import TIE, Advice, Choice, spread_of
from ..core import GAMES, FloatArray, Game, Presentation, SizeError, present
from ..core.words import printable, sentence, typed
from ..envs import find_game
from ..envs.drawing.painting import to_svg
from ..envs.drawing.picture import NARROW, WIDE, picture_of
from ..envs.drawing.scene import Scene
from . import coach
from .levels import PERSON, Agent, player, players, policy_of, rivals
from .puzzles import Practice, level_of, sources
from .record import GameRecord
from .session import Session
from .text import rules

SWITCH = {True: "yes", False: "no"}
LOGGED = ("who", "seat", "words", "decided")  # what the page shows of each move
JSON = dict[str, Any]


def fields(
    kind: type[Game], shown: Presentation[Any], given: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Describe the keywords of a game, some of which have given values.

    The presentation of its default has words for values. "options" are pairs (value, words), and
    "open" says whether the keyword may have other values.
    """
    params = docstring_parser.parse(inspect.getdoc(kind) or "").params
    told = {  # the other entries are attributes
        one.arg_name: " ".join((one.description or "").replace("`", "").split())
        for one in params
        if one.args[0] == "param"
    }
    hints, found = get_type_hints(kind.__init__), []
    for name, one in inspect.signature(kind).parameters.items():
        hint, value = hints.get(name), given.get(name)
        is_listed = hint is bool or get_origin(hint) is Literal
        options = dict(shown.options.get(name, {}))
        if not options and is_listed:
            options = SWITCH if hint is bool else {known: str(known) for known in get_args(hint)}
        if options and value is not None and value not in options:
            options = {**options, value: str(value)}
        is_plain = isinstance(one.default, int | float | str | None)
        found.append(
            {
                "name": name,
                "default": one.default if is_plain else str(one.default),
                "given": value,
                "about": re.split(r"(?<=\.) ", told.get(name, ""))[0],  # the first sentence
                "open": not is_listed,
                "options": list(options.items()),
            }
        )
    return found


def setup_view(first: GameRecord, watch: str | None = None) -> JSON:
    """List the games, and name the one that is selected at first, and the policy that moves."""
    own = find_game(first.game)
    games = []
    for game in GAMES.values():
        with suppress(SizeError):  # the default sizes are above the limits
            games.append(game_view(game, first))
    return {"games": games, "first": own.name, "watch": watch and policy_of(watch)}


def game_view(kind: type[Game], first: GameRecord) -> JSON:
    """List the options of a game, with the values that ``first`` gives them."""
    is_first = find_game(first.game) is kind
    given = dict(first.env) if is_first else {}
    seat = given.pop("seat", 0)
    try:
        default = kind()
    except SizeError:
        if not is_first:
            raise
        default = first.task.game
    given.pop(kind.opponent_keyword, None)
    against = (against_of(first) if is_first else None) or kind.default_opponent
    shown = present(default)
    return {
        "name": kind.name,
        "title": shown.title,
        "players": default.num_players,
        "for_two": dict(shown.made_for_two) if default.num_players == 1 else {},
        "opponents": [vars(one) for one in [*players(default, against), PERSON]],
        "puzzles": [vars(player(default, name)) for name in sources(default)],
        "against": against,
        "seat": seat,
        "keywords": fields(kind, shown, given),
    }


def against_of(record: GameRecord) -> Any:
    """Return the policies of the other players that a record names, or None."""
    return record.against or record.env.get(find_game(record.game).opponent_keyword)


def session_view(session: Session, record: GameRecord, agent: Agent | None = None) -> JSON:
    """Describe the board, the legal moves and the moves so far, of persons or of an agent."""
    watched = f" --watch {printable(typed([agent.name]))}" if agent else ""
    film, task = session.film, session.task
    return {
        **board_view(task.game, film, session.choices),
        "names": session.names,
        "watched": agent.title if agent else "",
        "watch": agent.name if agent else "",
        "seat": session.now.seat,
        "persons": session.persons,
        "against": [vars(one) for one in ([PERSON] if session.together else rivals(task))],
        "seed": session.seed,
        "command": record.after(session).command + watched,
        "link": record.after(session).link,
        "practise": record.practise,
        "made": len(session.actions),
        "log": [{name: getattr(event, name) for name in LOGGED} for event in session.story],
        "news": len(film[-1].events),
        "ended": coach.result(session, coach.unit_of(task.game)),
        "reason": "" if session.payoff is None else session.reason,
    }


def board_view(game: Game, film: Sequence[Scene], choices: Sequence[Choice]) -> JSON:
    """Describe a game, its board at each moment of a film, at last now, and the legal moves."""
    return {
        "title": present(game).title,
        "welcome": present(game).welcome,
        "rules": rules(game),
        "worth": present(game).worth_table(),
        "film": [drawn(scene) for scene in film],
        "pieces": film[-1].signs if film else {},
        "kept": film[-1].kept if film else [],
        "actions": game.num_actions,
        "choices": [vars(choice) for choice in choices],
    }


def drawn(scene: Scene) -> dict[str, str]:
    """Draw a board as SVG for wide and for narrow screens."""
    pages = {"wide": replace(WIDE, row=36), "narrow": NARROW}
    return {name: to_svg(picture_of(scene, page), scene.words) for name, page in pages.items()}


def advice_view(session: Session, before: int, agent: Agent | None = None) -> JSON:
    """Return the values of the legal moves, now or ``before`` moves ago, and an agent's law."""
    advice, unit = session.advice(before), coach.unit_of(session.task.game)
    number = len(session.actions) - before
    made = session.actions[number] if before else None
    told = [] if before else coach.hints(session, advice, unit)
    law = None if agent is None else agent.law(session.moments[number].state)
    return {**values_view(advice, made, session.task, law), "hints": told}


def values_view(
    advice: Sequence[Advice], made: int | None, task: Task, law: FloatArray | None = None
) -> JSON:
    """Return the values of legal moves, of which one was made, or a policy has a law (action,)."""
    unit = coach.unit_of(task.game)
    return {
        "meaning": unit.meaning,
        "thresholds": unit.thresholds(spread_of(task)),
        "verdict": "" if made is None else coach.verdict(advice, made, unit),
        "grade": "" if made is None else coach.grade_of(advice, made),
        "made": made,
        "moves": [
            _valued(one, advice, unit)
            | ({} if law is None else {"law": float(law[one.choice.action])})
            for one in advice
        ],
    }


def _valued(one: Advice, advice: Sequence[Advice], unit: coach.Unit) -> JSON:
    """Describe a legal move with its value, rounded and exact, and the length of its bar.

    The bar grows with the square root of the loss, so that small losses can be told apart, and is
    full at half a win.
    """
    best = one.cost < TIE
    lost = coach.given_away(advice, one.choice.action, unit)
    return {
        **vars(one.choice),
        "value": unit.shown(unit.rounded(one.value)),
        "cost": "" if best else unit.lost(lost),
        "exact": [str(Decimal(each).quantize(coach.EXACT) + 0) for each in (one.value, one.cost)],
        "grade": one.grade,
        "best": best,
        "bar": 0.0 if best else min(1.0, sqrt(2 * one.share)),
    }


def review_view(session: Session, seat: int) -> JSON:
    """Return the parts of a person's payoff, the course of the chances and the costliest moves."""
    unit, course = coach.unit_of(session.task.game), session.course_of(seat)
    made = [one for one in coach.steps(session) if one.seat == seat]
    low, high = (0.0, 1.0) if unit.ends else (min(course), max(course))
    lost = sum(one.cost for one in made if one.cost >= TIE)
    return {
        "unit": unit.sign,
        "parts": [
            {"name": name, "number": str(part)}
            for name, part in coach.balance(session, seat).items()
        ],
        "accuracy": coach.accuracy(lost, sum(one.average for one in made)),
        "meaning": coach.ACCURACY,
        "name": sentence(unit.meaning.partition(",")[0]).rstrip("."),
        "low": unit.shown(unit.rounded(low)),
        "high": unit.shown(unit.rounded(high)),
        "course": [(value - low) / ((high - low) or 1.0) for value in course],
        "steps": [vars(one) | {"printed": str(one.printed)} for one in made],
        "worst": [made.index(one) for one in coach.costliest(made)],
    }


def practice_view(practice: Practice) -> JSON:
    """Describe the puzzle and the score; the values of moves once it is answered."""
    puzzle, tried = practice.puzzle, practice.tried
    shown = {"score": practice.score, "answered": practice.answered}
    if puzzle is None:
        return {**board_view(practice.game, [], []), **shown}
    told = tried is not None
    return {
        **board_view(practice.game, [puzzle.scene], [one.choice for one in puzzle.advice]),
        **shown,
        "level": level_of(puzzle.advice),
        "advice": values_view(puzzle.advice, tried, puzzle.task) if told else None,
        "said": puzzle.words if told else "",
    }
