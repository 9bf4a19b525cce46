"""Laws, and games written state by state, where a wrong number or a false word once came out.

Every right value is by hand, in fractions.
"""

import json
import pickle
from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from exactdice.agents import GameVecEnv
from exactdice.baselines.operators import enclosure, systems
from exactdice.baselines.scoring import certificate
from exactdice.baselines.scoring.summary import summary
from exactdice.envs import GameEnv, find_game
from exactdice.games import GameError, InputError
from law_by_hand import in_floats
from random_laws import draw_law

import exactdice

pytestmark = pytest.mark.usefixtures("own_games")


def simple(**methods):
    """Make a game of one state 0 and one action 0, but for some methods."""
    usual = {
        "start": lambda self: [(1, 0)],
        "actions": lambda self, state: [0],
        "outcomes": lambda self, state, action: [(1, 0, None)],
    }
    return type("Simple", (exactdice.SimpleGame,), usual | methods)


class Waiting(exactdice.SimpleGame):
    gamma = 0.5
    paid = 1

    def start(self):
        return [(1, "here")]

    def actions(self, state):
        return ["wait"]

    def outcomes(self, state, action):
        return [(1, self.paid, "here")]


def from_cells(*cells):
    """Make a task of one state, from the outcomes of each action."""
    return exactdice.from_P({0: dict(enumerate(cells))}, 0)


def test_a_game_is_what_its_class_said_when_it_was_made(monkeypatch):
    exactdice.register(Waiting)
    first = exactdice.Task(Waiting())
    for name, value, optimum in (("gamma", 0.9, 10), ("paid", 2, 20), ("gamma", 0.5, 4)):
        monkeypatch.setattr(Waiting, name, value)
        assert exactdice.solve(exactdice.Task(Waiting()), exact=True).value == optimum
        assert exactdice.solve(gym.make("exactdice/Waiting-v0"), exact=True).value == optimum
    monkeypatch.setattr(Waiting, "horizon", 3)
    assert exactdice.solve(exactdice.Task(Waiting())).value == 2 * 1.75
    assert exactdice.solve(first, exact=True).value == 2
    assert (first.game.gamma, first.game.horizon) == (0.5, None)
    with pytest.raises(GameError, match="must have the law that it had when it was saved"):
        pickle.loads(pickle.dumps(first.game))


def test_two_maps_that_are_drawn_are_two_games():
    kind = find_game("gym:FrozenLake-v1")
    games = [kind(map_name=None) for _ in range(3)]
    for game in games:
        known = (game.counts, game.successors, game.chances, game.rewards, game.initial)
        own = exactdice.baselines.law.law_game.LawGame(*known, 1.0, 100, "the same by its law")
        values = [exactdice.solve(exactdice.Task(each)).value for each in (game, own)]
        assert values[0] == values[1]
        assert [game == each for each in games].count(True) == 1
        with pytest.raises(GameError, match="draws its law"):
            pickle.loads(pickle.dumps(game))
    assert pickle.loads(pickle.dumps(kind())) == kind()


@pytest.mark.parametrize("state", [(-1, 0), (2**70, 0), (10**6, 0), (True, 0), ("a", 1)])
def test_other_states_are_seen_as_their_number(state):
    kind = simple(
        start=lambda self: [(Fraction(1, 2), state), (Fraction(1, 2), (1, 1))],
        outcomes=lambda self, here, action: [(1, here == state, None)],
    )
    task = exactdice.Task(kind())
    assert task.game.observation_names == ("state",)
    assert exactdice.solve(task, exact=True).value == Fraction(1, 2)


def test_states_of_65_numbers_are_told_apart():
    """As one number of 64 bits some of them were the same."""
    one = tuple([1] + [0] * 64)
    more = [tuple(int(place in (0, 1 + turn)) for place in range(65)) for turn in range(64)]
    law = {after: [(1, after.index(1, 1), None)] for after in more}
    law[one] = [(Fraction(1, 64), 0, after) for after in more]
    game = simple(start=lambda self: [(1, one)], outcomes=lambda self, state, action: law[state])()
    assert exactdice.solve(exactdice.Task(game), exact=True).value == Fraction(65, 2)
    states = np.arange(game.num_states)
    assert (game.encode(game.observe(states, 0)) == states).all()
    assert game.encode(np.zeros((1, 65), dtype=int)).tolist() == [-1]


def test_circling_costs_what_the_optimum_would_have_been_paid():
    env = gym.make("FrozenLake-v1", is_slippery=False).unwrapped
    score = exactdice.score(np.zeros(16, int), env)
    (blunder,) = score.blunders(None)
    assert (score.value, score.regret, score.costs.sum(), blunder.cost) == (0, 1, 1, 1)
    assert (score.flawless, score.optimal_share, blunder.observation) == (0, 0, (0,))
    assert "state 0: left and so on, in a circle for ever" in blunder.words
    assert "It is optimal" not in " ".join(summary(score))


def test_where_random_play_is_optimal_a_circle_has_no_normalised_score():
    score = exactdice.score([0], from_cells([(1, 0, 0, False)], [(1, 0, 1, True)]))
    assert np.isnan(score.normalized)
    assert "normalised score unknown" in str(score)
    assert summary(score)[0] == "It loses a payoff of 1 a game."


def test_a_policy_may_circle_where_no_game_comes():
    law = {0: {0: [(1, 0, 1, True)], 1: [(1, 0, 0, True)]}}
    law[1] = {0: [(1, 1, -1, False)], 1: [(1, 1, -1, True)]}
    task = exactdice.from_P(law, 0)
    for exact in (False, True):
        found = exactdice.evaluate([0, 0], task, exact)
        assert (found.value, found.values[0, 1]) == (1, -np.inf)


def test_where_no_payoff_is_the_worst_no_illegal_action_is_played():
    """Every step costs 1 and goes on or back to the beginning; action 1 is illegal."""
    law, back = {}, (0.5, 0, -1, False)
    for state in range(8):
        law[state] = {0: [(0.5, min(state + 1, 7), -1, state == 7), back], 1: []}
    task = exactdice.from_P(law, 0)
    assert exactdice.solve(task, exact=True).value == -510
    env = GameEnv(task)
    env.reset(seed=0)
    vector = GameVecEnv(task, num_envs=2)
    vector.reset()
    for play in (
        lambda: env.step(1),
        lambda: env.P,
        lambda: vector.step(np.array([0, 1])),
        lambda: exactdice.score([1] * 8, task, masked=False),
        lambda: exactdice.evaluate(np.full((8, 2), 0.5), task, masked=False),
    ):
        with pytest.raises(InputError, match="actions must be legal in .* horizon, or a gamma"):
            play()
    assert exactdice.score([0] * 8, task, masked=False).value == pytest.approx(-510)


def test_grades_are_by_what_the_game_pays():
    task = from_cells(*([(1, 0, paid, True)] for paid in (1e-10, 3e-10, 0)))
    moves = exactdice.solve(task).ask(0).moves
    assert [move.choice.action for move in moves] == [1, 0, 2]
    assert [move.grade for move in moves] == ["best", "blunder", "blunder"]


def test_a_claim_must_be_right_within_the_error_bound(tmp_path):
    """The tolerance was a part of the range of payoffs, which a discount near 1 makes 1e8."""
    task = exactdice.Task(find_game("gym:CliffWalking-v1")(gamma=0.999999))
    path = tmp_path / "forged.npz"
    for exact in (True, False):
        exactdice.score("optimal", task, exact=exact).save(path)
        assert exactdice.verify(path).value == pytest.approx(-12.9999, abs=1e-4)
    with np.load(path) as file:
        policy, claims = file["policy"], json.loads(str(file["claims"]))
    for off in (0.05, 1e-6):
        text = json.dumps(claims | {name: claims[name] + off for name in ("value", "optimum")})
        hashed = certificate.digest_of(policy, text)
        np.savez_compressed(path, policy=policy, claims=text, sha256=hashed)
        with pytest.raises(certificate.CertificateError, match="claims value"):
            exactdice.verify(path)


def lock(digits):
    """A lock that opens after so many right digits in a row; each digit costs 1."""
    law, last = {}, digits - 1
    for place in range(digits):
        law[place] = {0: [(1, min(place + 1, last), -1, place == last)], 1: [(1, 0, -1, False)]}
    return exactdice.from_P(law, 0)


@pytest.mark.parametrize("exact", [False, True])
def test_random_play_may_be_slow(exact):
    """It opens the lock after 2^41 - 2 digits, which floats cannot follow."""
    score = exactdice.score([0] * 40, lock(40), exact=exact)
    assert (score.value, score.regret, score.normalized) == (-40, 0, 1)
    assert score.random == 2 - 2**41


def test_an_unknown_random_play_leaves_the_score(monkeypatch):
    monkeypatch.setattr("exactdice.baselines.scoring.score.FEW", 0)
    score = exactdice.score([0] * 41, lock(41))
    assert (score.value, score.regret) == (-41, 0)
    assert np.isnan([score.random, score.normalized]).all()
    assert score.as_dict()["random"] is None
    json.dumps(score.as_dict(), allow_nan=False)
    with pytest.raises(InputError, match="random is not known"):
        score.save("unknown.npz")


@pytest.mark.parametrize(("pays", "value"), [((1, 0), 1), ((1, -1), 1), ((-1, -1), None)])
def test_two_players_who_need_not_end_have_values_if_they_would(pays, value):
    """Each may pass for ever, or end the game, which pays the player who does."""
    passing = simple(
        player=lambda self, state: state,
        actions=lambda self, state: [0, 1],
        outcomes=lambda self, state, act: (
            [(1, 0, 1 - state)] if not act else [(1, pays[state], None)]
        ),
    )
    task = exactdice.Task(passing())
    if value is not None:
        assert exactdice.solve(task).value == value
        assert exactdice.score("optimal", task).value == value
        return
    with pytest.raises(GameError, match="come back for ever .*a horizon, or a gamma below 1"):
        exactdice.solve(task)


def test_two_players_must_be_paid_where_no_move_leads_back():
    half = Fraction(1, 2)
    paid = simple(
        player=lambda self, state: state,
        outcomes=lambda self, state, action: [(half, 1, 1 - state), (half, 0, None)],
    )
    with pytest.raises(GameError, match="in states 0, 1: give a horizon, or a gamma below 1"):
        paid()


@pytest.mark.slow
def test_a_chain_of_many_states_takes_time_in_proportion_to_its_length():
    length = 20_000
    kind = simple(
        actions=lambda self, state: [0, 1],
        outcomes=lambda self, state, act: [(1, act, state + 1 if state + 1 < length else None)],
    )
    assert exactdice.solve(exactdice.Task(kind())).value == length


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
    law[1][1] = [(1, 0, 0, True)]  # as much as to go on for ever
    assert float(exactdice.solve(exactdice.from_P(law, 0), exact=True).value) == paid


@pytest.mark.parametrize("exact", [False, True])
def test_payments_without_end_are_refused(exact):
    costs, pays = (from_cells([(1, 0, paid, False)], [(1, 0, 0, True)]) for paid in (-1, 1))
    with pytest.raises(InputError, match="must be finite, and this one circles and is paid witho"):
        exactdice.evaluate([0], costs, exact)
    with pytest.raises(InputError, match="optimum must be finite, and play can be paid without en"):
        exactdice.solve(pays, exact)


def bounds_of(game, values, stay):
    """Bound the errors of the values of a game that circles nowhere, and has such stays."""
    stays, circling = np.full(game.rows, stay), np.zeros(game.rows, dtype=bool)
    sizes = enclosure.sizes_of(game, values)
    return enclosure.raised(game, values, stays, None, sizes, circling, 1)[0]


def test_bounds_hold_for_values_that_are_off():
    """The proof of the error bound is of the numbers it is given, not of how they were found."""
    task = exactdice.from_P(*in_floats(draw_law("cycles", 2)))
    game, solution = task.game, exactdice.solve(task)
    exact = exactdice.solve(task, exact=True).values[0]
    for off in (1e-3, -1e-3):
        given = solution.values[0] + off * np.arange(game.rows)
        assert (exact.astype(float) - given <= bounds_of(game, given, 0)).all()


@pytest.mark.parametrize("steps", [1, 40])
def test_large_systems_have_the_same_values_by_steps_or_by_factors(steps, monkeypatch):
    """One step of BiCGSTAB is too few, so that the system is factored after all."""
    monkeypatch.setattr(systems, "FEW", 0)
    monkeypatch.setattr(systems, "STEPS", steps)
    monkeypatch.setattr(systems, "MOST_SWEEPS", 1)
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
    law = {0: {0: [(1, 0, -1, True)]}, 1: {0: [(0.5, 1, -1, False), (0.5, 1, -1, True)]}}
    game = exactdice.from_P(law, 0).game
    assert np.isinf(bounds_of(game, np.array([-1.0, -2.0]), wrong)).all()


def test_many_ways_that_pay_alike_are_as_good_as_a_sure_payment():
    """The sum of 1079 times 1/1079 is off by more than the few roundings of a single way."""
    many = [(Fraction(1, 1079), 0, 1, True)] * 1079
    solution = exactdice.solve(from_cells(many, [(1, 0, 1, True)]))
    assert abs(solution.table[0, 0] - 1) > 1e-14
    assert solution.optimal.tolist() == [[True, True]]


def test_a_large_law_that_pays_in_one_state_needs_no_factors(monkeypatch):
    """The products of BiCGSTAB vanish there, and factors of so large a law have no room."""
    count, steps = 10_000, []
    after = np.stack([2 * np.arange(count) + 1, 3 * np.arange(count) + 2], axis=1) % count
    entries = np.full(2 * count, 0.5), after.ravel(), np.arange(0, 2 * count + 1, 2)
    law = scipy.sparse.csr_array(entries, shape=(count, count))
    rewards = np.zeros((count, 1))
    rewards[1] = 1
    stepped = scipy.sparse.linalg.bicgstab

    def noted(*given, **options):
        steps.append(stepped(*given, **options)[1])
        return stepped(*given, **options)

    monkeypatch.setattr(scipy.sparse.linalg, "bicgstab", noted)
    monkeypatch.setattr(scipy.sparse.linalg, "splu", None)
    solution = exactdice.solve(exactdice.from_P([law], 1, rewards=rewards, gamma=0.99))
    assert steps[0] < 0  # a breakdown
    values, back = np.zeros(count), 0.99 * law
    for _ in range(4000):
        values = rewards[:, 0] + back @ values
    assert np.abs(solution.values[0] - values).max() <= 1e-11
