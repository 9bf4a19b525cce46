"""The equations and statements of *Fate stochastic management and policy benchmark in 421*.

Statements over all games are checked over ranges, in exact arithmetic.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from math import comb, prod

from ...games import FourTwoOne, IntArray
from ...games.dice import combinations, redundancy
from ...games.ranking import Combination
from ..induction import spread
from ..names import resolve
from ..solver import Solution, evaluate, solve
from ..task import Task, start_mass
from .claims import Claim, agreement, number
from .four_two_one_charts import law


def theory_claims() -> list[Claim]:
    """Check everything."""
    parts = (_alea, _ratchet, _examples, _dilemmas, _result_laws, _classes, _duality, _horizon,
             _live_dice)  # fmt: skip
    return [claim for part in parts for claim in part()]


def probability(faces: int, combination: Combination) -> Fraction:
    """Give p(d) by equation (1)."""
    return Fraction(redundancy(combination), faces ** len(combination))


@cache
def best(dice: int, faces: int, casts: int, goal: str, duration: int | None = None) -> Solution:
    """Solve for one goal, exactly."""
    game = FourTwoOne(dice, faces, casts, f"goal:{goal}", duration)
    return solve(Task(game, exact=True), exact=True)


def _alea() -> Iterator[Claim]:
    for combination, printed, ways in (((1, 2), "2/F^2", 2), ((1, 1), "1/F^2", 1)):
        holds = all(probability(f, combination) == Fraction(ways, f**2) for f in range(2, 9))
        digits = "".join(map(str, reversed(combination)))
        yield Claim(
            "section 2.1", f"{digits} has the probability {printed}", "the same",
            agreement(holds), "agrees", "F = 2 to 8",
        )  # fmt: skip
    yield number("section 2.1, redundancy of 221", "3", Fraction(redundancy((1, 2, 2))), "agrees")
    sizes = [(dice, faces) for dice in range(1, 6) for faces in range(1, 7)]
    total = all(sum(probability(f, d) for d in combinations(n, f)) == 1 for n, f in sizes)
    yield Claim(
        "equation (1)", "the multinomial law sums to 1", "true", agreement(total), "agrees",
        "D <= 5, F <= 6",
    )  # fmt: skip
    falls = all(
        probability(f, tuple(sorted((1, *d)))) <= probability(f, d)
        and probability(f, tuple(sorted((1, *d)))) / probability(f, d)
        == Fraction(len(d) + 1, f * (d.count(1) + 1))
        for f in range(1, 6) for n in range(f) for d in combinations(n, f)
    )  # fmt: skip
    yield Claim(
        "equation (43)", "p(d + e_1) / p(d) = (|d| + 1) / (F (d_1 + 1)), at most 1 up to F dice",
        "true", agreement(falls), "agrees", "F <= 5",
    )  # fmt: skip


def _ratchet() -> Iterator[Claim]:
    holding = [
        (dice, faces, casts) for dice, faces, casts in [(3, 6, j) for j in range(1, 9)]
        if all(not _ratchet_loss(dice, faces, casts, goal) for goal in ("111", "112", "123"))
    ]  # fmt: skip
    yield Claim(
        "section 4.1", "with three dice and six faces the ratchet is optimal",
        f"true for J = {holding[0][2]} to {holding[-1][2]}, for every class of goals",
        agreement([casts for _, _, casts in holding] == list(range(1, 9))), "agrees",
    )  # fmt: skip
    for dice, faces, casts, goal in ((3, 3, 3, "112"), (4, 5, 3, "1112"), (3, 6, 9, "112")):
        loss = _ratchet_loss(dice, faces, casts, goal)
        optimum = best(dice, faces, casts, goal).value
        yield Claim(
            "section 4.1", "the ratchet strategy is optimal if and only if D <= F",
            f"not for (D, F, J) = ({dice}, {faces}, {casts}) and goal {goal}: it loses "
            f"{float(loss):.3g} of {float(optimum):.6f}",
            agreement(loss == 0), "wrong", f"optimum {optimum}, ratchet {optimum - loss}",
        )  # fmt: skip


def _ratchet_loss(dice: int, faces: int, casts: int, goal: str) -> Fraction:
    solution = best(dice, faces, casts, goal)
    value = evaluate(f"ratchet:{goal}", solution.task, exact=True).value
    return Fraction(solution.value) - Fraction(value)


def _optimal_takes(
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
    taken = _optimal_takes(best(3, 6, 3, "124"), (), (1, 5, 6), 1)
    yield Claim(
        "section 4.1", "goal 421, cast 651: to accumulate 1 is optimal, as p(421) < p(42)",
        f"p(421) = {probability(6, (1, 2, 4))}, p(42) = {probability(6, (2, 4))}",
        agreement(taken == {(1,)} and probability(6, (1, 2, 4)) < probability(6, (2, 4))),
        "agrees", "J = 3",
    )  # fmt: skip
    for combination, printed in (((1, 1), "2/8"), ((1, 1, 2), "3/8")):
        place = f"section 4.1, F = 2, p({''.join(map(str, combination[::-1]))})"
        yield number(place, printed, probability(2, combination), "agrees")
    taken = _optimal_takes(best(3, 2, 2, "112"), (), (2, 2, 2), 1)
    yield Claim(
        "section 4.1", "D = 3 > F = 2, goal 211, cast 222: to replay all dice is optimal",
        "true, and nothing else is", agreement(taken == {()}), "agrees", "J = 2",
    )  # fmt: skip
    taken = _optimal_takes(best(2, 2, 2, "12"), (), (1, 1), 1)
    yield Claim(
        "section 4.1", "D = F = 2, goal 21, cast 11: Bernoulli and ratchet are both optimal",
        "true", agreement(taken == {(), (1,)}), "agrees", "J = 2",
    )  # fmt: skip


def _dilemmas() -> Iterator[Claim]:
    dilemma = _optimal_takes(best(3, 6, 3, "123", 3), (), (1, 2, 3), 1)
    yield Claim(
        "section 4.1", "too early: any one die is replayed", "true, and no more than one",
        agreement(dilemma == {(1, 2), (1, 3), (2, 3)}), "agrees", "(3, 6, 3), goal 123",
    )  # fmt: skip
    for casts in (2, 3):
        for goal in ("123", "112"):
            counted = _optimal_strategies(best(3, 6, casts, goal, casts))
            printed = len(set(goal)) ** (casts - 1)
            yield Claim(
                "section 4.1", "distinct faces to the power J - 1 optimal strategies, here "
                f"{printed} for goal {goal}, J = {casts}", f"{counted}",
                agreement(counted == printed), "agrees" if casts == 2 else "wrong",
                "decisions in the states that optimal play can meet",
            )  # fmt: skip


def _optimal_strategies(solution: Solution) -> int:
    """Multiply the numbers of optimal decisions over all states that optimal play can meet."""
    game, optimal = solution.task.game, solution.optimal
    mass = start_mass(game)
    for mover, states, weights in game.forward(mass, 0):
        weights[:] = mass[mover, states][:, None] * optimal[states]
    return prod(optimal[mass[0] > 0].sum(axis=1).tolist())


def _result_laws() -> Iterator[Claim]:
    goals = ("111", "112", "123")
    sums = all(sum(map(sum, law(goal, 3, True).values())) == 1 for goal in goals)
    yield Claim(
        "equation (49)", "p_1 sums to 1 over results and casts", "true", agreement(sums), "agrees",
        "(3, 6, 3)",
    )  # fmt: skip
    brelan = all(sum(row[-1] for row in law("111", j, False).values()) == 1 for j in (1, 2, 3))
    yield Claim(
        "equation (49)", "p_2 sums to 1 over results for a brelan", "true", agreement(brelan),
        "agrees", "(3, 6, J), J <= 3",
    )  # fmt: skip
    early = all(
        law(goal, 3, True)[goal][:j] == law(goal, j, True)[goal] for goal in goals for j in (1, 2)
    ) and all(
        not any(row[:-1]) for goal in goals for result, row in law(goal, 3, True).items()
        if result != goal
    )  # fmt: skip
    yield Claim(
        "equation (49)", "before the last cast only the goal comes, as likely as in a short round",
        "true", agreement(early), "agrees", "(3, 6, 3)",
    )  # fmt: skip
    ordered = all(
        sum(law(goal, j, True)[goal]) > law(goal, j, False)[goal][-1] > law(goal, j, True)[goal][-1]
        for goal in goals for j in (2, 3)
    )  # fmt: skip
    yield Claim(
        "equation (50)", "s_1(J, d) > s_2(J, d) > p_1(J, d, J, d) for J > 1", "true",
        agreement(ordered), "agrees", "(3, 6, J), J = 2, 3",
    )  # fmt: skip


def _couple(goal: Combination, result: Combination) -> frozenset[tuple[tuple[int, int], int]]:
    """Give what face permutations leave of a couple: how often which pair of counts occurs."""
    pairs = ((goal.count(face), result.count(face)) for face in range(1, 7))
    return frozenset(Counter(pairs).items())


def _classes() -> Iterator[Claim]:
    every = combinations(3, 6)
    classes = {_couple(goal, result) for goal in every for result in every}
    diagonal = {_couple(goal, goal) for goal in every}
    place = "section 4.2, classes of three-die"
    yield number(f"{place} combination couples", "31", Fraction(len(classes)), "agrees")
    yield number(f"{place} combinations", "3", Fraction(len(diagonal)), "agrees")
    representative = _couple((1, 2, 3), (1, 4, 4))
    yield Claim(
        "appendix C, the guide's example", "(641, 655) is represented by (123, 144)", "true",
        agreement(_couple((1, 4, 6), (5, 5, 6)) == representative), "agrees",
    )  # fmt: skip
    yield Claim(
        "appendix C, the guide's example", "the result 652 with the goal 641, in that row",
        "the row is that of 655", agreement(_couple((1, 4, 6), (2, 5, 6)) == representative),
        "wrong",
    )  # fmt: skip


def _duality() -> Iterator[Claim]:
    for name in ("goal:1,0", "bernoulli:421"):
        task = Task(FourTwoOne(), exact=True)
        game, evaluation = task.game, evaluate(name, task, exact=True)
        policy, mass = resolve(name, game, 0), start_mass(game, exact=True)
        paid = {int(states[0]): numbers for _, states, numbers in game.backward(mass * 0, 0)}
        ended, constants = Fraction(0), set()
        for mover, states, weights in game.forward(mass, 0):
            scale = game.denominators(states)
            living = (mass[mover, states] * evaluation.values[mover, states] / scale).sum()
            constants.add(ended + living)
            weights[:] = spread(policy, states, mass[mover, states])
            ended += ((weights * paid[int(states[0])]).sum(axis=1) / scale).sum()
        constants.add(ended)
        yield Claim(
            "equation (40)", "the scalar product of u_j and rho_j does not depend on the time j",
            ", ".join(map(str, constants)) + f" for {name}", agreement(len(constants) == 1),
            "agrees", "transfer function, (3, 6, 3), every j",
        )  # fmt: skip


def _horizon() -> Iterator[Claim]:
    utilities = ("goal:123", "goals:123,224,345", "transfer", "sum")
    tasks = [Task(FourTwoOne(casts=2, utility=utility), exact=True) for utility in utilities]
    last = all(
        evaluate("goal:1,1", task, exact=True).value == solve(task, exact=True).value
        for task in tasks
    )
    yield Claim(
        "section 5.2", "with one decision left, (52) generates an optimal strategy", "true",
        agreement(last), "agrees", "J = 2, the four utilities of section 5.4",
    )  # fmt: skip


def _live_dice() -> Iterator[Claim]:
    sizes = [(1, 2, 3), (2, 4, 3), (3, 6, 3), (3, 6, 5), (4, 3, 4)]
    yield Claim(
        "equation (56)", "towards a brelan the number of live dice is binomial",
        "the same fractions at every cast", agreement(all(_is_binomial(*size) for size in sizes)),
        "agrees", f"ratchet, (D, F, J) in {sizes}",
    )  # fmt: skip


def _is_binomial(dice: int, faces: int, casts: int) -> bool:
    """Compare the law of live dice before each cast but the first with equation (56)."""
    goal = str(faces) * dice
    game = FourTwoOne(dice, faces, casts, f"goal:{goal}")
    mass, policy = start_mass(game, exact=True), resolve(f"ratchet:{goal}", game, 0)
    stays = 1 - Fraction(1, faces)
    for made, (mover, states, weights) in enumerate(game.forward(mass, 0)):
        weights[:] = spread(policy, states, mass[mover, states])
        if made:
            living: IntArray = (game.observe(states, 0)[:, dice - 1 : -1] > 0).sum(axis=1)
            for number_alive in range(1, dice + 1):
                reached = mass[mover, states[living == number_alive]].sum()
                chance = stays**made
                binomial = comb(dice, number_alive) * chance**number_alive
                if reached != binomial * (1 - chance) ** (dice - number_alive):
                    return False
    return True
