"""Decision processes whose moves lead back: what is refused, and the bounds of errors."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from exactdice.baselines.operators import chain, enclosure
from exactdice.games import InputError
from law_by_hand import in_floats
from random_laws import draw_law

import exactdice


@pytest.mark.parametrize("paid", [1, 0.1])
@pytest.mark.parametrize("exact", [False, True])
def test_never_to_end_is_refused_where_it_is_paid_and_charged_as_much(paid, exact):
    """The sum of such a game goes to and fro, between 0 and what was paid."""
    back = {0: [(1, 0, -paid, False)], 1: [(1, 0, -5, True)]}
    law = {0: {0: [(1, 1, paid, False)], 1: []}, 1: back}
    with pytest.raises(InputError, match=r"rather go on, .* in states 0, 1 of .*: give a horizon"):
        exactdice.solve(exactdice.from_P(law, 0), exact)
    law[1][1] = [(1, 0, 5, True)]
    assert float(exactdice.solve(exactdice.from_P(law, 0), exact).value) == 5 + paid


@pytest.mark.parametrize("exact", [False, True])
def test_payments_without_end_are_refused(exact):
    task = exactdice.from_P({0: {0: [(1, 0, -1, False)], 1: [(1, 0, 0, True)]}}, 0)
    with pytest.raises(InputError, match="must be finite, and this one circles and is paid witho"):
        exactdice.evaluate([0], task, exact)
    task = exactdice.from_P({0: {0: [(1, 0, 1, False)], 1: [(1, 0, 0, True)]}}, 0)
    with pytest.raises(InputError, match="optimum must be finite, and play can be paid without en"):
        exactdice.solve(task, exact)


def test_bounds_hold_for_values_that_are_off():
    """The proof of the error bound is of the numbers it is given, not of how they were found."""
    task = exactdice.from_P(*in_floats(draw_law("cycles", 2)))
    game, solution = task.game, exactdice.solve(task)
    exact = exactdice.solve(task, exact=True).values[0]
    for off in (1e-3, -1e-3):
        given = solution.values[0] + off * np.arange(game.rows)
        circles = SimpleNamespace(
            stays=lambda: np.zeros(game.rows), circling=np.zeros(game.rows) > 0
        )
        above, _ = enclosure.raised(game, given, circles, None, 1)
        assert (exact.astype(float) - given <= above).all()


@pytest.mark.parametrize("steps", [1, 40])
def test_large_systems_have_the_same_values_by_steps_or_by_factors(steps, monkeypatch):
    """One step of GMRES is too few, so that the system is factored after all."""
    monkeypatch.setattr(chain, "FEW", 0)
    monkeypatch.setattr(chain, "STEPS", steps)
    monkeypatch.setattr(chain, "RESTARTS", 1)
    for seed in (2, 3, 6):
        law = in_floats(draw_law("cycles", seed))
        exact = exactdice.solve(exactdice.from_P(*law), exact=True).value
        found = exactdice.solve(exactdice.from_P(*law, title=f"{steps} steps"))
        assert abs(found.value - float(exact)) <= found.error_bound + 1e-12


def test_bounds_of_means_hold_for_fractions():
    """Also of numbers that almost fill a float, with all chances near 0 but one."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        sizes = rng.integers(1, 40, size=5)
        begins, chances = np.cumsum(sizes) - sizes, []
        for size in sizes:
            parts = (rng.random(size) ** rng.choice([1, 30]) * 2**53).astype(int) + 1
            chances += [Fraction(int(part), int(parts.sum())) for part in parts]
        numbers = rng.integers(-(2**48), 2**48, size=sizes.sum()).astype(float)
        above = enclosure._mean_above(numbers, np.array(chances, dtype=float), begins)
        for first, size, bound in zip(begins, sizes, above, strict=True):
            own = slice(first, first + size)
            mean = sum(c * int(n) for c, n in zip(chances[own], numbers[own], strict=True))
            assert mean <= bound <= min(mean + 2 + size, numbers[own].max())


@pytest.mark.parametrize("wrong", [np.nan, 2.0**60])
def test_values_that_are_no_numbers_have_no_bound(wrong):
    """A system without a solution gives such; comparisons with NaN are all false."""
    game = exactdice.from_P(
        {0: {0: [(1, 0, -1, True)]}, 1: {0: [(0.5, 1, -1, False), (0.5, 1, -1, True)]}}, 0
    ).game
    circles = SimpleNamespace(stays=lambda: np.full(2, wrong), circling=np.zeros(2) > 0)
    assert np.isinf(enclosure.raised(game, np.array([-1.0, -2.0]), circles, None, 1)[0]).all()
