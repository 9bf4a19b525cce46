"""The policies for Greed that its source describes (Addis 2023), as actions, shape (state,)."""

import numpy as np

from ...core import FloatArray, IntArray, NamedPolicy
from .game import Greed

COMFORT = 0.9  # share of the limit from which the if-else chain stops when it is ahead
ROUNDING = 1e-12  # ratings that differ by less count as equal


def if_else(game: Greed) -> IntArray:
    """Play by thresholds, in the manner of the "basic if-else chain" of section 1.2.

    The paper says of the chain only that it beat the author's first algorithm, so this project
    chose the thresholds, as a person would at a first try. With own score p, opponent's score o,
    limit M and s sides, the first line that applies decides:

    1. last turn, p > o: stop;
    2. last turn: roll the number of dice (at least one) whose mean comes nearest to the middle
       between o and M;
    3. p > o and p >= ``COMFORT`` * M: stop;
    4. some dice cannot go bust: roll them all, floor((M - p) / s);
    5. p >= o: stop;
    6. roll one die.
    """
    own, other, last = game.observe(np.arange(game.num_states), 0).T
    to_middle = (other + game.max_score) / 2 - own
    middle = np.maximum(1, np.rint(2 * to_middle / (game.sides + 1))).astype(np.int64)
    safe = (game.max_score - own) // game.sides
    rules = [
        ((last == 1) & (own > other), 0),
        (last == 1, middle),
        ((own > other) & (own >= COMFORT * game.max_score), 0),
        (safe > 0, safe),
        (own >= other, 0),
    ]
    conditions, choices = zip(*rules, strict=True)
    return np.minimum(np.select(conditions, choices, default=1), game.dice_allowed[own])


def terminal(game: Greed) -> IntArray:
    """Play last turns by the algorithm of section 5, and normal turns as if no other followed.

    The published algorithm decides last turns only. In a normal turn this policy rolls the number
    of dice that would be best if the player stopped right after, and the opponent played its last
    turn by the algorithm. The policy stops if that number is zero.
    """
    dice, ratings = terminal_search(game)
    hold = 1 - ratings.T  # (own, other): rating after stopping at `own`
    best = np.full_like(hold, -1.0)
    first_move = np.zeros_like(dice)
    rolled = hold  # (own, other): rating of stopping after n dice
    for n in range(game.num_actions):
        better = (rolled > best + ROUNDING) & (n <= game.dice_allowed[:, None])
        first_move[better], best[better] = n, rolled[better]
        total = np.zeros_like(rolled)
        for face in range(1, game.sides + 1):  # of another die; 0 above the limit
            total[:-face] += rolled[face:]
        rolled = total / game.sides
    return np.concatenate([first_move.ravel(), dice.ravel()])


def terminal_rating(game: Greed, dice: int) -> FloatArray:
    """Rate rolling some dice in each last turn, (own score, other score), by equation (1).

    That is P(o < p + T <= M) + P(p + T = o) / 2.
    """
    law = game.laws[dice]
    cumulative = np.concatenate([[0.0], np.cumsum(law)])  # entry t: P(T < t)
    scores = np.arange(game.num_scores)
    room = np.clip(game.max_score - scores + 1, 0, len(law))[:, None]
    lead = scores - scores[:, None]  # (own, other): sum that ties
    at_most_tie = np.clip(lead + 1, 0, len(law))
    tie = np.where((lead >= 0) & (lead < len(law)), law[np.clip(lead, 0, len(law) - 1)], 0.0)
    return cumulative[room] - cumulative[at_most_tie] + tie / 2


def terminal_search(game: Greed) -> tuple[IntArray, FloatArray]:
    """Run the algorithm of section 5 in every last turn.

    Start from the smallest n with n > (M + o - 2p) / (s + 1) and try ever fewer dice; when the
    rating falls, stop and take the best. (The text leaves the direction open; by its Conjecture 1
    the rating only falls above the start, so that the search must go down.) Equal ratings do not
    end the search; of equal ratings the fewest dice are taken. The result is the number of dice and
    its rating, each of shape (own score, other score).
    """
    own, other = np.indices((game.num_scores, game.num_scores))
    start = (game.max_score + other - 2 * own) // (game.sides + 1) + 1
    start = np.clip(start, 0, game.dice_allowed[own])
    dice, rating = start.copy(), np.full(own.shape, -1.0)
    searching = np.ones(own.shape, dtype=bool)
    for n in range(game.num_actions - 1, -1, -1):
        candidate = terminal_rating(game, n)
        searching &= (n > start) | (candidate >= rating - ROUNDING)
        better = searching & (n <= start)
        dice[better], rating[better] = n, candidate[better]
    return dice, rating


#: The policies of the source by name.
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
