"""The rules of Yahtzee, its sweeps, and the published values."""

import pickle

import numpy as np
import pytest
from by_hand_yahtzee import NAMES, ByHand, points
from exactdice.baselines import Task, evaluate, solve
from exactdice.baselines.policies.kinds import StochasticPolicy
from exactdice.board.grid import BenchmarkConfig
from exactdice.core import SizeError
from exactdice.core.arithmetic import EXACT, FLOATS
from exactdice.core.positions import has_few_states
from exactdice.core.sweeps import sweeps_of
from exactdice.core.types import Start
from exactdice.games.yahtzee import Yahtzee
from exactdice.games.yahtzee.card import points as tables
from exactdice.games.yahtzee.dice import KEEPS, dice
from exactdice.games.yahtzee.tour import bonus_of_best_play, met_by_best_play
from exactdice.games.yahtzee.values import YahtzeeValues
from sweeping import forward
from thinning import later

import exactdice

GAME = Yahtzee()
SMALL = [
    {"boxes": "ones"},
    {"boxes": "yahtzee,full_house", "bonus": 0},
    {"boxes": "twos,yahtzee", "joker": "free", "bonus": 7},
]


def faces(counts):
    return tuple(np.repeat(np.arange(1, 7), counts).tolist())


def test_the_published_numbers_of_positions():
    assert len(dice().counts) == 462
    assert dice().parts.shape == (252, 210)
    assert dice().parts.sum() == 4368 - 252
    ends = 2 * 64  # upper points and 50 in the box, of a full card
    assert len(GAME.contexts) + ends == 536_448
    assert GAME.num_states == len(GAME.contexts) * 756 == 405_457_920
    assert GAME.num_actions == 223


def test_every_roll_scores_as_by_hand():
    rolled = [faces(counts) for counts in dice().counts[KEEPS:]]
    plain, wild = ([[points(n, d, j) for n in NAMES] for d in rolled] for j in (False, True))
    assert tables().plain.tolist() == plain
    of_a_kind = tables().five >= 0
    assert (tables().wild[of_a_kind] == np.array(wild)[of_a_kind]).all()
    assert of_a_kind.sum() == 6


@pytest.mark.parametrize("joker", ["forced", "free"])
@pytest.mark.parametrize("bonus", [later(0), 100])
@pytest.mark.parametrize("boxes", [NAMES, ("fours", "sixes", "full_house", "chance")])
@pytest.mark.parametrize("count", [100, later(300)])
def test_random_moves_are_those_by_hand(joker, bonus, boxes, count):
    """Jokers, further Yahtzees and the upper bonus among them; boxes left out are filled."""
    rng, by_hand = np.random.default_rng(4), ByHand(joker, bonus, boxes)
    game = Yahtzee(joker, bonus, ",".join(boxes))
    wild = rng.choice(np.flatnonzero(tables().five >= 0), count)
    states = rng.integers(0, game.num_states // 252, count) * 252 + wild
    states = np.concatenate([states, rng.integers(0, game.num_states, count)])
    seen, legal = game.observe(states, 0), game.mask(states)
    assert (game.encode(seen) == states).all()
    assert ((seen >= 0) & (seen < np.array(game.observation_sizes))).all()
    for row, mask, own in zip(seen, legal, states, strict=True):
        left = frozenset(name for name, is_open in zip(NAMES, row, strict=False) if is_open)
        upper, holds, rolls, rolled = int(row[13]), bool(row[14]), row[15], faces(row[16:])
        allowed = by_hand.allowed(left, rolled)
        assert {NAMES[i] for i in np.flatnonzero(mask[KEEPS:])} == allowed
        kept = {faces(dice().counts[i]) for i in np.flatnonzero(mask[:KEEPS])}
        assert kept == (by_hand.keeps(rolled) if rolls else set())
        for name in allowed:
            zero = np.zeros(1, dtype=np.int64)
            move = game.advance(zero, np.array([own]), np.array([KEEPS + NAMES.index(name)]), zero)
            points_paid, after = by_hand.take(left, upper, holds, rolled, name)
            assert move.payoffs[0, 0] == points_paid
            assert move.over[0, 0] == (not after[0])
            if after[0]:
                (then,) = game.observe(move.states, 0)
                assert {n for n, o in zip(NAMES, then, strict=False) if o} == after[0]
                assert (then[13], then[14], then[15]) == (after[1], after[2], 2)
                assert faces(then[16:]) == (1, 1, 1, 1, 1)


def test_boxes_are_named_in_the_order_of_the_card():
    two = Yahtzee(boxes="chance,full_house")
    assert two.boxes == "full_house,chance"
    assert Yahtzee(boxes="full_house,chance") == two
    assert two.encode(GAME.observe(np.array([0]), 0)).tolist() == [-1]
    assert len(Yahtzee(bonus=0).contexts) < len(GAME.contexts)


@pytest.mark.parametrize("keywords", [*SMALL[:2], later(SMALL[2])])
def test_fractions_and_laws_are_those_by_hand(keywords):
    game = Yahtzee(**keywords)
    by_hand = ByHand(**{**keywords, "boxes": keywords["boxes"].split(",")})
    assert solve(Task(game), exact=True).value == by_hand.start()
    assert evaluate("random", Task(game), exact=True).value == by_hand.start(uniform=True)
    assert solve(Task(game)).value == pytest.approx(float(by_hand.start()), rel=1e-13)
    states, boxes = np.nonzero(game.mask(np.arange(game.num_states))[:, KEEPS:])
    zeros = np.zeros_like(states)
    over = game.advance(zeros, states, KEEPS + boxes, zeros).over[:, 0]
    assert over.any()  # a box is followed by five dice unless it is the last
    assert (game.law(states, KEEPS + boxes) == np.where(over, 0, 5)).all()


def test_exact_mass_and_the_law_of_payoffs_of_one_box():
    game = Yahtzee(boxes="chance")
    sweeps, (states, chances) = sweeps_of(game), game.initial_law()

    def keep_nothing(stage, mass):  # as long as there is a roll left
        weights = np.zeros(stage.mask.shape, dtype=object)
        weights[np.arange(len(mass)), stage.mask.argmax(axis=1)] = mass
        return weights

    met = forward(sweeps, keep_nothing, [Start(0, states, chances)], 0, EXACT)
    assert met.numbers[-1] == 1
    assert met.array[0].tolist() == 3 * chances.tolist()
    found = exactdice.score("random", Task(Yahtzee(boxes="yahtzee")))
    assert list(found.outcomes) == [0, 50]
    assert found.outcomes[50] == pytest.approx(found.value / 50, rel=1e-12)
    assert found.deviation == pytest.approx(50 * (found.outcomes[50] * found.outcomes[0]) ** 0.5)
    assert exactdice.score("random", Task(Yahtzee(boxes="ones,yahtzee"))).outcomes is None
    solution = solve(found.task)  # four 4s, a 1 and one roll left
    seen = np.array([*(name == "yahtzee" for name in NAMES), 0, 0, 1, 1, 0, 0, 4, 0, 0])
    kept = solution.optimal_actions(seen).tolist()
    assert [faces(dice().counts[action]) for action in kept] == [(4, 4, 4, 4)]
    assert solution.action_values(seen).max() == pytest.approx(50 / 6)


@pytest.mark.parametrize("keywords", [{}, *map(later, ({"joker": "free"}, {"bonus": 0}))])
def test_values_for_play_are_those_of_sweeps_though_turns_are_forgotten(keywords):
    game, rng = Yahtzee(**keywords), np.random.default_rng(5)
    between = np.append(rng.random(len(game.contexts)) * 200, 0)
    swept = YahtzeeValues(game, FLOATS, "best", between)
    played = sweeps_of(game).in_play(swept, 10)
    again = pickle.loads(pickle.dumps(played))
    met = rng.integers(0, game.num_states, 300)
    for _ in range(12):
        states = np.concatenate([rng.choice(met, 100), rng.integers(0, game.num_states, 100)])
        actions = (game.mask(states) * rng.random((200, game.num_actions))).argmax(axis=1)
        expected = sweeps_of(game).expected(0, states, swept)[np.arange(200), actions]
        for values in (played, again):
            assert (values.at(0, states) == swept.at(0, states)).all()
            assert (values.of_moves(states, actions) == expected).all()
    assert played.of_moves(np.arange(300), np.full(300, KEEPS)) is None  # more than are held
    assert (played.at(0, met) == swept.at(0, met)).all()
    mean = YahtzeeValues(game, FLOATS, "mean", between)
    assert sweeps_of(game).in_play(mean, 10) is mean


@pytest.mark.parametrize("policy", ["optimal", "random"])
def test_scores_by_folds_are_those_of_general_sweeps(policy):
    task = Task(Yahtzee(boxes="sixes,yahtzee,full_house"))
    folded = evaluate(policy, task)
    table = StochasticPolicy(folded.policy.probabilities(np.arange(task.game.num_states)))
    listed = evaluate(table, task)
    assert folded.value == pytest.approx(listed.value, rel=1e-12)
    assert folded.variance == pytest.approx(listed.variance, rel=1e-12)
    assert 0 < folded.error_bound < 1e-9


@pytest.mark.slow
def test_the_published_chance_of_the_upper_bonus():
    game = Yahtzee(joker="free")
    values = solve(Task(game)).found.numbers
    met = met_by_best_play(game, values)
    assert met[-1] == pytest.approx(1)
    assert bonus_of_best_play(game, values, met)[0] == pytest.approx(0.6812, abs=5e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keywords", "published", "deviation"),
    [
        ({}, 254.5877, 59.6079),  # Glenn 2006; the deviation is our own
        ({"joker": "free"}, 254.5896, 59.61),  # Verhoeff 1999
        ({"bonus": 0}, 245.8707, None),  # Verhoeff 1999: no bonus and no jokers
    ],
)
def test_the_published_values(keywords, published, deviation):
    solution = solve(Task(Yahtzee(**keywords)))
    assert 0 <= solution.value - published < 1e-4  # four digits, not rounded
    assert solution.error_bound < 1e-8
    if deviation:
        assert solution.variance**0.5 == pytest.approx(deviation, abs=5e-3)


def test_what_visits_every_state_of_the_whole_game_is_refused(monkeypatch):
    task, states = Task(GAME), "must have at most 67,108,864 states, got 405,457,920"
    for ask, message in (
        (lambda: solve(task, exact=True), "game must be smaller to be solved exactly, got Yahtzee"),
        (lambda: sweeps_of(GAME).values(0, np.max).array, "boxes must be fewer for numbers of all"),
        (lambda: exactdice.as_policy(np.zeros(GAME.num_states, dtype=np.int8), task), states),
        (lambda: exactdice.occupancy("random", task), states),
    ):
        with pytest.raises(SizeError, match=message):
            ask()
    assert "Yahtzee" not in BenchmarkConfig().games
    monkeypatch.setenv("EXACTDICE_LIMIT", "7")
    assert has_few_states(task.game)


def test_means_of_many_turns_are_those_of_a_few_at_once(monkeypatch):
    values = sweeps_of(Yahtzee(boxes="ones,yahtzee,chance")).folded("best")
    contexts = np.random.default_rng(6).permutation(np.arange(30) % 11)
    wanted = values.means(contexts, 1)
    assert wanted[:, 0].any()
    monkeypatch.setattr("exactdice.games.yahtzee.values.TOGETHER", 4)
    assert (values.means(contexts, 1) == wanted).all()
