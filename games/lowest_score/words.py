"""The rules of the lowest-score game in words: of a round and of a match."""

from collections.abc import Iterator

from ...core.words import dice_words, plural, spelled

#: Who begins the next round of a match.
STARTERS = {
    "winner": "the winner of a round begins the next one",
    "next": "the next player begins the next round",
    "same": "the same player begins every round",
}


def _turn(dice: int, faces: int, zero_face: int) -> Iterator[str]:
    """Say how one turn is played."""
    if dice == 1:
        yield f"Roll {dice_words(1, faces)} and keep it."
    else:
        yield (
            f"Roll {dice_words(dice, faces)}, keep one or more, always the lowest; roll the "
            "others again, until all are kept."
        )
    yield f"A die counts its face, but a {zero_face} counts 0."


def round_rules(
    dice: int, faces: int, zero_face: int, players: int, objective: str
) -> Iterator[str]:
    """Say how a round with these arguments is played, a sentence at a time."""
    yield from _turn(dice, faces, zero_face)
    alone = players == 1
    if not alone:
        yield f"{spelled(players)} players have one turn each."
    if objective == "score":
        yield "You are paid minus your total."
    elif alone:
        yield "You play alone, so that every total wins."
    elif objective == "win":
        yield "The lowest total wins; everyone tied for lowest wins."
    else:
        yield "The lowest total wins; everyone tied for lowest shares the win."


def match_rules(
    dice: int, faces: int, zero_face: int, players: int, wins: int, starter: str, tie: str
) -> Iterator[str]:
    """Say how a match with these arguments is played, a sentence at a time."""
    yield from _turn(dice, faces, zero_face)
    yield f"{spelled(players)} players have one turn each in a round."
    yield (
        f"The lowest total wins it; of equal totals the {tie} to be rolled wins, and "
        f"{STARTERS[starter]}."
    )
    yield (f"The first player who has won {spelled(wins)} {plural(wins, 'round')} wins the match.")
