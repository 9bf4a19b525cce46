"""Section 4.1 of *Fate stochastic management and policy benchmark in 421*: one goal.

Statements over all games are checked over ranges, in exact arithmetic.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from math import prod

from exactdice.baselines.operators.cycles import visits
from exactdice.baselines.solving.evaluation import Solution
from exactdice.baselines.solving.solver import evaluate, occupancy
from exactdice.core import FLOATS
from exactdice.core.dice import combinations
from exactdice.games import FourTwoOne
from exactdice.games.four_two_one.game import Combination

from ..claim import At, Claim
from .laws import best, probability


def goal_claims() -> list[Claim]:
    """List the claims."""
    parts = (_ratchet, _one_decision, _either, _bernoulli, _examples, _dilemmas)
    return [claim for part in parts for claim in part()]


def _ratchet() -> Iterator[Claim]:
    failing = _exceptions(ratchet_is_optimal)
    yield At("section 4.1").statement(
        printed="with three dice and six faces the ratchet is optimal",
        exact=", ".join(failing) or "true",
        holds=not failing,
        note="J = 1 to 8, every class of goals",
    )
    failing = _exceptions(only_ratchet_is_optimal)
    yield At("section 4.1").statement(
        printed="with three dice and six faces nothing else is",
        exact=", ".join(failing) or "true",
        holds=not failing,
        note="J = 1 to 8, every class of goals",
    )
    for dice, faces, casts, goal in ((3, 3, 3, "112"), (4, 5, 3, "1112"), (3, 6, 9, "112")):
        loss = _ratchet_loss(dice, faces, casts, goal)
        optimum = best(dice, faces, casts, goal).value
        yield At("section 4.1").mistake(
            printed="the ratchet strategy is optimal if and only if D <= F",
            exact=f"not for (D, F, J) = ({dice}, {faces}, {casts}) and goal {goal}: it loses "
            f"{float(loss):.3g} of {float(optimum):.6f}",
            holds=loss == 0,
            note=f"optimum {optimum}, ratchet {optimum - loss}",
        )


def _exceptions(holds: Callable[[int, int, int, str], bool]) -> list[str]:
    """List the cases of three dice and six faces in which a statement does not hold."""
    return [
        f"J = {casts}, goal {goal}"
        for casts in range(1, 9)
        for goal in _representatives(3, 6)
        if not holds(3, 6, casts, goal)
    ]


@cache
def _ratchet_loss(dice: int, faces: int, casts: int, goal: str) -> Fraction:
    solution = best(dice, faces, casts, goal)
    value = evaluate(f"ratchet:{goal}", solution.task, exact=True).value
    return Fraction(solution.value) - Fraction(value)


def ratchet_is_optimal(dice: int, faces: int, casts: int, goal: str) -> bool:
    """Return whether the ratchet is an optimal policy for a goal."""
    return not _ratchet_loss(dice, faces, casts, goal)


def _representatives(dice: int, faces: int) -> list[str]:
    """Return one goal of each class modulo face permutations (section 4.2)."""
    classes = {
        tuple(sorted(goal.count(face) for face in set(goal))): "".join(map(str, goal))
        for goal in reversed(combinations(dice, faces))
    }
    return list(classes.values())


def only_ratchet_is_optimal(dice: int, faces: int, casts: int, goal: str) -> bool:
    """Return whether the ratchet's decisions are the only optimal ones in every state it meets."""
    solution = best(dice, faces, casts, goal)
    met = occupancy(f"ratchet:{goal}", solution.task, exact=True) > 0
    alone = solution.optimal[met].sum(axis=1) == 1
    return bool(alone.all()) and ratchet_is_optimal(dice, faces, casts, goal)


def _one_decision() -> Iterator[Claim]:
    sizes = [(dice, faces) for dice in (2, 3, 4) for faces in range(2, 7)]
    goals = {size: _representatives(*size) for size in sizes}
    note = "D = 2 to 4, F = 2 to 6, every class of goals"
    yield At("section 4.1, for J = 2").statement(
        printed="the ratchet strategy is optimal if and only if D <= F",
        holds=all(
            all(ratchet_is_optimal(dice, faces, 2, goal) for goal in goals[dice, faces])
            == (dice <= faces)
            for dice, faces in sizes
        ),
        note=note,
    )
    yield At("section 4.1, for J = 2").statement(
        printed="strictly if and only if D < F",
        holds=all(
            all(only_ratchet_is_optimal(dice, faces, 2, goal) for goal in goals[dice, faces])
            == (dice < faces)
            for dice, faces in sizes
        ),
        note=note,
    )


def _either() -> Iterator[Claim]:
    solution = best(3, 2, 2, "112")
    one, other = (
        evaluate(f"{name}:112", solution.task, exact=True).value
        for name in ("bernoulli", "ratchet")
    )
    yield At("appendix C").mistake(
        printed="optimal one-goal strategies are Bernoulli or ratchet, depending on D < F",
        exact="neither for (D, F, J) = (3, 2, 2) and goal 112: "
        f"optimum {solution.value}, Bernoulli {one}, ratchet {other}",
        holds=solution.value in (one, other),
    )


def _bernoulli() -> Iterator[Claim]:
    chance = probability(6, (1, 2, 4))
    yield At("section 4.1").statement(
        printed="the Bernoulli policy repeats independent trials until success",
        exact="it succeeds with the probability 1 - (1 - p)^J",
        holds=all(
            evaluate("bernoulli:421", best(3, 6, casts, "421").task, exact=True).value
            == 1 - (1 - chance) ** casts
            for casts in range(1, 5)
        ),
        note="(3, 6, J), J <= 4, goal 421",
    )


def optimal_takes(
    solution: Solution, held: Combination, cast: Combination, made: int
) -> set[Combination]:
    """List the faces that optimal decisions accumulate."""
    game = solution.task.game
    assert isinstance(game, FourTwoOne)
    padding = [0] * (game.dice - 1 - len(held))
    observation = [*held, *padding, *cast, *[0] * len(held), made]
    best_actions = solution.optimal_actions(observation)
    return {taken for action, taken in game.options(cast) if action in best_actions}


def _examples() -> Iterator[Claim]:
    taken = optimal_takes(best(3, 6, 3, "124"), (), (1, 5, 6), 1)
    yield At("section 4.1").statement(
        printed="goal 421, cast 651: to accumulate 1 is optimal, as p(421) < p(42)",
        exact=f"p(421) = {probability(6, (1, 2, 4))}, p(42) = {probability(6, (2, 4))}",
        holds=taken == {(1,)} and probability(6, (1, 2, 4)) < probability(6, (2, 4)),
        note="J = 3",
    )
    for combination, printed in (((1, 1), "2/8"), ((1, 1, 2), "3/8")):
        yield At(f"section 4.1, F = 2, p({''.join(map(str, combination[::-1]))})").number(
            printed=printed, exact=probability(2, combination), recorded="agrees"
        )
    taken = optimal_takes(best(3, 2, 2, "112"), (), (2, 2, 2), 1)
    yield At("section 4.1").statement(
        printed="D = 3 > F = 2, goal 211, cast 222: to replay all dice is optimal",
        exact="true, and nothing else is",
        holds=taken == {()},
        note="J = 2",
    )
    taken = optimal_takes(best(2, 2, 2, "12"), (), (1, 1), 1)
    yield At("section 4.1").statement(
        printed="D = F = 2, goal 21, cast 11: Bernoulli and ratchet are both optimal",
        holds=taken == {(), (1,)},
        note="J = 2",
    )


def _dilemmas() -> Iterator[Claim]:
    sizes = [(dice, faces) for dice in (1, 2, 3) for faces in range(3, 7)]
    yield At("section 4.1").statement(
        printed="too early: for F > 2 any one die is replayed",
        exact="true, and no more than one",
        holds=all(
            _any_one_die(best(dice, faces, casts, goal, casts), goal)
            for dice, faces in sizes
            for casts in (2, 3)
            for goal in _representatives(dice, faces)
        ),
        note="D = 1 to 3, F = 3 to 6, J = 2 and 3, every class of goals, every premature success",
    )
    yield At("section 4.1").statement(
        printed="for F > 2, and only there",
        exact="true: for (D, F, J) = (3, 2, 3) and goal 112 to replay two is as good",
        holds=not _any_one_die(best(3, 2, 3, "112", 3), "112"),
    )
    taken = optimal_takes(best(3, 6, 3, "111", 3), (), (1, 1, 1), 1)
    yield At("section 4.1").statement(
        printed="if the goal is a brelan, then no dilemma exists",
        exact="true: one decision is optimal",
        holds=taken == {(1, 1)},
        note="(3, 6, 3), goal 111",
    )
    for casts in (2, 3):
        for goal in ("123", "112", "111"):
            counted = _optimal_strategies(best(3, 6, casts, goal, casts))
            printed = len(set(goal)) ** (casts - 1)
            yield At("section 4.1").statement(
                printed="distinct faces to the power J - 1 optimal strategies, here "
                f"{printed} for goal {goal}, J = {casts}",
                exact=f"{counted}",
                holds=counted == printed,
                recorded="agrees" if casts == 2 or goal == "111" else "wrong",
                note="decisions in the states that optimal play can meet",
            )


def _any_one_die(solution: Solution, goal: str) -> bool:
    """Return whether replaying any single die is optimal whenever a goal is complete too early.

    Only the dice of the last cast can be replayed, as accumulated dice stay.
    """
    game = solution.task.game
    assert isinstance(game, FourTwoOne)
    for *seen, made in game.legs[0].turn.observations.tolist():
        held, cast = (
            tuple(face for face in part if face)
            for part in (seen[: game.dice - 1], seen[game.dice - 1 :])
        )
        if tuple(sorted(held + cast)) == game.parse(goal) and made < game.casts:
            any_one = {cast[:die] + cast[die + 1 :] for die in range(len(cast))}
            if optimal_takes(solution, held, cast, made) != any_one:
                return False
    return True


def _optimal_strategies(solution: Solution) -> int:
    """Return the number of optimal strategies, restricted to states that optimal play can meet."""
    optimal = solution.optimal
    mass, _ = visits(
        solution.problem.law,
        lambda stage, met: met[:, None] * optimal[stage.states],
        solution.problem.start_of_game,
        0,
        FLOATS,
    )
    return prod(optimal[mass[0] > 0].sum(axis=1).tolist())
