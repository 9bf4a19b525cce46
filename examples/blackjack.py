"""Blackjack as Gymnasium plays it, in the simple form: an optimum that has no ``P``.

The player draws cards from an endless deck; the dealer draws to 17. Aces count 11 while that is not
too much. With ``natural`` a first hand of 21 wins 1.5; with ``sab`` the rules are those of Sutton
and Barto: such a hand wins 1 and beats the dealer's other 21.

    exactdice solve examples/blackjack.py:Blackjack            # -0.0465560
    exactdice play examples/blackjack.py:Blackjack
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from typing import NamedTuple

import exactdice

DECK = {card: Fraction(4 if card == 10 else 1, 13) for card in range(1, 11)}


class Hand(NamedTuple):
    """The player's sum, the dealer's card, and whether the player has an ace, or a natural."""

    total: int
    dealer: int
    ace: int
    natural: int


def worth(total: int, ace: int) -> int:
    """Count one ace as 11 if that is not too much."""
    return total + 10 if ace and total <= 11 else total


@cache
def dealt(total: int, ace: int, cards: int) -> dict[tuple[int, bool], Fraction]:
    """Give the law of the dealer's last sum, 0 if it is too much, and whether it is a natural."""
    now = worth(total, ace)
    if now >= 17:
        return {(now if now <= 21 else 0, now == 21 and cards == 2): Fraction(1)}
    law: dict[tuple[int, bool], Fraction] = {}
    for card, chance in DECK.items():
        for end, part in dealt(total + card, ace or card == 1, cards + 1).items():
            law[end] = law.get(end, Fraction(0)) + chance * part
    return law


class Blackjack(exactdice.SimpleGame):
    """The rules. Sums count aces as 1."""

    def __init__(self, natural: bool = False, sab: bool = False) -> None:
        self.natural, self.sab = natural, sab
        super().__init__()

    def start(self) -> Iterator[tuple[Fraction, Hand]]:
        """Deal two cards to the player, and show one of the dealer's."""
        for first, second, dealer in product(DECK, repeat=3):
            total, ace = first + second, int(1 in (first, second))
            chance = DECK[first] * DECK[second] * DECK[dealer]
            yield chance, Hand(total, dealer, ace, int(worth(total, ace) == 21))

    def actions(self, state: Hand) -> list[str]:
        """Stick or hit."""
        return ["stick", "hit"]

    def outcomes(self, state: Hand, action: str) -> Iterator[tuple[Fraction, float, Hand | None]]:
        """Draw a card; or have the dealer draw, and compare."""
        if action == "hit":
            for card, chance in DECK.items():
                total, ace = state.total + card, int(state.ace or card == 1)
                bust = total > 21
                yield chance, -bust, None if bust else Hand(total, state.dealer, ace, 0)
            return
        own = worth(state.total, state.ace)
        for (end, natural), chance in dealt(state.dealer, state.dealer == 1, 1).items():
            reward: float = (own > end) - (own < end)
            if self.sab and state.natural and not natural:
                reward = 1.0
            elif not self.sab and self.natural and state.natural and reward == 1:
                reward = 1.5
            yield chance, reward, None


exactdice.register(Blackjack)
