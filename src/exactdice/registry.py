"""The games of the package, and what other modules know of them, of policies and of environments.

Each entry is a place, MODULE:NAME, as in the registry of Gymnasium. So ``import exactdice`` loads
no game, and the modules below find what the modules above them define. ``Places`` of these tables
are in use: ``GAMES`` of ``core``, ``POLICIES`` of ``names``, ``CONVERTERS`` of ``door``, and
``INSPECTORS`` of ``problem``.
"""

from collections import UserDict
from collections.abc import Mapping
from typing import Any, TypeVar

Value = TypeVar("Value")

#: The classes of the games by name, in the order of all lists of games.
GAMES = {
    "Greed": "exactdice.games:Greed",
    "LowestScore": "exactdice.games:LowestScore",
    "LowestScoreMatch": "exactdice.games:LowestScoreMatch",
    "ShutTheBox": "exactdice.games:ShutTheBox",
    "FourTwoOne": "exactdice.games:FourTwoOne",
    "FourTwoOneMatch": "exactdice.games:FourTwoOneMatch",
    "Yahtzee": "exactdice.games:Yahtzee",
}
#: The policies of the sources, by game: tables of ``NamedPolicy`` by name.
POLICIES = {
    "Greed": "exactdice.games.greed.policies:POLICIES",
    "LowestScore": "exactdice.games.lowest_score.policies:POLICIES",
    "LowestScoreMatch": "exactdice.games.lowest_score.policies:MATCH_POLICIES",
    "FourTwoOne": "exactdice.games.four_two_one.policies:POLICIES",
    "FourTwoOneMatch": "exactdice.games.four_two_one.match_policies:POLICIES",
}
#: Functions that convert a user's object to a policy, by the package of the object's class.
CONVERTERS = {
    "stable_baselines3": "exactdice.agents.converters:from_model",
    "torch": "exactdice.agents.converters:from_torch",
    "pathlib": "exactdice.agents.converters:from_file",
    "open_spiel": "exactdice.envs.api.spiel:from_policy",
    "pyspiel": "exactdice.envs.api.spiel:from_policy",
}
#: Functions that give the task and the sight of an environment, by the package of its class.
INSPECTORS = {
    "gymnasium": "exactdice.envs.api.wrappers:inspect_env",
    "stable_baselines3": "exactdice.agents.converters:inspect_vector",
    "pettingzoo": "exactdice.pettingzoo:inspect_env",
}
#: Exact computation that policies of the games need, which stand below it.
SOLVERS = {"equilibrium": "exactdice.baselines.problem.equilibrium:equilibrium"}
#: The tracks of the benchmark by name, on which runs may be trained.
TRACKS = "exactdice.board.tracks:TRACKS"
#: Charts of training runs by name: what follows the name on the command line, and the function.
RUN_CHARTS = {
    "curves": ("[NAME=]RUNS ...", "exactdice.board.curves:curves"),
    "learning": ("RUN ...", "exactdice.board.pictures:learning"),
    "critic": ("RUN", "exactdice.look.runs:critic"),
    "diagnosis": ("RUN", "exactdice.look.runs:diagnosis"),
    "gae": ("RUN", "exactdice.look.runs:gae_by_lambda"),
    "leaderboard": ("FOLDER", "exactdice.board.pictures:leaderboard"),
    "track": ("FOLDER", "exactdice.board.pictures:track"),
    "ladder": ("FOLDER", "exactdice.board.pictures:ladder"),
}


class Places(UserDict[str, Value]):
    """A mapping of which a value may be a place, which is imported when the value is read."""

    def __init__(self, places: Mapping[str, Any]) -> None:
        super().__init__(places)

    def __getitem__(self, name: str) -> Value:
        """Return a value, imported if it is given by its place."""
        from pkgutil import resolve_name  # no part of what Gymnasium imports

        found: Any = self.data[name]
        return resolve_name(found) if isinstance(found, str) else found

    def get(self, name: str, default: Any = None) -> Any:
        """Return a value, or the default; a KeyError of an import is raised."""
        if name in self:  # Mapping.get of Python 3.11 takes it for a missing name
            return self[name]
        return default
