"""Exact properties of tasks agree with plain Python on the tables ``P`` of environments."""

import math
from collections import defaultdict
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import Task, describe, make_task
from exactdice.baselines.scoring.description import CLOSE, PROPERTIES, _log2
from exactdice.core.positions import states_of
from small_games import Owed

SIZES = [
    ("Greed", {"max_score": 5, "sides": 3}, 0),
    ("Greed", {"max_score": 5, "sides": 3, "opponent": "random"}, 1),
    ("LowestScore", {"dice": 2, "faces": 3, "zero_face": 2, "players": 3}, 1),
    ("LowestScoreMatch", {"dice": 2, "faces": 2, "zero_face": 1, "wins": 2}, 0),
    ("ShutTheBox", {"tiles": 3, "dice": 2, "sides": 2, "one_die": "sum<=2"}, 1),
    ("FourTwoOne", {"dice": 2, "faces": 3, "casts": 3, "utility": "goal:12"}, 0),
    ("FourTwoOne", {"dice": 3, "faces": 2, "casts": 2, "utility": "set"}, 1),
    ("FourTwoOneMatch", {"tokens": 1, "faces": 2, "tie": "replay"}, 0),
]


class Enumeration:
    """Value iteration and expected visits on the tables of a task, in plain Python."""

    def __init__(self, name, keywords, seat):
        env = gym.make(f"exactdice/{name}-v0", seat=seat, **keywords).unwrapped
        self.table, game = env.P, env.task.game
        self.start = {s: p for s, p in enumerate(env.initial_state_distrib.tolist()) if p > 0}
        self.own = states_of(game, seat).tolist()
        self.legal = {s: np.flatnonzero(game.mask(np.array([s]))[0]).tolist() for s in self.own}

    def action_value(self, worth, state, action):
        return sum(p * (r + worth.get(t, 0)) for p, t, r, _ in self.table[state][action])

    def row(self, worth, state):
        return [self.action_value(worth, state, action) for action in self.legal[state]]

    def values(self, decide):
        worth, before = dict.fromkeys(self.own, 0.0), {}
        while worth != before:
            before = worth
            worth = {state: decide(self.row(worth, state)) for state in self.own}
        return worth

    def visits(self, policy):
        met, mass = defaultdict(float), self.start
        while sum(mass.values()) > 1e-14:
            later = defaultdict(float)
            for state, chance in mass.items():
                met[state] += chance
                for action, share in policy[state].items():
                    for p, after, _, over in self.table[state][action]:
                        if not over:
                            later[after] += chance * share * p
            mass = later
        return met

    def mean_square(self, policy, met):
        """Payoffs come with the last move, so that the square of their sum is that of one."""
        return sum(
            met[state] * share * p * r * r
            for state in self.own
            for action, share in policy[state].items()
            for p, _, r, _ in self.table[state][action]
        )

    def by_chance(self, worth, policy, met):
        """Variance of the return that is not due to the agent's actions."""
        mean = sum(p * worth[state] for state, p in self.start.items())
        found = sum(p * (worth[state] - mean) ** 2 for state, p in self.start.items())
        for state in self.own:
            for action, share in policy[state].items():
                value = self.action_value(worth, state, action)
                found += (
                    met[state]
                    * share
                    * sum(
                        p * (r + worth.get(after, 0) - value) ** 2
                        for p, after, r, _ in self.table[state][action]
                    )
                )
        return found


@pytest.mark.parametrize(("name", "keywords", "seat"), SIZES)
def test_optimal_play_is_described_as_the_tables_say(name, keywords, seat):
    found = describe(make_task(name, seat=seat, **keywords))
    by_hand = Enumeration(name, keywords, seat)
    own, legal = by_hand.own, by_hand.legal
    worth = by_hand.values(max)
    optimal = {
        s: [a for a, value in zip(legal[s], by_hand.row(worth, s), strict=True)
            if value > worth[s] - 1e-12]
        for s in own
    }  # fmt: skip
    policy = {s: {optimal[s][0]: 1.0} for s in own}
    met = by_hand.visits(policy)
    moves = sum(met.values())
    assert found.moves == pytest.approx(moves)
    assert found.optimum == pytest.approx(sum(p * worth[s] for s, p in by_hand.start.items()))
    variance = by_hand.mean_square(policy, met) - found.optimum**2
    assert found.noise == pytest.approx(math.sqrt(variance))
    forced = sum(met[s] for s in own if len(legal[s]) == 1)
    free = sum(met[s] for s in own if len(legal[s]) > 1 and legal[s] == optimal[s])
    assert found.forced == pytest.approx(forced / moves)
    assert found.free == pytest.approx(free / moves)
    gaps = {
        s: worth[s] - max(by_hand.action_value(worth, s, a) for a in legal[s] if a not in best)
        for s, best in optimal.items()
        if legal[s] != best
    }
    mean = sum(met[s] * gap for s, gap in gaps.items()) / (moves - forced - free)
    close = sum(met[s] for s, gap in gaps.items() if gap < CLOSE * found.noise)
    assert found.gap == pytest.approx(mean)
    assert found.close == pytest.approx(close / (moves - forced - free))
    blind = by_hand.visits({s: dict.fromkeys(legal[s], 1 / len(legal[s])) for s in own})
    rarity = sum(
        met[s] * gap * -math.log10(blind[s] / sum(blind.values()))
        for s, gap in gaps.items()
        if met[s]
    )
    costs = sum(met[s] * gap for s, gap in gaps.items())
    assert found.rarity == pytest.approx(rarity / costs)


@pytest.mark.parametrize(("name", "keywords", "seat"), SIZES)
def test_random_play_is_described_as_the_tables_say(name, keywords, seat):
    found = describe(make_task(name, seat=seat, **keywords))
    by_hand = Enumeration(name, keywords, seat)
    own, legal = by_hand.own, by_hand.legal
    worth = by_hand.values(lambda row: sum(row) / len(row))
    policy = {s: dict.fromkeys(legal[s], 1 / len(legal[s])) for s in own}
    met = by_hand.visits(policy)
    moves = sum(met.values())
    assert found.random_moves == pytest.approx(moves)
    assert found.random == pytest.approx(sum(p * worth[s] for s, p in by_hand.start.items()))
    several = [s for s in own if len(legal[s]) > 1]
    reached = [s for s in several if met[s] > 0]
    assert (found.states, found.decisions) == (len(own), len(several))
    assert found.reachable_states == sum(met[s] > 0 for s in own)
    assert found.reachable_decisions == len(reached)
    assert found.actions == pytest.approx(sum(len(legal[s]) for s in reached) / len(reached))
    variance = by_hand.mean_square(policy, met) - found.random**2
    assert found.random_noise == pytest.approx(math.sqrt(variance))
    by_actions = sum(met[s] * np.var(by_hand.row(worth, s)) for s in own)
    assert found.by_actions == pytest.approx(by_actions / variance)
    assert found.signal == pytest.approx(math.sqrt(by_actions / variance / moves))
    by_chance = by_hand.by_chance(worth, policy, met)
    assert by_actions + by_chance == pytest.approx(variance)  # the law of total variance


def test_a_game_without_choices_has_no_gap_and_no_signal():
    found = describe(make_task("FourTwoOne", dice=1, faces=2, casts=1, utility="sum"))
    assert (found.decisions, found.actions, found.forced) == (0, 0, 1)
    assert found.gap is found.close is None
    assert (found.signal, found.by_actions) == (0, 0)
    assert found.noise == found.random_noise == 0.5


@pytest.mark.parametrize(
    "task",
    [
        make_task("LowestScore", players=1),
        make_task("LowestScore", players=1, dice=7),
        make_task("ShutTheBox", tiles=1, one_die="never"),
        Task(Owed()),
    ],
    ids=repr,
)
def test_a_constant_payoff_has_no_signal(task):
    """The computed variance is rounding: what is divided by it says nothing."""
    found = describe(task)
    assert found.noise + found.random_noise == pytest.approx(0, abs=1e-13)
    assert found.signal is found.by_actions is None
    texts = {figure.name: figure.text(found) for figure in PROPERTIES}
    assert texts["signal"] == texts["by_actions"] == ""


def test_bits_are_those_of_the_dice():
    """One die of Greed has 6 faces; the rolls of a full set have the entropy of their sums."""
    found = describe(make_task("FourTwoOne", dice=1, faces=6, casts=1, utility="sum"))
    assert found.bits == 0  # the one roll comes before the move
    found = describe(make_task("Greed", max_score=1, sides=6, max_dice=1))
    stop, roll = 0, math.log2(6)
    assert min(abs(found.bits - bits) for bits in (stop, roll)) < 1e-12


def test_logarithms_are_those_of_the_library():
    numbers = np.concatenate([np.linspace(1e-9, 2, 999), [1, 0.5, 1e-300, 6.0**-30]])
    assert _log2(numbers) == pytest.approx(np.log2(numbers), rel=1e-14, abs=1e-15)
    assert (_log2(np.array([1.0, 0.5, 0.25])) == [0, -1, -2]).all()


def test_the_page_defines_every_property_in_order():
    page = (Path(__file__).parents[2] / "docs" / "describe.md").read_text()
    table = page.partition("## The games")[0]
    rows = [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines() if "|" in line]
    assert rows[2:] == [figure.label for figure in PROPERTIES]
