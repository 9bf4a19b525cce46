"""Payoffs in another unit, or from another zero, change no decision and no normalised score."""

from fractions import Fraction

import numpy as np
import pytest
from exactdice.baselines import (
    ImpossibleScoreError,
    Score,
    Task,
    certificate,
    outcome_distribution,
    prepare,
    solve,
)
from exactdice.games import FourTwoOne, Greed
from exactdice.games.four_two_one.game import tokens
from hypothesis import given, settings
from hypothesis import strategies as st

import exactdice


def scaled(factor, shift=0):
    """421's transfer function in another unit."""
    return FourTwoOne(utility=lambda faces, casts: Fraction(tokens(faces)) * factor + shift)


PLAIN = solve(Task(scaled(1)))


STATES = np.arange(PLAIN.task.game.num_states)


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 4), min_size=12, max_size=12),
    st.integers(-250, 250),
    st.integers(-1000, 1000),
)
def test_optimal_actions_scale_exactly(numbers, exponent, shift):
    """Against exact computation, whose ties are ties: few different utilities make many."""
    table = np.array(numbers).reshape(6, 2)
    exact = solve(Task(FourTwoOne(2, 3, 2, table)), exact=True)
    factor = Fraction(2) ** exponent
    other = [[(Fraction(int(value)) + shift) * factor for value in row] for row in table]
    solution = solve(Task(FourTwoOne(2, 3, 2, other)))
    legal = exact.task.game.mask(np.arange(exact.task.game.num_states))
    assert ((solution.optimal & legal) == (exact.optimal & legal)).all()
    assert (solution.policy.actions == exact.policy.actions).all()
    assert solution.value == pytest.approx(float((exact.value + shift) * factor), rel=1e-14)


def test_payoffs_that_are_equal_as_floats_stay_apart_in_exact_outcomes():
    """1/3 and 1/3 + 1e-30 were one payoff."""
    third, more = Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**30)
    game = FourTwoOne(2, 2, 1, lambda faces, casts: more if faces == (2, 2) else third)
    assert float(third) == float(more)
    law = outcome_distribution("random", Task(game), exact=True)
    assert law == {third: Fraction(3, 4), more: Fraction(1, 4)}
    assert sum(payoff * chance for payoff, chance in law.items()) == exactdice.evaluate(
        "random", Task(game), exact=True
    ).value  # fmt: skip
    score = exactdice.score("random", Task(game))  # floats cannot tell them apart
    assert (score.regret, score.normalized, score.flawless) == (0, 1, 1)


# ------------------------------------------------------------------ above the optimum


def impossible(task, excess):
    result = exactdice.score("optimal", task)
    return Score(
        "mine", True, True, prepare(task), result.optimum + excess, result.optimum, result.random,
        result.agent,
    )  # fmt: skip


@pytest.mark.parametrize("factor", [1, 10**6, Fraction(1, 10**13)])
def test_a_score_above_the_optimum_is_an_error(factor):
    task = Task(scaled(factor))
    with pytest.raises(ImpossibleScoreError, match=r"mine scores .* this is a bug of exactdice"):
        impossible(task, 1e-11 * float(factor))
    with pytest.raises(ImpossibleScoreError):
        impossible(task, float("nan"))
    rounded = impossible(task, 1e-15 * float(factor))
    assert (rounded.value, rounded.regret, rounded.normalized) == (rounded.optimum, 0, 1)


def test_a_policy_that_is_no_law_is_refused_and_named_if_it_was_not():
    class Doubled(exactdice.baselines.Policy):
        """Claims twice the probability of each action of the best policy."""

        shape = (242, 7)

        def probabilities(self, states):
            return 2 * solve(task).policy.probabilities(states)

    task = Task(Greed(10, 3))
    with pytest.raises(exactdice.InputError, match="sum to 1, got 2 in state 0"):
        exactdice.score(Doubled(), task)
    best = exactdice.score("optimal", task)
    figures = best.optimum + 1e-3, best.optimum, best.random
    with pytest.raises(ArithmeticError, match="its probabilities in state 0 are not a law") as got:
        Score("mine", True, True, prepare(task), *figures, Doubled())
    assert not isinstance(got.value, ValueError)


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.booleans())
def test_no_regret_is_negative_and_no_normalised_score_above_one(seed, deterministic):
    """Of policies that only take optimal actions, in any mixture."""
    task = Task(Greed(9, 3), 1, "if_else")
    best = solve(task).optimal & task.game.mask(np.arange(task.game.num_states))
    weights = np.random.default_rng(seed).random(best.shape) * best
    policy = weights.argmax(axis=1) if deterministic else weights / weights.sum(1, keepdims=True)
    score = exactdice.score(policy, task)
    assert score.regret >= 0
    assert 1 - 1e-13 <= score.normalized <= 1
    assert certificate(score)
