"""A game that breaks its contract is refused, whichever way it is asked about first."""

import re
from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import (
    Task,
    equilibrium,
    evaluate,
    occupancy,
    outcome_distribution,
    prepare,
    score,
    solve,
)
from exactdice.core.positions import states_of
from exactdice.envs import Engine, sparse_law
from exactdice.games import GameError, InputError, Presentation, present, presents
from small_games import Walk

import exactdice
from exactdice.testing import check_game

HALF, ONE = Fraction(1, 2), Fraction(1)


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


#: What is changed in the walk, and what is said of it. Today's numbers: "inf", "nan", half the
#: value, or one that looks right.
BROKEN = {
    "no action": (
        given("mask", lambda mask: mask & (np.arange(len(mask)) % 2 > 1)[:, None]),
        r"mask must allow an action in each state, got none in state \d",
    ),
    "counted mask": (given("mask", lambda mask: mask * 1), "mask must be bool of shape .* int64"),
    "nan paid": (
        paid(lambda payoffs, over: np.where(over, np.nan, 0.0)),
        r"payoffs must be (in payoff_range|finite numbers).*, got nan( nan)? by action . of player",
    ),
    "paid too much": (
        {"zero_sum": False, **paid(lambda payoffs, over: 3 * payoffs)},
        r"payoffs must be in payoff_range, 0.0 to 1.0, got 3.0 by action . of player . in state",
    ),
    "paid too little": (
        {"zero_sum": False, **paid(lambda payoffs, over: payoffs - 1.5 * over)},
        r"payoffs must be in payoff_range, 0.0 to 1.0, got -(0.5 -1.5|1.5 -0.5) by action",
    ),
    "paid too little before the end": (
        {"zero_sum": False, **paid(lambda payoffs, over: payoffs - 1.5 * ~over)},
        r"payoffs must be at most 1.0 in size, the span of payoff_range, .* got -1.5 -1.5 by acti",
    ),
    "paid to both before the end": (
        paid(lambda payoffs, over: payoffs + 0.25 * ~over),
        r"payoffs of a zero-sum game must .*, and to 0 before, got 0.25 0.25 by action .",
    ),
    "paid too much before the end": (
        {"zero_sum": False, **paid(lambda payoffs, over: payoffs + 1.5 * ~over)},
        r"payoffs must be at most 1.0 in size, the span of payoff_range, .* got 1.5 1.5 by action",
    ),
    "paid too much together": (
        {"zero_sum": False, **paid(lambda payoffs, over: payoffs + 0.25 * ~over)},
        r"payoff_range must hold the payoffs from any position on, .*got .*(1.(25|5|75)|/4) for",
    ),
    "false zero_sum": (
        paid(lambda payoffs, over: payoffs / 2),
        "payoffs of a zero-sum game must add up to 1.0 at once, got .* by action .* in state",
    ),
    "zero_sum alone": (
        {"num_players": 1, **given("stages", lambda stages: stages[::2])},
        "zero_sum must be False but for two players, got 1",
    ),
    "other laws": (
        {"laws": np.array([[0.25, 0.75]])},
        "laws must be exact_laws in floats, got 0.25 for 1/2 in row 0, outcome 0",
    ),
    "infinite laws": ({"laws": np.array([[np.inf, np.inf]])}, "laws must sum to 1, got inf in row"),
    "negative laws": (
        {"laws": np.array([[1.5, -0.5]])},
        "laws must not be negative, got -0.5 in row 0, outcome 1",
    ),
    "no laws": ({"exact_laws": lambda game: None}, "exact_laws must be fractions of .* a NoneType"),
    "wide laws": (
        {"exact_laws": lambda game: exactly([HALF, HALF, 0])},
        r"exact_laws must be of shape \(1, 2\), as laws are, got \(1, 3\)",
    ),
    "two starts": (start([0, 0], [HALF, HALF]), "give a state once, got state 0 again"),
    "negative start": (
        start([0, 1], [2, -1]),
        "initial_law must not be negative, got -1 for state 1",
    ),
    "text start": (start([0], ["1"]), "initial_law must have fractions, got '1'"),
    "no start": (
        {"initial_law": lambda game: None},
        "initial_law must be a pair of states and probabilities, got None",
    ),
    "half a start": (start([0], [HALF]), "initial_law must sum to 1, got 0.5"),
    "float start": (start([0], [1.0]), "initial_law must have fractions, got 1.0"),
    "start beyond": (start([9], [1]), "initial_law must give states below 4, got 9"),
    "start of another shape": (
        start([0, 1], [1]),
        r"must give probabilities as .* \(2,\), got .* \(1,\)",
    ),
    "nan range": ({"payoff_range": (np.nan, 1.0)}, "payoff_range must be .*, got nan 1.0"),
    "turned range": ({"payoff_range": (1.0, 0.0)}, "payoff_range must be .*, got 1.0 0.0"),
    "no range": ({"payoff_range": None}, "payoff_range must be .*, got None"),
    "other exact range": (
        {"exact_range": (Fraction(0), Fraction(2))},
        "payoff_range .*, as exact_range is, got 0.0 to 1.0, exactly 0.0 to 2.0",
    ),
    "row beyond": (
        given("law", lambda rows: rows + 1),
        "law must give rows below 1, got 1 for act",
    ),
    "float row": (given("law", lambda rows: rows * 1.0), "law must give integers of .* float64"),
    "one payoff": (
        paid(lambda payoffs, over: payoffs[:, :1]),
        r"advance must give payoffs as numbers of shape \(\d+, 2\), got float64 of .*\d, 1\)",
    ),
    "no move": (given("advance", tuple), "advance must give a Move, got a tuple"),
    "no stages": ({"stages": lambda game: []}, "stages must list the positions of the game, got "),
    "stages of nothing": ({"stages": lambda game: None}, "stages must list the .*, got None"),
    "stage of one": ({"stages": lambda game: [(0,)]}, "stages must list pairs of a seat .*, got"),
    "stage of nobody": (
        given("stages", lambda stages: [*stages, (2, np.array([0]))]),
        "stages must have seats below 2, got 2",
    ),
    "stage beyond": (
        given("stages", lambda stages: [*stages, (0, np.array([4]))]),
        "stages must list states below 4, got 4",
    ),
    "nearly 1": (
        {"exact_laws": lambda game: exactly([HALF, HALF + Fraction(1, 10**30)])},
        "exact_laws must sum to 1",
    ),
    "seen alike": (given("observe", lambda seen: seen // 2), "encode must invert observe, got 0"),
    "seen beyond": (given("observe", lambda seen: seen + 4), "observe must give values below 4, g"),
    "encoded in floats": (
        given("encode", lambda states: states * 1.0),
        "encode must give integers",
    ),
    "range of fractions": ({"payoff_range": (Fraction(0), ONE)}, "payoff_range must be .* floats"),
    "float observations": (given("observe", lambda seen: seen * 1.0), "observe must give integers"),
}


#: The same, of what games with cycles may do.
DISORDERED = {
    "stays": (
        {"__init__": lambda game: setattr(game, "step", 0)},
        r"got action 1 of player [01] in state [0-3], which leads to player [01] in state [0-3]",
    ),
    "backward stages": ({"order": (3, 2, 1, 0)}, "must lead to a later stage or end the game"),
    "a stage left out": (
        {"order": (0, 1, 2)},
        "must lead to a later stage or end the game|encode must give -1 for what nobody sees",
    ),
    "no first stage": ({"order": (1, 2, 3)}, "initial_law must give states .* that stages list"),
    "a stage twice": ({"order": (0, 1, 1, 2, 3)}, "must list a position once, got state 1 of pla"),
}
EVERY = BROKEN | DISORDERED


def begun(task):
    """Begin a game in an environment, whose tables are made then."""
    Engine(task, 1).lanes.start_one(np.random.default_rng(0))


#: Ways of asking; none may answer with a number.
QUESTIONS = {
    "solve": lambda game: solve(Task(game)),
    "against random": lambda game: solve(Task(game, 0, "random")),
    "solve exactly": lambda game: solve(Task(game, 0, "random"), exact=True),
    "second seat": lambda game: solve(Task(game, 1, "random")),
    "score": lambda game: score("random", Task(game, 0, "random")),
    "evaluate": lambda game: evaluate("random", Task(game, 0, "random"), exact=True),
    "occupancy": lambda game: occupancy("random", Task(game, 0, "random")),
    "outcomes": lambda game: outcome_distribution("random", Task(game, 0, "random")),
    "environment": lambda game: begun(Task(game, 0, "random")),
    "planning": lambda game: sparse_law(prepare(Task(game, 0, "random"))),
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


@pytest.mark.parametrize(
    ("game", "message"),
    [(Walk, "game must be a Game, got the class Walk: call it"), ("Walk", "got a str")],
)
def test_what_is_no_game_is_named(game, message):
    with pytest.raises(InputError, match=message):
        Task(game)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (None, "block must give a pair of blocks and cut, got None"),
        (([0], [True]), r"block must give blocks as integers of shape \(1,\), got a list"),
        ((np.zeros(1, int), np.ones(1, int)), "block must give the cut as bool of .*, got int64"),
        ((np.zeros(2, int), np.ones(2, bool)), r"as integers of shape \(1,\), got .* \(2,\)"),
    ],
)
def test_wrong_blocks_are_named(block, message):
    changes = {"has_cycles": True, "block": lambda game, seat, states: block}
    with pytest.raises(GameError, match=message):
        solve(Task(type("Broken", (Walk,), changes)(), 0, "random"))


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
@pytest.mark.parametrize(("changes", "message"), EVERY.values(), ids=EVERY)
def test_a_broken_game_is_refused(changes, message, ask):
    game = type("Broken", (Walk,), changes)()
    if game.num_players == 1 and ask is QUESTIONS["second seat"]:
        pytest.skip("there is none")
    with pytest.raises(GameError, match=message):
        ask(game)


class Loop(Walk):
    """The same with cycles: a cell that nobody leaves for sure."""

    has_cycles = True

    def block(self, seat, states):
        return states, np.ones(len(states), dtype=bool)


@pytest.mark.parametrize(("changes", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_game_with_cycles_is_refused(changes, message):
    with pytest.raises(GameError, match=message):
        solve(Task(type("Broken", (Loop,), changes)(), 0, "random"))


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
    class Watched(Walk):
        """It is drawn move by move, and so checked move by move."""

        advance = BROKEN["false zero_sum"][0]["advance"]

    exactdice.register(Watched)
    env = gym.make("exactdice/Walk-v0", render_mode="ansi", opponent="random")

    def play():
        env.reset(seed=0)
        while not env.step(0)[2]:
            pass

    with pytest.raises(GameError, match="payoffs of a zero-sum game must add up to 1.0"):
        play()


def test_a_seat_that_never_moves_need_not_be_listed():
    class Alone(Walk):
        def advance(self, seats, states, actions, outcomes):
            move = super().advance(seats, states, actions, outcomes)
            return move._replace(seats=seats)

        def stages(self):
            return super().stages()[::2]

    assert states_of(Alone(), 1).tolist() == []
    assert float(solve(Task(Alone(), 0, "random")).value) == pytest.approx(1)


def test_a_game_without_a_presentation_is_shown_in_numbers():
    shown, seen = present(Walk()), np.array([3])
    assert shown.describe(seen) == "cell 3"
    assert shown.describe_move(seen, 1) == shown.tell(seen, 1, 0) == "takes action 1"
    assert [row.label for row in shown.board(0, seen, ("you", "other"))] == ["cell"]


def test_keywords_for_two_players_are_a_dictionary():
    texts = type("Texts", (Presentation,), {"made_for_two": "players=2"})
    with pytest.raises(GameError, match="made_for_two must be a dictionary .*, got str"):
        presents(Walk)(texts)
