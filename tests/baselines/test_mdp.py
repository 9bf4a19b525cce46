"""Decision processes whose moves lead back, against a second computation that shares no code."""

import itertools
import random
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from exactdice.baselines.operators import chain, enclosure
from exactdice.games import GameError, InputError

import exactdice


def random_law(seed):
    """Make a small law ``P``: ends or none, unreachable states, payments of one sign or of both."""
    draw = random.Random(seed)
    states, actions = draw.randint(2, 5), draw.randint(1, 3)
    pays = draw.choice([[0, 0, 1], [0, 1, 2], [-1], [-1, -2, 0], [-1, 0, 1], [-2, 3, 0, 0]])
    ends = draw.choice([0.1, 0.3, 0.6])
    law = {}
    for state in range(states):
        law[state] = {}
        for action in range(actions):
            parts = [draw.randint(1, 4) for _ in range(draw.randint(1, 3))]
            law[state][action] = [
                (
                    Fraction(part, sum(parts)),
                    draw.randrange(states),
                    draw.choice(pays),
                    draw.random() < ends,
                )
                for part in parts
            ]
    start = [draw.randint(0, 3) for _ in range(states - 1)] + [1]
    return law, [Fraction(part, sum(start)) for part in start]


def value_of_policy(law, choices, gamma=1.0):
    """Compute the values of a policy by linear algebra in floats.

    They are infinite where it circles for ever at a mean that is not 0, and NaN at a mean of 0 with
    payments, as their sum goes to and fro.
    """
    count = len(law)
    moves, paid, ends = np.zeros((count, count)), np.zeros(count), np.zeros(count, dtype=bool)
    pays = np.zeros(count, dtype=bool)
    for state, action in enumerate(choices):
        for chance, after, reward, over in law[state][action]:
            paid[state] += float(chance) * reward
            pays[state] |= reward != 0
            ends[state] |= over or gamma < 1
            if not over:
                moves[state, after] += float(chance) * gamma
    reach = np.linalg.matrix_power((moves > 0) | np.eye(count, dtype=bool), count) > 0
    values, known = np.zeros(count), np.zeros(count, dtype=bool)
    for state in range(count):
        own = reach[state] & reach[:, state]
        if (reach[state] & ends).any() or (reach[state] != own).any():
            continue
        known |= own  # a recurrent class that never ends
        if pays[own].any():
            system = np.vstack(
                [(moves[np.ix_(own, own)] - np.eye(own.sum())).T, np.ones(own.sum())]
            )
            law_of_class = np.linalg.lstsq(system, np.append(np.zeros(own.sum()), 1.0))[0]
            mean = float((law_of_class * paid[own]).sum())
            values[own] = np.nan if abs(mean) < 1e-9 else np.copysign(np.inf, mean)
    open_ = ~known
    infinite = known & ~np.isfinite(values)
    bad = np.array([(reach[state] & infinite).any() for state in range(count)]) & open_
    for state in np.flatnonzero(bad):
        met = values[reach[state] & infinite]
        values[state] = met[0] if len(set(map(str, met))) == 1 else np.nan
    good = open_ & ~bad
    system = np.eye(good.sum()) - moves[np.ix_(good, good)]
    values[good] = np.linalg.solve(system, paid[good])
    return values, known | bad


def may_end(law, state):
    """Say whether some moves lead from a state to an end."""
    met, open_ = {state}, [state]
    while open_:
        for _, after, _, over in itertools.chain(*law[open_.pop()].values()):
            if over:
                return True
            if after not in met:
                met.add(after)
                open_.append(after)
    return False


def best_of_all(law, gamma=1.0):
    """Compute the optimum in each state over all policies, and over those that end from there."""
    every, ending = [], []
    for choices in itertools.product(*[range(len(law[0]))] * len(law)):
        values, on = value_of_policy(law, choices, gamma)
        every.append(np.where(np.isnan(values), -np.inf, values))
        ending.append(np.where(on, -np.inf, values))
    return np.max(every, axis=0), np.max(ending, axis=0)


@pytest.mark.parametrize("block", range(10))
def test_random_laws_without_a_limit_have_the_optimum_over_all_policies(block):
    solved, reasons = 0, []
    for seed in range(30 * block, 30 * block + 30):
        law, start = random_law(seed)
        best, ending = best_of_all(law)
        try:
            task = exactdice.from_P(law, start)
            solution = exactdice.solve(task)
        except InputError as error:
            wrong = {
                "must be able to end": not all(may_end(law, state) for state in law),
                "paid without end": (best == np.inf).any(),
                "must be worth ending": (ending < -1e-12).any(),
            }
            reasons.append([wrong[said] for said in wrong if said in str(error)])
            continue
        solved += 1
        assert np.allclose(solution.values[0], best, rtol=0, atol=1e-9)
        exact = exactdice.solve(task, exact=True)
        off = np.abs(exact.values[0].astype(float) - solution.values[0])
        assert off.max() <= solution.error_bound + 1e-15
        assert solution.error_bound < 1e-9
    assert solved >= 8
    assert len(reasons) >= 2
    assert all(reason == [True] for reason in reasons)


@pytest.mark.parametrize("seed", range(40))
def test_policies_have_the_values_of_linear_algebra(seed):
    law, start = random_law(seed)
    draw = random.Random(seed)
    choices = [draw.randrange(len(law[0])) for _ in law]
    try:
        task = exactdice.from_P(law, start)
    except GameError:
        return
    values, _ = value_of_policy(law, choices)
    first = np.array([float(chance) for chance in start]) > 0
    if not np.isfinite(values[first]).all():
        with pytest.raises(InputError, match="must be finite"):
            exactdice.evaluate(choices, task)
        return
    found = exactdice.evaluate(choices, task)
    finite = np.isfinite(values)
    assert np.allclose(found.values[0][finite], values[finite], rtol=0, atol=1e-9)
    assert (found.values[0][~finite] == -np.inf).all()
    assert found.value == pytest.approx(
        float(np.dot([float(p) for p in start], np.where(first, values, 0)))
    )


@pytest.mark.parametrize("seed", range(0, 120, 3))
@pytest.mark.parametrize(("gamma", "horizon"), [(0.9, None), (1, 5), (0.75, 4), (1, 1)])
def test_discounts_and_horizons_have_the_values_of_value_iteration(seed, gamma, horizon):
    law, start = random_law(seed)
    solution = exactdice.solve(exactdice.from_P(law, start, gamma, horizon))
    values, layers = np.zeros(len(law)), []
    for _ in range(horizon or 400):
        values = np.array(
            [
                max(
                    sum(
                        float(p) * (r + gamma * values[after] * (not over))
                        for p, after, r, over in ways
                    )
                    for ways in law[state].values()
                )
                for state in law
            ]
        )
        layers.insert(0, values)
    expected = np.concatenate(layers) if horizon else values
    assert np.allclose(solution.values[0], expected, rtol=0, atol=1e-9)


def test_fractions_without_a_limit():
    toss = {0: {0: [(Fraction(1, 3), 0, 0, False), (Fraction(2, 3), 0, Fraction(1, 7), True)]}}
    assert exactdice.solve(exactdice.from_P(toss, 0), exact=True).value == Fraction(1, 7)


def test_moves_and_variance_are_those_of_many_games():
    law, start = random_law(4)
    task = exactdice.from_P(law, start)
    evaluation = exactdice.evaluate("random", task)
    draw, totals = random.Random(1), []
    for _ in range(40_000):
        (state,) = draw.choices(range(len(law)), start)
        total = 0
        while state is not None:
            ways = law[state][draw.randrange(len(law[0]))]
            ((_, after, reward, over),) = draw.choices(ways, [float(way[0]) for way in ways])
            total += reward
            state = None if over else after
        totals.append(total)
    mean, error = np.mean(totals), np.std(totals) / len(totals) ** 0.5
    assert abs(mean - evaluation.value) < 5 * error
    assert evaluation.variance == pytest.approx(np.var(totals), rel=0.05)
    exact = exactdice.evaluate("random", task, exact=True)
    assert float(exact.variance) == pytest.approx(evaluation.variance)


@pytest.mark.parametrize("exact", [False, True])
def test_never_to_end_is_worth_nothing_where_nothing_is_paid(exact):
    law = {0: {0: [(1, 0, 0, False)], 1: [(1, 0, -1, True)]}}
    task = exactdice.from_P(law, 0)
    assert exactdice.solve(task, exact).value == 0
    assert exactdice.score([0], task).regret == 0
    assert exactdice.score([1], task).costs.tolist() == [1]
    assert exactdice.solve(exactdice.from_P(law, 0, horizon=9), exact).value == 0
    assert exactdice.solve(exactdice.from_P(law, 0, 0.5), exact).value == 0


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


def test_a_policy_that_settles_is_paid_what_it_has_got():
    law = {
        0: {0: [(1, 1, 5, False)], 1: [(1, 0, 7, True)]},
        1: {0: [(1, 1, 0, False)], 1: [(1, 0, -6, False)]},
    }
    task = exactdice.from_P(law, 0)
    assert exactdice.evaluate([0, 0], task).value == 5
    score = exactdice.score([0, 0], task)
    assert (score.value, score.optimum) == (5, 7)
    assert exactdice.occupancy([0, 0], task).tolist() == [1, 1]


def test_bounds_hold_for_values_that_are_off():
    """The proof of the error bound is of the numbers it is given, not of how they were found."""
    law, start = random_law(0)
    task = exactdice.from_P(law, start)
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
    for seed in (3, 12, 40):
        law, start = random_law(seed)
        try:
            exact = exactdice.solve(exactdice.from_P(law, start), exact=True).value
        except (GameError, InputError):
            continue
        found = exactdice.solve(exactdice.from_P(law, start, title=f"{steps} steps"))
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
