"""The solver against a recursion that shares no code, in every state and action of small games."""

from fractions import Fraction

import numpy as np
import pytest
from by_hand_turns import (
    FourTwoOneByHand,
    LowestScoreByHand,
    LowestScoreMatchByHand,
    ShutTheBoxByHand,
    uniform,
)
from exactdice.baselines import Task, equilibrium
from exactdice.core.positions import states_of
from exactdice.games import FourTwoOne, LowestScore, LowestScoreMatch, ShutTheBox

import exactdice


def assert_equal_everywhere(game, seat, policies, options_of):
    """Compare the values of all actions in all states of a seat, exactly and in floats.

    ``options_of(observation)`` gives {action: payoffs} by hand, or None where no history leads.
    """
    exact = exactdice.solve(Task(game, seat, policies), exact=True).table
    approximate = exactdice.solve(Task(game, seat, policies)).table
    compared = 0
    for state in states_of(game, seat):
        observation = game.observe(np.array([state]), seat)[0]
        options = options_of(observation.tolist())
        if options is None:
            continue
        assert set(np.flatnonzero(exact[state] != -np.inf)) == set(options)
        for action, payoffs in options.items():
            assert exact[state, action] == payoffs[seat]
            assert approximate[state, action] == pytest.approx(float(payoffs[seat]), abs=1e-13)
            compared += 1
    assert compared > 0


LOWEST = [
    (2, 3, 2, 3, "win"), (2, 3, 2, 3, "share"), (2, 4, 4, 2, "win"), (3, 2, 1, 3, "share"),
    (2, 3, 1, 2, "score"), (3, 3, 3, 1, "win"),
]  # fmt: skip


@pytest.mark.parametrize("size", LOWEST, ids=str)
@pytest.mark.parametrize("name", ["optimal", "random"])
def test_lowest_score(size, name):
    game = LowestScore(*size[:4], objective=size[4])
    policies = [None if name == "optimal" else uniform] * game.players
    for seat in range(game.players):
        hand = LowestScoreByHand(
            *size, [None if i == seat else policy for i, policy in enumerate(policies)]
        )

        def options_of(observation, seat=seat, hand=hand):
            total, *rest = observation
            roll, best = tuple(filter(None, rest[: game.dice])), rest[game.dice]
            tied = rest[game.dice + 1] if game.objective == "share" else seat
            if best > game.max_score:
                before = ()
            elif best == game.max_score and tied < seat:
                return None  # nobody can have more
            else:
                before = (best,) * tied + (game.max_score,) * (seat - tied)
            return {n - 1: p for n, p in hand.options(before, total, roll).items()}

        assert_equal_everywhere(game, seat, name, options_of)
    hand = LowestScoreByHand(*size, policies)
    exact, floats = (exactdice.expected_payoffs(name, Task(game), each) for each in (True, False))
    assert tuple(exact) == hand.turn(())
    assert floats == pytest.approx([float(payoff) for payoff in exact], abs=1e-13)


MATCHES = [
    (2, 3, 3, 2, 2, "same", "first"), (2, 2, 1, 3, 2, "next", "last"),
    *(pytest.param(size, marks=pytest.mark.slow, id=str(size)) for size in (
        (2, 3, 2, 2, 2, "winner", "last"), (2, 2, 2, 3, 2, "winner", "first"),
    )),
]  # fmt: skip


@pytest.mark.parametrize("size", MATCHES, ids=str)
@pytest.mark.parametrize("name", ["equilibrium", "random"])
def test_a_match_of_the_lowest_score_game(size, name):
    game = LowestScoreMatch(*size)
    others = None if name == "equilibrium" else uniform
    for seat in range(game.players):
        policies = [None if i == seat else others for i in range(game.players)]
        hand = LowestScoreMatchByHand(*size, policies)

        def options_of(observation, seat=seat, hand=hand):
            total, *rest = observation
            roll, wins = tuple(filter(None, rest[: game.dice])), rest[game.dice : -4]
            best, holder, after, own = rest[-4:]
            assert own == seat
            won = tuple(wins[(i - seat) % game.players] for i in range(game.players))
            turns = game.players - 1 - after
            before = [game.nothing - 1] * turns
            if turns:
                before[turns - (game.players - holder)] = best
            played = hand.round(won, (seat - turns) % game.players)
            options = played.options(tuple(before), total, roll)
            places = [(i - seat + turns) % game.players for i in range(game.players)]
            return {n - 1: [paid[place] for place in places] for n, paid in options.items()}

        assert_equal_everywhere(game, seat, name, options_of)
    hand = LowestScoreMatchByHand(*size, [others] * game.players)
    exact = exactdice.expected_payoffs(name, Task(game, 0, name), exact=True)
    assert tuple(exact) == hand.value((0,) * game.players, 0)


BOXES = [
    (3, 2, 2, 2, True, "win"), (3, 1, 3, 0, False, "win"), (4, 2, 3, 3, True, "win"),
    (4, 2, 3, -1, False, "win"), (5, 2, 4, 4, True, "sum"), (5, 2, 4, 4, True, "shut"),
    (2, 2, 6, 6, True, "win"),
]  # fmt: skip


@pytest.mark.parametrize("size", BOXES, ids=str)
@pytest.mark.parametrize("name", ["optimal", "random"])
def test_shut_the_box(size, name):
    tiles, dice, sides, one_die, shut_wins, objective = size
    rule = "never" if one_die < 0 else f"sum<={one_die}"
    game = ShutTheBox(tiles, dice, sides, rule, shut_wins, objective)
    others = None if name == "optimal" else uniform
    actions = {chosen: action for action, chosen in enumerate(game.sets)}
    for seat in range(game.num_players):
        policies = [None if i == seat else others for i in range(2)]
        hand = ShutTheBoxByHand(*size, policies)

        def options_of(observation, hand=hand):
            *flags, roll, target = observation
            is_open = tuple(i + 1 for i, flag in enumerate(flags) if flag)
            target = None if target > game.max_score else target
            return {actions[s]: p for s, p in hand.options(is_open, roll, target).items()}

        assert_equal_everywhere(game, seat, name, options_of)


ROUNDS = [
    (2, 3, 3, "sum", None), (2, 6, 3, "sum", 2), (3, 3, 2, "goal:112", None),
    (3, 3, 3, "goal:123", 3), (3, 6, 2, "transfer", None), (2, 3, 3, "late", None),
    (2, 3, 3, "late", 2), (1, 6, 3, "sum", None), (2, 2, 1, "sum", None), (4, 3, 2, "sum", None),
]  # fmt: skip


def late(result, casts):
    """Prefer high results, and to have taken one's time."""
    return Fraction(sum(result), 3) + casts**2


TABLE_5 = {(1, 2, 4): 10, (1, 1, 1): 7, (2, 3, 4): 2, (3, 4, 5): 2, (4, 5, 6): 2, (1, 2, 3): 2}
UTILITIES = {
    "sum": lambda result, _: sum(result),
    "goal:112": lambda result, _: result == (1, 1, 2),
    "goal:123": lambda result, _: result == (1, 2, 3),
    "late": late,
    "transfer": lambda result, _: TABLE_5.get(
        result, result[2] if result[:2] == (1, 1) or result[0] == result[2] else 1
    ),
}


def digits(numbers):
    return tuple(filter(None, numbers))


@pytest.mark.parametrize("size", ROUNDS, ids=str)
def test_a_round_of_421(size):
    dice, faces, casts, utility, duration = size
    game = FourTwoOne(dice, faces, casts, late if utility == "late" else utility, duration)
    hand = FourTwoOneByHand(dice, faces, casts, [None], UTILITIES[utility], duration)

    def options_of(observation):
        held, cast = digits(observation[: dice - 1]), digits(observation[dice - 1 : -1])
        options = hand.options(held, cast, observation[-1], duration, None)
        return {action: options[taken] for action, taken in game.options(cast) if taken in options}

    assert_equal_everywhere(game, 0, "optimal", options_of)
    random = FourTwoOneByHand(dice, faces, casts, [uniform], UTILITIES[utility], duration)
    assert (exactdice.evaluate("random", Task(game), exact=True).value,) == random.start()


def test_the_game_of_one_die_is_that_of_the_page_on_exact_scoring():
    """Of ``docs/exact-scoring.md``: keep 5 and 6, then 4 and more."""
    task = Task(FourTwoOne(dice=1, casts=3, utility="sum"))
    solution, faces = exactdice.solve(task, exact=True), range(1, 7)
    assert solution.value == Fraction(14, 3)
    for cast, recast in ((1, Fraction(17, 4)), (2, Fraction(7, 2))):
        values = [solution.action_values([face, cast]).tolist() for face in faces]
        assert values == [[recast, face] for face in faces]


def height(result):
    """Order three dice of at most three faces by (54), written out."""
    names = ["221", "322", "331", "332", "321", "222", "211", "333", "311", "111"]
    return names.index("".join(map(str, reversed(result))))


@pytest.mark.parametrize("tie", ["half", "lost"])
@pytest.mark.parametrize("casts", [1, 2])
@pytest.mark.parametrize("name", ["optimal", "random"])
def test_a_set_of_421(tie, casts, name):
    game = FourTwoOne(3, 3, casts, "set", tie=tie)
    results = dict(zip(game.ranks.tolist(), game.combinations, strict=True))
    others = None if name == "optimal" else uniform
    for seat in (0, 1):
        hand = FourTwoOneByHand(
            3, 3, casts, [None if i == seat else others for i in range(2)],
            higher=lambda one, other: height(one) > height(other),
            tie=Fraction(1, 2) if tie == "half" else Fraction(0),
        )  # fmt: skip

        def options_of(observation, hand=hand):
            held, cast = digits(observation[:2]), digits(observation[2:5])
            made, imposed, rank = observation[5:]
            options = hand.options(held, cast, made, imposed or None, results.get(rank))
            return {a: options[taken] for a, taken in game.options(cast) if taken in options}

        assert_equal_everywhere(game, seat, name, options_of)


@pytest.mark.parametrize(
    "game",
    [
        LowestScore(2, 3, 2, 3), LowestScore(2, 3, 2, 3, "share"), ShutTheBox(4, 2, 3),
        FourTwoOne(3, 3, 2, "set"),
    ],
    ids=repr,
)  # fmt: skip
def test_an_equilibrium_is_a_mutual_best_response_from_every_position_on(game):
    both = equilibrium(game)
    for seat in range(game.num_players):
        others = {i: both.policies[i] for i in range(game.num_players) if i != seat}
        best = exactdice.solve(Task(game, seat, others))
        own = states_of(game, seat)
        np.testing.assert_allclose(
            best.values[seat, own], both.values[seat].at(seat, own), atol=1e-14
        )
