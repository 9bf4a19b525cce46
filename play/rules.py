"""The rules in a few sentences, from a game's own arguments, for whoever sits down to play."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from ..core import Game
from ..core.words import listed, plural, spelled


def rules(game: Game) -> str:
    """Say in a few sentences how a game is played; of anybody's game, what its module says."""
    tell = RULES.get(game.name)
    if tell is not None:
        return " ".join(sentence[0].upper() + sentence[1:] for sentence in tell(game))
    said = inspect.getdoc(inspect.getmodule(type(game))) or f"{game.title}."
    return " ".join(" ".join(said.split("\n\n")[:2]).split())


# ---------------------------------------------------------------------------- words


def _dice(count: int, sides: int) -> str:
    """Say what is rolled: "two dice with 6 faces"."""
    faces = f"{sides} {plural(sides, 'face')}"
    return f"{spelled(count)} {plural(count, 'die', 'dice')} with {faces}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{spelled(count)} times")


def _up_to(count: int) -> str:
    return _times(count) if count == 1 else f"up to {_times(count)}"


def _either(things: list[str]) -> str:
    return listed(things).replace(" and ", " or ")


# ---------------------------------------------------------------------------- Greed


GREED_TIES = {
    "half": "equal scores are half a win for both",
    "lost": "with equal scores both lose",
    "stopper": "equal scores are won by the player who stopped",
    "chaser": "equal scores are won by the player who had the last turn",
}


def _greed(game: Any) -> Iterator[str]:
    faces = f"{game.sides} {plural(game.sides, 'face')}"
    many = "as many dice as you like"
    if game.max_dice is not None:
        limit = "up to " * (game.max_dice > 1) + spelled(game.max_dice)
        many = f"{limit} {plural(game.max_dice, 'die', 'dice')}"
    yield f"Roll {many}, in one go, and add the sum to your score; each has {faces}."
    yield f"Above {game.max_score} you are bust and lose."
    yield (
        "Roll none, and the other player has one last turn; then the higher score wins, and "
        f"{GREED_TIES[game.tie]}."
    )


# ---------------------------------------------------------------------------- lowest score


def _keeping(game: Any) -> Iterator[str]:
    """Tell one turn of the lowest-score game."""
    if game.dice == 1:
        yield f"Roll {_dice(1, game.faces)} and keep it."
    else:
        yield (
            f"Roll {_dice(game.dice, game.faces)}, keep one or more, always the lowest; roll the "
            "others again, until all are kept."
        )
    yield f"A die counts its face, but a {game.zero_face} counts 0."


def _lowest_score(game: Any) -> Iterator[str]:
    yield from _keeping(game)
    alone = game.players == 1
    if not alone:
        yield f"{spelled(game.players)} players have one turn each."
    if game.objective == "score":
        yield "You are paid minus your total."
    elif alone:
        yield "You play alone, so that every total wins."
    elif game.objective == "win":
        yield "The lowest total wins; everyone tied for lowest wins."
    else:
        yield "The lowest total wins; everyone tied for lowest shares the win."


MATCH_STARTERS = {
    "winner": "the winner of a round begins the next one",
    "next": "the next player begins the next round",
    "same": "the same player begins every round",
}


def _lowest_score_match(game: Any) -> Iterator[str]:
    yield from _keeping(game)
    yield f"{spelled(game.players)} players have one turn each in a round."
    yield (
        f"The lowest total wins it; of equal totals the {game.tie} to be rolled wins, and "
        f"{MATCH_STARTERS[game.starter]}."
    )
    rounds = f"{spelled(game.wins)} {plural(game.wins, 'round')}"
    yield f"The first player who has won {rounds} wins the match."


# ---------------------------------------------------------------------------- shut the box


def _shut_the_box(game: Any) -> Iterator[str]:
    tiles = "The tile 1 is" if game.tiles == 1 else f"The tiles 1 to {game.tiles} are"
    yield (
        f"{tiles} open. Roll {_dice(game.dice, game.sides)}, and close open tiles that add up to "
        "the roll, as long as that is possible."
    )
    limit = game.one_die.removeprefix("sum<=")
    if limit != "never" and game.dice > 1:
        yield f"While the open tiles add up to at most {limit}, only one die is rolled."
    if game.objective == "sum":
        yield "You are paid minus the sum left open."
    elif game.objective == "shut":
        yield "You win if you close all."
    else:
        yield (
            "Two players have one turn each; the lower sum left open wins, equal sums are half a "
            "win for both."
        )
        if game.shut_wins:
            yield "A first player who closes all has won at once."
        else:
            yield "If the first player closes all, the second may still do the same."


# ---------------------------------------------------------------------------- 421


def _casting(faces: int, dice: int, casts: int) -> Iterator[str]:
    """Tell one turn of 421."""
    yield f"Cast {_dice(dice, faces)} {_up_to(casts)}."
    if casts > 1:
        others = "the others are cast again" if dice > 1 else "what you leave is cast again"
        yield f"After each cast put aside, for good, any of the dice just cast; {others}."


def _ranking(faces: int) -> str:
    """Say which of two combinations is the higher one."""
    order = ["421"] * (faces >= 4) + ["111"]
    order += ["two ones with another face or three equal faces, by that face, the ones first"]
    order += ["sequences"] * (faces >= 3) + ["all others"]
    return f"From high to low: {', then '.join(order)}, by their highest faces."


def _worth(faces: int, four_two_one: int, unit: str) -> str:
    """Say what combinations are worth."""
    parts = [f"421 is worth {four_two_one} {plural(four_two_one, unit)}"] * (faces >= 4)
    parts += ["111 is worth 7", "two ones with another face, or three equal faces, that face"]
    parts += ["a sequence 2"] * (faces >= 3)
    return f"{', '.join(parts)}, and all else 1."


def _four_two_one(game: Any) -> Iterator[str]:
    if game.duration is None:
        yield from _casting(game.faces, game.dice, game.casts)
    else:
        yield f"Cast {_dice(game.dice, game.faces)} exactly {_times(game.duration)}."
        if game.duration > 1:
            yield (
                "After each cast put aside, for good, any of the dice just cast, but not the last "
                "one before the last cast; the others are cast again."
            )
    kind, _, goals = game.utility.partition(":") if isinstance(game.utility, str) else ("", "", "")
    if kind == "set":
        yield from _set(game)
    elif kind == "transfer":
        yield f"You are paid what the dice are worth: {_worth(game.faces, 10, 'token')}"
    elif kind == "sum":
        yield "You are paid the sum of the faces."
    elif goals:
        each = " each" if len(goals.split(",")) > 1 else ""
        yield f"You are paid 1 for {_either(goals.split(','))}{each}, else nothing."
    else:
        yield "What you are paid depends on the faces and on how often you have cast."


def _set(game: Any) -> Iterator[str]:
    if game.casts > 1:
        yield "The first player may stop earlier; the second has to cast exactly as often."
    equal = {
        "half": "equal ones are half a win for both",
        "lost": "of equal ones the first player's wins",
    }
    yield f"The higher combination wins; {equal[game.tie]}."
    yield _ranking(game.faces)


ROUND_STARTERS = {
    "loser": "the loser of a round begins the next one",
    "winner": "the winner of a round begins the next one",
    "alternate": "the players take turns to begin a round",
    "same": "the same player begins every round",
}


def _four_two_one_match(game: Any) -> Iterator[str]:
    charge, discharge = game.charge_casts, game.discharge_casts
    yield from _casting(game.faces, 3, max(charge, discharge) if game.tokens > 1 else charge)
    if game.tokens > 1 and charge != discharge:
        yield (
            f"That is {_up_to(charge)} while the pot has tokens, {_up_to(discharge)} afterwards."
        )
    if max(charge, discharge * (game.tokens > 1)) > 1:
        yield "Who begins a round may stop earlier; the other player has to cast exactly as often."
    yield (
        "The lower combination loses the round, and its player takes as many tokens as the higher "
        f"one is worth: from the pot, which has {game.tokens} at first, and once that is empty "
        "from the other player, as far as there are any."
    )
    if game.short_pot == "spill":
        yield "If the pot has too few, the rest comes from the other player."
    else:
        yield "If the pot has too few, it gives what it has and nobody the rest."
    if game.tie == "replay":
        yield "Of equal combinations nobody takes tokens, and the same player begins again."
    else:
        yield "Of equal combinations the one that was cast last loses."
    yield f"{ROUND_STARTERS[game.starter]}."
    yield "The player who has no token once the pot is empty wins the match."
    yield _worth(game.faces, game.four_two_one, "token")
    yield _ranking(game.faces)


#: What tells each game, by its name.
RULES: dict[str, Callable[[Any], Iterator[str]]] = {
    "Greed": _greed,
    "LowestScore": _lowest_score,
    "LowestScoreMatch": _lowest_score_match,
    "ShutTheBox": _shut_the_box,
    "FourTwoOne": _four_two_one,
    "FourTwoOneMatch": _four_two_one_match,
}
