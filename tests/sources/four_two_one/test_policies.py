"""The policies of 421's source; its own numbers are in ``test_claims``."""

from fractions import Fraction

import numpy as np
import pytest
from by_hand_turns import FourTwoOneByHand
from exactdice.baselines import Task, is_policy_name
from exactdice.games import FourTwoOne
from exactdice.sources.four_two_one.policies import result_law

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
    "game",
    [
        FourTwoOne(),
        FourTwoOne(casts=4, utility="sum"),
        FourTwoOne(duration=3),
        FourTwoOne(utility="set"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("name", NAMES)
def test_policies_are_legal_in_every_state(game, name):
    if name.startswith("goal") and game.utilities is None:
        with pytest.raises(ValueError, match="goal needs a utility, which a set has not"):
            exactdice.evaluate(name, Task(game))
    elif name.endswith(",1") and game.duration is not None:
        with pytest.raises(ValueError, match="needs a first player .*, got duration = 3"):
            exactdice.evaluate(name, Task(game))
    else:
        actions = exactdice.evaluate(name, Task(game)).policy.actions
        states = np.arange(game.num_states)
        assert game.mask(states)[states, actions].all()


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


@pytest.mark.parametrize("name", ["goal:2,0", "goal:1", "goal:a,b"])
def test_bad_horizons_are_named(name):
    with pytest.raises(ValueError, match="goal must be followed by h,s, both 0 or 1, got"):
        exactdice.evaluate(name, Task(FourTwoOne()))


def test_names_are_known_whatever_their_argument():
    game = FourTwoOne()
    assert all(is_policy_name(game, name) for name in [*NAMES, "optimal", "random"])
    assert not any(is_policy_name(game, name) for name in ["ratchet", "goal", "notebook", "go:1"])
    with pytest.raises(ValueError, match="goal must be 3 digits from 1 to 6, got '12'"):
        exactdice.evaluate("ratchet:12", Task(game))
