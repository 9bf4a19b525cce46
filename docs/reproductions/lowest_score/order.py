"""Claims about the order of play in the notebook *Dice Game*: values of seats, regrets of bots."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from typing import get_args

import numpy as np
from exactdice.baselines.problem.task import Task
from exactdice.baselines.solving.solver import evaluate, expected_payoffs, solve
from exactdice.core import Array
from exactdice.games import LowestScore, LowestScoreMatch
from exactdice.games.lowest_score.match import Starter, Tie

from ..claim import At, Claim
from .play import table_for


def order_claims(game: LowestScore) -> list[Claim]:
    """List the claims."""
    parts = (_order_of_play, _winner_moves_first, _match, _rule_of_thumb, _optimal_bot)
    return [claim for part in parts for claim in part(game)]


@cache
def _tasks(game: LowestScore, players: int) -> list[Task]:
    """Make the task of each seat against OptimalBots in all other seats."""
    table = table_for(game, players)
    return [Task(table, seat, "notebook") for seat in range(players)]


@cache
def _wins(game: LowestScore, players: int) -> list[float]:
    """Return the expected payoff of each seat if OptimalBots play in all seats."""
    return [float(evaluate("notebook", task).value) for task in _tasks(game, players)]


def _order_of_play(game: LowestScore) -> Iterator[Claim]:
    chances = {players: _wins(game, players) for players in (2, 4, 6, 8)}
    steps = [step for row in chances.values() for step in pairwise(row)]
    yield At("after cell 20").statement(
        printed="the last player is in the best position",
        exact="true, and each is better off than the one before",
        holds=all(later > earlier for earlier, later in steps),
        note="OptimalBot against itself, 2, 4, 6 and 8 players",
    )
    four = [later / earlier - 1 for earlier, later in pairwise(chances[4])]
    yield from _advantage(
        chances[8],
        1,
        0.02,
        "each spot down in turn order is an advantage of about 2%",
        f"; with 4 players {_span(four)}",
    )
    yield from _advantage(
        chances[8], 5, 0.1, "the fifth player after you has an advantage of about 10%"
    )


def _advantage(
    chances: list[float], later_by: int, about: float, printed: str, note: str = ""
) -> Iterator[Claim]:
    """Compare the wins of 8 players ("we had 8 players"), as ratios and as shares of all rounds."""
    pairs = list(zip(chances, chances[later_by:], strict=False))
    relative = [later / earlier - 1 for earlier, later in pairs]
    rounds = [later - earlier for earlier, later in pairs]
    basis = "OptimalBot against itself, 8 players; about: within a quarter of it"
    yield At("summary, in relation").statement(
        printed=printed,
        exact=f"{_span(relative)} more wins",
        holds=all(abs(gain - about) <= about / 4 for gain in relative),
        note=basis + note,
    )
    yield At("summary, in shares of all rounds").mistake(
        printed=printed,
        exact=f"{_span(rounds)} of the rounds",
        holds=all(abs(gain - about) <= about / 4 for gain in rounds),
        note=f"{basis}; the first wins {chances[0]:.4f}, the last {chances[-1]:.4f}",
    )


def _span(shares: list[float]) -> str:
    return f"{min(shares):.2%} to {max(shares):.2%}"


def stationary(chain: Array) -> list[Fraction]:
    """Return the exact stationary law of an irreducible Markov chain.

    States are eliminated one by one, without any subtraction (Grassmann, Taksar and Heyman 1985).

    Args:
        chain: fractions, shape (state, next state).
    """
    left = chain.copy()
    for state in range(len(left) - 1, 0, -1):
        left[:state, state] /= left[state, :state].sum()
        left[:state, :state] += left[:state, state, None] * left[state, :state]
    law = [Fraction(1)]
    for state in range(1, len(left)):
        law.append(sum((p * q for p, q in zip(law, left[:, state], strict=False)), Fraction(0)))
    return [chance / sum(law) for chance in law]


def moves_first_next(game: LowestScore, players: int) -> Array:
    """Return the Markov chain of the player who moves first, if the winner begins the next round.

    All players are OptimalBots, and the others follow in their order round the table. A fair lot
    decides among tied winners, so that a seat begins with a probability of its share of the win.

    Returns:
        Fractions, shape (player who moves first, player who moves first next).
    """
    table = Task(table_for(game, players, "share"))
    shares = expected_payoffs("notebook", table, exact=True)  # by seat
    seats = np.arange(players)
    return np.array(shares, dtype=object)[(seats - seats[:, None]) % players]


def _winner_moves_first(game: LowestScore) -> Iterator[Claim]:
    players = game.players
    chain = moves_first_next(game, players)
    rounds = [chain[0]]  # share of each player in a round; player 0 begins the first
    for _ in range(2):
        rounds.append((chain * rounds[-1][:, None]).sum(axis=0))
    spans = [f"{float(min(law)):.6f} to {float(max(law)):.6f}" for law in rounds]
    law = stationary(chain)
    basis = f"{players} OptimalBots, a tied win shared, of tied winners a lot decides who begins"
    yield At("summary").statement(
        printed="the winner is supposed to move first next round, to keep it even",
        exact=f"true: in the long run each moves first in {law[0]} of the rounds and wins as many; "
        f"of the first round they win {spans[0]}, of the second {spans[1]}, of the third "
        f"{spans[2]}",
        holds=all(chance == Fraction(1, players) for chance in law),
        note=f"{basis}; if the order never changed, it would stay at {spans[0]}",
    )
    yield At("summary").statement(
        printed="the turn order explains the rule",
        exact=f"true: the last winner gets the worst seat, {float(chain[0, 0]):.6f} of a win",
        holds=chain[0, 0] == chain[0].min(),
        note=basis,
    )


def _match(game: LowestScore) -> Iterator[Claim]:
    """Check matches of optimal players, who know that the winner of a round begins the next."""
    dice = (game.dice, game.faces, game.zero_face)
    for (players, wins), tie in product(((2, 3), (3, 2)), get_args(Tie)):
        chances = {}
        for starter in get_args(Starter):
            match = LowestScoreMatch(*dice, players, wins, starter, tie)
            chances[starter] = list(map(float, expected_payoffs("equilibrium", Task(match))))
        spans = {starter: max(row) - min(row) for starter, row in chances.items()}
        yield At("summary, a match").statement(
            printed="the winner is supposed to move first next round, to keep it even",
            exact=f"more even, though not even: seat by seat {_decimals(chances['winner'])}, and "
            f"if the same player always began {_decimals(chances['same'])}",
            holds=spans["winner"] < spans["same"],
            note=f"who first wins {wins} rounds, {players} players in equilibrium, a tied round "
            f"goes to the {tie} of them; beginning in turn {_decimals(chances['next'])}",
        )


def _rule_of_thumb(game: LowestScore) -> Iterator[Claim]:
    wins, tasks = _wins(game, game.players), _tasks(game, game.players)
    only3s, chance, best = (
        [float(evaluate(name, task).value) for task in tasks]
        for name in ("only3s", "random", "optimal")
    )
    losses = np.subtract(wins, only3s)
    shares = np.subtract(only3s, chance) / np.subtract(best, chance)
    yield At("after cell 20").mistake(
        printed="only keeping 3's is already such a great rule of thumb",
        exact=f"among OptimalBots it wins {_decimals(only3s, 4)} where they win "
        f"{_decimals(wins, 4)}",
        holds=max(losses) < max(wins) - min(wins),
        note=f"{game.players} players, seat by seat; it gives away more than moving last instead "
        f"of first is worth, {max(wins) - min(wins):.4f}; normalised scores {_decimals(shares, 2)}",
    )


def _optimal_bot(game: LowestScore) -> Iterator[Claim]:
    for players in range(2, 7):
        wins, tasks = _wins(game, players), _tasks(game, players)
        gains = [float(solve(task).value) - own for task, own in zip(tasks, wins, strict=True)]
        table = table_for(game, players)
        equilibrium = [float(chance) for chance in expected_payoffs("optimal", Task(table))]
        yield At("cell 18").mistake(
            printed=f"the most optimal bot possible, here with {players} players",
            exact=f"against itself it gives away {_decimals(np.abs(gains))} of a win, seat by seat",
            holds=max(gains) < 1e-9,
            note=f"it wins {_decimals(wins)}, in equilibrium {_decimals(equilibrium)}; it takes "
            "later players to try no more than to beat it",
        )


def _decimals(numbers: Iterable[float], places: int = 6) -> str:
    return ", ".join(f"{number:.{places}f}" for number in numbers)
