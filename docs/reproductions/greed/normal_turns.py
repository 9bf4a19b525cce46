"""Sections 5 to 7 of *A Guide to Optimal Play in Greed*: normal turns.

A position depends only on M - p and M - o. Therefore the start of a game with limit m is the
position M - m : M - m of a game with limit M, and one game holds all smaller games.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import numpy as np
from exactdice.baselines.problem.equilibrium import equilibrium
from exactdice.baselines.problem.task import Task
from exactdice.baselines.solving.solver import occupancy, solve
from exactdice.core import IntArray, Move
from exactdice.core.moves import transitions
from exactdice.games import Greed

from ..claim import At, Claim
from .last_turn_claims import MAX_SCORE, MAX_SIDES
from .last_turns import last_turns

GAMES = f"every game with M <= {MAX_SCORE}, s <= {MAX_SIDES}"
LIMIT = 40  # largest limit of the games in which every number of dice is tried


def normal_turn_claims() -> Iterator[Claim]:
    """List the claims."""
    for part in (_ratings, _equation_4, _reached, _section_7, _bound):
        yield from part()


@cache
def starts(limit: int, sides: int, max_dice: int | None = None) -> list[Fraction]:
    """Return the first player's rating at the start of the games with limit 1, ..., ``limit``.

    ``max_dice`` is the largest number of dice in each of these games.
    """
    game = Greed(limit, sides, max_dice)
    scores = np.arange(limit - 1, -1, -1)
    states = game.encode(np.stack([scores, scores, np.zeros_like(scores)], axis=-1))
    return equilibrium(game, exact=True).values[0].at(0, states).tolist()


def _ratings() -> Iterator[Claim]:
    game = Greed(10, 3)
    reached = sorted({advance(game, [2, 6, 0], 2, total)[:2] for total in range(2, 7)})
    printed = [(6, 4), (6, 5), (6, 6), (6, 7)]
    yield At("section 6").mistake(
        printed=f"two dice at (2, 6), M = 10, s = 3, lead to {printed}",
        exact=f"{reached}",
        holds=reached == printed,
        note="the sum 6 of two three-sided dice is missing, and so are the weights p(5) and p(6)",
    )
    yield At("section 6").statement(
        printed="the two players' ratings add up to 1",
        exact="true: every end pays 1 in all",
        holds=totals(game) == {1.0},
        note="every end of every move of M = 10, s = 3",
    )


def totals(game: Greed) -> set[float]:
    """Return each total of the two players' payoffs with which a game can end."""
    return {
        float(payoffs)
        for state in range(game.num_states)
        for action in np.flatnonzero(game.mask(np.array([state]))[0]).tolist()
        for move in [transitions(game, 0, state, action)[1]]
        for payoffs in move.payoffs[move.over[:, 0]].sum(axis=1)
    }


def _equation_4() -> Iterator[Claim]:
    game = Greed(10, 3)
    values = equilibrium(game, exact=True).values[0][1]
    unweighted = sum(
        values[state]
        for state in (int(game.encode(np.array([0, total, 0]))) for total in range(2, 7))
    )
    yield At("section 6, equation (4)").mistake(
        printed="rating of n > 0 dice: sum of 1 - rating over the totals",
        exact=f"{float(unweighted):.4f} for two dice at (0, 0), M = 10, s = 3: no probability",
        holds=unweighted <= 1,
        note="the pmf of the total is left out",
    )
    yield At("section 6, under equation (4)").mistake(
        printed="the next state's last-turn flag is 0 if n = 1, else 0",
        exact="1 if n = 0, else 0",
        holds=advance(game, [5, 5, 0], 0, 0)[2] == 0,
        note="the prose of section 1.1 has it right",
    )


def _reached() -> Iterator[Claim]:
    """Check the claims of section 5 about the beginnings of last turns."""
    nobody = all(_no_position_is_lost(Greed(MAX_SCORE, s)) for s in range(1, MAX_SIDES + 1))
    yield At("section 5, forfeit").statement(
        printed="who is behind never stops in optimal play, as that rates 0",
        exact="true: stopping rates 0 and some roll more",
        holds=nobody,
        note=GAMES,
    )
    chances = {(m, s): _chance_of_an_assured_victory(Greed(m, s)) for m, s in ((10, 3), (100, 6))}
    yield At("section 5, certain victory").statement(
        printed="for the most part, the last turns that are reached have no assured victory",
        exact=f"true of all of them: a chance of {max(chances.values()):g}, as to stop there would "
        "rate 0 and some roll rates more",
        holds=nobody and not any(chances.values()),
        note=f"{GAMES}; the chance in equilibrium for (M, s) = " + " and ".join(map(str, chances)),
    )


def _no_position_is_lost(game: Greed) -> bool:
    """Return whether the player to move has a positive rating in every normal state.

    Then optimal play never stops where stopping rates 0: behind, or if the opponent is left an
    assured victory.
    """
    values = equilibrium(game, exact=True).values[0].at(0, np.arange(game.num_scores**2))
    return bool(np.all(values > 0))


def _chance_of_an_assured_victory(game: Greed) -> float:
    """Return the probability that optimal play reaches a last turn of rating 1."""
    chance = 0.0
    table = last_turns(game.max_score, game.sides)
    for seat in (0, 1):
        met = occupancy("optimal", Task(game, seat))
        for state in np.flatnonzero(met[game.num_scores**2 :]).tolist():
            own, other = divmod(state, game.num_scores)
            row = table.row(game.max_score - own, other - own)
            chance += met[state + game.num_scores**2] * (table.ratings[row].max() == table.one)
    return chance


def _section_7() -> Iterator[Claim]:
    game = Greed(10, 3)
    order = {
        (seat, int(state)): rank
        for rank, (seat, states) in enumerate(game.stages())
        for state in states
    }
    yield At("section 7").statement(
        printed="in the order of growing p + o no move leads back",
        holds=all(_leads_on(game, order, seat, state) for seat, state in order),
        note="every move of M = 10, s = 3, the last turns put behind all others",
    )
    corner = np.array([[10, 10, 0]])
    played = Greed(10, 3, max_dice=10)
    busts = all(_roll(played, [10, 10, 0], n, n).over[0, 0] for n in range(1, 11))
    follows = advance(played, [10, 10, 0], 0, 0)
    yield At("section 7").statement(
        printed=f"at {tuple(map(int, corner[0]))} one can only roll 0 dice, or go bust",
        holds=bool(busts) and follows == (10, 10, 1),
        note="M = 10, s = 3",
    )
    neighbours = {
        (own, other): any(
            advance(played, [own, other, 0], n, t) == (10, 10, 0)
            for n in range(1, 11)
            for t in range(n, 3 * n + 1)
            if own + t <= 10
        )
        for own, other in ((9, 10), (10, 9))
    }
    yield At("section 7").mistake(
        printed="the states next to (M, M, 0) could also go to (M, M, 0)",
        exact=f"(M - 1, M, 0) could, (M, M - 1, 0) could {'' if neighbours[10, 9] else 'not'}, as "
        "the mover already has M",
        holds=all(neighbours.values()),
        note="harmless: the order of section 7 has both after it",
    )


def _bound() -> Iterator[Claim]:
    reach = {n: [t for t in range(n, 3 * n + 1) if t <= 10] for n in (6, 7)}
    yield At("section 7").mistake(
        printed="all n above 2 (M - p) / (s + 1) have exactly the same next states",
        exact=f"6 dice reach {reach[6]}, 7 dice {reach[7]} (M = 10, s = 3, p = 0)",
        holds=reach[6] == reach[7],
        note="the cutoff is sound for another reason: n + 1 dice are no likelier than n to show "
        "any sum up to n (s + 1) / 2",
    )
    yield At("section 7, the bound").statement(
        printed="n up to the first above 2 (M - p) / (s + 1) are enough",
        exact="true: the value of the game stays the same",
        holds=all(
            starts(LIMIT, s) == starts(LIMIT, s, max_dice=LIMIT) for s in range(1, MAX_SIDES + 1)
        ),
        note=f"every game with M <= {LIMIT}, s <= {MAX_SIDES}",
    )
    behind = np.array([0, 1, 1])
    none, one = (value_of(game, behind) for game in (Greed(1, 2, max_dice=0), Greed(1, 2)))
    yield At("section 7, the bound read as n <= 2 (M - p) / (s + 1)").mistake(
        printed="the cutoff loses no optimum",
        exact=f"M = 1, s = 2, last turn at 0 : 1: {none} with it, {one} without",
        holds=none == one,
        note="the reading allows no die there",
    )
    game = Greed(10, 3)
    fewest = solve(Task(game), exact=True).policy.actions[: game.num_scores**2].reshape(11, 11)
    yield Claim(
        place="figure 4",
        printed="(a picture of the labels n*)",
        exact=", ".join("".join(map(str, row)) for row in fewest.T[::-1].tolist()),
        verdict="garbled",
        recorded="garbled",
        note="as figure 3, for normal turns",
    )


def _roll(game: Greed, observation: list[int], dice: int, total: int) -> Move:
    """Return the move of a player who rolls dice that show a total."""
    seat, state, action, outcome = (
        np.array([number]) for number in (0, int(game.encode(np.array(observation))), dice, total)
    )
    return game.advance(seat, state, action, outcome)


def advance(game: Greed, observation: list[int], dice: int, total: int) -> tuple[int, ...]:
    """Return the observation of the next player after a roll."""
    states = _roll(game, observation, dice, total).states
    return tuple(int(number) for number in game.observe(states, 1)[0])


def final_payoff(game: Greed, observation: list[int], dice: int, total: int) -> float:
    """Return the payoff of a last roll to the player who rolls."""
    return float(_roll(game, observation, dice, total).payoffs[0, 0])


def _leads_on(game: Greed, order: dict[tuple[int, int], int], seat: int, state: int) -> bool:
    for action in np.flatnonzero(game.mask(np.array([state]))[0]).tolist():
        _, move = transitions(game, seat, state, action)
        following: IntArray = move.states[~move.over[:, 0]]
        if any(order[1 - seat, int(after)] <= order[seat, state] for after in following):
            return False
    return True


def value_of(game: Greed, observation: IntArray | None = None) -> Fraction:
    """Return the first player's rating at an observation, by default at the start."""
    state = game.encode(np.zeros((1, 3), int) if observation is None else observation[None])
    return equilibrium(game, exact=True).values[0].at(0, state)[0]
