"""Section 4.2 of *Fate stochastic management and policy benchmark in 421*: result probabilities.

Equations (46) and (47) are conventions about rounds without casts or dice, and are not checked.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial

from exactdice.baselines.problem.task import Task
from exactdice.baselines.solving.evaluation import Solution
from exactdice.baselines.solving.solver import solve
from exactdice.core.dice import combinations, redundancy
from exactdice.games import FourTwoOne
from exactdice.games.four_two_one.game import Combination

from ..claim import At, Claim
from .charts import law

#: A goal of each class of three dice.
GOALS = ("111", "112", "123")


def law_claims() -> list[Claim]:
    """List the claims."""
    parts = (_result_laws, _casts, _uniqueness, _classes)
    return [claim for part in parts for claim in part()]


def probability(faces: int, combination: Combination) -> Fraction:
    """Return p(d) by equation (1)."""
    return Fraction(redundancy(combination), faces ** len(combination))


@cache
def best(dice: int, faces: int, casts: int, goal: str, duration: int | None = None) -> Solution:
    """Solve for one goal, exactly."""
    game = FourTwoOne(dice, faces, casts, f"goal:{goal}", duration)
    return solve(Task(game), exact=True)


def _result_laws() -> Iterator[Claim]:
    yield At("equation (48)").statement(
        printed="p_i(1, d*, 1, d) = p(d)",
        holds=all(
            law(goal, 1, first)["".join(map(str, result))] == [probability(6, result)]
            for goal in ("1", "11", "12", *GOALS)
            for first in (True, False)
            for result in combinations(len(goal), 6)
        ),
        note="F = 6, D <= 3, both players",
    )
    yield At("equation (49)").statement(
        printed="p_1 sums to 1 over results and casts",
        holds=all(sum(map(sum, law(goal, 3, True).values())) == 1 for goal in GOALS),
        note="(3, 6, 3)",
    )
    yield At("equation (49)").statement(
        printed="p_2 sums to 1 over results for a brelan",
        holds=all(sum(row[-1] for row in law("111", j, False).values()) == 1 for j in (1, 2, 3)),
        note="(3, 6, J), J <= 3",
    )


def _casts() -> Iterator[Claim]:
    """Compare the laws of rounds with different numbers of casts."""
    yield At("equation (49)").statement(
        printed="before the last cast only the goal comes, as likely as in a short round",
        holds=all(
            law(goal, 3, True)[goal][:j] == law(goal, j, True)[goal]
            for goal in GOALS
            for j in (1, 2)
        )
        and all(
            not any(row[:-1])
            for goal in GOALS
            for result, row in law(goal, 3, True).items()
            if result != goal
        ),
        note="(3, 6, 3)",
    )
    yield At("equation (50)").statement(
        printed="s_1(J, d) > s_2(J, d) = p_2(J, d, J, d) > p_1(J, d, J, d) for J > 1",
        holds=all(
            sum(law(goal, j, True)[goal])
            > law(goal, j, False)[goal][-1]
            > law(goal, j, True)[goal][-1]
            for goal in ("1", "11", "12", *GOALS)
            for j in (2, 3, 4)
        ),
        note="F = 6, D <= 3, J = 2 to 4",
    )


def bounds(goal: str, result: str, duration: int | None) -> tuple[Fraction, Fraction]:
    """Return the least and largest probability of a result among all optimal strategies for a goal.

    Probabilities after three casts of three dice are multiples of 6^-9. Therefore a utility of
    6^-10 for the result cannot outweigh the goal, and only chooses among optimal strategies.
    """
    aimed, met = (tuple(map(int, digits)) for digits in (goal, result))
    tiny = Fraction(1, 6**10)
    bounds = []
    for bonus in (-tiny, tiny):
        utility = partial(_preference, aimed, met, bonus)
        game = FourTwoOne(utility=utility, duration=duration)
        value = solve(Task(game), exact=True).value
        bounds.append((Fraction(value) - Fraction(best(3, 6, 3, goal, duration).value)) / bonus)
    return bounds[0], bounds[1]


def _preference(
    goal: Combination, result: Combination, bonus: Fraction, faces: Combination, _casts: int
) -> Fraction:
    """Return a utility of 1 for the goal plus ``bonus`` for the result."""
    return Fraction(faces == goal) + bonus * (faces == result)


def _uniqueness() -> Iterator[Claim]:
    couples = {
        _couple(goal, result): ("".join(map(str, goal)), "".join(map(str, result)))
        for goal in ((1, 1, 1), (1, 1, 2), (1, 2, 3))
        for result in reversed(combinations(3, 6))
    }
    ranges = {
        (goal, result, duration): bounds(goal, result, duration)
        for goal, result in couples.values()
        if goal != result
        for duration in (None, 3)
    }
    open_goals = {
        duration: {
            goal
            for (goal, _, player), (least, most) in ranges.items()
            if player == duration and least < most
        }
        for duration in (None, 3)
    }
    yield At("section 4.2").statement(
        printed="p_1 is defined everywhere: all optimal strategies give the same",
        holds=not open_goals[None],
        note="(3, 6, 3), every class of couples",
    )
    least, most = ranges["112", "113", 3]
    yield At("section 4.2").statement(
        printed="off the diagonal p_2 is defined if and only if the goal is a brelan",
        exact=f"true; for goal 112 and result 113 it is anything from {least} to {most}",
        holds=open_goals[3] == {"112", "123"},
        note="(3, 6, 3), every class of couples",
    )


def _couple(goal: Combination, result: Combination) -> frozenset[tuple[tuple[int, int], int]]:
    """Return the invariant of a couple under face permutations: the frequency of each pair."""
    pairs = ((goal.count(face), result.count(face)) for face in range(1, 7))
    return frozenset(Counter(pairs).items())


def _classes() -> Iterator[Claim]:
    every = combinations(3, 6)
    classes = {_couple(goal, result) for goal in every for result in every}
    diagonal = {_couple(goal, goal) for goal in every}
    place = "section 4.2, classes of three-die"
    yield At(f"{place} combination couples").number(printed=31, exact=len(classes))
    yield At(f"{place} combinations").number(printed=3, exact=len(diagonal))
    yield At("section 4.2").statement(
        printed="441 ~ 655", holds=_couple((1, 4, 4), (1, 4, 4)) == _couple((5, 5, 6), (5, 5, 6))
    )
    yield At("section 4.2").statement(
        printed="(421, 442) ~ (321, 211)",
        holds=_couple((1, 2, 4), (2, 4, 4)) == _couple((1, 2, 3), (1, 1, 2)),
    )
    representative = _couple((1, 2, 3), (1, 4, 4))
    yield At("appendix C, the guide's example").statement(
        printed="(641, 655) is represented by (123, 144)",
        holds=_couple((1, 4, 6), (5, 5, 6)) == representative,
    )
    yield At("appendix C, the guide's example").mistake(
        printed="the result 652 with the goal 641, in that row",
        exact="the row is that of 655",
        holds=_couple((1, 4, 6), (2, 5, 6)) == representative,
    )
