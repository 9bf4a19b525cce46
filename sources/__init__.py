"""The sources of the games, a folder for each: their policies, and their claims with verdicts.

Importing the package registers the names of the policies; the module of a policy is imported when
the policy is first used. The claims are not imported here: only ``reproduce`` needs them.
"""

from functools import partial
from importlib import import_module
from typing import Any

from ..baselines.policies.names import NamedPolicy, register_policies


def _at(place: str, *references: str) -> NamedPolicy:
    """Return the policy that the function at ``module:function`` makes; see ``NamedPolicy``."""
    return NamedPolicy(partial(_call, place), references or None)


def _call(place: str, *args: Any) -> Any:
    """Import the function at ``module:function``, and call it."""
    module, _, name = place.partition(":")
    return getattr(import_module(f".{module}", __name__), name)(*args)


#: Policies of each game, by name.
POLICIES = {
    "Greed": {
        "if_else": _at("greed.policies:if_else"),
        "terminal": _at("greed.policies:terminal"),
    },
    "LowestScore": {
        "only3s": _at("lowest_score.policies:only3s"),
        "notebook": _at("lowest_score.policies:notebook"),
    },
    "LowestScoreMatch": {
        "only3s": _at("lowest_score.policies:only3s"),
        "round": _at("lowest_score.policies:one_round"),
    },
    "FourTwoOne": {
        "ratchet:<goal>": _at("four_two_one.policies:ratchet", "ratchet:421"),
        "bernoulli:<goal>": _at("four_two_one.policies:bernoulli", "bernoulli:421"),
        "goal:<h>,<s>": _at(
            "four_two_one.policies:identify_goal", "goal:0,0", "goal:0,1", "goal:1,0", "goal:1,1"
        ),
    },
    "FourTwoOneMatch": {
        "transfer": _at("four_two_one.match_policies:transfer"),
        "net": _at("four_two_one.match_policies:net"),
        "capped": _at("four_two_one.match_policies:capped"),
        "set": _at("four_two_one.match_policies:win_the_round"),
        "transfer:<phase>": _at("four_two_one.match_policies:transfer_in"),
        "net:<phase>": _at("four_two_one.match_policies:net_in"),
    },
}


def register() -> None:
    """Register the policies of all sources by name."""
    for game, policies in POLICIES.items():
        register_policies(game, policies)
