"""The match of 421 that the paper leaves open, against a computation that shares no code."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from by_hand_match import HEIGHT, RESULTS, Match, Rules
from exactdice.games import FourTwoOneMatch

from docs.reproductions.four_two_one import match_claims
from docs.reproductions.four_two_one.match import (
    SAME,
    OptimalMatch,
    gains,
    inversions,
    lost_above_won,
    rounds,
)

KEYWORDS = {
    "lost": {"tokens": 3, "charge_casts": 2, "discharge_casts": 2},
    "replayed": {
        "tokens": 3,
        "charge_casts": 1,
        "discharge_casts": 2,
        "starter": "winner",
        "tie": "replay",
        "short_pot": "spill",
    },
}


@pytest.fixture(scope="module", params=KEYWORDS)
def both(request):
    """The match of the package, and the same by hand."""
    keywords = KEYWORDS[request.param]
    return OptimalMatch(FourTwoOneMatch(**keywords)), Match(Rules(**keywords))


@cache
def after(by_hand, state):
    """What the beginner's and the follower's result are worth to the beginner."""
    rules = by_hand.rules
    return {
        (one, two): float(by_hand.worth_of(0, rules.after(state, one, two)))
        for one in RESULTS
        for two in RESULTS
    }


def test_the_length_of_a_match_by_phase(both):
    match, by_hand = both
    found = rounds(match.game, *match.solved.policies)
    assert found == pytest.approx([float(length) for length in by_hand.length()], abs=1e-11)


def test_lost_rounds_and_lower_combinations_that_are_worth_more(both):
    match, by_hand = both
    gaps, falls, ordered = lost_above_won(match), inversions(match), sorted(RESULTS, key=HEIGHT.get)
    pairs = [(low, high) for n, high in enumerate(ordered) for low in ordered[:n]]
    for number, state in enumerate(match.game.token_states.tolist()):
        worth = after(by_hand, tuple(state))
        played = [pair for pair in worth if not by_hand.rules.replayed(*pair)]
        lost = max(worth[pair] for pair in played if not by_hand.rules.wins(*pair))
        won = min(worth[pair] for pair in played if by_hand.rules.wins(*pair))
        begins = max(worth[low, y] - worth[high, y] for low, high in pairs for y in RESULTS)
        follows = max(worth[x, high] - worth[x, low] for low, high in pairs for x in RESULTS)
        found = gaps[number], falls["begins"][number], falls["follows"][number]
        wanted = lost - won, max(begins, 0), max(follows, 0)
        assert found == pytest.approx(wanted, abs=1e-12)


def test_tokens_moved_gain_the_difference_of_values(both):
    match, by_hand = both
    gained = gains(match, -1, 1, 0)
    assert gained[2, 1, 0] == pytest.approx(
        float(by_hand.value(0, (1, 2, 0)) - by_hand.value(0, (2, 1, 0))), abs=1e-12
    )
    assert (1, 2, 0) not in gained  # the match would be over


def test_the_numbers_of_the_claims_stand_on_the_page_of_the_match():
    page = (Path(__file__).parents[2] / "docs" / "421-match.md").read_text()
    for name, (optimal_wins, best_wins) in match_claims.LOSSES.items():
        assert f"| `{name}` | {optimal_wins} | {best_wins} |" in page
    for rule, value in match_claims.VALUES.items():
        assert "| `{}={}` | {} |".format(*rule.split("="), value) in page
    assert all(length in page for length in match_claims.ROUNDS.values())


@pytest.mark.slow
def test_no_difference_of_the_default_match_is_near_the_smallest_that_counts():
    match = OptimalMatch(FourTwoOneMatch())
    moved = [list(gains(match, *by).values()) for by in ((0, 1, -1), (-1, 1, 0), (-1, 0, 1))]
    found = np.abs(np.concatenate([lost_above_won(match), *inversions(match).values(), *moved]))
    assert found[found > SAME].min() > 1e-3
    assert found[found <= SAME].max() < SAME / 1e3
