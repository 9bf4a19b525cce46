"""The payoffs at the end of a game of Greed, for a bust and for each comparison of scores."""

from typing import Literal, NamedTuple, TypeAlias

#: A value of the keyword ``tie``.
Tie: TypeAlias = Literal["half", "lost", "stopper", "chaser"]


class Ending(NamedTuple):
    """The payoffs of one end of a game, in halves: 2 for a win, 1 for a tie, 0 for a loss."""

    mover: int  # payoff of the player who rolled last
    other: int  # payoff of the other player
    words: str  # part of a sentence of the rules


class Endings(NamedTuple):
    """The ends of a game by the mover's score; the order is that of ``Greed.final_halves``."""

    bust: Ending
    lower: Ending
    equal: Ending
    higher: Ending


#: The sweeps need that a bust pays the mover nothing.
BUST = Ending(0, 2, "lose")
LOWER = Ending(0, 2, "the higher score wins")
HIGHER = Ending(2, 0, "the higher score wins")
#: The end with equal scores, by the value of the keyword ``tie``. The mover has had the last turn,
#: after the other player stopped.
TIES: dict[Tie, Ending] = {
    "half": Ending(1, 1, "equal scores are half a win for both"),
    "lost": Ending(0, 0, "with equal scores both lose"),
    "stopper": Ending(0, 2, "equal scores are won by the player who stopped"),
    "chaser": Ending(2, 0, "equal scores are won by the player who had the last turn"),
}
