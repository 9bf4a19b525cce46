"""The game that docs/exact-scoring.md does by hand, in each of its states.

The page itself prints the values of the policies and the regret.
"""

from fractions import Fraction

import numpy as np
import pytest
from exactdice.baselines import Task, occupancy, solve
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


@pytest.mark.parametrize(("cast", "chance"), [(1, "1/6"), (2, "1/12"), (3, "1/24")])
def test_the_states_are_met_as_the_page_says(cast, chance):
    met = occupancy(careful, ONE_DIE, exact=True)
    seen = np.array([[face, cast] for face in range(1, 7)])
    assert met[ONE_DIE.game.encode(seen)].tolist() == [Fraction(chance)] * 6
