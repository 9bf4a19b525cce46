"""Games of OpenSpiel: values agree with recursion over its states, and other games are refused."""

import pickle
import sys
from functools import cache

import numpy as np
import pytest
from exactdice.core import GameError, InputError, SizeError
from exactdice.envs import find_game, from_spiel
from exactdice.envs.api import spiel

import exactdice


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    for game in ("tic_tac_toe", 3):
        with pytest.raises(
            InputError, match=r"from_spiel needs .*pip install 'exactdice\[spiel\]'"
        ):
            from_spiel(game)
    with pytest.raises(InputError, match="pip install"):
        find_game("spiel:tic_tac_toe")


class Hidden:
    """A state of a game of two players like OpenSpiel's, whose text leaves something out.

    A player takes 1 or 2 of some things; the player who takes the last one wins, or, if the first
    move was 2, twice as much. A limit may end it before.
    """

    things, limit, drawn = 5, 100, False

    def __init__(self, moves=()):
        self.moves = [*moves]

    def __str__(self):
        return str(self.things - sum(self.moves))

    def history(self):
        return [*self.moves]

    def child(self, action):
        return type(self)([*self.moves, action])

    def apply_action(self, action):
        self.moves.append(action)

    def is_chance_node(self):
        return False

    def current_player(self):
        return len(self.moves) % 2

    def legal_actions(self):
        return [each for each in (1, 2) if each <= self.things - sum(self.moves)]

    def is_terminal(self):
        return sum(self.moves) >= self.things or len(self.moves) >= self.limit

    def pays(self):
        return 1.0 + (self.moves[0] == 2)

    def returns(self):
        if not self.is_terminal() or sum(self.moves) < self.things:
            return [0.0, 0.0]
        return [self.pays(), -self.pays()][:: -1 if len(self.moves) % 2 == 0 else 1]

    rewards = returns


class Circling(Hidden):
    """Take 1 of two things, or put all back; the limit ends it."""

    things, limit = 2, 6

    def __str__(self):
        return str(self.left())

    def left(self):
        left = self.things
        for move in self.moves:
            left = self.things if move == 2 else left - 1
        return left

    def legal_actions(self):
        return [1, 2]

    def is_terminal(self):
        return self.left() == 0 or len(self.moves) >= self.limit

    def returns(self):
        if self.left():
            return [0.0, 0.0]
        return [1.0, -1.0] if len(self.moves) % 2 else [-1.0, 1.0]

    rewards = returns


class Rules:
    """A game of such states."""

    def __init__(self, state):
        self.new_initial_state, self.limit = state, state.limit

    def __str__(self):
        return self.new_initial_state.__name__

    def max_game_length(self):
        return self.limit

    def get_type(self):
        class Kind:
            provides_observation_tensor = provides_information_state_tensor = False

        return Kind


@pytest.fixture
def made(monkeypatch):
    """Make the task of such states, as of a game of OpenSpiel."""

    def make(state, **options):
        monkeypatch.setattr(spiel, "_loaded", lambda text: Rules(state))
        monkeypatch.setattr(spiel, "_require", lambda rules, declared: None)
        return exactdice.Task(spiel.SpielGame(state.__name__, **options))

    return make


def recursion(state):
    """The value to player 0 and the value of random play, by all histories."""
    if state.is_terminal():
        return (state.returns()[0],) * 2
    if state.is_chance_node():
        found = [(p, recursion(state.child(way))) for way, p in state.chance_outcomes()]
        return tuple(sum(p * each[i] for p, each in found) for i in (0, 1))
    found = [recursion(state.child(action)) for action in state.legal_actions()]
    best = (max, min)[state.current_player()]
    return best(each[0] for each in found), sum(each[1] for each in found) / len(found)


def both_random(task):
    if task.game.num_players == 1:
        return exactdice.score("random", task).value
    return exactdice.score("random", exactdice.Task(task.game, 0, "random")).value


def test_a_text_that_leaves_something_out_gives_way_to_histories(made):
    task = made(Hidden)
    assert task.game.kind == spiel.HISTORY
    assert "told apart by history" in task.words
    assert (exactdice.solve(task).value, both_random(task)) == pytest.approx(recursion(Hidden()))


def test_a_limit_that_the_text_leaves_out_is_counted_or_declared(made):
    task = made(Circling)
    assert task.game.kind == spiel.MOVES
    best, random = recursion(Circling())
    assert exactdice.solve(task).value == best
    assert both_random(task) == pytest.approx(random)
    limited = made(Circling, horizon=6)
    assert limited.game.rows == 4
    assert both_random(limited) == pytest.approx(random)
    Circling.limit = 4
    try:
        assert both_random(made(Circling)) == pytest.approx(recursion(Circling())[1])
    finally:
        Circling.limit = 6
    with pytest.raises(InputError, match="horizon must be at most 6"):
        made(Circling, horizon=7)
    with pytest.raises(GameError, match="must end with positive probability"):
        exactdice.solve(made(Circling, endless=True))
    with pytest.raises(InputError, match="endless must be False"):
        made(Circling, endless=True, histories=True)


def test_player_1_may_begin(made):
    class Second(Hidden):
        def current_player(self):
            return 1 - super().current_player()

        def returns(self):
            return super().returns()[::-1]

        rewards = returns

    task = made(Second)
    assert (exactdice.solve(task).value, both_random(task)) == pytest.approx(recursion(Second()))


def test_too_many_states_are_refused_with_what_was_left_out(made, monkeypatch):
    monkeypatch.setattr(spiel, "MOST", {spiel.MOVES: 3, spiel.HISTORY: 3})
    with pytest.raises(InputError, match=r"at most 3 states by text.*over 6 moves.*see horizon"):
        made(Circling)
    with pytest.raises(InputError, match=r"at most 3 states by text.* histories \[.*differently"):
        made(Hidden)


def test_payoffs_that_do_not_add_up_to_0_are_refused(made):
    class General(Hidden):
        def returns(self):
            return [2.0, -1.0] if self.is_terminal() else [0.0, 0.0]

        rewards = returns

    with pytest.raises(InputError, match=r"adds up to 0, got \[2.0, -1.0\]"):
        made(General)


GAMES = {
    "tic_tac_toe": {},
    "nim(pile_sizes=1;2;3)": {},
    "catch(rows=5)": {},
    "breakthrough(rows=3,columns=2)": {},
    "connect_four(rows=3,columns=3,x_in_row=3)": {},
    "cliff_walking(horizon=6)": {},
    "pig(winscore=4,horizon=6)": {},
    "dots_and_boxes(num_rows=1,num_cols=1)": {},
    "deep_sea(size=4)": {"perfect_information": True},
    "go(board_size=2,max_game_length=6)": {},
}


@pytest.fixture(scope="module")
def library():
    return pytest.importorskip("pyspiel")


@cache
def listed(name):
    return from_spiel(name, **GAMES.get(name, {}))


@pytest.mark.parametrize("name", [name for name in GAMES if name != "tic_tac_toe"])
def test_values_are_those_of_a_recursion_over_openspiels_states(library, name):
    task = listed(name)
    expected = recursion(library.load_game(name).new_initial_state())
    assert (exactdice.solve(task).value, both_random(task)) == pytest.approx(expected, abs=1e-12)


def test_figures_are_those_of_openspiel(library):
    """``exploitability`` of OpenSpiel gives .9598296957671957 after half a minute."""
    task = listed("tic_tac_toe")
    assert task.game.rows == 4520
    assert exactdice.exploitability("random", task) == pytest.approx(0.9598296957671957)
    game = library.load_game("nim(pile_sizes=1;2;3)")
    module = pytest.importorskip(
        "open_spiel.python.algorithms.exploitability", exc_type=ImportError
    )
    from open_spiel.python import policy

    uniform = policy.UniformRandomPolicy(game)
    found = exactdice.exploitability(uniform, listed(str(game)))
    assert found == pytest.approx(module.exploitability(game, uniform), abs=1e-12)


@pytest.mark.slow
def test_policies_and_agents_of_openspiel_are_policies(library):
    policy = pytest.importorskip("open_spiel.python.policy", exc_type=ImportError)
    from open_spiel.python.algorithms.random_agent import RandomAgent

    game, task = library.load_game("tic_tac_toe"), listed("tic_tac_toe")
    expected = exactdice.score("random", task).value
    first = policy.FirstActionPolicy(game)
    smallest = np.array([min(a for a in range(9) if legal[a]) for legal in task.game.mask(
        np.arange(task.game.num_states))])  # fmt: skip
    for ours, theirs in (("random", policy.UniformRandomPolicy(game)), (smallest, first)):
        value = exactdice.score(ours, task).value
        assert exactdice.score(theirs, task).value == pytest.approx(value)
        lost = exactdice.exploitability(ours, task)
        assert exactdice.exploitability(theirs, task) == pytest.approx(lost)
    assert exactdice.score(RandomAgent(0, 9), task).value == pytest.approx(expected)
    second = exactdice.Task(task.game, 1, first)
    assert exactdice.score(RandomAgent(1, 9), second).value == pytest.approx(
        exactdice.score("random", second).value
    )
    with pytest.raises(InputError, match="sum to 1, got 0 in state"):
        exactdice.score(RandomAgent(1, 9), task)  # which has no law for player 0
    with pytest.raises(InputError, match="observations must be left out"):
        exactdice.score(first, task, observations=np.asarray)
    with pytest.raises(InputError, match="policy must be for a game of from_spiel"):
        exactdice.score(first, "exactdice/Greed-v0")


def test_a_policy_of_histories_needs_them_as_states(library):
    policy = pytest.importorskip("open_spiel.python.policy", exc_type=ImportError)

    class Later(policy.Policy):
        def action_probabilities(self, state, player_id=None):
            legal = state.legal_actions()
            return {legal[0 if max(state.history()[:1], default=0) > 2 else -1]: 1.0}

    game = library.load_game("nim(pile_sizes=1;2;3)")
    later = Later(game, [0, 1])
    with pytest.raises(InputError, match=r"depend on the state alone, and Later .*histories=True"):
        exactdice.score(later, from_spiel(game))
    task = from_spiel(game, histories=True)
    assert exactdice.solve(task).value == recursion(game.new_initial_state())[0]
    value = exactdice.score(later, exactdice.Task(task.game, 0, later)).value
    state = game.new_initial_state()
    while not state.is_terminal():
        (action,) = later.action_probabilities(state)
        state.apply_action(action)
    assert value == state.returns()[0]


def test_functions_see_the_tensor_of_the_player_to_move(library):
    task, game = listed("tic_tac_toe"), library.load_game("tic_tac_toe")
    seen = []

    def policy(observations, legal):
        seen.extend(observations)
        return legal / legal.sum(axis=1, keepdims=True)

    expected = exactdice.score("random", task).value
    assert exactdice.score(policy, task).value == pytest.approx(expected)
    assert {each.shape for each in seen} == {(3, 3, 3)}
    against = exactdice.Task(task.game, 0, policy)
    assert exactdice.solve(against).value == pytest.approx(0.9947916666666667)
    state = game.new_initial_state()
    state.apply_action(4)
    shown = np.array(state.observation_tensor(1), np.float32).reshape(3, 3, 3)
    values = exactdice.solve(exactdice.Task(task.game, 1)).action_values(shown)
    assert values[4] == -np.inf or np.isnan(values[4])
    assert values[0] == 0
    assert values[1] == -1
    assert pickle.loads(pickle.dumps(task.game)) == task.game


@pytest.mark.usefixtures("library")
def test_games_of_another_kind_are_refused_by_name():
    for name, options, said in (
        ("matrix_pd", {}, "players move in turn, got matrix_pd"),
        ("kuhn_poker", {}, "perfect information .*perfect_information=True.* got kuhn_poker"),
        ("dou_dizhu", {}, "one or two players, got dou_dizhu"),
        ("lewis_signaling", {}, "adds up to 0, got lewis_signaling"),
        ("stones_and_gems", {}, "list its outcomes of chance, got stones_and_gems"),
        ("tictactoe", {}, "got 'tictactoe'; did you mean tic_tac_toe"),
        ("nim(piles=3)", {}, "that OpenSpiel loads: .*piles"),
        ("cliff_walking", {"horizon": 200}, "horizon must be at most 100"),
        ("tic_tac_toe", {"horizon": 0}, "horizon must be an integer of at least 1"),
        (3, {}, "one of OpenSpiel's .* got '3'"),
    ):
        with pytest.raises(InputError, match=said) as error:
            from_spiel(name, **options)
        assert "\n" not in str(error.value)
    with pytest.raises(SizeError, match="100,000 outcomes of chance in a row, got more in black"):
        from_spiel("blackjack", perfect_information=True)


@pytest.mark.usefixtures("library")
def test_pig_is_played_within_a_limit(monkeypatch):
    monkeypatch.setattr(spiel, "MOST", {spiel.MOVES: 300, spiel.HISTORY: 300})
    with pytest.raises(InputError, match="pig.* over 1,000 moves.*see horizon"):
        from_spiel("pig(winscore=5)")
    values = [
        exactdice.solve(from_spiel("pig(winscore=5)", horizon)).value for horizon in (20, 100, 200)
    ]
    assert values[0] != values[1]
    assert values[1] == pytest.approx(values[2], abs=1e-12)


@pytest.mark.slow
@pytest.mark.usefixtures("library")
def test_pig_without_a_limit_has_the_value_that_iteration_finds():
    """A state is (points, the other's points, points of the turn), to the player who moves."""
    task, most = from_spiel("pig(winscore=6)", endless=True), 6
    values = dict.fromkeys(
        ((own, other, turn) for own in range(most) for other in range(most)
         for turn in range(most - own + 1)), 0.0)  # fmt: skip
    for _ in range(100):
        for own, other, turn in values:
            end = own + turn >= most
            hold = 1.0 if end else -values[other, own + turn, 0]
            after = [values[own, other, min(turn + face, most - own)] for face in range(2, 7)]
            roll = (sum(after) - values[other, own, 0]) / 6
            values[own, other, turn] = max(hold, roll)
    solution = exactdice.solve(task)
    assert solution.value == pytest.approx(values[0, 0, 0], abs=1e-14)
    assert solution.error_bound < 1e-10
    limited = from_spiel("pig(winscore=6)", 200)
    lost = exactdice.exploitability("random", task)
    assert lost == pytest.approx(exactdice.exploitability("random", limited), abs=1e-12)


@pytest.mark.usefixtures("library", "own_games")
def test_the_command_line_has_games_of_openspiel():
    found = find_game("spiel:catch(rows=4)")
    assert issubclass(found, spiel.SpielGame)
    game = found()
    assert exactdice.solve(exactdice.Task(game)).value == 1
    assert pickle.loads(pickle.dumps(game)) == game
    assert find_game("spiel:deep_sea")(perfect_information=True).num_players == 1
    assert find_game("spiel:cliff_walking")(horizon=5).horizon == 5
    with pytest.raises(InputError, match="did you mean tic_tac_toe"):
        find_game("spiel:tic_tac_to")
