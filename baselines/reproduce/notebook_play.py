"""What the notebook *Dice Game* says in words, and the exact chances of its tournaments."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np

from ...games import LowestScore
from .. import lowest_score as exactly
from ..solver import evaluate, expected_payoffs, solve
from ..task import Task
from ..turn import follow_choices, solve_turn
from .claims import Claim, agreement, number

#: Line-ups in the order of play, rounds, and rounds won by each player, cells 7 and 20.
TOURNAMENTS = {
    "cell 7": (["random"] * 3 + ["only3s"] * 3, 1_000, [80, 84, 75, 332, 316, 313]),
    "cell 20": (["only3s", "notebook"] * 3, 10_000, [1830, 2299, 1767, 2383, 1909, 2512]),
}


def play_claims(game: LowestScore) -> list[Claim]:
    """Check everything."""
    parts = (_tournaments, _two_dice, _single_dice, _keeping_twos, _order_of_play, _optimal_bot)
    return [claim for part in parts for claim in part(game)]


def _tournaments(game: LowestScore) -> Iterator[Claim]:
    for place, (line_up, rounds, won) in TOURNAMENTS.items():
        table = LowestScore(game.dice, game.faces, game.zero_face, len(line_up))
        chances = [float(chance) for chance in expected_payoffs(line_up, Task(table))]
        for seat, (policy, chance, wins) in enumerate(zip(line_up, chances, won, strict=True)):
            error = (chance * (1 - chance) / rounds) ** 0.5
            distance = (wins / rounds - chance) / error
            yield Claim(
                f"{place}, {policy} in seat {seat} of {len(line_up)}",
                f"{wins} of {rounds} simulated rounds", f"wins {chance:.9f} of all rounds",
                agreement(abs(distance) < 4), "agrees", f"{distance:+.1f} standard errors",
            )  # fmt: skip


def _two_dice(game: LowestScore) -> Iterator[Claim]:
    goals = range(1, 9)
    reroll = [
        goal for goal in goals
        if exactly.beat_chance(game, goal, 2) > exactly.beat_chance(game, goal - 1, 1)
    ]  # fmt: skip
    keep = [goal for goal in goals if goal not in reroll]
    for place in ("before cell 11", "summary"):
        yield Claim(
            place, "of two dice with a 1, reroll both only within 3 of the goal",
            f"rerolling both is better for {reroll}, keeping the 1 for {keep}",
            agreement(all(goal <= 3 for goal in reroll)), "wrong",
            f"goal 5: {exactly.beat_chance(game, 5, 2)} against {exactly.beat_chance(game, 4, 1)}",
        )  # fmt: skip
    perfect = exactly.beat_chance(game, 1, game.dice)
    yield number("summary, chance of all 3's", "2%", perfect)
    turn = game.legs[0].turn
    ends = np.array([[Fraction(score == 0)] for score in range(game.max_score + 1)], dtype=object)
    choices = exactly.only3s(game)[: turn.num_nodes, None]  # those of the first player
    only3s = follow_choices(turn, ends, choices).before_roll(0)[0]
    yield Claim(
        "before cell 8", "only 3's becomes optimal as the number of players grows",
        f"it makes a total of 0 as likely as can be: {only3s}", agreement(only3s == perfect),
        "agrees", "with enough players after it no other total survives",
    )  # fmt: skip


def _single_dice(game: LowestScore) -> Iterator[Claim]:
    """Look at the smallest expected total: are a 1 and a 2 ever kept besides a lower die?"""
    turn = game.legs[0].turn
    scores = [[Fraction(-score)] for score in range(game.max_score + 1)]
    kept = solve_turn(turn, np.array(scores, dtype=object)).choices[:, 0] + 1
    taken = {1: (0, 0), 2: (0, 0)}  # of two dice, the one that is kept besides another
    for row, number_kept in zip(turn.observations.tolist(), kept.tolist(), strict=True):
        roll = tuple(filter(None, row[1:]))
        if len(roll) == number_kept == 2 and roll[1] in taken:
            taken[roll[1]] = roll
    for face, words in ((1, "it can make sense to take a 1"), (2, "but not to take a 2")):
        lower, _ = taken[face]
        yield Claim(
            "before cell 9", f"for the expected total, {words}",
            f"of {lower} {face} both are kept" if lower else "never kept besides another die",
            agreement((lower > 0) == (face == 1)), "agrees" if face == 1 else "wrong",
            f"a die cast again expects {exactly.expected_score(game, 1)}",
        )  # fmt: skip


def _keeping_twos(game: LowestScore) -> Iterator[Claim]:
    hopeless = exactly.win_or_tie_chance(game, 0, 6, 0, 0)
    yield Claim(
        "cell 14, comment in choose_n", "probabilities can never be zero",
        f"{hopeless} with 0 to tie and a last roll of 6", agreement(hopeless != 0), "wrong",
        "harmless: the search starts from -1",
    )  # fmt: skip
    rolling_on = [_words_of(*key) for key in _voluntary(game, 2, 1, rolling_on=True)]
    ending = _voluntary(game, 2, 4, rolling_on=False)
    yield Claim(
        "after cell 21", "with 4 players after, a 2 can be worth taking if it ends the turn",
        f"true in {len(ending)} cases", agreement(bool(ending)), "agrees",
    )  # fmt: skip
    yield Claim(
        "after cell 21", "but absolutely not if you keep rolling (1 player after)",
        f"OptimalBot does so in {len(rolling_on)} cases", agreement(not rolling_on),
        "wrong" if rolling_on else "agrees", rolling_on[0] if rolling_on else "every state",
    )  # fmt: skip


def _voluntary(
    game: LowestScore, face: int, players_after: int, rolling_on: bool
) -> list[tuple[int | None, int, tuple[int, ...]]]:
    """List where OptimalBot keeps a face besides a 3: score to tie, score so far, roll."""
    found = []
    for total, *faces in game.legs[0].turn.observations.tolist():
        roll = tuple(filter(None, faces))
        if len(roll) < 2 + rolling_on or roll[:2] != (game.zero_face, face):
            continue
        for to_tie in [None, *range(total, game.max_score + 1)]:
            kept = exactly.notebook_choice(game, to_tie, total, roll, players_after)
            if kept == 2 and rolling_on == (len(roll) > 2):
                found.append((to_tie, total, roll))
    return found


@cache
def _notebook_payoffs(game: LowestScore) -> list[float]:
    return [float(payoff) for payoff in expected_payoffs("notebook", Task(game))]


def _order_of_play(game: LowestScore) -> Iterator[Claim]:
    tables = {
        players: LowestScore(game.dice, game.faces, game.zero_face, players)
        for players in (4, 6, 8)
    }
    chances = {players: _notebook_payoffs(table) for players, table in tables.items()}
    gaps = [later - earlier for row in chances.values() for earlier, later in pairwise(row)]
    yield Claim(
        "after cell 20", "the last player is in the best position",
        "true, and each is better off than the one before", agreement(min(gaps) > 0), "agrees",
        "OptimalBot against itself, 4, 6 and 8 players",
    )  # fmt: skip
    yield Claim(
        "summary", "each spot down in turn order is an advantage of about 2%",
        f"between {min(gaps):.2%} and {max(gaps):.2%} of the rounds",
        agreement(all(0.015 <= gap < 0.025 for gap in gaps)), "wrong",
        "OptimalBot against itself, 4, 6 and 8 players",
    )  # fmt: skip
    fifth = chances[6][5] - chances[6][0], chances[8][5] - chances[8][0]
    yield Claim(
        "summary", "the fifth player after you has an advantage of about 10%",
        f"{fifth[0]:.2%} of the rounds with 6 players, {fifth[1]:.2%} with 8",
        agreement(all(0.05 <= gap < 0.15 for gap in fifth)), "wrong",
        "OptimalBot against itself; the first of 6 wins "
        f"{chances[6][0]:.4f}, the last {chances[6][5]:.4f}",
    )  # fmt: skip


def _optimal_bot(game: LowestScore) -> Iterator[Claim]:
    for players in range(2, 7):
        table = LowestScore(game.dice, game.faces, game.zero_face, players)
        tasks = [Task(table, seat, "notebook") for seat in range(players)]
        given_away = [solve(task).value - evaluate("notebook", task).value for task in tasks]
        shown = ", ".join(f"{max(0.0, float(regret)):.6f}" for regret in given_away)
        yield Claim(
            "cell 18", f"the most optimal bot possible, here with {players} players",
            f"against itself it gives away {shown} of a win, seat by seat",
            agreement(max(given_away) < 1e-9), "wrong",
            "it takes later players to try no more than to beat it; only the last seat plays best",
        )  # fmt: skip


def _words_of(to_tie: int | None, total: int, roll: tuple[int, ...]) -> str:
    return f"{to_tie} >= {total} + {_words(roll)}"


def _words(roll: tuple[int, ...]) -> str:
    return " ".join(map(str, roll))
