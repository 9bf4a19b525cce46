"""Error bounds against fractions, never exceeded and never far; payoffs in other units."""

from fractions import Fraction

import numpy as np
import pytest
from exactdice.baselines import ImpossibleScoreError, Score, Task, certificate, prepare, solve
from exactdice.core.moves import law_roundings, move_roundings
from exactdice.core.sweeps import sweeps_of
from exactdice.games import EXACT, FourTwoOne, FourTwoOneMatch, GameError, Greed, InputError
from exactdice.games.four_two_one.game import tokens
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import RandomGame, random_law
from small_games import Owed, Rounds, Walk
from thinning import later

import exactdice


def asked(seed, seldom=0, pays=False):
    """Ask a random question about a random game, in floats and in fractions; None if it has none.

    The answer in fractions is against the same opponents: where floats tie the actions of an
    equilibrium fractions need not, so that the policy found by floats is given to both.
    """
    rng = np.random.default_rng(seed)
    players, cycles = int(rng.integers(1, 3)), bool(rng.integers(2))
    game = RandomGame(seed, players, cycles or seldom > 0, seldom, pays)
    opponent = ["optimal", "random", random_law(game, rng)][int(rng.integers(3))]
    task = Task(game, int(rng.integers(players)), opponent if players == 2 else "optimal")
    policy = [None, "random", random_law(game, rng)][int(rng.integers(3))]
    if policy is None:
        floats, exact = solve(task), solve(task, exact=True)
    else:
        floats, states = exactdice.evaluate(policy, task), np.arange(game.num_states)
        fixed = [known.probabilities(states) for known in prepare(task).policies.values()]
        exact = exactdice.evaluate(policy, Task(game, task.seat, fixed), exact=True)
    try:
        return floats, exact, floats.value
    except InputError:  # an opponent who moves first ends every game
        return None


def error_of(floats, exact):
    """Give the largest error of a value, in fractions."""
    pairs = [
        (floats.value, exact.value),
        (floats.value_before_play, exact.value_before_play),
        *zip(floats.values.ravel(), exact.values.ravel(), strict=True),
        *zip(floats.table[floats.table > -np.inf], exact.table[exact.table > -np.inf], strict=True),
    ]
    return max(abs(Fraction(float(ours)) - true) for ours, true in pairs)


def compare(seeds, seldom=0, pays=False):
    """Check that errors are within their bounds; give bound divided by error where there is one."""
    factors = []
    for seed in seeds:
        answer = asked(seed, seldom, pays)
        if answer is None:
            continue
        floats, exact, _ = answer
        low, high = floats.task.game.payoff_range
        assert low <= floats.values[floats.values != 0].min(initial=low)
        assert floats.values.max() <= high
        assert exact.error_bound == 0 < floats.error_bound
        error = error_of(floats, exact)
        assert error <= floats.error_bound, f"seed {seed}"
        if error:
            factors.append(floats.error_bound / float(error))
    return factors


THOUSANDS = [pytest.param(1000 * n, 1000, 100, marks=pytest.mark.slow) for n in range(4)]


@pytest.mark.parametrize("pays", [False, later(True)])
@pytest.mark.parametrize(("first", "count", "most"), [(0, 8, 200), *THOUSANDS])
def test_errors_are_within_their_bounds(first, count, most, pays):
    factors = compare(range(first, first + count), pays=pays)
    assert len(factors) > 0.6 * count
    assert np.median(factors) < most * (1 + 3 * pays)  # of thousands half as much as of few


@pytest.mark.parametrize("seldom", [10**3, 10**7])
def test_errors_are_within_their_bounds_where_moves_lead_back_nearly_always(seldom):
    assert compare(range(6), seldom)


class Waiting(RandomGame):
    """One position that comes back with probability 1 - 1/seldom, and then is won or lost."""

    name = "Waiting"

    def __init__(self, seldom=10, wins=Fraction(1, 3)):
        super().__init__(0, 1, has_cycles=True)
        self.seldom, self.wins = seldom, wins
        self.num_states, self.observation_sizes, self.num_actions = 1, (1,), 1
        self.payoff_range, self.levels, self.width = (0.0, 1.0), 1, 1
        self._exact = np.array([[1 - Fraction(1, seldom), wins / seldom, (1 - wins) / seldom]])
        self.laws = self._exact.astype(float)
        shape = 1, 1, 1, 3
        self._rows, self._legal = np.zeros((1, 1), dtype=int), np.ones((1, 1), dtype=bool)
        self._seats, self._to = np.zeros((2, *shape), dtype=int)
        self._over = np.array([False, True, True]).reshape(shape)
        self._paid = np.array([0, 700, 0]).reshape(shape)

    @property
    def keywords(self):
        return {"seldom": self.seldom, "wins": self.wins}


@pytest.mark.parametrize("wins", [Fraction(1, 3), Fraction(1)])
@pytest.mark.parametrize("digits", [1, 8])
def test_a_position_that_comes_back_nearly_always(digits, wins):
    task = Task(Waiting(10**digits, wins))
    exact, floats = solve(task, exact=True), solve(task)
    assert exact.value == wins
    assert abs(Fraction(floats.value) - wins) <= floats.error_bound < 1e-6
    assert floats.value <= 1


OFTEN = "Waiting may come back to state 0 of player 0, or near it, more often than floats"
OFF = "values of Waiting must be right within 1e-06 .* may be off by .* exact=True"


@pytest.mark.parametrize(("digits", "said"), [(12, OFF), (16, OFTEN), (400, OFTEN)])
def test_what_floats_cannot_tell_is_refused_and_told_by_fractions(digits, said):
    task = Task(Waiting(10**digits))
    assert solve(task, exact=True).value == Fraction(1, 3)
    with pytest.raises(InputError, match=said) as caught:
        solve(task)
    assert not isinstance(caught.value, GameError)


@pytest.mark.parametrize("game", [Greed(4, 3), RandomGame(1, 2)], ids=repr)
def test_exact_answers_are_fractions_and_whole_numbers_are_too(game):
    task = Task(game, 1, "random")
    found = [solve(task, exact=True), exactdice.evaluate("random", task, exact=True)]
    numbers = [value for answer in found for value in (answer.value, *answer.values.ravel())]
    numbers += [value for value in found[0].table.ravel() if value != -np.inf]
    numbers += exactdice.occupancy("random", task, exact=True).tolist()
    law = exactdice.outcome_distribution("random", task, exact=True)
    matrix = exactdice.payoff_matrix(["random", "optimal"], task, exact=True)
    numbers += [*law, *law.values(), *matrix.payoffs.ravel()]
    assert {type(number) for number in numbers} == {Fraction}
    assert sum(law.values()) == 1


def test_floats_do_not_get_into_exact_computation():
    assert EXACT.numbers(np.arange(2)).tolist() == [Fraction(0), Fraction(1)]
    with pytest.raises(TypeError):
        EXACT.number(0.5)
    with pytest.raises(TypeError):
        EXACT.numbers(np.array([Fraction(1, 2), 0.5], dtype=object))


def test_roundings_are_counted_for_each_law_layer_and_decision():
    # One for the expected value; a product and a sum for each outcome, two if moves pay early.
    thirds, halves = Owed(), Walk()
    assert Fraction(float(thirds.laws[0, 0])) != Fraction(1, 3)
    assert [law_roundings(thirds), law_roundings(halves)] == [1, 0]
    assert [move_roundings(thirds, pays) for pays in (False, True)] == [1 + 1 + 2, 1 + 1 + 2 * 2]
    assert [move_roundings(halves, pays) for pays in (False, True)] == [1 + 2, 1 + 2 * 2]
    turn = Rounds().legs[0].turn  # three actions lead to the second roll, with three outcomes
    assert [turn.backward_roundings(decision) for decision in (0, 1)] == [2 * 4, 2 * 5]
    assert [turn.forward_roundings(decision) for decision in (0, 1)] == [2 * (4 + 3), 2 * (5 + 3)]
    # A decision is after one of four casts: a product and a sum for each, and for what follows.
    for block in sweeps_of(FourTwoOneMatch(tokens=2, faces=2, tie="replay")).blocks(0):
        assert not block.is_swept_whole
        assert block.roundings(0, stay=0.0) == 1 + 2 * 5
        assert block.roundings(3, stay=6.5) == 7.5 * (1 + 2 * 5 + 3)


TWELVE = st.lists(st.integers(0, 4), min_size=12, max_size=12)


@settings(max_examples=40)
@given(TWELVE, st.integers(-250, 250), st.integers(-1000, 1000))
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
    law = exactdice.outcome_distribution("random", Task(game), exact=True)
    assert law == {third: Fraction(3, 4), more: Fraction(1, 4)}
    mean = sum(payoff * chance for payoff, chance in law.items())
    assert mean == exactdice.evaluate("random", Task(game), exact=True).value
    score = exactdice.score("random", Task(game))  # floats cannot tell them apart
    assert (score.regret, score.normalized, score.flawless) == (0, 1, 1)


def impossible(task, excess, agent=None):
    best = exactdice.score("optimal", task)
    figures = best.optimum + excess, best.optimum, best.random
    return Score("mine", True, True, prepare(task), *figures, agent or best.agent)


@pytest.mark.parametrize("factor", [1, 10**6, Fraction(1, 10**13)])
def test_a_score_above_the_optimum_is_an_error(factor):
    task = Task(FourTwoOne(utility=lambda faces, casts: Fraction(tokens(faces)) * factor))
    with pytest.raises(ImpossibleScoreError, match=r"mine scores .* this is a bug of exactdice"):
        impossible(task, 1e-11 * float(factor))
    with pytest.raises(ImpossibleScoreError):
        impossible(task, float("nan"))
    rounded = impossible(task, 1e-15 * float(factor))
    assert (rounded.value, rounded.regret, rounded.normalized) == (rounded.optimum, 0, 1)


def test_a_score_of_a_policy_that_is_no_law_says_so():
    class Doubled(exactdice.baselines.Policy):
        """Claims twice the probability of each action of the best policy."""

        shape = (242, 7)

        def probabilities(self, states):
            return 2 * solve(task).policy.probabilities(states)

    task = Task(Greed(10, 3))
    with pytest.raises(ArithmeticError, match="its probabilities in state 0 are not a law") as got:
        impossible(task, 1e-3, Doubled())
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
