"""All figures of random small laws, against a computation by hand that shares no code.

``python tests/law_by_hand.py 12000`` compares many more laws.
"""

from fractions import Fraction

import pytest
from exactdice.baselines.operators import mdp, systems
from law_by_hand import compare
from law_figures import figures, flat, optimum, pure
from random_laws import MODES, ONE, ZERO, Law, draw_law, read_payment, stands_for
from thinning import every_third

import exactdice

HALF = Fraction(1, 2)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("mode", every_third(MODES))
def test_all_figures_of_random_laws_are_those_by_hand(mode, seed):
    assert compare(draw_law(mode, seed), seed) == []


@pytest.mark.parametrize(("mode", "seed"), [("illegal", 20), ("mixed", 23), ("cycles", 0)])
def test_small_laws_have_the_same_figures_the_way_of_large_ones(mode, seed, monkeypatch):
    """A guess comes first, and sweeps: play may circle for nothing, values be small or large."""
    monkeypatch.setattr(systems, "FEW", 0)
    monkeypatch.setattr(mdp, "FEW", 0)
    assert compare(draw_law(mode, seed), seed) == []


def law_of(rows, start=0, **limits):
    """Read a law of floats: of each state and action (chance, next state, payment, over)."""

    def read(cell):
        chances = stands_for([chance for chance, *_ in cell])
        return [
            (chance, to, paid if isinstance(paid, Fraction) else read_payment(paid), over)
            for chance, (_, to, paid, over) in zip(chances, cell, strict=True)
        ]

    ways = [[read(cell) for cell in row] for row in rows]
    chances = [int(state == start) for state in range(len(rows))] if start in (0, 1) else start
    return Law(ways, list(map(Fraction, chances)), **limits)


def stay(here, cost, chance, on=None):
    """Pay, and end with a small chance, or else go on."""
    after, ends = here if on is None else on, Fraction(chance, 10**4)
    return [(1 - ends, after, -cost, False), (ends, here, -cost, True)]


TIE = [(1, 1, -1e6, True)]
SEVENTH, SMALL = 0.14285714285714285, 0.00010896315584281213
ROUNDING = [
    [
        [(0.9999996516722991, 1, 0, False), (1.27980683186653e-07, 1, 0, False),
         (2.2034701777313347e-07, 2, 0, False)],
        [(0.9999978242631921, 0, 0, False), (4.841607537004281e-07, 1, 1, True),
         (9.89814542899254e-07, 0, 0, False), (7.017615113327965e-07, 0, 0, False)],
    ],
    [
        [(0.9999990685454438, 1, 0, False), (5.249464206125941e-07, 0, 0, False),
         (4.065081355689778e-07, 1, 0, False)],
        [(0.9999999999989693, 1, -1, True), (9.382675094951487e-14, 0, 0, False),
         (7.447129181407574e-13, 2, 0, False), (1.9221223439135282e-13, 2, 0, False)],
    ],
    [
        [(0.9999999986620706, 1, 0, False), (2.346629527140125e-10, 1, 0, False),
         (5.411904886361395e-10, 1, 0, False), (5.620759984118883e-10, 0, 0, False)],
        [(1, 2, 0, False)],
    ],
]  # fmt: skip
NEVER = [[[(1, 0, 0, False)], [(1, 0, -1, True)]]]
WORST = [[[(1, 1, -0.5, False)], []], [[(1, 0, -2, True)], []]]
#: Laws where a wrong number or a false word once came out.
EDGES = {
    "a third": law_of([[[(Fraction(1, 3), 0, 0, False), (Fraction(2, 3), 0, 1 / 7, True)]]]),
    "never to end is worth nothing": law_of(NEVER),
    "and so it is for nine moves": law_of(NEVER, horizon=9),
    "and with a discount": law_of(NEVER, gamma=HALF),
    "settles, and is paid what it has got": law_of([
        [[(1, 1, 5, False)], [(1, 0, 7, True)]], [[(1, 1, 0, False)], [(1, 0, -6, False)]],
    ]),
    "random play is optimal, and a circle not": law_of([[[(1, 0, 0, False)], [(1, 0, 1, True)]]]),
    "games end by a mistake": law_of([[[(1, 0, 0, False)], [(1, 0, 1, True)], [(1, 0, 0, True)]]]),
    "an illegal action that pays nothing ends a circle": law_of(
        [[[(1, 0, 0, False)], []], [[(1, 1, 1, True)], [(1, 0, 0, True)]]], [0.5, 0.5]
    ),
    "differences of 2e-7, beside payoffs of -1e6": law_of([
        [[(0.5, 0, 0, False), (0.5, 0, paid, True)] for paid in (1, 1 + 2e-7)], [TIE, TIE],
    ]),
    "ways of 10,000 moves that floats cannot tell apart": law_of([
        [[(1, 1, 0, False)], [(1, 2, 0, False)]], [stay(1, 1, 1), stay(1, 1, 1)],
        [stay(2, 3, 3), stay(2, 3, 3, 3)], [stay(3, 3, 3, 2), stay(3, 3, 3)],
    ]),
    "the only policy": law_of([
        [[(0.5085144595792918, 0, SEVENTH, True), (0.4914855404207083, 0, SEVENTH, False)]],
        [[(1 - SMALL, 1, SEVENTH, False), (SMALL, 0, 0.0, False)]],
    ], 1),
    **{
        f"payoffs are all {float(paid):g} with discount {gamma}": law_of(
            [[[(1, 1, paid, False)]], [[(0.5, 1, 0, False), (0.5, 1, 0, True)]]], gamma=gamma
        )
        for paid, gamma in ((0.1, ZERO), (1 / 3, HALF), (Fraction("-1e8") - 3 * ONE / 10**5, ONE))
    },
    "payoffs differ by little": law_of([[[(1, 0, 100, True)], [(1, 0, 100.00001, True)]]]),
    "a move met once": law_of([[[(1, 1, -1, False)]] * 2, [[(1, 1, 0, False)], [(1, 1, 0, True)]]]),
    "a cost beside a larger": law_of([[[(1, 0, -1e-3, False)], [(1, 0, -0.1, True)]], [TIE] * 2]),
    "a cost below the last digit": law_of([[[(1, 0, -1e7, True)], [(1, 0, -1e-9, False)]]]),
    "a chance below the last digit": law_of([[[(1 - 1e-20, 0, 0, False), (1e-20, 0, 1, True)]]]),
    "rounding that looked like an improvement": law_of(ROUNDING, [Fraction(1, 3)] * 3),
    "an illegal action pays the worst after what was paid": law_of(WORST),
    "and within three moves": law_of(WORST, horizon=3),
    **{
        f"two who take 1 from each other in turn, with discount {gamma}": law_of(
            [[[(1, to, paid, False)] for paid in (0, 1)] for to in (1, 0)],
            gamma=gamma, movers=[0, 1],
        )
        for gamma in (HALF, Fraction(9, 10))
    },
}  # fmt: skip
#: Policies of one state, beside those that are drawn.
CIRCLES = [[1, 0, 0], [HALF, 0, HALF], [HALF, HALF, 0], [HALF, HALF / 2, HALF / 2]]
GIVEN = {"games end by a mistake": CIRCLES}


@pytest.mark.parametrize("name", every_third(EDGES))
def test_all_figures_of_laws_at_the_edge_are_those_by_hand(name):
    found = compare(EDGES[name], more=[[row] for row in GIVEN.get(name, [])])
    assert not found, "\n".join(found)


def test_the_figures_by_hand_are_those_of_a_law_that_is_done_on_paper():
    """Action 0 ends with 1 or comes back, action 1 circles for ever in state 1, worth 0."""
    toss, leave = [(HALF, 0, ONE, True), (HALF, 0, ZERO, False)], [(ONE, 1, ZERO, False)]
    law = Law([[toss, leave], [leave, [(ONE, 0, ZERO, False)]]], [ONE, ZERO])
    best = optimum(law)
    assert best.values == [1, 1]
    assert not best.must
    half = [[HALF, HALF], pure(0, law.ways[1])]  # tosses or leaves, and then stays there
    found, third = figures(law, flat(law), half, best), Fraction(1, 3)
    assert found.visits == [4 * third, 2 * third]
    assert (found.value, found.flawless, found.mistakes) == (third, third, 2 * third)
    assert found.variance == 2 * third**2


def test_a_wrong_figure_is_found(monkeypatch):
    law = draw_law("limits", 0)
    occupancy = exactdice.occupancy
    monkeypatch.setattr(exactdice, "occupancy", lambda *given: 2 * occupancy(*given))
    assert any("occupancy" in said for said in compare(law))
