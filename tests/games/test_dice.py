"""The laws of sums of dice."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from exactdice.core.dice import sum_counts, sum_laws
from hypothesis import given
from hypothesis import strategies as st


@given(st.integers(0, 5), st.integers(1, 6))
def test_counts_agree_with_listing_every_roll(dice, sides):
    sums = [sum(roll) for roll in product(range(1, sides + 1), repeat=dice)]
    assert sum_counts(dice, sides) == [sums.count(t) for t in range(dice * sides + 1)]


@given(st.integers(1, 40), st.integers(1, 20))
def test_counts_agree_with_theorem_1(dice, sides):
    for total, count in enumerate(sum_counts(dice, sides)):
        terms = [
            (-1) ** k * comb(dice, k) * comb(total - sides * k - 1, dice - 1)
            for k in range((total - dice) // sides + 1)
        ]
        assert count == (sum(terms) if total >= dice else 0)


@given(st.integers(0, 60), st.integers(1, 20))
def test_float_laws_agree_with_counts(dice, sides):
    law = sum_laws(dice, sides)[dice]
    exact = [float(Fraction(count, sides**dice)) for count in sum_counts(dice, sides)]
    np.testing.assert_allclose(law[: len(exact)], exact, rtol=1e-13, atol=0)
    assert law.sum() == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("function", [sum_counts, sum_laws])
def test_bad_arguments_are_named(function):
    with pytest.raises(ValueError, match=r"dice must be at least 0, got -1"):
        function(-1, 6)
    with pytest.raises(ValueError, match="sides must be at least 1, got 0"):
        function(1, 0)
    with pytest.raises(ValueError, match=r"dice must be an integer, got 1\.5"):
        function(1.5, 6)
