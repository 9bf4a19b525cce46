"""The sources of the games, a folder for each: their policies, their claims beside exact values.

The policies are registered when the package is imported. The claims are not imported here: only
``reproduce`` needs them.
"""

from ..baselines.names import register_policies
from .four_two_one import match_policies
from .four_two_one import policies as four_two_one
from .greed import policies as greed
from .lowest_score import policies as lowest_score


def register() -> None:
    """Have exact computation know the sources' policies by name."""
    register_policies("Greed", greed.POLICIES)
    register_policies("LowestScore", lowest_score.POLICIES)
    register_policies("FourTwoOne", four_two_one.POLICIES)
    register_policies("FourTwoOneMatch", match_policies.POLICIES)
