"""Games that their authors got wrong are refused, by the name of what is wrong."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from exactdice.core.turn_game import TurnGame
from exactdice.games import FourTwoOne, GameError, InputError, ShutTheBox
from small_games import Rounds

TURN = ShutTheBox(3, 1, 3).legs[0].turn


def with_entry(name, index, value):
    table = getattr(TURN, name).copy()
    table[index] = value
    return {name: table}


#: What is changed of a turn, and what is said of it.
TURNS = [
    (with_entry("leads_to", (0, 1), 0), "action 1 in state 0, .* leads from afterstate 0 to 0"),
    (
        with_entry("leads_to", (-2, 0), 2) | with_entry("ends", (-2, 0), False),
        r"action 0 in state \d+, which leads from afterstate 6 to 2",
    ),
    (with_entry("leads_to", (0, 1), 100), "an afterstate below 7 or a result below 7, .* 100"),
    (with_entry("leads_to", (0, 2), 3), "and 0 if illegal, got 3 for action 2 in state 0"),
    (with_entry("legal", 0, False), "legal must give each state an action"),
    (with_entry("layers", 0, 5), "layers must grow"),
    (with_entry("rolls", (0, 1), 0), "states must be the possible outcomes of all afterstates"),
    (with_entry("rolls", 0, 0), "rolls must be counts"),
    (with_entry("rolls", (0, 1), 0.5), "rolls must be counts"),
    (with_entry("law", 0, 9), "law must be rows of rolls below 2, got 9"),
    (with_entry("layers", 0, -1), "layers must be below 7, got -1"),
    ({"num_results": "7"}, "num_results must be an integer of at least 1, got '7'"),
    ({"rolls": [[1, 1]]}, r"rolls must be fractions of shape \(law, outcome\), got a list"),
    ({"layers": TURN.layers * 1.0}, r"layers must be integers of .*\(afterstate,\), got float"),
    ({"legal": TURN.legal * 1}, r"legal must be bool of shape \(state, action\), got int64"),
    ({"ends": TURN.ends[:, :1]}, r"ends must be bool of shape \(\d+, 5\), got .* \(\d+, 1\)"),
    ({"leads_to": None}, r"leads_to must be integers of shape \(\d+, 5\), got a NoneType"),
    ({"observations": TURN.observations[0]}, "observations must be integers of .* component"),
]


@pytest.mark.parametrize(("change", "message"), TURNS)
def test_tables_that_are_no_turn_are_refused(change, message):
    with pytest.raises(GameError, match=message):
        replace(TURN, **change)


def seen_alike(**changes):
    """Make the game of ``Rounds(2, 2)`` anew, with changed arguments of ``TurnGame``."""
    game = Rounds(2, 2)
    observed = list(zip(game.observation_names, game.observation_sizes, strict=True))
    whole = {"legs": game.legs, "num_players": 2, "observed": observed, "first_seen": 0}
    TurnGame.__init__(object.__new__(Rounds), **whole | changes)


FIRST, SECOND = Rounds(2, 2).legs


@pytest.mark.parametrize("following", [0, 8])
def test_a_result_that_leads_nowhere_later_is_refused(following):
    table = FIRST.following.copy()
    table[2, 0] = following
    message = f"got result 2 of leg 0, which leads from context 0 to {following}"
    with pytest.raises(GameError, match=message):
        seen_alike(legs=[replace(FIRST, following=table), SECOND])


def test_legs_that_roll_differently_are_refused():
    other = replace(SECOND.turn, rolls=SECOND.turn.rolls[:, ::-1] + [[0, 0, 1]])
    with pytest.raises(GameError, match="all legs must have the rolls of the first"):
        seen_alike(legs=[FIRST, replace(SECOND, turn=other)])


#: What is changed of every leg, and what is said of it.
LEGS = [
    ({"seat": 2}, "seat must be below 2, got 2 in leg 0"),
    ({"seat": "0"}, "seat must be below 2, got '0' in leg 0"),
    ({"turn": None}, "turn must be a Turn, got a NoneType"),
    ({"contexts": FIRST.contexts - 1}, "contexts of leg 0 must be below 2 2, got -1 -1"),
    ({"contexts": FIRST.contexts[:, :1]}, r"contexts of leg 0 must be .* \(state, 2\), got"),
    ({"following": FIRST.following * 1.0}, "following must be integers of .*, got float64"),
    ({"following": FIRST.following[:2]}, r"following must be integers of shape \(3, 2\), got"),
    ({"payoffs": FIRST.payoffs.astype(float)}, "payoffs must be fractions of .*, got float64"),
    ({"payoffs": FIRST.payoffs * np.nan}, "payoffs must have fractions, got nan"),
    ({"payoffs": FIRST.payoffs > 0}, "payoffs must be fractions of .*, got bool"),
    ({"payoffs": FIRST.payoffs[..., :1], "settled": FIRST.settled[..., :1]}, "leg 0 must be"),
    ({"starts": np.array([-1])}, "starts must be states of groups of equal size .*, got -1"),
    ({"starts": np.array([0, 1])}, "groups of equal size that do not overlap, got 0 1"),
    ({"starts": np.array([0.0])}, r"starts must be integers of shape \(group,\), got float64"),
    ({"blocks": np.array([0, 1])}, "has_cycles must be True where legs have blocks"),
]


@pytest.mark.parametrize(("change", "message"), LEGS)
def test_tables_that_are_no_leg_are_refused(change, message):
    with pytest.raises(GameError, match=message):
        seen_alike(legs=[replace(leg, **change) for leg in Rounds(2, 2).legs])


ARGUMENTS = [
    ("num_players", 0, "num_players must be an integer of at least 1, got"),
    ("num_players", 2.0, "num_players must be an integer of at least 1, got"),
    ("num_players", 3, "payoffs of leg 0 must be fractions of .* 3"),
    ("legs", [], "legs must be Legs, at least one, got"),
    ("legs", [5], "legs must be Legs, got a int"),
    ("observed", None, "observed must list components of observations, got None"),
    ("observed", [("a", 3)] * 3, "contexts of leg 0 must be integers of .*, 1"),
    ("observed", ["face"] * 4, "observed must list pairs of name and size, got 'face'"),
    ("observed", [("a", 2.0)] * 4, "observation_sizes must be integers of at least 1, got"),
    ("observed", [(5, 2)] * 4, "observation_names must be 4 texts"),
    ("observed", [("a", 10**12)] * 4, "the sum of observation_sizes must be at most"),
    ("first_seen", -1, "first_seen must be at least 0, got -1"),
    ("first_seen", 1.0, "first_seen must be an integer, got 1.0"),
    ("first_seen", 3, r"observations of leg 0 must be integers of shape \(state, 1\)"),
]


@pytest.mark.parametrize(("name", "value", "message"), ARGUMENTS)
def test_a_wrong_argument_of_a_game_of_turns_is_named(name, value, message):
    with pytest.raises(InputError, match=message):
        seen_alike(**{name: value})


@pytest.mark.parametrize(("power", "about"), [(250, r"2\*\*830"), (-300, r"2\*\*-996")])
def test_payoffs_that_no_float_holds_are_refused(power, about):
    size = Fraction(10) ** power
    with pytest.raises(InputError, match=f"the largest payoff must be .* got about {about}"):
        FourTwoOne(2, 3, 2, lambda faces, casts: size * (faces == (1, 2)))
