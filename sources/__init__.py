"""The policies that the sources of the games describe, a folder for each source.

Importing the package registers the names of the policies; the module of a policy is imported when
the policy is first used. The numbers and statements of the sources are in ``reproductions/``, at
the top of the repository.
"""

from functools import partial
from importlib import import_module
from typing import Any

from ..baselines.policies.names import NamedPolicy, register_policies


def _at(place: str, *references: str, title: str = "", about: str = "") -> NamedPolicy:
    """Return the policy that the function at ``module:function`` makes; see ``NamedPolicy``."""
    return NamedPolicy(partial(_call, place), references or None, title, about)


def _call(place: str, *args: Any) -> Any:
    """Import the function at ``module:function``, and call it."""
    module, _, name = place.partition(":")
    return getattr(import_module(f".{module}", __name__), name)(*args)


_ONLY_3S = _at(
    "lowest_score.policies:only3s",
    title="Only zeros",
    about="Keeps all dice that count zero, or else the lowest die.",
)

#: Policies of each game, by name.
POLICIES = {
    "Greed": {
        "if_else": _at(
            "greed.policies:if_else",
            title="Rules of thumb",
            about="Rolls all dice that cannot go bust, and stops once it is ahead.",
        ),
        "terminal": _at(
            "greed.policies:terminal",
            title="Last-turn expert",
            about="Plays last turns by search, and thinks one turn ahead before.",
        ),
    },
    "LowestScore": {
        "only3s": _ONLY_3S,
        "notebook": _at(
            "lowest_score.policies:notebook",
            title="OptimalBot",
            about="Thinks that all later players only try to beat its total.",
        ),
    },
    "LowestScoreMatch": {
        "only3s": _ONLY_3S,
        "round": _at(
            "lowest_score.policies:one_round",
            title="Round by round",
            about="Plays each round perfectly, whatever the score of the match.",
        ),
    },
    "FourTwoOne": {
        "ratchet:<goal>": _at("four_two_one.policies:ratchet", "ratchet:421"),
        "bernoulli:<goal>": _at("four_two_one.policies:bernoulli", "bernoulli:421"),
        "goal:<h>,<s>": _at(
            "four_two_one.policies:identify_goal", "goal:0,0", "goal:0,1", "goal:1,0", "goal:1,1"
        ),
    },
    "FourTwoOneMatch": {
        "transfer": _at(
            "four_two_one.match_policies:transfer",
            title="Own hand",
            about="Makes its own hand worth most, whatever the other player has.",
        ),
        "net": _at(
            "four_two_one.match_policies:net",
            title="Tokens",
            about="Gains as many tokens as it can in each round, on average.",
        ),
        "capped": _at(
            "four_two_one.match_policies:capped",
            title="Tokens at hand",
            about="Gains as many tokens as it can in each round, counting those that are left.",
        ),
        "set": _at(
            "four_two_one.match_policies:win_the_round",
            title="Round by round",
            about="Wins as many rounds as it can, whatever they are worth.",
        ),
        "transfer:<phase>": _at("four_two_one.match_policies:transfer_in"),
        "net:<phase>": _at("four_two_one.match_policies:net_in"),
    },
}


def register() -> None:
    """Register the policies of all sources by name."""
    for game, policies in POLICIES.items():
        register_policies(game, policies)
