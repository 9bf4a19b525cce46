"""A match of 421: rounds for tokens, first from a pot, then between the players.

Source: Pierre Albarede, *Fate stochastic management and policy benchmark in 421* (2024), appendix
A and section 2.3, which leave the whole match open. Numbers of tables, equations and notes are the
paper's.

A round is a set (``FourTwoOne`` with utility "set"): one player begins and casts up to three times,
the other follows, casts exactly as often and knows the result to beat. The lower combination by
(54) loses the round, and its player gets as many tokens as the *higher* combination is worth (Table
5): from the pot while the pot has tokens, which is the *charge*, then from the winner of the round,
the *discharge*. A player who has no token once the pot is empty has won the match, which pays 1.

Let V(p, a, b) be the probability that the player who begins a round wins the match, with p tokens
in the pot, a tokens of its own and b of the other player. After a round the match is over, or
another round begins in another token state. In the charge the pot shrinks with every round, unless
tied rounds are replayed; in the discharge token states may come back. So all token states with the
same pot are a block (see ``core.blocks``).

A *token state* is (pot, own tokens, other player's tokens). A round is played in each token state
of a phase. Each leg of the round makes two legs of the match, one for each player, with the same
states. The contexts of such a leg are all pairs of a token state and a result to beat.
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np

from ...core import Array, BoolArray, IntArray, Leg, TurnGame, Values, at_least, frozen, one_of
from ...core.dice import combinations
from ...core.sizes import bounded, check_states
from .game import FourTwoOne, count_states
from .game import tokens as worth_of

Starter = Literal["loser", "winner", "alternate", "same"]
MatchTie = Literal["last", "replay"]
ShortPot = Literal["truncate", "spill"]

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


class FourTwoOneMatch(TurnGame):
    """The rules of a match.

    A state is a token state (pot, own tokens, other's tokens) and a state of the set. Actions are
    those of the set. Both players have the same states.

    Args:
        tokens: tokens in the pot at first, at least 1.
        starter: the player who begins the next round: the "loser" or the "winner" of this round,
            the player who did not begin this round ("alternate"), or always the "same" player.
        tie: with equal combinations the player who cast "last" loses the round (note 6), or the
            round is played again ("replay").
        charge_casts: the largest number of casts of a round in the charge, at least 1.
        discharge_casts: the largest number of casts of a round in the discharge, at least 1.
        short_pot: if the pot has fewer tokens than the combination is worth, the loser of the round
            gets only those ("truncate"), or the winner of the round gives the rest ("spill").
        four_two_one: tokens that 421 is worth, at least 1.
        faces: faces of each die, at least 2. Table 5 extends to faces above 6: two ones or three
            equal faces are worth the face.

    Attributes:
        token_states: pot, own and other's tokens, shape (token state, 3), by falling pot.
        worths: tokens that each combination is worth, shape (result,).
        phases: the charge and, with two tokens or more, the discharge.

    Raises:
        ValueError: if an argument is not in its range.
    """

    name: ClassVar[str] = "FourTwoOneMatch"
    has_cycles: ClassVar[bool] = True

    def __init__(
        self,
        tokens: int = 11,
        starter: Starter = "loser",
        tie: MatchTie = "last",
        charge_casts: int = 3,
        discharge_casts: int = 3,
        short_pot: ShortPot = "truncate",
        four_two_one: int = 10,
        faces: int = 6,
    ) -> None:
        self.tokens = at_least("tokens", tokens, 1)
        self.starter: Starter = one_of("starter", starter, get_args(Starter))
        self.tie: MatchTie = one_of("tie", tie, get_args(MatchTie))
        self.charge_casts = at_least("charge_casts", charge_casts, 1)
        self.discharge_casts = at_least("discharge_casts", discharge_casts, 1)
        self.short_pot: ShortPot = one_of("short_pot", short_pot, get_args(ShortPot))
        self.four_two_one = at_least("four_two_one", four_two_one, 1)
        self.faces = at_least("faces", faces, 2)
        charge, discharge = (
            count_states(3, self.faces, casts, in_set=True)[0]
            for casts in (self.charge_casts, self.discharge_casts)
        )
        (most,) = bounded(self.tokens)
        check_states(self, most * (most + 1) / 2 * charge + most * discharge)
        worths = [worth_of(combination, four_two_one) for combination in combinations(3, faces)]
        self.worths = frozen(np.array(worths))
        starts = [
            (pot, own, tokens - pot - own)
            for pot in range(tokens, -1, -1)
            for own in (range(tokens - pot + 1) if pot else range(1, tokens))
        ]
        self.token_states = frozen(np.array(starts))
        pots, own, _ = self.token_states.T
        self._number = np.zeros((tokens + 1, tokens + 1), dtype=np.int64)  # by pot and own
        self._number[pots, own] = np.arange(len(pots))
        self.phases = self._lay_out()
        longest = max((phase.round for phase in self.phases), key=lambda game: game.casts)
        of_tokens = ("pot", tokens + 1), ("own tokens", tokens + 1), ("other's tokens", tokens + 1)
        of_round = zip(longest.observation_names, longest.observation_sizes, strict=True)
        super().__init__(list(legs_of(self.phases)), 2, [*of_tokens, *of_round], first_seen=3)

    def _lay_out(self) -> list[Phase]:
        """Return the phases; with one token there is no discharge."""
        phases, first_state = [], 0
        pots = self.token_states[:, 0]
        for casts, inside in ((self.charge_casts, pots > 0), (self.discharge_casts, pots == 0)):
            if not inside.any():
                continue
            game = FourTwoOne(faces=self.faces, casts=casts, utility="set", tie="lost")
            tokens, first_tokens = self.token_states[inside], int(inside.argmax())
            pot, _, other = tokens.T
            swapped = self._number[pot, other] - first_tokens
            settled = self._settle(game, tokens)
            phases.append(Phase(game, first_state, first_tokens, tokens, swapped, settled))
            first_state += len(tokens) * game.num_states
        return phases

    def _settle(self, game: FourTwoOne, tokens: IntArray) -> Settlement:
        """Return the results of every round of a phase, from the token states of who begins it."""
        wins = self.follower_wins_round(game)
        handed = self.handed(game, tokens)
        replayed = np.eye(len(wins), dtype=bool) & (self.tie == "replay")
        pot, own, other = tokens.T[..., None, None]
        gained = handed[0] + handed[1]
        pot = pot - handed[0]
        own = own + np.where(wins, gained, -handed[1])
        other = other + np.where(wins, -handed[1], gained)
        over = (pot == 0) & ((own == 0) | (other == 0))
        begins = {"loser": ~wins, "winner": wins, "alternate": ~replayed}.get(self.starter, False)
        follower_begins = begins & ~replayed & np.ones_like(gained, dtype=bool)
        following = self._number[pot, np.where(follower_begins, other, own)]
        return Settlement(
            over, over & (other == 0), follower_begins & ~over, np.where(over, 0, following)
        )

    @staticmethod
    def follower_wins_round(game: FourTwoOne) -> BoolArray:
        """Say whether the follower wins the round, shape (result, result to beat)."""
        assert game.ranks is not None
        return game.ranks[:, None] > game.ranks

    def handed(self, game: FourTwoOne, tokens: IntArray) -> tuple[IntArray, IntArray]:
        """Return the tokens that the loser of a round gets from the pot, and from the winner.

        Token states are those of the player who begins: (token state, result, result to beat).
        """
        wins = self.follower_wins_round(game)
        pot, own, other = tokens.T[..., None, None]
        worth = np.where(wins, self.worths[:, None], self.worths)  # of the higher combination
        if self.tie == "replay":
            np.fill_diagonal(worth, 0)  # equal combinations
        from_pot = np.minimum(worth, pot)
        owed = np.where(pot > 0, (worth - from_pot) * (self.short_pot == "spill"), worth)
        return from_pot, np.minimum(owed, np.where(wins, other, own))

    def before_rounds(self, values: Values, beginner: int) -> Array:
        """Average values over the first cast of every round that a seat begins: (token state,)."""
        means = []
        for phase in self.phases:
            casts, law = phase.round.initial_law()
            tokens = np.arange(len(phase.tokens))[:, None]
            states = phase.first_state + tokens * phase.round.num_states + casts
            met = values.at(beginner, states.ravel()).reshape(states.shape)
            means.append((met * law).sum(axis=1))
        return np.concatenate(means)


def legs_of(phases: Sequence[Phase]) -> Iterator[Leg]:
    """Yield a leg for each phase, leg of its round and player, in this order."""
    most = phases[0].tokens[0, 0]  # tokens in the pot at first
    counts = [
        len(phase.tokens) * sum(len(leg.contexts) for leg in phase.round.legs) for phase in phases
    ]
    firsts = 2 * np.cumsum([0, *counts[:-1]])  # the first context of each phase
    for phase, first in zip(phases, firsts, strict=True):
        for place, played in enumerate(phase.round.legs):
            known = np.repeat(phase.tokens, len(played.contexts), axis=0)
            to_beat = np.tile(played.contexts, (len(phase.tokens), 1))
            contexts = np.concatenate([known, to_beat], axis=1)
            inside = phase.round.bases[phase.round.first_contexts[place]]
            groups = np.arange(len(phase.tokens)) * phase.round.num_states
            starts, blocks = phase.first_state + inside + groups, most - contexts[:, 0]
            for player in (0, 1):
                if place:
                    leads = _second_turn(phases, phase, player, firsts)
                else:
                    leads = _first_turn(phase, player, first)
                yield Leg(player, played.turn, contexts, *leads, starts, blocks)


def _first_turn(phase: Phase, player: int, first: int) -> Leads:
    """Return the contexts of the follower's turn for the results of the player who begins.

    Those of a phase, from ``first`` on, are of the two first turns, and then of the two second
    turns for each number of casts.
    """
    turn, to_beat = phase.round.legs[0].turn, len(phase.round.legs[1].contexts)
    casts, result = np.divmod(np.arange(turn.num_results)[:, None], to_beat)
    turns_before = 2 + (2 * casts + 1 - player) * to_beat
    following = first + turns_before * len(phase.tokens) + phase.swapped * to_beat + result
    unpaid = np.zeros((*following.shape, 2), dtype=np.int8)
    return following, unpaid, unpaid > 0


def _second_turn(phases: Sequence[Phase], phase: Phase, player: int, firsts: IntArray) -> Leads:
    """Return the contexts of the next round, or the payoffs, for the results of the follower."""
    over, wins, begins, then = (
        np.moveaxis(table[phase.swapped], 1, 0).reshape(table.shape[1], -1)
        for table in phase.settlement
    )
    first_tokens, counts = np.array([(each.first_tokens, len(each.tokens)) for each in phases]).T
    later = np.searchsorted(first_tokens, then, side="right") - 1
    beginner = np.where(begins, player, 1 - player)
    following = firsts[later] + beginner * counts[later] + then - first_tokens[later]
    wins_match = over & np.stack([wins, ~wins] if player == 0 else [~wins, wins])
    payoffs = np.moveaxis(wins_match, 0, -1).astype(np.int8)
    return following, payoffs, np.stack([over, over], axis=-1)
