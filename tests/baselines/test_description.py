"""Exact properties of tasks agree with figures of random laws by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest
from checkout import ROOT
from exactdice.baselines import Task, describe, make_task
from exactdice.baselines.scoring.description import CLOSE, PROPERTIES, _log2
from law_by_hand import in_floats
from law_figures import figures, flat, optimum, pure, worths
from random_laws import draw_law
from small_games import Owed

import exactdice

SEEDS = [seed for seed in range(40) if len(draw_law("limits", seed).ways[0]) > 1][:12]


def by_hand(seed):
    """Draw a law: its task, its moves, its optimum, and the legal actions of each state."""
    law = draw_law("limits", seed)
    moves, task = flat(law), exactdice.from_P(*in_floats(law))
    return law, task, moves, optimum(law), [[a for a, c in enumerate(r) if c] for r in moves]


def even(legal, moves):
    return [[Fraction(a in own, len(own)) for a, _ in enumerate(row)]
            for own, row in zip(legal, moves, strict=True)]  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
def test_optimal_play_is_described_as_by_hand(seed):
    law, task, moves, best, legal = by_hand(seed)
    found, top = describe(task), best.values
    optimal = [[a for a in own if best.table[s][a] == top[s]] for s, own in enumerate(legal)]
    weights = [pure(ties[0], row) for ties, row in zip(optimal, moves, strict=True)]
    hand, blind = (figures(law, moves, each, best) for each in (weights, even(legal, moves)))
    assert found.moves == pytest.approx(float(hand.moves))
    assert found.optimum == pytest.approx(float(hand.value), abs=1e-12)
    assert found.noise**2 == pytest.approx(float(hand.variance), abs=1e-12)
    forced = sum(v for v, own in zip(hand.visits, legal, strict=True) if len(own) == 1)
    free = sum(v for v, own, ties in zip(hand.visits, legal, optimal, strict=True)
               if len(own) > 1 and own == ties)  # fmt: skip
    assert found.forced == pytest.approx(float(forced / hand.moves))
    assert found.free == pytest.approx(float(free / hand.moves))
    gaps = {s: top[s] - max(best.table[s][a] for a in own if a not in optimal[s])
            for s, own in enumerate(legal) if own != optimal[s]}  # fmt: skip
    critical = hand.moves - forced - free
    if not critical:
        assert found.gap is found.close is found.rarity is None
        return
    costs = {s: float(hand.visits[s] * gap) for s, gap in gaps.items()}
    close = sum(float(hand.visits[s]) for s, gap in gaps.items() if gap < CLOSE * found.noise)
    assert found.gap == pytest.approx(sum(costs.values()) / float(critical))
    assert found.close == pytest.approx(close / float(critical))
    rare = {s: -math.log10(blind.visits[s] / blind.moves) for s, cost in costs.items() if cost}
    rarity = sum(costs[s] * digits for s, digits in rare.items())
    assert found.rarity == pytest.approx(rarity / sum(costs.values()))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_play_is_described_as_by_hand(seed):
    law, task, moves, best, legal = by_hand(seed)
    found, hand = describe(task), figures(law, moves, even(legal, moves), best)
    assert found.random_moves == pytest.approx(float(hand.moves))
    assert found.random == pytest.approx(float(hand.value), abs=1e-12)
    several = [s for s, own in enumerate(legal) if len(own) > 1]
    reached = [s for s in several if hand.visits[s]]
    assert (found.states, found.decisions) == (len(legal), len(several))
    assert found.reachable_states == sum(often > 0 for often in hand.visits)
    assert found.reachable_decisions == len(reached)
    assert found.actions * max(len(reached), 1) == sum(len(legal[s]) for s in reached)
    assert found.random_noise**2 == pytest.approx(float(hand.variance), abs=1e-12)
    values = [[q for q in worths(row, hand.values) if q is not None] for row in moves]
    by_actions = sum(
        often * sum((q - sum(own) / len(own)) ** 2 for q in own) / len(own)
        for often, own in zip(hand.visits, values, strict=True)
    )
    if hand.variance:
        share = float(by_actions / hand.variance)
        assert found.by_actions == pytest.approx(share)
        assert found.signal == pytest.approx(math.sqrt(share / hand.moves))


def test_without_choices_there_is_no_gap_and_without_choices_or_luck_no_signal():
    found = describe(make_task("FourTwoOne", dice=1, faces=2, casts=1, utility="sum"))
    assert (found.decisions, found.actions, found.forced) == (0, 0, 1)
    assert found.gap is found.close is None
    assert (found.signal, found.by_actions) == (0, 0)
    assert found.noise == found.random_noise == 0.5
    for task in (make_task("ShutTheBox", tiles=1, one_die="never"), Task(Owed())):
        found = describe(task)  # the variance of a constant payoff is rounding
        assert found.noise + found.random_noise == pytest.approx(0, abs=1e-13)
        assert found.signal is found.by_actions is None
        texts = {figure.name: figure.text(found) for figure in PROPERTIES}
        assert texts["signal"] == texts["by_actions"] == ""


def test_logarithms_are_those_of_the_library():
    numbers = np.concatenate([np.linspace(1e-9, 2, 999), [1, 0.5, 1e-300, 6.0**-30]])
    assert _log2(numbers) == pytest.approx(np.log2(numbers), rel=1e-14, abs=1e-15)
    assert (_log2(np.array([1.0, 0.5, 0.25])) == [0, -1, -2]).all()


def test_the_page_defines_every_property_in_order():
    table = (ROOT / "docs/describe.md").read_text().partition("## Opponents")[0]
    rows = [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines() if "|" in line]
    assert rows[2:] == [figure.label for figure in PROPERTIES]


def test_bits_are_the_entropies_of_the_laws_by_how_often_they_are_met():
    task = make_task("Greed", max_score=9, sides=3)
    found, met = describe(task), exactdice.occupancy("optimal", task)
    states = np.flatnonzero(met)
    laws = task.game.laws[task.game.law(states, exactdice.solve(task).policy.actions[states])]
    entropies = [-sum(p * math.log2(p) for p in law if p) for law in laws.tolist()]
    assert found.bits == pytest.approx(met[states] @ entropies / met.sum())  # of a move
