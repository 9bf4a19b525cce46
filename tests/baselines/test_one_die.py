"""The game that docs/exact-scoring.md does by hand, with the numbers of that page."""

from fractions import Fraction

import numpy as np
import pytest
from exactdice.baselines import Task, evaluate, occupancy, score, solve
from exactdice.games import FourTwoOne

RECAST, KEEP = 0, 1
ONE_DIE = Task(FourTwoOne(dice=1, casts=3, utility="sum"))


def careful(seen, legal):
    """Keep 4 or more, and what must be kept."""
    return np.where((seen[:, 0] >= 4) | ~legal[:, RECAST], KEEP, RECAST)


def test_the_optimum_is_that_of_the_page():
    solution = solve(ONE_DIE, exact=True)
    assert solution.value == Fraction(14, 3)
    for face in range(1, 7):
        assert solution.action_values([face, 1]).tolist() == [Fraction(17, 4), face]
        assert solution.action_values([face, 2]).tolist() == [Fraction(7, 2), face]
        assert solution.optimal_actions([face, 1]).tolist() == [KEEP if face > 4 else RECAST]
        assert solution.optimal_actions([face, 2]).tolist() == [KEEP if face > 3 else RECAST]


def test_the_values_of_the_policies_are_those_of_the_page():
    assert evaluate(careful, ONE_DIE, exact=True).value == Fraction(37, 8)
    assert evaluate("random", ONE_DIE, exact=True).value == Fraction(7, 2)


@pytest.mark.parametrize(("cast", "chance"), [(1, "1/6"), (2, "1/12"), (3, "1/24")])
def test_the_states_are_met_as_the_page_says(cast, chance):
    met = occupancy(careful, ONE_DIE, exact=True)
    seen = np.array([[face, cast] for face in range(1, 7)])
    assert met[ONE_DIE.game.encode(seen)].tolist() == [Fraction(chance)] * 6


def test_the_regret_comes_from_the_one_decision_of_the_page():
    found = score(careful, ONE_DIE)
    assert found.regret == pytest.approx(1 / 24)
    assert found.normalized == pytest.approx(27 / 28)
    (blunder,) = found.blunders(None)
    assert blunder.observation == (4, 1)
    assert blunder.cost == pytest.approx(1 / 24)
    assert blunder.occupancy == pytest.approx(1 / 6)
