"""Public names, and what files and scripts name by the paths of yesterday."""

import base64
import io
import json
import pickle
import zipfile
from importlib import import_module

import pytest
from exactdice.agents.learners.dqn import MaskedDQN, MaskedDQNPolicy
from exactdice.agents.learners.q_learning import QTable
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.agents.paths import MOVED, PUBLIC
from exactdice.agents.runs.arguments import read_hyperparameters
from exactdice.agents.runs.callback import ExactEvalCallback
from exactdice.agents.runs.models import FallingEntropy
from exactdice.baselines import Task
from exactdice.games import Greed

import exactdice
from exactdice import agents


@pytest.mark.parametrize("name", list(PUBLIC))
def test_public_classes_come_from_one_place(name):
    found = getattr(agents, name)
    assert (found.__module__, found.__qualname__) == (PUBLIC[name], name)


def test_other_names_are_not_there():
    with pytest.raises(AttributeError, match="'exactdice.agents' has no attribute 'SARSA'"):
        agents.SARSA  # noqa: B018


@pytest.mark.parametrize("old", list(MOVED))
def test_modules_that_have_moved_are_found_by_their_old_names(old):
    found, new = import_module(old), import_module(MOVED[old])
    defined = {
        name
        for name, value in vars(new).items()
        if getattr(value, "__module__", None) == new.__name__ and name[0] != "_"
    }
    if found.__spec__.submodule_search_locations is None:  # a package gives its public names only
        assert all(getattr(found, name) is getattr(new, name) for name in defined)
    assert new.__spec__.name == new.__name__ == MOVED[old]


@pytest.mark.parametrize(
    ("path", "now"),
    [
        (b"exactdice.agents.callbacks\nExactEvalCallback", ExactEvalCallback),
        (b"exactdice.agents.dqn\nMaskedDQNPolicy", MaskedDQNPolicy),
        (b"exactdice.agents.q_learning\nQTable", QTable),
        (b"exactdice.agents.vec_env\nGameVecEnv", GameVecEnv),
        (b"exactdice.agents.models\nFallingEntropy", FallingEntropy),
        (b"exactdice.games.greed\nGreed", Greed),
    ],
)
def test_what_pickles_name_by_its_old_path_is_found(path, now):
    """As saved models hold it: the opcode for a class, where it is, and the end."""
    assert pickle.loads(b"c" + path + b"\n.") is now


#: Modules that a saved masked DQN names, now and before they moved.
BEFORE = {
    "exactdice.agents.learners.dqn": "exactdice.agents.dqn",
    "exactdice.core.game": "exactdice.games.game",
    "exactdice.games.greed.game": "exactdice.games.greed",
}


class OldNames(pickle._Pickler):
    """Pickles as it was done before modules moved."""

    def save_global(self, obj, name=None):
        """Write the place of a class or function, by its old name."""
        module = BEFORE.get(obj.__module__, obj.__module__)
        self.write(f"c{module}\n{name or obj.__qualname__}\n".encode())
        self.memoize(obj)

    dispatch = {**pickle._Pickler.dispatch, type: save_global}  # noqa: RUF012


OldNames.dispatch[type(pickle.dumps)] = OldNames.dispatch[type(import_module)] = (
    OldNames.save_global
)


def with_old_names(path, place):
    """Write a saved model anew in which every pickle names modules as before."""
    named = []
    with zipfile.ZipFile(path) as file, zipfile.ZipFile(place, "w") as old:
        for name in file.namelist():
            content = file.read(name)
            if name == "data":
                description = json.loads(content)
                for key, entry in description.items():
                    if key in ("policy_class", "policy_kwargs") and ":serialized:" in entry:
                        kept = pickle.loads(base64.b64decode(entry[":serialized:"]))
                        buffer = io.BytesIO()
                        OldNames(buffer, protocol=2).dump(kept)
                        entry[":serialized:"] = base64.b64encode(buffer.getvalue()).decode()
                        named.append(buffer.getvalue())
                content = json.dumps(description).encode()
            old.writestr(name, content)
    return b"".join(named)


def test_a_model_of_yesterday_is_scored_and_loaded(tmp_path):
    task = Task(Greed(10, 3))
    env = GameVecEnv(task, 4)
    model = MaskedDQN(
        MaskedDQNPolicy, env, learning_starts=8, buffer_size=100, batch_size=8, device="cpu", seed=1
    ).learn(64)
    model.save(tmp_path / "now.zip")
    pickles = with_old_names(tmp_path / "now.zip", tmp_path / "yesterday.zip")
    for old in BEFORE.values():
        assert f"c{old}\n".encode() in pickles
    expected = exactdice.score(model, task).value
    assert exactdice.score(tmp_path / "yesterday.zip", task).value == expected
    loaded = MaskedDQN.load(tmp_path / "yesterday.zip", device="cpu")
    assert exactdice.score(loaded, task).value == expected


@pytest.mark.parametrize("old", ["exactdice.agents.models", "exactdice.agents.runs.models"])
def test_callbacks_in_hyperparameter_files_are_found_by_their_old_paths(old):
    named = {"n_envs": 8, "n_timesteps": 10, "callback": f"{old}.FallingEntropy"}
    assert read_hyperparameters("ppo", named).callback == "exactdice.agents.FallingEntropy"
    several = read_hyperparameters("ppo", {**named, "callback": [named["callback"], "other.Thing"]})
    assert several.callback == ["exactdice.agents.FallingEntropy", "other.Thing"]
