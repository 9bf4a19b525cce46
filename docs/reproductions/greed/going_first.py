"""Section 8 of *A Guide to Optimal Play in Greed*: the favoured player, and the value of a tie."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from exactdice.baselines.problem.equilibrium import equilibrium
from exactdice.baselines.problem.task import Task
from exactdice.baselines.solving.solver import expected_payoffs, solve
from exactdice.core import EXACT, Array, IntArray, Stage
from exactdice.core.sweeps import sweeps_of
from exactdice.games import Greed
from exactdice.games.greed.game import TIES

from ..claim import At, Claim
from .last_turns import last_turns
from .normal_turns import starts, totals, value_of

LIMIT, MOST_SIDES = 40, 12  # largest limit and number of sides of the games that are compared
HALF = Fraction(1, 2)
#: The result of a tie, by the value of the keyword ``tie`` of ``Greed``.
WHO = {
    "lost": "lost by both",
    "stopper": "won by who stopped",
    "chaser": "won by who takes the last turn",
}


def going_first_claims() -> Iterator[Claim]:
    """List the claims."""
    for part in (_going_first, _other_sizes, _ties):
        yield from part()


def _going_first() -> Iterator[Claim]:
    game = Greed(10, 3)
    value = value_of(game)
    slip = _value_with_last_turns(game, _labels(game))
    yield At("section 8, rating of going first for M = 10, s = 3").number(
        printed="0.54",
        exact=value,
        recorded="wrong",
        note="a slip: the author's own published table has 0.5001285115305298 at 0 : 0",
    )
    yield At("section 8, the author's published table, 0 : 0").number(
        printed="0.5001285115305298", exact=value
    )
    yield At("section 8, the same with the last turns of figure 3").number(
        printed="0.54",
        exact=slip,
        note="where the slip comes from: in 21 last turns figure 3 has no optimum, so that to stop "
        "seems better than it is",
    )
    yield At("section 8").statement(
        printed="going first is very slightly advantageous for M = 10, s = 3",
        exact=f"by {float(value - HALF):.6f}",
        holds=value > HALF,
    )
    place = "section 8, by which going first improves winning against losing"
    yield At(place).number(printed="4%", exact=2 * value - 1, recorded="wrong")
    yield At(f"{place}, from 1/2, with the last turns of figure 3").number(
        printed="4%", exact=slip - HALF
    )


def _other_sizes() -> Iterator[Claim]:
    values = {
        (m, s): start
        for s in range(1, MOST_SIDES + 1)
        for m, start in enumerate(starts(LIMIT, s), 1)
    }
    (limit, sides), worst = min(values.items(), key=lambda item: item[1])
    underdogs = [m for m in range(1, LIMIT + 1) if values[m, 2] < HALF]
    yield At("section 8").mistake(
        printed="going first is an advantage, if that is meant for all games",
        exact=f"not always: worst is {worst} at M = {limit}, s = {sides}",
        holds=worst >= HALF,
        note=f"every game with M <= {LIMIT}, s <= {MOST_SIDES}; with s = 2 the first player is the "
        f"underdog in {len(underdogs)} of them, M = {underdogs[0]} to {underdogs[-1]}",
    )


def _labels(game: Greed) -> IntArray:
    """Return the label of figure 3 for every last turn, shape (last turn,)."""
    table = last_turns(game.max_score, game.sides)
    labels = table.figure_3()
    scores = range(game.num_scores)
    rows = [table.row(game.max_score - own, other - own) for own in scores for other in scores]
    return labels[rows]


def _value_with_last_turns(game: Greed, dice: IntArray) -> Fraction:
    """Return the value of a game in which last turns are given and other turns are optimal.

    Args:
        game: the rules.
        dice: number of dice in each last turn, shape (last turn,).
    """

    def decide(stage: Stage, expected: Array) -> Array:
        mover, states = stage.positions
        if states[0] >= game.num_scores**2:
            chosen = dice[states - game.num_scores**2]
            return expected[np.arange(len(states)), chosen]
        sign = 1 if mover == 0 else -1
        return sign * EXACT.best(sign * expected, game.mask(states), 0.0)[0]

    values = EXACT.values(2, game.num_states)
    sweeps_of(game).blocks(0, EXACT)[0].backward(decide, None, EXACT.zeros(0), values)
    return values[0, 0]


def _ties() -> Iterator[Claim]:
    """Check the other ratings of a tie in section 8 ("just as bad as winning" must mean losing)."""
    half = Greed(10, 3)
    for tie in [tie for tie in TIES if tie != half.tie]:
        game = Greed(10, 3, tie=tie)
        solutions = [solve(Task(game, seat), exact=True) for seat in (0, 1)]
        valid = all(
            solve(
                Task(game, seat, solutions[1 - seat].policy.actions), exact=True
            ).value_before_play
            == solutions[seat].value_before_play
            for seat in (0, 1)
        )
        first, second = expected_payoffs("optimal", Task(game), exact=True)
        changed = (_choices(half) != _choices(game)).sum()
        yield At(f"section 8, a tie {WHO[tie]}").statement(
            printed="another rating of ties is a completely valid metric",
            exact=f"first {float(first):.6f}, second {float(second):.6f}, neither "
            f"{float(1 - first - second):.6f}; opening {solutions[0].policy.actions[0]}",
            holds=valid,
            note="M = 10, s = 3; no best response to the other's play gains anything; "
            f"{changed} of {game.num_states} decisions change",
        )
    paid = totals(Greed(10, 3, tie="lost"))
    yield At("section 8 and section 6, a tie lost by both").mistake(
        printed="the two players' ratings add up to 1",
        exact=f"not then: the ends pay {' or '.join(f'{total:g}' for total in sorted(paid))} in "
        "all, and 1 - rating is not the other's",
        holds=paid == {1.0},
        note="the printed words, just as bad as winning, must mean losing",
    )


def _choices(game: Greed) -> IntArray:
    """Return the number of dice that the equilibrium rolls in each state, shape (state,)."""
    return equilibrium(game, exact=True).policies[0].actions
