"""Chance Addis, *A Guide to Optimal Play in Greed* (2023), claim by claim.

Its figures are pictures without numbers in the text and are not listed. Statements over all
games are checked in every game with M <= ``MAX_SCORE`` and s <= ``MAX_SIDES``, in exact
arithmetic.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import comb, factorial, prod

import numpy as np

from ...games import Greed, IntArray, Move
from ...games.dice import sum_counts
from ..induction import equilibrium
from .claims import Claim, agreement, number
from .greed_last_turns import LastTurns

TITLE = "Greed: Chance Addis, A Guide to Optimal Play in Greed (2023)"
MAX_SCORE, MAX_SIDES = 25, 8
SIZES = [(m, s) for m in range(1, MAX_SCORE + 1) for s in range(1, MAX_SIDES + 1)]
RANGE = f"every game with M <= {MAX_SCORE}, s <= {MAX_SIDES}"
LAWS = [(n, s) for n in range(1, 13) for s in range(1, MAX_SIDES + 1)]
LAW_RANGE = f"n <= 12, s <= {MAX_SIDES}"


def claims() -> list[Claim]:
    """Check everything."""
    checks = (_rules, _laws, _last_turns, _normal_turns, _going_first)
    return [claim for check in checks for claim in check()]


def _rules() -> Iterator[Claim]:
    game = Greed(10, 3)
    loss = _final_payoff(game, [3, 5, 1], 1, 1)
    yield Claim(
        "section 1.1 (the other transcription, 000)", "a loser's rating is 1", f"{loss:g}",
        "garbled" if loss != 1 else "agrees", "garbled", "this transcription (001) has 0",
    )  # fmt: skip
    states = 2 * (10 + 1) ** 2
    yield Claim(
        "section 2", "two boards of (M + 1) x (M + 1) states", f"{game.num_states} for M = 10",
        agreement(game.num_states == states), "agrees",
    )  # fmt: skip
    move = _advance(game, [5, 8, 0], 2, 4)
    yield Claim(
        "section 2", "(5, 8, 0), two dice, sum 4 -> (8, 9, 0)", str(move),
        agreement(move == (8, 9, 0)), "agrees",
    )  # fmt: skip
    payoff = _final_payoff(game, [3, 5, 1], 2, 4)
    yield Claim(
        "section 2", "a roll of t in the last turn (s0, s1, 1) leads to (s0, s1 + t, 1)",
        f"the mover's own score s0 grows: at (3, 5, 1) a roll of 4 pays {payoff:g}",
        agreement(payoff == (3 > 5 + 4)), "wrong", "equation (1) has it right",
    )  # fmt: skip


def _laws() -> Iterator[Claim]:
    theorem = all(
        sum_counts(n, s) == [_theorem_1(n, s, t) for t in range(n * s + 1)] for n, s in LAWS
    )
    yield Claim(
        "section 3, Theorem 1", "pmf of the sum of n dice, by an alternating sum",
        "the same integers as by convolution", agreement(theorem), "agrees", LAW_RANGE,
    )  # fmt: skip
    lemma = {
        (n, s): [_lemma_2(n, s, t) for t in range(n * s + 1)] == sum_counts(n, s) for n, s in LAWS
    }
    yield Claim(
        "section 3, Lemma 2", "the coefficient of x^t has binomial(k - sk - 1, n - 1)",
        f"binomial(t - sk - 1, n - 1); for 2 dice with 6 sides and t = 7 the lemma counts "
        f"{_lemma_2(2, 6, 7)} rolls of {sum_counts(2, 6)[7]}",
        agreement(all(lemma.values())), "wrong",
        "t does not occur in the printed term; its proof mixes k and l; Theorem 1 is right",
    )  # fmt: skip
    means = all(_moment(n, s, 1) == Fraction(n * (s + 1), 2) for n, s in LAWS)
    yield Claim(
        "section 5, Lemma 3", "E[T] = n (s + 1) / 2", "the same", agreement(means), "agrees",
        LAW_RANGE,
    )  # fmt: skip
    variance = {(n, s): _moment(n, s, 2) - _moment(n, s, 1) ** 2 for n, s in LAWS}
    one_die = all(variance[law] == Fraction(law[1] ** 2 - 1, 12) for law in LAWS)
    yield Claim(
        "section 5, Lemma 4", "Var[T] = (s^2 - 1) / 12", f"{variance[2, 6]} for n = 2, s = 6",
        agreement(one_die), "wrong", "the lemma lost its n, as 35/12 is for one die",
    )  # fmt: skip
    all_dice = all(variance[n, s] == Fraction(n * (s**2 - 1), 12) for n, s in LAWS)
    yield Claim(
        "section 5, Lemma 4, last line of the proof", "Var[T] = n (s^2 - 1) / 12", "the same",
        agreement(all_dice), "agrees", LAW_RANGE,
    )  # fmt: skip


def _last_turns() -> Iterator[Claim]:
    games = [LastTurns(m, s) for m, s in SIZES]
    rows: list[tuple[str, str, str, Callable[[LastTurns], bool]]] = [
        ("section 4, equation (1)", "rating of n dice as a sum over the pmf",
         "the same as by the recursion over single dice", LastTurns.equation_1_holds),
        ("section 5, forfeit", "who is ahead in the last turn wins by rolling 0 dice",
         "rating 1", LastTurns.forfeit_wins),
        ("section 5, certain victory", "some n wins for sure if its sums all lie in (o, M]",
         "rating 1 there", LastTurns.certain_victory_wins),
        ("section 5, Conjecture 1",
         "above mean p + E[T] > (o + M) / 2 the rating falls as n grows",
         "true: it never rises", LastTurns.conjecture_1_holds),
        ("section 5, Conjecture 2", "the rating is unimodal in n", "true", LastTurns.is_unimodal),
        ("section 5, the algorithm", "searching from n > (M + o - 2p) / (s + 1) finds an optimum",
         "true", LastTurns.algorithm_is_optimal),
    ]  # fmt: skip
    for place, printed, exact, holds in rows:
        failing = [f"M = {game.limit}, s = {game.sides}" for game in games if not holds(game)]
        note = f"{RANGE}, every state" + (f"; fails first at {failing[0]}" if failing else "")
        yield Claim(place, printed, exact, agreement(not failing), "agrees", note)


def _normal_turns() -> Iterator[Claim]:
    game = Greed(10, 3)
    reached = sorted({_advance(game, [2, 6, 0], 2, total)[:2] for total in range(2, 7)})
    printed = [(6, 4), (6, 5), (6, 6), (6, 7)]
    yield Claim(
        "section 6", f"two dice at (2, 6), M = 10, s = 3, lead to {printed}", f"{reached}",
        agreement(reached == printed), "wrong",
        "the sum 6 of two three-sided dice is missing, and so are the weights p(5) and p(6)",
    )  # fmt: skip
    totals = {
        float(payoffs)
        for state in range(game.num_states)
        for action in range(game.num_actions)
        for move in [game.transitions(0, state, action)[1]]
        for payoffs in move.payoffs[move.over[:, 0]].sum(axis=1)
    }
    yield Claim(
        "section 6", "the two players' ratings add up to 1", "true: every end pays 1 in all",
        agreement(totals == {1.0}), "agrees", "every end of every move of M = 10, s = 3",
    )  # fmt: skip
    never = all(_nobody_behind_stops(Greed(m, s)) for m, s in SIZES)
    yield Claim(
        "section 5, forfeit", "who is behind never stops in optimal play, as that rates 0",
        "true: stopping rates 0 and some roll more", agreement(never), "agrees", RANGE,
    )  # fmt: skip
    values = equilibrium(game, exact=True).values[0][1]
    scale = game.denominators(np.arange(game.num_states))
    unweighted = sum(
        Fraction(values[state]) / scale[state]
        for state in (int(game.encode(np.array([0, total, 0]))) for total in range(2, 7))
    )
    yield Claim(
        "section 6, equation (4)", "rating of n > 0 dice: sum of 1 - rating over the totals",
        f"{float(unweighted):.4f} for two dice at (0, 0), M = 10, s = 3: no probability",
        agreement(unweighted <= 1), "wrong", "the pmf of the total is left out",
    )  # fmt: skip
    yield Claim(
        "section 6, under equation (4)", "the next state's last-turn flag is 0 if n = 1, else 0",
        "1 if n = 0, else 0", agreement(_advance(game, [5, 5, 0], 0, 0)[2] == 0), "wrong",
        "the prose of section 1.1 has it right",
    )  # fmt: skip
    order = {
        (seat, int(state)): rank
        for rank, (seat, states) in enumerate(game.stages())
        for state in states
    }
    yield Claim(
        "section 7", "in the order of growing p + o no move leads back", "true",
        agreement(all(_leads_on(game, order, seat, state) for seat, state in order)), "agrees",
        "every move of M = 10, s = 3, the last turns put behind all others",
    )  # fmt: skip
    yield from _section_7_bound()


def _section_7_bound() -> Iterator[Claim]:
    reach = {n: [t for t in range(n, 3 * n + 1) if t <= 10] for n in (6, 7)}
    yield Claim(
        "section 7", "all n above 2 (M - p) / (s + 1) have exactly the same next states",
        f"6 dice reach {reach[6]}, 7 dice {reach[7]} (M = 10, s = 3, p = 0)",
        agreement(reach[6] == reach[7]), "wrong",
        "the cutoff is sound for another reason: n + 1 dice are no likelier than n to show any "
        "sum up to n (s + 1) / 2",
    )  # fmt: skip
    sound = all(_value(Greed(m, s)) == _value(Greed(m, s, max_dice=m)) for m, s in SIZES)
    yield Claim(
        "section 7, the bound", "n up to the first above 2 (M - p) / (s + 1) are enough",
        "true: the value of the game stays the same", agreement(sound), "agrees", RANGE,
    )  # fmt: skip
    behind = np.array([0, 1, 1])
    none, one = (_value(game, behind) for game in (Greed(1, 2, max_dice=0), Greed(1, 2)))
    yield Claim(
        "section 7, the bound read as n <= 2 (M - p) / (s + 1)", "the cutoff loses no optimum",
        f"M = 1, s = 2, last turn at 0 : 1: {none} with it, {one} without",
        agreement(none == one), "wrong", "the reading allows no die there",
    )  # fmt: skip


def _going_first() -> Iterator[Claim]:
    value = _value(Greed(10, 3))
    yield number(
        "section 8, rating of going first for M = 10, s = 3", "0.54", value, "wrong",
        "no reading of the rules that we tried gives it",
    )  # fmt: skip
    yield Claim(
        "section 8", "going first is very slightly advantageous for M = 10, s = 3",
        f"by {float(value - Fraction(1, 2)):.6f}", agreement(value > Fraction(1, 2)), "agrees",
    )  # fmt: skip
    yield number(
        "section 8, by which going first improves winning against losing", "4%", 2 * value - 1,
        "wrong",
    )  # fmt: skip
    values = {(m, s): _value(Greed(m, s)) for m in range(1, 41) for s in range(1, 13)}
    (limit, sides), worst = min(values.items(), key=lambda item: item[1])
    underdogs = [m for m in range(1, 41) if values[m, 2] < Fraction(1, 2)]
    yield Claim(
        "section 8", "going first is an advantage, if that is meant for all games",
        f"not always: worst is {worst} at M = {limit}, s = {sides}",
        agreement(worst >= Fraction(1, 2)), "wrong",
        f"every game with M <= 40, s <= 12; with s = 2 the first player is the underdog in "
        f"{len(underdogs)} of them, M = {underdogs[0]} to {underdogs[-1]}",
    )  # fmt: skip


def _theorem_1(dice: int, sides: int, total: int) -> int:
    """Count by the alternating sum of Theorem 1, without its factor 1 / s^n."""
    terms = (
        (-1) ** k * comb(dice, k) * comb(total - sides * k - 1, dice - 1)
        for k in range((total - dice) // sides + 1)
    )
    return sum(terms) if total >= dice else 0


def _lemma_2(dice: int, sides: int, total: int) -> Fraction:
    """Count by Lemma 2 as printed, its binomial taken for any integer above."""
    terms = (
        (-1) ** k * comb(dice, k) * _binomial(k - sides * k - 1, dice - 1)
        for k in range((total - dice) // sides + 1)
    )
    return sum(terms, Fraction(0)) if total >= dice else Fraction(0)


def _binomial(above: int, below: int) -> Fraction:
    """Give above (above - 1) ... (above - below + 1) / below!, also for a negative number above."""
    return Fraction(prod(above - i for i in range(below)), factorial(below))


def _moment(dice: int, sides: int, power: int) -> Fraction:
    counts = sum_counts(dice, sides)
    return Fraction(sum(n * total**power for total, n in enumerate(counts)), sides**dice)


def _roll(game: Greed, observation: list[int], dice: int, total: int) -> Move:
    """Roll some dice that show a total."""
    seat, state, action, outcome = (
        np.array([number]) for number in (0, int(game.encode(np.array(observation))), dice, total)
    )
    return game.advance(seat, state, action, outcome)


def _advance(game: Greed, observation: list[int], dice: int, total: int) -> tuple[int, ...]:
    """Give the observation of the next player after a roll."""
    states = _roll(game, observation, dice, total).states
    return tuple(int(number) for number in game.observe(states, 1)[0])


def _final_payoff(game: Greed, observation: list[int], dice: int, total: int) -> float:
    """Give what a last roll pays to who rolls."""
    return float(_roll(game, observation, dice, total).payoffs[0, 0])


def _nobody_behind_stops(game: Greed) -> bool:
    """Look at the normal states in which the mover has less than the other player."""
    own, other = np.tril_indices(game.num_scores, -1)[::-1]
    states = game.encode(np.stack([own, other, np.zeros_like(own)], axis=-1))
    stopped = game.encode(np.stack([other, own, np.ones_like(own)], axis=-1))
    values = equilibrium(game, exact=True).values[0]
    return bool(np.all(values[1, stopped] == 0) and np.all(values[0, states] > 0))


def _leads_on(game: Greed, order: dict[tuple[int, int], int], seat: int, state: int) -> bool:
    for action in np.flatnonzero(game.mask(np.array([state]))[0]).tolist():
        _, move = game.transitions(seat, state, action)
        following: IntArray = move.states[~move.over[:, 0]]
        if any(order[1 - seat, int(after)] <= order[seat, state] for after in following):
            return False
    return True


def _value(game: Greed, observation: IntArray | None = None) -> Fraction:
    """Solve for the first player's rating at the start or at an observation."""
    state = game.encode(np.zeros((1, 3), int) if observation is None else observation[None])
    value = equilibrium(game, exact=True).values[0][0, state][0]
    return Fraction(value, game.denominators(state)[0])
