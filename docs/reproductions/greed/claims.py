"""Chance Addis, *A Guide to Optimal Play in Greed* (2023), claim by claim: rules and laws.

Last turns (sections 4 and 5) are in ``last_turns``, normal turns in ``normal_turns``, the favoured
player in ``going_first``. Figures 1 and 2 are pictures without numbers and are not listed.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import comb, factorial, prod

from exactdice.core import InputError
from exactdice.core.dice import sum_counts
from exactdice.games import Greed

from ..claim import At, Claim
from .going_first import going_first_claims
from .last_turn_claims import last_turn_claims
from .normal_turns import advance, final_payoff, normal_turn_claims

TITLE = "Greed: Chance Addis, A Guide to Optimal Play in Greed (2023)"
MAX_SIDES = 8
LAWS = [(n, s) for n in range(1, 13) for s in range(1, MAX_SIDES + 1)]
LAW_RANGE = f"n <= 12, s <= {MAX_SIDES}"


def claims() -> list[Claim]:
    """List the claims."""
    own = (_rules, _generating_functions, _laws, _moments)
    parts = (*own, last_turn_claims, normal_turn_claims, going_first_claims)
    return [claim for part in parts for claim in part()]


def _rules() -> Iterator[Claim]:
    game = Greed(10, 3)
    loss = final_payoff(game, [3, 5, 1], 1, 1)
    yield Claim(
        place="section 1.1 (the other transcription, 000)",
        printed="a loser's rating is 1",
        exact=f"{loss:g}",
        verdict="garbled" if loss != 1 else "agrees",
        recorded="garbled",
        note="this transcription (001) has 0",
    )
    yield At("section 1.1").mistake(
        printed="the analysis extends to any s and M from 0 on",
        exact="a die without sides shows nothing: s must be at least 1",
        holds=_is_a_game(1, 0),
        note="M = 0 leaves nothing to decide; M and s from 1 on",
    )
    states = 2 * (10 + 1) ** 2
    yield At("section 2").statement(
        printed="two boards of (M + 1) x (M + 1) states",
        exact=f"{game.num_states} for M = 10",
        holds=game.num_states == states,
    )
    move = advance(game, [5, 8, 0], 2, 4)
    yield At("section 2").statement(
        printed="(5, 8, 0), two dice, sum 4 -> (8, 9, 0)", exact=str(move), holds=move == (8, 9, 0)
    )
    payoff = final_payoff(game, [3, 5, 1], 2, 4)
    yield At("section 2").mistake(
        printed="a roll of t in the last turn (s0, s1, 1) leads to (s0, s1 + t, 1)",
        exact=f"the mover's own score s0 grows: at (3, 5, 1) a roll of 4 pays {payoff:g}",
        holds=payoff == (3 > 5 + 4),
        note="equation (1) has it right",
    )


def _is_a_game(limit: int, sides: int) -> bool:
    try:
        Greed(limit, sides)
    except InputError:
        return False
    return True


def _laws() -> Iterator[Claim]:
    """Check section 3."""
    yield At("section 3, Theorem 1").statement(
        printed="pmf of the sum of n dice, by an alternating sum",
        exact="the same integers as by convolution",
        holds=all(
            sum_counts(n, s) == [_theorem_1(n, s, t) for t in range(n * s + 1)] for n, s in LAWS
        ),
        note=LAW_RANGE,
    )
    lemma = {
        (n, s): [_lemma_2(n, s, t) for t in range(n * s + 1)] == sum_counts(n, s) for n, s in LAWS
    }
    yield At("section 3, Lemma 2").mistake(
        printed="the coefficient of x^t has binomial(k - sk - 1, n - 1)",
        exact=f"binomial(t - sk - 1, n - 1); for 2 dice with 6 sides and t = 7 the lemma counts "
        f"{_lemma_2(2, 6, 7)} rolls of {sum_counts(2, 6)[7]}",
        holds=all(lemma.values()),
        note="t does not occur in the printed term; its proof mixes k and l; Theorem 1 is right",
    )


def _moments() -> Iterator[Claim]:
    """Check the moments of section 5."""
    yield At("section 5, Lemma 3").statement(
        printed="E[T] = n (s + 1) / 2",
        exact="the same",
        holds=all(_moment(n, s, 1) == Fraction(n * (s + 1), 2) for n, s in LAWS),
        note=LAW_RANGE,
    )
    yield At("section 5, proof of Lemma 4").statement(
        printed="E[D^2] = (s + 1) (2s + 1) / 6",
        exact="the same",
        holds=all(_moment(1, s, 2) == Fraction((s + 1) * (2 * s + 1), 6) for _, s in LAWS),
        note=f"s <= {MAX_SIDES}",
    )
    variance = {(n, s): _moment(n, s, 2) - _moment(n, s, 1) ** 2 for n, s in LAWS}
    yield At("section 5, Lemma 4").mistake(
        printed="Var[T] = (s^2 - 1) / 12",
        exact=f"{variance[2, 6]} for n = 2, s = 6",
        holds=all(variance[law] == Fraction(law[1] ** 2 - 1, 12) for law in LAWS),
        note="the lemma lost its n, as 35/12 is for one die",
    )
    yield At("section 5, Lemma 4, last line of the proof").statement(
        printed="Var[T] = n (s^2 - 1) / 12",
        exact="the same",
        holds=all(variance[n, s] == Fraction(n * (s**2 - 1), 12) for n, s in LAWS),
        note=LAW_RANGE,
    )


def _generating_functions() -> Iterator[Claim]:
    small = [(n, s) for n in range(1, 5) for s in range(1, 7)]
    yield At("section 3, Lemma 1").statement(
        printed="M_T = (e^t + e^2t + ... + e^st)^n / s^n",
        exact="the same as the mean of e^tT over all rolls",
        holds=all(
            sum(x ** sum(roll) for roll in product(range(1, s + 1), repeat=n))
            == sum(x**face for face in range(1, s + 1)) ** n
            for n, s in small
            for x in range(1, n * s + 3)
        ),
        note="n <= 4, s <= 6, as polynomials in e^t: at more values than their degree",
    )
    yield At("section 3, proof of Lemma 2").mistake(
        printed="(x^s + 1)^n = sum of binomial(n, i) x^si (-1)^(n - i)",
        exact=f"of (x^s - 1)^n: at x = 2, n = 1, s = 6 the sum is {2**6 - 1}, the power {2**6 + 1}",
        holds=2**6 - 1 == 2**6 + 1,
        note="a slip of sign; the line before has x^s - 1",
    )


def _theorem_1(dice: int, sides: int, total: int) -> int:
    """Count the rolls with a total by the alternating sum of Theorem 1, without 1 / s^n."""
    terms = (
        (-1) ** k * comb(dice, k) * comb(total - sides * k - 1, dice - 1)
        for k in range((total - dice) // sides + 1)
    )
    return sum(terms) if total >= dice else 0


def _lemma_2(dice: int, sides: int, total: int) -> Fraction:
    """Count the rolls with a total by Lemma 2 as printed, even if its binomials are negative."""
    terms = (
        (-1) ** k * comb(dice, k) * _binomial(k - sides * k - 1, dice - 1)
        for k in range((total - dice) // sides + 1)
    )
    return sum(terms, Fraction(0)) if total >= dice else Fraction(0)


def _binomial(above: int, below: int) -> Fraction:
    """Return above (above - 1) ... (above - below + 1) / below!, for negative ``above``, too."""
    return Fraction(prod(above - i for i in range(below)), factorial(below))


def _moment(dice: int, sides: int, power: int) -> Fraction:
    counts = sum_counts(dice, sides)
    return Fraction(sum(n * total**power for total, n in enumerate(counts)), sides**dice)
