"""Where things are: the public names of ``exactdice.agents``, and modules that have moved.

Saved models name classes by the module of the day on which they were saved, and scripts import from
modules that have moved since. A module of an old name holds what the module that took its place
holds.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

#: What users import from ``exactdice.agents``, by name, and the modules that define it.
PUBLIC = {
    "ExactEvalCallback": "exactdice.agents.runs.callback",
    "FallingEntropy": "exactdice.agents.runs.models",
    "GameVecEnv": "exactdice.agents.learners.vec_env",
    "MaskedDQN": "exactdice.agents.learners.dqn",
    "MaskedDQNPolicy": "exactdice.agents.learners.dqn",
    "MaskedQRDQN": "exactdice.agents.learners.dqn",
    "MaskedQRDQNPolicy": "exactdice.agents.learners.dqn",
    "QLearning": "exactdice.agents.learners.q_learning",
    "QTable": "exactdice.agents.learners.q_learning",
}
#: Modules that have moved, by their old names.
MOVED = {
    "exactdice.agents.callbacks": "exactdice.agents.runs.callback",
    "exactdice.agents.dqn": "exactdice.agents.learners.dqn",
    "exactdice.agents.models": "exactdice.agents.runs.models",
    "exactdice.agents.q_learning": "exactdice.agents.learners.q_learning",
    "exactdice.agents.vec_env": "exactdice.agents.learners.vec_env",
    "exactdice.games.game": "exactdice.core.game",
    "exactdice.games.greed": "exactdice.games.greed.game",
    "exactdice.games.lowest_score": "exactdice.games.lowest_score.game",
    "exactdice.games.lowest_score_match": "exactdice.games.lowest_score.match",
    "exactdice.games.shut_the_box": "exactdice.games.shut_the_box.game",
    "exactdice.games.four_two_one": "exactdice.games.four_two_one.game",
    "exactdice.games.four_two_one_match": "exactdice.games.four_two_one.match",
}


def public_path(path: str) -> str:
    """Give the public path of a class by any path that it has had; other paths stay as they are."""
    module, _, name = path.rpartition(".")
    if name in PUBLIC and PUBLIC[name] == MOVED.get(module, module):
        return f"exactdice.agents.{name}"
    return path


class MovedFinder(MetaPathFinder, Loader):
    """Imports modules by their old names, where no module has taken the name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Say that a module that has moved is there."""
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Fill a module of an old name with the contents of the module that took its place."""
        new = vars(import_module(MOVED[module.__name__]))
        vars(module).update({name: value for name, value in new.items() if name[:2] != "__"})


def find_moved() -> None:
    """Have Python find modules that have moved, once it has found no other module of the name."""
    if not any(isinstance(finder, MovedFinder) for finder in sys.meta_path):
        sys.meta_path.append(MovedFinder())
