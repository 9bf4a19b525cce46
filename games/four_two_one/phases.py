"""The two phases of a match of 421 as legs.

A *token state* is (pot, own tokens, other player's tokens). A round is played in each token state
of a phase. Each leg of the round makes two legs of the match, one for each player, with the same
states. The contexts of such a leg are all pairs of a token state and a result to beat.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...core.leg import Leg
from ...core.types import Array, BoolArray, IntArray
from .game import FourTwoOne

#: For each result of a leg: the next context, the payoffs, and whether these are settled.
Leads = tuple[IntArray, Array, BoolArray]


class Settlement(NamedTuple):
    """The ends of the rounds of a phase, arrays of shape (token state, result, result to beat).

    Token states are those of the player who begins the round, results those of the follower.
    """

    over: BoolArray  # whether the match is over
    follower_wins: BoolArray  # whether the follower wins the match, if it is over
    follower_begins: BoolArray  # whether the follower begins the next round, if there is one
    following: IntArray  # the next token state, of all phases; 0 if the match is over


class Phase(NamedTuple):
    """The charge or the discharge."""

    round: FourTwoOne
    first_state: int  # first state of the phase in the match
    first_tokens: int  # number of its first token state among those of all phases
    tokens: IntArray  # its token states: (pot, own, other player's), shape (token state, 3)
    swapped: IntArray  # number, in the phase, of each token state from the other player's view
    settlement: Settlement


def legs_of(phases: Sequence[Phase]) -> Iterator[Leg]:
    """Yield a leg for each phase, leg of its round and player, in this order."""
    most = phases[0].tokens[0, 0]  # tokens in the pot at first
    firsts = _first_contexts(phases)
    for number, phase in enumerate(phases):
        for place, played in enumerate(phase.round.legs):
            known = np.repeat(phase.tokens, len(played.contexts), axis=0)
            to_beat = np.tile(played.contexts, (len(phase.tokens), 1))
            contexts = np.concatenate([known, to_beat], axis=1)
            inside = phase.round.bases[phase.round.first_contexts[place]]
            groups = np.arange(len(phase.tokens)) * phase.round.num_states
            starts, blocks = phase.first_state + inside + groups, most - contexts[:, 0]
            for player in (0, 1):
                if place:
                    leads = _second_turn(phases, phase, player, [first[0] for first in firsts])
                else:
                    leads = _first_turn(phase, [first[1 - player] for first in firsts[number][1:]])
                yield Leg(player, played.turn, contexts, *leads, starts, blocks)


def _first_contexts(phases: Sequence[Phase]) -> list[list[list[int]]]:
    """Return the first context by phase, leg of the round and player, counted over all legs."""
    counts = [
        len(phase.tokens) * len(leg.contexts)
        for phase in phases
        for leg in phase.round.legs
        for _ in (0, 1)
    ]
    numbers = iter(np.cumsum([0, *counts]).tolist())
    return [[[next(numbers) for _ in (0, 1)] for _ in phase.round.legs] for phase in phases]


def _first_turn(phase: Phase, second: list[int]) -> Leads:
    """Return the contexts of the follower's turn for the results of the player who begins.

    Args:
        phase: the phase.
        second: first context of the follower's turn, by number of casts - 1.
    """
    turn, to_beat = phase.round.legs[0].turn, len(phase.round.legs[1].contexts)
    casts, result = np.divmod(np.arange(turn.num_results)[:, None], to_beat)
    following = np.array(second)[casts] + phase.swapped * to_beat + result
    unpaid = np.zeros((*following.shape, 2), dtype=np.int8)
    return following, unpaid, unpaid > 0


def _second_turn(
    phases: Sequence[Phase], phase: Phase, player: int, firsts: list[list[int]]
) -> Leads:
    """Return the contexts of the next round, or the payoffs, for the results of the follower.

    Args:
        phases: both phases.
        phase: the phase of the round.
        player: the follower.
        firsts: first context of the turns that begin rounds, by phase and player.
    """
    over, wins, begins, then = (
        np.moveaxis(table[phase.swapped], 1, 0).reshape(table.shape[1], -1)
        for table in phase.settlement
    )
    first_tokens = np.array([each.first_tokens for each in phases])
    later = np.searchsorted(first_tokens, then, side="right") - 1
    following = np.array(firsts)[later, np.where(begins, player, 1 - player)]
    following = following + then - first_tokens[later]
    wins_match = over & np.stack([wins, ~wins] if player == 0 else [~wins, wins])
    payoffs = np.moveaxis(wins_match, 0, -1).astype(np.int8)
    return following, payoffs, np.stack([over, over], axis=-1)
