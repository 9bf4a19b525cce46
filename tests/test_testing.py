"""``check_game`` finds what a game has broken: each rule, broken once."""

from fractions import Fraction

import numpy as np
import pytest
from checkout import ROOT
from exactdice.baselines import Evaluation
from exactdice.core import Values, listed
from exactdice.envs import Engine
from exactdice.envs.engine.table_lanes import ArrayLanes
from exactdice.games import GAMES, AliasLaws, GameError, InputError, Presentation, presents
from random_games import RandomGame
from small_games import Coins, Rounds
from spawned import printed_by
from thinning import every_third, later

import exactdice
from exactdice.testing import answers, check_game, environments, rules


@pytest.fixture
def twenty_one(own_games):
    return own_games(f"{ROOT}/examples/twenty_one.py:TwentyOne")


@pytest.mark.parametrize(
    "game",
    [
        *(
            Coins(),
            Rounds(turns=2),
            later(Rounds(2, 2, Fraction(-1))),
            later(Rounds(3, 3, Fraction(-1, 3))),
        ),
        *(later(RandomGame(3, 2, has_cycles=False, pays=True)), RandomGame(11, 2, pays=True)),
        *(RandomGame(2, 1, has_cycles=False, pays=True), RandomGame(0, 1), later(RandomGame(22))),
    ],
    ids=repr,
)
def test_games_with_cycles_and_games_whose_points_add_up_obey_all_rules(game):
    check_game(game)


@pytest.mark.parametrize(("stays", "gamma"), [later((0.999, 1)), (0.99, 1), (0.5, 0.99)])
def test_roundings_of_long_games_add_up(stays, gamma):
    """A hundred moves that pay a tenth, to 20 together, or a thousand, to 200."""
    last = {0: [(1 - stays, 1, 0.1, True), (stays, 1, 0.1, False)], 1: [(1, 1, 0.05, True)]}
    first = {0: [(1 - stays, 1, 0.1, False), (stays, 0, 0.1, False)], 1: [(1, 1, 0.05, False)]}
    check_game(exactdice.from_P({0: first, 1: last}, 0, gamma).game)
    check_game(exactdice.from_P({0: {0: last[0]}, 1: {0: last[0]}}, 0, gamma).game)


@pytest.mark.parametrize("payoff_range", [(-5.0, 44.0), (-4.0, 45.0)])
def test_a_range_that_points_leave_together_is_named(payoff_range):
    low, high = payoff_range
    message = f"the payoffs from any position on, {low} to {high}, got -5.0 to 45.0 for player"
    with pytest.raises(GameError, match=message):
        check_game(type("Narrow", (Coins,), {"payoff_range": payoff_range})())


def test_large_games_are_refused_at_once(twenty_one):
    with pytest.raises(InputError, match="game must have at most 20000 pairs .* got 20604"):
        check_game(twenty_one(limit=100))
    with pytest.raises(InputError, match="pairs of state and action .* got 405,457,920 states"):
        check_game(GAMES["Yahtzee"]())


def broken(rules, **changes):
    """Build a game of whose class some methods or attributes are others."""
    return type("Broken", (rules,), changes)(limit=4, sides=3)


def changed(name, change):
    """Make a method that gives something else."""

    def method(game, *asked):
        return change(getattr(super(type(game), game), name)(*asked), *asked)

    return {name: method}


def begun(change):
    """Make an ``__init__`` that changes attributes of a game after building it."""

    def build(game, limit=4, sides=3):
        super(type(game), game).__init__(limit, sides)
        vars(game).update(change(game))

    return {"__init__": build}


def lost(move, *_):
    return move._replace(payoffs=np.where(move.over, 1 - move.payoffs, move.payoffs))


#: What ``tests/games/test_contract.py``, which breaks the other rules, does not break.
BROKEN = [
    (begun(lambda game: {"limit": game.limit + 1}), r"keywords must build .*Broken\(limit=6, s"),
    (begun(lambda game: {"observation_sizes": (5, 7)}), "encode must give -1 .*, got state 6"),
    (
        changed("advance", lambda move, *_: move._replace(seats=np.roll(move.seats, 1))),
        "must say the same as of one move, got others of action|must lead to a later stage",
    ),
    (changed("exact_advance", lost), "must say the same as of exact_advance, got others of act"),
]


@pytest.mark.parametrize(("changes", "message"), BROKEN)
def test_a_game_that_breaks_a_rule_is_told_which(twenty_one, changes, message):
    with pytest.raises(GameError, match=message):
        check_game(broken(twenty_one, **changes))


WORDS = [
    ("describe", "one\ntwo", r"describe\(.*\) must be one printable line, got"),
    ("describe_move", "", r"describe_move\(\[0 5\], 0\) must be one printable"),
    ("tell", "stops\n", r"tell\(\[0 5\], 0, 0\) must be one printable line"),
    ("describe_rules", ["Roll.", "two\nlines"], r"sentence 2 of describe_rules\(\) must be one"),
]


@pytest.mark.parametrize(("name", "words", "message"), WORDS)
def test_words_that_are_no_line_are_named(twenty_one, name, words, message):
    game = broken(twenty_one)
    said = type("Said", (Presentation,), {name: lambda shown, *given: words})
    presents(type(game))(said)
    with pytest.raises(GameError, match=message):
        check_game(game)


FEW = {
    "observe": lambda seen: seen[:, ::-1],
    "encode": lambda states: states - 1,
    "mask": lambda mask: mask & [True, False],
    "law": lambda rows: 1 - rows,
    **dict.fromkeys(("advance", "exact_advance"), lost),
}


@pytest.mark.parametrize("name", FEW)
def test_rules_that_depend_on_the_size_of_the_batch_are_named(twenty_one, name):
    of_few = lambda right, *asked: FEW[name](right) if len(asked[0]) < 5 else right  # noqa: E731
    game = broken(twenty_one, **changed(name, of_few))
    message = f"{name} must say the same of a (state|move) in every batch, got others of|of one mo"
    with pytest.raises(GameError, match=message):
        rules.check_batches(game)


class Other:
    """A result of which some attributes are others."""

    def __init__(self, right, **changes):
        self.right = right
        vars(self).update(changes)

    def __getattr__(self, name):
        return getattr(self.right, name)


def off(found, *_):
    """Change an answer, whatever it is."""
    if isinstance(found, dict):
        return {payoff: chance / 2 for payoff, chance in found.items()}
    if isinstance(found, np.ndarray):
        return found / 2
    if hasattr(found, "_replace"):
        return found._replace(rewards=found.rewards / 2)
    return Other(found, found=Values(found.found.array + 1))


def back(_, lanes, *_drawn):
    return lanes.go_to(0 * lanes.states())


def forgetful(found, *_):
    return Other(found, blunders=lambda _: found.blunders(1))


SUM = "must agree with the sum over all moves"
ANSWERS = [
    ("solve", False, "solve must say the same in floats, .* for action 0 of player 0 in state 5"),
    ("solve", True, f"solve {SUM}, .* for action 0 of player 0"),
    ("evaluate", False, "evaluate must say the same in floats"),
    ("evaluate", True, f"evaluate {SUM}"),
    ("occupancy", False, "occupancy of state 5 must be 1.0 up to rounding, got 0.5"),
    ("occupancy", True, f"occupancy {SUM}, .* in state 5 of player"),
    ("outcome_distribution", False, "outcome_distribution must be .* up to rounding, got"),
    ("outcome_distribution", True, f"outcome_distribution {SUM}"),
]
WRONG = [
    (
        AliasLaws,
        "draw",
        lambda found, *_: found // 2,
        "step must obey P, .* whose chance is .* tim",
    ),
    (ArrayLanes, "advance", off, "step must obey P, got .* by action . of player 0 in state"),
    (ArrayLanes, "start", back, "reset must obey the initial law, state 0 of player 0"),
    (Engine, "rewards", lambda r, e, *_: r + (e.reward == "shaped"), "reward 'shaped' must give"),
    (Engine, "rewards", off, "planners must find .* in P, got"),
    (listed, "worth_of", lambda worth, *_: worth + 1, f"variance {SUM}"),
    (Evaluation, "_variance_of_sum", lambda *_: 7, f"variance {SUM}"),
    (answers, "score", forgetful, "what blunders cost together must be .* up to rounding"),
]
#: The same with the arithmetic that is wrong: all, or floats or fractions alone.
IN = [(*row, None) for row in WRONG]
IN += [(answers, name, off, message, exact) for name, exact, message in ANSWERS]


@pytest.mark.parametrize(("owner", "name", "change", "message", "exact"), every_third(IN))
def test_a_wrong_computation_is_named(twenty_one, monkeypatch, owner, name, change, message, exact):
    right = getattr(owner, name)

    def wrong(*given, **options):
        found = right(*given, **options)
        return change(found, *given) if exact in (None, bool(options.get("exact"))) else found

    monkeypatch.setattr(owner, name, wrong)
    if message.startswith("planners"):  # else the steps are named
        monkeypatch.setattr(environments, "_check_steps", lambda *_: None)
    with pytest.raises(GameError, match=message):
        check_game(Coins() if message.startswith("variance") else twenty_one(limit=4, sides=3))


@pytest.mark.slow
def test_it_needs_neither_pytest_nor_training():
    code = (
        "import sys; from exactdice.games import Greed; from exactdice.testing import check_game\n"
        "check_game(Greed(2, 2)); print({'pytest', 'torch', 'stable_baselines3'} & {*sys.modules})"
    )
    assert printed_by(code) == "set()"
