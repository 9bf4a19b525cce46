"""Games that their authors got wrong are refused, by the name of what is wrong."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from exactdice.baselines import Task, evaluate, occupancy, outcome_distribution, solve
from exactdice.core.sweeps import Sweeps, sweeps_for
from exactdice.core.turn_game import Leg, TurnGame
from exactdice.core.types import Move
from exactdice.envs import Engine
from exactdice.envs.planners.transitions import tabulate_transitions
from exactdice.games import FourTwoOne, GameError, Greed, InputError, ShutTheBox
from small_games import Walk


def circle(game):
    """Let opponents play, and the agent watch."""
    return Task(game, 1, {0: np.ones(game.num_states, dtype=np.int64)})


QUESTIONS = {
    "solve": lambda game: solve(Task(game, 0, "random")),
    "solve exactly": lambda game: solve(Task(game, 0, "random"), exact=True),
    "equilibrium": lambda game: solve(Task(game)),
    "evaluate": lambda game: evaluate("random", Task(game, 0, "random")),
    "occupancy": lambda game: occupancy("random", Task(game, 0, "random")),
    "outcomes": lambda game: outcome_distribution("random", Task(game, 0, "random")),
}


def test_the_walk_is_a_game_when_it_goes_on():
    assert solve(Task(Walk(), 0, "random")).value == pytest.approx(
        float(solve(Task(Walk(), 0, "random"), exact=True).value)
    )
    env = Engine(circle(Walk()), 10)
    env.reset(np.arange(10), np.random.default_rng(0))


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_a_move_that_stays_is_named(ask):
    """It was solved, to some number, and then hung the environment."""
    message = "got action 1 of player [01] in state [03], which leads to player [01] in state [03]"
    with pytest.raises(GameError, match=message):
        ask(Walk(step=0))


def test_a_game_in_circles_does_not_hang_the_environment(monkeypatch):
    class Endless(Walk):
        def advance(self, seats, states, actions, outcomes):
            nobody = np.zeros((len(states), 2))
            return Move(np.zeros_like(seats), states, nobody, nobody > 0)

    monkeypatch.setattr(Task, "initial", np.ones(4) / 4)  # as if its circle were met later on
    with pytest.raises(GameError, match="a move must lead to a later stage or end the game"):
        Engine(circle(Endless()), 3)


def test_a_game_in_circles_has_no_transition_law():
    class Back(Walk):
        """From cell 1 on player 1 moves alone and goes nowhere."""

        def advance(self, seats, states, actions, outcomes):
            nobody = np.zeros((len(states), 2))
            return Move(np.ones_like(seats), np.ones_like(states), nobody, nobody > 0)

    with pytest.raises(GameError, match="a move must lead to a later stage or end the game"):
        tabulate_transitions(Engine(Task(Back(), 0, "random"), 1))


def changed(**attributes):
    return type("Changed", (Walk,), attributes)()


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (changed(order=(3, 2, 1, 0)), "a move must lead to a later stage or end the game"),
        (changed(order=(0, 1, 2)), "a move must lead to a later stage or end the game"),
        (changed(order=(1, 2, 3)), "initial_law must give states of player 0 that stages lists"),
        (changed(order=(0, 1, 1, 2, 3)), "must list a position once, got state 1 of player 0"),
        (changed(laws=np.array([[0.5, 0.4]])), "laws must sum to 1, got 0.9 in row 0"),
        (changed(laws=np.array([[1.5, -0.5]])), "laws must sum to 1, got 1.0 in row 0"),
        (changed(laws=np.array([[np.nan, 0.5]])), "laws must sum to 1, got nan in row 0"),
        (
            changed(initial_law=lambda self: (np.array([0]), np.array([0.9]))),
            "initial_law must sum to 1, got 0.9 in row 0",
        ),
    ],
    ids=range(8),
)
def test_stages_and_laws_are_checked_where_moves_are_enumerated(game, message):
    with pytest.raises(GameError, match=message):
        solve(Task(game, 0, "random"))


def test_laws_are_checked_where_outcomes_are_drawn():
    task = circle(changed(laws=np.array([[0.5, 0.4]])))
    task.__dict__["initial"] = np.ones(4) / 4  # which computation would have found out
    with pytest.raises(GameError, match="laws must sum to 1"):
        Engine(task, 1).reset(np.arange(1), np.random.default_rng(0))


def test_exact_laws_sum_to_one_exactly():
    near = np.array([[Fraction(1, 2), Fraction(1, 2) + Fraction(1, 10**30)]], dtype=object)
    with pytest.raises(GameError, match="exact_laws must sum to 1"):
        solve(Task(changed(exact_laws=lambda self: near), 0, "random"), exact=True)


TURN = ShutTheBox(3, 1, 3).legs[0].turn


def with_entry(name, index, value):
    table = getattr(TURN, name).copy()
    table[index] = value
    return {name: table}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            with_entry("leads_to", (0, 1), 0),
            "action 1 in state 0, which leads from afterstate 0 to 0",
        ),
        (
            {**with_entry("leads_to", (-2, 0), 2), **with_entry("ends", (-2, 0), False)},
            r"action 0 in state \d+, which leads from afterstate 6 to 2",
        ),
        (with_entry("leads_to", (0, 1), 100), "an afterstate below 7 or a result below 7, .* 100"),
        (with_entry("leads_to", (0, 1), -1), "and 0 if illegal, got -1 for action 1 in state 0"),
        (with_entry("leads_to", (0, 2), 3), "and 0 if illegal, got 3 for action 2 in state 0"),
        (with_entry("legal", 0, False), "legal must give each state an action"),
        (with_entry("layers", 0, 5), "layers must grow"),
        (with_entry("rolls", (0, 1), 0), "states must be the possible outcomes of all afterstates"),
        (with_entry("rolls", 0, 0), "rolls must be counts"),
    ],
    ids=range(9),
)
def test_a_turn_that_need_not_end_is_refused(change, message):
    with pytest.raises(GameError, match=message):
        replace(TURN, **change)


class OfLegs(TurnGame):
    name = "OfLegs"

    def __init__(self, legs):
        super().__init__(legs, 2, [("number", 9)])


OfLegs.__abstractmethods__ = frozenset()


@pytest.mark.parametrize(
    ("following", "message"),
    [
        (0, "got result 2 of leg 0, which leads from context 0 to 0"),
        (8, "got result 2 of leg 0, which leads from context 0 to 8"),
        (-1, "got result 2 of leg 0, which leads from context 0 to -1"),
    ],
)
def test_a_result_that_leads_nowhere_later_is_refused(following, message):
    legs = ShutTheBox(3, 1, 3).legs
    table = legs[0].following.copy()
    table[2, 0] = following
    with pytest.raises(GameError, match=message):
        OfLegs([replace(legs[0], following=table), legs[1]])


def test_legs_that_roll_differently_are_refused():
    first, second = ShutTheBox(3, 1, 3).legs
    other = ShutTheBox(3, 1, 4).legs[1]
    with pytest.raises(GameError, match="all legs must have the rolls of the first"):
        OfLegs([first, Leg(1, other.turn, *[getattr(second, name) for name in LEG]), second])


LEG = ("contexts", "following", "payoffs", "settled")


@pytest.mark.parametrize(
    ("size", "about"), [(Fraction(10) ** 250, "2\\*\\*830"), (Fraction(1, 10**300), "2\\*\\*-996")]
)
def test_payoffs_that_no_float_holds_are_refused(size, about):
    with pytest.raises(InputError, match=f"the largest payoff must be .* got about {about}"):
        FourTwoOne(2, 3, 2, lambda faces, casts: size * (faces == (1, 2)))


def test_the_games_pass():
    """Greed by enumeration; the others check their tables when they are made."""
    plain = type("Enumerated", (Greed,), {})
    sweeps_for(plain)(Sweeps)
    assert solve(Task(plain(5, 3))).value == pytest.approx(solve(Task(Greed(5, 3))).value)
