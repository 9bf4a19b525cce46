"""Claims about the match of 421, which the paper leaves open.

The "printed" numbers come from a second computation, ``tests/by_hand_match.py``, which enumerates a
match from the rules alone, in fractions, and shares no code with this package. The statements are
the paper's, or follow from its words. Exact results here are floats with a small error bound
(``match``); ``exactdice solve FourTwoOneMatch --exact`` prints the value without rounding.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from exactdice.baselines.policies.kinds import Policy
from exactdice.baselines.policies.names import source_policy
from exactdice.baselines.problem.task import Task
from exactdice.baselines.solving.solver import evaluate, solve
from exactdice.core import FloatArray, IntArray
from exactdice.games import FourTwoOneMatch

from ..claim import At, Claim
from .match import (
    SAME,
    OptimalMatch,
    count,
    gains,
    inversions,
    largest_inversion,
    lost_above_won,
    order_words,
    rounds,
)

TITLE = "The match of 421, which the paper leaves open, beside tests/by_hand_match.py"

#: Payoff that each one-round policy loses against the optimal player and against a best response,
#: averaged over both seats.
LOSSES = {
    "transfer:charge": ("0.021574", "0.022542"),
    "transfer:discharge": ("0.013632", "0.013746"),
    "net:charge": ("0.015702", "0.016395"),
    "net:discharge": ("0.011600", "0.011676"),
    "transfer": ("0.035135", "0.036312"),
    "net": ("0.027054", "0.027861"),
    "capped": ("0.022542", "0.023646"),
    "set": ("0.124755", "0.131840"),
}
#: Win probability of the player who begins, by the rule that differs from the defaults. Two rules
#: take long to solve and are left to ``exactdice solve``: 21 tokens, and tied rounds replayed.
VALUES = {
    "starter=winner": "0.561068",
    "starter=alternate": "0.532361",
    "starter=same": "0.762353",
    "short_pot=spill": "0.538260",
    "four_two_one=8": "0.544162",
    "charge_casts=1": "0.501494",
    "discharge_casts=1": "0.554284",
    "tokens=1": "0.642758",
    "tokens=2": "0.629706",
    "tokens=5": "0.587891",
}
#: Expected number of rounds of an optimal match, by phase.
ROUNDS = {"charge": "3.324788", "discharge": "1.572717"}


def claims() -> list[Claim]:
    """List the claims."""
    match = OptimalMatch(FourTwoOneMatch())
    return [*_match(match), *_order(match), *_tokens(match), *_losses(match), *_rules()]


def _float(place: str, printed: str, value: float, note: str = "") -> Claim:
    return At(place).number(printed=printed, exact=Fraction(value), formula="a float", note=note)


def _match(match: OptimalMatch) -> Iterator[Claim]:
    yield _float(
        "the default match, chance to win of who begins",
        "0.558056165828",
        match.value,
        f"right within {match.solved.error_bound:.0e}; 76 token states",
    )
    found = rounds(match.game, *match.solved.policies)
    for (phase, printed), value in zip(ROUNDS.items(), found, strict=True):
        yield _float(f"the default match, rounds of the {phase}", printed, value, "expected")


def _order(match: OptimalMatch) -> Iterator[Claim]:
    falls, states = inversions(match), len(match.values)
    either = count(np.maximum(falls["begins"], falls["follows"]))
    yield At("section 2.3").mistake(
        printed="for a rational player, utility must be compatible with the order (54)",
        exact=f"a lower result is better, the other's being equal, in {either} of {states} token "
        f"states: {count(falls['begins'])} for who begins, {count(falls['follows'])} for who "
        f"follows, by up to {max(falls['begins'].max(), falls['follows'].max()):.6f} of a win",
        holds=not either,
        note=f"both play optimally afterwards; for instance {_example(match)}",
    )
    foreseen = falls["foreseen"]
    yield At("section 2.3, before the reply").mistake(
        printed="for a rational player, utility must be compatible with the order (54)",
        exact=f"who begins does better with a lower result after as many casts in "
        f"{count(foreseen)} of {states} token states, by up to {foreseen.max():.6f}",
        holds=not count(foreseen),
        note="both play optimally afterwards",
    )
    gaps = lost_above_won(match)
    where = " and ".join(map(_tokens_of, match.game.token_states[gaps > gaps.max() - SAME]))
    yield At("appendix A").mistake(
        printed="who loses a set gets tokens, which a player wants to be rid of: to win is better",
        exact=f"some lost round beats some won one in {count(gaps)} of {states} token states, by "
        f"up to {gaps.max():.6f} of a win, at {where}",
        holds=not count(gaps),
        note=f"all with {_pots(match, gaps)} in the pot",
    )


def _example(match: OptimalMatch) -> str:
    """Describe the position in which the first player gains most by a lower result."""
    tokens, reply, lower, higher = largest_inversion(match)
    faces = ["".join(map(str, c[::-1])) for c in match.game.phases[0].round.combinations]
    return (
        f"who begins at {_tokens_of(match.game.token_states[tokens])} of pot, own and other's "
        f"tokens has rather {faces[lower]} than {faces[higher]} against {faces[reply]}"
    )


def _pots(match: OptimalMatch, numbers: FloatArray) -> str:
    """List the numbers of tokens in the pot at which ``numbers`` are positive."""
    return ", ".join(map(str, np.unique(match.game.token_states[numbers > SAME, 0]).tolist()))


def _tokens_of(state: IntArray) -> str:
    return "({}, {}, {})".format(*state.tolist())


def _tokens(match: OptimalMatch) -> Iterator[Claim]:
    from_other = gains(match, 0, 1, -1)
    yield At("appendix A, tokens").statement(
        printed="a token less, and one more for the other player, is better",
        exact=f"true in all {len(from_other)} pairs of token states of who begins",
        holds=max(from_other.values()) < -SAME,
    )
    from_pot = gains(match, -1, 1, 0)
    better = [state for state, gain in from_pot.items() if gain > SAME]
    yield At("appendix A, tokens").mistake(
        printed="a token less, and one more in the pot, is better",
        exact=f"not in {len(better)} of {len(from_pot)} pairs: to have taken it is better by up to "
        f"{max(from_pot.values()):.6f} of a win",
        holds=not better,
        note="from " + ", ".join(map(str, sorted(better))),
    )
    to_other = gains(match, -1, 0, 1)
    yield At("appendix A, tokens").statement(
        printed="a token of the pot for the other player is better",
        exact=f"true in all {len(to_other)} pairs",
        holds=min(to_other.values()) > SAME,
    )


def _losses(match: OptimalMatch) -> Iterator[Claim]:
    players = match.solved.policies
    # Policies of one phase come first, while the equilibrium that they share is cached.
    policies = {name: source_policy(match.game, name, 0) for name in LOSSES}
    for name, printed in LOSSES.items():
        policy = policies[name]
        assert policy is not None
        found = loss(match.game, policy, players[1]), exploited(match.game, policy)
        for against, digits, value in zip(
            ("the optimal player", "its best response"), printed, found, strict=True
        ):
            yield _float(f'the default match, "{name}" loses to {against}', digits, value)


def loss(game: FourTwoOneMatch, policy: Policy, optimal: Policy) -> float:
    """Return 1/2 minus a policy's expected payoff, averaged over both seats.

    Args:
        game: the rules.
        policy: policy of one player.
        optimal: policy of the other player, from an equilibrium.
    """
    values = evaluate(policy, Task(game, 0, {1: optimal})).values
    return 0.5 - _mean(game, values)


def exploited(game: FourTwoOneMatch, policy: Policy) -> float:
    """Return what a best response wins above 1/2 against a policy, averaged over both seats."""
    return _mean(game, solve(Task(game, 0, {1: policy})).values) - 0.5


def _mean(game: FourTwoOneMatch, values: FloatArray) -> float:
    """Average the first player's value of a match over which player begins it."""
    states, law = game.initial_law()
    return float((values[:, states] * law).sum() / 2)


def _rules() -> Iterator[Claim]:
    for rule, printed in VALUES.items():
        keyword, _, value = rule.partition("=")
        keywords: dict[str, Any] = {keyword: int(value) if value.isdigit() else value}
        match = OptimalMatch(FourTwoOneMatch(**keywords))
        yield _float(
            f"the match with {rule}, chance to win of who begins",
            printed,
            match.value,
            order_words(match),
        )
