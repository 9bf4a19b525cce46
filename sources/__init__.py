"""The sources of the games, a folder for each: their policies, and their claims with verdicts.

Importing the package registers the names of the policies; the module of a policy is imported when
the policy is first used. The claims are not imported here: only ``reproduce`` needs them.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..baselines.policies.names import register_policies

#: Policies of each game, by name: the module and the function that makes the policy.
POLICIES = {
    "Greed": {
        "if_else": "greed.policies:if_else",
        "terminal": "greed.policies:terminal",
    },
    "LowestScore": {
        "only3s": "lowest_score.policies:only3s",
        "notebook": "lowest_score.policies:notebook",
    },
    "LowestScoreMatch": {
        "only3s": "lowest_score.policies:only3s",
        "round": "lowest_score.policies:one_round",
    },
    "FourTwoOne": {
        "ratchet:<goal>": "four_two_one.policies:ratchet",
        "bernoulli:<goal>": "four_two_one.policies:bernoulli",
        "goal:<h>,<s>": "four_two_one.policies:identify_goal",
    },
    "FourTwoOneMatch": {
        "transfer": "four_two_one.match_policies:transfer",
        "net": "four_two_one.match_policies:net",
        "capped": "four_two_one.match_policies:capped",
        "set": "four_two_one.match_policies:win_the_round",
        "transfer:<phase>": "four_two_one.match_policies:transfer_in",
        "net:<phase>": "four_two_one.match_policies:net_in",
    },
}


def register() -> None:
    """Register the policies of all sources by name."""
    for game, policies in POLICIES.items():
        register_policies(game, {name: _imported(place) for name, place in policies.items()})


def _imported(place: str) -> Callable[..., Any]:
    """Return a function that imports the function at ``place`` when it is called, and calls it."""

    def play(*args: Any) -> Any:
        module, _, name = place.partition(":")
        return getattr(import_module(f".{module}", __name__), name)(*args)

    return play
