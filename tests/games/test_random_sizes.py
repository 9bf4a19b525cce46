"""Random configurations of the six games, against rules that share no code with them.

In every seat: the optimum against opponents who play uniformly or optimally, and the value of
uniform play; slowly a thousand, whose flat tables are compared with ``P`` as well. That values of
every action and state are those of the listing of moves, ``check_game`` shows.

    pytest -m slow tests/games/test_random_sizes.py
"""

import importlib.util
import sys
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from pathlib import Path

import by_hand
import by_hand_match
import by_hand_turns
import numpy as np
import pytest
from by_hand_turns import uniform
from exactdice.baselines import Task, expected_payoffs, prepare, solve
from exactdice.baselines.cache import clear_cache
from tabled import require_tables
from thinning import at_once

from exactdice import games

SLOW = range(1, 22)
SMALL_ENOUGH = 2000  # pairs of state and action of games whose flat tables are compared, too

# Each function below draws a game. It gives the game, uniform play by hand, and a function that
# gives the value to each player if they play policies by hand, of whom None plays best.


def greed(rng):
    limit, sides = int(rng.integers(1, 7)), int(rng.integers(1, 5))
    dice = None if rng.random() < 0.5 else int(rng.integers(0, 4))
    tie = str(rng.choice(["half", "lost", "stopper", "chaser"]))
    allowed = by_hand.section_7(limit, sides) if dice is None else lambda own: dice
    half = Fraction(1, 2)
    paid = {"half": (half, half), "lost": (0, 0), "stopper": (0, 1), "chaser": (1, 0)}[tie]

    def any_number(seen):
        count = allowed(seen[0]) + 1
        return dict.fromkeys(range(count), Fraction(1, count))

    def value(policies):
        hand = by_hand.ByHand(limit, sides, allowed, policies, tuple(map(Fraction, paid)))
        return hand.ratings(0, 0, 0, 0)

    return games.Greed(limit, sides, dice, tie), any_number, value


def lowest_score(rng):
    dice, faces = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    zero, players = int(rng.integers(1, faces + 1)), int(rng.integers(1, 4))
    objective = str(rng.choice(["win", "share", "score"]))
    if dice == 3 or objective != "win":
        players = min(players, 2 if dice == 3 else 3)
    size, hand = (dice, faces, zero, players, objective), by_hand_turns.LowestScoreByHand
    return games.LowestScore(*size), uniform, lambda those: hand(*size, those).turn(())


def lowest_score_match(rng):
    dice, faces = int(rng.integers(1, 3)), int(rng.integers(2, 4))
    zero, players = int(rng.integers(1, faces + 1)), int(rng.integers(2, 4))
    wins = int(rng.integers(1, 3))
    starter = str(rng.choice(["winner", "next", "same"]))
    tie = str(rng.choice(["first", "last"]))
    if dice == 2 and players == 3:
        faces, zero = 2, min(zero, 2)
    size, none = (dice, faces, zero, players, wins, starter, tie), (0,) * players
    game, hand = games.LowestScoreMatch(*size), by_hand_turns.LowestScoreMatchByHand
    return game, uniform, lambda those: hand(*size, those).value(none, 0)


def shut_the_box(rng):
    tiles, dice, sides = (int(rng.integers(*ends)) for ends in ((1, 6), (1, 3), (2, 5)))
    one_die, shut_wins = int(rng.integers(-1, 8)), bool(rng.integers(2))
    objective = str(rng.choice(["win", "sum", "shut"], p=[0.6, 0.2, 0.2]))
    rule = "never" if one_die < 0 else f"sum<={one_die}"

    def value(policies):
        rules = one_die, shut_wins, objective, policies
        hand = by_hand_turns.ShutTheBoxByHand(tiles, dice, sides, *rules)
        return hand.turn(hand.everything, None)

    return games.ShutTheBox(tiles, dice, sides, rule, shut_wins, objective), uniform, value


def four_two_one(rng):
    utility = str(rng.choice(["set", "sum", "transfer", "goal", "goals", "table"]))
    three = utility in ("set", "transfer")
    dice = 3 if three else int(rng.integers(1, 4))
    faces = int(rng.integers(4 if utility == "transfer" else 2, 5 if three else 4))
    casts = int(rng.integers(1, 3 if utility == "set" else 4))
    free = utility == "set" or rng.random() < 0.5
    duration = None if free else int(rng.integers(1, casts + 1))
    tie = str(rng.choice(["half", "lost"]))
    results = list(combinations_with_replacement(range(1, faces + 1), dice))
    goals = [results[i] for i in rng.permutation(len(results))[:2]]
    digits = ["".join(map(str, goal)) for goal in goals]
    table = {faces: [Fraction(int(n), 3) for n in rng.integers(-5, 6, casts)] for faces in results}
    named, paid = {
        "set": ("set", None),
        "sum": ("sum", lambda result, _: sum(result)),
        "transfer": ("transfer", lambda result, _: by_hand_match.worth(result)),
        "goal": (f"goal:{digits[0]}", lambda result, _: result == goals[0]),
        "goals": (f"goals:{','.join(digits)}", lambda result, _: result in goals),
        "table": (list(table.values()), lambda result, made: table[result][made - 1]),
    }[utility]

    def value(policies):
        height, tied = by_hand_match.height, Fraction(1, 2) if tie == "half" else Fraction(0)
        rules = paid, duration, lambda one, other: height(one) > height(other), tied
        return by_hand_turns.FourTwoOneByHand(dice, faces, casts, policies, *rules).start()

    return games.FourTwoOne(dice, faces, casts, named, duration, tie), uniform, value


@cache
def match_rules(sides):
    """Load the match by hand for dice of another number of sides."""
    source = Path(by_hand_match.__file__).read_text().replace("SIDES = 6 ", f"SIDES = {sides} ")
    spec = importlib.util.spec_from_loader(f"by_hand_match_{sides}", loader=None)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    exec(compile(source, by_hand_match.__file__, "exec"), vars(module))
    return module


def four_two_one_match(rng):
    faces = int(rng.integers(2, 4))
    keywords = {
        "tokens": int(rng.integers(1, 4 if faces == 2 else 3)),
        "starter": str(rng.choice(["loser", "winner", "alternate", "same"])),
        "tie": str(rng.choice(["last", "replay"])),
        "charge_casts": int(rng.integers(1, 3)),
        "discharge_casts": int(rng.integers(1, 3)),
        "short_pot": str(rng.choice(["truncate", "spill"])),
        "four_two_one": int(rng.integers(1, 4)),
    }
    hand = match_rules(faces)
    rules = hand.Rules(**keywords)
    game = games.FourTwoOneMatch(faces=faces, **keywords)

    def value(policies):
        first = hand.Match(rules, tuple(policies)).value()
        return first, 1 - first

    return game, hand.at_random(rules), value


KINDS = [greed, lowest_score, lowest_score_match, shut_the_box, four_two_one, four_two_one_match]


def compare_tables(game, rng):
    """Compare the flat tables of a random seat that gets to move, against random opponents."""
    name = str(rng.choice(["random", "optimal"])) if game.num_players > 1 else []
    task = Task(game, int(rng.integers(game.num_players)), name)
    try:
        moves = prepare(task).initial.any()
    except games.InputError:  # of a seat that never gets to move
        return
    if moves:
        require_tables(task)


def compare(game, by_chance, value):
    count = game.num_players
    for seat, (name, others) in product(range(count), (("random", by_chance), ("optimal", None))):
        task = Task(game, seat, name if count > 1 else [])
        found = solve(task, exact=True).value_before_play
        assert found == value([None if i == seat else others for i in range(count)])[seat], task
        floats = solve(task)
        assert abs(Fraction(floats.value_before_play) - found) <= floats.error_bound, task
    everybody = expected_payoffs("random", Task(game), exact=True)
    assert tuple(everybody) == tuple(value([by_chance] * count)), game


@pytest.mark.parametrize("kind", at_once(lambda kind: kind is not four_two_one_match, KINDS))
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in SLOW)])
def test_random_configurations_of_each_game_are_those_by_hand(kind, seed):
    rng = np.random.default_rng(seed)
    for _ in range(8 if seed else 2):
        game, *by_hand = kind(rng)
        compare(game, *by_hand)
        if seed and game.num_states * game.num_actions <= SMALL_ENOUGH:
            compare_tables(game, rng)
    clear_cache()
