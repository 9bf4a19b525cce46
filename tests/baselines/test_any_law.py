"""All figures of random small laws, against two computations by hand that share no code.

``python tests/law_by_hand.py 12000`` compares many more laws.
"""

from fractions import Fraction

import pytest
from law_by_hand import compare
from law_figures import by_steps, figures, flat, optimum, pure
from random_laws import MODES, ONE, ZERO, Law, draw_law

import exactdice

HALF = Fraction(1, 2)


@pytest.mark.parametrize("mode", MODES)
def test_all_figures_of_random_laws_are_those_by_hand(mode):
    found = [
        f"{mode} {seed}: {said}"
        for seed in range(5)
        for said in compare(draw_law(mode, seed), seed)
    ]
    assert not found, "\n".join(found)


def test_the_figures_by_hand_are_those_of_a_law_that_is_done_on_paper():
    """Action 0 ends with 1 or comes back, action 1 circles for ever in state 1, worth 0."""
    toss, leave = [(HALF, 0, ONE, True), (HALF, 0, ZERO, False)], [(ONE, 1, ZERO, False)]
    law = Law([[toss, leave], [leave, [(ONE, 0, ZERO, False)]]], [ONE, ZERO])
    best = optimum(law)
    assert best.values == [1, 1]
    assert not best.must
    half = [[HALF, HALF], pure(0, law.ways[1])]  # tosses or leaves, and then stays there
    for found in (figures(law, flat(law), half, best), by_steps(law, half, best)):
        assert [round(float(often), 12) for often in found.visits] == [
            1.333333333333,
            0.666666666667,
        ]
        assert float(found.value) == pytest.approx(1 / 3)
        assert float(found.flawless) == pytest.approx(1 / 3)
        assert float(found.mistakes) == pytest.approx(2 / 3)
        assert float(found.variance) == pytest.approx(2 / 9)


def test_a_wrong_figure_is_found(monkeypatch):
    law = draw_law("limits", 0)
    occupancy = exactdice.occupancy
    monkeypatch.setattr(exactdice, "occupancy", lambda *given: 2 * occupancy(*given))
    assert any("occupancy" in said for said in compare(law))
