"""The calculators and players of the notebook *Dice Game*, as exact functions.

The calculators give fractions. They take a ``LowestScore`` and use its dice and faces alone, not
its players and objective. The players give actions, shape (state,).
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ...core import Array, IntArray, NamedPolicy, arithmetic
from ...core.solved_turn import SolvedTurn, in_every_context, solve_turn
from ...registry import SOLVERS, Places
from .game import LowestScore
from .match import LowestScoreMatch, Standing


def expected_score(game: LowestScore, dice: int) -> Fraction:
    """Smallest expected score of dice to be rolled (``ExpectationCalculator.expectation``)."""
    return -_before_roll(_score(game), game, dice, 0, 0)


def expected_score_of_roll(game: LowestScore, roll: Sequence[int]) -> Fraction:
    """Smallest expected score once dice show a roll (``expectation_roll``)."""
    return -Fraction(_score(game).states[_state(game, roll, 0), 0])


def beat_chance(game: LowestScore, goal: int, dice: int) -> Fraction:
    """Best chance to score below a goal with dice to be rolled (``p_beat``)."""
    return _before_roll(_beat(game), game, dice, 0, _goal(game, goal))


def beat_chance_of_roll(game: LowestScore, goal: int, roll: Sequence[int]) -> Fraction:
    """Best chance to score below a goal once dice show a roll (``p_beat_with_roll``)."""
    return Fraction(_beat(game).states[_state(game, roll, 0), _goal(game, goal)])


def survival_chance(game: LowestScore, score: int, players_after: int) -> Fraction:
    """Chance that no later player beats a score, if each tries only that (``p_winning``)."""
    return Fraction((1 - _beat(game).start[_goal(game, score)]) ** players_after)


def win_or_tie_chance(
    game: LowestScore, score_to_tie: int | None, score_so_far: int, dice: int, players_after: int
) -> Fraction:
    """Best chance to end at or below a score and to survive after (``p_win_or_tie``)."""
    if dice == 0:
        beaten = score_to_tie is not None and score_so_far > score_to_tie
        return Fraction(0) if beaten else survival_chance(game, score_so_far, players_after)
    if score_to_tie is not None and score_to_tie < 0:
        return Fraction(0)
    solved = _win_or_tie(game, players_after, exact=True)
    return _before_roll(solved, game, dice, score_so_far, _to_tie(game, score_to_tie))


def notebook_choice(
    game: LowestScore,
    score_to_tie: int | None,
    score_so_far: int,
    roll: Sequence[int],
    players_after: int,
) -> int:
    """Number of dice that OptimalBot keeps (``TurnCalculator.choose_n``)."""
    if score_to_tie is not None and score_so_far > score_to_tie:
        return len(roll)
    state, column = _state(game, roll, score_so_far), _to_tie(game, score_to_tie)
    return int(notebook_choices(game, players_after)[state, column])


def notebook_choices(game: LowestScore, players_after: int) -> IntArray:
    """Number of dice that OptimalBot keeps, shape (state, score to tie).

    The last column stands for no score to tie, too.
    """
    turn = game.legs[0].turn
    total, rolled = turn.observations[:, 0], (turn.observations[:, 1:] > 0).sum(axis=1)
    hopeless = total[:, None] > np.arange(game.max_score + 1)
    kept = _win_or_tie(game, players_after, exact=False).choices + 1
    return np.where(hopeless, rolled[:, None], kept)


def only3s(game: LowestScore | LowestScoreMatch) -> IntArray:
    """Keep all dice that are worth nothing, or the lowest die if there is none (``Only3sBot``)."""
    rolled = game.legs[0].turn.observations[:, 1:]
    kept = np.maximum((rolled == game.zero_face).sum(axis=1), 1)
    return in_every_context(game, [kept - 1] * len(game.legs))


def notebook(game: LowestScore) -> IntArray:
    """Play as the notebook's OptimalBot does.

    The bot assumes that every later player only tries to beat the bot's score, independently of
    the others. Of equally good numbers of dice it keeps the fewest, and all dice once it can
    neither win nor tie.
    """
    choices = []
    for leg in game.legs:
        known = leg.contexts[:, 0]  # best total so far; there is none above ``max_score``
        kept = notebook_choices(game, game.players - 1 - leg.seat)
        choices.append(kept[:, np.minimum(known, game.max_score)] - 1)  # (state, context)
    return in_every_context(game, choices)


def one_round(match: LowestScoreMatch) -> IntArray:
    """Play each round of a match for itself: the equilibrium of a match of one round."""
    alone = LowestScoreMatch(**match.keywords | {"wins": 1})
    policies = Places[Any](SOLVERS)["equilibrium"](alone).policies
    chosen = {}  # by context of the round: choices in each state of the turn
    known, of_match = iter(alone.standings), iter(match.standings)
    for number, leg in enumerate(alone.legs):
        states = alone.states_in(number, slice(0, leg.turn.num_states))
        actions = policies[leg.seat].actions[states].reshape(leg.turn.num_states, -1)
        for column in actions.T:
            chosen[_in_round(next(known))] = column
    choices = [
        np.stack([chosen[_in_round(next(of_match))] for _ in leg.contexts], axis=1)
        for leg in match.legs
    ]
    return in_every_context(match, choices)


def _in_round(known: Standing) -> tuple[int, int, int]:
    """Forget the match: turns played, the best total, and how long ago it was made."""
    holder = (known.seat - known.holder) % len(known.wins)
    return known.turns, known.best, holder


def _goal(game: LowestScore, goal: int) -> int:
    return max(0, min(goal, game.max_score + 1))


def _to_tie(game: LowestScore, score: int | None) -> int:
    return game.max_score if score is None else min(score, game.max_score)


@lru_cache(maxsize=16)
def _score(game: LowestScore) -> SolvedTurn:
    scores = [[Fraction(-score)] for score in range(game.max_score + 1)]
    return solve_turn(game.legs[0].turn, np.array(scores))


@lru_cache(maxsize=16)
def _beat(game: LowestScore) -> SolvedTurn:
    """Solve for all goals at once: column g is the goal to score below g."""
    scores = np.arange(game.max_score + 1)
    below = scores[:, None] < np.arange(game.max_score + 2)
    return solve_turn(game.legs[0].turn, below.astype(np.int64))


@lru_cache(maxsize=64)
def _win_or_tie(game: LowestScore, players_after: int, exact: bool) -> SolvedTurn:
    """Solve for all scores to tie at once: column t is the score t, the last one no score."""
    kind, scores = arithmetic(exact), range(game.max_score + 1)
    survives = [survival_chance(game, score, players_after) for score in scores]
    ends: Array = np.array(
        [[chance * (score <= t) for t in scores] for score, chance in enumerate(survives)],
        dtype=kind.dtype,
    )
    return solve_turn(game.legs[0].turn, ends, kind)


def _state(game: LowestScore, roll: Sequence[int], total: int) -> int:
    turn = game.legs[0].turn
    wanted = [total, *game.by_worth(tuple(roll)), *[0] * (game.dice - len(roll))]
    return int(np.flatnonzero((turn.observations == wanted).all(axis=1))[0])


def _before_roll(
    solved: SolvedTurn, game: LowestScore, dice: int, total: int, column: int
) -> Fraction:
    if dice == 0:
        return Fraction(solved.ends[total, column])
    afterstate = game.afterstates.index((dice, total))
    return Fraction(solved.before_roll(afterstate, slice(column, column + 1))[0])


_ONLY_3S = NamedPolicy(
    only3s, title="Only zeros", about="Keeps all dice that count zero, or else the lowest die."
)
#: The policies of the notebook by name, and those for a match.
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
