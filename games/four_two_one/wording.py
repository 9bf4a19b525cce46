"""Rules and combinations of 421 in words, for turns, sets and matches."""

from collections import Counter
from collections.abc import Iterator, Sequence

from ...core.dice import combinations
from ...core.words import dice_words, either, listed, plural, up_to
from .ranking import Combination, hierarchy, tokens

SOME = 6  # combinations in a row of a table


def in_words(faces: Sequence[int]) -> str:
    """Write faces as players name them, in falling order: "4 2 1"."""
    return " ".join(map(str, sorted(faces, reverse=True))) or "nothing"


def turn_rules(dice: int, faces: int, casts: int) -> Iterator[str]:
    """Yield the sentences about a turn of at most ``casts`` casts."""
    yield f"Cast {dice_words(dice, faces)} {up_to(casts)}."
    if casts > 1 and dice == 1:
        yield "After each cast put the die aside, for good, or cast it again."
    elif casts > 1:
        yield (
            "After each cast put aside, for good, any of the dice just cast; the others are cast "
            "again."
        )


def goal_rule(goals: Sequence[str]) -> str:
    """Write the payoff of each goal; a goal that is listed twice pays 2."""
    counts = Counter("".join(sorted(goal, reverse=True)) for goal in goals)
    payoffs = sorted(set(counts.values()))
    return listed(
        f"{payoff} for {either(goal for goal in counts if counts[goal] == payoff)}"
        for payoff in payoffs
    )


def ranking_rule(faces: int) -> str:
    """Write the order of combinations of three dice."""
    order = ["421"] * (faces >= 4) + ["111"]
    order += ["two ones with another face or three equal faces, by that face, the ones first"]
    order += ["sequences by their highest faces"] * (faces >= 3)
    order += ["all others by their highest faces"]
    return f"From high to low: {', then '.join(order)}."


def worth_rule(faces: int, four_two_one: int) -> str:
    """Write the worth of combinations of three dice in tokens.

    Args:
        faces: faces of a die.
        four_two_one: tokens that 421 is worth.
    """
    parts = [f"421 is worth {four_two_one} {plural(four_two_one, 'token')}"] * (faces >= 4)
    parts += ["111 is worth 7 tokens"]
    parts += ["two ones with another face, or three equal faces, are worth that face"]
    parts += ["a sequence is worth 2"] * (faces >= 3)
    return f"{'; '.join(parts)}; all else is worth 1."


def worth_table(faces: int, four_two_one: int) -> list[tuple[str, str]]:
    """List combinations of three dice by their worth in tokens, the best first.

    Args:
        faces: faces of a die.
        four_two_one: tokens that 421 is worth.
    """

    def worth(combination: Combination) -> int:
        return four_two_one if combination == (1, 2, 4) else tokens(combination)

    by_worth: dict[int, list[Combination]] = {}
    for combination in _from_the_best(faces):
        by_worth.setdefault(worth(combination), []).append(combination)
    return [
        (_some(by_worth[many]) if many > 1 else "all others", f"{many} {plural(many, 'token')}")
        for many in sorted(by_worth, reverse=True)
    ]


def ranking_table(faces: int) -> list[tuple[str, str]]:
    """List the combinations of three dice from the highest down, those of a kind together."""
    rows: dict[str, list[Combination]] = {}
    for combination in _from_the_best(faces):
        rows.setdefault(_kind(combination), []).append(combination)
    return [(_some(found), kind) for kind, found in rows.items()]


def _from_the_best(faces: int) -> list[Combination]:
    ranked = zip(hierarchy(faces).tolist(), combinations(3, faces), strict=True)
    return [combination for _, combination in sorted(ranked, reverse=True)]


def _kind(combination: Combination) -> str:
    if combination in ((1, 2, 4), (1, 1, 1)):
        return "highest" if combination == (1, 2, 4) else "next"
    if combination[:2] == (1, 1) or combination[0] == combination[2]:
        return "two ones or three equal"
    return "sequences" if tokens(combination) == 2 else "all others"


def _some(found: Sequence[Combination]) -> str:
    """Write combinations one after the other, of many the first two and the last."""
    words = [in_words(combination) for combination in found]
    if len(words) > SOME:
        words = [*words[:2], "...", words[-1]]
    return ", ".join(words).replace(", ...,", " ...")
