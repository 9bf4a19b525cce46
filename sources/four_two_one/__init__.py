"""*Fate stochastic management and policy benchmark in 421* (Pierre Albarede, 2024)."""

from ...baselines import NamedPolicy
from . import match_policies
from .policies import bernoulli, identify_goal, ratchet

POLICIES = {
    "ratchet:<goal>": NamedPolicy(ratchet, ("ratchet:421",)),
    "bernoulli:<goal>": NamedPolicy(bernoulli, ("bernoulli:421",)),
    "goal:<h>,<s>": NamedPolicy(identify_goal, ("goal:0,0", "goal:0,1", "goal:1,0", "goal:1,1")),
}
MATCH_POLICIES = {
    "transfer": NamedPolicy(
        match_policies.transfer,
        title="Own hand",
        about="Makes its own hand worth most, whatever the other player has.",
    ),
    "net": NamedPolicy(
        match_policies.net,
        title="Tokens",
        about="Gains as many tokens as it can in each round, on average.",
    ),
    "capped": NamedPolicy(
        match_policies.capped,
        title="Tokens at hand",
        about="Gains as many tokens as it can in each round, counting those that are left.",
    ),
    "set": NamedPolicy(
        match_policies.win_the_round,
        title="Round by round",
        about="Wins as many rounds as it can, whatever they are worth.",
    ),
    "transfer:<phase>": NamedPolicy(match_policies.transfer_in),
    "net:<phase>": NamedPolicy(match_policies.net_in),
}
