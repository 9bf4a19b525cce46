"""*A Guide to Optimal Play in Greed* (Chance Addis, 2023)."""

from ...baselines import NamedPolicy
from .policies import if_else, terminal

POLICIES = {
    "if_else": NamedPolicy(
        if_else,
        title="Rules of thumb",
        about="Rolls all dice that cannot go bust, and stops once it is ahead.",
    ),
    "terminal": NamedPolicy(
        terminal,
        title="Last-turn expert",
        about="Plays last turns by search, and thinks one turn ahead before.",
    ),
}
