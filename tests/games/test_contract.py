"""A game that breaks its contract is refused, whichever way it is asked about first."""

import re
from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import Task, equilibrium, prepare, solve
from exactdice.core.positions import states_of
from exactdice.envs import Engine, sparse_law
from exactdice.games import GameError, InputError, Presentation, present, presents
from small_games import Walk

import exactdice
from exactdice.testing import check_game

HALF, ONE = Fraction(1, 2), Fraction(1)
AT = "player [01] in state [0-3]"
HALVED = "payoffs of a zero-sum game must add up to 1.0 at once, got .* by action .* in state"


def exactly(*rows):
    return np.array(rows, dtype=object)


def paid(change):
    """Change what moves pay: a function of payoffs and of who is through, (move, player)."""

    def advance(game, seats, states, actions, outcomes):
        move = Walk.advance(game, seats, states, actions, outcomes)
        return move._replace(payoffs=change(move.payoffs, move.over))

    return {"advance": advance}


def given(name, change):
    return {name: lambda game, *asked: change(getattr(Walk, name)(game, *asked))}


def start(states, chances):
    return {"initial_law": lambda game: (np.array(states), exactly(*chances))}


#: Whether the walk is called zero-sum, how what moves pay is changed, and what is said of it.
PAID = [
    (True, lambda paid, over: np.where(over, np.nan, 0), "payoffs must .*got nan( nan)? by action"),
    (True, lambda paid, over: paid + 0.25 * ~over, "zero-sum .* to 0 before, got 0.25 0.25 by act"),
    (True, lambda paid, over: paid / 2, HALVED),
    (True, lambda paid, over: paid[:, :1], r"payoffs as numbers of .*\d, 2\), got float64 .*, 1\)"),
    (False, lambda paid, over: 3 * paid, "in payoff_range, 0.0 to 1.0, got 3.0 by action . of pla"),
    (False, lambda paid, over: paid - 1.5 * over, "payoff_range, .* got -(0.5 -1.5|1.5 -0.5) by a"),
    (False, lambda paid, over: paid - 1.5 * ~over, "at most 1.0 in size, .* got -1.5 -1.5 by acti"),
    (False, lambda paid, over: paid + 1.5 * ~over, "at most 1.0 in size, .* got 1.5 1.5 by action"),
    (False, lambda paid, over: paid + 0.25 * ~over, "payoff_range must hold .*(1.(25|5|75)|/4) f"),
]
#: What is changed in the walk, and what is said of it. Today's numbers: "inf", "nan", half the
#: value, or one that looks right.
BROKEN = [
    *[({"zero_sum": zero_sum} | paid(change), message) for zero_sum, change, message in PAID],
    ({"num_players": 1} | given("stages", lambda stages: stages[::2]), "zero_sum must be False bu"),
    (given("mask", lambda mask: mask & False), "mask must allow an action in .* got none in state"),
    (given("mask", lambda mask: mask * 1), "mask must be bool of shape .* int64"),
    ({"laws": np.array([[0.25, 0.75]])}, "exact_laws in floats, got 0.25 for 1/2 in row 0, outc"),
    ({"laws": np.array([[np.inf, np.inf]])}, "laws must sum to 1, got inf in row"),
    ({"laws": np.array([[1.5, -0.5]])}, "laws must not be negative, got -0.5 in row 0, outcome 1"),
    ({"exact_laws": lambda game: None}, "exact_laws must be fractions of .* a NoneType"),
    ({"exact_laws": lambda game: exactly([HALF, HALF, 0])}, r"of shape \(1, 2\), .*, got \(1, 3\)"),
    ({"exact_laws": lambda game: exactly([HALF, HALF + ONE / 10**30])}, "exact_laws must sum to 1"),
    (start([0, 0], [HALF, HALF]), "give a state once, got state 0 again"),
    (start([0, 1], [2, -1]), "initial_law must not be negative, got -1 for state 1"),
    (start([0], ["1"]), "initial_law must have fractions, got '1'"),
    (start([0], [HALF]), "initial_law must sum to 1, got 0.5"),
    (start([0], [1.0]), "initial_law must have fractions, got 1.0"),
    (start([9], [1]), "initial_law must give states below 4, got 9"),
    (start([0, 1], [1]), r"must give probabilities as .* \(2,\), got .* \(1,\)"),
    ({"initial_law": lambda game: None}, "initial_law must be a pair of states and .*, got None"),
    ({"payoff_range": (np.nan, 1.0)}, "payoff_range must be .*, got nan 1.0"),
    ({"payoff_range": (1.0, 0.0)}, "payoff_range must be .*, got 1.0 0.0"),
    ({"payoff_range": None}, "payoff_range must be .*, got None"),
    ({"payoff_range": (Fraction(0), ONE)}, "payoff_range must be .* floats"),
    ({"exact_range": (0 * ONE, 2 * ONE)}, "as exact_range is, got 0.0 to 1.0, exactly 0.0 to 2.0"),
    (given("law", lambda rows: rows + 1), "law must give rows below 1, got 1 for act"),
    (given("law", lambda rows: rows * 1.0), "law must give integers of .* float64"),
    (given("advance", tuple), "advance must give a Move, got a tuple"),
    ({"stages": lambda game: []}, "stages must list the positions of the game, got "),
    ({"stages": lambda game: None}, "stages must list the .*, got None"),
    ({"stages": lambda game: [(0,)]}, "stages must list pairs of a seat .*, got"),
    (given("stages", lambda stages: [*stages, (2, np.zeros(1, int))]), "have seats below 2, got 2"),
    (given("stages", lambda stages: [*stages, (0, np.array([4]))]), "list states below 4, got 4"),
    (given("observe", lambda seen: seen // 2), "encode must invert observe, got 0"),
    (given("observe", lambda seen: seen + 4), "observe must give values below 4, g"),
    (given("observe", lambda seen: seen * 1.0), "observe must give integers"),
    (given("encode", lambda states: states * 1.0), "encode must give integers"),
]
#: The same, of what games with cycles may do.
DISORDERED = [
    ({"__init__": lambda game: setattr(game, "step", 0)}, rf"got action 1 of {AT}, .* to {AT}"),
    ({"order": (3, 2, 1, 0)}, "must lead to a later stage or end the game"),
    ({"order": (0, 1, 2)}, "lead to a later stage or end the game|-1 for what nobody sees"),
    ({"order": (1, 2, 3)}, "initial_law must give states .* that stages list"),
    ({"order": (0, 1, 1, 2, 3)}, "must list a position once, got state 1 of pla"),
]


def against_random(game):
    return Task(game, 0, "random")


def begun(task):
    """Begin a game in an environment, whose tables are made then."""
    Engine(task, 1).lanes.start_one(np.random.default_rng(0))


#: Ways of asking; none may answer with a number.
QUESTIONS = {
    "solve": lambda game: solve(Task(game)),
    "against random": lambda game: solve(against_random(game)),
    "solve exactly": lambda game: solve(against_random(game), exact=True),
    "second seat": lambda game: solve(Task(game, 1, "random")),
    "score": lambda game: exactdice.score("random", against_random(game)),
    "evaluate": lambda game: exactdice.evaluate("random", against_random(game), exact=True),
    "occupancy": lambda game: exactdice.occupancy("random", against_random(game)),
    "outcomes": lambda game: exactdice.outcome_distribution("random", against_random(game)),
    "environment": lambda game: begun(against_random(game)),
    "planning": lambda game: sparse_law(prepare(against_random(game))),
    "check_game": check_game,
}


def make(game):
    exactdice.register(type(game))
    return gym.make("exactdice/Walk-v0", opponent="random")


#: The doors through which a game enters.
DOORS = {name: QUESTIONS[name] for name in ("solve", "score", "check_game")}
DOORS |= {"make": make, "equilibrium": equilibrium}
COUNTS = "num_players", "num_states", "num_actions"
#: Attributes, wrong values, and what is said of them, with {} for the attribute.
WRONG = [
    *[(COUNTS, value, "{} must be an integer of at least 1, got VALUE") for value in
      (-5, 0, 42.0, "42", None, True, [3], (1, 2), float("nan"))],
    (COUNTS, 10**12, "{} must be at most [0-9,]+, got 1,000,000,000,000: that would take"),
    (COUNTS, 2**70, r"{} must be at most [0-9,]+, got 10\^21: that would take"),
    *[(["observation_sizes"], value, "{} must be integers of at least 1, got VALUE") for value in
      (None, 4, "4", (), (0,), (-4,), (4.0,), ("4",), (True,), ((4,),), {4})],
    (["observation_sizes"], (10**12,), "the sum of {} must be at most 1,000,000,000, got"),
    *[(["observation_names"], value, "{} must be 1 texts, one for each .*, got VALUE") for value in
      (None, 4, "c", (), (4,), ("a", "b"))],
    *[(["zero_sum", "has_cycles"], value, "{} must be True or False, got VALUE") for value in
      (None, 1, "no", [True])],
]  # fmt: skip
CASES = [
    (name, value, said.format(name).replace("VALUE", re.escape(repr(value))))
    for names, value, said in WRONG
    for name in names
]


@pytest.mark.usefixtures("own_games")
@pytest.mark.parametrize("enter", DOORS.values(), ids=DOORS)
@pytest.mark.parametrize(("name", "value", "message"), CASES)
def test_a_wrong_attribute_is_named_at_every_door(name, value, message, enter):
    game = type("Broken", (Walk,), {name: value})()
    with pytest.raises(InputError, match=f"^{message}"):
        enter(game)


def test_what_is_no_game_is_named():
    for game, got in ((Walk, "the class Walk: call it"), ("Walk", "a str")):
        with pytest.raises(InputError, match=f"game must be a Game, got {got}"):
            Task(game)


BLOCKS = [
    (None, "block must give a pair of blocks and cut, got None"),
    (([0], [True]), r"block must give blocks as integers of shape \(1,\), got a list"),
    ((np.zeros(1, int), np.ones(1, int)), "block must give the cut as bool of .*, got int64"),
    ((np.zeros(2, int), np.ones(2, bool)), r"as integers of shape \(1,\), got .* \(2,\)"),
]


@pytest.mark.parametrize(("block", "message"), BLOCKS)
def test_wrong_blocks_are_named(block, message):
    changes = {"has_cycles": True, "block": lambda game, seat, states: block}
    with pytest.raises(GameError, match=message):
        solve(against_random(type("Broken", (Walk,), changes)()))


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
@pytest.mark.parametrize(("changes", "message"), BROKEN + DISORDERED)
def test_a_broken_game_is_refused(changes, message, ask):
    game = type("Broken", (Walk,), changes)()
    if game.num_players == 1 and ask is QUESTIONS["second seat"]:
        pytest.skip("there is none")
    with pytest.raises(GameError, match=message):
        ask(game)


@pytest.mark.parametrize(("changes", "message"), BROKEN)
def test_a_broken_game_with_cycles_is_refused(changes, message):
    """Each cell is a block that nobody leaves for sure."""
    block = lambda game, seat, states: (states, np.ones(len(states), dtype=bool))  # noqa: E731
    cyclic = {"has_cycles": True, "block": block}
    with pytest.raises(GameError, match=message):
        solve(against_random(type("Broken", (Walk,), cyclic | changes)()))


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_a_game_that_pays_in_a_circle_is_refused(ask):
    class Paying(Walk):
        """One block, whose moves pay the mover a little at the expense of the other."""

        has_cycles = True

        def block(self, seat, states):
            return np.zeros_like(states), states == 0

        def advance(self, seats, states, actions, outcomes):
            move = Walk.advance(self, seats, states, actions, outcomes)
            gained = np.where(move.over, move.payoffs, np.eye(2)[seats] - np.eye(2)[1 - seats])
            return move._replace(payoffs=gained)

    with pytest.raises(GameError, match="must be zero where a move stays in a block with a cut"):
        ask(Paying())


@pytest.mark.usefixtures("own_games")
def test_a_broken_game_is_refused_where_it_is_watched():
    """It is drawn move by move, and so checked move by move."""
    exactdice.register(type("Watched", (Walk,), paid(lambda paid, over: paid / 2)))
    env = gym.make("exactdice/Walk-v0", render_mode="ansi", opponent="random")
    env.reset(seed=0)
    with pytest.raises(GameError, match=HALVED):
        _ = [env.step(0) for _ in range(4)]  # a game has four moves at most


def test_a_seat_that_never_moves_need_not_be_listed():
    class Alone(Walk):
        def advance(self, seats, states, actions, outcomes):
            move = super().advance(seats, states, actions, outcomes)
            return move._replace(seats=seats)

        def stages(self):
            return super().stages()[::2]

    assert states_of(Alone(), 1).tolist() == []
    assert float(solve(Task(Alone(), 0, "random")).value) == pytest.approx(1)


def test_a_game_without_a_presentation_is_shown_in_numbers_and_a_wrong_one_is_refused():
    shown, seen = present(Walk()), np.array([3])
    assert shown.describe(seen) == "cell 3"
    assert shown.describe_move(seen, 1) == shown.tell(seen, 1, 0) == "takes action 1"
    assert [row.label for row in shown.board(0, seen, ("you", "other"))] == ["cell"]
    texts = type("Texts", (Presentation,), {"made_for_two": "players=2"})
    with pytest.raises(GameError, match="made_for_two must be a dictionary .*, got str"):
        presents(Walk)(texts)
