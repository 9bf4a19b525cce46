"""The policies of 421's source; its own numbers are in ``test_claims``."""

from fractions import Fraction

import pytest
from by_hand_turns import FourTwoOneByHand
from exactdice.baselines import Task, is_policy_name
from exactdice.games import FourTwoOne
from exactdice.games.four_two_one.policies import result_law

import exactdice

GOALS = ["ratchet:124", "bernoulli:124", "ratchet:111"]
NAMES = [*GOALS, "goal:0,0", "goal:1,0", "goal:0,1", "goal:1,1"]


def common(wanted, cast):
    """Intersect two combinations."""
    return tuple(f for f in sorted(set(cast)) for _ in range(min(wanted.count(f), cast.count(f))))


def missing(goal, held):
    rest = list(goal)
    for face in held:
        if face in rest:
            rest.remove(face)
    return tuple(rest)


def ratchet(goal):
    def play(seen, actions):
        held, cast, *_ = seen
        useful = common(missing(goal, held), cast)
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
    hand = FourTwoOneByHand(
        dice, faces, casts, [by_hand(wanted)], lambda result, _: result == wanted, duration
    )
    value = exactdice.evaluate(f"{name}:{goal}", Task(game), exact=True).value
    assert (value,) == hand.start()
    assert value <= exactdice.solve(Task(game), exact=True).value


@pytest.mark.parametrize(
    ("game", "name", "message"),
    [
        (FourTwoOne(utility="set"), "goal:0,0", "goal needs a utility, which a set has not"),
        (FourTwoOne(duration=3), "goal:1,1", "needs a first player .*, got duration = 3"),
        (FourTwoOne(), "goal:2,0", "goal must be followed by h,s, both 0 or 1, got"),
        (FourTwoOne(), "goal:1", "goal must be followed by h,s, both 0 or 1, got"),
        (FourTwoOne(), "goal:a,b", "goal must be followed by h,s, both 0 or 1, got"),
        (FourTwoOne(), "ratchet:12", "goal must be 3 digits from 1 to 6, got '12'"),
    ],
)
def test_what_a_source_does_not_define_is_named(game, name, message):
    with pytest.raises(ValueError, match=message):
        exactdice.evaluate(name, Task(game))


@pytest.mark.parametrize("casts", [1, 2, 3, 4])
def test_identifying_a_single_goal_is_optimal(casts):
    game = FourTwoOne(2, 5, casts, "goal:12")
    best = exactdice.solve(Task(game), exact=True).value
    for name in ("goal:0,0", "goal:0,1", "goal:1,0", "goal:1,1", "ratchet:12"):
        assert exactdice.evaluate(name, Task(game), exact=True).value == best


def test_serendipity_with_horizon_1_is_optimal_when_one_decision_is_left():
    game = FourTwoOne(casts=2, utility=lambda result, casts: max(result) ** 2 - casts)
    best = exactdice.solve(Task(game), exact=True).value
    assert exactdice.evaluate("goal:1,1", Task(game), exact=True).value == best


@pytest.mark.parametrize("first", [True, False])
def test_result_probabilities_sum_to_one(first):
    law = result_law(4, 3, "112", first)
    assert sum(map(sum, law.values())) == 1
    assert not any(sum(row[:-1]) for name, row in law.items() if name != "112" or not first)


def test_names_are_known_whatever_their_argument():
    game = FourTwoOne()
    assert all(is_policy_name(game, name) for name in [*NAMES, "optimal", "random"])
    assert not any(is_policy_name(game, name) for name in ["ratchet", "goal", "notebook", "go:1"])
