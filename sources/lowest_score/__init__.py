"""*Dice Game*, the notebook on the lowest-score game."""

from ...baselines import NamedPolicy
from .policies import notebook, one_round, only3s

_ONLY_3S = NamedPolicy(
    only3s,
    title="Only zeros",
    about="Keeps all dice that count zero, or else the lowest die.",
)
POLICIES = {
    "only3s": _ONLY_3S,
    "notebook": NamedPolicy(
        notebook,
        title="OptimalBot",
        about="Thinks that all later players only try to beat its total.",
    ),
}
MATCH_POLICIES = {
    "only3s": _ONLY_3S,
    "round": NamedPolicy(
        one_round,
        title="Round by round",
        about="Plays each round perfectly, whatever the score of the match.",
    ),
}
