"""The paper's claims, verdict by verdict."""

import pytest
from exactdice.baselines.reproduce import Claim, greed, reproduce
from exactdice.baselines.reproduce.claims import report
from exactdice.baselines.reproduce.greed_last_turns import LastTurns
from exactdice.games import Greed


@pytest.fixture(scope="module")
def claims():
    return greed.claims()


def test_every_verdict_is_as_recorded(claims):
    assert [claim.place for claim in claims if claim.verdict != claim.recorded] == []


def test_the_famous_number_is_refuted(claims):
    (claim,) = (claim for claim in claims if "0.54" in claim.printed)
    assert claim.verdict == "differs"
    assert "14352595/28697814" in claim.exact


def test_the_checks_can_fail():
    """On ratings that violate them, the checks of the conjectures say so."""
    turns = LastTurns(6, 3)
    assert turns.is_unimodal()
    assert turns.conjecture_1_holds()
    assert turns.algorithm_is_optimal()
    turns.ratings[0, 3, 5] = turns.one  # a second peak, far above the middle
    assert not turns.is_unimodal()
    assert not turns.conjecture_1_holds()
    assert not turns.algorithm_is_optimal()
    turns.ratings[0, 3, 2] += 1
    assert not turns.equation_1_holds()
    turns.ratings[4, 3, 0] -= 1
    assert not turns.forfeit_wins()
    turns.ratings[0, 0, 1] -= 1  # one die beats 0 and cannot exceed 6
    assert not turns.certain_victory_wins()


def test_ratings_are_those_of_the_game():
    turns = LastTurns(4, 2)
    assert turns.game == Greed(4, 2, max_dice=4)
    assert turns.ratings[3, 2, 0] == turns.one
    assert turns.ratings[3, 3, 1] * 2 == turns.one  # one die: 4 wins, 5 is a bust


def test_a_new_verdict_is_an_error(capsys):
    old = Claim("page 1", "2 + 2 = 5", "4", "differs", "differs")
    new = Claim("page 2", "2 + 2 = 4", "4", "agrees", "differs")
    assert report("Arithmetic", [old]) == 0
    assert report("Arithmetic", [old, new]) == 1
    assert "THIS IS NEW" in capsys.readouterr().out


def test_unknown_sources_are_named():
    with pytest.raises(ValueError, match="source must be one of greed, got 'chess'"):
        reproduce("chess")
