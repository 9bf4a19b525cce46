"""The rules in a few words, for whoever sits down to play."""

import inspect
from collections.abc import Callable
from typing import Any

from ..games import Game

TIES = {
    "half": "equal scores are half a win",
    "lost": "with equal scores both lose",
    "stopper": "equal scores are won by who stopped",
    "chaser": "equal scores are won by who had the last turn",
}
LOWEST = {
    "win": "The lowest total wins, and so does who equals it.",
    "share": "Those who have the lowest total share the win.",
    "score": "You are paid minus your total.",
}
OPEN = {
    "win": "The lower sum left open wins.",
    "sum": "You are paid minus the sum left open.",
    "shut": "You win if you close all.",
}
CAST = (
    "Cast {dice} dice up to {casts} times. After each cast put aside which of them you like, for "
    "good; the others are cast again."
)
WORTH = (
    "421 is worth 10, 111 is 7, two ones and another face are worth that face, so are three "
    "equal ones, a sequence is worth 2 and all else 1."
)


def rules(game: Game) -> str:
    """Say in a few sentences how a game is played; of anybody's game, what its module says."""
    tell = RULES.get(game.name)
    if tell is not None:
        return tell(game)
    said = inspect.getdoc(inspect.getmodule(type(game))) or f"{game.title}."
    return " ".join(" ".join(said.split("\n\n")[:2]).split())


def _greed(game: Any) -> str:
    return (
        "Roll as many dice as you like, in one go, and add them to your score. Above "
        f"{game.max_score} you are bust and lose. Roll none, and the other has one last turn; "
        f"then the higher score wins, and {TIES[game.tie]}."
    )


def _round(game: Any) -> str:
    zero = f", but a {game.zero_face} counts 0" if game.zero_face else ""
    return (
        f"Roll {game.dice} dice, keep one or more, always the lowest; roll the others again, until "
        f"all are kept. A die counts its face{zero}."
    )


def _lowest_score(game: Any) -> str:
    return f"{_round(game)} {LOWEST[game.objective]}"


def _lowest_score_match(game: Any) -> str:
    return (
        f"{_round(game.round)} The lowest total wins the round; of equals, who played {game.tie}. "
        f"Who first wins {game.wins} rounds has won."
    )


def _shut_the_box(game: Any) -> str:
    limit = game.one_die.removeprefix("sum<=")
    one = "" if limit == "never" else f" One die is rolled when at most {limit} is open."
    first = game.objective == "win" and game.shut_wins
    shut = " A first player who closes all has won." if first else ""
    return (
        f"Roll {game.dice} dice, and close open tiles that add up to the roll, as long as that is "
        f"possible.{one} {OPEN[game.objective]}{shut}"
    )


def _four_two_one(game: Any) -> str:
    paid = {
        "transfer": WORTH,
        "sum": "You are paid the sum of the faces.",
        "set": "The second player has to cast as often as the first; the higher combination wins.",
    }
    kind, _, goal = game.utility.partition(":") if isinstance(game.utility, str) else ("", "", "")
    aim = paid.get(kind, f"You win 1 with {goal.replace(',', ' or ')}." if goal else "")
    return f"{CAST.format(dice=game.dice, casts=game.casts)} {aim}".strip()


def _four_two_one_match(game: Any) -> str:
    cast = CAST.format(dice=3, casts=game.charge_casts)
    return (
        f"{cast} The second player has to cast as often as the first. The lower combination takes "
        "as many tokens as the higher one is worth, from the pot while it has any, then from the "
        f"other player; who has none once the pot is empty has won. {WORTH}"
    )


RULES: dict[str, Callable[[Any], str]] = {
    "Greed": _greed,
    "LowestScore": _lowest_score,
    "LowestScoreMatch": _lowest_score_match,
    "ShutTheBox": _shut_the_box,
    "FourTwoOne": _four_two_one,
    "FourTwoOneMatch": _four_two_one_match,
}
