"""The rules of 421 in words: of a turn, of a set and of the whole match."""

from collections.abc import Iterator

from ...core.words import dice_words, either, plural, times, up_to

#: Who begins the next round of a match.
STARTERS = {
    "loser": "the loser of a round begins the next one",
    "winner": "the winner of a round begins the next one",
    "alternate": "the players take turns to begin a round",
    "same": "the same player begins every round",
}
#: What equal combinations are worth in a set.
TIES = {
    "half": "equal ones are half a win for both",
    "lost": "of equal ones the first player's wins",
}


def _turn(dice: int, faces: int, casts: int) -> Iterator[str]:
    """Say how one turn is played."""
    yield f"Cast {dice_words(dice, faces)} {up_to(casts)}."
    if casts > 1:
        others = "the others are cast again" if dice > 1 else "what you leave is cast again"
        yield f"After each cast put aside, for good, any of the dice just cast; {others}."


def _ranking(faces: int) -> str:
    """Say which of two combinations is the higher one."""
    order = ["421"] * (faces >= 4) + ["111"]
    order += ["two ones with another face or three equal faces, by that face, the ones first"]
    order += ["sequences"] * (faces >= 3) + ["all others"]
    return f"From high to low: {', then '.join(order)}, by their highest faces."


def _worth(faces: int, four_two_one: int) -> str:
    """Say how many tokens combinations are worth."""
    tokens = plural(four_two_one, "token")
    parts = [f"421 is worth {four_two_one} {tokens}"] * (faces >= 4)
    parts += ["111 is worth 7", "two ones with another face, or three equal faces, that face"]
    parts += ["a sequence 2"] * (faces >= 3)
    return f"{', '.join(parts)}, and all else 1."


def rules(
    dice: int, faces: int, casts: int, utility: str | None, duration: int | None, tie: str
) -> Iterator[str]:
    """Say how a turn or a set with these arguments is played, a sentence at a time.

    Args:
        dice: number of dice.
        faces: faces of a die.
        casts: the most casts.
        utility: its name; None for a table or a function.
        duration: casts that a next player has to make; None for a first player and in a set.
        tie: what equal combinations pay in a set.
    """
    if duration is None:
        yield from _turn(dice, faces, casts)
    else:
        yield f"Cast {dice_words(dice, faces)} exactly {times(duration)}."
        if duration > 1:
            yield (
                "After each cast put aside, for good, any of the dice just cast, but not the last "
                "one before the last cast; the others are cast again."
            )
    kind, _, goals = (utility or "").partition(":")
    if kind == "set":
        if casts > 1:
            yield "The first player may stop earlier; the second has to cast exactly as often."
        yield f"The higher combination wins; {TIES[tie]}."
        yield _ranking(faces)
    elif kind == "transfer":
        yield f"You are paid what the dice are worth: {_worth(faces, 10)}"
    elif kind == "sum":
        yield "You are paid the sum of the faces."
    elif goals:
        each = " each" if len(goals.split(",")) > 1 else ""
        yield f"You are paid 1 for {either(goals.split(','))}{each}, else nothing."
    else:
        yield "What you are paid depends on the faces and on how often you have cast."


def match_rules(
    *,
    tokens: int,
    starter: str,
    tie: str,
    charge_casts: int,
    discharge_casts: int,
    short_pot: str,
    four_two_one: int,
    faces: int,
) -> Iterator[str]:
    """Say how a match with these arguments is played, a sentence at a time."""
    has_discharge = tokens > 1
    casts = max(charge_casts, discharge_casts * has_discharge)
    yield from _turn(3, faces, casts)
    if has_discharge and charge_casts != discharge_casts:
        yield (
            f"That is {up_to(charge_casts)} while the pot has tokens, {up_to(discharge_casts)} "
            "afterwards."
        )
    if casts > 1:
        yield "Who begins a round may stop earlier; the other player has to cast exactly as often."
    yield (
        "The lower combination loses the round, and its player takes as many tokens as the higher "
        f"one is worth: from the pot, which has {tokens} at first, and once that is empty "
        "from the other player, as far as there are any."
    )
    if short_pot == "spill":
        yield "If the pot has too few, the rest comes from the other player."
    else:
        yield "If the pot has too few, it gives what it has and nobody the rest."
    if tie == "replay":
        yield "Of equal combinations nobody takes tokens, and the same player begins again."
    else:
        yield "Of equal combinations the one that was cast last loses."
    yield f"{STARTERS[starter]}."
    yield "The player who has no token once the pot is empty wins the match."
    yield _worth(faces, four_two_one)
    yield _ranking(faces)
