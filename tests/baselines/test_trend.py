"""Guesses of what comes next."""

import numpy as np
import pytest
from exactdice.baselines.solving.cycles import Trend


def test_lines_are_continued_whatever_their_lengths():
    trend, default = Trend(), np.zeros(4)
    assert trend.guess(default) is default
    trend.add(1 + np.linspace(0, 1, 3))
    assert trend.guess(np.zeros(5)) == pytest.approx(1 + np.linspace(0, 1, 5))
    trend.add(np.zeros(0))  # of a block without a cut: nothing follows from it
    trend.add(3 + np.linspace(0, 2, 6))
    assert trend.guess(default) == pytest.approx(5 + np.linspace(0, 3, 4))
    trend.add(np.array([7.0]))
    assert trend.guess(np.zeros(1)) == pytest.approx([11.0])
