"""The public names of ``exactdice.agents``, and the old names of modules that have moved.

Saved models and scripts name modules as these were called at the time. To import a module by its
old name gives a module with the contents of the new one.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

#: The classes that users import from ``exactdice.agents``, and the modules that define them.
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
#: The new names of modules that have moved, by their old names.
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
    """Return the public path of a class by any of its old paths; other paths are unchanged."""
    module, _, name = path.rpartition(".")
    if name in PUBLIC and PUBLIC[name] == MOVED.get(module, module):
        return f"exactdice.agents.{name}"
    return path


class MovedFinder(MetaPathFinder, Loader):
    """Imports modules by their old names, unless a new module has the name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a specification for the old name of a module that has moved."""
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Copy the contents of the new module into the module of the old name."""
        new = vars(import_module(MOVED[module.__name__]))
        vars(module).update({name: value for name, value in new.items() if name[:2] != "__"})


def find_moved() -> None:
    """Have Python find modules by their old names, after all other ways to find them."""
    if not any(isinstance(finder, MovedFinder) for finder in sys.meta_path):
        sys.meta_path.append(MovedFinder())
