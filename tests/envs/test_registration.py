"""Games of one's own: registered from outside the package, or loaded from where they are."""

import importlib
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import Task
from exactdice.envs import REFERENCE, find_game, full_place
from exactdice.games import GAMES, Game, GameError, Greed, InputError
from spawned import printed_by

import exactdice

pytestmark = pytest.mark.usefixtures("own_games")

FILE = """
import exactdice
from exactdice.games import Greed

class Short(Greed):
    name = "Short"

    def __init__(self, max_score=7):
        super().__init__(max_score, 3)
"""


class Short(Greed):
    """A game as anybody may write it; one that is made of Greed's rules has a known value."""

    name = "Short"

    def __init__(self, max_score=7):
        super().__init__(max_score, 3)


def stop(game):
    return np.zeros(game.num_states, dtype=np.int64)


def roll(game, dice):
    return np.full(game.num_states, int(dice))


def test_a_registered_game_is_one_of_the_package_everywhere():
    exactdice.register(Short, policies={"stop": stop, "roll:<dice>": roll})
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
        exactdice.register(module.Short, policies={"stop": stop})
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
REFUSED = [
    (other(name="Greed"), InputError, "must be free, got Greed, which .*greed.game.py:Greed has"),
    (dict, InputError, "game must be a subclass of exactdice.games.Game, got dict"),
    (Short(), InputError, r"game must be a subclass of exactdice.games.Game, got Short\("),
    (other(name=None), GameError, "Other must have a name that is one word, got None"),
    (other(name="a/b"), GameError, "Other must have a name that is one word, got 'a/b'"),
    (takes("max_score"), GameError, "Short must have a default for each argument, got max_score"),
    (takes("*sizes"), GameError, r"Short must take its arguments by name, got \*sizes"),
    (type("Empty", (Game,), {"name": "New"}), GameError, "must have the methods advance, .*, s"),
    *(
        (takes(f"{word}=0"), GameError, f"arguments other than .*{word}.*, got {word}$")
        for word in TAKEN
    ),
]


@pytest.mark.parametrize(("game", "error", "message"), REFUSED)
def test_what_cannot_be_registered_is_named(game, error, message):
    with pytest.raises(error, match=message):
        exactdice.register(game)
    assert GAMES["Greed"] is Greed
    assert "Short" not in GAMES


@pytest.mark.parametrize(
    ("name", "policy", "message"),
    [
        ("optimal", stop, "policies must have names other than optimal, .*, got 'optimal'"),
        ("random:<x>", stop, "policies must have names other than .*, got 'random:<x>'"),
        ("stop", 0, "policies must be functions of the game, got 0 as stop"),
    ],
)
def test_policies_that_cannot_be_registered_are_named(name, policy, message):
    with pytest.raises(InputError, match=message):
        exactdice.register(Short, policies={name: policy})
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


def write_rules(folder, sides):
    """Write a game whose rules are in a module beside it, and in a package."""
    (folder / "dice_of_it").mkdir(parents=True)
    (folder / "dice_of_it" / "__init__.py").write_text(f"SIDES = {sides}")
    (folder / "its_rules.py").write_text("from dice_of_it import SIDES\n\nLIMIT = 7")
    text = FILE.replace("import exactdice", "import exactdice\nfrom its_rules import LIMIT, SIDES")
    name = f"Short{sides}"
    (folder / "short.py").write_text(
        text.replace("Short", name).replace("(max_score, 3)", "(LIMIT, SIDES)")
    )
    return f"{folder}/short.py:{name}"


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


def test_a_place_holds_in_every_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert full_place("a/short.py:Short") == f"{tmp_path}/a/short.py:Short"
    assert [full_place(game) for game in ("greed", "a.b:C")] == ["Greed", "a.b:C"]


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
