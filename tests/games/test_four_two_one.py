"""421: tables of its source, words and policies; ``test_random_sizes`` has its rules by hand."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from by_hand_turns import FourTwoOneByHand
from exactdice.baselines import Task, is_policy_name
from exactdice.games import FourTwoOne, present
from exactdice.games.four_two_one.game import hierarchy, tokens
from exactdice.games.four_two_one.policies import result_law

import exactdice

GAME = FourTwoOne()


def test_the_hierarchy_is_equation_54_and_the_tokens_are_table_5():
    named = "421 111 611 666 511 555 411 444 311 333 211 222 654 543 432 321"
    others = (
        "665 664 663 662 661 655 653 652 651 644 643 642 641 633 632 631 622 621 554 553 552 551 "
        "544 542 541 533 532 531 522 521 443 442 441 433 431 422 332 331 322 221"
    )
    ranks = dict(zip(GAME.combinations, hierarchy(6).tolist(), strict=True))
    order = sorted(ranks, key=ranks.get, reverse=True)
    names = ["".join(map(str, reversed(combination))) for combination in order]
    assert len(names) == 56
    assert names == [*named.split(), *others.split()]
    table = {"421": 10, "111": 7, "611": 6, "222": 2, "321": 2, "221": 1, "655": 1}
    assert {name: tokens(tuple(sorted(map(int, name)))) for name in table} == table


def test_a_utility_may_be_a_function_or_a_table():
    late = FourTwoOne(2, 3, 2, lambda result, casts: Fraction(sum(result), 3) + casts)
    table = FourTwoOne(2, 3, 2, late.utilities.tolist())
    assert late == table
    assert late != FourTwoOne(2, 3, 2, late.utilities * 2)
    assert late.payoff_range == (pytest.approx(1 + 2 / 3), 4)
    assert late.exact_range == (Fraction(5, 3), 4)
    last, zero = late.encode(np.array([[0, 1, 3, 2]])), np.zeros(1, dtype=int)
    (stop,) = np.flatnonzero(late.mask(last)[0])
    move = late.exact_advance(zero, last, zero + stop, zero)
    assert move.payoffs.tolist() == [[Fraction(10, 3)]]
    assert FourTwoOne(2, 3, 2, np.ones((6, 2))).payoff_range == (1, 1)


SET = {"utility": "set"}


@pytest.mark.parametrize(
    ("keywords", "seen", "words"),
    [
        ({}, [0, 0, 1, 2, 3, 1], "the first cast of at most three"),
        ({}, [2, 4, 6, 0, 0, 3], "the third and last cast"),
        ({"casts": 1}, [0, 0, 1, 2, 3, 1], "the only cast"),
        (SET, [0, 0, 1, 2, 3, 1, 2, 55], "the first cast of two, 4 2 1 to beat"),
        (SET, [2, 4, 6, 0, 0, 2, 2, 54], "the second and last cast, 1 1 1 to beat"),
    ],
)
def test_a_position_reads_as_a_sentence(keywords, seen, words):
    aside, rolled = ("4 2", "6") if seen[0] else ("nothing", "3 2 1")
    told = present(FourTwoOne(**keywords)).describe(np.array(seen))
    assert told == f"{aside} put aside, rolled {rolled} on {words}"


def ratchet(goal):
    def play(seen, actions):
        held, cast, *_ = seen
        useful = tuple(sorted(((Counter(goal) - Counter(held)) & Counter(cast)).elements()))
        if useful in actions:
            return {useful: Fraction(1)}
        return {cast if cast in actions else useful[:-1]: Fraction(1)}

    return play


def bernoulli(goal):
    def play(seen, actions):
        held, cast, *_ = seen
        done = tuple(sorted(held + cast)) == goal and cast in actions
        return {cast if done or () not in actions else (): Fraction(1)}

    return play


@pytest.mark.parametrize(("dice", "faces", "casts", "goal"), [(2, 4, 3, "12"), (3, 4, 3, "112")])
@pytest.mark.parametrize("duration", [None, 2, 3])
@pytest.mark.parametrize(("name", "by_hand"), [("ratchet", ratchet), ("bernoulli", bernoulli)])
def test_ratchet_and_bernoulli_play_as_described(dice, faces, casts, goal, duration, name, by_hand):
    wanted = tuple(map(int, goal))
    game = FourTwoOne(dice, faces, casts, f"goal:{goal}", duration)
    rules = [by_hand(wanted)], lambda result, _: result == wanted, duration
    hand = FourTwoOneByHand(dice, faces, casts, *rules)
    value = exactdice.evaluate(f"{name}:{goal}", Task(game), exact=True).value
    assert (value,) == hand.start()
    assert value <= exactdice.solve(Task(game), exact=True).value


UNDEFINED = [
    (FourTwoOne(utility="set"), "goal:0,0", "goal needs a utility, which a set has not"),
    (FourTwoOne(duration=3), "goal:1,1", "needs a first player .*, got duration = 3"),
    *((GAME, f"goal:{text}", "must be followed by h,s, both 0 or") for text in ("2,0", "1", "a,b")),
    (GAME, "ratchet:12", "goal must be 3 digits from 1 to 6, got '12'"),
]


@pytest.mark.parametrize(("game", "name", "message"), UNDEFINED)
def test_what_a_source_does_not_define_is_named(game, name, message):
    with pytest.raises(ValueError, match=message):
        exactdice.evaluate(name, Task(game))


ONE_GOAL = ["goal:0,0", "goal:0,1", "goal:1,0", "goal:1,1", "ratchet:12"]
ONE_DECISION = FourTwoOne(casts=2, utility=lambda result, casts: max(result) ** 2 - casts)
OPTIMAL = [*((FourTwoOne(2, 5, casts, "goal:12"), ONE_GOAL) for casts in (1, 2, 3, 4))]
OPTIMAL += [(ONE_DECISION, ["goal:1,1"])]


@pytest.mark.parametrize(("game", "names"), OPTIMAL)
def test_identifying_one_goal_is_optimal_and_so_is_serendipity_with_one_decision(game, names):
    best = exactdice.solve(Task(game), exact=True).value
    for name in names:
        assert exactdice.evaluate(name, Task(game), exact=True).value == best


@pytest.mark.parametrize("first", [True, False])
def test_result_probabilities_sum_to_one(first):
    law = result_law(4, 3, "112", first)
    assert sum(map(sum, law.values())) == 1
    assert not any(sum(row[:-1]) for name, row in law.items() if name != "112" or not first)


def test_names_are_known_whatever_their_argument():
    names = ["ratchet:124", "bernoulli:124", "goal:0,0", "goal:1,1", "optimal", "random"]
    names += ["ratchet", "goal", "notebook", "go:1"]
    assert [is_policy_name(GAME, name) for name in names] == [True] * 6 + [False] * 4
