"""The rules of Greed in words."""

from collections.abc import Iterator

from ...core.words import plural, spelled

#: What equal scores are worth, by the rule for ties.
TIES = {
    "half": "equal scores are half a win for both",
    "lost": "with equal scores both lose",
    "stopper": "equal scores are won by the player who stopped",
    "chaser": "equal scores are won by the player who had the last turn",
}


def rules(max_score: int, sides: int, max_dice: int | None, tie: str) -> Iterator[str]:
    """Say how Greed with these arguments is played, a sentence at a time."""
    many = "as many dice as you like"
    if max_dice is not None:
        limit = "up to " * (max_dice > 1) + spelled(max_dice)
        many = f"{limit} {plural(max_dice, 'die', 'dice')}"
    yield (
        f"Roll {many}, in one go, and add the sum to your score; each has {sides} "
        f"{plural(sides, 'face')}."
    )
    yield f"Above {max_score} you are bust and lose."
    yield (
        "Roll none, and the other player has one last turn; then the higher score wins, and "
        f"{TIES[tie]}."
    )
