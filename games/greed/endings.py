"""The ends of a game of Greed, and what each pays: the rules for a bust and for equal scores."""

from typing import NamedTuple


class Ending(NamedTuple):
    """What the end of a game pays, in half points: 2 for a win, 0 for a loss."""

    mover: int  # to the player who rolled last
    other: int
    words: str  # as a sentence of the rules says it


class Endings(NamedTuple):
    """The ends of a game by the mover's score; the order is that of ``Greed.final_halves``."""

    bust: Ending
    lower: Ending
    equal: Ending
    higher: Ending


#: The sweeps rely on it that a bust pays the mover nothing.
BUST = Ending(0, 2, "lose")
LOWER = Ending(0, 2, "the higher score wins")
HIGHER = Ending(2, 0, "the higher score wins")
#: The end with equal scores, by the value of the keyword ``tie``. The other player has stopped
#: before, and the mover has had the last turn.
TIES = {
    "half": Ending(1, 1, "equal scores are half a win for both"),
    "lost": Ending(0, 0, "with equal scores both lose"),
    "stopper": Ending(0, 2, "equal scores are won by the player who stopped"),
    "chaser": Ending(2, 0, "equal scores are won by the player who had the last turn"),
}
