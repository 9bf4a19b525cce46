"""Statistics over seeds, against their formulas written out, and scores of reference policies."""

import numpy as np
import pytest
from exactdice.baselines import NamedPolicy, make_task, register_policies
from exactdice.baselines.policies import names
from exactdice.board import strata
from exactdice.board.strata import area, estimate, headline, iqm, mean, pairs, ranks, versus
from finished_runs import run
from scipy.stats import trim_mean

RNG = np.random.default_rng(7)
#: Five seeds in each of three games: (game, seed).
SCORES = RNG.normal([[0.2], [0.9], [0.5]], [[0.1], [0.01], [0.3]], (3, 5))


def by_hand(scores, statistic, resamples=4000):
    """The stratified bootstrap as rliable does it: a matrix of runs and games, one draw a cell."""
    runs, games = scores.T.shape
    rng = np.random.RandomState(3)
    drawn = [
        statistic(scores.T[rng.choice(runs, (runs, games)), np.arange(games)])
        for _ in range(resamples)
    ]
    return np.percentile(drawn, [2.5, 97.5])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (mean, lambda matrix: matrix.mean(axis=0).mean()),
        (iqm, lambda matrix: trim_mean(matrix, 0.25, axis=None)),  # so rliable defines it
        (headline, lambda matrix: -np.log10(1 - matrix.mean(axis=0)).mean()),
    ],
)
def test_the_interval_is_that_of_the_stratified_bootstrap(ours, theirs):
    found = estimate(list(SCORES), ours)
    assert found.middle == pytest.approx(theirs(SCORES.T))
    low, high = by_hand(SCORES, theirs)
    width = high - low
    assert found.low == pytest.approx(low, abs=0.05 * width)
    assert found.high == pytest.approx(high, abs=0.05 * width)


def test_games_are_resampled_beside_their_seeds_and_one_seed_has_no_interval():
    found = estimate([np.full(2, float(game)) for game in range(4)], mean, games=True)
    drawn = np.random.default_rng(1).integers(0, 4, (20_000, 4)).mean(axis=1)
    assert (found.middle, found.low, found.high) == (1.5, *np.percentile(drawn, [2.5, 97.5]))
    middle, *ends = estimate([np.array([0.5]), np.array([0.7, 0.9])], mean)
    assert middle == pytest.approx(0.65)
    assert np.isnan(ends).all()


def test_one_perfect_run_does_not_make_the_headline_and_more_seeds_give_a_game_no_more_weight():
    assert estimate([np.array([0.9, 0.9, 1.0])]).middle == pytest.approx(-np.log10(0.2 / 3))
    assert estimate([np.ones(3)]).middle == 4
    games = [np.full(8, 0.0), np.full(2, 1.0), np.full(4, 2.0), np.full(6, 3.0)]
    assert estimate(games, iqm).middle == pytest.approx(1.5)  # of the second and the third game


def agent(*games):
    """The rows of an agent, from the scores in each game."""
    return [[run(f"game {place}", seed, score) for seed, score in enumerate(scores)]
            for place, scores in enumerate(games)]  # fmt: skip


def test_the_probability_of_improvement_by_hand():
    one, other = agent((0.1, 0.3), (0.5, 0.5)), agent((0.2, 0.3), (0.5, 0.4))
    assert versus(one, other).middle == ((0.5 + 1) / 4 + (2 + 1) / 4) / 2  # equals count half
    assert versus(other, one).middle == 1 - versus(one, other).middle
    assert versus(one, other[:1]).middle == 1.5 / 4  # over common games
    assert np.isnan(versus(one[:1], other[1:]).middle)


def test_rows_share_ranks_unless_all_games_tell_them_apart():
    best, even = [(0.8, 0.9)] * 6, [(0.1, 0.2)] * 6
    mixed = [(0.0, 0.1)] * 3 + [(0.3, 0.4)] * 3
    assert ranks(pairs([agent(*best), agent(*even), agent(*mixed)])) == ["1", "2 to 3", "2 to 3"]
    assert ranks(pairs([agent(*best), agent(*even)])) == ["1", "2"]
    assert ranks(pairs([agent((0.9,)), agent((0.1,))])) == ["1 to 2", "1 to 2"]  # one seed


def test_curves_are_estimated_mark_by_mark_and_their_area_is_over_the_logarithm_of_the_moves():
    curves = [RNG.normal(size=(5, 7)), RNG.normal(size=(4, 7))]
    found = estimate(curves, mean)
    assert found.low.shape == found.high.shape == (7,)
    np.testing.assert_allclose(found.middle, (curves[0].mean(0) + curves[1].mean(0)) / 2)
    assert ((found.low < found.middle) & (found.middle < found.high)).all()
    assert area([1, 10, 100], np.array([0.0, 1.0, 1.0])) == pytest.approx(0.75)
    assert area([1, 10, 1000], np.array([0.0, 1.0, 1.0])) == pytest.approx(5 / 6)


def test_the_registration_of_a_policy_says_whether_it_is_a_reference(monkeypatch):
    monkeypatch.setattr(names, "POLICIES", {"Greed": {}})

    def some(game, dice="1"):
        return game.mask(np.arange(game.num_states))[:, int(dice)] * int(dice)

    policies = {
        "mine": some,
        "hidden": NamedPolicy(some, references=()),
        "dice:<d>": NamedPolicy(some, references=("dice:1",)),
        "other:<d>": some,
    }
    register_policies("Greed", policies)
    rows = strata.reference_table({"Greed": make_task("Greed")}).table.rows
    assert [row[1] for row in rows] == ["optimal", "random", "mine", "dice:1"]


def test_references_that_a_game_does_not_have_are_left_out_and_named(monkeypatch):
    registered = {game: dict(own) for game, own in names.POLICIES.items()}
    monkeypatch.setattr(names, "POLICIES", registered)
    register_policies("FourTwoOne", {"mine": lambda _game: {}["no such key"]})
    _, words, table = strata.reference_table({"small": make_task("FourTwoOne", faces=3)})
    policies = [row[1] for row in table.rows]
    assert {"optimal", "random", "goal:0,0", "goal:0,1", "goal:1,0", "goal:1,1"} <= {*policies}
    assert not {"mine", "ratchet:421", "bernoulli:421"} & {*policies}
    for name in ("ratchet", "bernoulli"):
        goal = "goal must be 3 digits from 1 to 3, got '421'"
        assert f"Left out: {name}:421 of small: {goal}." in words
    assert "Left out: mine of small: 'no such key'." in words
