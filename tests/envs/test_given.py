"""Games and environments of others: registered, loaded from where they are, or with a known law."""

import importlib
import inspect
import itertools
import json
import pickle
import re
import sys
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.baselines import Task
from exactdice.baselines.scoring.summary import costliest, summary
from exactdice.envs import REFERENCE, GameEnv, find_game, full_place
from exactdice.games import GAMES, Game, GameError, Greed, InputError
from gymnasium.utils.env_checker import check_env
from spawned import printed_by
from thinning import later

import exactdice

pytestmark = pytest.mark.usefixtures("own_games")


class Short(Greed):
    """A game as anybody may write it; one that is made of Greed's rules has a known value."""

    name = "Short"

    def __init__(self, max_score=7):
        super().__init__(max_score, 3)


FILE = "import exactdice\nfrom exactdice.games import Greed\n\n" + inspect.getsource(Short)


def roll(game, dice=0):
    return np.full(game.num_states, int(dice))


def test_a_registered_game_is_one_of_the_package_everywhere():
    exactdice.register(Short, policies={"stop": roll, "roll:<dice>": roll})
    known = gym.make("exactdice/Greed-v0", max_score=7, sides=3)
    env = gym.make("exactdice:exactdice/Short-v0")
    assert exactdice.solve(env).value == exactdice.solve(known).value
    everywhere = np.ones(known.unwrapped.task.game.num_states, dtype=np.int64)
    assert exactdice.score("roll:1", env).value == exactdice.score(everywhere, known).value
    against = gym.make("exactdice/Short-v0", opponent="stop")  # who is beaten by any point
    assert exactdice.solve(against).value == pytest.approx(1)
    assert gym.make_vec("exactdice/Short-v0", 3).reset(seed=0)[0].shape == (3, 3)
    assert exactdice.score("stop", env).task.game == Short()
    assert "exactdice/Short-v0" not in REFERENCE  # which a game need not have


def test_a_class_may_be_registered_again_and_a_reloaded_one_replaces_it(tmp_path, monkeypatch):
    (tmp_path / "short_game.py").write_text(FILE)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("short_game")
    for _ in range(2):
        exactdice.register(module.Short, policies={"stop": roll})
    importlib.reload(module)
    exactdice.register(module.Short)
    assert GAMES["Short"] is module.Short
    assert gym.make("exactdice/Short-v0").unwrapped.task.game == module.Short()


def other(**changes):
    """Give a class of the game in which some attributes or methods are others."""
    return type("Other", (Short,), changes)


def takes(arguments):
    """Give a class of the game whose constructor takes some arguments."""
    return other(__init__=eval(f"lambda self, {arguments}: None"))


#: Arguments that never come to the game.
TAKEN = ["seat", "reward", "encoding", "opponent", "render_mode", "num_envs", "game", "wrappers"]
REFUSED_GAMES = [
    (other(name="Greed"), InputError, "must be free, got Greed, which .*greed.game.py:Greed has"),
    (dict, InputError, "game must be a subclass of exactdice.games.Game, got dict"),
    (Short(), InputError, r"game must be a subclass of exactdice.games.Game, got Short\("),
    (other(name=None), GameError, "Other must have a name that is one word, got None"),
    (other(name="a/b"), GameError, "Other must have a name that is one word, got 'a/b'"),
    (takes("max_score"), GameError, "Short must have a default for each argument, got max_score"),
    (takes("*sizes"), GameError, r"Short must take its arguments by name, got \*sizes"),
    (type("Empty", (Game,), {"name": "New"}), GameError, "must have the methods advance, .*, s"),
    *((takes(f"{word}=0"), GameError, f"other than .*{word}.*, got {word}$") for word in TAKEN),
]
REFUSED_POLICIES = [
    ({"optimal": roll}, "policies must have names other than optimal, .*, got 'optimal'"),
    ({"random:<x>": roll}, "policies must have names other than .*, got 'random:<x>'"),
    ({"stop": 0}, "policies must be functions of the game, got 0 as stop"),
]
REFUSED = [(game, {}, error, message) for game, error, message in REFUSED_GAMES]
REFUSED += [(Short, policies, InputError, message) for policies, message in REFUSED_POLICIES]


@pytest.mark.parametrize(("game", "policies", "error", "message"), REFUSED)
def test_what_cannot_be_registered_is_named(game, policies, error, message):
    with pytest.raises(error, match=message):
        exactdice.register(game, policies=policies)
    assert GAMES["Greed"] is Greed
    assert "Short" not in GAMES


def test_an_attribute_that_is_missing_is_named():
    class Unsized(Short):
        def __init__(self):
            super().__init__()
            del self.num_states

    with pytest.raises(GameError, match="Unsized must have the attributes num_states"):
        Task(Unsized())


@pytest.mark.parametrize("place", ["{folder}/short.py:Short", "short:Short"])
def test_a_game_is_loaded_from_its_place_once(place, tmp_path, monkeypatch):
    (tmp_path / "short.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    place = place.format(folder=tmp_path)
    assert find_game(place) is find_game(place) is GAMES["Short"]
    assert gym.make("exactdice/Short-v0").unwrapped.task.game == GAMES["Short"]()
    # A place that is kept holds in every working directory.
    assert full_place("a/short.py:Short") == f"{tmp_path}/a/short.py:Short"
    assert [full_place(game) for game in ("greed", "a.b:C")] == ["Greed", "a.b:C"]


def write_rules(folder, sides):
    """Write a game whose rules are in a module beside it, and in a package."""
    (folder / "dice_of_it").mkdir(parents=True)
    (folder / "dice_of_it" / "__init__.py").write_text(f"SIDES = {sides}")
    (folder / "its_rules.py").write_text("from dice_of_it import SIDES\n\nLIMIT = 7")
    text = FILE.replace("Short", f"Short{sides}").replace("(max_score, 3)", "(LIMIT, SIDES)")
    (folder / "short.py").write_text(f"from its_rules import LIMIT, SIDES\n{text}")
    return f"{folder}/short.py:Short{sides}"


def test_a_file_imports_its_neighbours_and_never_those_of_another_game(tmp_path):
    before = list(sys.path)
    places = [write_rules(tmp_path / str(sides), sides) for sides in (3, 4)]
    for place, sides in zip(places, (3, 4), strict=True):
        game = find_game(place)
        assert (game().max_score, game().sides) == (7, sides)
    assert sys.path == before
    assert sys.modules["its_rules"].SIDES == 3  # of the first, which may import it again
    for name in ("its_rules", "dice_of_it"):
        del sys.modules[name]
    again = (
        "import sys; from exactdice.envs import find_game\n"
        f"print(find_game({places[0]!r})().sides, {str(tmp_path)!r} in ' '.join(sys.path))"
    )
    assert printed_by(again) == "3 False"


@pytest.mark.parametrize("imported_first", [True, False])
def test_a_file_that_is_imported_too_is_the_same_game(imported_first, tmp_path, monkeypatch):
    """As in a script that imports its game and scores a run that the command line has made."""
    (tmp_path / "short.py").write_text(FILE + "\nexactdice.register(Short)\n")
    monkeypatch.syspath_prepend(tmp_path)
    place = f"{tmp_path}/short.py:Short"
    if not imported_first:
        find_game(place)
    game = importlib.import_module("short").Short
    assert not imported_first or find_game(place) is game
    assert GAMES["Short"] is game


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (FILE, "other.py:Short", "game must be in a file that exists, got .*other.py"),
        (FILE, "short.py:Long", "game must be a class in short.py, which has no 'Long'"),
        (FILE, "short.py:exactdice", "game must be a subclass of .*, got exactdice"),
        (FILE, "nowhere:Short", "imported, got nowhere: ModuleNotFoundError: No module named"),
        ("1 / 0", "short.py:Short", "imported, got short.py: ZeroDivisionError: division by zero"),
        ("raise SystemExit", "short.py:Short", "imported, got short.py: SystemExit$"),
        ("x = (", "short.py:Short", "imported, got short.py: SyntaxError: '.' was never closed"),
        (FILE.replace('"Short"', '"Greed"'), "short.py:Short", "name must be free, got Greed"),
        (FILE, "Chess", "game must be one of Greed, .*FILE.py:CLASS or MODULE:CLASS, got 'Chess'"),
        (FILE, ":", "game must be in a module that can be imported, got : ValueError"),
        (FILE, "greeed", "got 'greeed'; did you mean Greed?"),
        (FILE, 3, "game must be one of Greed, .*, got 3"),
    ],
)
def test_what_cannot_be_loaded_is_said_in_one_line(text, place, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("short.py").write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        find_game(place)
    assert "\n" not in str(caught.value)


LAKE = "FrozenLake-v1"


@pytest.mark.parametrize(
    ("name", "keywords", "limited", "free"),
    [
        (LAKE, {}, 0.7441902878, Fraction(14, 17)),
        later((LAKE, {"map_name": "8x8", "max_episode_steps": 200}, 0.9132201502, 1)),
        (LAKE, {"is_slippery": False}, 1, 1),
        ("Taxi-v4", {}, 7.93, Fraction(793, 100)),
        ("CliffWalking-v1", {}, -13, -13),
    ],
)
def test_optima_of_toy_text(name, keywords, limited, free):
    """Within the limit and without one, by value iteration of another program in floats."""
    env = gym.make(name, **keywords)
    within, without = exactdice.solve(env), exactdice.solve(env.unwrapped)
    assert within.value == pytest.approx(limited, abs=5e-9)
    assert without.value == pytest.approx(float(free), abs=1e-9)
    assert without.error_bound < 1e-9
    assert exactdice.solve(env.unwrapped, exact=True).value == free


def test_the_limit_holds_for_a_stationary_policy():
    env = gym.make(LAKE)
    policy = exactdice.solve(env.unwrapped).policy.likeliest(np.arange(16))
    score = exactdice.score(policy, env)
    assert score.optimum == pytest.approx(0.7441902878)
    assert score.value < score.optimum - 1e-3  # the best stationary policy does not see the time
    worth = np.zeros(16)
    for _ in range(100):
        ways = [env.unwrapped.P[state][policy[state]] for state in range(16)]
        worth = [sum(p * (paid + worth[to] * (not over)) for p, to, paid, over in w) for w in ways]
    assert score.value == pytest.approx(worth[0], abs=1e-12)
    assert "within 100 moves" in str(score)
    assert "without a limit of moves" in str(exactdice.score(policy, env.unwrapped))


def test_policies_that_never_end():
    cliff = gym.make("CliffWalking-v1")
    with pytest.raises(InputError, match=r"in state 36 of CliffWalking-v1: give a horizon"):
        exactdice.score(np.full(48, 3), cliff)
    assert exactdice.score(np.full(48, 3), exactdice.from_P(cliff, horizon=50)).value == -50
    lake = gym.make(LAKE, is_slippery=False)
    assert exactdice.score(np.full(16, 0), lake.unwrapped).value == 0  # nothing is paid on the way


def test_occupancies_are_the_expected_visits():
    env = gym.make(LAKE).unwrapped
    follows = np.zeros((16, 16))  # probability of each state after each state
    for state, ways in env.P.items():
        for chance, after, _, over in itertools.chain(*ways.values()):
            follows[state, after] += chance / 4 * (not over)
    visits = np.linalg.inv(np.eye(16) - follows)[0]
    np.testing.assert_allclose(exactdice.occupancy("random", env), visits, atol=1e-12)


def test_masks_of_toy_text_are_legal_actions():
    env = gym.make("Taxi-v4").unwrapped
    legal = [env.action_mask(state) for state in range(500)]
    masked = exactdice.from_P(env, legal=legal, horizon=200)
    free = exactdice.from_P(env, horizon=200)
    assert exactdice.solve(masked).value == pytest.approx(7.93)
    assert exactdice.score("random", masked).value > exactdice.score("random", free).value


@pytest.mark.parametrize(
    ("law", "options", "said"),
    [
        ({0: {0: [(0.5, 0, 0, True)]}}, {}, "sum to 1, got a sum of 0.5 for action 0 in state 0"),
        ({0: {0: [(1.0, 3, 0, True)]}}, {}, "states from 0 to 0, got (1.0, 3, 0, True)"),
        ({0: {0: [(1.0, 0, 0)]}}, {}, "got (1.0, 0, 0)"),
        ({0: {0: [(1.0, -1, 0, True)]}}, {}, "states from 0 to 0, got (1.0, -1, 0, True)"),
        ({1: {0: [(1.0, 0, 0, True)]}}, {}, "P must have the states 0 to 0"),
        ({0: {0: [(1.0, 0, float("nan"), True)]}}, {}, "finite reward, terminated"),
        ({0: {0: [(1.0, 0, 1, False)]}}, {}, "must be able to end, and no moves lead from state 0"),
        ({0: {0: [(1.0, 0, 1, True)]}}, {"initial": 2}, "initial must be a state from 0 to 0"),
        ({0: {0: [(1.0, 0, 1, True)]}}, {"initial": [0.5]}, "initial must be 1 probabilities"),
        ({0: {0: [(1.0, 0, 1, True)]}}, {"gamma": 1.5}, "gamma must be from 0 to 1, got 1.5"),
        ({0: {0: [(1.0, 0, 1, True)]}}, {"horizon": 0}, "horizon must be an integer of at least 1"),
        ({0: {0: [(1.0, 0, 1, True)]}}, {"rewards": [1]}, "rewards must be left out"),
        ([np.eye(2)], {}, "rewards must be given with matrices"),
        ([np.eye(2)], {"rewards": np.zeros(3)}, "rewards must be of shape (2,), (2, 1) or"),
        ({0: {0: []}}, {}, "a state must have an action with an outcome, got none in state 0"),
    ],
)
def test_mistakes_are_named(law, options, said):
    with pytest.raises((GameError, InputError), match=re.escape(said)):
        exactdice.from_P(law, **{"initial": 0, **options})


def test_the_command_line_knows_environments_by_their_ids(prints, run):
    words = ("solve", "gym:FrozenLake-v1", "--env")
    assert "optimal value 0.640719270" in prints(*words, "map_name", "8x8")
    assert "optimal value 14/17" in prints(*words, "horizon", "0", "--exact")
    assert "without a limit of moves" in prints("score", "random", *words[1:], "horizon", "0")
    said = run("solve", "gym:CartPole-v1")[2]
    assert "; exactdice.explore(env) lists an environment that can be copied" in said
    assert "doesn't exist" in run("solve", "gym:Nothing-v0")[2]
    assert run("solve", *words[1:], "map_name", "9x9")[2].endswith("made: KeyError: '9x9'\n")


def test_commands_write_json_and_files_about_environments_of_others(prints, run, tmp_path):
    lake, table, held = "gym:FrozenLake-v1", tmp_path / "actions.npy", tmp_path / "held.npz"
    np.save(table, np.full(16, 2))
    told = json.loads(prints("score", str(table), lake, "--json"))
    assert told["blunders"][0]["observation"].keys() == {"state"}
    assert "those with state 4." in prints("score", "random", lake)  # numbers have no order
    for words in (("solve", lake), ("compare", str(table), "random", lake), ("describe", lake)):
        assert json.loads(prints(*words, "--json"))
    table.write_text("no array")
    said = "must be an array of numbers that numpy.save wrote"
    assert said in run("score", str(table), lake)[2]
    game = find_game(lake)()
    exactdice.score(np.full(16, 2), exactdice.Task(game)).save(held)
    assert ": holds, value" in prints("verify", str(held), lake)
    GAMES.pop(game.name)
    assert "place of another game follows, FILE.py:CLASS or gym:ID" in run("verify", str(held))[2]
    with pytest.raises(InputError, match="must be of a game with a name and keywords of numbers"):
        exactdice.score("random", gym.make(LAKE)).save(held)


def test_rows_of_bits_are_audited_by_the_encoding(run):
    bits = np.zeros((1, 1, 16), dtype=np.float32)
    bits[0, 0, 4] = 1
    columns = dict.fromkeys(("actions", "rewards", "terminated"), np.zeros((1, 1)))
    np.savez("record.npz", observations=bits, **columns)
    words = ("audit", "record.npz", "gym:FrozenLake-v1")
    assert "has env the encoding one_hot_float, or FlattenObservation?" in run(*words)[2]
    told = run(*words, "--env", "encoding", "one_hot_float")[1]
    assert "holds      rewards" in told
    assert "unchecked  update: a file holds no gradient step" in told


def test_networks_embed_states_or_are_told_of_their_bits():
    env = gym.make(LAKE)
    embeds, bits = torch.nn.Embedding(16, 4), torch.nn.Linear(16, 4, bias=False)
    with torch.no_grad():
        bits.weight.copy_(embeds.weight.T)
    found = exactdice.score(bits, gym.wrappers.FlattenObservation(env))
    assert exactdice.score(embeds, env).value == found.value
    with pytest.raises(InputError, match=r"has its env the wrapper FlattenObservation\?$"):
        exactdice.score(bits, env)
    with pytest.raises(InputError, match="must accept the observations of env"):
        exactdice.score(embeds, gym.wrappers.FlattenObservation(env))


def test_a_task_is_an_environment():
    task = exactdice.from_P(gym.make(LAKE), gamma=0.9)
    env = GameEnv(task)
    check_env(env, skip_render_check=True)
    assert exactdice.solve(env).value == exactdice.solve(task).value
    with pytest.raises(InputError, match="seat and keywords must be left out, as the task has"):
        GameEnv(task, seat=1)
    with pytest.raises(InputError, match=r"game must be one of .* 'Gred'; did you mean Greed\?"):
        GameEnv("Gred")
    with pytest.raises(TypeError, match="gym:MiniGrid-Empty-8x8-v0 --explore on the command"):
        exactdice.solve("minigrid:MiniGrid-Empty-8x8-v0")
    with pytest.raises(InputError, match=r"did you mean gym:FrozenLake-v1\?"):
        find_game(LAKE)


def test_networks_see_the_moves_so_far_of_a_task_within_a_limit():
    """The environment shows states alone; a task within a limit shows (state, moves)."""
    env, shapes = gym.make(LAKE), set()

    def network(seen):
        shapes.add(seen.shape[1:])
        return np.tile([0.0, 0.0, 1.0, 0.0], (len(seen), 1))

    tasks = env, exactdice.from_P(env), exactdice.from_P(env, horizon=5)
    for task, shape in zip(tasks, [(), (), (2,)], strict=True):
        exactdice.score(exactdice.from_network(network, task), task)
        assert shapes == {shape}
        shapes.clear()


def test_games_of_ids_are_pickled_and_equal():
    kind = find_game("gym:FrozenLake-v1")
    game = kind(map_name="8x8", horizon=50)
    assert game != kind(horizon=50)
    for each in (game, exactdice.as_task(gym.make(LAKE)).game):
        assert pickle.loads(pickle.dumps(each)) == each


def test_environments_without_a_law_are_refused():
    with pytest.raises(InputError, match="must have P"):
        exactdice.from_P(gym.make("CartPole-v1"))
    scaled = gym.wrappers.TransformReward(gym.make(LAKE), lambda reward: 2 * reward)
    with pytest.raises(InputError, match="TransformReward"):
        exactdice.solve(scaled)
    with pytest.raises(InputError, match=r"\(state, moves\)"):
        exactdice.solve(gym.make(LAKE)).action_values(0)


def test_tables_by_state_are_named_and_their_blunders_are_of_states():
    """An agent does not see the time within the limit: its mistakes of a state are one."""
    env, table = gym.make(LAKE), np.random.default_rng(0).random((16, 4))
    shapes = r"shape \(16, 4\) \(state, action\) or integers of shape \(16,\), got float64 of sha"
    for wrong, shown in ((table.T, r"pe \(4, 16\)"), (table[:, 0], r"pe \(16,\)")):
        with pytest.raises(InputError, match=shapes + shown):
            exactdice.score(wrong, env)
    with pytest.raises(InputError, match=r"values, give policy\.argmax\(axis=1\)$"):
        exactdice.score(table, env)
    for played in (env, env.unwrapped):
        score = exactdice.score(table.argmax(axis=1), played)
        found = score.blunders(None)
        assert len({blunder.observation for blunder in found}) == len(found) <= 11
        assert sum(blunder.cost for blunder in found) == pytest.approx(score.regret)
        costs = [blunder.cost for blunder in found]
        assert costs == sorted(costs, reverse=True)


def test_the_worst_part_of_a_law_is_a_state_by_its_name_and_no_span_of_time():
    law, paid = [np.array([[0.5, 0.5], [0, 1]]), np.eye(2)], np.array([[1, 0], [2, 0]])
    for names, said in (((), "state 1"), (("here", "there"), 'state "there"')):
        task = exactdice.from_P(law, initial=0, horizon=9, rewards=paid, states=names)
        worst = summary(exactdice.score(np.array([0, 1]), task))[-1]
        assert worst.endswith(f"of its decisions: those with {said}.")
    assert "moves" not in summary(exactdice.score(np.full(500, 0), "Taxi-v4"))[-1]


def test_functions_and_dictionaries_are_shown_the_integer_that_the_environment_shows():
    env = gym.make("FrozenLake-v1")
    table = exactdice.solve(env.unwrapped).policy.likeliest(np.arange(16))
    rows, values = table.tolist(), np.eye(4)[table]
    wanted = exactdice.score(table, env).value
    learnt = defaultdict(lambda: np.zeros(4), enumerate(values))
    for policy in (
        lambda state: rows[state],
        lambda seen, legal: table[seen],
        defaultdict(int, {(state,): action for state, action in enumerate(rows)}),
        exactdice.from_network(learnt, env),
        exactdice.from_network(lambda seen: values[seen], env),
    ):
        assert exactdice.score(policy, env).value == wanted
        assert exactdice.compare(policy, table, env).gain == 0
    with pytest.raises(ValueError, match="got none for 1: a collections.defaultdict"):
        exactdice.score(exactdice.from_network({0: [0, 0, 0, 1]}, env), env)
    with pytest.raises(ValueError, match=r"got ndarray: for .* give lambda seen: table\[seen\]"):
        exactdice.from_network(values, env)
    assert costliest(exactdice.score(lambda state: 3, env), 1).header[-1] == "times a game"
