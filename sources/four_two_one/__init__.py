"""*Fate stochastic management and policy benchmark in 421* (Pierre Albarede, 2024)."""

from functools import partial

from ...baselines import NamedPolicy
from .match_policies import in_one_phase, round_by_round
from .policies import bernoulli, identify_goal, ratchet

POLICIES = {
    "ratchet:<goal>": NamedPolicy(ratchet, ("ratchet:421",)),
    "bernoulli:<goal>": NamedPolicy(bernoulli, ("bernoulli:421",)),
    "goal:<h>,<s>": NamedPolicy(identify_goal, ("goal:0,0", "goal:0,1", "goal:1,0", "goal:1,1")),
}
MATCH_POLICIES = {
    "transfer": NamedPolicy(
        partial(round_by_round, aim="transfer"),
        title="Own hand",
        about="Makes its own hand worth most, whatever the other player has.",
    ),
    "net": NamedPolicy(
        partial(round_by_round, aim="net"),
        title="Tokens",
        about="Gains as many tokens as it can in each round, on average.",
    ),
    "capped": NamedPolicy(
        partial(round_by_round, aim="capped"),
        title="Tokens at hand",
        about="Gains as many tokens as it can in each round, counting those that are left.",
    ),
    "set": NamedPolicy(
        partial(round_by_round, aim="set"),
        title="Round by round",
        about="Wins as many rounds as it can, whatever they are worth.",
    ),
    "transfer:<phase>": NamedPolicy(partial(in_one_phase, aim="transfer")),
    "net:<phase>": NamedPolicy(partial(in_one_phase, aim="net")),
}
