"""The rules of Shut the Box in words."""

from collections.abc import Iterator

from ...core.words import dice_words


def rules(
    tiles: int, dice: int, sides: int, one_die: str, shut_wins: bool, objective: str
) -> Iterator[str]:
    """Say how Shut the Box with these arguments is played, a sentence at a time."""
    shown = "The tile 1 is" if tiles == 1 else f"The tiles 1 to {tiles} are"
    yield (
        f"{shown} open. Roll {dice_words(dice, sides)}, and close open tiles that add up to "
        "the roll, as long as that is possible."
    )
    limit = one_die.removeprefix("sum<=")
    if limit != "never" and dice > 1:
        yield f"While the open tiles add up to at most {limit}, only one die is rolled."
    if objective == "sum":
        yield "You are paid minus the sum left open."
    elif objective == "shut":
        yield "You win if you close all."
    else:
        yield (
            "Two players have one turn each; the lower sum left open wins, equal sums are half a "
            "win for both."
        )
        if shut_wins:
            yield "A first player who closes all has won at once."
        else:
            yield "If the first player closes all, the second may still do the same."
