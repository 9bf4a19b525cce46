"""Policies for a match of 421 that solve each round alone (Albarede 2024, section 2.3).

The paper treats the round independently of the rest of the game, with arbitrary utilities. Each of
these policies plays every round as if the match were this round. Let the round end with the result
x of the player who begins and y of the player who follows, and let t(.) be the worth of a
combination (Table 5). The policies maximise different payoffs of the round:

* "transfer": the worth of the player's own result, t(x) or t(y), the utility of the paper's
  Table 3. The player who follows ignores the result to beat.
* "net": tokens given minus tokens taken: the winner of the round gets t of the higher combination,
  and the loser minus that.
* "capped": like "net", but at most the tokens that can move: the tokens in the pot in the charge,
  the tokens of the winner in the discharge.
* "set": 1 for winning the round, -1 for losing it.

The last three payoffs are zero-sum: the player who begins maximises against the best reply. A round
that is replayed pays 0. Of equally good actions a policy takes the first (section 5.2). All payoffs
are integers.
"""

from functools import partial
from typing import Any, Literal

import numpy as np

from ...core import Array, InputError, IntArray, NamedPolicy
from ...core.solved_turn import solve_turn
from ...registry import SOLVERS, Places
from .match import FourTwoOneMatch, Phase

Aim = Literal["transfer", "net", "capped", "set"]
PHASES = ("charge", "discharge")


def round_by_round(game: FourTwoOneMatch, aim: Aim) -> IntArray:
    """Maximise a payoff of every round (see the module): actions, shape (state,)."""
    actions = np.empty(game.num_states, dtype=np.int64)
    for phase in game.phases:
        count, tables = len(phase.tokens), []
        choose = _own_worth(game, phase) if aim == "transfer" else _zero_sum(game, phase, aim)
        for number, (leg, choices) in enumerate(zip(phase.round.legs, choose, strict=True)):
            # An axis of length 1 is broadcast.
            shape = (leg.turn.num_states, len(leg.contexts), count)
            seen = np.broadcast_to(choices, shape)
            if number:  # the second player sees the token state from the other side
                seen = seen[..., phase.swapped]
            tables.append(seen.reshape(-1, count))
        actions[_states(phase)] = np.concatenate(tables).T.ravel()
    return actions


def in_one_phase(game: FourTwoOneMatch, name: str, aim: Aim) -> IntArray:
    """Play ``round_by_round`` in the phase "charge" or "discharge", and else the equilibrium."""
    if name not in PHASES:
        raise InputError(f"phase must be one of {', '.join(PHASES)}, got {name!r}")
    actions: IntArray = Places[Any](SOLVERS)["equilibrium"](game).policies[0].actions.copy()
    if PHASES.index(name) < len(game.phases):  # with one token there is no discharge
        states = _states(game.phases[PHASES.index(name)])
        actions[states] = round_by_round(game, aim)[states]
    return actions


def _states(phase: Phase) -> slice:
    size = len(phase.tokens) * phase.round.num_states
    return slice(phase.first_state, phase.first_state + size)


def _own_worth(game: FourTwoOneMatch, phase: Phase) -> list[IntArray]:
    """Return the choices in each turn for the own hand, shape (state, 1, 1)."""
    turns, worths = [leg.turn for leg in phase.round.legs], game.worths.astype(object)[:, None]
    ends = [np.tile(worths, (turn.num_results // len(worths), 1)) for turn in turns]
    return [solve_turn(*each).choices[:, None] for each in zip(turns, ends, strict=True)]


def _zero_sum(game: FourTwoOneMatch, phase: Phase, aim: Aim) -> list[IntArray]:
    """Return the choices in each turn if replies are foreseen: (state, context, token state).

    Token states are those of the player who begins.
    """
    paid = payoffs(game, phase, aim)  # (follower's result, beginner's, ...)
    results, _, count = paid.shape
    distinct, column = np.unique(paid.reshape(-1, count), axis=1, return_inverse=True)
    to_follower = -distinct.reshape(results, -1).astype(object)
    first, *others = (leg.turn for leg in phase.round.legs)
    replies = [solve_turn(turn, to_follower) for turn in others]
    ends: Array = -np.concatenate([reply.start for reply in replies])
    opening = solve_turn(first, ends.reshape(first.num_results, -1)).choices
    chosen = [opening, *[reply.choices for reply in replies]]
    return [
        choices.reshape(len(choices), -1, distinct.shape[1])[..., column.ravel()]
        for choices in chosen
    ]


def payoffs(game: FourTwoOneMatch, phase: Phase, aim: Aim) -> IntArray:
    """Return the payoffs of rounds to the player who begins them, in integers.

    The shape is (follower's result, beginner's result, beginner's token state).
    """
    wins = game.follower_wins_round(phase.round)
    moved = np.ones((len(phase.tokens), *wins.shape), dtype=np.int64)
    if aim == "net":
        moved *= np.where(wins, game.worths[:, None], game.worths)
    if aim == "capped":
        moved = np.add(*game.handed(phase.round, phase.tokens))
    if game.tie == "replay":
        moved[:, np.eye(len(wins), dtype=bool)] = 0
    return np.moveaxis(np.where(wins, -moved, moved), 0, -1)


#: Title of each policy, and a sentence on it.
WORDS: dict[Aim, tuple[str, str]] = {
    "transfer": ("Own hand", "Makes its own hand worth most, whatever the other player has."),
    "net": ("Tokens", "Gains as many tokens as it can in each round, on average."),
    "capped": (
        "Tokens at hand",
        "Gains as many tokens as it can in each round, counting those that are left.",
    ),
    "set": ("Round by round", "Wins as many rounds as it can, whatever they are worth."),
}
#: The policies by name.
POLICIES: dict[str, NamedPolicy] = {
    **{
        aim: NamedPolicy(partial(round_by_round, aim=aim), title=title, about=about)
        for aim, (title, about) in WORDS.items()
    },
    "transfer:<phase>": NamedPolicy(partial(in_one_phase, aim="transfer")),
    "net:<phase>": NamedPolicy(partial(in_one_phase, aim="net")),
}
