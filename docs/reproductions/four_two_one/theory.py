"""Sections 2, 3, 5 and appendix B of *Fate stochastic management and policy benchmark in 421*.

Statements over all games are checked over ranges, in exact arithmetic.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import comb

import numpy as np
from exactdice.baselines import convert, prepare
from exactdice.baselines.operators.cycles import visits
from exactdice.baselines.problem.task import Task
from exactdice.baselines.solving.evaluation import Evaluation
from exactdice.baselines.solving.solver import evaluate, solve
from exactdice.core import EXACT, Array, IntArray, Stage
from exactdice.core.dice import combinations, redundancy
from exactdice.core.sweeps import sweeps_of
from exactdice.games import FourTwoOne

from ..claim import At, Claim
from .goals import optimal_takes
from .laws import best, probability

#: The goal identification policies, by the number of casts imposed on the player (None for a first
#: player). Serendipity is for first players only.
GOAL_POLICIES = {
    None: ("goal:0,0", "goal:0,1", "goal:1,0", "goal:1,1"),
    3: ("goal:0,0", "goal:1,0"),
}


def theory_claims() -> list[Claim]:
    """List the claims."""
    parts = (_alea, _duality, _horizon, _live_dice, _independence)
    return [claim for part in parts for claim in part()]


def _alea() -> Iterator[Claim]:
    for combination, printed, ways in (((1, 2), "2/F^2", 2), ((1, 1), "1/F^2", 1)):
        holds = all(probability(f, combination) == Fraction(ways, f**2) for f in range(2, 9))
        digits = "".join(map(str, reversed(combination)))
        yield At("section 2.1").statement(
            printed=f"{digits} has the probability {printed}",
            exact="the same",
            holds=holds,
            note="F = 2 to 8",
        )
    counts = tuple(FourTwoOne().parse("421").count(face) for face in range(1, 7))
    yield At("section 2.1").statement(
        printed="421 is (1, 1, 0, 1, 0, 0) in Eulerian notation",
        exact=str(counts),
        holds=counts == (1, 1, 0, 1, 0, 0),
    )
    yield At("section 2.1, redundancy of 221").number(printed=3, exact=redundancy((1, 2, 2)))
    sizes = [(dice, faces) for dice in range(1, 6) for faces in range(1, 7)]
    yield At("equation (1)").statement(
        printed="the multinomial law sums to 1",
        holds=all(sum(probability(f, d) for d in combinations(n, f)) == 1 for n, f in sizes),
        note="D <= 5, F <= 6",
    )
    yield At("equation (43)").statement(
        printed="p(d + e_1) / p(d) = (|d| + 1) / (F (d_1 + 1)), at most 1 up to F dice",
        holds=all(
            probability(f, tuple(sorted((1, *d)))) <= probability(f, d)
            and probability(f, tuple(sorted((1, *d)))) / probability(f, d)
            == Fraction(len(d) + 1, f * (d.count(1) + 1))
            for f in range(1, 6)
            for n in range(f)
            for d in combinations(n, f)
        ),
        note="F <= 5",
    )


def _duality() -> Iterator[Claim]:
    for name in ("goal:1,0", "bernoulli:421"):
        task = Task(FourTwoOne())
        evaluation = evaluate(name, task, exact=True)
        constants = _products(evaluation)
        yield At("equation (40)").statement(
            printed="the scalar product of u_j and rho_j does not depend on the time j",
            exact=", ".join(map(str, constants)) + f" for {name}",
            holds=len(constants) == 1,
            note="transfer function, (3, 6, 3), every j",
        )


def _products(evaluation: Evaluation) -> set[Fraction]:
    """Return the sum of value times mass at each stage, with the payoffs of ended games."""
    game, paid, ended, products = evaluation.task.game, {}, Fraction(0), set()

    def pay(stage: Stage, numbers: Array) -> Array:
        # The values of later positions are 0, so ``numbers`` holds only payoffs of this move.
        paid[int(stage.states[0])] = EXACT.unscaled(numbers, stage.scale[:, None])
        return numbers[:, 0] * 0

    def follow(stage: Stage, met: Array) -> Array:
        nonlocal ended
        products.add(ended + (met * evaluation.values[stage.positions]).sum())
        weights = evaluation.policy.spread(stage.states, met, EXACT)
        ended += (weights * paid[int(stage.states[0])]).sum()
        return weights

    sweeps = sweeps_of(game)
    (block,) = sweeps.blocks(0, EXACT)
    block.backward(pay, block.gains(sweeps.values(0, pay, EXACT)), EXACT.zeros(0))
    visits(sweeps, follow, prepare(Task(game), exact=True).start_of_game, 0, EXACT)
    return {*products, ended}


def _horizon() -> Iterator[Claim]:
    utilities = ("goal:123", "goals:123,224,345", "transfer", "sum")
    tasks = [Task(FourTwoOne(casts=2, utility=utility)) for utility in utilities]
    yield At("section 5.2").statement(
        printed="with one decision left, (52) generates an optimal strategy",
        holds=all(
            evaluate("goal:1,1", task, exact=True).value == solve(task, exact=True).value
            for task in tasks
        ),
        note="J = 2, the four utilities of section 5.4",
    )
    yield At("section 5.3").statement(
        printed="revised and serendipitous, horizon h is optimal in its last h decisions",
        holds=all(last_decisions_are_optimal("goal:1,1", utility) for utility in utilities),
        note="h = 1: every state with one decision left, the four utilities of section 5.4",
    )
    losses = {
        goal: [
            best(3, 6, 3, goal, duration).value
            - evaluate(name, best(3, 6, 3, goal, duration).task, exact=True).value
            for duration, names in GOAL_POLICIES.items()
            for name in names
        ]
        for goal in ("111", "112", "123")
    }
    yield At("section 5.4").statement(
        printed="for a one-goal utility all goal identification policies are optimal",
        holds=not any(map(any, losses.values())),
        note="(3, 6, 3), every class of goals, both players",
    )


def last_decisions_are_optimal(name: str, utility: str) -> bool:
    """Return whether a policy is optimal in all states in which two of three casts are made."""
    solution = solve(Task(FourTwoOne(utility=utility)), exact=True)
    game = solution.task.game
    states = np.arange(game.num_states)
    states = states[game.observe(states, 0)[:, -1] == 2]
    actions = convert(name, game, 0).probabilities(states)
    return bool((solution.optimal[states] >= actions).all())


def _live_dice() -> Iterator[Claim]:
    sizes = [(1, 2, 3), (2, 4, 3), (3, 6, 3), (3, 6, 5), (4, 3, 4)]
    yield At("equation (56)").statement(
        printed="towards a brelan the number of live dice is binomial",
        exact="the same fractions at every cast",
        holds=all(
            law == _binomial(dice, (1 - Fraction(1, faces)) ** made)
            for dice, faces, casts in sizes
            for made, law in enumerate(live_dice_laws(dice, faces, casts, str(faces) * dice), 1)
        ),
        note=f"ratchet, first player, (D, F, J) in {sizes}",
    )


def _independence() -> Iterator[Claim]:
    """Check that one cast leaves independent dice for brelans and first players only.

    Independent dice with a common law are binomial in number.
    """
    goals = ("11", "12", "111", "112", "123", "1111", "1112", "1122", "1123", "1234")
    independent = {}
    for goal in goals:
        dice = len(goal)
        for duration in (None, 2):
            law = live_dice_laws(dice, 5, 2, goal, duration)[0]
            mean = sum((alive * chance for alive, chance in enumerate(law)), Fraction(0))
            independent[goal, duration] = law == _binomial(dice, mean / dice)
    yield At("appendix B").statement(
        printed="the Z_d are independent if and only if d* is a brelan and the player first",
        exact="true: in no other case is the number of live dice binomial",
        holds=all(
            holds == (len(set(goal)) == 1 and duration is None)
            for (goal, duration), holds in independent.items()
        ),
        note="ratchet, 2 to 4 dice, F = 5, J = 2, every class of goals",
    )
    taken = optimal_takes(best(3, 6, 3, "122"), (), (1, 1, 2), 1)
    yield At("appendix B").statement(
        printed="goal 221, cast 211: of the dice 11 one has a child if and only if the "
        "other has none",
        exact="true: one 1 and the 2 are accumulated",
        holds=taken == {(1, 2)},
        note="J = 3",
    )


def _binomial(dice: int, chance: Fraction) -> list[Fraction]:
    """Return the binomial law of the number of live dice, shape (dice + 1,)."""
    return [
        comb(dice, alive) * chance**alive * (1 - chance) ** (dice - alive)
        for alive in range(dice + 1)
    ]


def live_dice_laws(
    dice: int, faces: int, casts: int, goal: str, duration: int | None = None
) -> list[list[Fraction]]:
    """Return the laws of the number of live dice after 1, ..., ``casts`` - 1 casts of the ratchet.

    Returns:
        Probabilities of 0, 1, ..., ``dice`` live dice, after each cast.
    """
    game = FourTwoOne(dice, faces, casts, f"goal:{goal}", duration)
    policy, laws = convert(f"ratchet:{goal}", game, 0), []

    def follow(stage: Stage, met: Array) -> Array:
        living: IntArray = (game.observe(stage.states, 0)[:, dice - 1 : -1] > 0).sum(axis=1)
        law = [Fraction(met[living == alive].sum()) for alive in range(1, dice + 1)]
        laws.append([1 - sum(law, Fraction(0)), *law])
        return policy.spread(stage.states, met, EXACT)

    visits(sweeps_of(game), follow, prepare(Task(game), exact=True).start_of_game, 0, EXACT)
    return laws[1:]
