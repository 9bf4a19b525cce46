"""Greed's source: its claims, verdict by verdict."""

from fractions import Fraction
from pathlib import Path

import pytest
from by_hand import HALF, ByHand, section_7, totals
from exactdice.games import Greed

from docs.reproductions.greed.last_turns import LastTurns
from docs.reproductions.greed.normal_turns import starts


def test_the_last_turns_of_figure_3_give_the_famous_number_by_hand():
    """The chase tries too few dice, o - p + 1 if they are sure to win; else all is optimal."""

    class Figure3(ByHand):
        def _ratings(self, player, own, other, last):
            if not last or self.labelled(own, other) is None:
                return super()._ratings(player, own, other, last)
            return self.both(player, own, other, last, self.labelled(own, other))

        def labelled(self, own, other):
            gap = other - own
            if gap < 0:
                return 0
            if self.sides * (gap + 1) <= self.limit - own:
                return gap + 1
            tried = range((self.limit + other - 2 * own) // (self.sides + 1) + 1)
            return max(tried, key=lambda n: self.both(0, own, other, 1, n)[0])

    assert Figure3(10, 3, section_7(10, 3)).rating(0, 0, 0, 0) == Fraction(209529115, 387420489)


def test_the_rule_that_both_lose_a_tie_by_hand():
    page = (Path(__file__).parents[2] / "docs/reproduction/greed.md").read_text()
    first, second = ByHand(10, 3, section_7(10, 3), tie=(0, 0)).ratings(0, 0, 0, 0)
    (row,) = (row for row in page.splitlines() if row.startswith("| section 8, a tie lost by"))
    assert f"| first {float(first):.6f}, second {float(second):.6f}" in row


@pytest.mark.parametrize(("limit", "sides"), [(7, 3), (9, 2), (5, 6)])
def test_ratings_of_last_turns_are_sums_over_the_law(limit, sides):
    table = LastTurns(limit, sides)
    for row, (room, gap) in enumerate(zip(table.room.tolist(), table.gap.tolist(), strict=True)):
        for n in range(limit + 2):
            rating = sum(
                chance * (HALF if total == gap else total > gap)
                for total, chance in totals(n, sides).items()
                if total <= room
            )
            assert table.rating(row, n) == rating


def test_the_checks_can_fail():
    """On ratings that violate them, the checks of section 5 say so."""
    turns = LastTurns(6, 3)
    row = turns.row(6, 3)
    assert turns.compare(Greed(6, 3, max_dice=6))
    assert turns.is_unimodal()
    assert turns.conjecture_1_holds()
    assert turns.is_optimal(turns.found_downwards()).all()
    turns.ratings[row, 5] = turns.one  # a second peak, far above the middle
    assert not turns.is_unimodal()
    assert not turns.conjecture_1_holds()
    assert not turns.is_optimal(turns.found_downwards()).all()
    assert not turns.compare(Greed(6, 3, max_dice=6))
    turns.ratings[turns.row(2, -1), 0] -= 1
    assert not turns.forfeit_wins()
    turns.ratings[turns.row(6, 0), 1] -= 1  # one die beats 0 and cannot exceed 6
    assert not turns.certain_victory_wins()


@pytest.mark.parametrize("sides", [2, 3, 6])
def test_the_starts_of_small_games_are_positions_of_a_large_one(sides):
    assert starts(8, sides) == [starts(limit, sides)[-1] for limit in range(1, 9)]
    assert starts(5, sides)[-1] == ByHand(5, sides, section_7(5, sides)).rating(0, 0, 0, 0)
